import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../lib/define/limits.ts'
import { historyOf, historyWith } from '../../lib/tasks/task-history.ts'
import { taskOf } from '../../lib/tasks/task-seed.ts'
import type { Task, TaskMessage } from '../../lib/tasks/task.ts'

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

const idsOf = (history: readonly TaskMessage[]): string => history.map(({ id }) => id).join('')

test('what the agent says of its state is part of the history once', () => {
  const limits = limitsOf({})
  const status = { state: 'working' as const, at: AT, message: said('s') }
  assert.equal(idsOf(historyOf(task(['a']), limits)), 'a')
  assert.equal(idsOf(historyOf(task(['a'], { status }), limits)), 'as')
  assert.equal(idsOf(historyOf(task(['a', 's', 'b'], { status }), limits)), 'asb')
})

test('the oldest messages make room, but not the one that began the turn, nor the newest', () => {
  const limits = limitsOf({ conversationMessages: 3, maxResultBytes: 10_000 })
  const turn = { messageId: 'a', metadata: undefined, answers: {}, results: {} }
  const full = task(['a', 'b', 'c'])
  assert.equal(idsOf(historyWith(full, said('d'), limits)), 'bcd')
  assert.equal(idsOf(historyWith({ ...full, turn }, said('d'), limits)), 'acd')
  assert.equal(idsOf(historyWith({ ...full, turn: { ...turn, messageId: 'b' } }, said('d'), limits)), 'bcd')
  const large = said('d', 'x'.repeat(10_000))
  assert.equal(idsOf(historyWith(full, large, limits)), 'd')
  assert.equal(idsOf(historyWith({ ...full, turn }, large, limits)), 'ad')
})
