/**
 * Who is told when something changes: sessions by the stream of GET, listeners by `subscriptions/listen`.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent, definePrompt, defineResource, defineTool } from '../../../lib/index.ts'
import { answerOf, ask, begin, legacyRevisions, modern, serveMcp } from './client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { ModernOptions } from './client.ts'
import type { Json } from '../../fixtures/events.ts'

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'

const tool = (name: string): ReturnType<typeof defineTool> => defineTool({ name, run: () => name })
const prompt = (name: string): ReturnType<typeof definePrompt> => definePrompt({ name, get: () => name })
const resource = (uri: string): ReturnType<typeof defineResource> => defineResource(
  { uri, name: uri, read: () => uri },
)

function make(t: Scope, options: object = {}): TriportServer {
  return serveMcp(
  t,
    { tools: [tool('first')], prompts: [prompt('first')], resources: [resource('test://first')], ...options },
  )
}

/** Opens a subscription; its stream, and what it is told of. */
async function listen(
  server: TriportServer, notifications: unknown, options: ModernOptions = {},
): Promise<{ stream: EventStream; honoured: Json }> {
  const stream = new EventStream(await modern(server, 'subscriptions/listen', { notifications }, options))
  const acknowledged = await stream.next()
  assert.equal(acknowledged.method, 'notifications/subscriptions/acknowledged')
  return { stream, honoured: acknowledged.params }
}

const changes: readonly (readonly [string, (server: TriportServer) => void])[] = [
  ['tools', ({ catalog }) => catalog.add(tool('second'))],
  ['prompts', ({ catalog }) => catalog.add(prompt('second'))],
  ['resources', ({ catalog }) => catalog.add(resource('test://second'))],
  ['tools', ({ catalog }) => catalog.add(defineAgent({ name: 'New', run: () => '' }))],
  ['tools', ({ catalog }) => { catalog.remove('tool', 'second') }],
  ['prompts', ({ catalog }) => { catalog.remove('prompt', 'second') }],
]

test('in a session a change of a list is told on the stream of GET', async (t) => {
  for (const revision of legacyRevisions) {
    const server = make(t)
    const session = await begin(server, revision)
    const stream = await session.listen()
    for (const [list, change] of changes) {
      change(server)
      assert.deepEqual(await stream.next(), { jsonrpc: '2.0', method: `notifications/${list}/list_changed` })
    }
    await stream.cancel()
  }
})

test('several changes of one list in one turn are one notice', async (t) => {
  const server = make(t)
  const stream = await (await begin(server)).listen()
  for (const name of ['a', 'b', 'c']) server.catalog.add(tool(name))
  server.catalog.add(prompt('a'))
  assert.match((await stream.next()).method, /tools/)
  assert.match((await stream.next()).method, /prompts/)
  await stream.cancel()
})

test('a list shows a change at once, for every revision', async (t) => {
  const server = make(t)
  const session = await begin(server)
  const names = async (): Promise<string[]> => [
    (await session.ask('tools/list')).result, (await ask(server, 'tools/list')).result,
  ].map(({ tools }) => tools.map(({ name }: Json) => name).join())
  assert.deepEqual(await names(), ['first', 'first'])
  server.catalog.add(tool('second'))
  assert.deepEqual(await names(), ['first,second', 'first,second'])
  server.catalog.remove('tool', 'first')
  assert.deepEqual(await names(), ['second', 'second'])
})

test('in a session the news of a resource goes to who subscribed, until it does no more', async (t) => {
  const server = make(t)
  const [one, two] = [await begin(server), await begin(server)]
  const [first, second] = [await one.listen(), await two.listen()]
  await one.ask('resources/subscribe', { uri: 'test://first' })
  server.catalog.updated('test://first')
  server.catalog.updated('test://other')
  // What is below an address that is watched is watched too.
  server.catalog.updated('test://first/part')
  server.catalog.updated('test://firstly')
  assert.deepEqual((await first.next()).params, { uri: 'test://first' })
  assert.deepEqual((await first.next()).params, { uri: 'test://first/part' })
  await one.ask('resources/unsubscribe', { uri: 'test://first' })
  server.catalog.updated('test://first')
  server.catalog.add(tool('second'))
  assert.match((await first.next()).method, /tools/)
  assert.match((await second.next()).method, /tools/)
  await first.cancel()
  await second.cancel()
})

test('a listener is acknowledged first, by the type of its id', async (t) => {
  const server = make(t)
  for (const id of [0, 7, '7', 'a']) {
    const { stream, honoured } = await listen(server, { toolsListChanged: true }, { id })
    assert.deepEqual(honoured, { notifications: { toolsListChanged: true }, _meta: { [SUBSCRIPTION]: id } })
    server.catalog.add(tool(`tool-${typeof id}-${id}`))
    const notice = await stream.next()
    assert.equal(notice.method, 'notifications/tools/list_changed')
    assert.strictEqual(notice.params._meta[SUBSCRIPTION], id)
    await stream.cancel()
  }
})

test('a listener hears what it asked for, and nothing else', async (t) => {
  const server = make(t)
  const prompts = await listen(server, { promptsListChanged: true, toolsListChanged: false })
  const uri = await listen(server, { resourceSubscriptions: ['test://first'] })
  const nothing = await listen(server, {})
  assert.deepEqual(prompts.honoured.notifications, { promptsListChanged: true })
  assert.deepEqual(uri.honoured.notifications, { resourceSubscriptions: ['test://first'] })
  assert.deepEqual(nothing.honoured.notifications, {})
  server.catalog.add(tool('second'))
  server.catalog.updated('test://first')
  server.catalog.updated('test://other')
  server.catalog.add(prompt('second'))
  assert.equal((await prompts.stream.next()).method, 'notifications/prompts/list_changed')
  const updated = await uri.stream.next()
  assert.equal(updated.method, 'notifications/resources/updated')
  assert.equal(updated.params.uri, 'test://first')
  for (const { stream } of [prompts, uri, nothing]) {
    assert.equal(stream.waiting.length, 0)
    await stream.cancel()
  }
})

test('what a server does not have is not honoured', async (t) => {
  const { stream, honoured } = await listen(serveMcp(t, { tools: [tool('first')] }), {
    toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true,
    resourceSubscriptions: ['test://x'],
  })
  assert.deepEqual(honoured.notifications, { toolsListChanged: true })
  await stream.cancel()
})

const bad: readonly (readonly [string, unknown])[] = [
  ['no filter', undefined], ['null', null], ['a list', []], ['text', 'all'],
  ['a flag that is text', { toolsListChanged: 'yes' }],
  ['addresses that are text', { resourceSubscriptions: 'test://x' }],
  ['addresses that are numbers', { resourceSubscriptions: [1] }],
  [
    'more addresses than are allowed',
    { resourceSubscriptions: Array.from({ length: 1_001 }, (_, n) => `test://${n}`) },
  ],
]

for (const [what, notifications] of bad) {
  test(`subscriptions/listen with ${what} is -32602`, async (t) => {
    const response = await modern(make(t), 'subscriptions/listen', { notifications })
    assert.equal((await answerOf(response)).error.code, -32602)
  })
}

test('a listener that leaves is forgotten, and the others hear on', async (t) => {
  const server = make(t)
  const [one, two] = [
    await listen(server, { toolsListChanged: true }), await listen(server, { toolsListChanged: true }),
  ]
  await one.stream.cancel()
  server.catalog.add(tool('second'))
  assert.ok(await two.stream.next())
  await two.stream.cancel()
})

test('a listener needs a client that reads events', async (t) => {
  const response = await modern(make(t), 'subscriptions/listen', { notifications: {} }, {
    headers: { Accept: 'application/json' },
  })
  assert.ok((await answerOf(response)).error)
})

test('a server that closes down ends a subscription with its result', async (t) => {
  const server = make(t)
  const { stream } = await listen(server, { toolsListChanged: true }, { id: 'sub' })
  const closing = server.close()
  const { id, result } = await stream.next()
  assert.equal(id, 'sub')
  assert.equal(result.resultType, 'complete')
  assert.equal(result._meta[SUBSCRIPTION], 'sub')
  assert.equal(await stream.next(), undefined)
  await closing
})

test('a list that comes back is still offered, and one that is empty too', async (t) => {
  const server = make(t)
  server.catalog.remove('prompt', 'first')
  assert.deepEqual((await ask(server, 'prompts/list')).result.prompts, [])
  assert.ok((await ask(server, 'server/discover')).result.capabilities.prompts)
})

test('lists of what a server never had are empty, in every revision', async (t) => {
  const server = serveMcp(t, { agents: [{ name: 'Echo', run: (text) => text }] })
  const lists = [
    ['resources/list', 'resources'], ['resources/templates/list', 'resourceTemplates'],
    ['prompts/list', 'prompts'],
  ] as const
  for (const [method, member] of lists) {
    for (const revision of legacyRevisions) {
      const session = await begin(server, revision)
      assert.deepEqual((await session.ask(method)).result, { [member]: [] }, `${method} ${revision}`)
    }
    assert.deepEqual((await ask(server, method)).result[member], [], method)
  }
})

test('what a server never had is no method of it', async (t) => {
  const server = serveMcp(t, { tools: [tool('first')] })
  const session = await begin(server)
  const { result } = await ask(server, 'server/discover')
  for (const [method, capability, params] of [
    ['resources/read', 'resources', { uri: 'test://x' }], ['prompts/get', 'prompts', { name: 'x' }],
    [
      'completion/complete', 'completions',
      { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: '' } },
    ],
  ] as const) {
    assert.equal(capability in result.capabilities, false)
    assert.equal(capability in session.opened.capabilities, false)
    assert.equal((await session.ask(method, params)).error.code, -32601, method)
    const response = await modern(server, method, params)
    assert.equal(response.status, 404, method)
  }
  assert.equal((await session.ask('resources/subscribe', { uri: 'test://x' })).error.code, -32601)
})
