import assert from 'node:assert/strict'
import { test } from 'node:test'

import { instantOf, looksLikeMoment, momentAt, momentText } from '../../lib/assistant/moment.ts'
import { parseDuration, parseMoment } from '../../lib/assistant/moment.ts'
import { findZone } from '../../lib/assistant/zones.ts'

const clock = { now: Date.UTC(2026, 2, 6, 13, 5, 9), zone: 'UTC' }
const read = (text: string): string => momentText(parseMoment(text, clock))

test('dates are read as people write them', () => {
  const table: readonly (readonly [string, string])[] = [
    ['2026-03-01', '2026-03-01'], ['2026/3/1', '2026-03-01'], ['2026.03.01', '2026-03-01'],
    ['20 July 1969', '1969-07-20'],
    ['July 20th, 1969', '1969-07-20'], ['Jul 20 1969', '1969-07-20'], ['the 20th of july 1969', '1969-07-20'],
    ['Sunday, 20 July 1969', '1969-07-20'], ['13/04/2026', '2026-04-13'], ['04/13/2026', '2026-04-13'],
    ['05.05.2026', '2026-05-05'],
    ['today', '2026-03-06'], ['Tomorrow', '2026-03-07'], ['yesterday', '2026-03-05'],
    ['the day after tomorrow', '2026-03-08'],
    ['friday', '2026-03-06'], ['next friday', '2026-03-13'], ['last friday', '2026-02-27'],
    ['this monday', '2026-03-09'],
    ['last monday', '2026-03-02'], ['christmas', '2026-12-25'], ['new year', '2027-01-01'],
    ['New Year’s Eve', '2026-12-31'],
    ['May 5', '2026-05-05'],
  ]
  for (const [text, expected] of table) assert.equal(read(text), expected, text)
})

test('times are read alone and with a date', () => {
  const table: readonly (readonly [string, string])[] = [
    ['15:00', '15:00 on Friday, 2026-03-06'], ['3pm', '15:00 on Friday, 2026-03-06'],
    ['12 am', '00:00 on Friday, 2026-03-06'],
    ['12:30 p.m.', '12:30 on Friday, 2026-03-06'], ['noon', '12:00 on Friday, 2026-03-06'],
    ['midnight', '00:00 on Friday, 2026-03-06'],
    ['2026-03-01T09:30', '09:30 on Sunday, 2026-03-01'],
    ['2026-03-01 09:30:15', '09:30:15 on Sunday, 2026-03-01'],
    ['tomorrow at 5 pm', '17:00 on Saturday, 2026-03-07'], ['5pm tomorrow', '17:00 on Saturday, 2026-03-07'],
    ['5pm on 2026-03-01', '17:00 on Sunday, 2026-03-01'], ['now', '13:05:09 on Friday, 2026-03-06'],
    ['Friday, 6 Mar 2026 at 5:07 pm', '17:07 on Friday, 2026-03-06'],
  ]
  for (const [text, expected] of table) assert.equal(read(text), expected, text)
})

test('a date without a year is the nearest one on the preferred side', () => {
  const day = (text: string, prefer?: 'future' | 'past'): string =>
    momentText(parseMoment(text, clock, undefined, prefer))
  assert.equal(day('1 February'), '2026-02-01')
  assert.equal(day('1 February', 'future'), '2027-02-01')
  assert.equal(day('christmas', 'past'), '2025-12-25')
})

test('an offset in the text decides the zone', () => {
  const inTokyo = parseMoment('2026-03-01T09:30Z', clock, findZone('Tokyo'))
  assert.equal(instantOf(inTokyo), Date.UTC(2026, 2, 1, 9, 30))
  assert.equal(instantOf(parseMoment('2026-03-01T09:30+05:30', clock)), Date.UTC(2026, 2, 1, 4, 0))
  assert.equal(instantOf(parseMoment('2026-03-01 09:30 UTC-3', clock)), Date.UTC(2026, 2, 1, 12, 30))
})

test('what is no date or no time is refused clearly', () => {
  const table: readonly (readonly [string, string])[] = [
    ['2026-02-30', 'There is no such date: February 2026 has 28 days, not 30.'],
    ['03/04/2026', '"03/04/2026" can be read in two ways. Write 2026-03-04 or 2026-04-03.'],
    ['soon', 'I cannot read the date "soon". Write 2026-03-01.'],
    ['5 Foober 2026', 'I cannot read the date "5 Foober 2026". Write 2026-03-01.'],
    ['25:00', 'There is no time 25:00.'], ['13 pm', 'There is no time 13 pm.'],
    ['10:75', 'There is no time 10:75.'],
    ['0000-01-01', 'Dates go from year 1 to year 9999.'],
  ]
  for (const [text, message] of table) assert.throws(() => read(text), { message }, text)
  assert.throws(() => read('x'.repeat(10_000)), /cannot read the date/)
})

test('dates are told from other words', () => {
  for (const yes of ['2026-02-30', 'christmas', 'next friday', '3pm', '15:00', '20th of July', 'noon']) {
    assert.equal(looksLikeMoment(yes), true, yes)
  }
  for (const no of ['12 + 3', 'maybe', '5 miles', 'someday soon', '', '5 am'.repeat(100), 'that']) {
    assert.equal(looksLikeMoment(no), false, no)
  }
})

test('durations add up', () => {
  const table: readonly (readonly [string, number, number, number, string])[] = [
    ['90 days', 0, 90, 0, '+ 90 days'], ['-2 weeks', 0, -14, 0, '- 2 weeks'],
    ['1 year, 2 months and 3 days', 14, 3, 0, '+ 1 year 2 months 3 days'],
    ['a week', 0, 7, 0, '+ 1 week'], ['an hour', 0, 0, 3_600_000, '+ 1 hour'],
    ['1h 30min', 0, 0, 5_400_000, '+ 1 h 30 min'],
    ['10 secs', 0, 0, 10_000, '+ 10 secs'], ['2 fortnights', 0, 28, 0, '+ 2 fortnights'],
  ]
  for (const [text, months, days, ms, shown] of table) {
    assert.deepEqual(parseDuration(text), { months, days, ms, text: shown })
  }
  for (const wrong of ['', 'soon', '1.5 days', '5', '5 parsecs', '3 days ago', '9'.repeat(99)]) {
    assert.throws(() => parseDuration(wrong), /I cannot read the duration/)
  }
})

test('clocks that are set forward skip an hour, clocks that are set back repeat one', () => {
  const berlin = findZone('Berlin')
  const at = (text: string): number => instantOf(parseMoment(text, clock, berlin))
  assert.throws(() => at('2026-03-29 02:30'),
    { message: '02:30 on 2026-03-29 does not exist in Berlin: clocks skip it.' })
  assert.equal(at('2026-10-25 02:30'), Date.UTC(2026, 9, 25, 0, 30))
  assert.equal(momentText(momentAt(Date.UTC(2026, 9, 25, 1, 30), berlin)), '02:30 on Sunday, 2026-10-25')
})
