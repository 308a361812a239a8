/** Messages of a chat in a dialect of no protocol, and the tools that its client offers. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { usualBounds } from '../../../lib/floors/bounds/parse-json.ts'
import { clientToolsIn } from '../../../lib/floors/chat/client-tools.ts'
import { decodeMessages } from '../../../lib/floors/chat/messages.ts'
import { PassedOver } from '../../../lib/floors/chat/passed-over.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import type { ChatDialect, Conversation } from '../../../lib/floors/chat/messages.ts'

const dialect: ChatDialect = {
  list: 'said', roles: 'user, assistant or tool', calls: 'asks', callId: 'of',
  resultDemand: (id) => `needs a reply to ${id}`,
  isTextPart: ({ type }) => type === 'text',
  blockOf: (part, at) => ({ type: 'data', data: { part, at } }),
}
const { resultDemand: _demand, ...open } = dialect
const lenient: ChatDialect = { ...open, isLenient: true }

function decoded(messages: readonly unknown[], how = dialect, passed = new PassedOver()): Conversation {
  return decodeMessages(messages, how, usualBounds, passed)
}

const user = { role: 'user', content: 'Hi' }
const call = { id: 'c', type: 'function', function: { name: 'find', arguments: '{"words":"tea"}' } }
const asked = { role: 'assistant', content: 'Wait.', asks: [call] }
const result = { of: 'c', role: 'tool', content: [{ type: 'text', text: 'Green' }, { type: 'leaf' }] }

test('what came of calls since the last user message is a result, and before it is text', () => {
  const found = { id: 'c', name: 'find', args: { words: 'tea' }, result: 'Green' }
  assert.deepEqual(decoded([user, asked, result]), {
    prompt: 'Hi', history: [{ role: 'assistant', content: 'Wait.' }], clientToolResults: [found],
    message: [
      { type: 'text', text: 'Hi' },
      { type: 'data', data: { part: { type: 'leaf' }, at: 'said[2].content[1]' } },
    ],
  })
  assert.deepEqual(decoded([asked, result, user]), {
    prompt: 'Hi', message: [{ type: 'text', text: 'Hi' }], clientToolResults: [], history: [
      { role: 'assistant', content: 'Wait.\nfind({"words":"tea"})' },
      { role: 'assistant', content: 'find returned: Green' },
    ],
  })
})

test('a dialect says whether a call needs its result', () => {
  assert.throws(() => decoded([user, asked]), (error) => {
    assert.ok(error instanceof Fault)
    assert.equal(error.message, 'said[1].asks[0] needs a reply to "c"')
    assert.deepEqual(error.detail, { param: 'said[1].asks[0]' })
    return true
  })
  assert.deepEqual(decoded([user, asked], lenient).clientToolResults, [])
})

test('errors name the members of calls that were items of their own as those of the item', () => {
  const flat = { ...dialect, flatId: 'ask_id' }
  const rows = [
    [{ ...call, id: '' }, /^said\[0\]\.ask_id must be/, /^said\[0\]\.asks\[0\]\.id must be/],
    [{ ...call, function: {} }, /^said\[0\]\.name must be/, /^said\[0\]\.asks\[0\]\.function\.name must be/],
  ] as const
  for (const [broken, ofItem, ofList] of rows) {
    assert.throws(() => decoded([{ ...asked, asks: [broken] }, user], flat), { message: ofItem })
    assert.throws(() => decoded([{ ...asked, asks: [broken] }, user]), { message: ofList })
  }
  const long = { ...result, of: 'x'.repeat(9_000) }
  assert.throws(() => decoded([user, asked, long], flat), { message: /^said\[2\]\.ask_id must be/ })
  assert.throws(() => decoded([user, asked, long]), { message: /^said\[2\]\.of must be/ })
})

test('messages that are none are refused by their place, or passed over where a dialect is lenient', () => {
  const rows: readonly (readonly [message: unknown, complaint: string])[] = [
    [5, 'said[0] must be an object'],
    [{ role: 'clown', content: 'x' }, 'said[0].role must be user, assistant or tool'],
    [{ role: 'assistant', content: 5 }, 'said[0].content must be a string or a list of parts'],
    [{ ...asked, asks: 5 }, 'said[0].asks must be a list'],
  ]
  for (const [message, complaint] of rows) {
    assert.throws(() => decoded([message, user]), { message: complaint })
    const logged: unknown[] = []
    const passed = new PassedOver()
    assert.equal(decoded([message, user], lenient, passed).prompt, 'Hi')
    passed.report((...line) => { logged.push(line) }, { requestId: 'r' })
    assert.equal(logged.length, 1, complaint)
  }
})

test('tools of a client have a schema of an object, and the last of one name counts', () => {
  assert.deepEqual(clientToolsIn(null), [])
  assert.deepEqual(clientToolsIn([
    { name: 'find', description: 'Old.' }, { name: 'stop', parameters: false },
    { name: 'find', description: 'New.', parameters: {} },
  ]), [
    { name: 'find', description: 'New.', inputSchema: { type: 'object', properties: {} } },
    { name: 'stop', inputSchema: { type: 'object', properties: {}, additionalProperties: false } },
  ])
  assert.throws(() => clientToolsIn({}), { message: 'tools must be a list' })
  assert.throws(() => clientToolsIn([{ name: '' }]), { message: /^tools\[0\]\.name must be a string of/ })
  assert.throws(() => clientToolsIn([{ name: 'a', parameters: 5 }]), {
    message: 'tools[0].parameters must be a JSON Schema: an object, true or false',
  })
})
