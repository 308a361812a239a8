/** What fails on the way, behind an agent: what each door says of it, and what the log does. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { echo, jsonOf, request, serve } from './fixtures/client.ts'
import type { ServerOptions } from '../lib/index.ts'

/** What clients of other people's services throw, as the official ones do. */
type Failure = readonly [name: string, error: () => unknown, status: number, retryAfter?: string]
const thrown: readonly Failure[] = [
  ['a status and Headers', () => Object.assign(new Error('Rate limit at https://inner.example'), {
    status: 429, headers: new Headers({ 'retry-after': '7' }),
  }), 503, '7'],
  ['a statusCode and a plain object', () => Object.assign(new Error('slow down'), {
    statusCode: 429, responseHeaders: { 'retry-after': '99999' },
  }), 503, '3600'],
  ['no time at all', () => Object.assign(new Error('slow down'), { status: 429 }), 503, '1'],
  ['the last of several tries', () => Object.assign(new Error('Failed after 3 attempts'), {
    lastError: Object.assign(new Error('overloaded'), { statusCode: 529 }),
  }), 502],
  ['a cause', () => new Error('no answer', { cause: { status: 500 } }), 502],
  ['no status', () => new Error('a defect'), 500],
  ['a status of the client', () => Object.assign(new Error('teapot'), { status: 418 }), 500],
]

const rpc = (method: string, params: object): object => ({ jsonrpc: '2.0', id: 1, method, params })
const parts = [{ text: 'hi' }]

/** A request to each door; those of JSON-RPC tell no 502 by their status. */
type Door = readonly [path: string, body: object, headers: Record<string, string>, isRpc?: true]
const doors: readonly Door[] = [
  ['/', { query: 'hi' }, {}],
  ['/v1/chat/completions', { model: 'agent', messages: [{ role: 'user', content: 'hi' }] }, {}],
  ['/message:send', { message: { messageId: 'm', role: 'ROLE_USER', parts } }, { 'a2a-version': '1.0' }],
  ['/a2a', rpc('message/send', { message: { role: 'user', parts } }), {}, true],
]

test('a service behind an agent that is busy or fails is told by every door as what it is', async (t) => {
  for (const [name, error, status, retryAfter] of thrown) {
    const logged: (readonly [string, Readonly<Record<string, unknown>>])[] = []
    const server = serve(t, {
      agents: [{
        name: 'Agent', description: 'Fails.', replies: 'message',
        run: async () => { throw error() },
      }],
      protocol: 'all', log: (_, message, fields = {}) => { logged.push([message, fields]) },
    })
    for (const [path, body, headers, isRpc] of doors) {
      const answer = await server.fetch(request(path, body, headers))
      const text = await answer.text()
      const expected = isRpc === true && status !== 503 ? 200 : status
      assert.equal(answer.status, expected, `${name} at ${path}: ${text}`)
      if (retryAfter !== undefined) assert.equal(answer.headers.get('retry-after'), retryAfter, path)
      assert.equal(text.includes('Internal error (request'), status === 500, text)
      assert.doesNotMatch(text, /inner\.example|attempts|slow down/)
    }
    assert.equal(logged.length, doors.length, JSON.stringify(logged))
    for (const [message, { agent, cause, protocol }] of logged) {
      assert.deepEqual([message, agent], ['A handler failed', 'Agent'])
      assert.ok(['http', 'a2a'].includes(String(protocol)))
      assert.ok(cause instanceof Error)
    }
  }
})

test('a tool that fails is named in the log, with its protocol', async (t) => {
  const logged: Readonly<Record<string, unknown>>[] = []
  const tool = { name: 'add', description: 'Adds.', run: () => { throw new Error('defect') } }
  const log: ServerOptions['log'] = (_, __, fields = {}) => { logged.push(fields) }
  const server = serve(t, { tools: [tool], protocol: 'all', log })
  const headers = { accept: 'application/json, text/event-stream' }
  await server.fetch(request('/mcp', rpc('tools/call', { name: 'add', arguments: {} }), headers))
  await server.fetch(request('/tools/add', {}))
  assert.deepEqual(logged.map(({ tool, protocol }) => [tool, protocol]), [['add', 'mcp'], ['add', 'http']])
})

test('where a protocol is not served, its paths say which ones are', async (t) => {
  const rows: readonly (readonly [protocol: ServerOptions['protocol'], path: string, said: RegExp])[] = [
    ['http', '/mcp', /^MCP is not served here, but HTTP; GET (?:\/mounted)?\/ lists where$/],
    [['http', 'a2a'], '/sse', /^MCP is not served here, but HTTP and A2A;/],
    ['http', '/a2a', /^A2A is not served here, but HTTP;/],
    ['mcp', '/v1/chat/completions', /^HTTP is not served here, but MCP;/],
    ['mcp', '/',
      /^This path answers GET, HEAD: HTTP is not served here, but MCP; GET (?:\/mounted)?\/ lists where$/],
    ['all', '/nothing', /^There is nothing at this path;/],
  ]
  for (const [protocol, path, said] of rows) {
    for (const mountPath of [undefined, '/mounted']) {
      const server = serve(t, { agents: [echo], protocol, ...mountPath !== undefined && { mountPath } })
      const answer = await server.fetch(request(`${mountPath ?? ''}${path}`, {}))
      assert.equal(answer.status, path === '/' ? 405 : 404, path)
      assert.match(String((await jsonOf(answer))['detail']), said)
    }
  }
})

test('an agent without a description is told of once, and a bare function is not', async (t) => {
  const lines: string[] = []
  const log = (_: string, message: string): void => { lines.push(message) }
  const run = (): string => ''
  serve(t, { agents: [{ name: 'Mute', run }, { name: 'Told', description: 'Tells.', run }], log })
  serve(t, { agents: [() => ''], log })
  const theirs = { id: 'Theirs', version: 'agent-v1', generate: run, stream: run } as never
  serve(t, { agents: [theirs], log })
  assert.equal(lines.length, 2)
  assert.match(lines[0]!, /^The agent 'Mute' has no description, so nobody can tell what to ask it; write /)
  assert.match(lines[1]!, /^The agent 'Theirs' has no description, .* write adapt\(agent, { description: /)
})
