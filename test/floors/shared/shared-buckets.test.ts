import assert from 'node:assert/strict'
import test from 'node:test'
import { SharedBuckets } from '../../../lib/floors/shared/shared-buckets.ts'
import { Buckets } from '../../../lib/kernel/util/buckets.ts'
import { createRateLimits } from '../../../lib/kernel/http/access/rate.ts'
import { Fault } from '../../../lib/kernel.ts'
import { memoryStore } from '../../../lib/stores/memory.ts'
import { fleetOf, jsonOf, request } from '../../fixtures/kernel.ts'
import { standingClock } from '../../fixtures/time.ts'
import type { BucketSize, Taken } from '../../../lib/kernel/util/buckets.ts'
import type { MemoryStore } from '../../../lib/floors/memory/memory-store.ts'
import type { SharedPlace } from '../../../lib/floors/shared/shared-buckets.ts'

const QUOTA: BucketSize = { burst: 80, perMinute: 600 }

/** Processes that count in one store, whose clock stands still until it is set. */
interface Deployment {
  nowMs: number
  /** Calls that the store was asked for, and whether it fails, or cannot be reached at all. */
  calls: number
  fails: boolean
  readonly store: MemoryStore
  readonly processes: readonly SharedBuckets[]
}

function deployment(
  count: number, quota: BucketSize = QUOTA, skewsMs: readonly number[] = [], maxBytes?: number,
): Deployment {
  const store = memoryStore({ isShared: true })
  const act = async <T>(work: () => T): Promise<T> => {
    made.calls++
    await new Promise((resolve) => setImmediate(resolve))
    if (made.fails) throw new Fault('busy', 'Away')
    return work()
  }
  const place: SharedPlace = {
    isUnavailable: false,
    read: (key) => act(() => store.read(key)),
    write: (...kept) => act(() => store.write(...kept)),
  }
  const processes = Array.from({ length: count }, (_, at) => (
    new SharedBuckets('calls', quota, place, () => made.nowMs + (skewsMs[at] ?? 0), maxBytes)
  ))
  const made: Deployment = { nowMs: 1_700_000_000_000, calls: 0, fails: false, store, processes }
  return made
}

/** How many of `tries` calls are let through, one after another, by each process in turn. */
async function letThrough(made: Deployment, tries: number, key = 'a'): Promise<number> {
  let allowed = 0
  for (let at = 0; at < tries; at++) {
    const taken = await made.processes[at % made.processes.length]!.take(key, 1, made.nowMs)
    if (taken.allowed) allowed++
  }
  return allowed
}

test('the burst is one for all processes, and so is what flows in, within an eighth for each', async () => {
  const quotas = [
    QUOTA, { burst: 8, perMinute: 60 }, { burst: 3, perMinute: 60 }, { burst: 100, perMinute: 7 },
  ]
  for (const quota of quotas) {
    const made = deployment(3, quota)
    const slack = 3 * Math.max(1, quota.burst / 8)
    const begun = made.nowMs
    let allowed = await letThrough(made, 300)
    assert.ok(allowed <= quota.burst && allowed >= quota.burst - slack, `${allowed} of ${quota.burst}`)
    // Three ask far more often than they may.
    while (made.nowMs - begun < 600_000) {
      made.nowMs += 250
      allowed += await letThrough(made, 12)
    }
    const promised = quota.burst + quota.perMinute * 10
    assert.ok(Math.abs(allowed - promised) <= slack, `${allowed} of ${promised}, burst ${quota.burst}`)
  }
})

test('those that come all at once are counted one by one, in every process', async () => {
  const made = deployment(3)
  const taken = await Promise.all(Array.from({ length: 300 }, (_, at) => (
    made.processes[at % 3]!.take('a', 1, 0)
  )))
  const allowed = taken.filter((one) => one.allowed).length
  assert.ok(allowed <= 80 && allowed >= 80 - 30, `${allowed}`)
})

test('what was set aside before a pause does not add up', async () => {
  const made = deployment(3)
  await letThrough(made, 3)
  // The bucket is full again, and each process has set nine aside that it has not used.
  made.nowMs += 60_000
  const allowed = await letThrough(made, 300)
  assert.ok(allowed <= 80 && allowed >= 50, `${allowed}`)
})

test('most calls ask the store nothing, and none that is refused does', async () => {
  const made = deployment(1)
  assert.equal(await letThrough(made, 80), 80)
  assert.equal(made.calls, 8)
  assert.equal(await letThrough(made, 1_000), 0)
  assert.equal(made.calls, 8)
  // A caller who never asks for more than flows in costs one write for ten calls.
  const steady = deployment(3)
  for (let at = 0; at < 300; at++) {
    steady.nowMs += 300
    assert.equal(await letThrough(steady, 1), 1)
  }
  assert.ok(steady.calls <= 300 / 10 * 3 + 9, `${steady.calls}`)
})

test('what is told is what one bucket would tell, while one process asks', async () => {
  const made = deployment(1)
  const own = new Buckets(QUOTA)
  const told = ({ allowed, remaining, resetMs }: Taken): readonly unknown[] => (
    [allowed, remaining, Math.round(resetMs)]
  )
  for (const [cost, afterMs] of [
    [1, 0], [5, 0], [20, 50], [60, 0], [1, 3_000], [200, 0], [200, 9_000],
  ] as const) {
    made.nowMs += afterMs
    const expected = told(own.take('a', cost, made.nowMs))
    assert.deepEqual(told(await made.processes[0]!.take('a', cost, made.nowMs)), expected, `${cost}`)
  }
})

test('callers have buckets of their own, which are gone when they are full', async () => {
  const made = deployment(2)
  for (const key of ['a', 'b', '__proto__', '', 'x'.repeat(2_000), '\0', '\ud800']) {
    assert.ok(await letThrough(made, 200, key) >= 60, key)
  }
  assert.equal(made.store.list('rate', '#rate', 100).length, 7)
})

test('callers without end take no memory without end', async () => {
  const made = deployment(1, QUOTA, [], 64 * 1024)
  for (let at = 0; at < 2_000; at++) await made.processes[0]!.take(`stranger ${at}`, 1, 0)
  assert.ok(made.processes[0]!.size < 64 * 1024 / 128)
})

test('while the store fails each process counts alone, with what it has let through', async () => {
  const made = deployment(3)
  assert.equal(await letThrough(made, 30), 30)
  made.fails = true
  const [one] = made.processes
  let allowed = 0
  for (let at = 0; at < 200; at++) if ((await one!.take('a', 1, made.nowMs)).allowed) allowed++
  assert.equal(allowed, 70)
  made.fails = false
})

test('clocks a little apart shift the limit by what flows in, and one that is off counts alone', async () => {
  const near = deployment(2, QUOTA, [0, 500])
  const allowed = await letThrough(near, 400)
  assert.ok(allowed >= 60 && allowed <= 85, `${allowed}`)
  const far = deployment(2, QUOTA, [0, -3_600_000])
  const [right, wrong] = far.processes
  for (let at = 0; at < 80; at++) assert.equal((await right!.take('a', 1, 0)).allowed, true)
  for (let at = 0; at < 80; at++) assert.equal((await wrong!.take('a', 1, 0)).allowed, true)
  for (const one of far.processes) assert.equal((await one.take('a', 1, 0)).allowed, false)
})

test('two limits of one store are apart', async () => {
  const store = memoryStore({ isShared: true })
  const place: SharedPlace = {
    isUnavailable: false, read: (key) => store.read(key), write: (...kept) => store.write(...kept),
  }
  const limits = createRateLimits({ perMinute: 1, initializePerMinute: 1 }, (name, size) => (
    new SharedBuckets(name, size, place, () => 1_700_000_000_000)
  ))
  for (const what of ['call', 'initialize'] as const) {
    assert.equal((await limits(what, 'a', 1))?.overuse, undefined)
    assert.notEqual((await limits(what, 'a', 1))?.overuse, undefined)
  }
})

/** What is counted, and how often it may come before it is refused, whichever process it comes to. */
const counted: readonly (readonly [path: string, body: unknown, count: number, refused: RegExp])[] = [
  ['/', { query: 'hi' }, 9, /Too many calls/],
  ['/probe', undefined, 3, /Too many handshakes/],
]

test('a caller is limited over all servers that share a store', async (t) => {
  standingClock(t)
  for (const [path, body, count, refused] of counted) {
    const { servers } = await fleetOf(t, 3, {
      agents: [{ name: 'Echo', run: (prompt) => prompt }],
      rateLimit: { perMinute: 1, burst: 9, initializePerMinute: 3 },
    })
    for (let at = 0; at < count + 3; at++) {
      const response = await servers[at % 3]!.fetch(request(path, body))
      assert.equal(response.status, at < count ? 200 : 429, `${path} ${at}`)
      if (at < count) {
        await response.body?.cancel()
        continue
      }
      assert.ok(Number(response.headers.get('retry-after')) >= 20)
      assert.match(JSON.stringify(await jsonOf(response)), refused)
    }
    for (const server of servers) await server.close()
  }
})

test('while the store does not answer each server counts alone', async (t) => {
  const { servers, connections } = await fleetOf(t, 2, {
    agents: [{ name: 'Echo', run: (prompt) => prompt }], rateLimit: { perMinute: 1, burst: 4 }, log: false,
    storeTimeoutMs: 500,
  })
  for (const connection of connections) connection.isCut = true
  for (const server of servers) {
    for (const status of [200, 200, 200, 200, 429]) {
      assert.equal((await server.fetch(request('/', { query: 'hi' }))).status, status)
    }
  }
})
