import assert from 'node:assert/strict'
import test from 'node:test'
import { echo, jsonOf, request, serve } from './fixtures/client.ts'

/** Far more than an error may list. */
const MANY = 5_000
const sevens = Array<number>(MANY).fill(7)
const JSON_RPC = { accept: 'application/json, text/event-stream' }

const tool = {
  name: 'sum',
  description: 'Adds.',
  inputSchema: {
    type: 'object', properties: { terms: { type: 'array', items: { type: 'string' } } }, required: ['terms'],
  },
  run: () => 'never',
}

const message = (parts: unknown): object => ({ messageId: 'm', role: 'ROLE_USER', parts })
const rpc = (method: string, params: unknown): object => ({ jsonrpc: '2.0', id: 1, method, params })

/** What is wrong five thousand times, by every door that a body can come in by. */
const mistakes: readonly (readonly [
  door: string, path: string, body: unknown, headers?: Record<string, string>,
])[] = [
  ['a query', '/', { messages: sevens }],
  ['a tool over HTTP', '/tools/sum', { terms: sevens }],
  ['a chat completion', '/v1/chat/completions', { model: 'echo', messages: sevens }],
  ['a tool over MCP', '/mcp', rpc('tools/call', { name: 'sum', arguments: { terms: sevens } }), JSON_RPC],
  ['a message of A2A 1.0', '/a2a', rpc('SendMessage', { message: message(sevens) })],
  ['a message of A2A 0.3', '/a2a', rpc('message/send', { message: { ...message(sevens), kind: 'message' } })],
  ['a message of plain A2A', '/a2a', rpc('message/send', { message: { role: 'user', parts: sevens } })],
  ['a message over HTTP+JSON', '/message:send', { message: message(sevens) }],
  ['a data part for a tool', '/a2a', rpc('SendMessage', {
    message: message([{ data: { skill: 'sum', arguments: { terms: sevens } } }]),
  })],
  ['a long name', '/mcp', rpc('x'.repeat(MANY), {}), JSON_RPC],
  ['a long id', '/a2a', { ...rpc('SendMessage', {}), id: 'x'.repeat(MANY) }],
  ['a long task id', '/a2a', rpc('GetTask', { id: 'x'.repeat(MANY) })],
]

test('an error is small, however much is wrong', async (t) => {
  const server = serve(t, { agents: [echo], tools: [tool], protocol: 'all' })
  for (const [door, path, body, headers] of mistakes) {
    const text = await (await server.fetch(request(path, body, headers))).text()
    // A task shows the message that it was begun by, once.
    const shown = text.includes('"history"') ? JSON.stringify(body).length : 0
    assert.ok(text.length < 8 * 1024 + shown, `${door}: ${text.length} characters`)
    assert.ok(text.length > 20, door)
    const faults = text.match(/"(?:path|field)"/g) ?? []
    assert.ok(faults.length <= 20, `${door}: ${faults.length} faults`)
  }
})

test('an error that lists says that there are more', async (t) => {
  const server = serve(t, { agents: [echo], tools: [tool], protocol: 'all' })
  for (const [path, body] of [['/', { messages: sevens }], ['/tools/sum', { terms: sevens }]] as const) {
    const problem = await jsonOf(await server.fetch(request(path, body)))
    assert.equal((problem['errors'] as readonly unknown[]).length, 20, path)
    assert.match(String(problem['detail']), /More than 20 |at least \d+ more/, path)
    assert.ok(String(problem['detail']).length <= 1024, path)
  }
})

/** What is one character each, and several bytes. */
const wide = '\u65e5'.repeat(100)

test('ids and methods are counted in bytes, on every door', async (t) => {
  const server = serve(t, { agents: [echo], tools: [tool], protocol: 'all' })
  for (const [path, headers] of [['/mcp', JSON_RPC], ['/messages/', JSON_RPC], ['/a2a', {}]] as const) {
    for (const body of [{ ...rpc('ping', {}), id: wide }, rpc(wide, {})]) {
      const answer = await jsonOf(await server.fetch(request(path, body, headers)))
      const said = JSON.stringify(answer['error'])
      assert.match(said, /256 bytes/, `${path} ${said}`)
    }
  }
})
