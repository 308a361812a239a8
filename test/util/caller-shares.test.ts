import assert from 'node:assert/strict'
import test from 'node:test'
import { CallerShares } from '../../lib/util/caller-shares.ts'
import type { Holder } from '../../lib/util/caller-shares.ts'

/** A bound and those who hold something of it, as each user of the shares has them. */
class Bound {
  readonly #max: number
  readonly #holders = new Set<Holder>()
  readonly #shares = new CallerShares(() => this.#holders)
  used = 0

  constructor(max: number) {
    this.#max = max
  }

  hasRoom(caller: string, more = 1): boolean {
    const used = this.used + more
    return used <= this.#max || this.#shares.mayExceed(this.#max, used, caller, more)
  }

  take(caller: string, held = 1): Holder | undefined {
    if (!this.hasRoom(caller, held)) return undefined
    const holder = { caller, held }
    this.#holders.add(holder)
    this.used += held
    this.#shares.changed(holder, held, this.#max, this.used)
    return holder
  }

  give(holder: Holder): void {
    if (!this.#holders.delete(holder)) return
    this.used -= holder.held
    this.#shares.changed(holder, -holder.held, this.#max, this.used)
  }

  /** Takes one after the other as long as there is room. */
  fill(caller: string, most: number): readonly Holder[] {
    const taken: Holder[] = []
    for (let at = 0; at < most; at++) {
      const holder = this.take(caller)
      if (holder === undefined) break
      taken.push(holder)
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
  assert.equal(bound.hasRoom('a'), false, 'who holds most gets nothing more')
  assert.equal(bound.fill('c', 200).length, 20)
  assert.equal(bound.used, 180)
  assert.equal(bound.hasRoom('d'), false)
})

test('beyond a bound nobody gets more than an equal part', () => {
  const bound = new Bound(12)
  bound.fill('a', 12)
  assert.equal(bound.fill('b', 1).length, 1)
  // Of three callers each may have four.
  assert.deepEqual([bound.hasRoom('c', 5), bound.hasRoom('c', 4)], [false, true])
})

test('what is given back is there again, and who has left counts for nothing', () => {
  const bound = new Bound(4)
  const held = bound.fill('a', 4)
  assert.equal(bound.hasRoom('a'), false)
  for (const one of held) bound.give(one)
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
    for (const one of others) bound.give(one)
  }
  for (const one of kept) bound.give(one)
  assert.deepEqual([bound.used, bound.fill('d', 100).length], [0, 10])
})
