import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../lib/define/limits.ts'
import { TaskTable } from '../../lib/tasks/task-table.ts'
import { taskOf } from '../../lib/tasks/task-seed.ts'
import { randomUuid } from '../../lib/wire/random.ts'
import { standingTime } from '../fixtures/time.ts'
import type { Task, TaskState } from '../../lib/tasks/task.ts'
import type { Limits } from '../../lib/index.ts'

interface Places { readonly places: TaskTable; readonly gone: readonly string[] }

function placesWith(limits: Partial<Limits>): Places {
  const gone: string[] = []
  return { places: new TaskTable(limitsOf(limits), ({ task }) => gone.push(task.id)), gone }
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
  const { places, gone } = placesWith({ maxTasks: 4 })
  places.add(task('a1'), undefined, 0)
  for (const id of ['a2', 'a3']) places.rest(places.add(task(id, { state: 'completed' }), undefined, 0))
  places.rest(places.add(task('b1', { state: 'input-required', owner: 'bob' }), undefined, 0))
  places.add(task('c1', { owner: 'cid' }), undefined, 0)
  assert.deepEqual(gone, ['a2'])
  places.add(task('c2', { owner: 'cid' }), undefined, 0)
  places.add(task('c3', { owner: 'cid' }), undefined, 0)
  assert.deepEqual(gone.toSorted(), ['a2', 'a3', 'b1'])
  assert.equal(places.running, 4)
  assert.throws(() => places.check(), { kind: 'busy' })
  assert.throws(() => places.add(task('d1'), undefined, 0), { kind: 'busy' })
  assert.equal(places.find('d1'), undefined)
})

test('what runs again makes no room any longer', () => {
  const { places, gone } = placesWith({ maxTasks: 1 })
  const place = places.add(task('a', { state: 'input-required' }), undefined, 0)
  places.rest(place)
  assert.deepEqual([places.running, places.idle], [0, 1])
  places.check()
  places.wake(place)
  places.wake(place)
  assert.deepEqual([places.running, places.idle], [1, 0])
  assert.throws(() => places.add(task('b'), undefined, 0), { kind: 'busy' })
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
    assert.equal(placesWith(limits).places.keepMs(task('a', more)), keepMs, JSON.stringify(more))
  }
  const { places, gone } = placesWith(limits)
  places.rest(places.add(task('a', { state: 'input-required' }), undefined, 0))
  pass(29)
  assert.equal(places.find('a')?.task.id, 'a')
  assert.deepEqual([...places.of('ann')].length, 1)
  pass(1)
  assert.deepEqual([...places.of('ann')], [])
  assert.equal(places.find('a'), undefined)
  assert.deepEqual([gone, places.idle, places.bytes], [['a'], 0, 0])
})

test('tasks are bounded in bytes too, as they grow', () => {
  const { places, gone } = placesWith({ maxTasksBytes: 100_000 })
  places.rest(places.add(task('a', { state: 'completed', text: 'x'.repeat(20_000) }), undefined, 0))
  const place = places.add(task('b'), undefined, 0)
  assert.deepEqual(gone, [])
  places.change(place, task('b', { text: 'x'.repeat(40_000) }))
  assert.deepEqual(gone, ['a'])
  assert.ok(places.bytes > 80_000 && places.bytes < 100_000, String(places.bytes))
  assert.throws(() => places.add(task('c', { text: 'x'.repeat(20_000) }), undefined, 0), { kind: 'busy' })
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
  const { places, gone } = placesWith({ taskKeepMs: 3_000 })
  const tasks = [0, 1, 2].map((at) => plain(at))
  for (const one of tasks) places.keep(one)
  assert.deepEqual([places.running, places.idle], [0, 3])
  assert.deepEqual(places.of('ann').map((one) => one.task), tasks.toReversed())
  pass(2_000)
  assert.deepEqual(places.find(tasks[1]!.id)?.task, tasks[1])
  assert.equal(places.find(tasks[1]!.id), places.find(tasks[1]!.id))
  assert.deepEqual(places.of('ann').map((one) => one.task), tasks.toReversed())
  assert.deepEqual([places.running, places.idle, places.of('bob')], [0, 3, []])
  pass(1_000)
  assert.deepEqual(places.of('ann'), [])
  for (const { id } of tasks) assert.equal(places.find(id), undefined)
  places.keep(plain(3, 'bob'))
  assert.deepEqual([places.running, places.idle], [0, 1])
  assert.ok(gone.includes(tasks[1]!.id))
})

test('a list has what is texts and what is not in the order of their states', () => {
  const { places } = placesWith({})
  const tasks = Array.from({ length: 6 }, (_, at) => plain(at))
  for (const [at, one] of tasks.entries()) {
    if (at % 3 === 0) places.keep(one)
    else places.rest(places.add({ ...one, sessionId: 'more' }, undefined, 0))
  }
  const order = (): readonly string[] => places.of('ann').map(({ id }) => id)
  const ids = tasks.map(({ id }) => id).toReversed()
  assert.deepEqual(order(), ids)
  // Read, it is no text any more, and stands where it stood.
  places.find(tasks[0]!.id)
  assert.deepEqual(order(), ids)
  const [last, first] = [places.of('ann')[0], places.of('ann')[2]]
  assert.deepEqual([last?.sessionId, first?.sessionId, first?.contextId, first?.task.status], [
    'more', undefined, tasks[3]!.contextId, tasks[3]!.status,
  ])
})

test('tasks that are over make room for what runs, and find none where all else does', () => {
  const { places } = placesWith({ maxTasks: 2 })
  for (const at of [0, 1, 2]) places.keep(plain(at))
  assert.equal(places.of('ann').length, 2)
  places.add(task('b1', { owner: 'bob' }), undefined, 0)
  places.add(task('b2', { owner: 'bob' }), undefined, 0)
  assert.deepEqual([places.running, places.idle], [2, 0])
  assert.throws(() => places.keep(plain(3)), { kind: 'busy' })
  assert.deepEqual([places.running, places.idle], [2, 0])
})

test('a task that is over is kept as texts where these say all of it, and otherwise as it is', () => {
  const { places, gone } = placesWith({})
  const parts = [{ type: 'text', text: 'answered' }] as const
  const over = { ...task(randomUuid(), { state: 'completed' }), artifacts: [{ id: 'a', parts }] }
  const more = { ...over, id: randomUuid(), tenant: 'x' }
  const [plain, whole] = [over, more].map((one) => places.add(one, undefined, 0))
  for (const place of [plain, whole]) {
    places.rest(place!)
    places.settle(place!)
  }
  assert.deepEqual([plain!.slot, places.idle, places.running], [undefined, 2, 0])
  assert.equal(places.find(more.id), whole)
  assert.deepEqual(places.find(over.id)?.task, over)
  assert.deepEqual(gone, [over.id])
})
