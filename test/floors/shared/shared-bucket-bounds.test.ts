/** Where a shared store does not answer as it should. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { SharedBuckets } from '../../../lib/floors/shared/shared-buckets.ts'
import type { SharedPlace } from '../../../lib/floors/shared/shared-buckets.ts'

/** Ten calls a second, eighty at once. */
const QUOTA = { burst: 80, perMinute: 600 }
const BURST_MS = 8_000
const WALL = 1_700_000_000_000

interface Asked { reads: number; writes: number }

/** A store whose entry is always another, by so many milliseconds ahead of the clock. */
function contested(aheadMs: number, asked: Asked): SharedPlace {
  return {
    isUnavailable: false,
    read() {
      asked.reads++
      return Promise.resolve({ key: '', value: String(WALL + aheadMs), version: asked.reads })
    },
    write() {
      asked.writes++
      return Promise.resolve(undefined)
    },
  }
}

test('what a process knows of all shared buckets has 8 MiB', async () => {
  const key = (n: number): string => `${n}${'x'.repeat(1_000_000)}`
  const place: SharedPlace = {
    isUnavailable: false, read: () => Promise.resolve(undefined), write: () => Promise.resolve(1),
  }
  const shared = new SharedBuckets('calls', QUOTA, place, () => WALL)
  for (let n = 0; n < 8; n++) await shared.take(key(n), 1, 0)
  assert.equal(shared.size, 4)
})

test('a store that cannot be reached is not asked', () => {
  const place: SharedPlace = { isUnavailable: true, read: () => assert.fail(), write: () => assert.fail() }
  const shared = new SharedBuckets('calls', { burst: 2, perMinute: 60 }, place, () => WALL)
  const taken = [1, 2, 3].map(() => shared.take('a', 1, 0))
  assert.deepEqual(taken.map((one) => 'allowed' in one && one.allowed), [true, true, false])
})

test('an eighth of the burst is reserved at a time, and is spent or lost without the store', async () => {
  let wall = WALL
  let writes = 0
  const place: SharedPlace = {
    isUnavailable: false,
    read: () => Promise.resolve(undefined),
    write: () => Promise.resolve(++writes),
  }
  const shared = new SharedBuckets('calls', QUOTA, place, () => wall)
  for (let n = 0; n < 10; n++) await shared.take('a', 1, 0)
  assert.equal(writes, 1)
  await shared.take('a', 1, 0)
  assert.equal(writes, 2)
  wall += BURST_MS - 1
  await shared.take('a', 1, 0)
  assert.equal(writes, 2)
  // They would have flowed in by now, so they are no more.
  wall += 1
  await shared.take('a', 1, 0)
  assert.equal(writes, 3)
})

test('who loses each race gives up after eight, and counts alone', async () => {
  const asked = { reads: 0, writes: 0 }
  const shared = new SharedBuckets('calls', QUOTA, contested(0, asked), () => WALL)
  assert.equal((await shared.take('a', 1, 0)).allowed, true)
  assert.deepEqual(asked, { reads: 8, writes: 8 })
})

test('an entry more than a minute ahead of a full bucket is of a clock that is off', async () => {
  for (const [aheadMs, isBelieved] of [[BURST_MS + 60_000, true], [BURST_MS + 60_001, false]] as const) {
    const asked = { reads: 0, writes: 0 }
    const shared = new SharedBuckets('calls', QUOTA, contested(aheadMs, asked), () => WALL)
    assert.equal((await shared.take('a', 1, 0)).allowed, !isBelieved)
    assert.deepEqual(asked, { reads: 1, writes: 1 })
  }
})
