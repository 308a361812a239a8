import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { memoryStore } from '../../../lib/floors/memory/memory-store.ts'
import { runKeyOf, taskKeyOf } from '../../../lib/floors/tasks/stored-tasks.ts'
import { eventually } from '../../fixtures/wire.ts'
import { damagedStore, damages } from '../../fixtures/damaged-store.ts'
import { keptBytes } from '../../fixtures/heap.ts'
import { processNamed, sharedStore, tasksOn } from '../../fixtures/shared-store.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { Tasks } from '../../../lib/floors/tasks/tasks.ts'
import type { Log } from '../../../lib/kernel/define/log.ts'
import type { RunningTask, Task, TaskSeed, TaskState } from '../../../lib/floors/tasks/task.ts'
import type { Limits, MemoryStore, Store } from '../../../lib/index.ts'

let processes = 0

/** The tasks of one process. */
function processOn(store: Store, limits: Partial<Limits> = {}): Tasks {
  return tasksOn(store, processNamed(`process${++processes}`), limitsOf(limits))
}

const seed: TaskSeed = {
  owner: 'ann', protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, contextId: 'c',
  sessionId: undefined, ttlMs: undefined,
}

const later = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

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
  for (const error of [new Error('not reached'), new Fault('busy', 'not reached')]) {
    store.failWith(error)
    await assert.rejects(async () => tasks.take(seen), error)
    assert.equal(tasks.isCurrent(seen), false)
  }
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

test('what is damaged while it is written is no sign that another process has the task', async () => {
  const store = damagedStore()
  let answer = (): void => {}
  let isSlow = false
  const one = processOn({ ...store, isShared: true, write: async (...all) => {
    const version = store.write(...all)
    if (isSlow) await new Promise<void>((resolve) => { answer = resolve })
    return version
  } })
  const run = runOf()
  const { id } = await one.create(seed, run)
  isSlow = true
  one.move(id, 'working')
  await later()
  store.damage('tasks', () => 'no JSON')
  const looked = one.stored!.recheck()
  await later()
  isSlow = false
  answer()
  await looked
  assert.deepEqual([run.cancels(), one.runOf(id)], [0, run])
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
function withLateRemovals(): {
  readonly store: Store; readonly announced: () => number; go(most?: number): void
} {
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
    go(most = Infinity) { for (const go of waiting.splice(0, most)) go() },
  }
}

test('a task that comes back while its announcement is being removed is announced after that', async () => {
  for (const way of ['forgotten', 'settled', 'settled twice'] as const) {
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
    if (way === 'settled twice') void one.stored!.settle(id)
    await eventually(() => announced() > 0)
    const task = await one.get('ann', id) as Task
    if (way === 'settled twice') {
      // The one that is done is not the last.
      go(1)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const taking = Promise.resolve(one.take(task))
    await new Promise((resolve) => setTimeout(resolve, 20))
    go()
    await taking
    assert.ok(one.isCurrent(task), way)
    go()
    await new Promise((resolve) => setTimeout(resolve, 5))
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

/** A process of which the test says when its heart beats, and what its store does not do. */
interface Process {
  readonly tasks: Tasks
  readonly memory: MemoryStore
  readonly store: Store & Record<'read' | 'write' | 'remove', unknown>
  readonly cluster: { isLeased: boolean; isOpen: boolean }
  readonly logged: readonly (readonly [level: string, text: string, fields: unknown])[]
  readonly sent: readonly (readonly unknown[])[]
  beat(): void
  hear(kind: string, body: unknown): void
  /** What the next writes of tasks fail with, as often. */
  fail(error: Error, times?: number): void
  /** How often tasks were written. */
  writes(): number
  kept(id: string): Task | undefined
  isAnnounced(id: string): boolean
}

function processWith(
  limits: Partial<Limits> = {}, memory: MemoryStore = memoryStore({ isShared: true }),
): Process {
  const logged: (readonly [string, string, unknown])[] = []
  const sent: (readonly unknown[])[] = []
  const beats: (() => void)[] = []
  const listeners = new Map<string, (body: unknown) => void>()
  let failure: Error | undefined
  let failures = 0
  let writes = 0
  const store: Process['store'] = { ...memory, isShared: true, write: (key, ...rest) => {
    if (key.collection === 'tasks' && failures > 0) {
      failures -= 1
      return Promise.reject(failure)
    }
    const version = memory.write(key, ...rest)
    if (key.collection === 'tasks') writes += 1
    return version
  } }
  const cluster = Object.assign(processNamed(`process${++processes}`), {
    onBeat: (listener: () => void) => { beats.push(listener) },
    on: (kind: string, listener: (body: unknown) => void) => { listeners.set(kind, listener) },
    send: async (...said: readonly unknown[]) => { sent.push(said) },
  })
  const log: Log = (level, text, fields) => { logged.push([level, text, fields]) }
  const tasks = tasksOn(store, cluster, limitsOf(limits), log)
  return {
    tasks, memory, store, cluster: cluster as { isLeased: boolean; isOpen: boolean }, logged, sent,
    beat: () => { for (const listener of beats) listener() },
    hear: (kind, body) => listeners.get(kind)!(body),
    fail(error, times = Infinity) { [failure, failures] = [error, times] },
    writes: () => writes,
    kept(id) {
      const entry = memory.read(taskKeyOf('ann', id))
      return entry && JSON.parse(entry.value) as Task
    },
    isAnnounced: (id) => memory.read(runKeyOf(cluster.id, { id })) !== undefined,
  }
}

const away = new Fault('busy', 'The store cannot be reached')
const tooLarge = new Fault('too-large', 'What is kept may have 5 bytes')

test('what a store that was not reached has not got is written once, with the next beat', async () => {
  for (const error of [away, new Fault('too-large', 'Too large'), new Error('odd')]) {
    const one = processWith()
    const { id } = await one.tasks.create(seed)
    one.fail(error, 1)
    one.tasks.move(id, 'working')
    await one.tasks.whenPersisted(id)
    assert.deepEqual(one.logged, [['warning', 'A task could not be kept', { task: id, cause: error }]])
    assert.equal(one.kept(id)?.status.state, 'submitted')
    for (let beats = 0; beats < 2; beats++) {
      one.beat()
      await one.tasks.whenPersisted(id)
    }
    assert.equal(one.kept(id)?.status.state, error === away ? 'working' : 'submitted', error.message)
    assert.equal(one.writes(), error === away ? 2 : 1, error.message)
  }
})

test('with a beat nothing is written of what has ended, or is not here any more', async () => {
  const one = processWith()
  const ids = [(await one.tasks.create(seed)).id, (await one.tasks.create(seed)).id]
  one.fail(away, 4)
  for (const id of ids) one.tasks.move(id, 'working')
  for (const id of ids) await one.tasks.whenPersisted(id)
  one.tasks.move(ids[0]!, 'completed')
  await one.tasks.drop(ids[1]!)
  await later()
  one.beat()
  await one.tasks.stored!.written()
  assert.deepEqual(ids.map((id) => one.kept(id)?.status.state), ['completed', undefined])
  assert.equal(one.writes(), 3)
})

test('a task that is said to be taken is looked up, where it is here', async () => {
  const one = processWith()
  const run = runOf()
  const { id } = await one.tasks.create(seed, run)
  for (const body of [undefined, 5, 'unknown', id]) one.hear('task-taken', body)
  await later()
  assert.deepEqual([run.cancels(), one.tasks.runOf(id)], [0, run])
  one.memory.write(taskKeyOf('ann', id), JSON.stringify({ ...one.kept(id), node: 'other' }), Infinity, 'any')
  one.store.read = () => Promise.reject(away)
  one.hear('task-taken', id)
  await later()
  assert.deepEqual([run.cancels(), one.tasks.runOf(id)], [0, run])
  one.store.read = one.memory.read
  one.hear('task-taken', id)
  await later()
  assert.deepEqual([run.cancels(), one.tasks.runOf(id)], [1, undefined])
})

test('nothing of a task is written before others can reach its process', async () => {
  const one = processWith()
  let go = (): void => {}
  Object.assign(one.cluster, { ready: () => new Promise<void>((resolve) => { go = resolve }) })
  const created = one.tasks.create({ ...seed, id: 't' })
  await later()
  assert.deepEqual([one.isAnnounced('t'), one.writes()], [false, 0])
  go()
  await created
  assert.deepEqual([one.isAnnounced('t'), one.writes()], [true, 1])
})

test('a task that cannot be promised is not announced, unless it may have been written', async () => {
  const id = '00000000-0000-4000-8000-000000000000'
  const silent = 'This process was silent for too long; try again'
  const ways: readonly (readonly [
    what: string, begin: (one: Process) => void, message: string, mayBeThere: boolean,
  ])[] = [
    ['the store is away', (one) => one.fail(away), away.message, true],
    ['it was taken for dead', ({ memory }) => {
      memory.write(taskKeyOf('ann', id), 'null', Infinity, 0)
    }, silent, false],
    ['its lease has run out', ({ cluster }) => { cluster.isLeased = false }, silent, true],
  ]
  for (const [what, begin, message, mayBeThere] of ways) {
    const one = processWith()
    begin(one)
    await assert.rejects(async () => one.tasks.create({ ...seed, id }), { kind: 'busy', message }, what)
    await later()
    assert.equal(one.isAnnounced(id), mayBeThere, what)
    const unconfirmed = mayBeThere ? [[id, { owner: 'ann', version: 0 }]] : []
    assert.deepEqual([...one.tasks.stored!.unconfirmedWrites], unconfirmed, what)
    assert.deepEqual([one.tasks.running, await one.tasks.stored!.written()], [0, !mayBeThere], what)
  }
})

test('a task that grows is written each quarter of a second, and with whatever comes before', async (t) => {
  const pass = standingTime(t)
  const one = processWith()
  const { id } = await one.tasks.create(seed)
  const parts = [{ type: 'text', text: 'x' }] as const
  const grow = (): unknown => one.tasks.addPiece(id, { id: 'a', parts }, true, false)
  const settled = async (): Promise<number> => {
    for (let turns = 0; turns < 20; turns++) await Promise.resolve()
    return one.writes()
  }
  pass(249)
  grow()
  grow()
  assert.equal(await settled(), 1)
  pass(1)
  assert.equal(await settled(), 2)
  pass(250)
  // Its time has come already.
  grow()
  assert.equal(await settled(), 3)
  grow()
  one.tasks.move(id, 'working')
  assert.equal(await settled(), 4)
  pass(1_000)
  assert.equal(await settled(), 4)
  grow()
  assert.equal(await settled(), 5)
  grow()
  // Who wants to know of it waits for nothing.
  const persisted = one.tasks.whenPersisted(id)
  assert.equal(await settled(), 6)
  await persisted
  assert.deepEqual(one.kept(id)?.artifacts[0]?.parts, [{ type: 'text', text: 'x'.repeat(6) }])
  // An artifact is no more urgent, nor is what is said in the same state; a new state or question is.
  pass(250)
  void one.tasks.addArtifact(id, { id: 'b', parts })
  assert.equal(await settled(), 7)
  one.tasks.move(id, 'working', { message: parts })
  assert.equal(await settled(), 7)
  pass(250)
  assert.equal(await settled(), 8)
  one.tasks.move(id, 'working', { questions: [{ key: 'q', question: { what: 'roots' } }] })
  assert.equal(await settled(), 9)
  one.tasks.move(id, 'input-required')
  assert.equal(await settled(), 10)
  assert.equal(one.tasks.addMessage(id, { id: 'm', role: 'user', parts }), true)
  assert.equal(await settled(), 11)
  one.tasks.update(id, { isReserved: true })
  assert.equal(await settled(), 12)
  // What is not here any more is not written.
  pass(100)
  void one.tasks.addArtifact(id, { id: 'b', parts })
  await one.tasks.drop(id)
  pass(1_000)
  assert.equal(await settled(), 12)
})

test('the writes of a task follow each other, and what comes meanwhile is one', async () => {
  const one = processWith()
  const { id } = await one.tasks.create(seed)
  const waiting: (() => void)[] = []
  const { write } = one.store
  one.store.write = (...all) => (
    new Promise<void>((resolve) => { waiting.push(resolve) }).then(() => write(...all))
  )
  one.tasks.move(id, 'working')
  await later()
  for (const state of ['input-required', 'auth-required'] as const) one.tasks.move(id, state)
  await later()
  assert.equal(waiting.length, 1)
  waiting.shift()!()
  await later()
  assert.deepEqual([waiting.length, one.kept(id)?.status.state], [1, 'working'])
  waiting.shift()!()
  await later()
  assert.deepEqual([waiting.length, one.kept(id)?.status.state, one.writes()], [0, 'auth-required', 3])
})

test('what is to be kept before anything else happens is, or another has the task', async () => {
  const turn = { answers: { a: 1 }, results: {} }
  const one = processWith()
  const { id } = await one.tasks.create(seed)
  one.fail(away, 2)
  let isDone = false
  void one.tasks.updateDurably(id, { turn }).then(() => { isDone = true })
  await later()
  assert.equal(isDone, false)
  await eventually(() => isDone)
  assert.deepEqual(one.kept(id)?.turn, turn)
  await one.tasks.updateDurably('unknown', { turn })
  const other = JSON.stringify({ ...one.kept(id), node: 'other' })
  one.memory.write(taskKeyOf('ann', id), other, Infinity, 'any')
  await assert.rejects(one.tasks.updateDurably(id, { turn: { ...turn, run: 2 } }), {
    kind: 'conflict', message: 'This task belongs to another process',
  })
  await one.tasks.updateDurably(id, { turn })
})

const notKept = 'A task could not be kept'

/** How an end is kept, by what its writes fail with. */
const ends: readonly (readonly [
  what: string, prepare: (one: Process, id: string) => void, heard: readonly string[],
  kept: TaskState, isAnnounced: boolean, logged: readonly string[],
])[] = [
  ['kept at once', () => {}, ['completed'], 'completed', false, []],
  ['kept when the store is there again', (one) => one.fail(away, 2), ['completed'], 'completed', false, []],
  ['too large', (one) => one.fail(tooLarge, 1), ['failed'], 'failed', false, [notKept]],
  ['too large, whatever is left out', (one) => one.fail(tooLarge), ['forgotten'], 'working', true, [
    notKept, notKept,
  ]],
  ['refused', (one) => one.fail(new Error('odd')), ['forgotten'], 'working', true, [notKept]],
  ['not kept when the process closes', (one) => {
    one.fail(away)
    one.cluster.isOpen = false
  }, ['forgotten'], 'working', true, [notKept]],
  ['another\'s', (one, id) => {
    const other = JSON.stringify({ ...one.kept(id), node: 'other' })
    one.memory.write(taskKeyOf('ann', id), other, Infinity, 'any')
  }, ['forgotten'], 'working', false, ['A task belongs to another process by now']],
]

test('how a task has ended is told when that is kept, and only then', async () => {
  for (const [what, prepare, heard, kept, isAnnounced, logged] of ends) {
    const one = processWith()
    const run = runOf()
    const turn = { answers: {}, results: {} }
    const more = { turn, history: [{ id: 'm', role: 'user', parts: [] }] } as const
    const { id } = await one.tasks.create({ ...seed, ...more }, run)
    one.tasks.move(id, 'working')
    void one.tasks.addArtifact(id, { id: 'a', parts: [{ type: 'text', text: 'all of it' }] })
    await one.tasks.whenPersisted(id)
    const told: string[] = []
    one.tasks.watch('ann', id, (event) => {
      told.push(event.what === 'status' ? event.status.state : event.what)
      assert.equal(one.kept(id)?.status.state, kept, what)
    })
    prepare(one, id)
    one.tasks.move(id, 'completed', { result: 1 })
    assert.deepEqual(told, [], what)
    await eventually(() => told.length > 0, what)
    await one.tasks.stored!.written()
    assert.deepEqual(told, heard, what)
    const { artifacts, history, result, fault, status, turn: left } = one.kept(id)!
    if (kept === 'completed') assert.deepEqual([artifacts.length, history.length, result], [1, 1, 1], what)
    if (kept === 'failed') {
      assert.deepEqual([artifacts, history, result, left], [[], [], undefined, undefined], what)
      assert.deepEqual(fault, { kind: 'too-large', message: tooLarge.message })
      assert.deepEqual(status.message?.parts, [{ type: 'text', text: tooLarge.message }])
    }
    assert.equal(one.isAnnounced(id), isAnnounced, what)
    assert.equal(one.tasks.stored!.unconfirmedWrites.has(id), isAnnounced, what)
    assert.equal(await one.tasks.stored!.written(), !isAnnounced, what)
    assert.deepEqual(one.logged.map(([, said]) => said), logged, what)
    // Its run has ended: it is told nothing.
    assert.deepEqual([one.tasks.stored!.has(id), run.cancels()], [false, 0], what)
  }
})

test('who reads a task whose end is being kept waits for that, as long as a store may take', async () => {
  const ways: readonly (readonly [what: string, fault: Error | undefined, state: TaskState | undefined])[] = [
    ['kept', undefined, 'completed'], ['refused', new Error('odd'), 'working'],
  ]
  for (const [what, error, state] of ways) {
    const one = processWith({ storeTimeoutMs: 5_000 })
    const { id } = await one.tasks.create(seed)
    one.tasks.move(id, 'working')
    await one.tasks.whenPersisted(id)
    let go = (): void => {}
    const { write } = one.store
    one.store.write = (...all) => new Promise<void>((resolve) => { go = resolve }).then(() => {
      if (error !== undefined) throw error
      return write(...all)
    })
    one.tasks.move(id, 'completed')
    const read = Promise.resolve(one.tasks.get('ann', id))
    await later()
    go()
    assert.equal((await read)?.status.state, state, what)
  }
  const one = processWith({ storeTimeoutMs: 20 })
  const { id } = await one.tasks.create(seed)
  one.store.write = () => new Promise(() => {})
  one.tasks.move(id, 'completed')
  await assert.rejects(async () => one.tasks.get('ann', id), {
    kind: 'busy', message: 'How this task has ended is not kept yet; try again later',
  })
  assert.equal(await one.tasks.stored!.written(), false)
})

test('a process that closes leaves to others what they can go on with, and nothing else', async () => {
  const turn = { answers: {}, results: {} }
  const rerun = { ...turn, isRerun: true }
  const rows: readonly (readonly [turn: Task['turn'], state: TaskState, isLeft: boolean])[] = [
    [undefined, 'working', false], [undefined, 'input-required', false], [turn, 'working', false],
    [turn, 'input-required', true], [turn, 'auth-required', true], [rerun, 'working', true],
    [rerun, 'submitted', true], [{ ...rerun, isRerun: false }, 'working', false],
  ]
  for (const [kept, state, isLeft] of rows) {
    const what = `${JSON.stringify(kept)} ${state}`
    const one = processWith()
    const run = runOf()
    const { id } = await one.tasks.create({ ...seed, turn: kept }, run)
    const waits = (await one.tasks.create({ ...seed, turn: kept })).id
    for (const each of [id, waits]) {
      if (state !== 'submitted') one.tasks.move(each, state)
      await one.tasks.whenPersisted(each)
    }
    const told: string[] = []
    one.tasks.watch('ann', id, ({ what: event }) => { told.push(event) })
    assert.equal(one.tasks.stored!.isHandedOver, false)
    one.tasks.stored!.handOver()
    assert.equal(one.tasks.stored!.isHandedOver, true)
    await later()
    const now = [one.isAnnounced(id), one.tasks.runOf(id), told]
    assert.deepEqual(now, isLeft ? [true, undefined, ['forgotten']] : [true, run, []], what)
    assert.equal(one.tasks.stored!.has(id), !isLeft, what)
    // Who has none is not running here.
    assert.equal(one.tasks.stored!.has(waits), true, what)
    assert.equal(run.cancels(), 0, what)
    assert.equal(await one.tasks.stored!.written(), false, what)
  }
})

test('nothing is left to others where all announcements could be removed', async () => {
  for (const isAway of [false, true]) {
    const one = processWith()
    const { id } = await one.tasks.create(seed)
    if (isAway) one.store.remove = () => Promise.reject(away)
    one.tasks.move(id, 'completed')
    assert.equal(await one.tasks.stored!.written(), !isAway)
    assert.equal(one.isAnnounced(id), isAway)
  }
})

test('before an end is kept, and before nothing else, who listens has its time', async () => {
  const one = processWith()
  const order: string[] = []
  one.tasks.stored!.onBeforeEnd(async ({ owner, id }) => {
    await later()
    order.push(`${owner} ${id === task.id} ${one.kept(id)?.status.state}`)
  })
  const task = await one.tasks.create(seed)
  one.tasks.move(task.id, 'working')
  await one.tasks.whenPersisted(task.id)
  one.tasks.move(task.id, 'completed')
  await one.tasks.stored!.written()
  order.push(String(one.kept(task.id)?.status.state))
  assert.deepEqual(order, ['ann true working', 'completed'])
})

test('what is dropped is removed at the version that was written last; what fails is logged', async () => {
  const one = processWith()
  const { id } = await one.tasks.create(seed)
  let go = (): void => {}
  const { write } = one.store
  one.store.write = (...all) => new Promise<void>((resolve) => { go = resolve }).then(() => write(...all))
  one.tasks.move(id, 'working')
  await later()
  const dropped = one.tasks.drop(id)
  await later()
  go()
  await dropped
  assert.deepEqual([one.kept(id), one.logged], [undefined, []])
  one.store.write = write
  const second = await one.tasks.create(seed)
  one.store.remove = () => Promise.reject(away)
  await one.tasks.drop(second.id)
  assert.deepEqual(one.logged, [['warning', 'A task could not be kept', { task: second.id, cause: away }]])
})

test('who had a task that waits is told that another has it, and nobody else is', async () => {
  const memory = memoryStore({ isShared: true })
  const [one, two] = [processWith({}, memory), processWith({}, memory)]
  const { id } = await one.tasks.create(seed)
  one.tasks.move(id, 'input-required')
  await one.tasks.whenPersisted(id)
  const seen = await two.tasks.get('ann', id) as Task
  await two.tasks.take(seen)
  assert.deepEqual(two.sent, [[seen.node, 'task-taken', id]])
  assert.deepEqual([two.tasks.running, two.tasks.finished], [0, 1])
  const { node: _node, ...unnamed } = one.kept(id)!
  memory.write(taskKeyOf('ann', id), JSON.stringify(unnamed), Infinity, 'any')
  const three = processWith({}, memory)
  await three.tasks.take(await three.tasks.get('ann', id) as Task)
  assert.deepEqual([three.sent, three.kept(id)?.node === undefined], [[], false])
  // One that works on takes the room of no other.
  const four = processWith({}, memory)
  const waits = await four.tasks.get('ann', id) as Task
  const works = four.tasks.answered(waits, { answers: {}, results: {} })
  await four.tasks.take(waits, works)
  assert.ok(four.tasks.isCurrent(works))
  assert.deepEqual([four.tasks.running, four.tasks.finished, four.kept(id)?.status.state], [1, 0, 'working'])
})

test('whether a task is still here is asked for where there is no lease, until that is known', async () => {
  const one = processWith()
  const { id } = await one.tasks.create(seed)
  const stored = one.tasks.stored!
  assert.deepEqual([stored.confirm(id), stored.confirm('unknown')], [undefined, undefined])
  one.cluster.isLeased = false
  assert.equal(stored.confirm('unknown'), undefined)
  let asked = 0
  one.store.read = (key) => {
    asked += 1
    return asked < 3 ? Promise.reject(away) : one.memory.read(key)
  }
  let isKnown = false
  void stored.confirm(id)!.then(() => { isKnown = true })
  await eventually(() => isKnown)
  assert.deepEqual([asked, stored.has(id)], [3, true])
  const other = JSON.stringify({ ...one.kept(id), node: 'other' })
  one.memory.write(taskKeyOf('ann', id), other, Infinity, 'any')
  await stored.confirm(id)
  assert.equal(stored.has(id), false)
})

test('what waits here is listed as it is kept, where that is newer or gone', async () => {
  const memory = memoryStore({ isShared: true })
  const [one, two] = [processWith({}, memory), processWith({}, memory)]
  const { id } = await one.tasks.create(seed)
  one.tasks.move(id, 'input-required')
  await one.tasks.whenPersisted(id)
  await two.tasks.take(await two.tasks.get('ann', id) as Task)
  two.tasks.move(id, 'working')
  await two.tasks.whenPersisted(id)
  const [listed] = await one.tasks.list('ann')
  assert.equal(listed?.status.state, 'working')
  // Here it is newer than there.
  two.fail(away, 1)
  two.tasks.move(id, 'auth-required')
  await two.tasks.whenPersisted(id)
  assert.equal((await two.tasks.list('ann'))[0]?.status.state, 'auth-required')
  one.memory.remove(taskKeyOf('ann', id), 'any')
  const [known] = await one.tasks.list('ann')
  assert.equal(known?.status.state, 'input-required')
})

test('of tasks that have ended, or were dropped, a process keeps nothing', async () => {
  // Nor does this store.
  let version = 0
  const store: Store = {
    ...memoryStore({ isShared: true }),
    read: () => undefined, write: async () => ++version, remove: async () => true,
  }
  const tasks = processOn(store)
  const perTask = await keptBytes(1_000, async (nth) => {
    const { id } = await tasks.create(seed)
    tasks.move(id, 'working')
    void tasks.addArtifact(id, { id: 'a', parts: [{ type: 'text', text: 'x' }] })
    if (nth % 2 === 0) return tasks.drop(id)
    tasks.move(id, 'completed')
    await tasks.whenPersisted(id)
  })
  assert.ok(perTask < 120, `${perTask} bytes are held for each task`)
})
