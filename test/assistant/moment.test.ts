import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  addMonths, findZone, instantOf, isoDate, momentAt, momentText, offsetText, parseDuration, parseMoment,
  weekdayOf,
} from '../../lib/assistant/date.ts'
import { Fault } from '../../lib/define/fault.ts'

const summer = Date.UTC(2026, 6, 1)
const winter = Date.UTC(2026, 0, 1)
/** A Friday. */
const now = momentAt(Date.UTC(2026, 2, 6, 13, 5, 9), findZone('UTC'))
const read = (text: string, side?: number): string => momentText(parseMoment(text, now, side))
const dayOf = (text: string): number => parseMoment(text, now).local

test('zones go by city, country, nickname, abbreviation, offset and IANA name', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['Tokyo', 'UTC+09:00', 'UTC+09:00'], ['new york', 'UTC-05:00', 'UTC-04:00'], ['NYC', 'UTC-05:00',
    'UTC-04:00'],
    ['San Francisco', 'UTC-08:00', 'UTC-07:00'], ['india', 'UTC+05:30', 'UTC+05:30'], ['IST', 'UTC+05:30',
    'UTC+05:30'],
    ['Germany', 'UTC+01:00', 'UTC+02:00'], ['Japan', 'UTC+09:00', 'UTC+09:00'], ['est', 'UTC-05:00',
    'UTC-05:00'],
    ['et', 'UTC-05:00', 'UTC-04:00'], ['utc', 'UTC', 'UTC'], ['UTC+5:30', 'UTC+05:30', 'UTC+05:30'],
    ['-03:00', 'UTC-03:00', 'UTC-03:00'], ['GMT -3', 'UTC-03:00', 'UTC-03:00'], ['the UK', 'UTC',
    'UTC+01:00'],
    ['europe/london', 'UTC', 'UTC+01:00'], ['São Paulo', 'UTC-03:00', 'UTC-03:00'],
    ['Berlin time', 'UTC+01:00', 'UTC+02:00'], ['US/Eastern', 'UTC-05:00', 'UTC-04:00'], ['Kyiv', 'UTC+02:00',
    'UTC+03:00'],
    ['Asia/Kolkata', 'UTC+05:30', 'UTC+05:30'],
  ]
  for (const [name, inWinter, inSummer] of table) {
    const { offset } = findZone(name)
    assert.deepEqual([offsetText(offset(winter)), offsetText(offset(summer))], [inWinter, inSummer], name)
  }
})

test('a zone is called as it is in the world', () => {
  const table = [
    ['tokyo', 'Asia/Tokyo'], ['cest', 'CEST'], ['utc+5', 'UTC+05:00'], ['europe/paris', 'Europe/Paris'],
  ]
  for (const [name = '', called] of table) assert.equal(findZone(name).name, called)
})

test('places that are none, or too large, are refused with help', () => {
  const remedy = 'name a city, such as "Tokyo", or a zone, such as "Europe/Paris"'
  assert.throws(() => findZone('the USA'), { message: `There is no time zone for "the USA"; ${remedy}` })
  for (const none of ['', 'Tokio', '../etc/passwd', '__proto__', 'constructor', 'UTC+25', 'x'.repeat(5000)]) {
    assert.throws(() => findZone(none), Fault, none)
  }
})

test('dates are read as people write them', () => {
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
})

test('times are read alone and with a date', () => {
  const table: readonly (readonly [string, string])[] = [
    ['15:00', '15:00 on Friday, 2026-03-06'], ['3pm', '15:00 on Friday, 2026-03-06'],
    ['12 am', '00:00 on Friday, 2026-03-06'], ['12:30 p.m.', '12:30 on Friday, 2026-03-06'],
    ['noon', '12:00 on Friday, 2026-03-06'], ['midnight', '00:00 on Friday, 2026-03-06'],
    ['2026-03-01T09:30', '09:30 on Sunday, 2026-03-01'], ['2026-03-01 09:30:15',
    '09:30:15 on Sunday, 2026-03-01'],
    ['tomorrow at 5 pm', '17:00 on Saturday, 2026-03-07'], ['5pm tomorrow', '17:00 on Saturday, 2026-03-07'],
    ['5pm on 2026-03-01', '17:00 on Sunday, 2026-03-01'], ['now', '13:05:09 on Friday, 2026-03-06'],
    ['Friday, 6 Mar 2026 at 5:07 pm', '17:07 on Friday, 2026-03-06'],
  ]
  for (const [text, expected] of table) assert.equal(read(text), expected, text)
})

test('a date without a year is the nearest one on the side that is wanted', () => {
  assert.equal(read('1 February'), '2026-02-01')
  assert.equal(read('1 February', 1), '2027-02-01')
  assert.equal(read('July 4', -1), '2025-07-04')
  assert.equal(read('christmas', -1), '2025-12-25')
  assert.equal(read('1 February 2026', 1), '2026-02-01')
})

test('an offset in the text decides the zone', () => {
  const inTokyo = momentAt(now.local, findZone('Tokyo'))
  const table: readonly (readonly [string, number])[] = [
    ['2026-03-01T09:30Z', Date.UTC(2026, 2, 1, 9, 30)],
    ['2026-03-01T09:30+05:30', Date.UTC(2026, 2, 1, 4, 0)],
    ['2026-03-01 09:30 UTC-3', Date.UTC(2026, 2, 1, 12, 30)],
    ['2026-03-01 09:30', Date.UTC(2026, 2, 1, 0, 30)],
  ]
  for (const [text, at] of table) assert.equal(instantOf(parseMoment(text, inTokyo)), at, text)
})

test('what is no date or no time is refused clearly', () => {
  const table: readonly (readonly [string, string])[] = [
    ...['2026-02-30', '2026-13-01', 'soon', '5 foober 2026', 'feb 30 2026', '10:75',
    '03/04/2026'].map((text) =>
      [text, `There is no date "${text}"; write it as 2026-03-01`] as const),
    ['25:00', 'There is no time 25:00'], ['13 pm', 'There is no time 13 pm'],
    ['0000-01-01', 'Dates go from year 1 to year 9999'],
  ]
  for (const [text, message] of table) assert.throws(() => read(text), { message }, text)
  assert.throws(() => read('x'.repeat(10_000)), (error) =>
    error instanceof Fault && error.message.length < 120)
})

test('durations add up, months apart from milliseconds', () => {
  const dayMs = 86_400_000
  const table: readonly (readonly [string, number, number])[] = [
    ['90 days', 0, 90 * dayMs], ['-2 weeks', 0, -14 * dayMs], ['1 year, 2 months and 3 days', 14, 3 * dayMs],
    ['a week', 0, 7 * dayMs], ['an hour', 0, dayMs / 24], ['1h 30min', 0, 5_400_000], ['10 secs', 0, 10_000],
    ['2 fortnights', 0, 28 * dayMs], ['+1 month', 1, 0], ['- 1 year', -12, 0], ['1.5 days', 0, 1.5 * dayMs],
  ]
  for (const [text, months, ms] of table) {
    const duration = parseDuration(text)
    assert.deepEqual([duration.months, duration.ms + 0], [months, ms], text)
  }
  for (const wrong of ['', '0 years', 'soon', '5', '5 parsecs', '3 days ago', '5 km', '9'.repeat(99)]) {
    assert.throws(() => parseDuration(wrong), Fault, wrong)
  }
})

test('months are added to the last day that there is', () => {
  const table: readonly (readonly [string, number, string])[] = [
    ['2026-01-31', 1, '2026-02-28'], ['2024-01-31', 1, '2024-02-29'], ['2024-02-29', 12, '2025-02-28'],
    ['2026-03-15', -3, '2025-12-15'], ['2026-12-01', 1, '2027-01-01'], ['2026-05-05', 0, '2026-05-05'],
  ]
  for (const [from, months, to] of table) assert.equal(isoDate(addMonths(dayOf(from), months)), to, from)
  assert.throws(() => addMonths(dayOf('2026-01-01'), 1e9), /from year 1 to year 9999/)
})

test('moments are told on the clocks of their zone', () => {
  const berlin = findZone('Berlin')
  const back = momentAt(Date.UTC(2026, 9, 25, 1, 30), berlin)
  assert.equal(momentText(back), '02:30 on Sunday, 2026-10-25')
  assert.equal(instantOf(momentAt(summer, berlin)), summer)
  assert.equal(weekdayOf(dayOf('1969-07-20')), 'Sunday')
  for (const at of [1e300, -1e15, NaN]) assert.throws(() => momentAt(at, berlin), /from year 1 to year 9999/)
})
