import assert from 'node:assert/strict'
import test from 'node:test'
import { Timeline } from '../../lib/util/timeline.ts'

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
