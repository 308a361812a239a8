import assert from 'node:assert/strict'
import test from 'node:test'
import { answersFrom, questionParts } from '../../lib/tasks/question-answer.ts'
import type { Content } from '../../lib/index.ts'
import type { TaskQuestion } from '../../lib/tasks/task.ts'

function form(key: string, type: string): TaskQuestion {
  const schema = { type: 'object', properties: { [key]: { type } }, required: [key] }
  return { key, question: { what: 'elicit', message: `${key}?`, schema } }
}

const url: TaskQuestion = {
  key: 'url', question: { what: 'elicit-url', message: 'Allow', url: 'https://a.test/x?y=1' },
}
const text = (said: string): Content => ({ type: 'text', text: said })
const data = (value: unknown): Content => ({ type: 'data', data: value })

/** What stands in answers, by key. */
function answered(open: readonly TaskQuestion[], ...parts: readonly Content[]): unknown {
  const answers = answersFrom(open, parts, 10_000)
  return Object.fromEntries([...answers].map(([key, { content }]) => [key, content ?? 'accepted']))
}

test('one part answers one question, the first that it fits', () => {
  const open = [form('name', 'string'), form('nick', 'string'), form('age', 'number')]
  assert.deepEqual(answered(open, text('Ann')), { name: { name: 'Ann' } })
  assert.deepEqual(answered(open, text('Ann'), text('An')), { name: { name: 'Ann' }, nick: { nick: 'An' } })
  assert.deepEqual(answered(open, data({ age: 4 })), { age: { age: 4 } })
  assert.deepEqual(answered(open, data({ nick: 'An' }), text('4')), {
    name: { name: '4' }, nick: { nick: 'An' },
  })
  assert.deepEqual(answered(open), {})
  assert.deepEqual(answered([], text('Ann')), {})
})

test('a text of another format answers no question', () => {
  const properties = { mail: { type: 'string', format: 'email' } }
  const schema = { type: 'object', properties, required: ['mail'] }
  const mail: TaskQuestion = { key: 'mail', question: { what: 'elicit', message: 'Mail?', schema } }
  assert.deepEqual(answered([mail], text('nope'), data({ mail: 'no' })), {})
  assert.deepEqual(answered([mail], text('ann@a.test')), { mail: { mail: 'ann@a.test' } })
})

test('an address is accepted by whatever comes, and uses up nothing', () => {
  assert.deepEqual(answered([url, form('name', 'string')], text('Ann')), {
    url: 'accepted', name: { name: 'Ann' },
  })
})

test('what no message can answer stays open', () => {
  const roots: TaskQuestion = { key: 'roots', question: { what: 'roots' } }
  assert.deepEqual(answered([roots], text('Ann'), data({})), {})
  assert.deepEqual(questionParts(roots.question), [])
})

test('a question is put in words, and in what a program can use', () => {
  const { question } = form('name', 'string')
  assert.deepEqual(questionParts(question), [
    { type: 'text', text: 'name?' },
    {
      type: 'data',
      data: { schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
    },
  ])
  assert.deepEqual(questionParts(url.question), [
    { type: 'text', text: 'Allow' }, { type: 'resource_link', uri: 'https://a.test/x?y=1', name: 'a.test' },
  ])
})

test('names that every object has are values like others', () => {
  const open = [form('constructor', 'string')]
  assert.deepEqual(answered(open, data({})), {})
  assert.deepEqual(answered(open, text('Ann')), { constructor: { constructor: 'Ann' } })
})
