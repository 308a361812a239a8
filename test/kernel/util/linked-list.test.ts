import assert from 'node:assert/strict'
import test from 'node:test'
import { LinkedList } from '../../../lib/kernel/util/linked-list.ts'
import type { LinkedMember } from '../../../lib/kernel/util/linked-list.ts'

class Member implements LinkedMember<Member> {
  previous: Member | undefined
  next: Member | undefined
  readonly name: string
  constructor(name: string) { this.name = name }
}

const names = (queue: LinkedList<Member>): string => [...queue].map(({ name }) => name).join('')

function line(): { readonly queue: LinkedList<Member>; readonly members: readonly [Member, Member, Member] } {
  const queue = new LinkedList<Member>()
  const members = [new Member('a'), new Member('b'), new Member('c')] as const
  for (const member of members) queue.add(member)
  return { queue, members }
}

test('members stand in the order in which they came, and leave from anywhere', () => {
  for (const [at, left, first, last] of [
    [0, 'bc', 'b', 'c'], [1, 'ac', 'a', 'c'], [2, 'ab', 'a', 'b'],
  ] as const) {
    const { queue, members } = line()
    assert.equal(names(queue), 'abc')
    queue.remove(members[at])
    assert.deepEqual([names(queue), queue.first?.name, queue.last?.name], [left, first, last])
    assert.deepEqual([members[at].previous, members[at].next], [undefined, undefined])
    queue.add(members[at])
    assert.equal(names(queue), left + members[at].name)
  }
})

test('an empty queue has no first and no last', () => {
  const { queue, members } = line()
  for (const member of members) queue.remove(member)
  assert.deepEqual([queue.first, queue.last, names(queue)], [undefined, undefined, ''])
})

test('whoever is told of the members may take out the one that was told', () => {
  const { queue } = line()
  const told: string[] = []
  for (const member of queue) {
    told.push(member.name)
    queue.remove(member)
  }
  assert.deepEqual([told.join(''), queue.first], ['abc', undefined])
})
