import assert from 'node:assert/strict'
import test from 'node:test'
import { Slots } from '../../../lib/floors/bounds/slots.ts'
import { randomOf } from '../../fixtures/random.ts'
import { keptBytes } from '../../fixtures/heap.ts'
import type { Slotted } from '../../../lib/floors/bounds/slots.ts'

class Member implements Slotted {
  readonly id: string
  slot = 0

  constructor(id: string) {
    this.id = id
  }
}

test('a member is found by its id, whatever is in that, until it leaves', () => {
  const slots = new Slots<Member>()
  const ids = ['', 'a', 'b', 'ab', 'ba', '\0', '\ud800', 'é', '__proto__', 'x'.repeat(10_000)]
  const members = ids.map((id) => new Member(id))
  for (const member of members) slots.add(member)
  for (const member of members) assert.equal(slots.get(`${member.id}`), member)
  assert.deepEqual([slots.size, slots.get('c'), new Set(slots)], [ids.length, undefined, new Set(members)])
  for (const member of members) {
    slots.remove(member)
    assert.equal(slots.get(member.id), undefined)
  }
  assert.deepEqual([slots.size, [...slots]], [0, []])
})

test('of members with one id that of a holder is found', () => {
  const slots = new Slots<Member>(true)
  const members = [1, 2, 3].map((holder) => {
    const member = new Member('id')
    slots.add(member, holder)
    return member
  })
  assert.deepEqual([1, 2, 3, 4].map((holder) => slots.get('id', holder)), [...members, undefined])
  assert.deepEqual(members.map(({ slot }) => slots.holderOf(slot)), [1, 2, 3])
  slots.remove(members[1]!)
  assert.deepEqual([1, 2, 3].map((holder) => slots.get('id', holder)), [members[0], undefined, members[2]])
})

test('ten thousand holders may have one id, and that of each is found at once', () => {
  const slots = new Slots<Slotted>(true)
  let looks = 0
  const members = Array.from({ length: 10_000 }, (_, at) => {
    const member: Slotted = { get id() { return looks += 1, 'main' }, slot: 0 }
    slots.add(member, at + 1)
    return member
  })
  looks = 0
  for (const [at, member] of members.entries()) assert.equal(slots.get('main', at + 1), member)
  assert.ok(looks < 10_100, String(looks))
})

test('one that is not looked up has a slot, and no id finds it; a slot may be of no member', () => {
  const slots = new Slots<Member>()
  const taken = slots.take()
  const members = ['a', 'b', 'b'].map((id) => new Member(id))
  const numbers = members.map((member, at) => slots.add(member, 0, at === 0))
  assert.equal(new Set([0, taken, ...numbers]).size, 5)
  assert.deepEqual(numbers.map((slot) => slots.at(slot)), members)
  assert.deepEqual([slots.at(taken), slots.get('a'), slots.get('b')], [undefined, members[0], undefined])
  assert.deepEqual([slots.size, [...slots]], [3, members])
  for (const member of members) slots.remove(member)
  slots.free(taken)
  assert.deepEqual([slots.size, members.map(({ slot }) => slot), [...slots]], [0, [0, 0, 0], []])
})

test('members are found as in a map, whatever comes and leaves', () => {
  const slots = new Slots<Member>()
  const map = new Map<string, Member>()
  const random = randomOf(5)
  for (let round = 0; round < 20_000; round++) {
    const id = `${random(round < 10_000 ? 5_000 : 300)}`
    const known = map.get(id)
    assert.equal(slots.get(id), known)
    if (known === undefined) {
      const member = new Member(id)
      map.set(id, member)
      slots.add(member)
    } else {
      map.delete(id)
      slots.remove(known)
    }
    assert.equal(slots.size, map.size)
  }
  assert.deepEqual(new Set(slots), new Set(map.values()))
})

test('one that was given last may leave while all are given', () => {
  const slots = new Slots<Member>()
  for (let at = 0; at < 100; at++) slots.add(new Member(`${at}`))
  for (const member of slots) slots.remove(member)
  assert.equal(slots.size, 0)
})

test('of what has left nothing is kept', async () => {
  const slots = new Slots<Member>()
  const kept = await keptBytes(10_000, (n) => {
    const member = new Member(`member ${n}`)
    slots.add(member)
    slots.remove(member)
  })
  assert.ok(kept < 20, `${kept} bytes for each`)
})
