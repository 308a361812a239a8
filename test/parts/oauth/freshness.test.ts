import assert from 'node:assert/strict'
import test from 'node:test'
import { freshMsOf } from '../../../lib/parts/oauth/freshness.ts'
import type { CacheHeaders } from '../../../lib/parts/oauth/freshness.ts'

const date = 'Thu, 01 Jan 2026 00:00:00 GMT'
const said: readonly (readonly [headers: CacheHeaders, ms: number | 'no-store' | undefined])[] = [
  [{}, undefined], [{ 'cache-control': '' }, undefined], [{ 'cache-control': 'public' }, undefined],
  [{ age: '5' }, undefined],
  [{ 'cache-control': 'max-age=60' }, 60_000], [{ 'cache-control': 'Public, MAX-AGE=60' }, 60_000],
  [{ 'cache-control': 'max-age="60"' }, 60_000], [{ 'cache-control': 'max-age = 60 , public' }, 60_000],
  [{ 'cache-control': 'max-age=60, max-age=30' }, 30_000], [{ 'cache-control': 'max-age=0' }, 0],
  [{ 'cache-control': 'max-age=-1' }, 0], [{ 'cache-control': 'max-age=soon' }, 0],
  [{ 'cache-control': 'max-age' }, 0], [{ 'cache-control': 's-maxage=9' }, undefined],
  [{ 'cache-control': 'max-age=60', age: '20' }, 40_000], [{ 'cache-control': 'max-age=60', age: '61' }, 0],
  [{ 'cache-control': 'max-age=60', age: 'x' }, 60_000],
  [{ 'cache-control': 'max-age=60, no-store' }, 'no-store'], [{ 'cache-control': 'NO-CACHE' }, 'no-store'],
  [{ 'cache-control': 'no-cache="set-cookie"' }, 'no-store'],
  [{ expires: 'Thu, 01 Jan 2026 00:01:00 GMT', date }, 60_000],
  [{ expires: 'Thu, 01 Jan 2026 00:01:00 GMT', date, age: '20' }, 40_000],
  [{ expires: date, date: 'Thu, 01 Jan 2026 00:01:00 GMT' }, 0], [{ expires: '0', date }, 0],
  [{ expires: 'Thu, 01 Jan 2026 00:01:00 GMT', date, 'cache-control': 'max-age=5' }, 5_000],
]

test('headers say for how long an answer is fresh', () => {
  for (const [headers, ms] of said) assert.equal(freshMsOf(headers), ms, JSON.stringify(headers))
})

test('without a date an answer expires by the clock here', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse(date) })
  assert.equal(freshMsOf({ expires: 'Thu, 01 Jan 2026 00:00:09 GMT' }), 9_000)
})
