import assert from 'node:assert/strict'
import test from 'node:test'
import { StringIndex } from '../../../lib/floors/bounds/string-index.ts'
import { randomOf } from '../../fixtures/random.ts'
import { keptBytes } from '../../fixtures/heap.ts'
import type { Indexed } from '../../../lib/floors/bounds/string-index.ts'

class Member implements Indexed {
  readonly id: string
  readonly holder: Member | undefined
  hash = 0
  number = 0

  constructor(id: string, holder?: Member) {
    this.id = id
    this.holder = holder
  }
}

test('a member is found by its id, whatever is in that, until it leaves', () => {
  const index = new StringIndex<Member>()
  const ids = ['', 'a', 'b', 'ab', 'ba', '\0', '\ud800', 'é', '__proto__', 'x'.repeat(10_000)]
  const members = ids.map((id) => new Member(id))
  for (const member of members) index.add(member)
  for (const member of members) assert.equal(index.get(`${member.id}`), member)
  assert.deepEqual([index.size, index.get('c'), new Set(index)], [ids.length, undefined, new Set(members)])
  for (const member of members) {
    index.remove(member)
    index.remove(member)
    assert.equal(index.get(member.id), undefined)
  }
  assert.deepEqual([index.size, [...index]], [0, []])
})

test('of members with one id that of a holder is found', () => {
  const index = new StringIndex<Member>()
  const holders = new StringIndex<Member>()
  const owners = ['ann', 'bob', 'cat'].map((name) => new Member(name))
  const eve = new Member('eve')
  for (const holder of [...owners, eve]) holders.add(holder)
  const members = owners.map((holder) => new Member('id', holder))
  for (const member of members) index.add(member, member.holder)
  for (const one of members) assert.equal(index.get('id', one.holder), one)
  assert.equal(index.get('id', eve), undefined)
  index.remove(members[1]!)
  const found = owners.map((holder) => index.get('id', holder))
  assert.deepEqual(found, [members[0], undefined, members[2]])
})

test('ten thousand holders may have one id, and that of each is found at once', () => {
  const index = new StringIndex<Indexed>()
  const holders = new StringIndex<Member>()
  let looks = 0
  const all = Array.from({ length: 10_000 }, (_, at) => {
    const owner = new Member(`${at}`)
    holders.add(owner)
    const member: Indexed = { id: 'main', hash: 0, number: 0, get holder() { return looks += 1, owner } }
    index.add(member, owner)
    return { owner, member }
  })
  for (const { owner, member } of all) assert.equal(index.get('main', owner), member)
  assert.ok(looks < 10_100, String(looks))
})

test('an index is what a map would be, whatever comes and leaves', () => {
  const index = new StringIndex<Member>()
  const map = new Map<string, Member>()
  const random = randomOf(5)
  for (let round = 0; round < 20_000; round++) {
    const id = `${random(round < 10_000 ? 5_000 : 300)}`
    const known = map.get(id)
    assert.equal(index.get(id), known)
    if (known === undefined) {
      const member = new Member(id)
      map.set(id, member)
      index.add(member)
    } else {
      map.delete(id)
      index.remove(known)
    }
    assert.equal(index.size, map.size)
  }
  assert.deepEqual(new Set(index), new Set(map.values()))
})

test('one that was given last may leave while all are given', () => {
  const index = new StringIndex<Member>()
  for (let at = 0; at < 100; at++) index.add(new Member(`${at}`))
  for (const member of index) index.remove(member)
  assert.equal(index.size, 0)
})

test('of what has left nothing is kept', async () => {
  const index = new StringIndex<Member>()
  const kept = await keptBytes(10_000, (n) => {
    const member = new Member(`member ${n}`)
    index.add(member)
    index.remove(member)
  })
  assert.ok(kept < 20, `${kept} bytes for each`)
})
