import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { measure, notifyAll, requireKey } from '../../../lib/floors/memory/common.ts'
import type { NumberedSubscriber } from '../../../lib/floors/memory/common.ts'

interface Room { readonly subscribers: Set<NumberedSubscriber>; readonly heard: string[] }

/** One who notes what it hears, and then does something. */
function follow(
  { subscribers, heard }: Room, name: string, last = 0, then = (): void => {},
): NumberedSubscriber {
  const note = (text: string): void => {
    heard.push(`${name} ${text}`)
    then()
  }
  const follower = { listener: note, onLost: () => note('lost'), lastNumber: last }
  subscribers.add(follower)
  return follower
}

for (const text of ['text', undefined]) {
  const what = text ?? 'lost'

  test(`all to whom it is news are told in the order in which they came, once: ${what}`, () => {
    const room: Room = { subscribers: new Set(), heard: [] }
    follow(room, 'first')
    follow(room, 'late', 2)
    follow(room, 'last')
    notifyAll(room.subscribers, 2, text)
    notifyAll(room.subscribers, 2, text)
    notifyAll(room.subscribers, 1, text)
    assert.deepEqual(room.heard, [`first ${what}`, `last ${what}`])
    notifyAll(room.subscribers, 3, text)
    assert.deepEqual(room.heard.slice(2), [`first ${what}`, `late ${what}`, `last ${what}`])
  })

  test(`who leaves while others are told is not told any more: ${what}`, () => {
    const room: Room = { subscribers: new Set(), heard: [] }
    follow(room, 'first', 0, () => {
      room.subscribers.delete(second)
      follow(room, 'new', 1)
    })
    const second = follow(room, 'second')
    follow(room, 'third', 0, () => room.subscribers.clear())
    follow(room, 'fourth')
    notifyAll(room.subscribers, 1, text)
    assert.deepEqual(room.heard, [`first ${what}`, `third ${what}`])
  })

  test(`one who throws keeps nobody else from being told, and is warned of: ${what}`, async () => {
    const room: Room = { subscribers: new Set(), heard: [] }
    follow(room, 'bad', 0, () => { throw new Error('thrown') })
    follow(room, 'good')
    const warned = once(process, 'warning')
    notifyAll(room.subscribers, 1, text)
    assert.deepEqual(room.heard, [`bad ${what}`, `good ${what}`])
    assert.match(String((await warned)[0]), /thrown/)
  })
}

test('owners and keys have 1 to 512 bytes, and values as many as they may', () => {
  const rows: readonly (readonly [text: string, isFit: boolean])[] = [
    ['', false], ['a', true], ['x'.repeat(170), true], ['x'.repeat(171), true], ['x'.repeat(512), true],
    ['x'.repeat(513), false], ['é'.repeat(256), true], ['é'.repeat(257), false], ['€'.repeat(170), true],
    ['€'.repeat(171), false],
  ]
  for (const [text, isFit] of rows) {
    for (const key of [{ owner: text, key: 'a' }, { owner: 'a', key: text }]) {
      const check = (): void => requireKey({ collection: 'things', ...key })
      if (isFit) check()
      else assert.throws(check, { kind: 'too-large' }, text.slice(0, 9))
    }
  }
  assert.deepEqual([measure('', 1), measure('é', 2)], [0, 2])
  assert.throws(() => measure('éé', 3), {
    kind: 'too-large', message: 'The store takes 3 bytes at most in one value, not 4',
  })
})
