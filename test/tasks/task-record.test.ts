import assert from 'node:assert/strict'
import test from 'node:test'
import { TaskRecord } from '../../lib/tasks/task-record.ts'
import { taskOf } from '../../lib/tasks/task-seed.ts'
import type { Artifact } from '../../lib/define/artifact.ts'

const AT = '2026-01-01T00:00:00.000Z'

function placeWith(artifacts: readonly Artifact[]): TaskRecord {
  return new TaskRecord(taskOf({
    id: 't', owner: 'ann', protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, contextId: 'c',
    sessionId: undefined, ttlMs: undefined,
  }, AT, { state: 'working', at: AT }, artifacts), undefined, 0)
}

const artifact = (id: string, text: string): Artifact => ({ id, parts: [{ type: 'text', text }] })

test('a text that goes on is joined when the task is read, and a task that was read stays as it was', () => {
  const place = placeWith([artifact('a', 'One')])
  const before = place.task
  place.grow('a', ' two')
  place.grow('a', ' three')
  assert.deepEqual(place.task.artifacts, [artifact('a', 'One two three')])
  assert.equal(place.task, place.task)
  assert.deepEqual(before.artifacts, [artifact('a', 'One')])
  place.grow('a', ' four')
  assert.deepEqual(place.task.artifacts, [artifact('a', 'One two three four')])
})

test('texts of several artifacts go on by turns', () => {
  const place = placeWith([artifact('a', 'A'), artifact('b', 'B')])
  for (const [id, more] of [['a', '1'], ['b', '2'], ['b', '3'], ['a', '4']] as const) place.grow(id, more)
  assert.deepEqual(place.task.artifacts, [artifact('a', 'A14'), artifact('b', 'B23')])
})

test('text behind what is no text is a part of its own', () => {
  const data = { type: 'data', data: 1 } as const
  const place = placeWith([{ id: 'a', parts: [data] }])
  place.grow('a', 'and ')
  place.grow('a', 'more')
  assert.deepEqual(place.task.artifacts[0]!.parts, [data, { type: 'text', text: 'and more' }])
})

test('a task that takes the place of another has nothing of what was put aside', () => {
  const place = placeWith([artifact('a', 'A')])
  const { task } = place
  place.grow('a', '1')
  place.task = { ...task, contextId: 'd' }
  assert.deepEqual([place.task.contextId, place.task.artifacts], ['d', [artifact('a', 'A')]])
  assert.deepEqual(['a', 'b'].map((id) => place.holds(id)), [true, false])
})

test('all who watch are told, and only where each is behind there is something to wait for', async () => {
  const place = placeWith([])
  const told: string[] = []
  assert.equal(place.tell({ what: 'forgotten' }), undefined)
  place.watchers = [() => { told.push('first') }]
  assert.equal(place.tell({ what: 'forgotten' }), undefined)
  place.watchers = [...place.watchers, () => {
    told.push('second')
    return Promise.resolve()
  }]
  assert.equal(place.tell({ what: 'forgotten' }), undefined)
  place.watchers = [() => Promise.resolve(), () => new Promise<void>(() => {})]
  await place.tell({ what: 'forgotten' })
  assert.deepEqual(told, ['first', 'first', 'second'])
})
