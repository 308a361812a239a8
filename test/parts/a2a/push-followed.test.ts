/** Configurations that several processes register, replace and remove at one time, and what is read late. */
import { tasksOf } from '../../../lib/floors/tasks/tasks-floor.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { memoryStore } from '../../../lib/index.ts'
import { eventually } from '../../fixtures/client.ts'
import { config, house, taskOf, webhook, wordsOf } from '../../fixtures/webhook.ts'
import type { TestContext } from 'node:test'
import type { MemoryStore, Store } from '../../../lib/index.ts'
import type { Task } from '../../../lib/floors/tasks/task.ts'
import type { House } from '../../fixtures/webhook.ts'

/** A store whose answers to reads of configurations are kept back, each until it is let go. */
interface Gate { readonly store: Store; readonly answers: (() => void)[]; hold: boolean }

function held(memory: MemoryStore): Gate {
  const store: Store = { ...memory, read(key) {
    const entry = memory.read(key)
    if (!gate.hold || !key.collection.endsWith('push-configs')) return entry
    return new Promise((resolve) => { gate.answers.push(() => resolve(entry)) })
  } }
  const gate: Gate = { hold: false, answers: [], store }
  return gate
}

interface Pair {
  readonly runs: House
  readonly other: House
  readonly id: string
  /** The task as each of the two sees it. */
  readonly here: Task
  readonly there: Task
  readonly gate: Gate
}

/** A task that runs in one process, whose reads can be held, and another that knows of it. */
async function pair(t: TestContext): Promise<Pair> {
  const memory = memoryStore({ isShared: true })
  const gate = held(memory)
  const runs = house(t, {}, gate.store)
  const other = house(t, {}, memory)
  const { id } = await taskOf(runs.service)
  await tasksOf(runs.service).whenPersisted(id)
  const [here, there] = await Promise.all([runs, other].map(({ service }) => tasksOf(service).get('ann', id)))
  return { runs, other, id, here: here!, there: there!, gate }
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}

test('one that is removed while an earlier read of it is on its way gets nothing any more', async (t) => {
  const { runs, other, id, here, there, gate } = await pair(t)
  const hook = await webhook(t)
  gate.hold = true
  await other.push.register(there, config(hook.url), '1.0')
  await eventually(() => gate.answers.length === 1, 'it is read')
  gate.hold = false
  await runs.push.remove(here, 'a')
  // All that does not wait for that read has come to its end.
  await settled()
  gate.answers[0]!()
  await settled()
  await eventually(() => runs.push.status.waiting === 0, 'nothing waits')
  const count = hook.received.length
  tasksOf(runs.service).move(id, 'completed')
  await settled()
  await eventually(() => runs.push.status.waiting === 0, 'nothing waits')
  assert.deepEqual(wordsOf(hook.received).slice(count), [])
})

test('one that is registered while those of others are read is posted to all the same', async (t) => {
  const { runs, other, id, here, there, gate } = await pair(t)
  const [hook, mine] = [await webhook(t), await webhook(t)]
  gate.hold = true
  await other.push.register(there, config(hook.url), '1.0')
  await eventually(() => gate.answers.length === 1, 'those of the other are read')
  gate.hold = false
  await runs.push.register(here, config(mine.url, { id: 'b' }), '1.0')
  await mine.until(1)
  gate.answers[0]!()
  await hook.until(1)
  tasksOf(runs.service).move(id, 'completed')
  await Promise.all([hook.until(2), mine.until(2)])
  assert.deepEqual(wordsOf(mine.received), ['task submitted 0', 'status completed'])
})

test('one that is replaced while what it was is read is not posted to as it was', async (t) => {
  const { runs, other, id, here, there, gate } = await pair(t)
  const [before, after] = [await webhook(t), await webhook(t)]
  gate.hold = true
  await other.push.register(there, config(before.url), '1.0')
  await eventually(() => gate.answers.length === 1, 'it is read')
  gate.hold = false
  await runs.push.register(here, config(after.url), '1.0')
  await after.until(1)
  gate.answers[0]!()
  await settled()
  tasksOf(runs.service).move(id, 'completed')
  await after.until(2)
  assert.deepEqual([before.received, wordsOf(after.received)], [[], ['task submitted 0', 'status completed']])
})

test('what of several others comes at one time is posted to once, and what was removed is not', async (t) => {
  const { runs, other, id, there } = await pair(t)
  const hooks = [await webhook(t), await webhook(t), await webhook(t)]
  await Promise.all(hooks.map(async ({ url }, at) => (
    other.push.register(there, config(url, { id: `${at}` }), '1.0')
  )))
  await Promise.all(hooks.map((hook) => hook.until(1)))
  await other.push.remove(there, '1')
  await settled()
  tasksOf(runs.service).move(id, 'completed')
  await Promise.all([hooks[0]!.until(2), hooks[2]!.until(2)])
  await eventually(() => runs.push.status.waiting + other.push.status.waiting === 0, 'nothing waits')
  assert.deepEqual(hooks.map(({ received }) => received.length), [2, 1, 2])
})

test('a task that is forgotten while its configuration is being kept leaves none behind', async (t) => {
  const memory = memoryStore()
  let keep: (() => void) | undefined
  const { service, push, lines } = house(t, {}, { ...memory, write(key, value, keepMs, expected) {
    const written = (): number | undefined => memory.write(key, value, keepMs, expected)
    if (key.collection !== 'push-configs') return written()
    return new Promise((resolve) => { keep = () => resolve(written()) })
  } })
  const hook = await webhook(t)
  const task = await taskOf(service)
  const registering = push.register(task, config(hook.url), '1.0')
  await eventually(() => keep !== undefined, 'it is being kept')
  await tasksOf(service).drop(task.id)
  keep!()
  await registering
  await eventually(async () => (await push.configs.of(task)).length === 0, 'none is kept')
  assert.deepEqual([hook.received, lines, push.status.bytes], [[], [], 0])
})
