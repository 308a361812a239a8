import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { shownFault } from '../../../lib/kernel/run/shown-fault.ts'
import { serviceOf } from '../../fixtures/house.ts'

/** What is shown of something thrown, and what the log has of it. */
function shown(thrown: unknown, what?: string): readonly [fault: Fault, lines: readonly unknown[]] {
  const lines: unknown[] = []
  const { service } = serviceOf({
    log: (...[level, sentence, fields]) => { lines.push([level, sentence, fields]) },
  })
  return [shownFault(service, thrown, 'r-1', what), lines]
}

test('a fault is shown as it is, its detail as JSON has it', () => {
  const bare = new Fault('busy', 'Later', undefined, { retryAfterSeconds: 7 })
  assert.deepEqual(shown(bare), [bare, []])
  const cause = new Error('full')
  const options = { cause, retryAfterSeconds: 7 }
  const [fault, lines] = shown(new Fault('busy', 'Later', { at: new Date(0) }, options))
  assert.deepEqual([fault.kind, fault.message, fault.detail], ['busy', 'Later', { at: new Date(0).toJSON() }])
  assert.deepEqual([fault.cause, fault.retryAfterSeconds, lines], [cause, 7, []])
})

test('a detail that is no JSON is left out, and logged', () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  for (const detail of [{ n: 1n }, circle, () => 1, { get n() { throw new Error('no') } }]) {
    const [fault, [line, ...more]] = shown(new Fault('failed', 'No', detail))
    assert.deepEqual([fault.kind, fault.message, fault.detail], ['failed', 'No', undefined])
    const [level, sentence, fields] = line as readonly [string, string, { request: string }]
    assert.deepEqual([level, sentence, fields.request], ['error', 'The detail of a Fault is not JSON', 'r-1'])
    assert.deepEqual(more, [])
  }
})

test('a defect is logged, and shows nothing of itself', () => {
  const thrown = new TypeError('secret')
  for (const [what, sentence] of [[undefined, 'A request could not be answered'], ['It broke', 'It broke']]) {
    const [fault, lines] = shown(thrown, what)
    assert.deepEqual([fault.kind, fault.detail, fault.cause], ['internal', undefined, thrown])
    assert.deepEqual(lines, [['error', sentence, { request: 'r-1', cause: thrown }]])
  }
  const [fault, lines] = shown(new Fault('internal', 'Internal error', { dsn: 'secret' }))
  assert.deepEqual([fault.kind, fault.detail, lines], ['internal', undefined, []])
})
