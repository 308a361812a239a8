import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { Tasks, historyOf, historyWith } from '../../../lib/floors/tasks/tasks.ts'
import { Timeline } from '../../../lib/floors/tasks/timeline.ts'
import { memoryStore } from '../../../lib/floors/memory/memory-store.ts'
import { processNamed, sharedStore, tasksOn } from '../../fixtures/shared-store.ts'
import { standingTime } from '../../fixtures/time.ts'
import { bytesOfMessage } from '../../../lib/floors/tasks/task-record.ts'
import { taskOf } from '../../../lib/floors/tasks/task.ts'
import type { Artifact } from '../../../lib/kernel/define/artifact.ts'
import type {
  RunningTask, Task, TaskChange, TaskEvent, TaskMessage, TaskSeed, TaskState,
} from '../../../lib/floors/tasks/task.ts'
import type { Content, Limits, Store } from '../../../lib/index.ts'

function tasksWith(
  limits: Partial<Limits> = {}, store: Store = memoryStore({ maxEntries: 100, maxBytes: 1e6 }),
): Tasks {
  if (!store.isShared) return new Tasks(limitsOf(limits))
  return tasksOn(store, processNamed('here'), limitsOf(limits))
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
  return (tasks.list(owner) as readonly Task[]).map(({ id }) => id)
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

test('what comes with a state is there at once, and an event of its own for those who watch', () => {
  const tasks = tasksWith({ maxResultBytes: 5_000 })
  const artifact = { id: 'a', parts: [text('done')] }
  const [quiet, watched, full] = Array.from({ length: 3 }, () => begin(tasks, 'ann').id)
  const told: string[] = []
  tasks.watch('ann', watched!, (event, { task }) => {
    told.push(`${event.what} ${task.status.state} ${task.artifacts.length}`)
  })
  for (const id of [quiet!, watched!]) {
    const task = tasks.move(id, 'completed', { artifact })
    assert.deepEqual([task?.status.state, task?.artifacts], ['completed', [artifact]])
    assert.deepEqual(tasks.get('ann', id), task)
  }
  assert.deepEqual(told, ['artifact submitted 1', 'status completed 1'])
  const large = { id: 'a', parts: [text('x'.repeat(10_000))] }
  assert.throws(() => tasks.move(full!, 'completed', { artifact: large }), { kind: 'too-large' })
  const { status: { state }, artifacts } = tasks.get('ann', full!) as Task
  assert.deepEqual([state, artifacts], ['submitted', []])
  assert.equal(tasks.move(full!, 'failed')?.status.state, 'failed')
  assert.equal(tasks.move(full!, 'working'), undefined)
})

/** A run that nobody has looked for yet, and how often somebody has since. */
function unseen(
  tasks: Tasks, owner = 'ann', said = '',
): { readonly id: string; readonly looks: () => number } {
  let looks = 0
  const id = `unseen-${++count}`
  const asked = { ...seed(owner), id, history: [{ id: 'm', role: 'user' as const, parts: [text(said)] }] }
  tasks.runUnseen(asked, () => {
    looks += 1
    void tasks.create(asked, idle)
  })
  return { id, looks: () => looks }
}

let count = 0
const idle: RunningTask = { onSettled() {}, answer() {}, refuse() {}, cancel() {}, lose() {} }

test('a task that runs unseen is counted, and is there for whoever looks', () => {
  const looks: Readonly<Record<string, (tasks: Tasks, id: string) => unknown>> = {
    get: (tasks, id) => (tasks.get('ann', id) as Task).id,
    list: (tasks) => idsOf(tasks, 'ann')[0],
    watch: (tasks, id) => tasks.watch('ann', id, () => {})?.task.id,
    runOf: (tasks, id) => tasks.runOf(id) === idle && id,
    move: (tasks, id) => tasks.move(id, 'canceled')?.id,
  }
  for (const [name, look] of Object.entries(looks)) {
    const tasks = tasksWith()
    const [one, other] = [unseen(tasks), unseen(tasks, 'bob')]
    assert.deepEqual([tasks.running, tasks.finished, tasks.bytes > 2_000], [2, 0, true], name)
    const later = begin(tasks, 'cid')
    assert.equal(look(tasks, one.id), one.id, name)
    assert.deepEqual([one.looks(), other.looks()], [1, 0], name)
    const task = tasks.get('ann', one.id) as Task
    assert.deepEqual([one.looks(), task.createdAt < later.createdAt], [1, true], name)
    assert.equal(tasks.running, name === 'move' ? 2 : 3, name)
  }
})

test('a task that is over before anybody looks is recorded, and nothing of it is left over', () => {
  const tasks = tasksWith()
  const { id, looks } = unseen(tasks)
  const artifacts = [{ id: 'a', parts: [text('done')] }]
  const { createdAt, status } = tasks.record({ ...seed('ann'), id }, {
    state: 'completed', message: undefined, metadata: undefined, artifacts, fault: undefined,
  }, true)
  assert.deepEqual([tasks.running, tasks.finished, looks(), createdAt < status.at], [0, 1, 0, true])
  const { bytes } = tasks
  tasks.drop(id)
  assert.deepEqual([tasks.bytes, bytes > 0], [0, true])
})

test('an unseen task has its place from the beginning, in number and in bytes', () => {
  const tasks = tasksWith({ maxTasks: 3, maxTasksBytes: 80_000 })
  const waiting = begin(tasks, 'ann')
  tasks.move(waiting.id, 'input-required')
  tasks.resume(waiting.id, idle)
  tasks.release(waiting.id, idle)
  const unseens = [unseen(tasks), unseen(tasks, 'ann', 'x'.repeat(10_000))]
  // What waits has a place, too, and is there when its client answers.
  tasks.resume(waiting.id, idle)
  assert.deepEqual([tasks.running, tasks.isFull], [3, true])
  assert.throws(() => tasks.check(), { kind: 'busy' })
  assert.throws(() => unseen(tasks, 'bob'), { kind: 'busy' })
  assert.throws(() => begin(tasks, 'bob'), { kind: 'busy' })
  assert.equal(idsOf(tasks, 'ann').length, 3)
  assert.deepEqual(unseens.map(({ looks }) => looks()), [1, 1])
  for (const { id } of unseens) assert.equal((tasks.get('ann', id) as Task).status.state, 'working')
  assert.equal(tasks.running, 3)
  const wide = tasksWith({ maxTasksBytes: 30_000 })
  unseen(wide, 'ann', 'x'.repeat(10_000))
  assert.throws(() => unseen(wide, 'ann', 'x'.repeat(10_000)), { kind: 'busy' })
})

test('a task with a run works from its beginning, and says on what', () => {
  const tasks = tasksWith()
  const { status } = tasks.create(seed('ann'), idle, [text('on my way')]) as Task
  assert.deepEqual([status.state, status.message?.parts], ['working', [text('on my way')]])
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

test('one that finds no room for its bytes says so, and not that there are too many', () => {
  const tasks = tasksWith({ maxTasksBytes: 10 })
  const noRoom = { kind: 'busy', message: 'The tasks of this server hold 10 bytes together already' }
  assert.throws(() => begin(tasks, 'ann'), noRoom)
  assert.throws(() => tasks.runUnseen({ ...seed('ann'), id: 't-1' }, () => {}), noRoom)
  assert.throws(() => tasks.record(seed('ann'), {
    state: 'completed', message: undefined, metadata: undefined, artifacts: [], fault: undefined,
  }), noRoom)
  assert.equal(tasks.running, 0)
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
  // It is of the one who holds most, and makes room with its end, and not with the next task.
  tasks.move(one, 'completed')
  assert.ok(tasks.bytes <= 1_000_000, String(tasks.bytes))
  for (const id of [other, bobs]) tasks.move(id, 'completed')
  assert.ok(tasks.bytes <= 1_000_000, String(tasks.bytes))
  assert.equal(tasks.running, 0)
})

const large = (length: number): Content => ({ type: 'text', text: 'x'.repeat(length) })

test('what is refused counts for nothing, and what still fits is taken', () => {
  const ways: readonly (readonly [
    what: string, bytes: number, add: (tasks: Tasks, id: string, part: Content) => unknown,
  ])[] = [
    ['a piece', 96, (tasks, id, part) => tasks.addPiece(id, { id: 'a', parts: [part] }, true, false)],
    ['an artifact', 256 + 96, (tasks, id, part) => tasks.addArtifact(id, { id: 'a', parts: [part] })],
  ]
  for (const [what, beside, add] of ways) {
    for (const [kind, limits] of [
      ['too-large', { maxResultBytes: 5_000 }], ['busy', { maxTasksBytes: 10_000 }],
    ] as const) {
      const tasks = tasksWith(limits)
      const { id } = begin(tasks, 'ann')
      const before = tasks.bytes
      const most = (10_000 - before - beside) / 2
      const told: string[] = []
      tasks.watch('ann', id, (event) => { told.push(event.what) })
      for (const length of [most + 1, 100_000]) {
        assert.throws(() => add(tasks, id, large(length)), { kind }, `${what} ${kind}`)
        const { artifacts } = tasks.get('ann', id) as Task
        assert.deepEqual([tasks.bytes, artifacts, told], [before, [], []], `${what} ${kind}`)
      }
      void add(tasks, id, large(most))
      assert.deepEqual([tasks.bytes, told], [10_000, ['artifact']], `${what} ${kind}`)
      assert.throws(() => add(tasks, id, large(most + 1)), { kind }, `${what} ${kind}`)
      assert.equal(tasks.bytes, 10_000)
    }
  }
  const tasks = tasksWith({ maxTasksBytes: 10_000 })
  const { id } = begin(tasks, 'ann')
  const before = tasks.bytes
  const message: TaskMessage = { id: 'm', role: 'user', parts: [large(10_000)] }
  assert.throws(() => tasks.addMessage(id, message), { kind: 'busy' })
  assert.deepEqual([tasks.bytes, (tasks.get('ann', id) as Task).history], [before, []])
})

test('pieces join where text follows text, and all else is as it came', () => {
  const tasks = tasksWith()
  const { id } = begin(tasks, 'ann')
  const flags: unknown[] = []
  tasks.watch('ann', id, (event) => { if (event.what === 'artifact') flags.push([event.append, event.last]) })
  const data: Content = { type: 'data', data: 1 }
  const marked: Content = { type: 'text', text: 'm', _meta: {} }
  const pieces: readonly (readonly [piece: Artifact, append: boolean, last: boolean])[] = [
    [{ id: 'a', name: 'Notes', parts: [text('1')] }, true, false],
    [{ id: 'a', parts: [text('2')] }, true, false],
    [{ id: 'a', parts: [data] }, true, false],
    [{ id: 'a', parts: [text('3')] }, true, false],
    [{ id: 'a', parts: [marked] }, true, false],
    [{ id: 'a', parts: [] }, true, true],
    [{ id: 'b', parts: [text('4')] }, true, false],
    [{ id: 'b', parts: [text('5')] }, false, false],
    [{ id: 'b', parts: [text('6')] }, true, true],
  ]
  for (const [piece, append, last] of pieces) void tasks.addPiece(id, piece, append, last)
  assert.deepEqual((tasks.get('ann', id) as Task).artifacts, [
    { id: 'a', name: 'Notes', parts: [text('12'), data, text('3'), marked] },
    { id: 'b', parts: [text('56')] },
  ])
  const [first, more] = [[false, false], [true, false]]
  assert.deepEqual(flags, [first, more, more, more, more, [true, true], first, first, [true, true]])
  tasks.move(id, 'completed')
  assert.equal(tasks.addPiece(id, { id: 'a', parts: [text('7')] }, true, true), undefined)
  assert.equal(tasks.addPiece('unknown', { id: 'a', parts: [text('7')] }, true, true), undefined)
})

const aRun = (): RunningTask => ({ onSettled() {}, answer() {}, refuse() {}, cancel() {}, lose() {} })

test('a run is given to a task that has none, and taken by itself alone', () => {
  const tasks = tasksWith()
  const { id } = begin(tasks, 'ann')
  const [one, other] = [aRun(), aRun()]
  const counts = (): readonly number[] => [tasks.running, tasks.finished]
  tasks.resume(id, one)
  tasks.resume(id, other)
  assert.deepEqual([tasks.runOf(id), ...counts()], [one, 1, 0])
  tasks.release(id, other)
  assert.deepEqual([tasks.runOf(id), ...counts()], [one, 1, 0])
  tasks.release(id, one)
  assert.deepEqual([tasks.runOf(id), ...counts()], [undefined, 0, 1])
  tasks.resume(id, other)
  assert.deepEqual([tasks.runOf(id), ...counts()], [other, 1, 0])
  tasks.move(id, 'completed')
  assert.deepEqual([tasks.runOf(id), ...counts()], [undefined, 0, 1])
  tasks.resume(id, one)
  tasks.release(id, one)
  assert.deepEqual([tasks.runOf(id), ...counts()], [undefined, 0, 1])
  for (const act of [tasks.resume.bind(tasks), tasks.release.bind(tasks)]) act('unknown', one)
  assert.equal(tasks.runOf('unknown'), undefined)
})

test('of the tasks of an owner that wait, the one whose status changed last makes room last', () => {
  const tasks = tasksWith({ maxTasks: 3 })
  const run = aRun()
  const [one, other] = [begin(tasks, 'ann').id, begin(tasks, 'ann').id]
  for (const id of [one, other]) {
    tasks.move(id, 'input-required')
    tasks.resume(id, run)
    tasks.release(id, run)
  }
  tasks.move(one, 'input-required', { message: [text('Still there?')] })
  for (const owner of ['bob', 'cal']) begin(tasks, owner)
  assert.deepEqual(idsOf(tasks, 'ann'), [one])
})

test('a status has what is said of it, and no member else', () => {
  const tasks = tasksWith()
  const { id } = begin(tasks, 'ann')
  const changes: readonly (readonly [TaskChange, string])[] = [
    [{}, 'state at'],
    [{ message: [text('a')] }, 'state at message'],
    [{ metadata: { a: 1 } }, 'state at metadata'],
    [{ message: [text('a')], metadata: { a: 1 } }, 'state at message metadata'],
  ]
  for (const [change, members] of changes) {
    tasks.move(id, 'working', change)
    const { status } = tasks.get('ann', id) as Task
    assert.equal(Object.keys(status).join(' '), members)
    assert.deepEqual([status.message?.parts, status.metadata], [change.message, change.metadata])
  }
})

test('what a task is kept for changes until it has ended', () => {
  const tasks = tasksWith()
  const { id } = begin(tasks, 'ann')
  const turn = { answers: {}, results: { large: 'x'.repeat(1_000) } }
  const before = tasks.bytes
  tasks.update(id, { turn, isReserved: true })
  const task = tasks.get('ann', id) as Task
  assert.deepEqual([task.turn, task.isReserved], [turn, true])
  assert.ok(tasks.bytes > before + 2_000)
  assert.equal(tasks.isCurrent(task), true)
  assert.equal(tasks.isCurrent({ ...task }), false)
  tasks.move(id, 'completed')
  for (const one of [id, 'unknown']) tasks.update(one, { turn: undefined })
  assert.deepEqual((tasks.get('ann', id) as Task).turn, turn)
})

test('where no processes share a store nothing is waited for', () => {
  const tasks = tasksWith()
  const task = begin(tasks, 'ann')
  assert.equal(tasks.stored, undefined)
  assert.deepEqual([tasks.whenPersisted(task.id), tasks.take(task)], [undefined, undefined])
  const told: string[] = []
  tasks.watch('ann', task.id, ({ what }) => { told.push(what) })
  assert.deepEqual([tasks.drop(task.id), tasks.drop('unknown')], [undefined, undefined])
  assert.deepEqual([tasks.get('ann', task.id), tasks.running, told], [undefined, 0, ['forgotten']])
})

test('who watches what has not ended is told that no more comes, once', () => {
  const tasks = tasksWith()
  const ids = ['working', 'input-required', 'completed'].map((state) => {
    const { id } = begin(tasks, 'ann')
    tasks.move(id, state as TaskState)
    return id
  })
  const told: string[] = []
  for (const [at, id] of ids.entries()) tasks.watch('ann', id, ({ what }) => { told.push(`${at} ${what}`) })
  tasks.stopWatchers()
  tasks.stopWatchers()
  for (const id of ids) tasks.move(id, 'failed')
  assert.deepEqual(told, ['0 forgotten', '1 forgotten'])
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
  assert.equal(kept(historyWith({ ...task(['a', 'a', 'a']), turn }, said('d'), limits)), 'aad')
  assert.equal(kept(historyWith({ ...task(['a', 'a', 'b', 'c']), turn }, said('d'), limits)), 'acd')
  let bytes = 0
  for (const id of ['c', 'd']) bytes += bytesOfMessage(said(id))
  assert.equal(kept(historyWith(full, said('d'), { ...limits, maxResultBytes: bytes })), 'cd')
  assert.equal(kept(historyWith(full, said('d'), { ...limits, maxResultBytes: bytes - 1 })), 'd')
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
