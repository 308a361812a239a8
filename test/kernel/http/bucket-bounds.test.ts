/** What buckets hold, and what is told of them. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { Buckets } from '../../../lib/kernel/util/buckets.ts'
import { createRateLimits, FailedIdentifications } from '../../../lib/kernel/http/access/rate.ts'

/** Ten calls a second, eighty at once. */
const QUOTA = { burst: 80, perMinute: 600 }

test('a token flows in at its very millisecond', () => {
  const buckets = new Buckets({ burst: 1, perMinute: 60 })
  assert.deepEqual(buckets.take('a', 1, 0), { allowed: true, remaining: 0, resetMs: 1_000 })
  assert.deepEqual(buckets.take('a', 1, 999), { allowed: false, remaining: 0, resetMs: 1 })
  assert.equal(buckets.lacking('a', 999), 1)
  assert.equal(buckets.lacking('a', 1_000), 0)
  assert.deepEqual(buckets.take('a', 1, 1_000), { allowed: true, remaining: 0, resetMs: 1_000 })
  // The rounding of a clock is no debt.
  assert.equal(buckets.take('a', 1, 1_999.9995).allowed, true)
})

test('what costs more than a bucket takes a whole one', () => {
  const buckets = new Buckets({ burst: 5, perMinute: 60 })
  assert.deepEqual(buckets.take('a', 100, 0), { allowed: true, remaining: 0, resetMs: 5_000 })
  assert.equal(buckets.take('a', 1, 999).allowed, false)
  assert.equal(buckets.take('a', 100, 4_999).allowed, false)
  assert.equal(buckets.take('a', 100, 5_000).allowed, true)
})

test('a refused call takes nothing', () => {
  const buckets = new Buckets({ burst: 2, perMinute: 60 })
  buckets.take('a', 1, 0)
  for (let n = 0; n < 5; n++) assert.equal(buckets.take('a', 2, 0).allowed, false)
  assert.equal(buckets.take('a', 1, 0).allowed, true)
})

test('all buckets of a process together have 8 MiB', () => {
  const key = (n: number): string => `${n}${'x'.repeat(1_000_000)}`
  const buckets = new Buckets(QUOTA)
  for (let n = 0; n < 8; n++) buckets.take(key(n), 1, 0)
  assert.equal(buckets.size, 4)
})

test('what a limit says is in whole seconds, and of its own kind', (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const rateLimit = { perMinute: 60, burst: 2, initializePerMinute: 1 }
  const limits = createRateLimits(rateLimit)
  const policy = ['RateLimit-Policy', '"calls";q=2;w=2']
  assert.deepEqual(limits('call', 'a', 1), {
    headers: [...policy, 'RateLimit', '"calls";r=1;t=1'], overuse: undefined,
  })
  limits('call', 'a', 1)
  now = 1
  const headers = [...policy, 'RateLimit', '"calls";r=0;t=1']
  assert.deepEqual(limits('call', 'a', 1), {
    headers,
    overuse: { detail: 'Too many calls; try again in 1 s', headers: ['Retry-After', '1', ...headers] },
  })
  const handshake = limits('initialize', 'a', 1)
  assert.ok(handshake !== undefined && 'overuse' in handshake && handshake.overuse === undefined)
  const another = limits('initialize', 'a', 1)
  assert.match(String(another && 'overuse' in another && another.overuse?.detail), /^Too many handshakes/)
  assert.equal(createRateLimits({ perMinute: 60 })('initialize', 'a', 1), undefined)
  assert.equal(createRateLimits({ initializePerMinute: 60 })('call', 'a', 1), undefined)
})

test('options of a limit are whole numbers above zero', () => {
  for (const wrong of [0, -1, 1.5, NaN, Infinity, '60', null]) {
    const options = { perMinute: wrong } as never
    assert.throws(() => createRateLimits(options), { name: 'TypeError', message: /rateLimit\.perMinute is / })
  }
  assert.throws(() => createRateLimits({}), /limits nothing/)
  assert.throws(() => createRateLimits({ burst: 5 }), /burst alone limits nothing/)
  for (const fine of [{ perMinute: 1 }, { initializePerMinute: 1 }, { perMinute: 1, burst: undefined }]) {
    assert.ok(createRateLimits(fine))
  }
})

test('wrong keys are told of once a minute, in the log', (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const logged: unknown[] = []
  const failures = new FailedIdentifications(1, (...line) => { logged.push(line) })
  const guess = (): number => [1, 2, 3].map(() => failures.count('10.0.0.1')).filter((one) => one).length
  assert.equal(guess(), 1)
  assert.equal(logged.length, 1)
  assert.throws(() => failures.check('10.0.0.1'), /try again in 60 s|try again in 120 s/)
  now = 59_999
  assert.throws(() => failures.check('10.0.0.1'))
  assert.equal(logged.length, 1)
  now = 60_000
  guess()
  assert.equal(logged.length, 2)
  failures.check(undefined)
  assert.equal(failures.count(undefined), undefined)
  const unlimited = new FailedIdentifications(Infinity, () => assert.fail())
  for (let n = 0; n < 100; n++) assert.equal(unlimited.count('10.0.0.1'), undefined)
  unlimited.check('10.0.0.1')
})
