import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../lib/define/limits.ts'
import { Tasks, historyOf, historyWith, Timeline } from '../../lib/tasks/tasks.ts'
import { memoryStore } from '../../lib/index.ts'
import { processNamed, sharedStore } from '../fixtures/shared-store.ts'
import { standingTime } from '../fixtures/time.ts'
import { taskOf } from '../../lib/tasks/task.ts'
import type { Artifact } from '../../lib/define/artifact.ts'
import type { ListedTask, Task, TaskEvent, TaskSeed, TaskMessage } from '../../lib/tasks/task.ts'
import type { Content, Limits, Store } from '../../lib/index.ts'

function tasksWith(
  limits: Partial<Limits> = {}, store: Store = memoryStore({ maxEntries: 100, maxBytes: 1e6 }),
): Tasks {
  return new Tasks(limitsOf(limits), store, () => {}, store.isShared ? processNamed('here') : undefined)
}

function seed(owner: string): TaskSeed {
  return {
    owner, protocol: 'mcp', runnable: { kind: 'tool', name: 'work' }, contextId: 'context',
    sessionId: undefined, ttlMs: undefined,
  }
}

/** Begins a task where nothing has to be waited for. */
function begin(tasks: Tasks, owner: string): Task {
  const task = tasks.create(seed(owner))
  assert.ok(!(task instanceof Promise))
  return task
}

function idsOf(tasks: Tasks, owner: string): readonly string[] {
  return (tasks.list(owner) as readonly ListedTask[]).map(({ id }) => id)
}

test('a task is seen by its owner alone, running and finished', () => {
  const tasks = tasksWith()
  const task = begin(tasks, 'ann')
  for (const state of ['working', 'completed'] as const) {
    tasks.move(task.id, state)
    assert.equal((tasks.get('ann', task.id) as Task).status.state, state)
    assert.equal(tasks.get('bob', task.id), undefined)
    assert.deepEqual(idsOf(tasks, 'bob'), [])
    assert.deepEqual(idsOf(tasks, 'ann'), [task.id])
    assert.equal(tasks.watch('bob', task.id, () => assert.fail('told')), undefined)
  }
})

test('times rise strictly, even within one millisecond', () => {
  const tasks = tasksWith()
  const times: string[] = []
  for (let at = 0; at < 50; at++) times.push(begin(tasks, 'ann').createdAt)
  assert.deepEqual([...new Set(times)].toSorted(), times)
  for (const time of times) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

const text = (said: string): Content => ({ type: 'text', text: said })

test('watchers are told the same in the same order, from the task as it stood, until it is finished', () => {
  const tasks = tasksWith()
  const { id } = begin(tasks, 'ann')
  const told: Record<string, string[]> = { first: [], second: [], gone: [] }
  const watch = (name: string): (() => void) => {
    const watched = tasks.watch('ann', id, (event: TaskEvent, { task }) => {
      told[name]!.push(
        event.what === 'forgotten' ? 'forgotten'
          : event.what === 'status' ? event.status.state
          : `${event.artifact.id} ${task.artifacts.length}`,
      )
    })
    assert.ok(watched)
    told[name]!.push(`from ${watched.task.status.state}`)
    return watched.stop
  }
  watch('first')
  const leave = watch('gone')
  tasks.move(id, 'working')
  leave()
  watch('second')
  tasks.addArtifact(id, { id: 'a', parts: [text('1')] })
  tasks.move(id, 'completed')
  tasks.move(id, 'failed')
  tasks.addArtifact(id, { id: 'b', parts: [] })
  assert.deepEqual(told, {
    first: ['from submitted', 'working', 'a 1', 'completed'],
    second: ['from working', 'a 1', 'completed'],
    gone: ['from submitted', 'working'],
  })
})

test('an artifact is added, added to, or replaced', () => {
  const tasks = tasksWith()
  const { id } = begin(tasks, 'ann')
  const flags: unknown[] = []
  tasks.watch('ann', id, (event) => { if (event.what === 'artifact') flags.push([event.append, event.last]) })
  const part = (id_: string, said: string, name?: string): Artifact => ({
    id: id_, ...name !== undefined && { name }, parts: [text(said)],
  })
  tasks.addArtifact(id, part('a', '1', 'Notes'), { append: true, last: false })
  tasks.addArtifact(id, part('a', '2'), { append: true, last: false })
  tasks.addArtifact(id, part('b', '3'))
  tasks.addArtifact(id, part('b', '4'))
  assert.deepEqual((tasks.get('ann', id) as Task).artifacts, [
    { id: 'a', name: 'Notes', parts: [text('1'), text('2')] }, { id: 'b', parts: [text('4')] },
  ])
  assert.deepEqual(flags, [[false, false], [true, false], [false, true], [false, true]])
})

test('a snapshot does not change', () => {
  const tasks = tasksWith()
  const before = begin(tasks, 'ann')
  tasks.move(before.id, 'working')
  tasks.addArtifact(before.id, { id: 'a', parts: [] })
  tasks.addMessage(before.id, { id: 'm', role: 'user', parts: [] })
  assert.deepEqual(
    [before.status.state, before.artifacts, before.history], ['submitted', [], []],
  )
  const after = tasks.get('ann', before.id) as Task
  assert.deepEqual(
    [after.status.state, after.artifacts.length, after.history.length],
    ['working', 1, 1],
  )
})

test('a finished task takes nothing more', () => {
  const tasks = tasksWith()
  const { id } = begin(tasks, 'ann')
  tasks.move(id, 'completed', { message: [text('done')] })
  assert.equal(tasks.addMessage(id, { id: 'm', role: 'agent', parts: [] }), false)
  assert.equal(tasks.addArtifact(id, { id: 'a', parts: [] }), false)
  assert.equal(tasks.watch('ann', id, () => {}), undefined)
  const kept = tasks.get('ann', id) as Task
  assert.deepEqual([kept.status.message?.parts, kept.artifacts, kept.history], [[text('done')], [], []])
  assert.equal(tasks.running, 0)
})

test('as many tasks run as may, and finished ones make room', () => {
  const tasks = tasksWith({ maxTasks: 2 })
  const first = begin(tasks, 'ann')
  begin(tasks, 'ann')
  assert.throws(
    () => begin(tasks, 'bob'),
    { kind: 'busy', message: '2 tasks are running already; try again later' },
  )
  tasks.move(first.id, 'canceled')
  begin(tasks, 'bob')
})

test('tasks are listed, the one whose state changed last first', () => {
  const tasks = tasksWith()
  const [a, b, c, d] = Array.from({ length: 4 }, () => begin(tasks, 'ann').id)
  tasks.move(a!, 'completed')
  tasks.move(c!, 'completed')
  assert.deepEqual(idsOf(tasks, 'ann'), [c, a, d, b])
})

test('a finished task is gone when its time is over', (t) => {
  const pass = standingTime(t)
  const tasks = tasksWith({ taskKeepMs: 20 })
  const { id } = begin(tasks, 'ann')
  tasks.move(id, 'completed')
  pass(19)
  assert.ok(tasks.get('ann', id))
  pass(1)
  assert.equal(tasks.get('ann', id), undefined)
})

test('what one owner keeps does not push out what another does', () => {
  const tasks = tasksWith({ maxTasks: 10 })
  const kept = begin(tasks, 'ann').id
  tasks.move(kept, 'completed')
  for (let count = 0; count < 50; count++) tasks.move(begin(tasks, 'bob').id, 'completed')
  assert.ok(tasks.get('ann', kept))
  assert.equal(tasks.finished, 10)
  assert.equal(idsOf(tasks, 'bob').length, 9)
})

test('finished tasks are bounded in bytes', () => {
  const tasks = tasksWith({ maxTasksBytes: 1_000_000 })
  for (let count = 0; count < 100; count++) {
    tasks.move(begin(tasks, 'ann').id, 'completed', { result: 'x'.repeat(50_000) })
  }
  assert.ok(tasks.bytes <= 1_000_000 && tasks.finished > 5 && tasks.finished < 15, String(tasks.finished))
})

/** A piece of an artifact that grows. */
function piece(bytes: number): Artifact {
  return { id: 'p', parts: [{ type: 'text', text: 'x'.repeat(bytes / 2) }] }
}

test('running tasks are bounded in bytes too, and one owner who fills them shuts no other out', () => {
  const tasks = tasksWith({ maxTasksBytes: 1_000_000 })
  const [one, other] = [begin(tasks, 'ann').id, begin(tasks, 'ann').id]
  void tasks.addPiece(one, piece(400_000), false, false)
  void tasks.addArtifact(other, piece(400_000))
  const full = { kind: 'busy', message: 'The tasks of this server hold 1000000 bytes together already' }
  assert.throws(() => tasks.addPiece(one, piece(400_000), true, false), full)
  assert.throws(() => tasks.addArtifact(other, { ...piece(400_000), id: 'q' }), full)
  const message = { id: 'm', role: 'user', parts: piece(400_000).parts } as const
  assert.throws(() => tasks.addMessage(one, message), full)
  assert.ok(tasks.bytes <= 1_000_000)
  const bobs = begin(tasks, 'bob').id
  void tasks.addPiece(bobs, piece(400_000), false, false)
  assert.throws(() => tasks.addPiece(bobs, piece(200_000), true, false), full)
  assert.ok(tasks.bytes <= 1_500_000)
  for (const id of [one, other, bobs]) tasks.move(id, 'completed')
  assert.ok(tasks.bytes <= 1_000_000, String(tasks.bytes))
  assert.equal(tasks.running, 0)
})

test('in one process a task is the object it was, and nothing waits', () => {
  const tasks = tasksWith()
  const { id } = begin(tasks, 'ann')
  const result = { deep: { value: 1 } }
  tasks.move(id, 'completed', { result })
  const task = tasks.get('ann', id)
  assert.ok(task !== undefined && !(task instanceof Promise))
  assert.equal(task.result, result)
})

async function settled(tasks: Tasks): Promise<void> {
  for (let tries = 0; tasks.running > 0 && tries < 500; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

test('in a shared store a task is there before it is promised, and every change after', async () => {
  const store = sharedStore()
  const tasks = tasksWith({}, store)
  const { id } = await tasks.create(seed('ann'))
  assert.ok([...store.entries.keys()].some((key) => key.startsWith('["tasks"')))
  tasks.move(id, 'working')
  tasks.addArtifact(id, { id: 'a', parts: [text('1')] })
  tasks.move(id, 'completed', { result: 'done' })
  await tasks.whenPersisted(id)
  assert.equal(tasks.running, 0)
  const other = tasksWith({}, store)
  const task = await other.get('ann', id)
  assert.deepEqual([task?.status.state, task?.result, task?.artifacts.length], ['completed', 'done', 1])
  assert.equal(await other.get('bob', id), undefined)
  assert.deepEqual((await other.list('ann')).map((one) => one.id), [id])
})

test('a task that cannot be kept is not promised', async () => {
  const store = sharedStore()
  store.failWith(new Error('no room'))
  const tasks = tasksWith({}, store)
  await assert.rejects(async () => tasks.create(seed('ann')), /no room/)
  assert.equal(tasks.running, 0)
})

test('a task that another process has taken is let go, and its run cancelled', async () => {
  const store = sharedStore()
  const tasks = tasksWith({}, store)
  let cancelled = 0
  const run = { onSettled() {}, answer() {}, refuse() {}, cancel() {}, lose() { cancelled++ } }
  const { id } = await tasks.create(seed('ann'), run)
  await store.write({ collection: 'tasks', owner: 'ann', key: id }, '{}', 1_000, 'any')
  tasks.move(id, 'working')
  await settled(tasks)
  assert.deepEqual([cancelled, tasks.running], [1, 0])
})

const AT = '2026-01-01T00:00:00.000Z'

function said(id: string, text = id): TaskMessage {
  return { id, role: 'user', parts: [{ type: 'text', text }] }
}

function task(ids: readonly string[], more: Partial<Task> = {}): Task {
  const seed = {
    id: 't', owner: 'ann', protocol: 'a2a' as const, runnable: { kind: 'agent' as const, name: 'bot' },
    contextId: 'c', sessionId: undefined, ttlMs: undefined, history: ids.map((id) => said(id)),
  }
  return { ...taskOf(seed, AT, { state: 'working', at: AT }), ...more }
}

const kept = (history: readonly TaskMessage[]): string => history.map(({ id }) => id).join('')

test('what the agent says of its state is part of the history once', () => {
  const limits = limitsOf({})
  const status = { state: 'working' as const, at: AT, message: said('s') }
  assert.equal(kept(historyOf(task(['a']), limits)), 'a')
  assert.equal(kept(historyOf(task(['a'], { status }), limits)), 'as')
  assert.equal(kept(historyOf(task(['a', 's', 'b'], { status }), limits)), 'asb')
})

test('the oldest messages make room, but not the one that began the turn, nor the newest', () => {
  const limits = limitsOf({ conversationMessages: 3, maxResultBytes: 10_000 })
  const turn = { messageId: 'a', metadata: undefined, answers: {}, results: {} }
  const full = task(['a', 'b', 'c'])
  assert.equal(kept(historyWith(full, said('d'), limits)), 'bcd')
  assert.equal(kept(historyWith({ ...full, turn }, said('d'), limits)), 'acd')
  assert.equal(kept(historyWith({ ...full, turn: { ...turn, messageId: 'b' } }, said('d'), limits)), 'bcd')
  const large = said('d', 'x'.repeat(10_000))
  assert.equal(kept(historyWith(full, large, limits)), 'd')
  assert.equal(kept(historyWith({ ...full, turn }, large, limits)), 'ad')
})

test('moments rise strictly, however many there are in a millisecond', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 6, 28, 12, 0, 0, 998) })
  const times = new Timeline()
  assert.deepEqual([times.next(), times.next(), times.next(), times.next()], [
    '2026-07-28T12:00:00.998Z', '2026-07-28T12:00:00.999Z', '2026-07-28T12:00:01.000Z',
    '2026-07-28T12:00:01.001Z',
  ])
  t.mock.timers.setTime(Date.UTC(2026, 11, 31, 23, 59, 59, 7))
  assert.equal(times.next(), '2026-12-31T23:59:59.007Z')
})

test('a moment is behind one of another process, which does not move the others', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1) })
  const times = new Timeline()
  assert.equal(times.next('2025-01-01T00:00:00.000Z'), '2026-01-01T00:00:00.000Z')
  assert.equal(times.next('2026-01-01T00:00:09.999Z'), '2026-01-01T00:00:10.000Z')
  assert.equal(times.next(), '2026-01-01T00:00:00.002Z')
})

test('a clock that is set back does not take moments back', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 2) })
  const times = new Timeline()
  const before = times.next()
  t.mock.timers.setTime(Date.UTC(2026, 0, 1))
  assert.ok(times.next() > before)
})
