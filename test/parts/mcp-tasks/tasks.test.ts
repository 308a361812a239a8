/**
 * The tasks extension as clients see it: who may use it, whose a task is, and what those hear who listen.
 */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, gate } from '../../fixtures/client.ts'
import { ask, begin, modern, said, serveMcp } from '../mcp/client.ts'
import { EventStream } from '../../fixtures/events.ts'
import { answer, capabilities, form, get, send, serveWork, started, TASKS, update } from './task-client.ts'
import { deployments, spacesIn } from '../../fixtures/fleet.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import type { TriportServer } from '../../../lib/index.ts'
import type { Quota } from '../../../lib/kernel/util/quota.ts'
import type { ModernOptions } from '../mcp/client.ts'
import type { Json } from '../../fixtures/events.ts'

function listen(server: TriportServer, taskIds: unknown, options: ModernOptions = {}): Promise<Response> {
  return modern(server, 'subscriptions/listen', { notifications: { taskIds } }, { capabilities, ...options })
}

test('the extension is offered, and its methods are there, where some tool may be a task', async (t) => {
  const server = serveWork(t, 'required', () => 'done')
  const { result: { capabilities: offered } } = await ask(server, 'server/discover')
  assert.deepEqual(offered.extensions, { [TASKS]: {} })
  assert.equal('tasks' in offered, false)
  for (const gone of ['tasks/list', 'tasks/result']) {
    assert.equal((await ask(server, gone, {}, { capabilities })).error.code, -32601)
  }
  const plain = serveMcp(t, { tools: [{ name: 'plain', run: () => 'done' }] })
  assert.equal('extensions' in (await ask(plain, 'server/discover')).result.capabilities, false)
  for (const method of ['get', 'update', 'cancel']) {
    const response = await send(plain, method, { taskId: 'x' })
    assert.deepEqual([response.status, (await response.json() as Json).error.code], [404, -32601])
  }
})

test('older revisions neither hear of the extension nor have its methods', async (t) => {
  const session = await begin(serveWork(t, 'required', () => 'done'), '2025-06-18', capabilities)
  assert.equal('extensions' in session.opened.capabilities, false)
  assert.equal((await session.ask('tasks/get', { taskId: 'x' })).error.code, -32601)
})

test('tasks outlive the tool that they began with', async (t) => {
  const server = serveWork(t, 'required', () => 'done')
  const taskId = await started(server)
  server.catalog.remove('tool', 'work')
  assert.equal((await get(server, taskId)).status, 'completed')
})

test('a client that has not declared the extension is told which one it lacks', async (t) => {
  const server = serveWork(t, 'required', () => 'done')
  const taskId = await started(server)
  const params = { taskId, inputResponses: {} }
  for (const extensions of [undefined, {}, { [TASKS]: true }, []]) {
    const options = { capabilities: { extensions } }
    const answers = [
      ...['get', 'update', 'cancel'].map((name) => send(server, name, params, options)),
      listen(server, [taskId], options),
    ]
    for (const response of await Promise.all(answers)) {
      const { error } = await response.json() as Json
      assert.deepEqual([response.status, error.code], [400, -32021])
      assert.deepEqual(error.data.requiredCapabilities, { extensions: { [TASKS]: {} } })
    }
  }
})

test('an unknown task, no task and answers that are none are bad params', async (t) => {
  const server = serveWork(t, 'required', () => new Promise(() => {}))
  const taskId = await started(server)
  const unknown = { taskId: 'unknown' }
  const cases: readonly (readonly [string, { readonly [name: string]: unknown }])[] = [
    ['get', unknown], ['update', { ...unknown, inputResponses: {} }], ['cancel', unknown],
    ['get', {}], ['get', { taskId: 1 }], ['update', { taskId }], ['update', { taskId, inputResponses: [] }],
  ]
  for (const [method, params] of cases) {
    const response = await send(server, method, params)
    assert.deepEqual([response.status, (await response.json() as Json).error.code], [200, -32602], method)
  }
  const mismatch = await answer(server, 'get', { taskId }, { headers: { 'Mcp-Name': 'other' } })
  assert.equal(mismatch.error.code, -32020)
})

test('a task is its principal\'s own: for every other it does not exist', async (t) => {
  const server = serveWork(t, 'required', () => new Promise(() => {}), {
    apiKey: [{ id: 'ada', key: 'key-of-ada-0123456789' }, { id: 'bob', key: 'key-of-bob-0123456789' }],
  })
  const ada = { 'X-API-Key': 'key-of-ada-0123456789' }
  const bob = { 'X-API-Key': 'key-of-bob-0123456789' }
  const taskId = await started(server, { headers: ada })
  for (const method of ['get', 'update', 'cancel']) {
    const { error } = await answer(server, method, { taskId, inputResponses: {} }, { headers: bob })
    assert.deepEqual([error.code, error.data.detail], [-32602, `Unknown task: ${taskId}`])
  }
  const stream = new EventStream(await listen(server, [taskId], { headers: bob }))
  assert.deepEqual((await stream.next()).params.notifications, { taskIds: [] })
  assert.equal((await get(server, taskId, { headers: ada })).status, 'working')
})

test('a finished task is read where it is kept, by other processes too', async (t) => {
  const store = sharedStore(5)
  const server = serveWork(t, 'required', () => 'done', { store })
  const taskId = await started(server)
  await eventually(async () => (await get(server, taskId)).status === 'completed')
  const other = serveWork(t, 'required', () => 'other', { store })
  await eventually(async () => (await get(other, taskId)).status === 'completed')
  assert.equal(said((await get(other, taskId)).result), 'done')
  assert.equal((await answer(other, 'cancel', { taskId })).result.resultType, 'complete')
  const stream = new EventStream(await listen(other, [taskId, 'unknown']))
  assert.deepEqual((await stream.next()).params.notifications, { taskIds: [taskId] })
  assert.equal((await stream.next()).params.status, 'completed')
})

test('what another door keeps as a task is none here', async (t) => {
  const store = sharedStore()
  const status = { state: 'working', at: '2026-01-01T00:00:00.000Z' }
  const value = JSON.stringify({ id: 'x', owner: 'anonymous', protocol: 'a2a', createdAt: status.at, status })
  const server = serveWork(t, 'required', () => 'done', { store })
  await started(server)
  const [space] = spacesIn(await store.read(deployments))
  await store.write({ collection: `${space}tasks`, owner: 'anonymous', key: 'x' }, value, 60_000, 0)
  assert.equal((await answer(server, 'get', { taskId: 'x' })).error.code, -32602)
})

test('a task says how long it is kept, from its creation; for ever is null', async (t) => {
  const server = serveWork(t, 'required', () => sleep(50, 'done'), { taskKeepMs: 5_000 })
  const taskId = await started(server)
  await eventually(async () => (await get(server, taskId)).status === 'completed')
  const { status, createdAt, lastUpdatedAt, ttlMs } = await get(server, taskId)
  const lived = Date.parse(lastUpdatedAt) - Date.parse(createdAt)
  assert.deepEqual([status, ttlMs, lived > 0], ['completed', 5_000 + lived, true])
  const always = serveWork(t, 'required', () => 'done', { taskKeepMs: Infinity })
  assert.equal((await get(always, await started(always))).ttlMs, null)
})

test('who listens to a task hears how it stands, and then all that becomes of it', async (t) => {
  const { promise, open } = gate()
  const server = serveWork(t, 'required', async (call) => {
    await promise
    const asked = ['a', 'b'].map((key) => call.elicit({ key, message: 'Name?', schema: form }))
    return (await Promise.all(asked)).map(({ content }) => content?.['name']).join(' ')
  })
  const taskId = await started(server)
  const stream = new EventStream(await listen(server, [taskId, taskId, 'unknown'], { id: 'seven' }))
  const ack = await stream.next()
  assert.equal(ack.method, 'notifications/subscriptions/acknowledged')
  assert.deepEqual(ack.params.notifications, { taskIds: [taskId] })
  const next = async (): Promise<Json> => {
    const { method, params } = await stream.next()
    assert.equal(method, 'notifications/tasks')
    const { _meta, ...task } = params
    assert.deepEqual(_meta, { 'io.modelcontextprotocol/subscriptionId': 'seven' })
    assert.equal(task.taskId, taskId)
    return task
  }
  assert.equal((await next()).status, 'working')
  open()
  const asking = await next()
  assert.deepEqual([asking.status, Object.keys(asking.inputRequests)], ['input_required', ['a', 'b']])
  const given = { action: 'accept', content: { name: 'x' } }
  await update(server, taskId, { a: given })
  assert.deepEqual(Object.keys((await next()).inputRequests), ['b'])
  await update(server, taskId, { b: given })
  assert.equal((await next()).status, 'working')
  const { ttlMs: _life, ...done } = await next()
  assert.deepEqual([done.status, said(done.result)], ['completed', 'x x'])
  const { ttlMs: _same, resultType: _type, _meta, ...read } = await get(server, taskId)
  assert.deepEqual(done, read)
  await stream.cancel()
})

test('tasks that a client listens to are counted as addresses are', async (t) => {
  const quotas: Quota[] = []
  const take = (quota: unknown): void => { quotas.push(quota as Quota) }
  subscribe('triport:quota', take)
  const { promise, open } = gate<string>()
  const server = serveWork(t, 'optional', () => promise)
  unsubscribe('triport:quota', take)
  const watched = quotas.find(({ name }) => name === 'bytes of watched addresses')!
  const taskId = await started(server)
  const stream = new EventStream(await listen(server, [taskId, 'not there']))
  await stream.next()
  assert.ok(watched.used > taskId.length && watched.used < 200)
  await stream.cancel()
  await eventually(() => watched.used === 0, 'nothing is counted any more')
  open('done')
})

test('who listens to other things hears of no task, and taskIds must be a list of strings', async (t) => {
  const server = serveWork(t, 'required', () => sleep(5, 'done'))
  const taskId = await started(server)
  const stream = new EventStream(await listen(server, undefined))
  assert.deepEqual((await stream.next()).params.notifications, {})
  for (const taskIds of ['x', [1], Array.from({ length: 1_001 }, () => taskId)]) {
    assert.equal((await (await listen(server, taskIds)).json() as Json).error.code, -32602)
  }
  await sleep(20)
  const other = new EventStream(await listen(server, []))
  assert.deepEqual((await other.next()).params.notifications, { taskIds: [] })
  await server.close()
  const [last, ...more] = await stream.rest()
  assert.deepEqual([last.result.resultType, more], ['complete', []])
})

test('a listener that has left is told nothing more, wherever it left', async (t) => {
  const { promise, open } = gate<string>()
  const server = serveWork(t, 'required', () => promise, { store: sharedStore(2) })
  const taskId = await started(server)
  const stream = new EventStream(await listen(server, [taskId]))
  await stream.next()
  await stream.cancel()
  // This one leaves while its tasks are still being looked up.
  const leaving = new AbortController()
  const early = listen(server, ['away'], { signal: leaving.signal })
  leaving.abort()
  await early.catch(() => undefined)
  await sleep(10)
  open('done')
  await eventually(async () => (await get(server, taskId)).status === 'completed')
})
