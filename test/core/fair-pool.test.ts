import assert from 'node:assert/strict'
import test from 'node:test'
import { FairPool } from '../../lib/core/fair-pool.ts'

function poolOf(maxCount: number, maxBytes = Infinity, mayEvict?: (value: string) => boolean): {
  readonly pool: FairPool<string>
  readonly evicted: string[]
} {
  const evicted: string[] = []
  return { pool: new FairPool({ maxCount, maxBytes }, (value) => evicted.push(value), mayEvict), evicted }
}

test('the owner that holds most makes room, the value used longest ago first', () => {
  const { pool, evicted } = poolOf(6)
  pool.add('ann', 'a1', 1)
  const [first] = ['b1', 'b2', 'b3', 'b4', 'b5'].map((value) => pool.add('bob', value, 1))
  pool.touch(first!)
  pool.add('bob', 'b6', 1)
  pool.add('ann', 'a2', 1)
  assert.deepEqual(evicted, ['b2', 'b3'])
  assert.deepEqual([...pool.of('ann')], ['a2', 'a1'])
  assert.deepEqual([...pool.of('bob')], ['b6', 'b1', 'b5', 'b4'])
})

test('a flood of one owner never reaches another who holds little', () => {
  const { pool, evicted } = poolOf(1_000, 1_000_000)
  const small = ['ann', 'cat', 'dan'].map((owner) => pool.add(owner, `${owner}'s`, 100)!)
  for (let count = 0; count < 20_000; count++) pool.add('bob', `b${count}`, 1_000)
  assert.ok(evicted.every((value) => value.startsWith('b')))
  assert.ok(pool.bytes <= 1_000_000 && pool.count <= 1_000)
  for (const slot of small) pool.remove(slot)
  assert.deepEqual([...pool.of('ann')], [])
})

test('bytes are bounded as they grow, and what can never fit is not kept', () => {
  const { pool, evicted } = poolOf(10, 100)
  const growing = pool.add('ann', 'growing', 10)!
  pool.add('ann', 'other', 50)
  pool.resize(growing, 60)
  assert.deepEqual([evicted, pool.bytes], [['other'], 60])
  assert.equal(pool.add('bob', 'huge', 101), undefined)
  assert.deepEqual([pool.count, pool.bytes], [1, 60])
})

test('what is in use does not make room; where nothing can, there is none', () => {
  const busy = new Set(['a'])
  const { pool, evicted } = poolOf(2, Infinity, (value) => !busy.has(value))
  pool.add('ann', 'a', 1)
  pool.add('ann', 'b', 1)
  pool.add('bob', 'c', 1)
  assert.deepEqual(evicted, ['b'])
  busy.add('c')
  assert.equal(pool.add('bob', 'd', 1), undefined)
  assert.equal(pool.count, 2)
})

test('making room takes no longer among many owners than among few', () => {
  const { pool, evicted } = poolOf(10_000)
  for (let owner = 0; owner < 20_000; owner++) pool.add(`owner ${owner}`, String(owner), 1)
  assert.equal(evicted.length, 10_000)
  assert.equal(pool.count, 10_000)
})
