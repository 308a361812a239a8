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
  [{ operation: 'now', zone: 'tokyo' },
    'It is 22:05 on Friday, 2026-03-06 in Tokyo (Asia/Tokyo, UTC+09:00).'],
  [{ operation: 'now', zone: 'Europe/Paris' },
    'It is 14:05 on Friday, 2026-03-06 in Europe/Paris (UTC+01:00).'],
  [{ operation: 'now', zone: 'EST' }, 'It is 08:05 on Friday, 2026-03-06 in EST (UTC-05:00).'],
  [{ operation: 'now', zone: 'UTC+5:30' }, 'It is 18:35 on Friday, 2026-03-06 in UTC+05:30.'],
]))

test('a time in another zone', () => check([
  [{ operation: 'convert', date: '3pm', zone: 'London', to_zone: 'Tokyo' },
    '15:00 on Friday, 2026-03-06 in London is 00:00 on Saturday, 2026-03-07 in Tokyo (9 hours ahead).'],
  [{ operation: 'convert', date: '2026-07-01T09:30', zone: 'ET', to_zone: 'India' },
    '09:30 on Wednesday, 2026-07-01 in ET is 19:00 on Wednesday, 2026-07-01 in India'
      + ' (9 hours and 30 minutes ahead).'],
  [{ operation: 'convert', zone: 'Tokyo' },
    '22:05 on Friday, 2026-03-06 in Tokyo is 13:05 on Friday, 2026-03-06 in UTC (9 hours behind).'],
  [{ operation: 'convert', date: '10:00', to_zone: 'GMT' },
    '10:00 on Friday, 2026-03-06 in UTC is 10:00 on Friday, 2026-03-06 in GMT (the same time).'],
]))

test('the difference between two dates', () => check([
  [{ operation: 'difference', date: '2026-03-01', until: '2026-12-25' },
    '2026-12-25 is 299 days after 2026-03-01 (42 weeks and 5 days; 9 months and 24 days).'],
  [{ operation: 'difference', until: 'christmas', unit: 'weeks' },
    '2026-12-25 is 42 weeks after 2026-03-06 (294 days; 9 months and 19 days).'],
  [{ operation: 'difference', date: 'christmas' },
    '2026-03-06 is 71 days after 2025-12-25 (10 weeks and 1 day; 2 months and 9 days).'],
  [{ operation: 'difference', until: '1969-07-20' },
    '1969-07-20 is 20683 days before 2026-03-06 (2954 weeks and 5 days; 56 years, 7 months and 14 days).'],
  [{ operation: 'difference', until: 'tomorrow' }, '2026-03-07 is 1 day after 2026-03-06.'],
  [{ operation: 'difference', until: '2026-03-08', unit: 'hours' },
    '2026-03-08 is 48 hours after 2026-03-06 (2 days).'],
  [{ operation: 'difference', until: '2026-03-07', unit: 'fortnights' },
    '2026-03-07 is 1 day after 2026-03-06.'],
  [{ operation: 'difference', until: 'today' }, 'Both are 2026-03-06: 0 days.'],
  [{ operation: 'difference', date: '09:00', until: '17:30' },
    '17:30 on Friday, 2026-03-06 is 8 hours and 30 minutes after 09:00 on Friday, 2026-03-06.'],
  [{ operation: 'difference', date: '17:30', until: '09:00', unit: 'hours' },
    '09:00 on Friday, 2026-03-06 is 8.5 hours before 17:30 on Friday, 2026-03-06.'],
  [{ operation: 'difference', date: 'now', until: 'now' },
    '13:05 on Friday, 2026-03-06 is 0 seconds after 13:05 on Friday, 2026-03-06.'],
]))

test('a date some time before or after another', () => check([
  [{ operation: 'add', date: '2026-03-01', duration: '90 days' },
    '2026-03-01 + 90 days is 2026-05-30, a Saturday.'],
  [{ operation: 'add', date: '2026-01-31', duration: '1 month' },
    '2026-01-31 + 1 month is 2026-02-28, a Saturday.'],
  [{ operation: 'add', duration: '-2 weeks' }, '2026-03-06 - 2 weeks is 2026-02-20, a Friday.'],
  [{ operation: 'add', date: 'now', duration: '11 hours' },
    '13:05 on Friday, 2026-03-06 + 11 hours is 00:05 on Saturday, 2026-03-07.'],
  [{ operation: 'add', date: '2026-03-28 12:00', duration: '1 day', zone: 'Berlin' },
    '12:00 on Saturday, 2026-03-28 + 1 day is 12:00 on Sunday, 2026-03-29.'],
  [{ operation: 'add', date: '2026-03-28 12:00', duration: '24 hours', zone: 'Berlin' },
    '12:00 on Saturday, 2026-03-28 + 24 hours is 13:00 on Sunday, 2026-03-29.'],
]))

test('what there is to say about a date', () => check([
  [{ operation: 'describe', date: '1969-07-20' },
    '1969-07-20 was a Sunday, day 201 of 1969, ISO week 1969-W29, in a common year.'],
  [{ operation: 'describe' },
    'Today, 2026-03-06, is a Friday, day 65 of 2026, ISO week 2026-W10, in a common year.'],
  [{ operation: 'describe', date: '2028-02-29' },
    '2028-02-29 will be a Tuesday, day 60 of 2028, ISO week 2028-W09, in a leap year.'],
  [{ operation: 'describe', date: '2028' }, '2028 will be a leap year.'],
  [{ operation: 'describe', date: '1900' }, '1900 was not a leap year.'],
  [{ operation: 'describe', date: '2026' }, '2026 is not a leap year.'],
]))

test('answers carry their figures', () => {
  assert.deepEqual(answerDate({ operation: 'now', zone: 'Tokyo' }, clock), {
    text: 'It is 22:05 on Friday, 2026-03-06 in Tokyo (Asia/Tokyo, UTC+09:00).',
    date: '2026-03-06', weekday: 'Friday', week: '2026-W10', day_of_year: 65, leap_year: false,
    time: '22:05', zone: 'Asia/Tokyo', offset: 'UTC+09:00',
  })
  const backwards = { operation: 'difference', date: '2026-03-02', until: '2026-03-01' } as const
  const { days, seconds } = answerDate(backwards, clock)
  assert.deepEqual([days, seconds], [-1, -86_400])
})

test('requests that cannot be answered are refused', () => {
  const table: readonly (readonly [DateRequest, RegExp])[] = [
    [{ operation: 'now', zone: 'Atlantis' }, /Unknown place or time zone/],
    [{ operation: 'convert', date: '2026-01-01', to_zone: 'Paris' },
      /The time of day is missing. Write it as 15:00/],
    [{ operation: 'add', date: '2026-01-01' }, /cannot read the duration/],
    [{ operation: 'add', duration: '9999999 days' }, /from year 1 to year 9999/],
    [{ operation: 'add', duration: '-9999999 years' }, /from year 1 to year 9999/],
    [{ operation: 'describe', date: '0' }, /from year 1 to year 9999/],
  ]
  for (const [request, message] of table) assert.throws(() => answerDate(request, clock), message)
})
