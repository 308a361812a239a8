import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { TaskTable } from '../../../lib/floors/tasks/task-table.ts'
import { taskOf } from '../../../lib/floors/tasks/task.ts'
import { randomUuid } from '../../../lib/kernel/wire/random.ts'
import { standingTime } from '../../fixtures/time.ts'
import { Tasks } from '../../../lib/floors/tasks/tasks.ts'
import type { Task, TaskMessage, TaskState } from '../../../lib/floors/tasks/task.ts'
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
  table.begin(task('a1'))
  for (const id of ['a2', 'a3']) table.markIdle(table.begin(task(id, { state: 'completed' })))
  table.markIdle(table.begin(task('b1', { state: 'input-required', owner: 'bob' })))
  table.begin(task('c1', { owner: 'cid' }))
  assert.deepEqual(gone, ['a2'])
  table.begin(task('c2', { owner: 'cid' }))
  table.begin(task('c3', { owner: 'cid' }))
  assert.deepEqual(gone.toSorted(), ['a2', 'a3', 'b1'])
  assert.equal(table.leased, 4)
  assert.throws(() => table.begin(task('d1')), { kind: 'busy' })
  assert.equal(table.get('d1'), undefined)
})

test('what runs again makes no room any longer', () => {
  const { table, gone } = tableWith({ maxTasks: 1 })
  const record = table.begin(task('a', { state: 'input-required' }))
  table.markIdle(record)
  assert.deepEqual([table.leased, table.idle], [0, 1])
  table.markActive(record)
  table.markActive(record)
  assert.deepEqual([table.leased, table.idle], [1, 0])
  assert.throws(() => table.begin(task('b')), { kind: 'busy' })
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
  table.markIdle(table.begin(task('a', { state: 'input-required' })))
  pass(29)
  assert.equal(table.get('a')?.task.id, 'a')
  assert.deepEqual([...table.tasksOf('ann')].length, 1)
  pass(1)
  assert.deepEqual([...table.tasksOf('ann')], [])
  assert.equal(table.get('a'), undefined)
  assert.deepEqual([gone, table.idle, table.bytes], [['a'], 0, 0])
})

test('tasks are bounded in bytes too, as they grow', () => {
  const { table, gone } = tableWith({ maxTasksBytes: 100_000 })
  table.markIdle(table.begin(task('a', { state: 'completed', text: 'x'.repeat(20_000) })))
  const record = table.begin(task('b'))
  assert.deepEqual(gone, [])
  table.change(record, task('b', { text: 'x'.repeat(40_000) }))
  assert.deepEqual(gone, ['a'])
  assert.ok(table.bytes > 80_000 && table.bytes < 100_000, String(table.bytes))
  assert.throws(() => table.begin(task('c', { text: 'x'.repeat(20_000) })), { kind: 'busy' })
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
  assert.deepEqual([table.leased, table.idle], [0, 3])
  assert.deepEqual(table.tasksOf('ann'), tasks.toReversed())
  pass(2_000)
  assert.deepEqual(table.get(tasks[1]!.id)?.task, tasks[1])
  assert.equal(table.get(tasks[1]!.id), table.get(tasks[1]!.id))
  assert.deepEqual(table.tasksOf('ann'), tasks.toReversed())
  assert.deepEqual([table.leased, table.idle, table.tasksOf('bob')], [0, 3, []])
  pass(1_000)
  assert.deepEqual(table.tasksOf('ann'), [])
  for (const { id } of tasks) assert.equal(table.get(id), undefined)
  table.addEnded(plain(3, 'bob'))
  assert.deepEqual([table.leased, table.idle], [0, 1])
  assert.ok(gone.includes(tasks[1]!.id))
})

test('what has expired goes as something comes, at that very moment and none before', (t) => {
  const pass = standingTime(t)
  const ways: readonly (readonly [what: string, come: (table: TaskTable) => unknown])[] = [
    ['one that runs', (table) => table.begin(task('b', { owner: 'bob' }))],
    ['one that is over', (table) => table.addEnded(plain(9, 'bob'))],
  ]
  for (const [what, come] of ways) {
    for (const passedMs of [1_999, 2_000]) {
      const { table, gone } = tableWith({ taskKeepMs: 3_000, waitingTaskKeepMs: 3_000 })
      const read = plain(1)
      for (const one of [plain(0), read]) table.addEnded(one)
      table.markIdle(table.begin(task('waits', { state: 'input-required' })))
      pass(1_000)
      // It is as old as it was.
      assert.ok(table.get(read.id))
      pass(passedMs)
      const before = table.idle
      come(table)
      const left = (passedMs === 2_000 ? 0 : before) + (what === 'one that runs' ? 0 : 1)
      assert.deepEqual([before, table.idle, gone.length], [3, left, passedMs === 2_000 ? 3 : 0], what)
    }
  }
})

test('a task that waits for long keeps none that is over longer than its time', (t) => {
  const pass = standingTime(t)
  const { table, gone } = tableWith({ taskKeepMs: 2_000, waitingTaskKeepMs: 9_000 })
  table.markIdle(table.begin(task('waits', { state: 'input-required' })))
  table.addEnded({ ...plain(1), id: 'over' })
  pass(2_000)
  assert.deepEqual([table.tasksOf('ann').map(({ id }) => id), gone], [['waits'], ['over']])
})

test('a list has what is over, waits and runs in the order of their states', () => {
  const { table } = tableWith({})
  const tasks = Array.from({ length: 6 }, (_, at) => plain(at))
  for (const [at, one] of tasks.entries()) {
    if (at % 3 === 0) table.addEnded(one)
    else if (at % 3 === 1) table.begin(one)
    else table.markIdle(table.begin(one))
  }
  assert.deepEqual(table.tasksOf('ann'), tasks.toReversed())
})

test('tasks that are over make room for what runs, and find none where all else does', () => {
  const { table } = tableWith({ maxTasks: 2 })
  for (const at of [0, 1, 2]) table.addEnded(plain(at))
  assert.equal(table.tasksOf('ann').length, 2)
  table.begin(task('b1', { owner: 'bob' }))
  table.begin(task('b2', { owner: 'bob' }))
  assert.deepEqual([table.leased, table.idle], [2, 0])
  assert.throws(() => table.addEnded(plain(3)), { kind: 'busy' })
  assert.deepEqual([table.leased, table.idle], [2, 0])
})

test('a task that grew while it ran makes room when it is over, and may be the one that goes', () => {
  const { table, gone } = tableWith({ maxTasksBytes: 10_000 })
  const record = table.begin(task('a'))
  assert.equal(table.change(record, task('a', { state: 'completed', text: 'x'.repeat(9_000) })), false)
  table.markIdle(record)
  assert.deepEqual(gone, [])
  table.settle()
  assert.deepEqual([gone, table.bytes], [['a'], 0])
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


test('a task that was over at once is read as it was told, as often as somebody does', async () => {
  const tasks = new Tasks(limitsOf({}))
  const seeds = [
    { ...basic, id: randomUuid() }, { ...basic, id: randomUuid(), tenant: 'x' }, { ...basic, id: 'short' },
    { ...basic, id: randomUuid(), history: [{ ...said, parts: [words('€'.repeat(1_000))] }] },
  ]
  const told = seeds.map((seed) => tasks.record(seed, {
    state: 'completed', message: undefined, artifacts: basic.artifacts, fault: undefined,
  }))
  assert.deepEqual(await tasks.list('ann'), told.toReversed())
  assert.deepEqual(tasks.list('bob'), [])
  for (const task of told) {
    assert.deepEqual(tasks.get('ann', task.id), task)
    assert.equal(tasks.get('ann', task.id), tasks.get('ann', task.id))
    assert.equal(tasks.get('bob', task.id), undefined)
    assert.equal(tasks.move(task.id, 'working'), undefined)
    assert.equal(tasks.watch('ann', task.id, () => {}), undefined)
  }
  assert.deepEqual(await tasks.list('ann'), told.toReversed())
  assert.deepEqual([tasks.finished, tasks.running], [told.length, 0])
})

test('a task that took its time is read as it was told, too', async () => {
  const tasks = new Tasks(limitsOf({}))
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
  assert.deepEqual(await tasks.list('ann'), told.toReversed())
  assert.deepEqual([tasks.finished, tasks.running], [told.length, 0])
})
