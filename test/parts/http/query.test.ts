import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeQuery } from '../../../lib/parts/http/query.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import type { ProblemError } from '../../../lib/kernel/wire/problem.ts'
import type { Query } from '../../../lib/parts/http/query.ts'

const nothing = { history: undefined, sessionId: undefined, metadata: undefined, stream: undefined }

const user = { role: 'user', content: 'one' } as const
const bot = { role: 'assistant', content: 'two' } as const
const last = { role: 'user', content: 'three' } as const

const good: readonly (readonly [body: unknown, query: Partial<Query>, header?: string])[] = [
  [{ query: 'hello' }, { query: 'hello' }],
  [{ message: 'hello' }, { query: 'hello' }],
  [{ prompt: ' hello ' }, { query: ' hello ' }],
  [{ input: 'hello' }, { query: 'hello' }],
  [{ query: 'hello', colour: 'red', __proto__: { a: 1 } }, { query: 'hello' }],
  [{ query: 'hello', user_id: 'a', session: 'a', model: 'm', context: 'c', sessionId: null, msg: 1 },
    { query: 'hello' }],
  [{ messages: [user] }, { query: 'one', history: [] }],
  [{ messages: [user, bot, last] }, { query: 'three', history: [user, bot] }],
  [{ messages: [user, bot] }, { query: 'one', history: [bot] }],
  [{ messages: [{ role: 'system', content: 'be brief' }, user] },
    { query: 'one', history: [{ role: 'system', content: 'be brief' }] }],
  [{ messages: [{ role: 'developer', content: 'be brief' }, user] },
    { query: 'one', history: [{ role: 'system', content: 'be brief' }] }],
  [{ messages: [{ role: 'user', content: [{ type: 'text', text: 'o' }, { type: 'text', text: 'ne' }] }] },
    { query: 'one', history: [] }],
  [{ query: 'hello', session_id: 'session-1' }, { query: 'hello', sessionId: 'session-1' }],
  [{ query: 'hello' }, { query: 'hello', sessionId: 'session-1' }, 'session-1'],
  [{ query: 'hello', session_id: 'session-1' }, { query: 'hello', sessionId: 'session-1' }, 'session-1'],
  [{ query: 'hello', session_id: 'x'.repeat(128) }, { query: 'hello', sessionId: 'x'.repeat(128) }],
  [{ query: 'hello', metadata: { a: [1] } }, { query: 'hello', metadata: { a: [1] } }],
  [{ query: 'hello', stream: true }, { query: 'hello', stream: true }],
  [{ query: 'hello', stream: false }, { query: 'hello', stream: false }],
  [{ query: 'hello', session_id: null, metadata: null, stream: null }, { query: 'hello' }],
]

test('a query is read in every form that clients send', () => {
  for (const [body, query, header] of good) {
    assert.deepEqual(decodeQuery(body, header), { ...nothing, ...query })
  }
})

const bad: readonly (readonly [
  body: unknown, errors: readonly (readonly [path: string, message: RegExp])[], header?: string,
])[] = [
  [null, [['', /must be a JSON object, as in/]]],
  ['hello', [['', /must be a JSON object/]]],
  [['hello'], [['', /must be a JSON object/]]],
  [{}, [['/query', /is missing; send/]]],
  [{ text: 'hello' }, [['/query', /is missing/]]],
  [JSON.parse('{"__proto__":{"query":"hello"}}'), [['/query', /is missing/]]],
  [{ query: 'a', sessionId: 'session-1' },
    [['/sessionId', /^is no member; did you mean "session_id"\?$/]]],
  [{ query: 'a', SessionID: 'session-1' }, [['/SessionID', /"session_id"/]]],
  [{ query: 'a', 'session-id': 'session-1' }, [['/session-id', /"session_id"/]]],
  [{ query: 'a', sesion_id: 'session-1', Stream: true },
    [['/sesion_id', /"session_id"/], ['/Stream', /"stream"/]]],
  [{ query: 'a', steam: true, meta_data: {} }, [['/steam', /"stream"/], ['/meta_data', /"metadata"/]]],
  [{ Query: 'a' }, [['/Query', /"query"/], ['/query', /is missing/]]],
  [{ query: '' }, [['/query', /must not be empty/]]],
  [{ query: ' \n\t' }, [['/query', /must not be empty/]]],
  [{ query: 7 }, [['/query', /must be a string/]]],
  [{ query: null }, [['/query', /is missing/]]],
  [{ message: ['a'] }, [['/message', /must be a string/]]],
  [{ query: 'a', message: 'a' }, [['/query', /send one of query, message/], ['/message', /send one of/]]],
  [{ input: 'a', messages: [user] },
    [['/input', /send one of input, messages/], ['/messages', /send one of/]]],
  [{ messages: 'hello' }, [['/messages', /must be a list/]]],
  [{ messages: [] }, [['/messages', /must be a list of at least one/]]],
  [{ messages: [bot] }, [['/messages', /needs a user message/]]],
  [{ messages: [{ role: 'user', content: ' ' }] }, [['/messages', /needs a user message that is not empty/]]],
  [{ messages: [{ role: 'tool', content: 'a' }, null, { role: 'user' }] }, [
    ['/messages/0/role', /must be user, assistant or system/], ['/messages/1/role', /must be/],
    ['/messages/2/content', /must be a string/],
  ]],
  [{ messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'image_url' }] }] },
    [['/messages/0/content', /must be a string, or a list of text parts: "image_url" would not be seen/]]],
  [{ messages: [{ role: 'user', content: [{ type: 'text' }, {}] }] },
    [['/messages/0/content', /must be a string, or a list of text parts$/]]],
  [{ query: 'a', session_id: 'short' }, [['/session_id', /8 to 128/]]],
  [{ query: 'a', session_id: 12345678 }, [['/session_id', /8 to 128/]]],
  [{ query: 'a', session_id: 'a b c d e f' }, [['/session_id', /letters, digits/]]],
  [{ query: 'a', session_id: 'x'.repeat(129) }, [['/session_id', /8 to 128/]]],
  [{ query: 'a' }, [['X-Session-Id', /8 to 128/]], 'short'],
  [{ query: 'a', session_id: 'session-1' }, [['/session_id', /differs from the X-Session-Id header/]],
    'session-2'],
  [{ query: 'a', metadata: [] }, [['/metadata', /must be an object/]]],
  [{ query: 'a', stream: 'yes' }, [['/stream', /must be true or false/]]],
  [{ query: 7, session_id: '', metadata: 1, stream: 1 }, [
    ['/query', /string/], ['/session_id', /8 to/], ['/metadata', /object/], ['/stream', /true or false/],
  ]],
]

/** What is wrong with a query. */
function faultOf(
  body: unknown, header?: string,
): { readonly message: string; readonly errors: readonly ProblemError[] } {
  try {
    decodeQuery(body, header)
  } catch (error) {
    assert.ok(error instanceof Fault && error.kind === 'invalid')
    return { message: error.message, ...error.detail as { errors: readonly ProblemError[] } }
  }
  assert.fail(`${JSON.stringify(body)} is read`)
}

test('what is wrong with a query is told member by member, and never guessed', () => {
  for (const [body, expected, header] of bad) {
    const { errors } = faultOf(body, header)
    assert.deepEqual(errors.map(({ path }) => path), expected.map(([path]) => path), JSON.stringify(body))
    for (const [index, [, message]] of expected.entries()) assert.match(errors[index]!.message, message)
  }
})

test('of a million mistakes twenty are told, and the rest is not looked at', () => {
  let looked = 0
  const messages = new Proxy(Array.from({ length: 1_000_000 }, () => 7), {
    get(target, name, receiver) {
      if (typeof name === 'string' && /^\d+$/.test(name)) looked++
      return Reflect.get(target, name, receiver)
    },
  })
  const { errors, message } = faultOf({ messages })
  assert.equal(errors.length, 20)
  assert.match(message, /^More than 20 members are wrong; \/messages\/0\/role must be/)
  assert.ok(looked < 100)
})
