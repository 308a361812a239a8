import assert from 'node:assert/strict'
import test from 'node:test'
import { StringIndex } from '../../../lib/floors/bounds/string-index.ts'
import { randomOf } from '../../fixtures/random.ts'
import { keptBytes } from '../../fixtures/heap.ts'
import type { Indexed } from '../../../lib/floors/bounds/string-index.ts'

class Member implements Indexed<Member> {
  readonly id: string
  readonly of: string
  hash = 0
  chained: Member | undefined = undefined

  constructor(id: string, of = '') {
    this.id = id
    this.of = of
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
    assert.deepEqual([index.get(member.id), member.chained], [undefined, undefined])
  }
  assert.deepEqual([index.size, [...index]], [0, []])
})

test('of members with one id the wanted one is found', () => {
  const index = new StringIndex<Member>()
  const members = ['ann', 'bob', 'cat'].map((owner) => new Member('id', owner))
  for (const member of members) index.add(member)
  for (const one of members) assert.equal(index.get('id', ({ of }) => of === one.of), one)
  assert.equal(index.get('id', () => false), undefined)
  index.remove(members[1]!)
  const found = members.map((one) => index.get('id', ({ of }) => of === one.of) === one)
  assert.deepEqual(found, [true, false, true])
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
