import assert from 'node:assert/strict'
import { test } from 'node:test'

import { addMonths, dayOf, dayOfYear, daysIn, fieldsOf } from '../../lib/assistant/calendar.ts'
import { isLeap, isoDate, isoWeek } from '../../lib/assistant/calendar.ts'
import { monthsBetween, weekday } from '../../lib/assistant/calendar.ts'

test('days are numbered from 1970-01-01', () => {
  assert.equal(dayOf(1970, 1, 1), 0)
  assert.equal(dayOf(1969, 7, 20), -165)
  const dates = [[1, 1, 1], [99, 12, 31], [1900, 2, 28], [2000, 2, 29], [9999, 12, 31]] as const
  for (const [year, month, day] of dates) {
    assert.deepEqual(fieldsOf(dayOf(year, month, day)), { year, month, day })
  }
})

test('dates that are none are refused', () => {
  assert.throws(() => dayOf(2026, 2, 30),
    { message: 'There is no such date: February 2026 has 28 days, not 30.' })
  assert.throws(() => dayOf(2026, 13, 1), { message: 'There is no month 13.' })
  assert.throws(() => dayOf(2026, 4, 31), /April 2026 has 30 days/)
  for (const year of [0, 10_000, NaN]) assert.throws(() => dayOf(year, 1, 1), /from year 1 to year 9999/)
  assert.throws(() => fieldsOf(1e7), /from year 1 to year 9999/)
  assert.throws(() => fieldsOf(1e300), /from year 1 to year 9999/)
})

test('leap years follow the Gregorian rule', () => {
  assert.deepEqual([2024, 2026, 1900, 2000].map(isLeap), [true, false, false, true])
  assert.deepEqual([daysIn(2024, 2), daysIn(2026, 2), daysIn(2026, 4), daysIn(2026, 12)], [29, 28, 30, 31])
})

test('weekdays, ISO weeks and days of the year', () => {
  const table: readonly (readonly [number, number, number, number, string, number])[] = [
    [1969, 7, 20, 0, '1969-W29', 201], [2026, 3, 6, 5, '2026-W10', 65], [2027, 1, 1, 5, '2026-W53', 1],
    [2024, 12, 30, 1, '2025-W01', 365], [2026, 1, 1, 4, '2026-W01', 1], [2021, 1, 3, 0, '2020-W53', 3],
    [1, 1, 1, 1, '0001-W01', 1],
  ]
  for (const [year, month, date, name, week, number] of table) {
    const day = dayOf(year, month, date)
    assert.deepEqual([weekday(day), isoWeek(day), dayOfYear(day)], [name, week, number], isoDate(day))
  }
})

test('months are added to the last day that there is', () => {
  const table: readonly (readonly [number, number, number, number, string])[] = [
    [2026, 1, 31, 1, '2026-02-28'], [2024, 1, 31, 1, '2024-02-29'], [2024, 2, 29, 12, '2025-02-28'],
    [2026, 3, 15, -3, '2025-12-15'], [2026, 12, 1, 1, '2027-01-01'], [2026, 5, 5, 0, '2026-05-05'],
  ]
  for (const [year, month, date, months, expected] of table) {
    assert.equal(isoDate(addMonths(dayOf(year, month, date), months)), expected)
  }
})

test('a difference has whole months and the days left', () => {
  assert.deepEqual(monthsBetween(dayOf(2026, 3, 1), dayOf(2026, 12, 25)), { months: 9, days: 24 })
  assert.deepEqual(monthsBetween(dayOf(2026, 1, 31), dayOf(2026, 3, 1)), { months: 1, days: 1 })
  assert.deepEqual(monthsBetween(dayOf(2026, 3, 1), dayOf(2026, 3, 1)), { months: 0, days: 0 })
})
