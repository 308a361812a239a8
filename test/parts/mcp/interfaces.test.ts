/**
 * The tables of the MCP interface, row by row: each test is named after what the row promises. An MCP
 * server at its simplest is `POST /messages/` with a JSON body, and nothing before it.
 */
import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { request } from '../../fixtures/client.ts'
import { post, serveMcp } from './client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { Json } from '../../fixtures/events.ts'

const server = serveMcp({ after }, {
  name: 'Assistant server',
  agents: [{ name: 'Assistant', description: 'Helps.', run: (prompt) => `You said ${prompt}` }],
  tools: [
    {
      name: 'search', description: 'Finds documents.',
      inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
      run: (args: Json) => `Found ${args.query}`,
    },
    { name: 'fails', description: 'Fails.', run() { throw new Fault('failed', 'The archive is closed') } },
  ],
})

async function send(
  message: unknown, headers?: Record<string, string>,
): Promise<{ status: number; type: string; body: Json }> {
  const response = await post(server, message, headers, '/messages/')
  const body = await response.json()
  return { status: response.status, type: response.headers.get('content-type') ?? '', body }
}

const envelope = (method: string, params?: object, id: unknown = 1): object => (
  { jsonrpc: '2.0', method, id, ...params !== undefined && { params } }
)

test('request envelope: jsonrpc must be 2.0', async () => {
  for (const jsonrpc of ['1.0', 2, undefined]) {
    const { status, body } = await send({ jsonrpc, method: 'tools/list', id: 1 })
    assert.equal(status, 400)
    assert.equal(body.error.code, -32600)
  }
})

test('request envelope: method is a method name', async () => {
  for (const method of [7, null, '']) {
    const { status, body } = await send({ jsonrpc: '2.0', method, id: 1 })
    assert.equal(status, 400)
    assert.equal(body.error.code, -32600)
  }
})

test('request envelope: params may be left out', async () => {
  const { body } = await send(envelope('tools/list'))
  assert.ok(Array.isArray(body.result.tools))
})

for (const id of [0, 1, 42, -7, 'a string too']) {
  test(`success response: the id ${JSON.stringify(id)} comes back, with jsonrpc and result`, async () => {
    const { status, type, body } = await send(envelope('tools/list', undefined, id))
    assert.equal(status, 200)
    assert.match(type, /^application\/json/)
    assert.deepEqual(Object.keys(body).sort(), ['id', 'jsonrpc', 'result'])
    assert.equal(body.jsonrpc, '2.0')
    assert.strictEqual(body.id, id)
  })

  test(`error response: the id ${JSON.stringify(id)} comes back, with error.code and message`, async () => {
    const { body } = await send(envelope('no/such', {}, id))
    assert.deepEqual(Object.keys(body).sort(), ['error', 'id', 'jsonrpc'])
    assert.equal(body.jsonrpc, '2.0')
    assert.strictEqual(body.id, id)
    assert.equal(body.error.code, -32601)
    assert.equal(body.error.message, 'Method not found')
  })
}

test('tool descriptor: name, description and an inputSchema of properties and required', async () => {
  const { body } = await send(envelope('tools/list'))
  const search = body.result.tools.find(({ name }: Json) => name === 'search')
  assert.deepEqual(search, {
    name: 'search', description: 'Finds documents.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  })
})

test('tool descriptor: an agent offers execute_assistant_task with the argument prompt', async () => {
  const { body } = await send(envelope('tools/list'))
  const [first] = body.result.tools
  assert.equal(first.name, 'execute_assistant_task')
  assert.deepEqual(first.inputSchema, {
    type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'],
  })
  const { body: called } = await send(
    envelope('tools/call', { name: first.name, arguments: { prompt: 'hi' } }),
  )
  assert.deepEqual(called.result, { content: [{ type: 'text', text: 'You said hi' }] })
})

test('tools/list: result.tools lists every available tool', async () => {
  const { body } = await send(envelope('tools/list'))
  assert.deepEqual(
    body.result.tools.map(({ name }: Json) => name), ['execute_assistant_task', 'search', 'fails'],
  )
})

test('tools/call: the tool of params.name runs with params.arguments, its output is text', async () => {
  const { status, body } = await send(envelope('tools/call', { name: 'search', arguments: { query: 'tea' } }))
  assert.equal(status, 200)
  assert.deepEqual(body.result, { content: [{ type: 'text', text: 'Found tea' }] })
})

test('tools/call: an unknown tool is -32602 Invalid params, and the detail names it', async () => {
  const { status, body } = await send(envelope('tools/call', { name: 'nobody', arguments: {} }, 9))
  assert.equal(status, 200)
  assert.deepEqual(body, {
    jsonrpc: '2.0', id: 9,
    error: { code: -32602, message: 'Invalid params', data: { detail: 'Unknown tool: nobody' } },
  })
})

test('tools/call: a failing tool is a result with isError', async () => {
  const { status, body } = await send(envelope('tools/call', { name: 'fails', arguments: {} }))
  assert.equal(status, 200)
  assert.deepEqual(body.result, { content: [{ type: 'text', text: 'The archive is closed' }], isError: true })
})

test('tools/call: bad arguments are a result with isError that names the argument', async () => {
  const { body } = await send(envelope('tools/call', { name: 'search', arguments: { query: 7 } }))
  assert.equal(body.result.isError, true)
  assert.match(body.result.content[0].text, /query/)
})

test('tools/call: params.name is required', async () => {
  const { body } = await send(envelope('tools/call', { arguments: {} }))
  assert.equal(body.error.code, -32602)
  assert.equal(body.error.message, 'Invalid params')
})

test('initialize: protocolVersion, capabilities with tools, serverInfo with name and version', async () => {
  const { status, body } = await send(envelope('initialize', {
    protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'curl', version: '8' },
  }))
  assert.equal(status, 200)
  assert.equal(body.result.protocolVersion, '2024-11-05')
  assert.equal(typeof body.result.capabilities.tools, 'object')
  assert.deepEqual(body.result.serverInfo, { name: 'Assistant server', version: '1.0.0' })
})

test('initialize: params.capabilities and params.clientInfo may be left out', async () => {
  const { body } = await send(envelope('initialize', { protocolVersion: '2024-11-05' }))
  assert.equal(body.result.protocolVersion, '2024-11-05')
})

test('initialize: params.protocolVersion is required', async () => {
  const { body } = await send(envelope('initialize', {}))
  assert.equal(body.error.code, -32602)
})

test('initialize: a version that nobody knows is answered with one that this server speaks', async () => {
  const { body } = await send(envelope('initialize', { protocolVersion: '1999-01-01' }))
  assert.equal(body.result.protocolVersion, '2025-11-25')
})

test('GET /sse: a stream that carries MCP messages, and says where to post', async () => {
  const response = await server.fetch(request('/sse'))
  assert.equal(response.status, 200)
  const stream = new EventStream(response)
  const endpoint = await stream.event()
  assert.equal(endpoint?.event, 'endpoint')
  assert.match(endpoint?.data ?? '', /^\/messages\/\?session_id=[\w-]+$/)
  const posted = await post(server, envelope('tools/list'), {}, endpoint!.data)
  assert.equal(posted.status, 202)
  assert.equal(await posted.text(), 'Accepted')
  const answer = await stream.event()
  assert.equal(answer?.event, 'message')
  assert.equal(JSON.parse(answer!.data).result.tools.length, 3)
  await stream.cancel()
})

const errors: readonly (readonly [string, unknown, number, number, string])[] = [
  ['-32700 Parse error: not JSON', '{"jsonrpc": "2.0", ', 400, -32700, 'Parse error'],
  ['-32600 Invalid request: no envelope', '{}', 400, -32600, 'Invalid request'],
  ['-32601 Method not found: an unknown method', envelope('no/such'), 200, -32601, 'Method not found'],
  [
    '-32602 Invalid params: an unknown tool', envelope('tools/call', { name: 'x' }), 200, -32602,
    'Invalid params',
  ],
]

for (const [name, message, status, code, text] of errors) {
  test(`errors: ${name}`, async () => {
    const answer = await send(message)
    assert.equal(answer.status, status)
    assert.equal(answer.body.error.code, code)
    assert.equal(answer.body.error.message, text)
  })
}

test('errors: -32603 Internal error: a defect, whose text stays in the log', async (t) => {
  const broken = serveMcp(t, {
    resources: [
      { uri: 'test://broken', name: 'broken', read() { throw new Error('the password is swordfish') } },
    ],
  })
  const response = await post(broken, envelope('resources/read', { uri: 'test://broken' }), {}, '/messages/')
  const text = await response.text()
  const { error } = JSON.parse(text)
  assert.equal(error.code, -32603)
  assert.equal(error.message, 'Internal error')
  assert.doesNotMatch(text, /swordfish/)
})

test('authentication: with a key set, X-API-Key opens and nothing else does', async (t) => {
  const keyed = serveMcp(t, { agents: [(prompt) => prompt], apiKey: 'the-key' })
  const list = envelope('tools/list')
  const rows: readonly (readonly [Record<string, string>, number])[] = [
    [{}, 401], [{ 'X-API-Key': 'wrong' }, 401], [{ 'X-API-Key': 'the-key' }, 200],
    [{ Authorization: 'Bearer the-key' }, 200], [{ Authorization: 'Bearer wrong' }, 401],
    [{ 'X-API-Key': 'the-key', Authorization: 'Bearer wrong' }, 401],
  ]
  for (const [headers, status] of rows) {
    for (const path of ['/messages/', '/mcp']) {
      const response = await post(keyed, list, headers, path)
      assert.equal(response.status, status, `${path} ${JSON.stringify(headers)}`)
      if (status === 401) {
        const { error, id } = await response.json() as Json
        assert.equal(error.code, -32600)
        assert.equal(id, undefined)
        assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer /)
      }
    }
  }
  assert.equal((await keyed.fetch(request('/sse'))).status, 401)
})

test('versioning: every request says 2.0, every answer too, and serverInfo.version is a string', async () => {
  const { body } = await send(envelope('initialize', { protocolVersion: '2024-11-05' }))
  assert.equal(body.jsonrpc, '2.0')
  assert.equal(typeof body.result.serverInfo.version, 'string')
})
