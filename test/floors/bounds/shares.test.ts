import assert from 'node:assert/strict'
import test from 'node:test'
import { Share, Shares } from '../../../lib/floors/bounds/shares.ts'

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
