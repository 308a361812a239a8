import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../lib/define/limits.ts'
import { Tasks } from '../../lib/tasks/tasks.ts'
import { eventually } from '../fixtures/client.ts'
import { damagedStore, damages } from '../fixtures/damaged-store.ts'
import { processNamed, sharedStore } from '../fixtures/shared-store.ts'
import type { RunningTask, Task, TaskSeed } from '../../lib/tasks/task.ts'
import type { Limits, Store } from '../../lib/index.ts'

let processes = 0

/** The tasks of one process. */
function processOn(store: Store, limits: Partial<Limits> = {}): Tasks {
  return new Tasks(limitsOf(limits), store, () => {}, processNamed(`process${++processes}`))
}

const seed: TaskSeed = {
  owner: 'ann', protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, contextId: 'c',
  sessionId: undefined, ttlMs: undefined,
}

/** A run that counts how often it is cancelled. */
function runOf(): RunningTask & { readonly cancels: () => number } {
  let cancelled = 0
  const cancel = (): void => { cancelled += 1 }
  return { onSettled() {}, answer() {}, refuse() {}, cancel, lose: cancel, cancels: () => cancelled }
}

/** A task that waits in the store. */
async function waiting(tasks: Tasks, run?: RunningTask): Promise<string> {
  const { id } = await tasks.create(seed, run)
  tasks.move(id, 'input-required', { message: [{ type: 'text', text: 'Which?' }] })
  await tasks.whenPersisted(id)
  return id
}

test('a task is taken as it was read, once, and by one process', async () => {
  const store = sharedStore(1)
  const [one, two, three] = [processOn(store), processOn(store), processOn(store)]
  const id = await waiting(one)
  const [seen, also] = await Promise.all([two.get('ann', id), three.get('ann', id)])
  assert.ok(seen && also)
  assert.equal(two.isCurrent(seen), false)
  await Promise.all([two.take(seen), three.take(also)])
  assert.deepEqual([two.isCurrent(seen), three.isCurrent(also)].toSorted(), [false, true])
  const [winner, loser, task] = two.isCurrent(seen) ? [two, three, seen] : [three, two, also]
  await winner.take(task)
  assert.ok(winner.isCurrent(task))
  assert.equal(loser.addMessage(id, { id: 'm', role: 'user', parts: [] }), false)
  assert.equal(winner.addMessage(id, { id: 'm', role: 'user', parts: [] }), true)
  // What was read before is not what stands now.
  await winner.take(task)
  assert.equal(winner.isCurrent(task), false)
  await winner.whenPersisted(id)
  assert.equal((await loser.get('ann', id))?.history.length, 2)
})

test('who had a task that was taken ends its run, tells nobody of an end, and reads it there', async () => {
  const store = sharedStore()
  const [one, two] = [processOn(store), processOn(store)]
  const run = runOf()
  const id = await waiting(one, run)
  const told: string[] = []
  one.watch('ann', id, ({ what }) => { told.push(what) })
  const seen = await two.get('ann', id)
  assert.ok(seen)
  await two.take(seen)
  two.move(id, 'completed')
  await eventually(async () => (await two.get('ann', id))?.status.state === 'completed')
  assert.equal((await one.get('ann', id))?.status.state, 'completed')
  assert.deepEqual([run.cancels(), told, one.running, one.finished], [1, ['forgotten'], 0, 0])
})

test('a list has each task once, as it stands', async () => {
  const store = sharedStore()
  const [one, two] = [processOn(store), processOn(store)]
  const ids = [await waiting(one), await waiting(one), await waiting(two)]
  const seen = await two.get('ann', ids[0]!)
  assert.ok(seen)
  await two.take(seen)
  two.move(ids[0]!, 'working')
  await two.whenPersisted(ids[0]!)
  for (const tasks of [one, two]) {
    const list = await tasks.list('ann')
    assert.deepEqual(list.map(({ id, status: { state } }) => [id, state]), [
      [ids[0], 'working'], [ids[2], 'input-required'], [ids[1], 'input-required'],
    ])
    assert.deepEqual(await tasks.list('bob'), [])
  }
})

test('how long the store keeps a task depends on what it waits for', async () => {
  const store = sharedStore()
  const keeps: number[] = []
  const tasks = processOn({
    ...store, isShared: true, write: (key, value, keepMs, expected) => {
      if (key.collection === 'tasks') keeps.push(keepMs)
      return store.write(key, value, keepMs, expected)
    },
  }, { taskKeepMs: 1_000_000, waitingTaskKeepMs: 2_000_000 })
  const id = await waiting(tasks)
  tasks.move(id, 'completed')
  await tasks.whenPersisted(id)
  assert.deepEqual(keeps, [Infinity, 2_000_000, 1_000_000])
})

test('a task of which nobody was told is dropped from the store too', async () => {
  const store = sharedStore()
  const removed: unknown[] = []
  const tasks = processOn({
    ...store, isShared: true, remove: async (key, expected) => {
      if (key.collection === 'tasks') removed.push(expected)
      return store.remove(key, expected)
    },
  })
  const { id } = await tasks.create(seed)
  tasks.move(id, 'working')
  await tasks.drop(id)
  await tasks.stored!.written()
  assert.equal(store.entries.size, 0)
  assert.equal(tasks.running, 0)
  assert.deepEqual(removed, [3])
  assert.equal(await tasks.get('ann', id), undefined)
})

test('a task that cannot be taken now can be later', async () => {
  const store = sharedStore()
  const id = await waiting(processOn(store))
  const tasks = processOn(store)
  const seen = await tasks.get('ann', id) as Task
  store.failWith(new Error('not reached'))
  await assert.rejects(async () => tasks.take(seen), /not reached/)
  assert.equal(tasks.isCurrent(seen), false)
  store.failWith(undefined)
  await tasks.take(seen)
  assert.equal(tasks.isCurrent(seen), true)
})

test('a store that mixes up owners shows nobody another\'s task', async () => {
  const store = sharedStore()
  const tasks = processOn(store)
  const id = await waiting(tasks)
  const [, entry] = store.entries.values()
  const mixed = processOn({ ...store, isShared: true, read: async () => entry, list: async () => [entry!] })
  assert.equal(await mixed.get('bob', id), undefined)
  assert.deepEqual(await mixed.list('bob'), [])
})

test('a running task goes on though what is kept of it is damaged, and its end mends that', async () => {
  for (const [what, change] of Object.entries(damages)) {
    const store = damagedStore()
    const [one, two] = [processOn(store), processOn(store)]
    const run = runOf()
    const { id } = await one.create(seed, run)
    one.move(id, 'working')
    await one.whenPersisted(id)
    store.damage('tasks', change)
    assert.equal(await two.get('ann', id), undefined, what)
    assert.equal((await one.get('ann', id))?.status.state, 'working', what)
    assert.deepEqual((await one.list('ann')).map((task) => task.id), [id], what)
    assert.deepEqual(await two.list('ann'), [], what)
    await one.stored!.recheck()
    assert.equal(run.cancels(), 0, what)
    one.move(id, 'completed')
    await eventually(async () => (await two.get('ann', id))?.status.state === 'completed')
  }
})

test('a running task that another has written over is lost, whether that can be read or not', async () => {
  for (const value of ['no JSON', 'null']) {
    const store = damagedStore()
    const one = processOn(store)
    const run = runOf()
    const { id } = await one.create(seed, run)
    store.write({ collection: 'tasks', owner: 'ann', key: id }, value, 60_000, 'any')
    await one.stored!.recheck()
    assert.equal(run.cancels(), 1, value)
    assert.equal(await one.get('ann', id), undefined)
  }
})

test('a task that is being begun is not taken for lost when all are looked at', async () => {
  // What is read was not there yet when it was asked for.
  const tasks = processOn({ ...sharedStore(), read: () => Promise.resolve(undefined) })
  const run = runOf()
  const created = tasks.create(seed, run)
  await tasks.stored!.recheck()
  const task = await created
  assert.equal(tasks.isCurrent(task), true)
  assert.equal(tasks.runOf(task.id), run)
  assert.equal(run.cancels(), 0)
})

/** A task whose end is on its way into a store that takes its time, and is given as much as it takes. */
async function ending(): Promise<{ readonly tasks: Tasks; readonly id: string }> {
  const tasks = processOn(sharedStore(10), { storeTimeoutMs: Infinity })
  const { id } = await tasks.create(seed)
  tasks.move(id, 'working')
  await tasks.whenPersisted(id)
  tasks.move(id, 'completed')
  return { tasks, id }
}

test('without a limit, who reads a task waits until its end is kept', async () => {
  const { tasks, id } = await ending()
  assert.equal((await tasks.get('ann', id))?.status.state, 'completed')
})

test('without a limit, a process that closes waits until all ends are kept', async () => {
  const { tasks } = await ending()
  assert.equal(await tasks.stored!.written(), true)
})

/** A store whose removals of announcements wait for a word, and overtake what comes after it. */
function withLateRemovals(): { readonly store: Store; readonly announced: () => number; go(): void } {
  const store = sharedStore()
  const waiting: (() => void)[] = []
  return {
    store: {
      ...store, isShared: true, remove: async (key, expected) => {
        if (key.collection === 'runs') await new Promise<void>((resolve) => { waiting.push(resolve) })
        return store.remove(key, expected)
      },
    },
    announced: () => [...store.entries.keys()].filter((key) => key.startsWith('["runs"')).length,
    go() { for (const go of waiting.splice(0)) go() },
  }
}

test('a task that comes back while its announcement is being removed is announced after that', async () => {
  for (const way of ['forgotten', 'settled'] as const) {
    const { store, announced, go } = withLateRemovals()
    const [one, two] = [processOn(store), processOn(store)]
    const id = await waiting(one)
    if (way === 'forgotten') {
      await two.take(await two.get('ann', id) as Task)
      // Now it is known here, too, that another process has it.
      await one.get('ann', id)
    } else {
      void one.stored!.settle(id)
    }
    await eventually(() => announced() > 0)
    const task = await one.get('ann', id) as Task
    const taking = Promise.resolve(one.take(task))
    await new Promise((resolve) => setTimeout(resolve, 20))
    go()
    await taking
    assert.ok(one.isCurrent(task), way)
    go()
    // Under the names of both, where the other process is still to hear of it.
    assert.equal(announced(), way === 'forgotten' ? 2 : 1, way)
    two.move(id, 'working')
    one.move(id, 'completed')
    await eventually(() => {
      go()
      return announced() === 0
    }, way)
    assert.equal(await one.stored!.written(), true)
  }
})

test('a run that waits goes on waiting where it is not known whether its task is still here', async () => {
  const store = sharedStore()
  const tasks = processOn(store)
  const run = runOf()
  const id = await waiting(tasks, run)
  const seen = await tasks.get('ann', id) as Task
  store.failWith(new Error('not reached'))
  await assert.rejects(async () => tasks.take(seen), /not reached/)
  store.failWith(undefined)
  assert.deepEqual([tasks.runOf(id), run.cancels()], [run, 0])
  await tasks.take(seen)
  assert.ok(tasks.isCurrent(seen))
  tasks.move(id, 'completed')
  await tasks.whenPersisted(id)
  assert.equal((await tasks.get('ann', id))?.status.state, 'completed')
})
