import assert from 'node:assert/strict'
import { test } from 'node:test'

import { answerDate } from '../../../lib/agents/assistant/date.ts'
import type { DateRequest } from '../../../lib/agents/assistant/date.ts'

const clock = { now: Date.UTC(2026, 2, 6, 13, 5), zone: 'UTC' }
const check = (table: readonly (readonly [DateRequest, string])[]): void => {
  for (const [request, text] of table) assert.equal(answerDate(request, clock).text, text)
}

test('the time now, here and in another zone', () => check([
  [{ operation: 'now' }, 'It is 13:05 on Friday, 2026-03-06 in UTC.'],
  [{ operation: 'now', zone: 'tokyo' }, 'It is 22:05 on Friday, 2026-03-06 in Asia/Tokyo (UTC+09:00).'],
  [{ operation: 'now', zone: 'new york' },
    'It is 08:05 on Friday, 2026-03-06 in America/New_York (UTC-05:00).'],
  [{ operation: 'now', zone: 'europe/london' }, 'It is 13:05 on Friday, 2026-03-06 in Europe/London (UTC).'],
  [{ operation: 'now', zone: 'São Paulo' },
    'It is 10:05 on Friday, 2026-03-06 in America/Sao_Paulo (UTC-03:00).'],
  [{ operation: 'now', zone: 'Japan' }, 'It is 22:05 on Friday, 2026-03-06 in Asia/Tokyo (UTC+09:00).'],
]))

test('zones that are none are refused with help', () => {
  const remedy = 'name a city, such as "Tokyo", or a zone, such as "Europe/Paris"'
  const refused = (zone: string, message?: string): void => {
    const error = { name: 'Fault', ...message !== undefined && { message } }
    assert.throws(() => answerDate({ operation: 'now', zone }, clock), error, zone)
  }
  refused('the USA', `There is no time zone for "the USA"; ${remedy}`)
  for (const none of ['', 'Tokio', '../etc/passwd', '__proto__', 'constructor', 'x'.repeat(5000)]) {
    refused(none)
  }
})

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
]))

test('a date some time before or after another', () => check([
  [{ operation: 'add', date: '2026-03-01', duration: '90 days' },
    '2026-03-01 + 90 days is 2026-05-30, a Saturday.'],
  [{ operation: 'add', date: '2026-01-31', duration: '1 month' },
    '2026-01-31 + 1 month is 2026-02-28, a Saturday.'],
  [{ operation: 'add', duration: '-2 weeks' }, '2026-03-06 - 2 weeks is 2026-02-20, a Friday.'],
  [{ operation: 'add', date: 'now', duration: '90 days' }, '2026-03-06 + 90 days is 2026-06-04, a Thursday.'],
  [{ operation: 'add', date: '2026-03-01', duration: '1 year, 2 months and 3 days' },
    '2026-03-01 + 1 year, 2 months and 3 days is 2027-05-04, a Tuesday.'],
  [{ operation: 'add', date: '2026-03-01', duration: 'a week' },
    '2026-03-01 + a week is 2026-03-08, a Sunday.'],
  [{ operation: 'add', date: '2026-03-01', duration: '- 1 year' },
    '2026-03-01 - 1 year is 2025-03-01, a Saturday.'],
  [{ operation: 'add', date: '2024-02-29', duration: '12 months' },
    '2024-02-29 + 12 months is 2025-02-28, a Friday.'],
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
  assert.equal(answerDate(backwards, clock)['days'], -1)
  const { week, leap_year: isLeap } = answerDate({ operation: 'describe', date: '2024-05-01' }, clock)
  assert.deepEqual([week, isLeap], [18, true])
})

test('requests that cannot be answered are refused', () => {
  const table: readonly (readonly [DateRequest, RegExp])[] = [
    [{ operation: 'now', zone: 'Atlantis' }, /There is no time zone for "Atlantis"/],
    ...[undefined, '5', 'soon', '5 parsecs', '3 days ago', '5 hours', '9'.repeat(99)].map((duration) => (
      [{ operation: 'add', duration }, /There is no duration ".*"; write it as "90 days" or/] as const
    )),
    [{ operation: 'describe', date: '0000-01-01' }, /from year 1 to year 9999/],
    ...['9999999 days', '-999999 years', '1 year 9999999 months'].map((duration) =>
      [{ operation: 'add', duration }, /from year 1 to year 9999/] as const),
  ]
  for (const [request, message] of table) {
    assert.throws(() => answerDate(request, clock), { name: 'Fault', message }, JSON.stringify(request))
  }
})

test('dates are read as people write them', () => {
  const read = (date: string): unknown => answerDate({ operation: 'describe', date }, clock)['date']
  const table: readonly (readonly [string, string])[] = [
    ['2026-03-01', '2026-03-01'], ['2026/3/1', '2026-03-01'], ['2026.03.01', '2026-03-01'], ['2028',
    '2028-01-01'],
    ['20 July 1969', '1969-07-20'], ['July 20th, 1969', '1969-07-20'], ['Jul. 20 1969', '1969-07-20'],
    ['the 20th of july 1969', '1969-07-20'], ['Sunday, 20 July 1969', '1969-07-20'], ['May 5', '2026-05-05'],
    ['today', '2026-03-06'], ['Tomorrow', '2026-03-07'], ['yesterday', '2026-03-05'], ['friday',
    '2026-03-06'],
    ['next friday', '2026-03-13'], ['last friday', '2026-02-27'], ['this monday', '2026-03-09'],
    ['last monday', '2026-03-02'], ['christmas', '2026-12-25'], ['new year', '2027-01-01'], ['Halloween',
    '2026-10-31'],
    ['0099-12-31', '0099-12-31'],
  ]
  for (const [text, expected] of table) assert.equal(read(text), expected, text)
  for (const text of ['2026-02-30', '2026-13-01', 'soon', '5 foober 2026', 'feb 30 2026', '03/04/2026']) {
    assert.throws(() => read(text), { message: `There is no date "${text}"; write it as 2026-03-01` }, text)
  }
  assert.throws(() => read('x'.repeat(10_000)), ({ message }: Error) => message.length < 120)
})
