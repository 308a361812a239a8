import assert from 'node:assert/strict'
import test from 'node:test'
import { PlainLease, Quota } from '../../../lib/kernel/util/quota.ts'
import type { Lease } from '../../../lib/kernel/util/quota.ts'

/** A quota whose leases are made as they are taken. */
class Bound extends Quota {
  constructor(max: number) {
    super('tests', max)
  }

  has(caller: string, more = 1): boolean {
    return this.hasRoom({ caller }, more)
  }

  /** Takes one after the other as long as there is room. */
  fill(caller: string, most: number): readonly Lease[] {
    const taken: Lease[] = []
    for (let at = 0; at < most; at++) {
      const lease = new PlainLease(caller)
      if (!this.take(lease, 1)) break
      taken.push(lease)
    }
    return taken
  }
}

test('a caller who is alone may use all of a bound, and no more', () => {
  const bound = new Bound(8)
  assert.equal(bound.fill('a', 100).length, 8)
  assert.equal(bound.used, 8)
})

test('one who fills a bound shuts nobody out, and what there is beyond it is bounded', () => {
  const bound = new Bound(120)
  assert.equal(bound.fill('a', 200).length, 120)
  assert.equal(bound.fill('b', 40).length, 40)
  assert.equal(bound.has('a'), false, 'who holds most gets nothing more')
  assert.equal(bound.fill('c', 200).length, 20)
  assert.equal(bound.used, 180)
  assert.equal(bound.has('d'), false)
})

test('beyond a bound nobody gets more than an equal part', () => {
  const bound = new Bound(12)
  bound.fill('a', 12)
  assert.equal(bound.fill('b', 1).length, 1)
  // Of three callers each may have four.
  assert.deepEqual([bound.has('c', 5), bound.has('c', 4)], [false, true])
})

test('what is given back is there again, and who has left counts for nothing', () => {
  const bound = new Bound(4)
  const held = bound.fill('a', 4)
  assert.equal(bound.has('a'), false)
  for (const one of held) one.close()
  assert.equal(bound.used, 0)
  assert.equal(bound.fill('b', 100).length, 4)
  assert.equal(bound.fill('a', 100).length, 2)
})

test('of callers that come and go each is counted once, however often the bound is reached', () => {
  const bound = new Bound(10)
  const kept = bound.fill('a', 8)
  for (let round = 0; round < 20; round++) {
    const others = [...bound.fill(`b${round}`, 3), ...bound.fill(`c${round}`, 3)]
    assert.equal(others.length, 6)
    for (const one of others) one.close()
  }
  for (const one of kept) one.close()
  assert.deepEqual([bound.used, bound.fill('d', 100).length], [0, 10])
})

test('a closed lease holds nothing and takes nothing, and is closed once', () => {
  const bound = new Bound(10)
  const lease = new PlainLease('a')
  assert.ok(bound.take(lease, 4))
  bound.add(lease, 3)
  lease.close()
  lease.close()
  assert.deepEqual([bound.used, lease.amount, lease.isClosed], [0, 0, true])
  assert.equal(bound.take(lease, 1), false)
  bound.add(lease, 1)
  assert.deepEqual([bound.used, [...bound.leases]], [0, []])
})

test('a lease that is retained stays open until it is released, in whatever order its owner ends', () => {
  const bound = new Bound(10)
  const lease = new PlainLease('a')
  bound.take(lease, 2)
  lease.retain()
  lease.close()
  assert.deepEqual([bound.used, lease.isClosed], [2, false])
  assert.ok(bound.take(lease, 1))
  lease.release()
  assert.deepEqual([bound.used, lease.isClosed], [0, true])
  lease.retain()
  lease.release()
  assert.equal(lease.isClosed, true)
})

test('a quota says what it holds, and for whom', () => {
  const bound = new Bound(10)
  for (const caller of ['a', 'b']) bound.take(new PlainLease(caller), caller === 'a' ? 2 : 3)
  assert.deepEqual([...bound.leases].map(({ caller, amount }) => [caller, amount]), [['a', 2], ['b', 3]])
})
