import assert from 'node:assert/strict'
import { test } from 'node:test'

import { askDate } from '../../lib/assistant/ask-date.ts'
import type { DateRequest } from '../../lib/assistant/date.ts'

test('questions about dates are understood', () => {
  const table: readonly (readonly [string, DateRequest])[] = [
    ['what time is it', { operation: 'now' }],
    ['time', { operation: 'now' }],
    ['what is the current time in Tokyo', { operation: 'now', zone: 'Tokyo' }],
    ['what time is it right now in New York', { operation: 'now', zone: 'New York' }],
    ['what time is 3pm EST in Paris', { operation: 'convert', date: '3pm', zone: 'EST', to_zone: 'Paris' }],
    ['3pm London to Tokyo', { operation: 'convert', date: '3pm', zone: 'London', to_zone: 'Tokyo' }],
    ['10 am in Tokyo', { operation: 'convert', date: '10 am', zone: 'Tokyo' }],
    ['14:00 - 9:30', { operation: 'difference', date: '9:30', until: '14:00' }],
    ['convert 15:00 UTC to Tokyo', { operation: 'convert', date: '15:00', zone: 'UTC', to_zone: 'Tokyo' }],
    ['2026-07-01 15:00 in London in Tokyo',
      { operation: 'convert', date: '2026-07-01 15:00', zone: 'London', to_zone: 'Tokyo' }],
    ['if it is 3pm in London what time is it in Tokyo',
      { operation: 'convert', date: '3pm', zone: 'London', to_zone: 'Tokyo' }],
    ['what time is it in Tokyo when it is noon in London',
      { operation: 'convert', date: 'noon', zone: 'London', to_zone: 'Tokyo' }],
    ['time difference between London and Tokyo',
      { operation: 'convert', date: 'now', zone: 'London', to_zone: 'Tokyo' }],
    ['days until 2026-12-25', { operation: 'difference', until: '2026-12-25', unit: 'days' }],
    ['how many weeks are left until christmas',
      { operation: 'difference', until: 'christmas', unit: 'weeks' }],
    ['how long until new year', { operation: 'difference', until: 'new year', unit: 'long' }],
    ['how many days since July 4', { operation: 'difference', date: 'July 4', unit: 'days' }],
    ['how long ago was 1969-07-20', { operation: 'difference', date: '1969-07-20', unit: 'long' }],
    ['how many days between 2026-01-01 and today',
      { operation: 'difference', date: '2026-01-01', until: 'today', unit: 'days' }],
    ['hours from 9:00 to 17:30', { operation: 'difference', date: '9:00', until: '17:30', unit: 'hours' }],
    ['2026-03-10 - 2026-03-01', { operation: 'difference', date: '2026-03-01', until: '2026-03-10' }],
    ['how old is someone born on 1990-05-17', { operation: 'difference', date: '1990-05-17' }],
    ['what date is 90 days after 2026-03-01', { operation: 'add', date: '2026-03-01', duration: '90 days' }],
    ['3 weeks before christmas', { operation: 'add', date: 'christmas', duration: '-3 weeks' }],
    ['90 days from now', { operation: 'add', date: 'today', duration: '90 days' }],
    ['3 hours from now', { operation: 'add', date: 'now', duration: '3 hours' }],
    ['what was the date 2 weeks ago', { operation: 'add', date: 'today', duration: '-2 weeks' }],
    ['what time will it be in 3 hours', { operation: 'add', date: 'now', duration: '3 hours' }],
    ['2026-03-01 + 1 year, 2 months and 3 days',
      { operation: 'add', date: '2026-03-01', duration: '1 year, 2 months and 3 days' }],
    ['2026-03-01 minus 2 weeks', { operation: 'add', date: '2026-03-01', duration: '-2 weeks' }],
    ['add 2 weeks to tomorrow', { operation: 'add', date: 'tomorrow', duration: '2 weeks' }],
    ['subtract a day from 2026-03-01', { operation: 'add', date: '2026-03-01', duration: '-a day' }],
    ['what day was 1969-07-20', { operation: 'describe', date: '1969-07-20' }],
    ['what day of the week will 2026-12-25 be', { operation: 'describe', date: '2026-12-25' }],
    ['what day is it', { operation: 'describe', date: 'today' }],
    ['what day is today in Tokyo', { operation: 'describe', date: 'today', zone: 'Tokyo' }],
    ['what\'s today\'s date', { operation: 'describe', date: 'today' }],
    ['what is the date in Tokyo', { operation: 'describe', date: 'today', zone: 'Tokyo' }],
    ['the weekday of 2026-03-01', { operation: 'describe', date: '2026-03-01' }],
    ['what is the ISO week of 2026-01-01', { operation: 'describe', date: '2026-01-01' }],
    ['which week is it', { operation: 'describe', date: 'today' }],
    ['is 2028 a leap year', { operation: 'describe', date: '2028' }],
    ['is it a leap year', { operation: 'describe', date: 'today' }],
    ['when is christmas', { operation: 'describe', date: 'christmas' }],
    ['2026-02-30', { operation: 'describe', date: '2026-02-30' }],
  ]
  const defined = (request: object | undefined): object => JSON.parse(JSON.stringify(request ?? {}))
  for (const [sentence, expected] of table) assert.deepEqual(defined(askDate(sentence)), expected, sentence)
})

test('other questions are left alone', () => {
  const others = ['12 * (3 + 4)', 'how many seconds in a day', 'convert 3 days to hours', 'what day is that',
    'days until that',
    'what is love', '5 minutes + 3 minutes', 'in hours', 'is it good',
    'what is the difference between 9 and 4',
    'the year before last', 'x'.repeat(5000), '2026-01-01 '.repeat(50)]
  for (const sentence of others) assert.equal(askDate(sentence), undefined, sentence)
})
