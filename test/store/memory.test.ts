import assert from 'node:assert/strict'
import test from 'node:test'
import { memoryStore } from '../../lib/index.ts'
import type { Entry, Store } from '../../lib/index.ts'

const later = Date.now() + 60_000

function kept(owner: string, value = 'x', expiresAt = later): Entry {
  return { owner, value, expiresAt }
}

function keysOf(store: Store, owner: string): readonly string[] {
  return store.list('s', owner) as readonly string[]
}

test('what is kept is there for its owner, on its shelf, and for nobody else', () => {
  const store = memoryStore({ maxEntries: 10, maxBytes: 1_000 })
  store.write('s', 'a', kept('ann', 'one'))
  assert.equal((store.read('s', 'a', 'ann') as Entry).value, 'one')
  assert.equal(store.read('s', 'a', 'bob'), undefined)
  assert.equal(store.read('t', 'a', 'ann'), undefined)
  store.remove('s', 'a', 'bob')
  assert.deepEqual(keysOf(store, 'ann'), ['a'])
  assert.deepEqual(keysOf(store, 'bob'), [])
  store.remove('s', 'a', 'ann')
  store.remove('s', 'a', 'ann')
  assert.equal(store.read('s', 'a', 'ann'), undefined)
  assert.deepEqual(keysOf(store, 'ann'), [])
})

test('a later value stands in the place of the one before, and is the last written', () => {
  const store = memoryStore({ maxEntries: 10, maxBytes: 1_000 })
  for (const [key, value] of [['a', '1'], ['b', '2'], ['a', '3']] as const) {
    store.write('s', key, kept('ann', value))
  }
  assert.deepEqual(keysOf(store, 'ann'), ['a', 'b'])
  assert.equal((store.read('s', 'a', 'ann') as Entry).value, '3')
})

test('what has expired is gone, and goes first', () => {
  const store = memoryStore({ maxEntries: 2, maxBytes: 1_000 })
  store.write('s', 'a', kept('ann'))
  store.write('s', 'old', kept('bob', 'x', Date.now() - 1))
  assert.equal(store.read('s', 'old', 'bob'), undefined)
  store.write('s', 'older', kept('bob', 'x', Date.now() - 1))
  assert.deepEqual(keysOf(store, 'bob'), [])
  store.write('s', 'b', kept('ann'))
  assert.deepEqual(keysOf(store, 'ann'), ['b', 'a'])
})

test('where entries are too many, the oldest of the owner of most gives way', () => {
  const store = memoryStore({ maxEntries: 4, maxBytes: 1_000 })
  store.write('s', 'only', kept('bob', 'x'.repeat(100)))
  for (const key of ['a', 'b', 'c', 'd']) store.write('s', key, kept('ann'))
  assert.deepEqual(keysOf(store, 'bob'), ['only'])
  assert.deepEqual(keysOf(store, 'ann'), ['d', 'c', 'b'])
})

test('where bytes are too many, the oldest of the owner of most bytes gives way', () => {
  const store = memoryStore({ maxEntries: 100, maxBytes: 1_000 })
  for (const key of ['a', 'b', 'c']) store.write('s', key, kept('ann', 'é'.repeat(50)))
  for (const key of ['x', 'y']) store.write('s', key, kept('bob', 'z'.repeat(400)))
  assert.deepEqual(keysOf(store, 'ann'), ['c', 'b', 'a'])
  assert.deepEqual(keysOf(store, 'bob'), ['y'])
})

test('what can never fit is not kept, and pushes nobody out', () => {
  const store = memoryStore({ maxEntries: 100, maxBytes: 1_000 })
  store.write('s', 'a', kept('ann'))
  store.write('s', 'a2', kept('ann'))
  store.write('s', 'a2', kept('ann', 'x'.repeat(1_001)))
  assert.deepEqual(keysOf(store, 'ann'), ['a'])
})

test('names that mean something to JavaScript, or hold line breaks, are plain names', () => {
  const store = memoryStore({ maxEntries: 100, maxBytes: 1_000 })
  for (const key of ['__proto__', 'constructor', 'a\nb']) {
    assert.equal(store.read('s', key, 'ann'), undefined)
    store.write('s', key, kept('__proto__', key))
    assert.equal((store.read('s', key, '__proto__') as Entry).value, key)
  }
})
