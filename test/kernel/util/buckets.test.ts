import assert from 'node:assert/strict'
import test from 'node:test'
import { Buckets } from '../../../lib/kernel/util/buckets.ts'

test('a bucket gives what it holds at once, and then what flows in', () => {
  const buckets = new Buckets({ burst: 3, perMinute: 60 })
  const take = (nowMs: number, cost = 1): readonly unknown[] => {
    const { allowed, remaining, resetMs } = buckets.take('a', cost, nowMs)
    return [allowed, remaining, Math.round(resetMs)]
  }
  assert.deepEqual(take(0), [true, 2, 1_000])
  assert.deepEqual(take(0), [true, 1, 2_000])
  assert.deepEqual(take(0), [true, 0, 3_000])
  assert.deepEqual(take(0), [false, 0, 1_000])
  assert.deepEqual(take(250), [false, 0, 750])
  assert.deepEqual(take(1_000), [true, 0, 3_000])
  assert.deepEqual(take(3_500), [true, 1, 1_500])
  // Never more than it holds, however long nobody came.
  assert.deepEqual(take(1_000_000), [true, 2, 1_000])
  assert.deepEqual(take(1_000_000, 2), [true, 0, 3_000])
  assert.deepEqual(take(1_000_500, 2), [false, 0, 1_500])
  // What is larger than the bucket takes a whole one.
  assert.deepEqual(take(2_000_000, 99), [true, 0, 3_000])
})

test('over any time at most the burst and what flowed in comes through', () => {
  for (const [burst, perMinute] of [[1, 60], [10, 7], [100, 6_000], [5, 59]] as const) {
    const buckets = new Buckets({ burst, perMinute })
    let allowed = 0
    for (let nowMs = 0; nowMs <= 600_000; nowMs += 5) if (buckets.take('a', 1, nowMs).allowed) allowed++
    assert.ok(Math.abs(allowed - (burst + 10 * perMinute)) <= 1, `${burst} ${perMinute}: ${allowed}`)
  }
})

test('what one caller uses up is nobody else\'s', () => {
  const buckets = new Buckets({ burst: 1, perMinute: 1 })
  for (const key of ['a', 'b', '__proto__', '']) assert.equal(buckets.take(key, 1, 0).allowed, true)
  for (const key of ['a', 'b', '__proto__', '']) assert.equal(buckets.take(key, 1, 0).allowed, false)
})

test('callers without end take no memory without end, and whoever goes on asking is not forgotten', () => {
  const buckets = new Buckets({ burst: 1, perMinute: 1 }, 64 * 1024)
  for (let at = 0; at < 20_000; at++) {
    buckets.take(`stranger ${at}`, 1, at)
    if (at > 0) assert.equal(buckets.take('busy', 1, 0).allowed, at === 1)
  }
  assert.ok(buckets.size < 64 * 1024 / 128)
  buckets.take('x'.repeat(100_000), 1, 0)
  assert.equal(buckets.size, 1)
})
