import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { TaskTable, PLAIN_TEXTS, plainOf, taskOfPlain } from '../../../lib/floors/tasks/task-table.ts'
import { taskOf, wholeTask } from '../../../lib/floors/tasks/task.ts'
import { randomUuid } from '../../../lib/kernel/wire/random.ts'
import { standingTime } from '../../fixtures/time.ts'
import { Tasks } from '../../../lib/floors/tasks/tasks.ts'
import { memoryStore } from '../../../lib/floors/memory/memory-store.ts'
import type { Task, TaskState, TaskMessage } from '../../../lib/floors/tasks/task.ts'
import type { Limits } from '../../../lib/index.ts'
import type { Content } from '../../../lib/kernel/define/content.ts'

interface Bounded { readonly table: TaskTable; readonly gone: readonly string[] }

function tableWith(limits: Partial<Limits>): Bounded {
  const gone: string[] = []
  return { table: new TaskTable(limitsOf(limits), ({ task }) => gone.push(task.id)), gone }
}

const AT = '2026-01-01T00:00:00.000Z'

function task(
  id: string, more: { state?: TaskState; owner?: string; ttlMs?: number; text?: string } = {},
): Task {
  const { state = 'working', owner = 'ann', ttlMs, text = '' } = more
  return taskOf({
    id, owner, protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, contextId: 'c',
    sessionId: undefined, ttlMs, history: [{ id: 'm', role: 'user', parts: [{ type: 'text', text }] }],
  }, AT, { state, at: AT })
}

test('what runs never makes room, what rests does, of whoever has most', () => {
  const { table, gone } = tableWith({ maxTasks: 4 })
  table.add(task('a1'), undefined, 0)
  for (const id of ['a2', 'a3']) table.markIdle(table.add(task(id, { state: 'completed' }), undefined, 0))
  table.markIdle(table.add(task('b1', { state: 'input-required', owner: 'bob' }), undefined, 0))
  table.add(task('c1', { owner: 'cid' }), undefined, 0)
  assert.deepEqual(gone, ['a2'])
  table.add(task('c2', { owner: 'cid' }), undefined, 0)
  table.add(task('c3', { owner: 'cid' }), undefined, 0)
  assert.deepEqual(gone.toSorted(), ['a2', 'a3', 'b1'])
  assert.equal(table.running, 4)
  assert.throws(() => table.check(), { kind: 'busy' })
  assert.throws(() => table.add(task('d1'), undefined, 0), { kind: 'busy' })
  assert.equal(table.find('d1'), undefined)
})

test('what runs again makes no room any longer', () => {
  const { table, gone } = tableWith({ maxTasks: 1 })
  const record = table.add(task('a', { state: 'input-required' }), undefined, 0)
  table.markIdle(record)
  assert.deepEqual([table.running, table.idle], [0, 1])
  table.check()
  table.markActive(record)
  table.markActive(record)
  assert.deepEqual([table.running, table.idle], [1, 0])
  assert.throws(() => table.add(task('b'), undefined, 0), { kind: 'busy' })
  assert.deepEqual(gone, [])
})

test('a task that rests is kept for a time: of its end, of its client, of its waiting', (t) => {
  const pass = standingTime(t)
  const limits = { taskKeepMs: 100_000, waitingTaskKeepMs: 30 }
  const kept: readonly (readonly [more: Parameters<typeof task>[1], keepMs: number])[] = [
    [{ state: 'completed' }, 100_000],
    [{ state: 'canceled' }, 100_000],
    [{ state: 'input-required' }, 30],
    [{ state: 'auth-required' }, 30],
    [{ state: 'working' }, Infinity],
    [{ state: 'completed', ttlMs: 1 }, 60_000],
    [{ state: 'completed', ttlMs: 70_000 }, 70_000],
    [{ state: 'completed', ttlMs: 1e9 }, 100_000],
  ]
  for (const [more, keepMs] of kept) {
    assert.equal(tableWith(limits).table.keepMs(task('a', more)), keepMs, JSON.stringify(more))
  }
  const { table, gone } = tableWith(limits)
  table.markIdle(table.add(task('a', { state: 'input-required' }), undefined, 0))
  pass(29)
  assert.equal(table.find('a')?.task.id, 'a')
  assert.deepEqual([...table.of('ann')].length, 1)
  pass(1)
  assert.deepEqual([...table.of('ann')], [])
  assert.equal(table.find('a'), undefined)
  assert.deepEqual([gone, table.idle, table.bytes], [['a'], 0, 0])
})

test('tasks are bounded in bytes too, as they grow', () => {
  const { table, gone } = tableWith({ maxTasksBytes: 100_000 })
  table.markIdle(table.add(task('a', { state: 'completed', text: 'x'.repeat(20_000) }), undefined, 0))
  const record = table.add(task('b'), undefined, 0)
  assert.deepEqual(gone, [])
  table.change(record, task('b', { text: 'x'.repeat(40_000) }))
  assert.deepEqual(gone, ['a'])
  assert.ok(table.bytes > 80_000 && table.bytes < 100_000, String(table.bytes))
  assert.throws(() => table.add(task('c', { text: 'x'.repeat(20_000) }), undefined, 0), { kind: 'busy' })
})

/** A task of a text asked and a text answered. */
function plain(at: number, owner = 'ann'): Task {
  const artifacts = [{ id: 'a', parts: [{ type: 'text' as const, text: 'answered' }] }]
  const time = new Date(Date.parse(AT) + at).toISOString()
  const made = task(randomUuid(), { state: 'completed', owner, text: 'asked' })
  return { ...made, artifacts, createdAt: time, status: { state: 'completed', at: time } }
}

test('a task that is over is listed and found as it was, and kept for its time', (t) => {
  const pass = standingTime(t)
  const { table, gone } = tableWith({ taskKeepMs: 3_000 })
  const tasks = [0, 1, 2].map((at) => plain(at))
  for (const one of tasks) table.addEnded(one)
  assert.deepEqual([table.running, table.idle], [0, 3])
  assert.deepEqual(table.of('ann').map(wholeTask), tasks.toReversed())
  pass(2_000)
  assert.deepEqual(table.find(tasks[1]!.id)?.task, tasks[1])
  assert.equal(table.find(tasks[1]!.id), table.find(tasks[1]!.id))
  assert.deepEqual(table.of('ann').map(wholeTask), tasks.toReversed())
  assert.deepEqual([table.running, table.idle, table.of('bob')], [0, 3, []])
  pass(1_000)
  assert.deepEqual(table.of('ann'), [])
  for (const { id } of tasks) assert.equal(table.find(id), undefined)
  table.addEnded(plain(3, 'bob'))
  assert.deepEqual([table.running, table.idle], [0, 1])
  assert.ok(gone.includes(tasks[1]!.id))
})

test('what has expired goes as something comes, at that very moment and none before', (t) => {
  const pass = standingTime(t)
  const ways: readonly (readonly [what: string, come: (table: TaskTable) => unknown])[] = [
    ['one that runs', (table) => table.add(task('b', { owner: 'bob' }), undefined, 0)],
    ['one that is over, as texts', (table) => table.addEnded(plain(9, 'bob'))],
    ['one that is over, and more', (table) => table.addEnded({ ...plain(9, 'bob'), tenant: 'x' })],
  ]
  for (const [what, come] of ways) {
    for (const passedMs of [1_999, 2_000]) {
      const { table, gone } = tableWith({ taskKeepMs: 3_000, waitingTaskKeepMs: 3_000 })
      const read = plain(2)
      for (const one of [plain(0), { ...plain(1), id: 'whole', tenant: 'x' }, read]) table.addEnded(one)
      table.markIdle(table.add(task('waits', { state: 'input-required' }), undefined, 0))
      pass(1_000)
      // It is as old as it was.
      assert.ok(table.find(read.id))
      pass(passedMs)
      const before = table.idle
      come(table)
      const isOver = passedMs === 2_000
      const left = (isOver ? 0 : before) + (what === 'one that runs' ? 0 : 1)
      assert.deepEqual([before, table.idle], [4, left], `${what} ${passedMs}`)
      assert.deepEqual(gone.toSorted(), isOver ? [read.id, 'waits', 'whole'].toSorted() : [], what)
    }
  }
})

test('texts that have expired are looked for once a second, and listed no longer before that', (t) => {
  const pass = standingTime(t)
  const { table } = tableWith({ taskKeepMs: 600 })
  const counts: (readonly number[])[] = []
  for (const passedMs of [2_000, 600, 399, 1]) {
    pass(passedMs)
    table.addEnded(plain(counts.length))
    counts.push([table.idle, table.of('ann').length])
  }
  assert.deepEqual(counts, [[1, 1], [2, 1], [3, 2], [3, 3]])
})

test('a list has what is texts and what is not in the order of their states', () => {
  const { table } = tableWith({})
  const tasks = Array.from({ length: 6 }, (_, at) => plain(at))
  for (const [at, one] of tasks.entries()) {
    if (at % 3 === 0) table.addEnded(one)
    else table.markIdle(table.add({ ...one, sessionId: 'more' }, undefined, 0))
  }
  const order = (): readonly string[] => table.of('ann').map(({ id }) => id)
  const ids = tasks.map(({ id }) => id).toReversed()
  assert.deepEqual(order(), ids)
  // Read, it is no text any more, and stands where it stood.
  table.find(tasks[0]!.id)
  assert.deepEqual(order(), ids)
  const [last, first] = [table.of('ann')[0], table.of('ann')[2]]
  assert.deepEqual([last?.sessionId, first?.sessionId, first?.contextId, wholeTask(first!).status], [
    'more', undefined, tasks[3]!.contextId, tasks[3]!.status,
  ])
})

test('tasks that are over make room for what runs, and find none where all else does', () => {
  const { table } = tableWith({ maxTasks: 2 })
  for (const at of [0, 1, 2]) table.addEnded(plain(at))
  assert.equal(table.of('ann').length, 2)
  table.add(task('b1', { owner: 'bob' }), undefined, 0)
  table.add(task('b2', { owner: 'bob' }), undefined, 0)
  assert.deepEqual([table.running, table.idle], [2, 0])
  assert.throws(() => table.addEnded(plain(3)), { kind: 'busy' })
  assert.deepEqual([table.running, table.idle], [2, 0])
})

test('a task that is over is kept as texts where these say all of it, and otherwise as it is', () => {
  const { table, gone } = tableWith({})
  const parts = [{ type: 'text', text: 'answered' }] as const
  const over = { ...task(randomUuid(), { state: 'completed' }), artifacts: [{ id: 'a', parts }] }
  const more = { ...over, id: randomUuid(), tenant: 'x' }
  const [plain, whole] = [over, more].map((one) => table.add(one, undefined, 0))
  for (const record of [plain, whole]) {
    table.markIdle(record!)
    table.settle(record!)
  }
  assert.deepEqual([plain!.slot, table.idle, table.running], [undefined, 2, 0])
  assert.equal(table.find(more.id), whole)
  assert.deepEqual(table.find(over.id)?.task, over)
  assert.deepEqual(gone, [over.id])
})

const NOW = '2026-07-28T12:00:00.000Z'
const words = (text: string): Content => ({ type: 'text', text })
const said: TaskMessage = { id: 'm', role: 'user', parts: [words('asked')] }
const basic: Task = {
  id: 't', owner: 'ann', protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, isReserved: false,
  tenant: undefined, contextId: 'c', sessionId: undefined, createdAt: NOW, ttlMs: undefined,
  status: { state: 'completed', at: NOW }, artifacts: [{ id: 'a', parts: [words('answered')] }],
  history: [said], questions: [], turn: undefined, result: undefined, fault: undefined,
}

test('a task of a text asked and a text answered comes out as it went in', () => {
  for (const task of [basic, { ...basic, createdAt: '2026-07-28T11:00:00.000Z' }]) {
    const kept = plainOf(task)
    assert.ok(kept !== undefined)
    assert.equal(kept.length, PLAIN_TEXTS)
    assert.deepEqual(taskOfPlain('t', 'ann', basic, kept), task)
  }
})

const more: readonly (readonly [what: string, more: Partial<Task>])[] = [
  ['that has failed', { status: { state: 'failed', at: NOW } }],
  ['that says something of its end', { status: { state: 'completed', at: NOW, message: said } }],
  ['of a process', { node: 'n' }],
  ['that is reserved', { isReserved: true }],
  ['of a tenant', { tenant: 'x' }],
  ['of a session', { sessionId: 's' }],
  ['with a time to live', { ttlMs: 1 }],
  ['that is kept for another run', { turn: { answers: {}, results: {} } }],
  ['with a result', { result: null }],
  ['with a fault', { fault: { kind: 'failed', message: 'x' } }],
  ['with a question', { questions: [{ key: 'k', question: { what: 'roots' } }] }],
  ['without an artifact', { artifacts: [] }],
  ['with two artifacts', { artifacts: [...basic.artifacts, { id: 'b', parts: [] }] }],
  ['with a named artifact', { artifacts: [{ ...basic.artifacts[0]!, name: 'n' }] }],
  ['with a described artifact', { artifacts: [{ ...basic.artifacts[0]!, description: 'd' }] }],
  ['with a marked artifact', { artifacts: [{ ...basic.artifacts[0]!, metadata: {} }] }],
  ['with an extended artifact', { artifacts: [{ ...basic.artifacts[0]!, extensions: [] }] }],
  ['with an empty artifact', { artifacts: [{ id: 'a', parts: [] }] }],
  ['with two parts', { artifacts: [{ id: 'a', parts: [words('1'), words('2')] }] }],
  ['with data', { artifacts: [{ id: 'a', parts: [{ type: 'data', data: 1 }] }] }],
  ['with a marked text', { artifacts: [{ id: 'a', parts: [{ type: 'text', text: '', _meta: {} }] }] }],
  ['without a history', { history: [] }],
  ['with a longer history', { history: [said, said] }],
  ['that an agent began', { history: [{ ...said, role: 'agent' }] }],
  ['with a marked message', { history: [{ ...said, metadata: {} }] }],
  ['with an extended message', { history: [{ ...said, extensions: [] }] }],
  ['that speaks of another', { history: [{ ...said, referenceTaskIds: [] }] }],
  ['with a message of two parts', { history: [{ ...said, parts: [words('1'), words('2')] }] }],
  ['with an annotated text', {
    history: [{ ...said, parts: [{ type: 'text', text: '', annotations: { priority: 1 } }] }],
  }],
]

for (const [what, members] of more) {
  test(`a task ${what} is more than that`, () => {
    assert.equal(plainOf({ ...basic, ...members }), undefined)
  })
}

async function listed(tasks: Tasks, owner: string): Promise<readonly Task[]> {
  return (await tasks.list(owner)).map(wholeTask)
}

test('a task that was over at once is read as it was told, as often as somebody does', async () => {
  const tasks = new Tasks(limitsOf({}), memoryStore(), () => {})
  const seeds = [
    { ...basic, id: randomUuid() }, { ...basic, id: randomUuid(), tenant: 'x' }, { ...basic, id: 'short' },
    { ...basic, id: randomUuid(), history: [{ ...said, parts: [words('€'.repeat(1_000))] }] },
  ]
  const told = seeds.map((seed) => tasks.record(seed, {
    state: 'completed', message: undefined, artifacts: basic.artifacts, fault: undefined,
  }))
  assert.deepEqual(await listed(tasks, 'ann'), told.toReversed())
  assert.deepEqual(tasks.list('bob'), [])
  for (const task of told) {
    assert.deepEqual(tasks.get('ann', task.id), task)
    assert.equal(tasks.get('ann', task.id), tasks.get('ann', task.id))
    assert.equal(tasks.get('bob', task.id), undefined)
    assert.equal(tasks.move(task.id, 'working'), false)
    assert.equal(tasks.watch('ann', task.id, () => {}), undefined)
  }
  assert.deepEqual(await listed(tasks, 'ann'), told.toReversed())
  assert.deepEqual([tasks.finished, tasks.running], [told.length, 0])
})

test('a task that took its time is read as it was told, too', async () => {
  const tasks = new Tasks(limitsOf({}), memoryStore(), () => {})
  const seeds = [{}, { tenant: 'x' }, { id: 'short' }, { history: [] }]
  const told: Task[] = []
  for (const more of seeds) {
    const { id } = await tasks.create({ ...basic, id: randomUuid(), ...more })
    const heard: unknown[] = []
    tasks.watch('ann', id, (event, { task }) => void heard.push([event, task]))
    tasks.move(id, 'working')
    for (const piece of ['€ 1, ', 'two, ', 'three']) {
      void tasks.addPiece(id, { id: 'a', parts: [words(piece)] }, true, false)
    }
    tasks.move(id, 'completed')
    const task = await tasks.get('ann', id)
    assert.ok(task !== undefined)
    assert.deepEqual(task.artifacts, [{ id: 'a', parts: [words('€ 1, two, three')] }])
    assert.deepEqual(heard.at(-1), [{ what: 'status', status: task.status }, task])
    told.push(task)
  }
  assert.deepEqual(await listed(tasks, 'ann'), told.toReversed())
  assert.deepEqual([tasks.finished, tasks.running], [told.length, 0])
})

test('what counts for more as texts stays as it is', async () => {
  // 3 bytes in UTF-8 and one character each, which is 4 among texts and 2 in a task.
  const answered = '€'.repeat(10_000)
  const tasks = new Tasks(limitsOf({ maxTasksBytes: 30_000 }), memoryStore(), () => {})
  const { id } = await tasks.create({ ...basic, id: randomUuid() })
  tasks.move(id, 'working')
  void tasks.addArtifact(id, { id: 'a', parts: [words(answered)] })
  tasks.move(id, 'completed')
  const task = await tasks.get('ann', id)
  assert.deepEqual(task?.artifacts, [{ id: 'a', parts: [words(answered)] }])
  assert.ok(tasks.bytes <= 30_000)
})
