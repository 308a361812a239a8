/**
 * One server through all five revisions, side by side: what each row says is what each client sees.
 */
import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { revisions } from '../../../lib/parts/mcp/protocol/revisions.ts'
import {
  allRevisions, answerOf, ask, begin, call, legacyRevisions, modern, post, serveMcp,
} from './client.ts'
import { messagesOf } from '../../fixtures/events.ts'
import type { Content } from '../../../lib/index.ts'
import type { Json } from '../../fixtures/events.ts'

const icons = [{ src: 'https://example.com/icon.png', mimeType: 'image/png' }]
const about = { title: 'Title', description: 'What it is.', icons, _meta: { 'example.com/a': 1 } }

const blocks: readonly Content[] = [
  { type: 'text', text: 'text' },
  { type: 'image', data: 'AA==', mimeType: 'image/png' },
  { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
  { type: 'resource', resource: { uri: 'test://r', text: 'text' } },
  { type: 'resource_link', uri: 'test://r', name: 'r' },
]

const abilities = ['elicit', 'elicit-url', 'sample', 'roots'] as const

const server = serveMcp({ after }, {
  description: 'A server.',
  mcp: { instructions: 'Be kind.', title: 'Test server', icons, websiteUrl: 'https://example.com' },
  tools: [
    {
      name: 'full', ...about, annotations: { readOnlyHint: true },
      outputSchema: { type: 'object', properties: { n: { type: 'number' } } },
      run: () => ({ n: 1 }),
    },
    { name: 'number', description: 'A number.', outputSchema: { type: 'number' }, run: () => 42 },
    {
      name: 'list', description: 'A list.',
      outputSchema: { type: 'array', items: { $ref: '#/$defs/item' }, $defs: { item: { type: 'number' } } },
      run: () => [1, 2],
    },
    { name: 'blocks', description: 'All blocks.', run: () => blocks },
    {
      name: 'progress', description: 'Tells.',
      async run(_args, call) {
        await new Promise(setImmediate)
        call.progress(1, 2, 'half')
        return 'done'
      },
    },
    {
      name: 'abilities', description: 'What the client can be asked.',
      run: (_args, call) => abilities.filter((what) => call.can(what)).join(' '),
    },
    {
      name: 'sample', description: 'Asks the model.',
      run: (_args, call) => call.sample({ messages: [], maxTokens: 1 }),
    },
    { name: 'log', description: 'Logs.', async run(_args, call) {
      await new Promise(setImmediate)
      call.log('info', 'a line', 'test')
      return 'done'
    } },
  ],
  resources: [{
    uri: 'test://r', name: 'r', ...about, mimeType: 'text/plain', size: 4,
    annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' },
    read: () => 'text',
  }],
  resourceTemplates: [{
    uriTemplate: 'test://t/{id}', name: 't', ...about, mimeType: 'text/plain',
    complete: { id: () => ['1'] }, read: () => 'text',
  }],
  prompts: [{
    name: 'p', ...about, arguments: [{ name: 'a', title: 'A', description: 'An argument.', required: true }],
    get: () => [{ role: 'user', content: blocks[2]! }],
  }],
})

const able = {
  elicitation: { form: {}, url: {} }, sampling: {}, roots: {},
}

/** Sends a request, gets status and messages. */
type Client = (method: string, params?: Json, meta?: object) => Promise<{ status: number; messages: Json[] }>

/** One of each revision. */
const clients = new Map<string, Client>()

for (const revision of legacyRevisions) {
  const session = await begin(server, revision, able)
  clients.set(revision, async (method, params = {}, meta) => {
    const response = await session.send(method, meta === undefined ? params : { ...params, _meta: meta })
    return { status: response.status, messages: await messagesOf(response) }
  })
}
clients.set('2026-07-28', async (method, params, meta) => {
  const response = await modern(
    server, method, params, { capabilities: able, ...meta !== undefined && { meta } },
  )
  return { status: response.status, messages: await messagesOf(response) }
})

type Probe = (send: (method: string, params?: Json, meta?: object) => Promise<Json>) => Promise<unknown>

/** Puts one question to all; `expected` is in the order of the revisions. */
function differ(what: string, probe: Probe, expected: readonly unknown[]): void {
  test(`${what} is each revision's own`, async () => {
    const seen: Record<string, unknown> = {}
    for (const [revision, send] of clients) {
      seen[revision] = await probe(async (method, params, meta) => {
        const { status, messages } = await send(method, params, meta)
        return { status, messages, ...messages.at(-1) }
      })
    }
    assert.deepEqual(
      seen, Object.fromEntries(allRevisions.map((revision, index) => [revision, expected[index]])),
    )
  })
}

function alike(what: string, probe: Probe, expected: unknown): void {
  differ(what, probe, allRevisions.map(() => expected))
}

const keysOf = (value: object): string => Object.keys(value).sort().join(' ')

differ('what a tool is described by', async (send) => keysOf((await send('tools/list')).result.tools[0]), [
  'description inputSchema name',
  'annotations description inputSchema name',
  '_meta annotations description inputSchema name outputSchema title',
  '_meta annotations description icons inputSchema name outputSchema title',
  '_meta annotations description icons inputSchema name outputSchema title',
])

const firstResource: Probe = async (send) => keysOf((await send('resources/list')).result.resources[0])

differ('what a resource is described by', firstResource, [
  'annotations description mimeType name size uri',
  'annotations description mimeType name size uri',
  '_meta annotations description mimeType name size title uri',
  '_meta annotations description icons mimeType name size title uri',
  '_meta annotations description icons mimeType name size title uri',
])

differ('what a template is described by',
  async (send) => keysOf((await send('resources/templates/list')).result.resourceTemplates[0]), [
    'description mimeType name uriTemplate',
    'description mimeType name uriTemplate',
    '_meta description mimeType name title uriTemplate',
    '_meta description icons mimeType name title uriTemplate',
    '_meta description icons mimeType name title uriTemplate',
  ])

differ('what a prompt and its argument are described by', async (send) => {
  const [prompt] = (await send('prompts/list')).result.prompts
  return [keysOf(prompt), keysOf(prompt.arguments[0])]
}, [
  ['arguments description name', 'description name required'],
  ['arguments description name', 'description name required'],
  ['_meta arguments description name title', 'description name required title'],
  ['_meta arguments description icons name title', 'description name required title'],
  ['_meta arguments description icons name title', 'description name required title'],
])

differ('the members of a list', async (send) => keysOf((await send('tools/list')).result), [
  'tools', 'tools', 'tools', 'tools', '_meta cacheScope resultType tools ttlMs',
])

const typesOf = (content: readonly Json[]): string => content.map(({ type }) => type).join(' ')

differ('the kind of blocks in a result',
  async (send) => typesOf((await send('tools/call', { name: 'blocks' })).result.content), [
    'text image resource resource text',
    'text image audio resource text',
    'text image audio resource resource_link',
    'text image audio resource resource_link',
    'text image audio resource resource_link',
  ])

differ('the block in a prompt', async (send) =>
  (await send('prompts/get', { name: 'p', arguments: { a: '1' } })).result.messages[0].content.type,
['resource', 'audio', 'audio', 'audio', 'audio'])

differ('structured content that is an object', async (send) =>
  (await send('tools/call', { name: 'full' })).result.structuredContent,
[undefined, undefined, { n: 1 }, { n: 1 }, { n: 1 }])

differ('structured content that is a number', async (send) =>
  (await send('tools/call', { name: 'number' })).result.structuredContent,
[undefined, undefined, { result: 42 }, { result: 42 }, 42])

const wrapped = { type: 'object', properties: { result: { type: 'number' } }, required: ['result'] }

differ('the schema of structured content that is a number', async (send) =>
  (await send('tools/list')).result.tools[1].outputSchema,
[undefined, undefined, wrapped, wrapped, { type: 'number' }])

const items = { type: 'array', items: { $ref: '#/$defs/item' } }
const $defs = { item: { type: 'number' } }
const wrappedList = { $defs, type: 'object', properties: { result: items }, required: ['result'] }

differ('a schema with definitions', async (send) => (await send('tools/list')).result.tools[2].outputSchema,
  [undefined, undefined, wrappedList, wrappedList, { ...items, $defs }])

alike('the text beside structured content', async (send) =>
  (await send('tools/call', { name: 'number' })).result.content, [{ type: 'text', text: '42' }])

differ('what ping gets', async (send) => {
  const { status, result, error } = await send('ping')
  return [status, result ?? error.code]
}, [[200, {}], [200, {}], [200, {}], [200, {}], [404, -32601]])

const gone = [
  'initialize', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe',
  'notifications/initialized',
]
for (const method of gone) {
  test(`${method} is unknown in 2026-07-28`, async () => {
    const response = await modern(server, method, { level: 'info', uri: 'test://r' })
    assert.equal(response.status, 404)
    const { error } = await answerOf(response)
    assert.equal(error.code, -32601)
    assert.equal(error.message, 'Method not found')
  })
}

differ('an unknown method', async (send) => {
  const { status, error } = await send('no/such')
  return [status, error.code, error.message]
}, [
  [200, -32601, 'Method not found'], [200, -32601, 'Method not found'], [200, -32601, 'Method not found'],
  [200, -32601, 'Method not found'], [404, -32601, 'Method not found'],
])

differ('a resource that is not there', async (send) => {
  const { status, error } = await send('resources/read', { uri: 'test://nothing' })
  return [status, error.code, error.data.uri]
}, [
  [200, -32002, 'test://nothing'], [200, -32002, 'test://nothing'], [200, -32002, 'test://nothing'],
  [200, -32002, 'test://nothing'], [200, -32602, 'test://nothing'],
])

alike('an unknown tool', async (send) => {
  const { status, error } = await send('tools/call', { name: 'nobody' })
  return [status, error]
}, [200, { code: -32602, message: 'Invalid params', data: { detail: 'Unknown tool: nobody' } }])

alike('an unknown prompt', async (send) => {
  const { status, error } = await send('prompts/get', { name: 'nobody' })
  return [status, error.code]
}, [200, -32602])

differ('the text of progress', async (send) => {
  const { messages } = await send('tools/call', { name: 'progress' }, { progressToken: 0 })
  return messages[0].params
}, [
  { progressToken: 0, progress: 1, total: 2 },
  ...Array.from({ length: 4 }, () => ({ progressToken: 0, progress: 1, total: 2, message: 'half' })),
])

differ('what a client with everything can be asked', async (send) =>
  (await send('tools/call', { name: 'abilities' })).result.content[0].text, [
  'sample roots', 'sample roots', 'elicit sample roots',
  'elicit elicit-url sample roots', 'elicit elicit-url sample roots',
])

differ('whether a log is told without being asked for', async (send) =>
  (await send('tools/call', { name: 'log' })).messages.length, [2, 2, 2, 2, 1])

const logged: Probe = async (send) => keysOf((await send('tools/call', { name: 'log' })).result)

differ('the members of a result', logged, [
  'content', 'content', 'content', 'content', '_meta content resultType',
])

differ('whether what was read says how long it lasts', async (send) =>
  keysOf((await send('resources/read', { uri: 'test://r' })).result),
['contents', 'contents', 'contents', 'contents', '_meta cacheScope contents resultType ttlMs'])

differ('whether completion has its answer alone', async (send) => {
  const ref = { type: 'ref/resource', uri: 'test://t/{id}' }
  const { result } = await send('completion/complete', { ref, argument: { name: 'id', value: '' } })
  return [keysOf(result), result.completion.values]
}, [
  ['completion', ['1']], ['completion', ['1']], ['completion', ['1']], ['completion', ['1']],
  ['_meta completion resultType', ['1']],
])

test('an empty result is exactly {} in all revisions with a handshake', async () => {
  for (const revision of legacyRevisions) {
    const session = await begin(server, revision)
    for (const [method, params] of [
      ['ping', undefined], ['logging/setLevel', { level: 'info' }],
      ['resources/subscribe', { uri: 'test://r' }], ['resources/unsubscribe', { uri: 'test://r' }],
    ] as const) {
      const { result } = await session.ask(method, params)
      assert.deepEqual(result, {}, `${method} in ${revision}`)
    }
  }
})

const opened: readonly (readonly [string, string, string])[] = [
  ['2024-11-05', 'name version', 'logging prompts resources tools'],
  ['2025-03-26', 'name version', 'completions logging prompts resources tools'],
  ['2025-06-18', 'name title version', 'completions logging prompts resources tools'],
  [
    '2025-11-25', 'description icons name title version websiteUrl',
    'completions logging prompts resources tools',
  ],
]

for (const [revision, implementation, capabilities] of opened) {
  test(`initialize in ${revision} says who and what this server is`, async () => {
    const { opened: result } = await begin(server, revision)
    assert.equal(keysOf(result), 'capabilities instructions protocolVersion serverInfo')
    assert.equal(result.protocolVersion, revision)
    assert.equal(result.instructions, 'Be kind.')
    assert.equal(keysOf(result.serverInfo), implementation)
    assert.equal(keysOf(result.capabilities), capabilities)
    assert.deepEqual(result.capabilities.tools, { listChanged: true })
    assert.deepEqual(result.capabilities.prompts, { listChanged: true })
    assert.deepEqual(result.capabilities.resources, { subscribe: true, listChanged: true })
  })
}

test('server/discover says the same in 2026-07-28, and which revisions there are', async () => {
  const { result } = await ask(server, 'server/discover')
  assert.deepEqual(result.supportedVersions, [...allRevisions].reverse())
  assert.equal(result.resultType, 'complete')
  assert.equal(result.instructions, 'Be kind.')
  assert.equal(result.ttlMs, 0)
  assert.equal(result.cacheScope, 'private')
  for (const name of ['completions', 'logging', 'prompts', 'resources', 'tools']) assert.ok(
    result.capabilities[name],
  )
  const info = result._meta['io.modelcontextprotocol/serverInfo']
  assert.equal(keysOf(info), 'description icons name title version websiteUrl')
})

test('a batch is served by 2025-03-26 alone', async () => {
  const batch = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
  const seen: Record<string, number> = {}
  for (const revision of legacyRevisions) {
    const session = await begin(server, revision)
    seen[revision] = (await session.post(batch)).status
  }
  seen['2026-07-28'] = (await post(server, batch, { 'MCP-Protocol-Version': '2026-07-28' })).status
  assert.deepEqual(seen, {
    '2024-11-05': 400, '2025-03-26': 200, '2025-06-18': 400, '2025-11-25': 400, '2026-07-28': 400,
  })
})

test('a client that cannot be asked gets a result before 2026-07-28, an error since', async () => {
  for (const revision of legacyRevisions) {
    const result = await (await begin(server, revision)).call('sample')
    assert.equal(result.isError, true)
    assert.match(result.content[0].text, /cannot be asked/)
  }
  const response = await modern(server, 'tools/call', { name: 'sample' })
  assert.equal(response.status, 400)
  const { error } = await answerOf(response)
  assert.equal(error.code, -32021)
  assert.deepEqual(error.data.requiredCapabilities, { sampling: {} })
})

test('a call is asked by a request before 2026-07-28, and by rounds since', async () => {
  const session = await begin(server, '2025-11-25', able)
  const stream = await session.stream('sample')
  assert.equal((await stream.next()).method, 'sampling/createMessage')
  await stream.cancel()
  const result = await call(server, 'sample', {}, { capabilities: able })
  assert.equal(result.resultType, 'input_required')
  await session.end()
})

test('rows are the rows of the specification', () => {
  assert.deepEqual(revisions.map(({ name }) => name), [...allRevisions].reverse())
})
