import assert from 'node:assert/strict'
import { test } from 'node:test'

import { findZone, offsetText } from '../../lib/assistant/zones.ts'

const summer = Date.UTC(2026, 6, 1)
const winter = Date.UTC(2026, 0, 1)

test('zones go by IANA name, city, country, abbreviation and offset', () => {
  const table: readonly (readonly [string, string, string, string])[] = [
    ['Tokyo', 'Tokyo', 'UTC+09:00', 'UTC+09:00'], ['new york', 'New York', 'UTC-05:00', 'UTC-04:00'],
    ['San Francisco', 'San Francisco', 'UTC-08:00', 'UTC-07:00'],
    ['india', 'India', 'UTC+05:30', 'UTC+05:30'],
    ['IST', 'IST', 'UTC+05:30', 'UTC+05:30'], ['est', 'EST', 'UTC-05:00', 'UTC-05:00'],
    ['et', 'ET', 'UTC-05:00', 'UTC-04:00'],
    ['utc', 'UTC', 'UTC', 'UTC'], ['UTC+5:30', 'UTC+05:30', 'UTC+05:30', 'UTC+05:30'],
    ['-03:00', 'UTC-03:00', 'UTC-03:00', 'UTC-03:00'],
    ['europe/london', 'Europe/London', 'UTC', 'UTC+01:00'], ['the UK', 'UK', 'UTC', 'UTC+01:00'],
    ['São Paulo', 'São Paulo', 'UTC-03:00', 'UTC-03:00'], ['Berlin time', 'Berlin', 'UTC+01:00', 'UTC+02:00'],
    ['US/Eastern', 'America/New_York', 'UTC-05:00', 'UTC-04:00'], ['Kyiv', 'Kyiv', 'UTC+02:00', 'UTC+03:00'],
    ['Asia/Kolkata', 'Asia/Kolkata', 'UTC+05:30', 'UTC+05:30'],
    ['The Hague', 'Hague', 'UTC+01:00', 'UTC+02:00'],
  ]
  for (const [name, label, inWinter, inSummer] of table) {
    const zone = findZone(name)
    assert.deepEqual([zone.label, offsetText(zone.offset(winter)), offsetText(zone.offset(summer))],
      [label, inWinter, inSummer], name)
  }
})

test('old offsets have seconds', () => {
  assert.equal(findZone('Paris').offset(Date.UTC(1880, 0, 1)) % 60_000, 21_000)
})

test('places that are none, or too large, are refused with help', () => {
  assert.throws(() => findZone('Tokio'),
    { message: 'Unknown place or time zone "Tokio". Did you mean "tokyo"?' })
  assert.throws(() => findZone('the USA'), /"USA" has several time zones. Name a city/)
  for (const none of ['', '../etc/passwd', '__proto__', 'UTC+25', 'x'.repeat(5000)]) {
    assert.throws(() => findZone(none), /Unknown place or time zone/)
  }
})
