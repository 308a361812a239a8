/** What is held for a webhook is given back when it is dropped, whatever its delivery waits for. */
import { tasksOf } from '../../../lib/floors/tasks/tasks-floor.ts'
import { sharedOf } from '../../../lib/floors/shared/shared-of.ts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { memoryStore } from '../../../lib/index.ts'
import { eventually, jsonOf, request, serve } from '../../fixtures/client.ts'
import { listed } from '../../fixtures/fleet.ts'
import { config, firstHeld, house, taskOf, webhook, wordsOf } from '../../fixtures/webhook.ts'
import { large, LENGTH } from '../../fixtures/large-push.ts'

const part = { type: 'text', text: 'more' } as const

const pauses = [60_000]

test('a closed server holds nothing for webhooks, and takes nothing for them any more', async (t) => {
  const options = { retryDelaysMs: pauses, timeoutMs: 60_000 }
  const { service, push } = house(t, options, undefined, { dialectOf: large })
  const silent = await webhook(t, () => {})
  const away = await webhook(t, (response) => response.writeHead(503).end())
  const task = await taskOf(service)
  await push.register(task, config(silent.url, { id: 'silent' }), '1.0')
  await push.register(task, config(away.url, { id: 'away' }), '1.0')
  await Promise.all([silent.until(1), away.until(1)])
  await push.close()
  await push.register(task, config(away.url, { id: 'late' }), '1.0')
  tasksOf(service).move(task.id, 'completed')
  await eventually(() => push.status.posting === 0, 'nothing is on its way')
  assert.deepEqual(push.status, { waiting: 0, posting: 0, lookups: 0, bytes: 0 })
})

test('a task that has made room for others gives back what waited for its webhooks', async (t) => {
  const { service, push } = house(t, { timeoutMs: 60_000 }, undefined, { dialectOf: large })
  const silent = await webhook(t, () => {})
  const task = await taskOf(service)
  await push.register(task, config(silent.url), '1.0')
  tasksOf(service).addArtifact(task.id, { id: 'x', parts: [part] })
  await silent.until(1)
  await tasksOf(service).drop(task.id)
  await eventually(() => push.status.posting === 0, 'nothing is on its way')
  assert.deepEqual(push.status, { waiting: 0, posting: 0, lookups: 0, bytes: 0 })
})

test('the end of a task is posted though it has made room for others meanwhile', async (t) => {
  for (const dialect of ['0.3', '1.0'] as const) {
    const { service, push } = house(t)
    const held = firstHeld()
    const hook = await webhook(t, held.answer)
    const task = await taskOf(service)
    await push.register(task, config(hook.url), dialect)
    await hook.until(1)
    for (const state of ['working', 'completed'] as const) tasksOf(service).move(task.id, state)
    await tasksOf(service).drop(task.id)
    held.release()
    await eventually(() => push.status.bytes === 0, 'nothing is held')
    const { body } = hook.received.at(-1)!
    assert.match(body, /completed/, dialect)
  }
})

test('what is delivered is held no more either, nor is the configuration of a task that ended', async (t) => {
  const { service, push } = house(t)
  const hook = await webhook(t)
  const task = await taskOf(service)
  await push.register(task, config(hook.url), '1.0')
  await eventually(() => push.status.waiting === 0, 'nothing waits')
  assert.ok(push.status.bytes > 0)
  tasksOf(service).move(task.id, 'completed')
  await hook.until(2)
  await eventually(() => push.status.bytes === 0, 'nothing is held')
})

test('a task whose configurations are gone is watched no more, though it runs', async (t) => {
  const { service, push } = house(t)
  const hook = await webhook(t)
  const task = await taskOf(service)
  for (const id of ['a', 'b']) await push.register(task, config(hook.url, { id }), '1.0')
  await hook.until(2)
  await eventually(() => push.status.waiting === 0, 'nothing waits')
  const both = push.status.bytes
  await push.remove(task, 'a')
  assert.ok(push.status.bytes > 0 && push.status.bytes < both)
  await push.remove(task, 'b')
  assert.equal(push.status.bytes, 0)
  // Nothing waits, so nothing is waited for.
  await push.idle(3_600_000)
})

test('the end of a task that is being written as the server closes is left to others to post', async (t) => {
  const memory = memoryStore({ isShared: true })
  let isHeld = false
  let write: (() => void) | undefined
  const before = house(t, {}, { ...memory, write(key, value, keepMs, expected) {
    const written = (): number | undefined => memory.write(key, value, keepMs, expected)
    if (!isHeld || !key.collection.endsWith('/tasks')) return written()
    return new Promise((resolve) => { write = () => resolve(written()) })
  } })
  const hook = await webhook(t)
  const task = await taskOf(before.service)
  await before.push.register(task, config(hook.url), '1.0')
  await hook.until(1)
  // Else the first event might be posted twice, which is allowed.
  await eventually(() => before.push.status.waiting === 0, 'the first event is taken')
  await tasksOf(before.service).whenPersisted(task.id)
  isHeld = true
  tasksOf(before.service).move(task.id, 'completed')
  await eventually(() => write !== undefined, 'its end is being written')
  await before.push.close()
  write!()
  await before.close()
  const after = house(t, {}, memory)
  assert.deepEqual(wordsOf(await hook.until(2)), ['task submitted 0', 'task completed 0'])
  await eventually(() => after.push.status.bytes === 0, 'nothing is held')
})

test('what waits for a webhook of a task that runs is posted in the farewell of a server', async (t) => {
  for (const store of [undefined, memoryStore({ isShared: true })]) {
    const { service, push } = house(t, {}, store)
    const { answer, release } = firstHeld()
    const hook = await webhook(t, answer)
    const task = await taskOf(service)
    await push.register(task, config(hook.url), '1.0')
    await hook.until(1)
    tasksOf(service).move(task.id, 'working')
    await tasksOf(service).whenPersisted(task.id)
    tasksOf(service).stopWatchers()
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => { setImmediate(resolve) })
    release()
    await push.idle(60_000)
    await push.close()
    assert.deepEqual(wordsOf(hook.received), ['task submitted 0', 'status working'])
    assert.equal(push.status.bytes, 0)
  }
})

test('a whole task that is being posted is counted until it is', async (t) => {
  const { service, push } = house(t, { timeoutMs: 60_000 }, undefined, { dialectOf: large })
  let answer: (() => void) | undefined
  const hook = await webhook(t, (response) => { answer = () => response.end() })
  await push.register(await taskOf(service), config(hook.url), '0.3')
  await hook.until(1)
  const during = push.status.bytes
  answer!()
  await eventually(() => push.status.waiting === 0, 'nothing waits')
  const more = during - push.status.bytes
  assert.ok(more >= 2 * LENGTH && more < 2 * LENGTH + 5_000, `${more} bytes`)
})

test('a message with one configuration too many is refused, and the next one is taken', async (t) => {
  let runs = 0
  const run = (): object | string => ++runs === 1 ? { text: 'Which?', state: 'input-required' } : 'done'
  const server = serve(t, {
    protocol: 'a2a', agents: [{ name: 'Bot', run }],
    a2a: { pushNotifications: { allowPrivate: true, allowInsecure: true } },
  })
  const { url } = await webhook(t)
  const send = async (message: object, configuration?: object): Promise<Record<string, unknown>> => {
    const whole = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }], ...message }
    return jsonOf(await server.fetch(request('/message:send', { message: whole, configuration })))
  }
  const { task } = await send({}) as { task: { id: string } }
  for (let id = 0; id < 16; id++) {
    await server.fetch(request(`/tasks/${task.id}/pushNotificationConfigs`, { id: `${id}`, url }))
  }
  const refused = await send({ taskId: task.id }, { taskPushNotificationConfig: { id: 'more', url } })
  assert.match(JSON.stringify(refused), /at most 16 push configurations/)
  assert.equal(server.status().tasks.running, 0)
  const taken = await send({ taskId: task.id }, { taskPushNotificationConfig: { id: '3', url } })
  assert.match(JSON.stringify(taken), /TASK_STATE_COMPLETED/)
})

test('many silent webhooks are no reason for a warning of the process', async (t) => {
  const warnings: string[] = []
  const warned = (warning: Error): void => { warnings.push(warning.message) }
  process.on('warning', warned)
  t.after(() => process.off('warning', warned))
  const { service, push } = house(t, { timeoutMs: 60_000, retryDelaysMs: pauses })
  const silent = await webhook(t, () => {})
  const away = await webhook(t, (response) => response.writeHead(503).end())
  for (let count = 0; count < 40; count++) {
    const owner = `owner ${count % 5}`
    await push.register(await taskOf(service, owner), config(count % 2 ? silent.url : away.url), '1.0')
  }
  await silent.until(20)
  await away.until(20)
  await push.close()
  await new Promise((resolve) => { setImmediate(resolve) })
  assert.deepEqual(warnings, [])
})

test('what was taken over, and could not be posted then, is when the store answers again', async (t) => {
  const store = memoryStore({ isShared: true })
  let isBack = false
  const hook = await webhook(t, (response) => response.writeHead(isBack ? 200 : 503).end())
  const gone = house(t, { retryDelaysMs: pauses }, store)
  const task = await taskOf(gone.service)
  await gone.push.register(task, config(hook.url), '1.0')
  await hook.until(1)
  await gone.close()
  isBack = true
  let failures = 0
  const after = house(t, {}, { ...store, read(key) {
    if (!key.collection.endsWith('/push-configs') || failures > 0) return store.read(key)
    failures++
    throw new Error('away')
  } }, { leaseMs: 30 })
  await hook.until(2)
  await eventually(() => after.push.status.bytes === 0, 'nothing is held')
  assert.equal(failures, 1)
  const { id } = sharedOf(gone.service)!.cluster
  await eventually(() => listed(store, 'push-events', `~${id}`).length === 0, 'nothing is kept')
})
