import assert from 'node:assert/strict'
import test from 'node:test'
import { FairPool } from '../../../lib/floors/bounds/fair-pool.ts'
import { randomUuid } from '../../../lib/kernel/wire/random.ts'

function poolOf(maxCount: number, maxBytes = Infinity, mayEvict?: (value: string) => boolean): {
  readonly pool: FairPool<string, string>
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

/** A pool of values and of texts, two under each id. */
function textPool(maxCount: number, maxBytes = Infinity): {
  readonly pool: FairPool<string, string>
  readonly evicted: string[]
  readonly add: (owner: string, name: string, at?: number) => boolean
  readonly names: (owner: string) => readonly string[]
} {
  const evicted: string[] = []
  const mayEvict = (value: string): boolean => !value.startsWith('live')
  const pool = new FairPool<string, string>(
    { maxCount, maxBytes }, (value) => evicted.push(value), mayEvict, 2, 64,
  )
  return {
    pool,
    evicted,
    add: (owner, name, at = 0) => pool.addTexts(owner, randomUuid(), [name, ''], 10, at),
    names: (owner) => [...pool.textsOf(owner)].map(({ texts }) => texts[0]!),
  }
}

test('texts count as values do, and of an owner they make room first, the oldest of them', () => {
  const { pool, evicted, add, names } = textPool(5)
  pool.add('ann', 'a', 1)
  pool.add('bob', 'b', 1)
  for (const name of ['1', '2']) assert.ok(add('bob', name))
  assert.deepEqual([pool.count, pool.textCount, pool.bytes], [4, 2, 24])
  assert.ok(add('ann', '3'))
  assert.ok(add('ann', '4'))
  assert.deepEqual([names('bob'), names('ann'), evicted], [['2'], ['4', '3'], []])
  assert.ok(pool.add('bob', 'b2', 1))
  assert.deepEqual([names('bob'), names('ann'), evicted], [['2'], ['4'], []])
  for (const name of ['5', '6', '7', '8']) assert.ok(add('cat', name))
  assert.deepEqual([names('cat').length, pool.count], [2, 5])
  assert.deepEqual([[...pool.of('ann')], [...pool.of('bob')]], [['a'], ['b2', 'b']])
})

test('texts find no room among what may not leave, and none where they can never fit', () => {
  const { pool, evicted, add, names } = textPool(3, 100)
  for (const value of ['live 1', 'live 2', 'other']) pool.add('ann', value, 1)
  assert.ok(add('bob', 'in'))
  assert.deepEqual(evicted, ['other'])
  assert.equal(add('bob', 'x'.repeat(91)), false)
  assert.deepEqual([names('bob'), pool.count, pool.bytes], [['in'], 3, 14])
  assert.ok(pool.add('cat', 'live 3', 1))
  assert.equal(add('bob', 'none'), false)
  assert.deepEqual([pool.count, pool.bytes, names('bob')], [3, 3, []])
})

test('texts are taken out by their id, or when they are old', () => {
  const { pool, add, names } = textPool(10)
  const id = randomUuid()
  for (const [at, name] of ['0', '1', '2', '3'].entries()) add(at % 2 === 0 ? 'ann' : 'bob', name, at)
  pool.addTexts('ann', id, ['é', 'x'.repeat(100)], 10, 4, 'tag')
  const texts = ['é', 'x'.repeat(100)]
  const [first] = pool.textsOf('ann')
  assert.deepEqual([first?.id, first?.at, first?.tag, first?.texts, first?.text(1)],
    [id, 4, 'tag', texts, texts[1]])
  assert.deepEqual(pool.takeTexts(id), { id, owner: 'ann', texts, at: 4, tag: 'tag' })
  assert.equal(pool.takeTexts(id), undefined)
  pool.dropTexts(1)
  assert.deepEqual([names('ann'), names('bob'), pool.count, pool.bytes], [['2'], ['3'], 2, 22])
  pool.dropTexts(3)
  assert.deepEqual([pool.count, pool.bytes, names('eve')], [0, 0, []])
})
