import assert from 'node:assert/strict'
import test from 'node:test'
import { append, sizeOf } from '../../../lib/floors/conversations/chat.ts'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import type { Chat } from '../../../lib/floors/conversations/chat.ts'
import type { ChatMessage } from '../../../lib/index.ts'

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
    const atOnce: Chat = { messages: [], bytes: 0 }
    append(atOnce, said, whole)
    const oneByOne: Chat = { messages: [], bytes: 0 }
    for (const message of said) append(oneByOne, [message], whole)
    for (const { messages, bytes } of [atOnce, oneByOne]) {
      assert.deepEqual(messages.map(({ content }) => content.length), left)
      assert.equal(bytes, messages.reduce((sum, message) => sum + sizeOf(message), 0))
    }
  }
})
