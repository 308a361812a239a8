import assert from 'node:assert/strict'
import test from 'node:test'
import { answersFrom, questionParts } from '../../lib/core/question-answer.ts'
import type { Content } from '../../lib/core/content.ts'
import type { Question } from '../../lib/core/question.ts'

const STEPS = 10_000
const text = (said: string): Content => ({ type: 'text', text: said })
const data = (value: unknown): Content => ({ type: 'data', data: value })

function form(properties: object, required = Object.keys(properties)): Question {
  return { what: 'elicit', message: 'Well?', schema: { type: 'object', properties, required } } as Question
}

const name = form({ name: { type: 'string', minLength: 2 } })
const address: Question = { what: 'elicit-url', message: 'Log in', url: 'https://a.test/x', elicitationId: 'e' }

const answers: readonly (readonly [what: string, question: Question, part: Content, content: unknown])[] = [
  ['data that fits', name, data({ name: 'Ann' }), { name: 'Ann' }],
  ['data that does not', name, data({ name: 7 }), undefined],
  ['data that is no object', name, data(['Ann']), undefined],
  ['a text for the only value', name, text(' Ann '), { name: 'Ann' }],
  ['a text that the form refuses', name, text('A'), undefined],
  ['a text for the only text', form({ name: { type: 'string' }, age: { type: 'integer' } }, ['name']), text('Ann'), { name: 'Ann' }],
  ['a text for two', form({ a: { type: 'string' }, b: { type: 'string' } }), text('Ann'), undefined],
  ['a number', form({ age: { type: 'integer' } }), text('42'), { age: 42 }],
  ['no number', form({ age: { type: 'integer' } }), text('old'), undefined],
  ['yes', form({ sure: { type: 'boolean' } }), text('Yes'), { sure: true }],
  ['no', form({ sure: { type: 'boolean' } }), text('no'), { sure: false }],
  ['neither', form({ sure: { type: 'boolean' } }), text('perhaps'), undefined],
  ['a picture', name, { type: 'image', data: 'aGk=', mimeType: 'image/png' }, undefined],
]

test('a message answers a form with data that fits, or with a text for its only value', () => {
  for (const [what, question, part, content] of answers) {
    const given = answersFrom([{ key: 'k', question }], [part], STEPS).get('k')
    assert.deepEqual(given, content === undefined ? undefined : { action: 'accept', content }, what)
  }
})

test('one part answers one question, in the order in which they were asked', () => {
  const open = [{ key: 'a', question: name }, { key: 'b', question: name }]
  const given = answersFrom(open, [text('Ann'), text('Bob')], STEPS)
  assert.deepEqual([...given].map(([key, { content }]) => [key, content]), [['a', { name: 'Ann' }], ['b', { name: 'Bob' }]])
  assert.deepEqual([...answersFrom(open, [text('Ann')], STEPS).keys()], ['a'])
})

test('whoever goes on has opened the address, and the message is left for the other questions', () => {
  const given = answersFrom([{ key: 'u', question: address }, { key: 'k', question: name }], [text('Ann')], STEPS)
  assert.deepEqual([...given.keys()], ['u', 'k'])
})

test('a form that takes too many steps to check is not answered', () => {
  const question = form({ names: { type: 'array', items: { type: 'string' } } })
  const many = data({ names: Array.from({ length: 100 }, () => 'Ann') })
  assert.equal(answersFrom([{ key: 'k', question }], [many], STEPS).size, 1)
  assert.equal(answersFrom([{ key: 'k', question }], [many], 10).size, 0)
})

test('a question is put in words, and its form as data', () => {
  assert.deepEqual(questionParts(name), [text('Well?'), data({ schema: 'schema' in name && name.schema })])
  assert.deepEqual(questionParts(address), [text('Log in'), { type: 'resource_link', uri: 'https://a.test/x', name: 'a.test' }])
  assert.deepEqual(questionParts({ what: 'roots' }), [])
})
