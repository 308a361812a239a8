// What becomes of tasks of other processes: which are run again, by whom, and with which answers.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { RemoteTasks } from '../../../lib/floors/tasks/remote-tasks.ts'
import { TaskRecovery } from '../../../lib/floors/tasks/task-recovery.ts'
import { taskOf } from '../../../lib/floors/tasks/task.ts'
import { eventually } from '../../fixtures/wire.ts'
import { processNamed, sharedStore, tasksOn } from '../../fixtures/shared-store.ts'
import type { Tasks } from '../../../lib/floors/tasks/tasks.ts'
import type { Limits, Store } from '../../../lib/index.ts'
import type { PeerChannels } from '../../../lib/floors/shared/peer-channels.ts'
import type { Task, TaskSeed, TaskTurn } from '../../../lib/floors/tasks/task.ts'
import type { TaskRunner } from '../../../lib/floors/tasks/task-recovery.ts'

const AT = '2026-01-01T00:00:00.000Z'
const DEAD = 'dead'
const seed: TaskSeed = {
  id: 't', owner: 'ann', protocol: 'mcp', runnable: { kind: 'tool', name: 'work' }, contextId: '',
  sessionId: undefined, ttlMs: undefined,
}
const turn: TaskTurn = { isRerun: true, answers: {}, results: {} }

/** One process, and what it has begun to run. Every other one is dead, and is sent nothing. */
interface Process {
  readonly cluster: { isOpen: boolean }
  readonly tasks: Tasks
  readonly recovery: TaskRecovery
  readonly remote: RemoteTasks
  readonly workload: { isFull: boolean }
  readonly ran: readonly Task[]
  readonly logged: readonly (readonly [string, unknown])[]
}

function processOn(
  store: Store, name: string, limits: Partial<Limits> = {}, runner: Partial<TaskRunner> = {},
): Process {
  const cluster = processNamed(name)
  const known = limitsOf(limits)
  const ran: Task[] = []
  const logged: (readonly [string, unknown])[] = []
  const log = (_level: string, text: string, fields?: unknown): void => { logged.push([text, fields]) }
  const tasks = tasksOn(store, cluster, known)
  const workload = { isFull: false }
  const at = { tasks, stored: tasks.stored!, cluster, workload, limits: known, log }
  const recovery = new TaskRecovery(at)
  recovery.register('mcp', { serves: () => true, run: (task) => { ran.push(task) }, ...runner })
  const channels = {
    on() {}, ask: () => Promise.reject(new Fault('not-found', 'It is dead')),
  } as unknown as PeerChannels
  const remote = new RemoteTasks(at, channels, recovery)
  return { cluster: cluster as { isOpen: boolean }, tasks, recovery, remote, workload, ran, logged }
}

/** Leaves a task of a dead process in the store. */
async function left(store: Store, more: Partial<Task> = {}): Promise<void> {
  const task = { ...taskOf({ ...seed, turn }, AT, { state: 'working', at: AT }), node: DEAD, ...more }
  await store.write({ collection: 'tasks', owner: 'ann', key: 't' }, JSON.stringify(task), Infinity, 0)
}

const asks: Partial<Task> = {
  status: { state: 'input-required', at: AT },
  questions: ['name', 'age'].map((key) => ({ key, question: { what: 'roots' } })),
  turn: { answers: {}, results: {} },
}

const seen = async ({ tasks }: Process): Promise<Task> => await tasks.get('ann', 't') as Task
const turnOfEventLoop = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 40))

test('a task runs again where its definition says so, as often as it may, and where there is room', () => {
  const { recovery, workload, tasks } = processOn(sharedStore(), 'one', {
    maxRuns: 3, rerunWaitMs: 1_000, maxTasks: 1,
  }, { serves: ({ contextId }) => contextId !== 'elsewhere' })
  const task = (more: Partial<Task> = {}): Task => ({
    ...taskOf({ ...seed, turn }, AT, { state: 'working', at: AT }), ...more,
  })
  const decided = (more: Partial<Task>, sinceMs = 0): string => {
    const decision = recovery.decideRecovery(task(more), sinceMs)
    return typeof decision === 'string' ? decision : decision.why
  }
  const ended = 'The process that ran it has ended'
  const unknown = `${ended}; whether it took effect is not known`
  const unserved = `${ended}, and no other serves it; whether it took effect is not known`
  assert.equal(decided({}), 'rerun')
  assert.equal(decided({}, Infinity), 'rerun')
  assert.equal(decided({ turn: undefined }), unknown)
  assert.equal(decided({ turn: { answers: {}, results: {} } }), unknown)
  assert.equal(decided({ isReserved: true }), unknown)
  assert.equal(decided({ turn: { ...turn, run: 2 } }), 'rerun')
  assert.equal(decided({ turn: { ...turn, run: 3 } }), (
    `${ended} in each of its 3 runs; what took effect is not known`
  ))
  assert.equal(decided({ contextId: 'elsewhere' }, 999), 'later')
  assert.equal(decided({ contextId: 'elsewhere' }, 1_000), unserved)
  assert.equal(decided({ protocol: 'a2a' }, 1_000), unserved)
  workload.isFull = true
  assert.equal(decided({}), 'later')
  assert.equal(decided({ contextId: 'elsewhere' }, 1_000), unserved)
  workload.isFull = false
  void tasks.create({ ...seed, id: 'other' })
  assert.equal(decided({}), 'later')
})

test('of several processes one runs a task again, and knows that it is the second run', async () => {
  const store = sharedStore(1)
  await left(store, {
    artifacts: ['old', 'new'].map((id) => ({ id, parts: [] })), turn: { ...turn, earlier: ['old'] },
  })
  const all = [processOn(store, 'one'), processOn(store, 'two')]
  const tasks = await Promise.all(all.map(seen))
  const begun = await Promise.all(all.map(({ recovery }, at) => recovery.rerun(tasks[at]!)))
  assert.deepEqual(begun.toSorted(), [false, true])
  const ran = all.flatMap((one) => one.ran)
  assert.deepEqual(ran.map(({ turn: now }) => now?.run), [2])
  assert.deepEqual(ran[0]!.artifacts.map(({ id }) => id), ['old'])
  const kept = await seen(all[0]!)
  assert.deepEqual([kept.turn?.run, kept.status.state], [2, 'working'])
  const { turn: _none, ...without } = kept
  assert.equal(await all[0]!.recovery.rerun({ ...without, turn: undefined }), false)
})

test('what is run again waits for room, and does not run where it was cancelled meanwhile', async () => {
  for (const isCancelled of [false, true]) {
    const store = sharedStore()
    await left(store)
    const one = processOn(store, 'one')
    one.workload.isFull = true
    assert.equal(await one.recovery.rerun(await seen(one)), true)
    await turnOfEventLoop()
    assert.equal(one.ran.length, 0)
    if (isCancelled) await one.remote.cancel(await seen(one))
    one.workload.isFull = false
    await turnOfEventLoop()
    assert.equal(one.ran.length, isCancelled ? 0 : 1)
    assert.equal((await seen(one)).status.state, isCancelled ? 'canceled' : 'working')
  }
})

test('what waits for room in a process that closes does not begin there: another runs it', async () => {
  const store = sharedStore()
  await left(store)
  const one = processOn(store, 'one')
  one.workload.isFull = true
  assert.equal(await one.recovery.rerun(await seen(one)), true)
  one.cluster.isOpen = false
  await turnOfEventLoop()
  assert.equal(one.ran.length, 0)
  const two = processOn(store, 'two')
  assert.equal(await two.recovery.rerun(await seen(two)), true)
  assert.deepEqual(two.ran.map(({ turn: now }) => now?.run), [3])
})

test('a task that cannot be run again fails, and says why', async () => {
  const store = sharedStore()
  await left(store)
  const one = processOn(store, 'one', {}, { run() { throw new Fault('unsupported', 'No more') } })
  await one.recovery.rerun(await seen(one))
  await eventually(async () => (await seen(one)).status.state === 'failed')
  const { fault, questions, status } = await seen(one)
  assert.deepEqual([fault, questions], [{ kind: 'unsupported', message: 'No more' }, []])
  assert.deepEqual(status.message?.parts, [{ type: 'text', text: 'No more' }])
  assert.deepEqual(one.logged.map(([text]) => text), ['A task could not be run again'])
})

test('who listens to taken tasks is waited for, and does no harm where it fails', async () => {
  const store = sharedStore()
  await left(store)
  const one = processOn(store, 'one')
  const order: string[] = []
  one.recovery.onTaken(() => Promise.reject(new Error('no')))
  one.recovery.onTaken(async ({ id }) => {
    await turnOfEventLoop()
    order.push(`taken ${id}, ${one.ran.length} ran`)
  })
  await one.recovery.rerun(await seen(one))
  order.push(`${one.ran.length} ran`)
  assert.deepEqual(order, ['taken t, 0 ran', '1 ran'])
  assert.deepEqual(one.logged.map(([text]) => text), ['A listener to taken tasks failed'])
})

const answers = (name: string): ReadonlyMap<string, unknown> => new Map([['name', name]])

test('of two answers at two processes to a question without a run the first counts', async () => {
  const store = sharedStore(1)
  await left(store, asks)
  const all = [processOn(store, 'one'), processOn(store, 'two')]
  const tasks = await Promise.all(all.map(seen))
  await Promise.all(all.map(({ remote }, at) => remote.answer(tasks[at]!, answers(`by ${at}`))))
  const ran = all.flatMap((one) => one.ran)
  assert.equal(ran.length, 1)
  const by = all.findIndex((one) => one.ran.length === 1)
  assert.deepEqual(ran[0]!.turn?.answers, { name: `by ${by}` })
  const kept = await seen(all[1 - by]!)
  assert.deepEqual([kept.node, kept.turn?.answers], [by === 0 ? 'one' : 'two', { name: `by ${by}` }])
})

test('an answer to what was answered takes no task from the process that goes on with it', async () => {
  const store = sharedStore()
  await left(store, asks)
  const [one, two] = [processOn(store, 'one'), processOn(store, 'two')]
  const early = await seen(two)
  await one.remote.answer(await seen(one), answers('Ann'))
  one.tasks.move('t', 'input-required', { questions: [{ key: 'age', question: { what: 'roots' } }] })
  await one.tasks.whenPersisted('t')
  await two.remote.answer(early, answers('Bob'))
  assert.deepEqual([one.ran.length, two.ran.length], [1, 0])
  const kept = await seen(two)
  assert.deepEqual([kept.node, kept.turn?.answers], ['one', { name: 'Ann' }])
})

test('an answered task works, so that no second answer counts while it waits for room', async () => {
  const store = sharedStore()
  await left(store, asks)
  const one = processOn(store, 'one')
  one.workload.isFull = true
  await one.remote.answer(await seen(one), answers('Ann'))
  const waiting = await seen(one)
  assert.deepEqual([waiting.status.state, waiting.questions], ['working', []])
  assert.ok(waiting.status.at > AT)
  await one.remote.answer({ ...waiting, ...asks }, answers('Bob'))
  one.workload.isFull = false
  await turnOfEventLoop()
  assert.deepEqual(one.ran.map(({ turn: now }) => now?.answers), [{ name: 'Ann' }])
})

test('an answer to nothing that is asked changes nothing', async () => {
  const store = sharedStore()
  await left(store, asks)
  const one = processOn(store, 'one')
  await one.remote.answer(await seen(one), new Map([['strange', 1]]))
  assert.deepEqual([one.ran.length, (await seen(one)).node], [0, DEAD])
  assert.equal(await one.recovery.answer(await seen(one), new Map([['strange', 1]])), false)
  // Only what waits, and can begin again, is begun again.
  for (const more of [{ turn: undefined }, { status: { state: 'working', at: AT } }] as const) {
    assert.equal(await one.recovery.answer({ ...await seen(one), ...more }, answers('Ann')), false)
  }
})

test('of what is answered only what is asked is kept', async () => {
  const store = sharedStore()
  await left(store, { ...asks, questions: asks.questions!.slice(0, 1) })
  const one = processOn(store, 'one')
  await one.remote.answer(await seen(one), new Map([['strange', 1], ['name', 2]]))
  assert.deepEqual(one.ran.map(({ turn: now }) => now?.answers), [{ name: 2 }])
})

test('who answers what no process serves is told to try again, and the question stays', async () => {
  const store = sharedStore()
  await left(store, asks)
  let tries = 0
  const one = processOn(store, 'one', {}, { serves: () => {
    tries += 1
    return false
  } })
  await assert.rejects(one.remote.answer(await seen(one), answers('Ann')), {
    kind: 'busy',
    message: 'The process that had the task has ended, and no other serves it now; try again later',
  })
  // Nobody has changed it: nothing would come of another try.
  assert.deepEqual([tries, (await seen(one)).questions.length], [1, 2])
})

test('a cancel reaches the process that has taken the task since it was read', async () => {
  const store = sharedStore()
  await left(store)
  const [one, two] = [processOn(store, 'one'), processOn(store, 'two')]
  const early = await seen(two)
  assert.equal(await one.recovery.rerun(await seen(one)), true)
  await two.remote.cancel(early)
  assert.equal((await seen(two)).status.state, 'canceled')
  one.tasks.move('t', 'completed', { result: 1 })
  await eventually(() => one.tasks.running === 0)
  assert.equal((await seen(one)).status.state, 'canceled')
  // What has ended stays as it is.
  const ended = await seen(two)
  await one.remote.cancel(ended)
  assert.equal((await seen(two)).status.at, ended.status.at)
})

test('who ends a task of a dead process has its end kept by then, if no other was first', async () => {
  const store = sharedStore()
  await left(store, asks)
  const gates: (() => void)[] = []
  const slow: Store = { ...store, write: async (...all) => {
    if (/"state":"failed"/.test(all[1])) await new Promise<void>((resolve) => { gates.push(resolve) })
    return store.write(...all)
  } }
  const [one, two] = [processOn(slow, 'one'), processOn(store, 'two')]
  const early = await seen(two)
  let isEnded: boolean | undefined
  void one.recovery.end(await seen(one), 'failed', { result: 1 }).then((is) => { isEnded = is })
  await eventually(() => gates.length > 0)
  await turnOfEventLoop()
  assert.equal(isEnded, undefined)
  gates[0]!()
  await eventually(() => isEnded !== undefined)
  assert.equal(isEnded, true)
  const { status, questions, result } = await seen(two)
  assert.deepEqual([status.state, questions, result], ['failed', [], 1])
  assert.equal(await two.recovery.end(early, 'canceled'), false)
  assert.equal((await seen(two)).status.state, 'failed')
})

test('a refusal of a question without a run ends the task, of one that is not asked nothing', async () => {
  const store = sharedStore()
  await left(store, asks)
  const one = processOn(store, 'one')
  await one.remote.refuse(await seen(one), 'strange', 'no')
  assert.equal((await seen(one)).status.state, 'input-required')
  await one.remote.refuse(await seen(one), 'name', 'no')
  const { status, questions, fault } = await seen(one)
  assert.deepEqual([status.state, questions, fault], ['failed', [], { kind: 'failed', message: 'no' }])
})
