import assert from 'node:assert/strict'
import test from 'node:test'
import { CallerShares, Share, Shares } from '../../lib/util/shares.ts'
import type { Holder } from '../../lib/util/shares.ts'

type Account = readonly [name: string, sizes: readonly number[]]

/** Accounts of which each has been given so many things of these sizes, in this order. */
function sharesOf(maxCount: number, maxBytes: number, accounts: readonly Account[]): {
  readonly shares: Shares<string>
  readonly of: ReadonlyMap<string, Share<string>>
} {
  const shares = new Shares<string>(maxCount, maxBytes)
  const of = new Map(accounts.map(([name]) => [name, new Share(name)]))
  for (const [name, sizes] of accounts) for (const size of sizes) shares.change(of.get(name)!, 1, size)
  return { shares, of }
}

test('who holds most of what is short is the largest', () => {
  const accounts: readonly Account[] = [['many', [1, 1, 1]], ['few', [5, 5]], ['one', [20]]]
  const ask = ({ isOver, largest, next, asLarge }: Shares<string>): unknown => (
    [isOver, largest, next, asLarge]
  )
  assert.deepEqual(ask(sharesOf(5, 1_000, accounts).shares), [true, 'many', 'few', undefined])
  const { shares } = sharesOf(5, 30, accounts)
  assert.deepEqual(ask(shares), [true, 'one', 'few', undefined])
  assert.deepEqual([shares.count, shares.bytes], [6, 33])
  assert.equal(sharesOf(6, 33, accounts).shares.isOver, false)
  assert.deepEqual(ask(sharesOf(1, 1, []).shares), [false, undefined, undefined, undefined])
})

test('those who hold equally much take turns, the one that has not changed for longest first', () => {
  for (const [maxCount, maxBytes] of [[3, 1_000], [1_000, 3]] as const) {
    const { shares, of } = sharesOf(maxCount, maxBytes, [['a', [1, 1]], ['b', [1, 1]], ['c', [1, 1]]])
    assert.deepEqual([shares.largest, shares.asLarge], ['a', 'b'])
    shares.change(of.get('a')!, 0, 0)
    const gave: string[] = []
    while (shares.isOver) {
      gave.push(shares.largest!)
      shares.change(of.get(shares.largest!)!, -1, -1)
    }
    assert.deepEqual(gave, ['b', 'c', 'a'])
  }
})

test('who holds nothing any more is not asked, and may begin again', () => {
  for (const [maxCount, maxBytes] of [[1, 1_000], [1_000, 1]] as const) {
    const { shares, of } = sharesOf(maxCount, maxBytes, [['a', [1, 1]], ['b', [1]]])
    assert.equal(shares.largest, 'a')
    for (const _ of [1, 2]) shares.change(of.get('a')!, -1, -1)
    shares.setAside(1, 1)
    assert.deepEqual([shares.isOver, shares.largest, shares.next], [true, 'b', undefined])
    shares.change(of.get('a')!, 1, 5)
    assert.deepEqual([shares.largest, shares.next], maxBytes === 1 ? ['a', 'b'] : ['b', 'a'])
    shares.setAside(-1, -1)
    assert.deepEqual([shares.count, shares.bytes], [2, 6])
  }
})

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
