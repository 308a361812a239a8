/**
 * One value of a store that cannot be read costs its owner nothing else: lists go on past it, to read it
 * finds nothing, what is written there later takes its place. Through every door.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { Caller, Refused } from './parts/a2a/caller.ts'
import { begin } from './parts/mcp/client.ts'
import { eventually, jsonOf, request, serve } from './fixtures/client.ts'
import { damagedStore, damages } from './fixtures/damaged-store.ts'
import type { TestContext } from 'node:test'
import type { Log, ServerOptions, TriportServer } from '../lib/index.ts'
import type { DamagedStore } from './fixtures/damaged-store.ts'
import type { LegacySession } from './parts/mcp/client.ts'
import type { Json } from './fixtures/events.ts'

const headers = { 'x-api-key': 'key-of-ann-1234' }

interface World {
  readonly store: DamagedStore
  readonly server: TriportServer
  readonly lines: unknown[]
  ask(path: string, body?: object, more?: Record<string, string>, method?: string): Promise<Response>
}

function world(t: TestContext, options: Partial<ServerOptions> = {}): World {
  const store = damagedStore()
  const lines: unknown[] = []
  const log: Log = (level, message, fields) => { lines.push([level, message, fields]) }
  const server = serve(t, {
    name: 'Shop', protocol: 'all', store, log, apiKey: [{ id: 'ann', key: 'key-of-ann-1234' }],
    agents: [{
      name: 'Bot', description: 'Answers.',
      run: (prompt, { history }) => `${history.length} before ${prompt}`,
    }],
    tools: [{ name: 'work', description: 'Works.', task: 'optional', run: () => 'done' }],
    a2a: { pushNotifications: { allowPrivate: true, allowInsecure: true, retryDelaysMs: [60_000] } },
    ...options,
  })
  const ask: World['ask'] = (path, body, more = {}, method) => (
    server.fetch(request(path, body, { ...headers, ...more }, method))
  )
  return { store, server, lines, ask }
}

/** Each that was damaged is in one line of the log at most, which does not show it. */
function requireOneLine({ lines }: World, collection: string): void {
  const told = lines.splice(0)
  assert.equal(told.length, 1, JSON.stringify(told))
  const [[level, message, fields]] = told as [[string, string, Record<string, unknown>]]
  assert.deepEqual([level, message.slice(0, 27)], ['warning', 'A kept value cannot be read'])
  assert.ok(message.length < 200)
  assert.deepEqual({ ...fields, version: 0 }, { collection, version: 0 })
}

for (const [what, change] of Object.entries(damages)) {
  test(`a conversation is ${what}`, async (t) => {
    const here = world(t)
    const { store, ask } = here
    const said = async (session_id?: string): Promise<Json> => (
      (await ask('/', { query: 'hi', session_id })).json() as Json
    )
    const ids: string[] = []
    for (let count = 0; count < 5; count++) ids.unshift((await said()).session_id)
    store.damage('conversations', change, ids[2])
    const list = async (): Promise<readonly string[]> => {
      const found: string[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined;) {
        const page: Json = await (await ask(`/conversations?limit=2${cursor && `&cursor=${cursor}`}`)).json()
        found.push(...page.conversations.map((one: Json) => one.session_id))
        cursor = page.next_cursor
      }
      return found
    }
    assert.deepEqual(await list(), ids.filter((id) => id !== ids[2]))
    assert.equal((await ask(`/conversations/${ids[2]}`)).status, 404)
    assert.equal((await said(ids[2])).response, '0 before hi')
    assert.equal((await said(ids[2])).response, '2 before hi')
    assert.deepEqual((await list()).length, 5)
    store.damage('conversations', change, ids[2])
    assert.equal((await ask(`/conversations/${ids[2]}`, undefined, {}, 'DELETE')).status, 204)
    assert.equal((await ask(`/conversations/${ids[2]}`, undefined, {}, 'DELETE')).status, 404)
    assert.equal(store.keys('conversations').length, 4)
    requireOneLine(here, 'conversations')
  })

  test(`a task of A2A is ${what}`, async (t) => {
    const here = world(t)
    const { store, server } = here
    const caller = new Caller(server, { headers })
    const ids: string[] = []
    for (let count = 0; count < 5; count++) ids.unshift((await caller.task('hi', { isBlocking: false })).id)
    await eventually(async () => (
      (await caller.list()).tasks.filter(({ status: { state } }) => state === 'completed').length === 5
    ))
    const known = (await caller.list()).tasks.map(({ id }) => id)
    store.damage('tasks', change, ids[2])
    const found: string[] = []
    for (let pageToken: string | undefined; pageToken !== '';) {
      const page = await caller.list({ pageSize: 2, ...pageToken !== undefined && { pageToken } })
      assert.equal(page.totalSize, 4)
      found.push(...page.tasks.map(({ id }) => id))
      pageToken = page.nextPageToken
    }
    assert.deepEqual(found, known.filter((id) => id !== ids[2]))
    const isUnknown = (error: unknown): boolean => error instanceof Refused && error.code === -32001
    for (const method of ['get', 'cancel', 'subscribe'] as const) {
      await assert.rejects(caller[method](ids[2]!), isUnknown)
    }
    requireOneLine(here, 'tasks')
  })

  test(`a task of MCP is ${what}`, async (t) => {
    const here = world(t)
    const { store, server } = here
    const session = await begin(server, '2025-11-25', {}, headers)
    const ids: string[] = []
    for (let count = 0; count < 3; count++) ids.push(await taskOf(session))
    store.damage('tasks', change, ids[1])
    const { tasks } = (await session.ask('tasks/list')).result
    assert.deepEqual(tasks.map((task: Json) => task.taskId).toSorted(), [ids[0], ids[2]].toSorted())
    for (const method of ['get', 'result', 'cancel']) {
      const { error } = await session.ask(`tasks/${method}`, { taskId: ids[1] })
      assert.equal(error.code, -32602, method)
    }
    requireOneLine(here, 'tasks')
  })

  test(`the webhooks of a task are ${what}`, async (t) => {
    const here = world(t)
    const { store, server } = here
    const caller = new Caller(server, { headers })
    const push = async (name: string, params: object): Promise<Json> => {
      const method = `${name}TaskPushNotificationConfig${name === 'List' ? 's' : ''}`
      const body = { jsonrpc: '2.0', id: 1, method, params }
      return (await here.ask('/a2a', body, { 'A2A-Version': '1.0' })).json()
    }
    const hook = 'http://127.0.0.1:9/hook'
    const { id } = await caller.task('hi', { push: hook })
    const other = await caller.task('hi', { push: hook })
    store.damage('push-configs', change, id)
    assert.deepEqual((await push('List', { taskId: id })).result.configs ?? [], [])
    assert.equal((await push('List', { taskId: other.id })).result.configs.length, 1)
    assert.equal((await push('Get', { taskId: id, id: 'one' })).error.code, -32001)
    assert.equal((await push('Create', { taskId: id, id: 'one', url: hook })).error, undefined)
    assert.equal((await push('List', { taskId: id })).result.configs.length, 1)
    assert.equal((await push('Delete', { taskId: id, id: 'one' })).error, undefined)
    assert.deepEqual((await push('List', { taskId: id })).result.configs ?? [], [])
    // Nobody listens at the address.
    const lines = here.lines.filter((line) => JSON.stringify(line).includes('cannot be read'))
    requireOneLine({ ...here, lines }, 'push-configs')
  })

  test(`a kept response is ${what}`, async (t) => {
    const here = world(t)
    const { store, ask } = here
    const create = async (more: object = {}): Promise<Json> => (
      (await ask('/v1/responses', { model: 'bot', input: 'hi', ...more })).json()
    )
    const { id } = await create()
    const other = await create()
    store.damage('responses', change, id)
    assert.equal((await ask(`/v1/responses/${id}`)).status, 404)
    assert.equal((await ask(`/v1/responses/${id}/input_items`)).status, 404)
    assert.equal((await ask(`/v1/responses/${id}/cancel`, {})).status, 404)
    assert.equal((await create({ previous_response_id: id })).error.code, 'previous_response_not_found')
    assert.equal((await ask(`/v1/responses/${other.id}`)).status, 200)
    assert.equal((await ask(`/v1/responses/${id}`, undefined, {}, 'DELETE')).status, 200)
    assert.equal((await ask(`/v1/responses/${id}`, undefined, {}, 'DELETE')).status, 404)
    assert.equal(store.keys('responses').length, 1)
    requireOneLine(here, 'responses')
  })

  test(`what has changed of a session is ${what}`, async (t) => {
    const here = world(t, {
      resources: [{ uri: 'note://one', name: 'one', description: 'One.', read: () => 'text' }],
    })
    const session = await begin(here.server, '2025-11-25', {}, headers)
    await session.ask('resources/subscribe', { uri: 'note://one' })
    assert.equal(here.store.keys('sessions').length, 1)
    here.store.damage('sessions', change)
    const { result } = await session.ask('resources/subscribe', { uri: 'note://one' })
    assert.deepEqual(result, {})
    here.store.damage('sessions', change)
    assert.equal((await session.end()).status < 300, true)
    requireOneLine(here, 'sessions')
  })
}

async function taskOf(session: LegacySession): Promise<string> {
  const { result } = await session.ask('tools/call', { name: 'work', arguments: {}, task: {} })
  const { taskId } = result.task
  await eventually(async () => (await session.ask('tasks/get', { taskId })).result.status === 'completed')
  return taskId
}

for (const [what, change] of Object.entries(damages)) {
  // Any JSON may be a reply.
  if (what === 'of members of other types') continue
  test(`what an Idempotency-Key has kept is ${what}: nothing is run again`, async (t) => {
    let runs = 0
    const { store, ask } = world(t, { agents: [() => `${++runs}`] })
    const query = (): Promise<Response> => ask('/', { query: 'hi' }, { 'idempotency-key': 'k' })
    assert.equal((await query()).status, 200)
    store.damage('idempotency', change)
    assert.equal((await query()).status, 409)
    assert.equal(runs, 1)
  })
}

test('a reply of which a part is lost is not replayed, as JSON or as events', async (t) => {
  let runs = 0
  const { store, ask } = world(t, { agents: [() => `${++runs}`] })
  const digestLength = createHash('sha256').update('').digest('base64url').length
  for (const [key, accept] of [['a', 'application/json'], ['b', 'text/event-stream']] as const) {
    const query = (): Promise<Response> => ask('/', { query: 'hi' }, { 'idempotency-key': key, accept })
    const first = await (await query()).text()
    assert.equal(await (await query()).text() === '' || first === '', false)
    store.damage('idempotency', (value) => value.slice(0, digestLength + 9), key)
    const { status } = await query()
    assert.equal(status, 409, accept)
  }
  assert.equal(runs, 2)
})

test('a rate that is no number is written over', async (t) => {
  const { store, ask } = world(t, { rateLimit: { perMinute: 4, burst: 4 } })
  const statuses: number[] = []
  for (let count = 0; count < 6; count++) {
    if (count === 1) store.damage('rate', () => 'no number')
    const response = await ask('/', { query: 'hi' })
    await jsonOf(response)
    statuses.push(response.status)
  }
  assert.equal(statuses.at(-1), 429)
  assert.ok(statuses.slice(0, 4).every((status) => status === 200), statuses.join())
})
