import assert from 'node:assert/strict'
import test from 'node:test'
import { append, noChat, sizeOf } from '../../lib/define/chat.ts'
import { limitsOf } from '../../lib/define/limits.ts'
import type { ChatMessage } from '../../lib/index.ts'

const user = (content: string): ChatMessage => ({ role: 'user', content })

test('the oldest messages make room, by number and by bytes, and the account stays right', () => {
  const cases = [
    { limits: { conversationMessages: 3 }, sizes: [1, 2, 3, 4, 5], left: [3, 4, 5] },
    { limits: { conversationBytes: 30 }, sizes: [10, 10, 10], left: [10, 10] },
    { limits: { conversationBytes: 30 }, sizes: [10, 27], left: [] },
    { limits: { conversationMessages: 2, conversationBytes: 30 }, sizes: [1, 20, 5], left: [5] },
    { limits: {}, sizes: [1, 2, 3], left: [1, 2, 3] },
  ]
  for (const { limits, sizes, left } of cases) {
    const whole = limitsOf(limits)
    const said = sizes.map((size) => user('x'.repeat(size)))
    const atOnce = append(noChat, said, whole)
    const oneByOne = said.reduce((chat, message) => append(chat, [message], whole), noChat)
    for (const { messages, bytes } of [atOnce, oneByOne]) {
      assert.deepEqual(messages.map(({ content }) => content.length), left)
      assert.equal(bytes, messages.reduce((sum, message) => sum + sizeOf(message), 0))
    }
  }
})

test('a list that was given is not changed', () => {
  const said = Object.freeze([user('a')])
  const first = append(noChat, said, limitsOf({}))
  append({ messages: Object.freeze(first.messages), bytes: first.bytes }, said, limitsOf({}))
  assert.deepEqual(noChat, { messages: [], bytes: 0 })
})
