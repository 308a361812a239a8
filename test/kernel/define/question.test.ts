import assert from 'node:assert/strict'
import test from 'node:test'
import { checkQuestion } from '../../../lib/kernel/define/question.ts'
import { callOf } from '../../fixtures/house.ts'
import type { Question } from '../../../lib/kernel/define/question.ts'

/** What is no question by its type, as authors without types may write it. */
type Loose = Readonly<Record<string, unknown>>

const form = (properties: unknown, type: unknown = 'object'): Loose => (
  { what: 'elicit', message: 'Well?', schema: { type, properties } }
)
const field = (property: unknown): Loose => form({ plain: { type: 'string' }, odd: property })
const address = (url: unknown): Loose => ({ what: 'elicit-url', message: 'Open it', url, elicitationId: 'e' })
const talk = (...contents: readonly unknown[]): Loose => ({
  what: 'sample', maxTokens: 1, messages: contents.map((content) => ({ role: 'user', content })),
})
const use = (id: string): object => ({ type: 'tool_use', id, name: 't', input: {} })
const result = (toolUseId: string): object => ({ type: 'tool_result', toolUseId, content: [] })
const text = { type: 'text', text: 'and so on' }

const allowed: readonly (readonly [what: string, question: Loose])[] = [
  ['a form without fields', form({})],
  ['each simple type', form({
    a: { type: 'string', format: 'email' }, b: { type: 'number' }, c: { type: 'integer' },
    d: { type: 'boolean' },
  })],
  ['each format that clients know', form(Object.fromEntries(
    ['email', 'uri', 'date', 'date-time'].map((format) => [format, { type: 'string', format }]),
  ))],
  ['a choice', field({ type: 'string', enum: ['a', 'b'] })],
  ['a choice with titles', field({ type: 'string', oneOf: [{ const: 'a', title: 'A' }] })],
  ['several choices', field({ type: 'array', items: { type: 'string', enum: ['a'] } })],
  ['several choices with titles', field({ type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } })],
  ['an address', address('https://example.com/connect?a=b#c')],
  ['an address of this machine', address('http://127.0.0.1:8080/')],
  ['no messages', talk()],
  ['words', talk('tea?', text, [text, text])],
  ['a tool use with its result', talk(use('1'), result('1'))],
  ['several with their results in another order',
    talk([text, use('1'), use('2')], [result('2'), result('1')], text)],
  ['roots', { what: 'roots' }],
]

const texts
  = /call\.elicit .*'odd' has choices that are not said to be texts.*; write \{ type: 'string', enum:/
const flat = /call\.elicit .*'odd'.*cannot be nested.*of its own/
const forms = /call\.elicit needs a schema of a flat object; write \{/
const formats = /call\.elicit .*'odd' has the format .*; write email, uri, date or date-time, or leave it out/
const addresses = /call\.elicit has a url that is no http or https address; write one/
const results = /call\.sample has a tool_use whose tool_result is not in the next message; add it there/
const alone = /call\.sample has a message with a tool_result and something else; write .* of its own/

const refused: readonly (readonly [what: string, question: Loose, sentence: RegExp])[] = [
  ['an object in a form', field({ type: 'object', properties: {} }), flat],
  ['a task that is none', { ...form({}), task: 60 }, /^call\.elicit has task 60; write \{ ttlMs: 60_000 \}/],
  ['an id that is no text', { ...address('https://a.example'), elicitationId: 5 }, /elicitationId 5; write/],
  ['a list in a form', field({ type: 'array', items: { type: 'string' } }), flat],
  ['choices of a library', field({ anyOf: [{ type: 'string', const: 's' }, { const: 'l' }] }), texts],
  ['choices with titles and no type', field({ oneOf: [{ const: 's', title: 'S' }] }), texts],
  ['a list of objects in a form', field({ type: 'array', items: { type: 'object' } }), flat],
  ['a choice without a type', field({ enum: ['a', 'b'] }), texts],
  ['a choice of numbers that is called a text', field({ type: 'string', enum: [1, 2] }), texts],
  ['a choice among objects', field({ type: 'object', enum: [{}] }), flat],
  ['several choices without a type', field({ type: 'array', items: { enum: ['a'] } }), texts],
  ['null in a form', field({ type: 'null' }), flat],
  ['two types in a form', field({ type: ['string', 'number'] }), flat],
  ['a reference in a form', field({ $ref: '#/$defs/x' }), flat],
  ['a field that says nothing', field({}), flat],
  ['a field that is no schema', field(true), flat],
  ...['uuid', 'time', 'uri-reference', 'EMAIL', '', 7, null].map(
    (format): readonly [string, Loose, RegExp] => (
      [`the format ${format}`, field({ type: 'string', format }), formats]
    ),
  ),
  ['a form that is no object', form({ a: { type: 'string' } }, 'array'), forms],
  ['a form without properties', form(undefined), forms],
  ['a form that is none', { what: 'elicit', message: 'Well?', schema: 'name' }, forms],
  ...[
    '', 'example.com', '/connect', 'javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,x',
    'https://', 7,
  ].map((url): readonly [string, Loose, RegExp] => [`the address ${url}`, address(url), addresses]),
  ['a tool use at the end', talk(use('1')), results],
  ['a tool use among words at the end', talk([text, use('1')]), results],
  ['a tool use whose result comes later', talk(use('1'), text, result('1')), results],
  ['a tool use with the result of another', talk(use('1'), result('2')), results],
  ['one of two tool uses', talk([use('1'), use('2')], result('1')), results],
  ['a result among words', talk(use('1'), [result('1'), text]), alone],
  ['messages that are none', { what: 'sample', maxTokens: 1, messages: 'tea?' },
    /call\.sample needs messages, each with a role and content, .*; write messages: \[/],
  ['a message that is none', { what: 'sample', maxTokens: 1, messages: [null] },
    /call\.sample needs messages/],
  ['instructions as a message',
    { what: 'sample', maxTokens: 1, messages: [{ role: 'system', content: 'a' }] },
    /call\.sample needs messages.*and instructions as systemPrompt$/],
  ...[null, 7, { text: 'tea?' }, { type: 7 }, ['tea?'], [text, null], [[text]]].map(
    (content): readonly [string, Loose, RegExp] => (
      [`the content ${JSON.stringify(content)}`, talk(content),
        /^call\.sample needs messages, .* a text or blocks that have a type; write /]
    ),
  ),
  ['a message without content', { what: 'sample', maxTokens: 1, messages: [{ role: 'user' }] },
    /call\.sample needs messages/],
  ['a sampling without an end', { what: 'sample', messages: [{ role: 'user', content: 'a' }] },
    /call\.sample has maxTokens undefined; write a number, as in 500$/],
  ['a form that is no JSON Schema', field({ type: 'string', pattern: '[' }),
    /^call\.elicit: schema: Invalid JSON Schema at \/properties\/odd\/pattern: /],
  ['a form whose required is no list', { what: 'elicit', message: 'Well?', schema: {
    type: 'object', properties: {}, required: 'name',
  } }, /^call\.elicit: schema: Invalid JSON Schema at \/required: /],
  ...[['elicit', form({})], ['elicit', address('https://x.test')], ['sample', talk('tea?')],
    ['roots', { what: 'roots' }]].map(([method, question]): readonly [string, Loose, RegExp] => (
    [`a number as the key of ${method}`, { ...Object(question), key: 7 },
      new RegExp(`^call\\.${method} has key 7; write a string, as in key: 'name'$`)]
  )),
  ['a form without a message', { what: 'elicit', schema: { type: 'object', properties: {} } },
    new RegExp('call\\.elicit has message undefined; write a string, as in '
      + `call\\.elicit\\(\\{ message: 'Your name\\?', schema`)],
]

test('a question that no client may be asked is its author\'s mistake, with the remedy', () => {
  for (const [what, question] of allowed) {
    assert.doesNotThrow(() => checkQuestion(question as unknown as Question), what)
  }
  for (const [what, question, message] of refused) {
    assert.throws(() => checkQuestion(question as unknown as Question), { name: 'TypeError', message }, what)
  }
})

test('it is told to the handler at once, and nothing goes out', async () => {
  const call = callOf({ can: () => true, ask: () => assert.fail('asked') })
  const schema = { type: 'object', properties: { odd: { type: 'object' } } }
  await assert.rejects(call.elicit({ message: 'Well?', schema }), { name: 'TypeError', message: flat })
  await assert.rejects(call.elicit({ message: 'In', url: 'in' }), { name: 'TypeError', message: addresses })
  const messages = [{ role: 'assistant', content: use('1') }] as const
  await assert.rejects(call.sample({ messages, maxTokens: 1 }), { name: 'TypeError', message: results })
})

test('an address that is asked to be opened has an id, its own or the author\'s', async () => {
  const ids: unknown[] = []
  const ask = async (question: Question): Promise<unknown> => ids.push(Reflect.get(question, 'elicitationId'))
  const question = { message: 'In', url: 'https://x.test' }
  for (let n = 0; n < 100; n++) await callOf({ can: () => true, ask }).elicit(question)
  assert.equal(new Set(ids).size, 100)
  for (const id of ids) assert.match(String(id), /^[\w-]{20,}$/)
  await callOf({ can: () => true, ask }).elicit({ ...question, elicitationId: 'mine' })
  assert.equal(ids.at(-1), 'mine')
})
