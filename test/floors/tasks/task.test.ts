import assert from 'node:assert/strict'
import test from 'node:test'
import { noAdapters } from '../../../lib/kernel/define/adapters.ts'
import { toolFrom } from '../../../lib/kernel/define/tool.ts'
import { isTerminal, mayFollow, taskOf } from '../../../lib/floors/tasks/task.ts'
import type { TaskState } from '../../../lib/floors/tasks/task.ts'

/** How far a course is followed: the states that a task really takes on. */
function live(course: readonly TaskState[]): readonly TaskState[] {
  let state: TaskState = 'submitted'
  const lived: TaskState[] = [state]
  for (const next of course) {
    if (!mayFollow(state, next)) continue
    state = next
    lived.push(state)
  }
  return lived
}

const lives: readonly (readonly [what: string, course: readonly TaskState[]])[] = [
  ['works and is done', ['working', 'completed']],
  ['is done before it works', ['completed']],
  ['says more and more', ['working', 'working', 'working', 'failed']],
  ['asks twice, once at a time',
    ['working', 'input-required', 'working', 'input-required', 'working', 'completed']],
  ['asks for one thing more while it asks',
    ['working', 'input-required', 'input-required', 'working', 'completed']],
  ['asks at once, and is not answered', ['input-required', 'canceled']],
  ['has one thing left to do elsewhere',
    ['working', 'input-required', 'auth-required', 'working', 'completed']],
  ['needs a key first', ['auth-required', 'working', 'rejected']],
]

test('a task lives each life that a run can have', () => {
  for (const [what, course] of lives) assert.deepEqual(live(course), ['submitted', ...course], what)
})

test('whatever comes after the end is dropped, also another end', () => {
  const all = lives.flatMap(([, course]) => course)
  for (const [what, course] of lives) {
    assert.ok(isTerminal(course.at(-1)!) && !course.slice(0, -1).some(isTerminal), what)
    assert.deepEqual(live([...course, ...all]), ['submitted', ...course], what)
  }
})

test('what works is not begun again', () => {
  assert.deepEqual(live(['working', 'submitted', 'completed']), ['submitted', 'working', 'completed'])
})

test('a task has the kind and the name of what it runs, and nothing else of the definition', () => {
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } } } as const
  const tool = toolFrom({ name: 'say', description: 'Says it.', inputSchema, run: () => 'ok' }, noAdapters)
  const at = '2026-01-01T00:00:00.000Z'
  const { runnable } = taskOf({
    owner: 'ann', protocol: 'mcp', runnable: tool, contextId: '', sessionId: undefined, ttlMs: undefined,
  }, at, { state: 'working', at })
  assert.deepEqual(runnable, { kind: 'tool', name: 'say' })
})
