import assert from 'node:assert/strict'
import { createServer as createNode } from 'node:http'
import test from 'node:test'
import { echo, listen, request, serve } from '../fixtures/client.ts'
import { portOf } from '../fixtures/listening.ts'
import type { ServerOptions } from '../../lib/index.ts'

const tool = { name: 'add', description: 'Adds.', run: () => 'added' }
const page = { uri: 'shop://page', name: 'page', mimeType: 'text/html', read: () => '<p>hi</p>' }
const broken = { name: 'Broken', description: 'Fails.', run: () => { throw new Error('broken') } }
const options: ServerOptions = {
  agents: [echo, broken], tools: [tool], resources: [page], protocol: 'all', metrics: true,
  maxBodyBytes: 4_000,
  cors: 'https://app.example', allowedHosts: ['*'], publicUrl: 'http://agents.example',
}

const rpc = (method: string, params: object = {}): object => ({ jsonrpc: '2.0', id: 1, method, params })
const message = { role: 'user', messageId: 'm', kind: 'message', parts: [{ kind: 'text', text: 'hi' }] }
const clientInfo = { name: 'a', version: '1' }
const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
const events = { accept: 'text/event-stream' }

/** Every kind of answer of every door: the status that it has, and how it is asked for. */
const rows: readonly (readonly [
  status: number, path: string, body?: unknown, headers?: Record<string, string>, method?: string,
])[] = [
  [200, '/'], [200, '/', undefined, {}, 'HEAD'], [200, '/health'], [200, '/ready'], [200, '/metrics'],
  [200, '/docs'], [200, '/openapi.json'], [304, '/docs', undefined, { 'if-none-match': '*' }],
  [200, '/agents'], [200, '/tools'], [200, '/resources/read?uri=shop%3A%2F%2Fpage'], [200, '/v1/models'],
  [200, '/', { query: 'hi' }], [200, '/', { query: 'hi', stream: true }], [200, '/tools/add', {}],
  [200, '/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'hi' }] }],
  [404, '/v1/chat/completions', { model: 'none', messages: [{ role: 'user', content: 'hi' }] }],
  [500, '/agents/broken', { query: 'hi' }],
  [204, '/', undefined, {}, 'OPTIONS'],
  [204, '/', undefined, { origin: 'https://app.example' }, 'OPTIONS'],
  [403, '/', undefined, { origin: 'https://evil.example' }], [404, '/nothing'], [400, '/%zz'],
  [405, '/', undefined, {}, 'DELETE'], [400, '/', '{'], [415, '/', 'a', { 'content-type': 'text/plain' }],
  [422, '/', { query: '' }], [413, '/', { query: 'x'.repeat(5_000) }],
  [200, '/mcp', rpc('initialize', initialize)], [202, '/mcp', { jsonrpc: '2.0', method: 'notifications/x' }],
  [400, '/mcp', '{'], [200, '/mcp', rpc('nothing')], [200, '/messages/', rpc('tools/list')],
  [200, '/.well-known/agent.json'], [200, '/.well-known/agent-card.json'], [200, '/status'],
  [200, '/a2a', rpc('message/send', { message })], [200, '/a2a', rpc('message/stream', { message })],
  [200, '/a2a', rpc('nothing')], [400, '/a2a', '{'], [404, '/.well-known/nothing'],
]

function requireNosniff(value: string | null | undefined, what: string): void {
  // Once: twice is another value.
  assert.equal(value, 'nosniff', what)
}

test('every answer of every door says that no browser is to guess what it is', async (t) => {
  const { server, url } = await listen(t, options)
  const host = createNode(server.handler)
  const mounted = `http://127.0.0.1:${await portOf(t, host)}`
  for (const [status, path, body, headers, method] of rows) {
    const asked = request(path, body, headers, method)
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const answers = await Promise.all([
      server.fetch(asked),
      ...[url, mounted].map((at) => fetch(at + path, {
        method: asked.method, headers: asked.headers, ...text !== undefined && { body: text },
      })),
    ])
    for (const answer of answers) {
      const what = `${asked.method} ${path} ${text ?? ''} ${JSON.stringify(headers ?? {})}`
      assert.equal(answer.status, status, what)
      requireNosniff(answer.headers.get('x-content-type-options'), what)
      await answer.text()
    }
  }
  const stream = await fetch(`${url}/sse`, { headers: events })
  requireNosniff(stream.headers.get('x-content-type-options'), '/sse')
  await stream.body?.cancel()
})

test('so do refusals for want of a key, of a token, and for too many calls', async (t) => {
  const rateLimit = { perMinute: 1 }
  const keyed = serve(t, { ...options, apiKey: 'k', rateLimit })
  const verify = (): undefined => undefined
  const authorizationServers = ['https://login.example']
  const auth = { resource: 'http://agents.example/mcp', authorizationServers, verify }
  const tokens = serve(t, { ...options, auth })
  for (const path of ['/', '/mcp', '/messages/', '/a2a', '/tools/add', '/v1/chat/completions', '/nothing']) {
    for (const server of [keyed, tokens]) {
      const answer = await server.fetch(request(path, {}, { authorization: 'Bearer wrong' }))
      assert.equal(answer.status, 401, path)
      requireNosniff(answer.headers.get('x-content-type-options'), path)
    }
  }
  for (const status of [200, 429]) {
    const answer = await keyed.fetch(request('/', { query: 'hi' }, { 'x-api-key': 'k' }))
    assert.equal(answer.status, status)
    requireNosniff(answer.headers.get('x-content-type-options'), String(status))
  }
})
