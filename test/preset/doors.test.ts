/** What is refused at every door of a server with everything, each in the form of its protocol. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { jsonOf, request, serve } from '../fixtures/client.ts'
import { fleetOf } from '../fixtures/fleet.ts'
import { standingClock } from '../fixtures/time.ts'
import type { Principal, ServerOptions } from '../../lib/index.ts'

const paths = ['/', '/mcp', '/messages/', '/a2a', '/v1/chat/completions', '/nothing']
const behind = (address: string): Record<string, string> => ({ 'x-forwarded-for': address })
const agents = [{ name: 'Echo', run: (prompt: string) => prompt }]

test('over the limit nobody is asked whose a key or token is, at any door', async (t) => {
  standingClock(t)
  let asked = 0
  const apiKey = (key: string): Principal | undefined => {
    asked++
    return key === 'right' ? { id: 'me', scopes: [] } : undefined
  }
  const auth = {
    resource: 'http://agents.example/mcp', authorizationServers: ['https://login.example'],
    verify: async () => { asked++; return undefined },
  }
  const options = { agents, protocol: 'all', trustProxy: true, maxFailedIdentifications: 5 } as const
  for (const keys of [{ apiKey }, { auth }]) {
    const server = serve(t, { ...options, ...keys })
    const guess = (path: string, address: string, token = 'wrong'): Promise<Response> => (
      server.fetch(request(path, {}, { ...behind(address), authorization: `Bearer ${token}` }))
    )
    asked = 0
    for (let nth = 0; nth < 10; nth++) assert.equal((await guess('/', `2001:db8::${nth}`)).status, 401)
    assert.equal(asked, 10)
    for (const path of paths) {
      const refused = await guess(path, '2001:db8::77')
      assert.equal(refused.status, 429, path)
      assert.equal(refused.headers.get('retry-after'), '12')
      assert.match(JSON.stringify(await jsonOf(refused)), /Too many keys or tokens from this address/)
    }
    assert.equal(asked, 10)
    assert.equal((await guess('/', '2001:db8:0:1::1')).status, 401)
  }
  const server = serve(t, { ...options, apiKey })
  const ask = { ...behind('192.0.2.1'), 'x-api-key': 'right' }
  for (let nth = 0; nth < 30; nth++) {
    assert.equal((await server.fetch(request('/agents', undefined, ask))).status, 200)
  }
})

const RPC = { jsonrpc: '2.0', id: 1 }
const message = { role: 'user', parts: [{ text: 'hi' }] }
const initialize = { ...RPC, method: 'initialize', params: { protocolVersion: '2025-06-18' } }
const batch = Array.from({ length: 9 }, (_, id) => ({ ...RPC, id, method: 'ping' }))

/** What is counted, and how often it may come before it is refused, whichever process it comes to. */
const counted: readonly (readonly [path: string, body: unknown, count: number, refused: RegExp])[] = [
  ['/', { query: 'hi' }, 9, /Too many calls/],
  ['/mcp', { ...RPC, method: 'tools/list' }, 9, /Too many calls/],
  ['/mcp', initialize, 3, /Too many handshakes/],
  ['/messages/', initialize, 3, /Too many handshakes/],
  ['/sse', undefined, 3, /Too many handshakes/],
  ['/mcp', batch, 1, /Too many calls/],
  ['/resources/read?uri=a:b', undefined, 9, /Too many calls/],
]

test('a caller is limited at every door over all servers that share a store', async (t) => {
  standingClock(t)
  for (const [path, body, count, refused] of counted) {
    const { servers } = await fleetOf(t, 3, {
      agents: [{ name: 'Echo', run: (prompt) => prompt }],
      resources: [{ uri: 'a:b', name: 'a', read: () => 'b' }],
      rateLimit: { perMinute: 1, burst: 9, initializePerMinute: 3 },
    })
    for (let at = 0; at < count + 3; at++) {
      const headers = body === batch ? { 'mcp-protocol-version': '2025-03-26' }
        : path === '/sse' ? { accept: 'text/event-stream' } : {}
      const response = await servers[at % 3]!.fetch(request(path, body, headers))
      assert.equal(response.status, at < count ? 200 : 429, `${path} ${at}`)
      if (at < count) {
        await response.body?.cancel()
        continue
      }
      assert.ok(Number(response.headers.get('retry-after')) >= 20)
      assert.match(JSON.stringify(await jsonOf(response)), refused)
    }
    for (const server of servers) await server.close()
  }
})

/** A call at each door, and what its refusal looks like. */
const doors: readonly (readonly [path: string, body: unknown, refused: object])[] = [
  ['/', { query: 'hi' }, { status: 429, detail: 'Too many calls; try again in 60 s' }],
  ['/mcp', { ...RPC, method: 'tools/list' }, { error: rpc('Too many calls; try again in 60 s') }],
  ['/messages/', { ...RPC, method: 'tools/list' }, { error: rpc('Too many calls; try again in 60 s') }],
  ['/a2a', { ...RPC, method: 'message/send', params: { message } },
    { id: null, error: rpc('Too many calls; try again in 60 s') }],
]

function rpc(detail: string): object {
  return { code: -32600, message: 'Invalid request', data: { detail } }
}

const house: ServerOptions = { agents: [{ name: 'Echo', run: (prompt) => prompt }], protocol: 'all' }

test('a call too many is 429 in its door\'s own form, and says when to come back', async (t) => {
  standingClock(t)
  for (const [path, body, refused] of doors) {
    const server = serve(t, { ...house, rateLimit: { perMinute: 1, burst: 2 } })
    for (const remaining of [1, 0]) {
      const { headers, status } = await server.fetch(request(path, body))
      assert.equal(status, 200, path)
      assert.equal(headers.get('ratelimit-policy'), '"calls";q=2;w=120')
      assert.match(String(headers.get('ratelimit')), new RegExp(`^"calls";r=${remaining};t=\\d+$`))
      assert.equal(headers.get('retry-after'), null)
    }
    const response = await server.fetch(request(path, body))
    assert.equal(response.status, 429, path)
    assert.equal(response.headers.get('retry-after'), '60')
    assert.equal(response.headers.get('ratelimit'), '"calls";r=0;t=60')
    assert.equal(response.headers.get('ratelimit-policy'), '"calls";q=2;w=120')
    const said = await jsonOf(response)
    for (const [member, value] of Object.entries(refused)) assert.deepEqual(said[member], value, path)
    // Looking, and knowing whether the server is well, is no call.
    for (const free of ['/health', '/agents', '/.well-known/agent.json']) {
      assert.equal((await server.fetch(request(free))).status, 200)
    }
  }
})
