/**
 * The description against the server that it describes: every path and method there is on it, every operation
 * of it is asked, well and badly, and what comes back has the status, the media type and the schema that it
 * says.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { compile, defineAgent } from '../../lib/index.ts'
import { echo, jsonOf, request, serve } from '../fixtures/client.ts'
import type { JsonSchema, ServerOptions, TriportServer, Validate } from '../../lib/index.ts'

type Json = Readonly<Record<string, unknown>>

/** One operation of a description. */
interface Operation {
  readonly path: string
  readonly method: string
  readonly said: Json
}

const agent = defineAgent({
  name: 'The Writer', description: 'Writes.', run: (prompt) => ({ text: prompt, data: { words: 1 } }),
})
const tools = [
  {
    name: 'stock.of', title: 'Stock', description: 'Counts.', run: () => ({ n: 3 }),
    inputSchema: {
      type: 'object', properties: { article: { $ref: '#/$defs/article' } }, required: ['article'],
      $defs: { article: { enum: ['apple', 'pear'] } },
    },
    outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  },
  { name: 'picture', run: () => [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] },
] as const
const things: Partial<ServerOptions> = {
  resources: [{ uri: 'shop://hours', name: 'hours', mimeType: 'text/plain', read: () => '9 to 5' }],
  resourceTemplates: [{ uriTemplate: 'shop://{+path}', name: 'rest', read: () => '' }],
  prompts: [{ name: 'praise', arguments: [{ name: 'article', required: true }], get: () => 'Hi' }],
}
const desk = { name: 'Desk', agents: [echo, agent] }
const auth = {
  resource: 'http://triport.test/team/mcp', authorizationServers: ['https://login.example'],
  verify: (token: string) => token === 'k' ? { subject: 'ann', scopes: ['a'] } : undefined,
}
const a2a = { tenants: ['acme'], pushNotifications: { allowPrivate: true, allowInsecure: true } }

const servers: readonly (readonly [what: string, options: ServerOptions])[] = [
  ['an agent over HTTP', { agents: [echo], protocol: 'http' }],
  ['an agent over MCP', { agents: [echo], protocol: 'mcp' }],
  ['an agent over A2A', { agents: [echo], protocol: 'a2a' }],
  ['several agents and a group, with a path of their own',
    { groups: [desk], path: '/ask', protocol: 'http' }],
  ['a group within a group, on every port', { groups: [{ name: 'House', agents: [desk] }], protocol: 'all' }],
  ['tools alone over HTTP', { tools, protocol: 'http' }],
  ['tools alone over MCP', { tools, protocol: 'mcp' }],
  ['tools alone over A2A', { tools, protocol: 'a2a' }],
  ['tools alone on every port', { tools, protocol: 'all' }],
  ['resources and prompts alone', { ...things, protocol: 'http' }],
  ['everything, with a key and metrics', {
    agents: [agent], groups: [desk], tools, ...things, apiKey: 'k', metrics: true, protocol: 'all',
  }],
  ['tokens, below a prefix', {
    agents: [echo], tools, auth, mountPath: '/team', protocol: 'all',
  }],
  ['webhooks, tenants, and a card for some', {
    agents: [echo], apiKey: 'k', protocol: 'all', a2a: { ...a2a, extendedCard: { skills: [] } },
  }],
]

const methods = ['get', 'put', 'post', 'delete', 'patch']

async function documentOf(server: TriportServer, mount: string): Promise<Json> {
  const headers = { authorization: 'Bearer k' }
  const response = await server.fetch(request(`${mount}/openapi.json`, undefined, headers))
  assert.equal(response.status, 200)
  return jsonOf(response)
}

function* operationsIn(document: Json): Generator<Operation> {
  for (const [path, item] of Object.entries(document['paths'] as Record<string, Json>)) {
    for (const method of methods) {
      if (item[method] !== undefined) yield { path, method, said: item[method] as Json }
    }
  }
}

/** The address of a path: below the server's, or below one of its own. */
function baseOf(document: Json, path: string): string {
  const item = (document['paths'] as Record<string, Json>)[path]
  const [server] = (item?.['servers'] ?? document['servers']) as readonly { readonly url: string }[]
  return new URL(server?.url ?? '').pathname.replace(/\/$/, '')
}

/** What is said of an answer, with its media types; a reference is followed. */
function responseFor(document: Json, { said }: Operation, status: number): Json | undefined {
  const responses = said['responses'] as Record<string, Json>
  const response = responses[status] ?? responses['default']
  const name = /^#\/components\/responses\/(\w+)$/.exec(String(response?.['$ref']))?.[1]
  if (name === undefined) return response
  return ((document['components'] as Json)['responses'] as Record<string, Json>)[name]
}

const checks = new WeakMap<object, Validate>()

/** The check of a schema in a document, which is compiled once. */
function checkFor({ components }: Json, schema: object): Validate {
  const check = checks.get(schema) ?? compile({ ...schema, components } as JsonSchema)
  checks.set(schema, check)
  return check
}

/** Holds an answer against what is said of it. */
async function fits(document: Json, operation: Operation, response: Response, what: string): Promise<void> {
  const { status, headers } = response
  const where = `${what}: ${operation.method} ${operation.path} ${status}`
  const said = responseFor(document, operation, status)
  assert.ok(said !== undefined, `${where} is not described`)
  const contents = said['content'] as Record<string, Json> | undefined
  const type = headers.get('content-type')?.split(';')[0]
  if (contents === undefined) return assert.equal(type, undefined, `${where} has ${type}`)
  assert.ok(type !== undefined && (type in contents || '*/*' in contents), `${where} has ${type}`)
  if (type === 'text/event-stream') return void await response.body?.cancel()
  const schema = contents[type]?.['schema']
  const text = await response.text()
  if (schema === undefined || !type.endsWith('json')) return
  const { errors } = checkFor(document, schema as object)(JSON.parse(text))
  assert.deepEqual(errors, [], `${where} ${text.slice(0, 300)}`)
}

/** Bodies of operations that have no example. */
const bodies: Readonly<Record<string, unknown>> = {
  '/tools/stock.of': { article: 'pear' },
  '/tools/picture': {},
  '/prompts/praise': { article: 'pears' },
}

const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hi' }] }

/** The operation asked as it wants to be, and what its path needs put in. */
function asked(document: Json, { path, method, said }: Operation, names: Json, model: string): Request {
  const content = (said['requestBody'] as Json | undefined)?.['content'] as Record<string, Json> | undefined
  const example = content?.['application/json']?.['example'] ?? bodies[path]
  const body = /^\/v1\/responses(?:\/compact)?$/.test(path) ? { model, input: 'hi' }
    : path === '/v1/chat/completions' ? { model, messages: [{ role: 'user', content: 'hi' }] }
    : path.endsWith('pushNotificationConfigs') ? { url: 'http://127.0.0.1:9/' }
    : example
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(names[name] ?? 'x'))
  const query = path === '/resources/read' ? '?uri=shop://hours' : ''
  const accept = /:subscribe$|:stream$|^\/sse$/.test(path) || (method === 'get' && path === '/mcp')
    ? 'text/event-stream' : 'application/json, text/event-stream;q=0.5, */*;q=0.1'
  const sent = method === 'get' || method === 'delete' ? undefined : body ?? ''
  return request(baseOf(document, path) + filled + query, sent, {
    'authorization': 'Bearer k', accept,
    ...names['session'] !== undefined && path === '/mcp' && { 'mcp-session-id': String(names['session']) },
  }, method.toUpperCase())
}

/** What is over, or not for this caller: tasks of other agents, cards that some may read. */
const isRefused = /pushNotificationConfigs|:subscribe|[:/]cancel|xtendedAgentCard|ExtendedCard|.\/tasks\/\{/

/** A task that is there, in the names of its paths, and a session. */
async function namesFor(server: TriportServer, mount: string, model: string): Promise<Json> {
  const headers = { authorization: 'Bearer k', accept: 'application/json, text/event-stream' }
  const sent = await server.fetch(request(`${mount}/message:send`, { message }, headers))
  const { task } = sent.status === 200 ? await jsonOf(sent) as { task: { id: string } } : { task: undefined }
  const initialize = {
    jsonrpc: '2.0', id: 1, method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  }
  const begun = await server.fetch(request(`${mount}/mcp`, initialize, headers))
  await begun.text()
  const session = begun.headers.get('mcp-session-id') ?? undefined
  const conversation = 'conversation-1'
  const query = { query: 'hi', session_id: conversation }
  await (await server.fetch(request(`${mount}/`, query, headers))).text()
  const answered = await server.fetch(request(`${mount}/v1/responses`, { model, input: 'hi' }, headers))
  const response = answered.status === 200 ? (await jsonOf(answered))['id'] : undefined
  return { tenant: 'acme', id: task?.id, taskId: task?.id, session, conversation, response }
}

test('what is served is described, and nothing else: each path has the methods that it says', async (t) => {
  for (const [what, options] of servers) {
    const server = serve(t, options)
    const mount = options.mountPath ?? ''
    const document = await documentOf(server, mount)
    const paths = document['paths'] as Record<string, Json>
    const { endpoints } = await jsonOf(await server.fetch(request(`${mount}/health`)))
    const known = new Set(Object.keys(paths).map((path) => baseOf(document, path) + path))
    const isKnown = (path: string): boolean => known.has(path) || known.has(path.replace(/\/$/, ''))
    assert.deepEqual((endpoints as string[]).filter((path) => !isKnown(path)), [], what)
    for (const [path, item] of Object.entries(paths)) {
      const target = baseOf(document, path) + path.replace(/\{\w+\}/g, 'x')
      const { headers } = await server.fetch(request(target, undefined, {}, 'OPTIONS'))
      const allowed = String(headers.get('allow')).split(', ')
      const told = methods.filter((method) => item[method] !== undefined).map((one) => one.toUpperCase())
      assert.deepEqual(told.filter((method) => !allowed.includes(method)), [], `${what}: ${path}`)
      for (const method of allowed) {
        if (told.includes(method) || method === 'HEAD' || method === 'OPTIONS') continue
        // What waits for an agent that may yet be added.
        const sent = request(target, '{"query": "a"}', { authorization: 'Bearer k' }, method)
        assert.equal((await server.fetch(sent)).status, 404, `${what}: ${method} ${path}`)
      }
    }
  }
})

test('every operation has a name of its own, and answers what it is asked as it says', async (t) => {
  for (const [what, options] of servers) {
    const server = serve(t, options)
    const mount = options.mountPath ?? ''
    const document = await documentOf(server, mount)
    const model = server.catalog.root?.id ?? ''
    const names = await namesFor(server, mount, model)
    const ids = new Set<unknown>()
    // What ends a session, or removes what another reads, comes last.
    const operations = [...operationsIn(document)].sort((a, b) => (
      Number(a.method === 'delete') - Number(b.method === 'delete')
    ))
    for (const operation of operations) {
      ids.add(operation.said['operationId'])
      const response = await server.fetch(asked(document, operation, names, model))
      await fits(document, operation, response, what)
      if (isRefused.test(operation.path)) continue
      assert.ok(response.status < 400, `${what}: ${operation.method} ${operation.path} ${response.status}`)
    }
    assert.equal(ids.size, operations.length, what)
  }
})

test('completions that call a tool of the client, or refuse, are as described', async (t) => {
  const caller = defineAgent({
    name: 'Caller',
    run: (_prompt, { clientTools: [tool], clientToolResults: [found] }) => (
      tool === undefined || found !== undefined ? 'Tea.' : { toolCalls: [{ id: 'c', name: tool.name }] }
    ),
  })
  const server = serve(t, { agents: [caller] })
  const document = await documentOf(server, '')
  const completion = [...operationsIn(document)].find(({ path }) => path === '/v1/chat/completions')!
  const content = (completion.said['requestBody'] as Json)['content'] as Record<string, Json>
  const check = checkFor(document, content['application/json']!['schema'] as object)
  const hello = { role: 'user', content: 'Hi' }
  const tools = [{ type: 'function', function: { name: 'find' } }]
  const call = { id: 'c', type: 'function', function: { name: 'find', arguments: '{}' } }
  const asked = { role: 'assistant', content: null, tool_calls: [call] }
  const format = { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } }
  const bodies = [
    { messages: [hello], tools }, { messages: [hello], response_format: format },
    { messages: [hello, asked, { role: 'tool', tool_call_id: 'c', content: 'Sencha' }], tools },
  ]
  for (const body of bodies) {
    const sent = { model: 'caller', ...body }
    assert.deepEqual(check(sent).errors, [])
    await fits(document, completion, await server.fetch(request(completion.path, sent)), 'a completion')
  }
})

test('a batch is described where it is taken, and so is what it is answered', async (t) => {
  const server = serve(t, { tools, protocol: 'mcp' })
  const document = await documentOf(server, '')
  const [mcp, messages] = ['/mcp', '/messages'].map((path) => (
    [...operationsIn(document)].find((one) => one.path === path && one.method === 'post')!
  ))
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const batch = [ping, { ...ping, id: 2 }]
  for (const { said } of [mcp!, messages!]) {
    assert.match(String(said['description']), /2025-03-26.* a JSON-RPC batch: a list of messages/)
    const content = (said['requestBody'] as Json)['content'] as Record<string, Json>
    const check = checkFor(document, content['application/json']!['schema'] as object)
    for (const body of [batch, ping]) assert.ok(check(body).valid)
    for (const body of [[], [7], 7]) assert.ok(!check(body).valid)
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> => (
    server.fetch(request(path, body, headers))
  )
  const answers: readonly (readonly [operation: Operation, status: number, answer: Response])[] = [
    [mcp!, 200, await post('/mcp', batch)],
    [mcp!, 200, await post('/mcp', batch, { accept: 'text/event-stream' })],
    [mcp!, 400, await post('/mcp', batch, { 'MCP-Protocol-Version': '2025-06-18' })],
    [messages!, 400, await post('/messages/', batch)],
  ]
  for (const [operation, status, answer] of answers) {
    assert.equal(answer.status, status)
    await fits(document, operation, answer, 'a batch')
  }

  const stream = (await server.fetch(request('/sse'))).body!.getReader()
  const heard = async (): Promise<string> => new TextDecoder().decode((await stream.read()).value)
  const endpoint = /data: (.*)/.exec(await heard())?.[1] ?? ''
  const params = { protocolVersion: '2025-03-26', capabilities: {} }
  for (const body of [{ ...ping, method: 'initialize', params }, batch]) {
    await fits(document, messages!, await post(endpoint, body), 'a session of the pair')
    assert.equal((await heard()).includes('"id":2'), body === batch)
  }
  await stream.cancel()
})

const wrongs: readonly (readonly [
  what: string, headers: Record<string, string>, body: string | undefined,
])[] = [
  ['no JSON', { 'content-type': 'application/json' }, '{'],
  ['no object', { 'content-type': 'application/json' }, '7'],
  ['the wrong members', { 'content-type': 'application/json' }, '{"query": 7, "article": 7, "model": 7}'],
  ['another media type', { 'content-type': 'text/plain' }, 'hi'],
  ['nothing that is wanted', { 'content-type': 'application/json', 'accept': 'image/png' }, '{"query": "a"}'],
  ['a foreign host', { 'content-type': 'application/json', 'host': 'evil.example' }, '{}'],
  ['a foreign page', { 'content-type': 'application/json', 'origin': 'https://evil.example' }, '{}'],
  ['a wrong key', { 'content-type': 'application/json', 'authorization': 'Bearer wrong' }, '{}'],
]

test('what is wrong is refused as the operation says', async (t) => {
  for (const [what, options] of servers.slice(-3)) {
    const server = serve(t, { ...options, allowedHosts: ['triport.test'] })
    const mount = options.mountPath ?? ''
    const document = await documentOf(server, mount)
    for (const operation of operationsIn(document)) {
      const { path, method } = operation
      for (const [wrong, headers, body] of wrongs) {
        const target = baseOf(document, path) + path.replace(/\{\w+\}/g, 'x')
        const hasBody = method === 'post'
        const { 'content-type': type, ...rest } = headers
        const sent = request(target, hasBody ? body : undefined, {
          authorization: 'Bearer k', ...hasBody && type !== undefined && { 'content-type': type }, ...rest,
        }, method.toUpperCase())
        await fits(document, operation, await server.fetch(sent), `${what}, ${wrong}`)
      }
    }
  }
})

test('the tags of all parts are listed, the most useful first', async (t) => {
  const document = await documentOf(serve(t, { agents: [echo], tools, protocol: 'all' }), '')
  const names = (document['tags'] as Json[]).map(({ name }) => name)
  assert.deepEqual(names, ['HTTP', 'OpenAI', 'Tools', 'MCP', 'A2A', 'Service'])
})
