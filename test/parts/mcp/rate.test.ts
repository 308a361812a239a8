/** What of MCP counts against a rate limit. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { jsonOf, request, serve } from '../../fixtures/client.ts'
import { standingClock } from '../../fixtures/time.ts'
import type { ServerOptions } from '../../../lib/index.ts'

const RPC = { jsonrpc: '2.0', id: 1 }
const initialize = { ...RPC, method: 'initialize', params: { protocolVersion: '2025-06-18' } }
const house: ServerOptions = { agents: [{ name: 'Echo', run: (prompt) => prompt }], protocol: 'mcp' }

function rpc(detail: string): object {
  return { code: -32600, message: 'Invalid request', data: { detail } }
}

test('handshakes are counted apart, at every place where one can be made', async (t) => {
  standingClock(t)
  const server = serve(t, { ...house, rateLimit: { initializePerMinute: 3 } })
  const first = await server.fetch(request('/mcp', initialize))
  assert.equal(first.headers.get('ratelimit'), '"initialize";r=2;t=20')
  assert.equal((await server.fetch(request('/messages/', initialize))).status, 200)
  const stream = await server.fetch(request('/sse', undefined, { accept: 'text/event-stream' }))
  assert.equal(stream.status, 200)
  await stream.body?.cancel()
  for (const one of [request('/mcp', initialize), request('/messages/', initialize), request('/sse')]) {
    const response = await server.fetch(one)
    assert.equal(response.status, 429)
    assert.equal(response.headers.get('retry-after'), '20')
    assert.deepEqual((await jsonOf(response))['error'], rpc('Too many handshakes; try again in 20 s'))
  }
  const session = { 'mcp-session-id': String(first.headers.get('mcp-session-id')) }
  const list = { ...RPC, method: 'tools/list' }
  for (let call = 0; call < 9; call++) {
    assert.equal((await server.fetch(request('/mcp', list, session))).status, 200)
  }
})

test('a batch counts as the calls that are in it', async (t) => {
  const server = serve(t, { ...house, rateLimit: { perMinute: 1, burst: 10 } })
  const version = { 'mcp-protocol-version': '2025-03-26' }
  const batch = Array.from({ length: 6 }, (_, id) => ({ ...RPC, id, method: 'ping' }))
  const answer = await server.fetch(request('/mcp', batch, version))
  assert.equal(answer.status, 200)
  assert.match(String(answer.headers.get('ratelimit')), /^"calls";r=4;t=\d+$/)
  const refused = await server.fetch(request('/mcp', batch, version))
  assert.equal(refused.status, 429)
  assert.match(String(refused.headers.get('ratelimit')), /^"calls";r=3;t=\d+$/)
})
