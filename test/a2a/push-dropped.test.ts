/** What is held for a webhook is given back when it is dropped, whatever its delivery waits for. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import test from 'node:test'
import { memoryStore } from '../../lib/index.ts'
import { eventually, jsonOf, request, serve } from '../fixtures/client.ts'
import { listed } from '../fixtures/fleet.ts'
import { heldBytes } from '../fixtures/heap.ts'
import { portOf } from '../fixtures/listening.ts'
import { config, firstHeld, house, taskOf, webhook, wordDialect, wordsOf } from '../fixtures/webhook.ts'
import type { TestContext } from 'node:test'
import type { Dialect } from '../../lib/a2a/model/dialect.ts'
import type { PushMeans } from '../../lib/a2a/push/push-delivery.ts'
import type { PushOptions } from '../../lib/a2a/model/push-address.ts'

const MB = 1_000_000
/** Of one body, in characters. */
const LENGTH = 400_000
const part = { type: 'text', text: 'more' } as const

/** What is posted is long each time. */
const large: NonNullable<PushMeans['dialectOf']> = (name) => {
  const encodePush: Dialect['encodePush'] = () => 'x'.repeat(LENGTH)
  return { ...wordDialect(name), encodePush }
}

/** A receiver of posts, which are held up there. */
interface Trap {
  readonly url: string
  readonly options?: PushOptions
  readonly means?: PushMeans
  /** What is not given back, because it cannot be cancelled. */
  readonly lookups?: number
  /** Whether so many have fallen in; left out, when no more can be on their way. */
  holds?(count: number): boolean
}

/** One that answers each post so, after which it is tried again much later. */
async function later(t: TestContext, retryAfter: string | undefined, options: PushOptions): Promise<Trap> {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  const { url, received } = await webhook(t, (response) => response.writeHead(503, headers).end())
  return { url, options, holds: (count) => received.length === count }
}

const pauses = [60_000]

const traps: readonly (readonly [where: string, make: (t: TestContext) => Promise<Trap>])[] = [
  ['the answer', async (t) => ({ url: (await webhook(t, () => {})).url, options: { timeoutMs: 60_000 } })],
  ['the next try', (t) => later(t, undefined, { retryDelaysMs: pauses })],
  ['as long as Retry-After says', (t) => later(t, '60', { retryDelaysMs: [1] })],
  ['a connection', async (t) => {
    const port = await portOf(t, createServer((socket) => { socket.on('error', () => {}).resume() }))
    return { url: `https://127.0.0.1:${port}/`, options: { timeoutMs: 60_000 } }
  }],
  ['its name', async () => ({
    url: 'https://silent.example.com/', options: { timeoutMs: 60_000 },
    means: { lookup: () => new Promise(() => {}) }, lookups: 1,
  })],
]

for (const [where, make] of traps) {
  test(`what is dropped while it waits for ${where} is given back at once`, async (t) => {
    const { url, options, means, lookups = 0, holds } = await make(t)
    const { service, push, lines } = house(t, options, undefined, { dialectOf: large, ...means })
    // More than may be on their way at one time: the others wait for their turn.
    const tasks = await Promise.all(Array.from({ length: 40 }, () => taskOf(service)))
    const before = heldBytes()
    for (const task of tasks) await push.register(task, config(url), '1.0')
    await eventually(() => holds?.(tasks.length) ?? push.status.posting === 8, 'all wait')
    assert.ok(push.status.bytes >= 40 * LENGTH)
    for (const task of tasks) await push.remove(task, 'a')
    assert.deepEqual([push.waiting, push.status.bytes], [0, 0])
    await eventually(() => push.status.posting === 0, 'nothing is on its way')
    assert.equal(push.status.lookups, lookups)
    const grown = heldBytes() - before
    assert.ok(grown < 4 * MB, `${Math.round(grown / MB)} MB are held`)
    assert.deepEqual(lines, [])
  })
}

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
  service.tasks.move(task.id, 'completed')
  await eventually(() => push.status.posting === 0, 'nothing is on its way')
  assert.deepEqual(push.status, { waiting: 0, posting: 0, lookups: 0, bytes: 0 })
})

test('a task that has made room for others gives back what waited for its webhooks', async (t) => {
  const { service, push } = house(t, { timeoutMs: 60_000 }, undefined, { dialectOf: large })
  const silent = await webhook(t, () => {})
  const task = await taskOf(service)
  await push.register(task, config(silent.url), '1.0')
  service.tasks.addArtifact(task.id, { id: 'x', parts: [part] })
  await silent.until(1)
  await service.tasks.drop(task.id)
  await eventually(() => push.status.posting === 0, 'nothing is on its way')
  assert.deepEqual(push.status, { waiting: 0, posting: 0, lookups: 0, bytes: 0 })
})

test('what is delivered is held no more either, nor is the configuration of a task that ended', async (t) => {
  const { service, push } = house(t)
  const hook = await webhook(t)
  const task = await taskOf(service)
  await push.register(task, config(hook.url), '1.0')
  await eventually(() => push.waiting === 0, 'nothing waits')
  assert.ok(push.status.bytes > 0)
  service.tasks.move(task.id, 'completed')
  await hook.until(2)
  await eventually(() => push.status.bytes === 0, 'nothing is held')
})

test('an owner that fills its share leaves the others theirs', async (t) => {
  const { service, push } = house(t, { timeoutMs: 60_000 }, undefined, {
    dialectOf: (name) => name === '0.3' ? { ...large(name), pushesTasks: false } : wordDialect(name),
  })
  const silent = await webhook(t, () => {})
  for (let count = 0; count < 180; count++) {
    const task = await taskOf(service, 'eve')
    await push.register(task, config(silent.url), '0.3')
  }
  const { bytes } = push.status
  assert.ok(bytes > 30 * MB && bytes < 36 * MB, `${bytes} bytes`)
  const { answer, release } = firstHeld()
  const hook = await webhook(t, answer)
  const task = await taskOf(service, 'bob')
  await push.register(task, config(hook.url), '1.0')
  await hook.until(1)
  service.tasks.addArtifact(task.id, { id: 'x', parts: [part] })
  service.tasks.move(task.id, 'working')
  release()
  assert.deepEqual(wordsOf(await hook.until(3)), ['task submitted 0', 'artifact x', 'status working'])
})

test('configurations of running tasks are bounded, and who has most of them loses the oldest', async (t) => {
  const { service, push, lines } = house(t, {}, undefined)
  const hook = await webhook(t)
  const theirs = await taskOf(service, 'bob')
  await push.register(theirs, config(hook.url), '1.0')
  const url = `${hook.url}?${'x'.repeat(2_000)}`
  const authentication = { schemes: ['Bearer'], credentials: 'x'.repeat(4_096) }
  const tasks = []
  for (let count = 0; count < 2_600; count++) {
    const task = await taskOf(service, 'eve')
    tasks.push(task)
    await push.register(task, config(url, { token: 'x'.repeat(1_024), authentication }), '1.0')
  }
  await eventually(() => push.waiting === 0, 'nothing waits')
  assert.ok(push.status.bytes <= 33_554_432, `${push.status.bytes} bytes`)
  assert.match(lines[0]!.message, /too many push configurations/)
  assert.equal((await push.configs.of(tasks[0]!)).length, 0)
  assert.equal((await push.configs.of(tasks.at(-1)!)).length, 1)
  const count = hook.received.length
  service.tasks.move(theirs.id, 'working')
  await hook.until(count + 1)
  for (const task of tasks) await push.remove(task, 'a')
  await push.remove(theirs, 'a')
  await eventually(() => push.status.bytes === 0, 'nothing is held')
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
  const { id } = gone.service.shared!.cluster
  await eventually(() => listed(store, 'push-events', `~${id}`).length === 0, 'nothing is kept')
})
