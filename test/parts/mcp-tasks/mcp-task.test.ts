import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { isOurs, lifeOf } from '../../../lib/parts/mcp-tasks/mcp-task.ts'
import type { Task, TaskState } from '../../../lib/floors/tasks/task.ts'

const ago = (ms: number): string => new Date(Date.now() - ms).toISOString()

/** A task that began a while ago and has been in its state for a while. */
function task(state: TaskState, begunMs: number, sinceMs: number, ttlMs?: number): Task {
  return {
    id: 'i', owner: 'o', protocol: 'mcp', runnable: { kind: 'tool', name: 't' }, contextId: '',
    sessionId: undefined, tenant: undefined, turn: undefined, createdAt: ago(begunMs), ttlMs,
    status: { state, at: ago(sinceMs) }, artifacts: [], history: [], questions: [],
    result: undefined, fault: undefined,
  }
}

const HOUR = 3_600_000
const lives: readonly (readonly [what: string, task: Task, keepMs: number, life: number | null])[] = [
  ['one that has ended is kept from its end', task('completed', 10_000, 4_000), HOUR, HOUR + 6_000],
  ['however long ago that was', task('failed', HOUR, HOUR - 6_000), HOUR, HOUR + 6_000],
  ['one that works has all of it before it', task('working', 10_000, 4_000), HOUR, HOUR + 10_000],
  ['a wish of the client is from the beginning', task('completed', 10_000, 4_000, 60_000), HOUR, 60_000],
  ['a wish in fractions is whole', task('working', 10_000, 0, 60_000.7), HOUR, 60_000],
  ['after a wish that is over it is kept for a moment', task('working', 10_000, 0, 5_000), HOUR, 70_000],
  ['also from its end', task('completed', 100_000, 80_000, 5_000), HOUR, 80_000],
  ['or for a shorter one', task('working', 10_000, 0, 5_000), 30_000, 40_000],
  ['for ever is null', task('working', 10_000, 0), Infinity, null],
  ['but not against a wish', task('working', 10_000, 0, 60_000), Infinity, 60_000],
]

test('a task says how long it will be there, from its creation', () => {
  for (const [what, one, taskKeepMs, life] of lives) {
    const said = lifeOf(one, limitsOf({ taskKeepMs }))
    if (life === null || said === null) assert.equal(said, life, what)
    // The clock goes on between making the task and asking for its life.
    else assert.ok(said >= life && said < life + 5_000, `${what}: ${said}`)
  }
})

test('a wish counts to its last millisecond', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1) })
  const limits = limitsOf({ taskKeepMs: HOUR })
  assert.equal(lifeOf(task('working', 5_000, 0, 5_000), limits), 5_000)
  assert.equal(lifeOf(task('working', 5_001, 0, 5_000), limits), 65_001)
})

test('tasks of other doors are none here', () => {
  const ours = task('working', 0, 0)
  assert.deepEqual([isOurs(ours), isOurs({ ...ours, protocol: 'a2a' }), isOurs(undefined)], [
    true, false, false,
  ])
})
