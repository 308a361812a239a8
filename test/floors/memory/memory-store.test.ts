import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { keptBytes } from '../../fixtures/heap.ts'
import { standingTime } from '../../fixtures/time.ts'
import { stepOf } from '../../../lib/floors/bounds/ranking.ts'
import { memoryStore } from '../../../lib/stores/memory.ts'
import type { MemoryStore, MemoryStoreOptions } from '../../../lib/floors/memory/memory-store.ts'
import type { StoreKey } from '../../../lib/kernel/store/store.ts'

const LONG_MS = 60_000

function place(owner: string, key: string, collection = 'things'): StoreKey {
  return { collection, owner, key }
}

function put(store: MemoryStore, owner: string, key: string, value = 'x', keepMs: number = LONG_MS): void {
  assert.notEqual(store.write(place(owner, key), value, keepMs, 'any'), undefined)
}

function keysOf(store: MemoryStore, owner: string, collection = 'things'): readonly string[] {
  return store.list(collection, owner, Infinity).map(({ key }) => key)
}

test('whatever it is asked, it answers at once', () => {
  const store = memoryStore()
  const answers = [
    store.write(place('ann', 'a'), 'x', LONG_MS, 0), store.read(place('ann', 'a')),
    store.list('things', 'ann', 9), store.remove(place('ann', 'a'), 'any'),
    store.publish('topic', 'said', { events: 1, ms: LONG_MS }),
  ]
  const heard: string[] = []
  const leave = store.follow('topic', 'kept', (text) => { heard.push(text) })
  store.publish('topic', 'more')
  assert.deepEqual(heard, ['said', 'more'])
  for (const answer of [...answers, leave]) assert.equal(answer instanceof Promise, false)
})

test('where entries are too many, the oldest of the owner of most gives way', () => {
  const store = memoryStore({ maxEntries: 4 })
  put(store, 'bob', 'only', 'x'.repeat(100))
  for (const key of ['a', 'b', 'c', 'd']) put(store, 'ann', key)
  assert.deepEqual(keysOf(store, 'bob'), ['only'])
  assert.deepEqual(keysOf(store, 'ann'), ['d', 'c', 'b'])
})

test('where bytes are too many, the oldest of the owner of most bytes gives way', () => {
  const store = memoryStore({ maxBytes: 1_000 })
  for (const key of ['a', 'b', 'c']) put(store, 'ann', key, 'é'.repeat(50))
  for (const key of ['x', 'y']) put(store, 'bob', key, 'z'.repeat(400))
  assert.deepEqual(keysOf(store, 'ann'), ['c', 'b', 'a'])
  assert.deepEqual(keysOf(store, 'bob'), ['y'])
})

test('keys count as much as values do', () => {
  const store = memoryStore({ maxBytes: 1_000 })
  for (const end of ['a', 'b', 'c']) put(store, 'ann', 'k'.repeat(399) + end, '')
  assert.equal(keysOf(store, 'ann').length, 2)
})

test('the oldest of an owner is the oldest in all its collections', () => {
  const store = memoryStore({ maxEntries: 2 })
  const collections = ['one', 'other', 'third']
  for (const collection of collections) store.write(place('ann', 'key', collection), 'x', LONG_MS, 0)
  assert.deepEqual(collections.map((collection) => keysOf(store, 'ann', collection).length), [0, 1, 1])
})

test('of owners that hold equally much, the one that wrote least lately gives way', () => {
  const store = memoryStore({ maxEntries: 3 })
  for (const owner of ['ann', 'bob', 'cal']) put(store, owner, 'key')
  put(store, 'ann', 'key')
  put(store, 'dan', 'key')
  const left = ['ann', 'bob', 'cal', 'dan'].filter((owner) => keysOf(store, owner).length > 0)
  assert.deepEqual(left, ['ann', 'cal', 'dan'])
})

test('what was just written stays, though its owner holds most', () => {
  const store = memoryStore({ maxBytes: 1_000 })
  for (const owner of ['ann', 'bob', 'cal']) put(store, owner, 'key', 'x'.repeat(200))
  put(store, 'dan', 'key', 'x'.repeat(700))
  assert.deepEqual(keysOf(store, 'dan'), ['key'])
  assert.deepEqual(['ann', 'bob', 'cal'].map((owner) => keysOf(store, owner).length), [0, 0, 1])
})

test('what has expired goes first, whoever holds most', async () => {
  const store = memoryStore({ maxEntries: 3 })
  put(store, 'bob', 'short', 'x', 5)
  put(store, 'ann', 'a')
  put(store, 'ann', 'b')
  await sleep(10)
  put(store, 'ann', 'c')
  assert.deepEqual(keysOf(store, 'ann'), ['c', 'b', 'a'])
  assert.deepEqual(keysOf(store, 'bob'), [])
})

test('an entry is there until its time is over, and not a moment longer', (t) => {
  const pass = standingTime(t)
  const ways: readonly (readonly [what: string, isThere: (store: MemoryStore) => boolean])[] = [
    ['read', (store) => store.read(place('ann', 'a')) !== undefined],
    ['listed', (store) => keysOf(store, 'ann').includes('a')],
    ['removed', (store) => store.remove(place('ann', 'a'), 'any')],
    ['written', (store) => store.write(place('ann', 'a'), 'y', LONG_MS, 0) === undefined],
  ]
  for (const [what, isThere] of ways) {
    for (const [ms, expected] of [[99, true], [100, false]] as const) {
      const store = memoryStore()
      put(store, 'ann', 'a', 'x', 100)
      put(store, 'ann', 'b', 'x', 200)
      pass(ms)
      assert.equal(isThere(store), expected, `${what} after ${ms} ms`)
    }
  }
})

test('of what is gone nothing is left, of however many owners and collections', async () => {
  const store = memoryStore()
  const kept = await keptBytes(2_000, (n) => {
    for (const at of [place(`owner ${n}`, 'a'), place('ann', 'a', `things-${n}`)]) {
      store.write(at, 'x', LONG_MS, 0)
      store.remove(at, 'any')
    }
  })
  assert.ok(kept < 100, `${kept} bytes for each`)
})

test('what can never fit is refused, changes nothing and pushes nobody out', () => {
  const store = memoryStore({ maxBytes: 1_000 })
  put(store, 'ann', 'a')
  put(store, 'ann', 'b', 'before')
  const tooLarge = 'x'.repeat(1_001)
  assert.throws(() => store.write(place('ann', 'b'), tooLarge, LONG_MS, 'any'), { kind: 'too-large' })
  assert.deepEqual(keysOf(store, 'ann'), ['b', 'a'])
  assert.equal(store.read(place('ann', 'b'))?.value, 'before')
})

test('what the house keeps for itself never gives way; where nothing else is left nobody may write', () => {
  const store = memoryStore({ maxEntries: 3 })
  for (const key of ['a', 'b']) put(store, '~', key)
  for (const key of ['a', 'b', 'c']) put(store, 'ann', key)
  assert.deepEqual(keysOf(store, 'ann'), ['c'])
  assert.deepEqual(keysOf(store, '~'), ['b', 'a'])
  put(store, '~node', 'c')
  assert.deepEqual(keysOf(store, 'ann'), [])
  for (const owner of ['ann', '~']) {
    assert.throws(() => store.write(place(owner, 'd'), 'x', LONG_MS, 0), { kind: 'busy' })
  }
  put(store, '~', 'a', 'again')
  assert.deepEqual(keysOf(store, '~'), ['a', 'b'])
  assert.equal(store.remove(place('~', 'b'), 'any'), true)
  put(store, 'ann', 'd')
})

test('what is kept for ever gives way in a process\'s own memory, and not in one that others share', () => {
  for (const isShared of [false, true]) {
    const store = memoryStore({ maxEntries: 3, isShared })
    assert.equal(store.isShared, isShared)
    for (const key of ['a', 'b']) put(store, 'ann', key, 'x', Infinity)
    for (const key of ['c', 'd']) put(store, 'ann', key)
    assert.deepEqual(keysOf(store, 'ann'), isShared ? ['d', 'b', 'a'] : ['d', 'c', 'b'])
    // With an end it is one like the others.
    put(store, 'ann', 'a', 'y')
    put(store, 'ann', 'e')
    put(store, 'ann', 'f')
    assert.deepEqual(keysOf(store, 'ann'), isShared ? ['f', 'e', 'b'] : ['f', 'e', 'a'])
  }
})

test('names that mean something to JavaScript are plain names', () => {
  const store = memoryStore()
  for (const name of ['__proto__', 'constructor', 'hasOwnProperty']) {
    assert.equal(store.read(place(name, name, name)), undefined)
    assert.deepEqual(store.list(name, name, 9), [])
    const version = store.write(place(name, name, name), name, LONG_MS, 0)
    assert.equal(version, store.list(name, name, 9)[0]?.version)
  }
})

test('what was read does not change', () => {
  const store = memoryStore()
  put(store, 'ann', 'a', 'one')
  const before = store.read(place('ann', 'a'))
  put(store, 'ann', 'a', 'two')
  assert.deepEqual(before?.value, 'one')
})

/** The same rules, written down plainly: a list of entries, the last written last. */
class Model {
  readonly #maxEntries: number
  readonly #maxBytes: number
  #entries: { readonly owner: string; readonly key: string; readonly bytes: number }[] = []
  #changes = new Map<string, number>()
  #clock = 0

  constructor({ maxEntries = Infinity, maxBytes = Infinity }: MemoryStoreOptions) {
    this.#maxEntries = maxEntries
    this.#maxBytes = maxBytes
  }

  write(owner: string, key: string, value: string): void {
    this.remove(owner, key)
    this.#changes.set(owner, ++this.#clock)
    const written = { owner, key, bytes: value.length + key.length }
    this.#entries.push(written)
    for (;;) {
      const isHeavy = this.#bytes() > this.#maxBytes
      if (!isHeavy && this.#entries.length <= this.#maxEntries) break
      const held = (of: string): number => stepOf(isHeavy ? this.#bytes(of) : this.keysOf(of).length)
      const owners = [...new Set(this.#entries.map((entry) => entry.owner))].toSorted((one, other) =>
        held(other) - held(one) || this.#changes.get(one)! - this.#changes.get(other)!)
      const others = this.#entries.filter((entry) => entry !== written)
      const [victim] = owners.flatMap((of) => others.find((entry) => entry.owner === of) ?? [])
      this.remove(victim!.owner, victim!.key)
    }
    this.#changes.set(owner, ++this.#clock)
  }

  remove(owner: string, key: string): void {
    if (this.keysOf(owner).includes(key)) this.#changes.set(owner, ++this.#clock)
    this.#entries = this.#entries.filter((entry) => entry.owner !== owner || entry.key !== key)
  }

  keysOf(owner: string): readonly string[] {
    return this.#entries.filter((entry) => entry.owner === owner).map(({ key }) => key).reverse()
  }

  #bytes(owner?: string): number {
    const entries = this.#entries.filter((entry) => owner === undefined || entry.owner === owner)
    return entries.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}

test('who gives way is always the one that holds most, in steps, whatever is written and removed', () => {
  const owners = Array.from({ length: 7 }, (_, at) => `owner-${at}`)
  for (const options of [{ maxEntries: 20 }, { maxBytes: 900 }, { maxEntries: 15, maxBytes: 700 }]) {
    const store = memoryStore(options)
    const model = new Model(options)
    let seed = 42
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 0x80000000
      return (seed >> 8) % below
    }
    for (let at = 0; at < 3_000; at++) {
      // Some write much more often than others.
      const owner = owners[Math.min(random(7), random(7))]!
      const key = `${random(12)}`
      if (random(8) === 0) {
        store.remove(place(owner, key), 'any')
        model.remove(owner, key)
      } else {
        const value = 'x'.repeat(random(random(4) === 0 ? 300 : 40))
        put(store, owner, key, value)
        model.write(owner, key, value)
      }
      for (const one of owners) assert.deepEqual(keysOf(store, one), model.keysOf(one), `round ${at}`)
    }
  }
})

test('an option that there is not, or a limit that is none, is refused by name', () => {
  const unknown: readonly (readonly [options: object, remedy: string])[] = [
    [{ maxEntry: 1 }, 'maxEntry\'; it has maxEntries, maxBytes, maxValueBytes, maxTopics, maxEvents, '
      + 'maxEventsBytes, isShared'],
    [{ maxByte: 1 }, 'maxByte\'; did you mean \'maxBytes\'?'],
    [{ shared: true, isshared: true }, 'shared\'; did you mean \'isShared\'?'],
  ]
  for (const [options, remedy] of unknown) {
    assert.throws(() => memoryStore(options), {
      name: 'TypeError', message: `memoryStore has no option '${remedy}`,
    })
  }
  for (const wrong of [0, -1, 1.5, NaN, '9', null]) {
    const options: object = { maxBytes: wrong }
    assert.throws(() => memoryStore(options), {
      name: 'RangeError',
      message: `maxBytes is ${wrong === '9' ? '"9"' : String(wrong)}; `
        + 'write a whole number above zero, or Infinity',
    })
  }
  const shared: object = { isShared: 'no' }
  const message = 'isShared is "no"; write true or false'
  assert.throws(() => memoryStore(shared), { name: 'TypeError', message })
  memoryStore({ maxEntries: Infinity, maxBytes: undefined, isShared: undefined })
})
