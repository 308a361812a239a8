import assert from 'node:assert/strict'
import test from 'node:test'
import { Bounded, FLEETING, KEPT, LEASED } from '../../../lib/floors/bounds/bounded.ts'
import { stepOf } from '../../../lib/floors/bounds/ranking.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { BoundedEvents, Hold } from '../../../lib/floors/bounds/bounded.ts'
import type { Slotted } from '../../../lib/floors/bounds/slots.ts'

class Named implements Slotted {
  readonly id: string
  slot = 0

  constructor(id: string) {
    this.id = id
  }
}

interface Trial {
  readonly map: Bounded<Named>
  readonly evicted: readonly string[]
  /** Adds one of that name; undefined where there was no room. */
  readonly add: (
    owner: string, name: string, bytes?: number, hold?: Hold, keepMs?: number,
  ) => Named | undefined
  readonly names: (owner: string) => readonly string[]
}

function trialOf(maxCount: number, maxBytes = Infinity, events: BoundedEvents<Named> = {}): Trial {
  const evicted: string[] = []
  const map = new Bounded<Named>({ maxCount, maxBytes }, { onEvict: ({ id }) => evicted.push(id), ...events })
  return {
    map, evicted,
    add(owner, name, bytes = 1, hold?: Hold, keepMs?: number) {
      const entry = new Named(name)
      return map.add(owner, entry, bytes, hold, keepMs) ? entry : undefined
    },
    names: (owner) => Array.from(map.of(owner), ({ id }) => id),
  }
}

/** The same numbers each time. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 0x80000000
    return (state >> 8) % below
  }
}

test('an entry is found by its id until it leaves, and listed with its owner, the last used first', () => {
  const { map, add, names } = trialOf(10)
  const [one, two] = [add('ann', '1', 5)!, add('ann', '2', 6)!]
  add('bob', '3')
  assert.equal(map.get('1'), one)
  map.use(one, KEPT)
  assert.deepEqual([names('ann'), names('bob'), names('eve')], [['1', '2'], ['3'], []])
  map.use(two, LEASED)
  assert.deepEqual([[...map.of('ann', KEPT)], [...map.of('ann', LEASED)]], [[one], [two]])
  assert.deepEqual([...map.values()].map(({ id }) => id).toSorted(), ['1', '2', '3'])
  map.remove(two)
  map.remove(two)
  assert.deepEqual([map.get('2'), map.count, map.bytes, names('ann')], [undefined, 2, 6, ['1']])
  assert.equal(map.resize(two, 100), true)
  map.use(two, KEPT)
  assert.deepEqual([map.count, map.bytes, names('ann')], [2, 6, ['1']])
})

test('of several owners each may have an entry of one id', () => {
  const map = new Bounded<Named>({ maxCount: 10, maxBytes: Infinity, isByOwner: true })
  const [ann, bob] = [new Named('a'), new Named('a')]
  map.add('ann', ann, 1)
  map.add('bob', bob, 1)
  assert.deepEqual([map.get('a', 'ann'), map.get('a', 'bob'), map.get('a', 'eve')], [ann, bob, undefined])
  map.remove(bob)
  assert.deepEqual([map.get('a', 'bob'), map.get('a', 'ann'), [...map.of('ann')]], [undefined, ann, [ann]])
})

test('entries without an id are kept and listed, and found by none', () => {
  const { map, add, names, evicted } = trialOf(2)
  for (const _ of [1, 2, 3]) add('ann', '')
  assert.deepEqual([map.get(''), map.count, names('ann'), evicted], [undefined, 2, ['', ''], ['']])
})

test('the owner that holds most makes room, the entry used longest ago first', () => {
  const { map, evicted, add, names } = trialOf(6)
  add('ann', 'a1')
  const [first] = ['b1', 'b2', 'b3', 'b4', 'b5'].map((name) => add('bob', name))
  map.use(first!, KEPT)
  add('bob', 'b6')
  add('ann', 'a2')
  assert.deepEqual(evicted, ['b2', 'b3'])
  assert.deepEqual([names('ann'), names('bob')], [['a2', 'a1'], ['b6', 'b1', 'b5', 'b4']])
})

test('owners that hold equally much take turns, the one that has not changed for longest first', () => {
  for (const [maxCount, maxBytes] of [[6, 1_000], [1_000, 6]] as const) {
    const { map, evicted, add } = trialOf(maxCount, maxBytes)
    for (const owner of ['a', 'b', 'c']) for (const at of [1, 2]) add(owner, `${owner}${at}`)
    map.resize(map.get('a1')!, 1)
    add('d', 'd1')
    add('e', 'e1')
    add('f', 'f1')
    assert.deepEqual(evicted, ['b1', 'c1', 'a1'])
  }
})

test('a flood of one owner never reaches another who holds little', () => {
  const { map, evicted, add } = trialOf(1_000, 1_000_000)
  const small = ['ann', 'cat', 'dan'].map((owner) => add(owner, `${owner}'s`, 100)!)
  for (let count = 0; count < 20_000; count++) add('bob', `b${count}`, 1_000)
  assert.ok(evicted.every((name) => name.startsWith('b')))
  assert.ok(map.bytes <= 1_000_000 && map.count <= 1_000)
  for (const entry of small) assert.equal(map.get(entry.id), entry)
})

test('bytes are bounded as they grow, and what can never fit pushes nobody out', () => {
  const { map, evicted, add } = trialOf(10, 100)
  const growing = add('ann', 'growing', 10)!
  add('ann', 'other', 50)
  assert.equal(map.resize(growing, 60), true)
  assert.deepEqual([evicted, map.bytes], [['other'], 60])
  assert.equal(add('bob', 'huge', 101), undefined)
  assert.deepEqual([map.count, map.bytes, map.get('huge')], [1, 60, undefined])
})

test('what is leased does not make room; where nothing can, there is none', () => {
  const { map, evicted, add } = trialOf(2)
  const a = add('ann', 'a', 1, LEASED)!
  const b = add('ann', 'b')!
  add('bob', 'c', 1, LEASED)
  assert.deepEqual([evicted, b.slot], [['b'], 0])
  assert.equal(add('bob', 'd'), undefined)
  assert.deepEqual([map.count, map.leased, map.get('d')], [2, 2, undefined])
  map.use(a, KEPT)
  assert.equal(map.leased, 1)
  assert.ok(add('bob', 'd', 1, LEASED))
  assert.deepEqual([evicted, map.leased], [['b', 'a'], 2])
  map.remove(map.get('c')!)
  assert.equal(map.leased, 1)
})

test('an owner whose entries are all in use is passed over, however much it holds', () => {
  const { evicted, add } = trialOf(5)
  for (const name of ['a1', 'a2', 'a3']) add('ann', name, 1, LEASED)
  for (const [owner, name] of [['bob', 'b1'], ['cat', 'c1'], ['cat', 'c2']] as const) add(owner, name)
  assert.deepEqual(evicted, ['c1'])
  add('dan', 'd1')
  assert.deepEqual(evicted, ['c1', 'b1'])
})

test('what may not go, which only a look at it tells, is passed over as long as that is so', () => {
  const busy = new Set(['b1', 'b2'])
  const { map, add, names } = trialOf(4, Infinity, { mayGo: ({ id }) => !busy.has(id) })
  for (const [owner, name] of [['bob', 'b1'], ['bob', 'b2'], ['bob', 'b3'], ['ann', 'a1']] as const) {
    add(owner, name)
  }
  for (const name of ['c1', 'c2']) add('cat', name)
  assert.deepEqual([names('bob'), names('ann'), names('cat')], [['b2', 'b1'], ['a1'], ['c2']])
  busy.clear()
  add('dan', 'd1')
  assert.deepEqual([names('bob'), names('dan')], [['b2'], ['d1']])
  for (const name of ['a1', 'c2', 'b2', 'd1']) busy.add(name)
  assert.equal(add('eve', 'new'), undefined)
  assert.equal(map.count, 4)
})

test('of one owner what is fleeting goes before what is kept', () => {
  const { map, evicted, add, names } = trialOf(4)
  const kept = add('ann', 'kept')!
  for (const name of ['f1', 'f2', 'f3']) add('ann', name, 1, FLEETING)
  map.use(kept, KEPT)
  add('ann', 'f4', 1, FLEETING)
  add('bob', 'b')
  add('bob', 'b2')
  assert.deepEqual(evicted, ['f1', 'f2', 'f3'])
  assert.deepEqual(names('ann'), ['kept', 'f4'])
  for (const name of ['b3', 'b4']) add('bob', name)
  assert.deepEqual([evicted.slice(3), names('ann')], [['b', 'b2'], ['kept', 'f4']])
})

test('where no one can make room, who holds little gets something more all the same, within a bound', () => {
  const { map, add } = trialOf(10, 100)
  const large = add('ann', 'large', 98, LEASED)!
  const small = add('bob', 'small', 1, LEASED)!
  assert.equal(map.resize(large, 120), false)
  assert.equal(map.resize(large, 98), true)
  assert.equal(map.resize(small, 40), true)
  assert.equal(map.resize(small, 51), false)
  map.resize(small, 30)
  assert.equal(add('cat', 'more', 40, LEASED), undefined)
  assert.deepEqual([map.bytes, map.count], [128, 2])
})

test('who holds most and has nothing else trims what has grown, and pushes out nobody who holds less', () => {
  const trimmed: string[] = []
  const events = {
    trim: ({ id }: Named): number => {
      trimmed.push(id)
      return 10
    },
  }
  const { map, evicted, add } = trialOf(10, 100, events)
  add('ann', 'a', 30)
  add('bob', 'b', 40)
  add('cat', 'c', 200)
  assert.equal(map.bytesOf(map.get('c')!), 40)
  assert.deepEqual([map.bytes, trimmed.length, evicted], [70 + 40 - 40, 16, ['b']])
  add('cat', 'c2', 35)
  assert.deepEqual([evicted, map.bytes], [['b', 'c'], 65])
})

test('an entry that leaves while it makes others leave has found no room', () => {
  const trial = trialOf(2, Infinity, { onEvict: () => map.remove(map.get('new')!) })
  const { map, add } = trial
  for (const name of ['1', '2']) add('ann', name)
  assert.equal(add('bob', 'new'), undefined)
  assert.deepEqual([map.count, trial.names('bob')], [1, []])
})

test('an entry is there until its time is over, counted from its last use, and not a moment longer', (t) => {
  const pass = standingTime(t)
  const { map, evicted, add } = trialOf(10)
  const [used] = ['used', 'other', 'longer', 'for ever'].map((name, at) => (
    add('ann', name, 1, FLEETING, [100, 100, 5_000, Infinity][at])))
  add('ann', 'in use', 1, LEASED)
  add('ann', 'in use for 99', 1, LEASED, 99)
  pass(99)
  assert.ok(map.get('used') && map.get('other'))
  assert.deepEqual([map.get('in use for 99'), map.leased], [undefined, 1])
  map.use(used!, KEPT, 100)
  pass(1)
  assert.deepEqual([map.get('other'), evicted], [undefined, ['in use for 99', 'other']])
  pass(98)
  map.expire()
  assert.equal(map.count, 4)
  pass(1)
  map.expire()
  assert.deepEqual([map.count, evicted], [3, ['in use for 99', 'other', 'used']])
  map.use(map.get('in use')!, FLEETING, 7)
  pass(7)
  add('bob', 'new')
  assert.deepEqual(evicted.slice(3), ['in use'])
})

test('what has expired goes before what has not, whoever holds most', (t) => {
  const pass = standingTime(t)
  const { evicted, add } = trialOf(3)
  add('bob', 'short', 1, FLEETING, 5)
  for (const name of ['a', 'b']) add('ann', name, 1, FLEETING, 1_000)
  pass(5)
  add('ann', 'c', 1, FLEETING, 1_000)
  assert.deepEqual(evicted, ['short'])
})

test('a step holds sizes that differ by less than a tenth, and each small size has its own', () => {
  let last = -1
  for (let size = 0, least = 0; size < 1e12; size = size < 64 ? size + 1 : Math.ceil(size * 1.01)) {
    const step = stepOf(size)
    assert.ok(step === last || step > last, String(size))
    if (step > last || size < 16) least = size
    assert.ok(size <= least * 1.1, `${size} is with ${least}`)
    last = step
  }
  assert.equal(new Set(Array.from({ length: 16 }, (_, size) => stepOf(size))).size, 16)
})

test('who makes room holds most of what is short, within a tenth, whatever comes, grows and leaves', () => {
  const bounds = [[60, Infinity], [10_000, 9_000], [40, 5_000], [10_000, 1_500, 7]] as const
  for (const [maxCount, maxBytes, cut] of bounds) {
    const random = randomNumbers(7)
    const before = new Map<string, { owner: string; bytes: number; hold: Hold }>()
    const sums = (): ReadonlyMap<string, readonly [count: number, bytes: number, canGive: boolean]> => {
      const all = new Map<string, readonly [number, number, boolean]>()
      for (const { owner, bytes, hold } of before.values()) {
        const [count, sum, canGive] = all.get(owner) ?? [0, 0, false]
        all.set(owner, [count + 1, sum + bytes, canGive || hold !== LEASED])
      }
      return all
    }
    let coming = ''
    let [gone, trimmed] = [0, 0]
    const trim = (entry: Named): number => {
      const { id } = entry
      const bytes = map.bytesOf(entry)
      assert.equal(id, coming)
      trimmed += 1
      const less = Math.min(bytes, cut!)
      before.get(id)!.bytes -= less
      return less
    }
    const { map }: Trial = trialOf(maxCount, maxBytes, {
      ...cut !== undefined && { trim },
      onEvict: ({ id }) => {
        gone += 1
        const { owner, hold } = before.get(id)!
        assert.notEqual(hold, LEASED)
        const isHeavy = [...before.values()].reduce((sum, one) => sum + one.bytes, 0) > maxBytes
        const [count, sum] = sums().get(owner)!
        // What has just come stands aside: an owner who has nothing else is passed over, or trims all of it.
        const others = [...before].filter(([name, one]) => (
          (name !== coming || (cut !== undefined && one.bytes > 0)) && one.hold !== LEASED
        ))
        for (const [, one] of others) {
          const [otherCount, otherSum] = sums().get(one.owner)!
          assert.ok(isHeavy ? otherSum <= sum * 1.1 : otherCount <= count * 1.1)
        }
        before.delete(id)
      },
    })
    for (let round = 0; round < 4_000; round++) {
      const owner = `owner ${Math.min(random(7), random(7))}`
      const bytes = random(random(4) === 0 ? 900 : 60)
      const found = map.get(`${random(round + 1)}`)
      coming = ''
      if (found !== undefined && random(3) === 0) {
        before.delete(found.id)
        map.remove(found)
      } else if (found !== undefined && random(2) === 0) {
        const hold = random(2) === 0 ? FLEETING : KEPT
        before.get(found.id)!.hold = hold
        map.use(found, hold)
      } else if (found !== undefined) {
        const was = map.bytesOf(found)
        before.get(found.id)!.bytes = bytes
        coming = found.id
        if (!map.resize(found, bytes)) {
          before.get(found.id)!.bytes = was
          map.resize(found, was)
        } else if (cut !== undefined) {
          assert.equal(map.bytesOf(found), before.get(found.id)!.bytes)
        }
      } else {
        coming = `${round}`
        const hold = random(10) === 0 ? LEASED : FLEETING
        before.set(coming, { owner, bytes, hold })
        if (!map.add(owner, new Named(coming), bytes, hold)) before.delete(coming)
      }
      assert.equal(map.count, before.size)
      assert.equal(map.bytes, [...before.values()].reduce((sum, one) => sum + one.bytes, 0))
    }
    assert.ok(gone > 100, String(gone))
    assert.equal(trimmed > 100, cut !== undefined, String(trimmed))
  }
})

test('where an owner has nothing left to trim, those that hold less make room', () => {
  const trimmed: string[] = []
  const { map, evicted, add }: Trial = trialOf(100, 160, {
    trim(entry) {
      trimmed.push(entry.id)
      return Math.min(5, map.bytesOf(entry))
    },
  })
  add('ann', 'a', 150, LEASED)
  const kept = new Named('b')
  map.lease('bob', kept, 20)
  map.use(kept, KEPT)
  assert.ok(add('ann', 'x', 5))
  assert.deepEqual([trimmed, evicted, map.bytes], [['x'], ['b'], 150])
})

test('among ten thousand owners of one entry each, each new one makes one leave', () => {
  const { map, evicted, add } = trialOf(10_000)
  for (let owner = 0; owner < 20_000; owner++) add(`owner ${owner}`, String(owner))
  assert.deepEqual([evicted.length, map.count], [10_000, 10_000])
  assert.deepEqual(evicted.slice(0, 3), ['0', '1', '2'])
})

test('an entry in use that finds no room is there and counts all the same, and that is told', () => {
  const { map, evicted, add } = trialOf(Infinity, 100)
  add('ann', 'old', 60)
  const first = new Named('first')
  map.lease('ann', first, 90)
  assert.deepEqual([evicted, map.bytes, map.isTooMuch(first)], [['old'], 90, false])
  const second = new Named('second')
  map.lease('ann', second, 90)
  assert.deepEqual([map.bytes, map.count, map.isTooMuch(second), map.get('second')], [180, 2, true, second])
  map.use(second, KEPT)
  map.settle()
  assert.deepEqual([evicted, map.bytes, map.isTooMuch(first)], [['old', 'second'], 90, false])
})
