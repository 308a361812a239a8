import assert from 'node:assert/strict'
import { test } from 'node:test'

import { answerDate } from '../../lib/assistant/date.ts'
import type { DateRequest } from '../../lib/assistant/date.ts'

const clock = { now: Date.UTC(2026, 2, 6, 13, 5), zone: 'UTC' }
const check = (table: readonly (readonly [DateRequest, string])[]): void => {
  for (const [request, text] of table) assert.equal(answerDate(request, clock).text, text)
}

test('the time now, here and elsewhere', () => check([
  [{ operation: 'now' }, 'It is 13:05 on Friday, 2026-03-06 in UTC.'],
  [{ operation: 'now', zone: 'tokyo' }, 'It is 22:05 on Friday, 2026-03-06 in Asia/Tokyo (UTC+09:00).'],
  [{ operation: 'now', zone: 'EST' }, 'It is 08:05 on Friday, 2026-03-06 in EST (UTC-05:00).'],
  [{ operation: 'now', zone: 'UTC+5:30' }, 'It is 18:35 on Friday, 2026-03-06 in UTC+05:30.'],
]))

test('a time in another zone', () => check([
  [{ operation: 'convert', date: '3pm', zone: 'London', to_zone: 'Tokyo' },
    '15:00 on Friday, 2026-03-06 in Europe/London (UTC) is 00:00 on Saturday, 2026-03-07'
      + ' in Asia/Tokyo (UTC+09:00), 9 hours ahead.'],
  [{ operation: 'convert', date: '2026-07-01T09:30', zone: 'Paris', to_zone: 'UTC+5:30' },
    '09:30 on Wednesday, 2026-07-01 in Europe/Paris (UTC+02:00) is 13:00 on Wednesday, 2026-07-01'
      + ' in UTC+05:30, 3 hours and 30 minutes ahead.'],
  [{ operation: 'convert', zone: 'Tokyo' },
    '22:05 on Friday, 2026-03-06 in Asia/Tokyo (UTC+09:00) is 13:05 on Friday, 2026-03-06 in UTC,'
      + ' 9 hours behind.'],
  [{ operation: 'convert', date: '10:00', to_zone: 'UTC+0' },
    '10:00 on Friday, 2026-03-06 in UTC is 10:00 on Friday, 2026-03-06 in UTC, the same time.'],
]))

test('the difference between two dates', () => check([
  [{ operation: 'difference', date: '2026-03-01', until: '2026-12-25' },
    '2026-12-25 is 299 days after 2026-03-01 (42 weeks and 5 days).'],
  [{ operation: 'difference', until: 'christmas' }, '2026-12-25 is 294 days after 2026-03-06 (42 weeks).'],
  [{ operation: 'difference', until: '1 February' },
    '2027-02-01 is 332 days after 2026-03-06 (47 weeks and 3 days).'],
  [{ operation: 'difference', date: 'christmas' },
    '2026-03-06 is 71 days after 2025-12-25 (10 weeks and 1 day).'],
  [{ operation: 'difference', until: '1969-07-20' },
    '1969-07-20 is 20683 days before 2026-03-06 (2954 weeks and 5 days).'],
  [{ operation: 'difference', until: 'tomorrow' }, '2026-03-07 is 1 day after 2026-03-06.'],
  [{ operation: 'difference', until: 'today' }, '2026-03-06 is 0 days after 2026-03-06.'],
  [{ operation: 'difference', date: '09:00', until: '17:30' },
    '17:30 on Friday, 2026-03-06 is 8 hours and 30 minutes after 09:00 on Friday, 2026-03-06.'],
  [{ operation: 'difference', date: '17:30:15', until: '09:00' },
    '09:00 on Friday, 2026-03-06 is 8 hours, 30 minutes, and 15 seconds before'
      + ' 17:30:15 on Friday, 2026-03-06.'],
]))

test('a date some time before or after another', () => check([
  [{ operation: 'add', date: '2026-03-01', duration: '90 days' },
    '2026-03-01 + 90 days is 2026-05-30, a Saturday.'],
  [{ operation: 'add', date: '2026-01-31', duration: '1 month' },
    '2026-01-31 + 1 month is 2026-02-28, a Saturday.'],
  [{ operation: 'add', duration: '-2 weeks' }, '2026-03-06 - 2 weeks is 2026-02-20, a Friday.'],
  [{ operation: 'add', duration: '11 hours' },
    '13:05 on Friday, 2026-03-06 + 11 hours is 00:05 on Saturday, 2026-03-07.'],
  [{ operation: 'add', date: 'now', duration: '90 days' }, '2026-03-06 + 90 days is 2026-06-04, a Thursday.'],
  [{ operation: 'add', date: '2026-03-28 12:00', duration: '1 day', zone: 'Berlin' },
    '12:00 on Saturday, 2026-03-28 + 1 day is 12:00 on Sunday, 2026-03-29.'],
  [{ operation: 'add', date: '2026-03-28 12:00', duration: '23 hours', zone: 'Berlin' },
    '12:00 on Saturday, 2026-03-28 + 23 hours is 12:00 on Sunday, 2026-03-29.'],
]))

test('what there is to say about a date', () => check([
  [{ operation: 'describe', date: '1969-07-20' },
    '1969-07-20 was a Sunday, in ISO week 29, in a common year.'],
  [{ operation: 'describe' }, 'Today, 2026-03-06, is a Friday, in ISO week 10, in a common year.'],
  [{ operation: 'describe', date: '2028-02-29' },
    '2028-02-29 will be a Tuesday, in ISO week 9, in a leap year.'],
  [{ operation: 'describe', date: '1900' }, '1900-01-01 was a Monday, in ISO week 1, in a common year.'],
]))

test('the first and the last days of a year may be in the weeks of another', () => {
  const table: readonly (readonly [string, number])[] = [
    ['2027-01-01', 53], ['2024-12-30', 1], ['2026-01-01', 1], ['2021-01-03', 53], ['0001-01-01', 1],
    ['2028-01-01', 52],
  ]
  for (const [date, week] of table) {
    assert.equal(answerDate({ operation: 'describe', date }, clock)['week'], week, date)
  }
})

test('answers carry their figures', () => {
  assert.deepEqual(answerDate({ operation: 'now', zone: 'Tokyo' }, clock), {
    text: 'It is 22:05 on Friday, 2026-03-06 in Asia/Tokyo (UTC+09:00).',
    date: '2026-03-06T22:05:00',
    weekday: 'Friday',
  })
  const backwards = { operation: 'difference', date: '2026-03-02', until: '2026-03-01' } as const
  const { days, seconds } = answerDate(backwards, clock)
  assert.deepEqual([days, seconds], [-1, -86_400])
  const { week, leap_year: isLeap } = answerDate({ operation: 'describe', date: '2024-05-01' }, clock)
  assert.deepEqual([week, isLeap], [18, true])
})

test('requests that cannot be answered are refused', () => {
  const table: readonly (readonly [DateRequest, RegExp])[] = [
    [{ operation: 'now', zone: 'Atlantis' }, /There is no time zone for "Atlantis"/],
    [{ operation: 'convert', date: '2026-01-01', to_zone: 'Paris' },
      /The time of day is missing; write it as 15:00/],
    [{ operation: 'add', date: '2026-01-01' }, /Expected a number/],
    [{ operation: 'add', duration: '5' }, /a plain number and s do not measure the same/],
    [{ operation: 'describe', date: '0000-01-01' }, /from year 1 to year 9999/],
    ...['9999999 days', '-999999 years', '1e15 hours', '1e300 s', '99999999999 days'].map((duration) =>
      [{ operation: 'add', duration }, /from year 1 to year 9999/] as const),
  ]
  for (const [request, message] of table) {
    assert.throws(() => answerDate(request, clock), { name: 'Fault', message }, JSON.stringify(request))
  }
})
