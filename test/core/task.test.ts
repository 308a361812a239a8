import assert from 'node:assert/strict'
import test from 'node:test'
import { isFinished, mayFollow } from '../../lib/core/task.ts'
import type { TaskState } from '../../lib/core/task.ts'

const states: readonly TaskState[] = [
  'submitted', 'working', 'input-required', 'auth-required', 'completed', 'failed', 'canceled', 'rejected',
]

test('nothing follows an end, and every other state can end in each way', () => {
  const ends = states.filter(isFinished)
  assert.deepEqual(ends, ['completed', 'failed', 'canceled', 'rejected'])
  for (const state of states) {
    for (const end of ends) assert.equal(mayFollow(state, end), !isFinished(state), `${state} to ${end}`)
    if (isFinished(state)) assert.deepEqual(states.filter((next) => mayFollow(state, next)), [])
  }
})

test('a task that waits goes on working, and one that works may wait again', () => {
  for (const waiting of ['input-required', 'auth-required'] as const) {
    assert.ok(mayFollow('working', waiting) && mayFollow(waiting, 'working'), waiting)
  }
  assert.ok(mayFollow('submitted', 'working') && !mayFollow('working', 'submitted'))
})
