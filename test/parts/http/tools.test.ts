import assert from 'node:assert/strict'
import test from 'node:test'
import { defineTool } from '../../../lib/index.ts'
import { dial, echo, jsonOf, listen, request, serve } from '../../fixtures/client.ts'
import type { ServerOptions } from '../../../lib/index.ts'

const schema = {
  type: 'object', properties: { a: { type: 'number' }, b: { type: 'number', default: 1 } }, required: ['a'],
} as const
const add = defineTool({
  name: 'add-up', description: 'Adds.', inputSchema: schema, run: ({ a, b }) => a + Number(b),
})
const options: ServerOptions = { tools: [add], protocol: 'http' }

const annotations = { readOnlyHint: true } as const
const rich = defineTool({
  name: 'rich', title: 'Rich', description: 'Has all.', inputSchema: schema, annotations,
  outputSchema: { type: 'object' }, icons: [{ src: 'https://example.com/i.png' }], _meta: { a: 1 },
  scopes: ['secret'], timeoutMs: 5, run: () => ({}),
})

test('the list shows what MCP shows, and nothing of how a tool is run', async (t) => {
  const server = serve(t, { tools: [add, { ...rich, scopes: [] }], protocol: 'http' })
  const shown = {
    name: 'rich', title: 'Rich', description: 'Has all.', inputSchema: schema,
    outputSchema: { type: 'object' }, annotations, icons: [{ src: 'https://example.com/i.png' }],
    _meta: { a: 1 },
  }
  assert.deepEqual(await jsonOf(await server.fetch(request('/tools'))), {
    tools: [{ name: 'add-up', description: 'Adds.', inputSchema: schema }, shown],
  })
  assert.deepEqual(await jsonOf(await server.fetch(request('/tools/rich'))), shown)
  server.catalog.remove('tool', 'rich')
  const { tools } = await jsonOf(await server.fetch(request('/tools')))
  assert.deepEqual((tools as { name: string }[]).map(({ name }) => name), ['add-up'])
  assert.equal((await server.fetch(request('/tools/rich'))).status, 404)
})

test('agents are no tools here', async (t) => {
  const server = serve(t, { agents: [echo], protocol: 'all' })
  assert.deepEqual(await jsonOf(await server.fetch(request('/tools'))), { tools: [] })
})

test('a name is written as it is, or with _ for each -', async (t) => {
  const other = defineTool({ name: 'add_up', run: () => 'the other' })
  const alone = serve(t, options)
  for (const name of ['add-up', 'add_up']) {
    const reply = await jsonOf(await alone.fetch(request(`/tools/${name}`, { a: 1 })))
    assert.deepEqual([reply['tool'], reply['result']], ['add-up', 2], name)
  }
  const both = serve(t, { tools: [add, other], protocol: 'http' })
  assert.equal((await jsonOf(await both.fetch(request('/tools/add_up', {}))))['result'], 'the other')
})

/** What is answered instead of a result: method, path, body, headers, status, sentence. */
const refusals: readonly (readonly [
  path: string, body: unknown, status: number, detail: RegExp, headers?: Record<string, string>,
  method?: string,
])[] = [
  ['/tools/none', {}, 404, /There is no tool 'none' here; GET \/tools lists/],
  ['/tools/none', undefined, 404, /There is no tool 'none' here; GET \/tools lists/],
  ['/tools/Add-up', {}, 404, /There is no tool 'Add-up'/],
  ['/tools/add-up/more', {}, 404, /nothing at this path/],
  ['/tools/add-up', '{"a":', 400, /The body is not JSON/],
  ['/tools/add-up', '['.repeat(100), 400, /nested deeper than 64/],
  ['/tools/add-up', 'a=1', 415, /application\/json/, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['/tools/add-up', { a: 1 }, 406, /application\/json or text\/event-stream/, { accept: 'text/csv' }],
  ['/tools/add-up', { a: 1 }, 405, /GET, HEAD, POST/, {}, 'PUT'],
  ['/tools', { a: 1 }, 405, /GET, HEAD/],
  ['/tools/add-up', {}, 422, /^Invalid arguments for add-up: a: /],
  ['/tools/add-up', [], 422, /^Invalid arguments for add-up: must be an object/],
  ['/tools/add-up', 'null', 422, /^Invalid arguments for add-up: must be an object/],
  ['/', { query: 'hi' }, 404, /no agent here, but tools: GET \/tools lists them, and POST \/tools\/<name>/],
]

test('what cannot be run is refused as a problem document', async (t) => {
  const server = serve(t, options)
  for (const [path, body, status, detail, headers, method] of refusals) {
    const response = await server.fetch(request(path, body, headers, method))
    const what = `${method ?? ''} ${path} ${JSON.stringify(body)}`
    assert.equal(response.status, status, what)
    assert.equal(response.headers.get('content-type'), 'application/problem+json', what)
    const problem = await jsonOf(response)
    assert.match(String(problem['detail']), detail, what)
    assert.equal(problem['error'], problem['detail'])
    if (status === 405) assert.match(String(response.headers.get('allow')), /^GET, HEAD/)
  }
})

test('bad arguments are told one by one, whole or streamed', async (t) => {
  const server = serve(t, options)
  for (const accept of ['application/json', 'text/event-stream']) {
    const response = await server.fetch(request('/tools/add-up', { a: 'one', b: [] }, { accept }))
    assert.equal(response.status, 422, accept)
    const { errors, tool } = await jsonOf(response)
    assert.equal(tool, 'add-up')
    assert.deepEqual(errors, [
      { path: '/a', message: 'must be a number, got string "one"' },
      { path: '/b', message: 'must be a number, got array of 0 items' },
    ])
  }
})

test('arguments that are checked later are refused all the same', async (t) => {
  const issues = [{ message: 'must be even', path: ['a'] }]
  const validate = { '~standard': { version: 1, vendor: 'own', validate: async () => ({ issues }) } } as const
  const late = { name: 'late', inputSchema: { type: 'object' }, validate, run: () => 1 } as const
  const server = serve(t, { tools: [late], protocol: 'http' })
  const refused = await server.fetch(request('/tools/late', { a: 1 }))
  assert.equal(refused.status, 422)
  const { errors } = await jsonOf(refused)
  assert.deepEqual(errors, [{ path: '/a', message: 'must be even' }])
  const stream = await server.fetch(request('/tools/late', { a: 1 }, { accept: 'text/event-stream' }))
  assert.match(await stream.text(), /^id: 1\nevent: error\ndata: .*"status":422,.*"errors":\[\{"path":"\/a"/)
})

test('no body is no arguments', async (t) => {
  const server = serve(t, { tools: [{ name: 'now', run: () => 'noon' }], protocol: 'http' })
  const response = await server.fetch(new Request('http://triport.test/tools/now', { method: 'POST' }))
  assert.equal((await jsonOf(response))['result'], 'noon')
})

test('a tool is for those who have its scopes, and they alone see it', async (t) => {
  const apiKey = [{ id: 'in', key: 'in', scopes: ['secret'] }, { id: 'out', key: 'out' }]
  const server = serve(t, { tools: [rich], protocol: 'http', apiKey })
  for (const accept of ['application/json', 'text/event-stream']) {
    const ask = (key: string): Promise<Response> =>
      server.fetch(request('/tools/rich', { a: 1 }, { accept, ...key !== '' && { 'x-api-key': key } }))
    assert.equal((await ask('')).status, 401, accept)
    const refused = await ask('out')
    assert.equal(refused.status, 403, accept)
    assert.deepEqual((await jsonOf(refused))['scopes'], ['secret'])
    assert.equal((await ask('in')).status, 200, accept)
  }
  for (const [key, names, status] of [['in', ['rich'], 200], ['out', [], 403]] as const) {
    const headers = { 'x-api-key': key }
    const { tools } = await jsonOf(await server.fetch(request('/tools', undefined, headers)))
    assert.deepEqual((tools as { name: string }[]).map(({ name }) => name), names)
    assert.equal((await server.fetch(request('/tools/rich', undefined, headers))).status, status)
  }
  assert.equal((await server.fetch(request('/tools'))).status, 401)
})

test('calls are counted against the rate, lists are not', async (t) => {
  const server = serve(t, { ...options, rateLimit: { perMinute: 1, burst: 1 } })
  assert.equal((await server.fetch(request('/tools/add-up', { a: 1 }))).status, 200)
  const refused = await server.fetch(request('/tools/add-up', { a: 1 }))
  assert.equal(refused.status, 429)
  assert.ok(refused.headers.has('retry-after'))
  assert.equal((await server.fetch(request('/tools'))).status, 200)
})

test('HEAD answers as GET does, without the body', async (t) => {
  const { port } = await listen(t, options)
  for (const [path, status] of [['/tools', 200], ['/tools/add-up', 200], ['/tools/none', 404]] as const) {
    const wire = await dial(t, port)
    wire.send(`HEAD ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    const text = await wire.closed()
    assert.match(text, new RegExp(`^HTTP/1.1 ${status} `))
    assert.match(text, /Content-Length: [1-9]/i)
    assert.ok(text.endsWith('\r\n\r\n'), path)
  }
})
