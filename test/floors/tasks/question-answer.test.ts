import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import {
  answersFrom, deliverMessage, keptAnswer, questionParts, withAnswers,
} from '../../../lib/floors/tasks/question-answer.ts'
import { Tasks } from '../../../lib/floors/tasks/tasks.ts'
import type { Content } from '../../../lib/index.ts'
import type { Form, Question } from '../../../lib/kernel/define/question.ts'
import type { Task, TaskQuestion } from '../../../lib/floors/tasks/task.ts'

const MAX_STEPS = 10_000

/** A form with these properties, all of them needed. */
function formOf(key: string, properties: Readonly<Record<string, unknown>>): TaskQuestion {
  const schema = { type: 'object', properties, required: Object.keys(properties) }
  return { key, question: { what: 'elicit', message: `${key}?`, schema } }
}

function form(key: string, type: string): TaskQuestion {
  return formOf(key, { [key]: { type } })
}

const url: TaskQuestion = {
  key: 'url', question: { what: 'elicit-url', message: 'Allow', url: 'https://a.test/x?y=1' },
}
const text = (said: string): Content => ({ type: 'text', text: said })
const data = (value: unknown): Content => ({ type: 'data', data: value })

/** What stands in answers, by key. */
function answered(open: readonly TaskQuestion[], ...parts: readonly Content[]): unknown {
  const answers = answersFrom(open, parts, MAX_STEPS)
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

test('a choice is named by its value or its title, in any case', () => {
  const choices = [{ const: 's', title: 'Small' }, { const: 'l', title: 'Large' }]
  const open = [formOf('size', { size: { type: 'string', oneOf: choices } })]
  for (const said of ['s', 'S', 'small', 'SMALL']) {
    assert.deepEqual(answered(open, text(said)), { size: { size: 's' } }, said)
  }
  assert.deepEqual(answered(open, text('Medium')), {})
  assert.deepEqual(answered([formOf('size', { size: { type: 'string', enum: ['s', 'l'] } })], text('L')), {
    size: { size: 'l' },
  })
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

/** What is made of a text, by the properties of the form that asks. Undefined: it answers nothing. */
const texts: readonly (readonly [
  properties: Readonly<Record<string, unknown>>, said: string, content: unknown,
])[] = [
  [{ a: { type: 'string' } }, ' Ann ', { a: 'Ann' }],
  [{ a: { type: 'string' } }, '', { a: '' }],
  [{ a: { type: 'string' } }, '4', { a: '4' }],
  [{ a: { type: 'string' } }, 'yes', { a: 'yes' }],
  [{ a: { type: 'number' } }, ' 4.5 ', { a: 4.5 }],
  [{ a: { type: 'number' } }, '', undefined],
  [{ a: { type: 'number' } }, 'four', undefined],
  [{ a: { type: 'number' } }, 'Infinity', undefined],
  [{ a: { type: 'integer' } }, '4', { a: 4 }],
  [{ a: { type: 'integer' } }, '4.5', undefined],
  [{ a: { type: 'boolean' } }, 'Yes', { a: true }],
  [{ a: { type: 'boolean' } }, 'true', { a: true }],
  [{ a: { type: 'boolean' } }, 'NO', { a: false }],
  [{ a: { type: 'boolean' } }, 'false', { a: false }],
  [{ a: { type: 'boolean' } }, 'yes, please', undefined],
  [{ a: { type: 'boolean' } }, 'I know', undefined],
  [{ a: { type: 'string', enum: ['Small', 'Large'] } }, 'large', { a: 'Large' }],
  [{ a: { type: 'string', enum: ['Small', 'Large'] } }, 'huge', undefined],
  [{ a: { type: 'integer', enum: [1, 2] } }, '2', { a: 2 }],
  [{ a: {} }, '4', { a: '4' }],
  [{ a: true }, '4', { a: '4' }],
  // The one that is a text gets it; of several that are none, no one does.
  [{ a: { type: 'string' }, b: { type: 'number', default: 1 } }, 'Ann', undefined],
  [{ a: { type: 'number' }, b: { type: 'number' } }, '4', undefined],
  [{ a: { type: 'string' }, b: { type: 'string' } }, 'Ann', undefined],
  [{}, 'Ann', undefined],
]

test('a text fills the only value of a form, as what that asks for', () => {
  for (const [properties, said, content] of texts) {
    const expected = content === undefined ? {} : { q: content }
    const what = `${JSON.stringify(properties)} ${said}`
    assert.deepEqual(answered([formOf('q', properties)], text(said)), expected, what)
  }
  const free = (schema: Form['schema']): TaskQuestion => (
    { key: 'q', question: { what: 'elicit', message: 'q?', schema } }
  )
  const two = { a: { type: 'number' }, b: { type: 'string' } }
  assert.deepEqual(answered([free({ type: 'object', properties: two })], text('4')), { q: { b: '4' } })
  assert.deepEqual(answered([free({ type: 'object' })], text('4')), {})
  const image: Content = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
  assert.deepEqual(answered([form('a', 'string')], image, data('a'), data(null), data([])), {})
})

test('an answer whose check takes too many steps answers nothing', () => {
  const open = [formOf('q', { a: { type: 'array', items: { enum: ['a', 'b'] } } })]
  const long = [data({ a: Array.from({ length: 1_000 }, () => 'a') })]
  assert.equal(answersFrom(open, long, MAX_STEPS).size, 1)
  assert.equal(answersFrom(open, long, 100).size, 0)
})

test('an answer is kept for what was asked, and for nothing else by that key', () => {
  const { question } = form('a', 'string')
  const given = withAnswers({ answers: { old: 1 }, asked: { old: 'x' } }, new Map<string, unknown>([
    ['a', 'Ann'], ['unasked', 2],
  ]), [{ key: 'a', question }, form('b', 'string')])
  assert.deepEqual(given.answers, { old: 1, a: 'Ann', unasked: 2 })
  assert.deepEqual(Object.keys(given.asked!), ['old', 'a'])
  const same: readonly Question[] = [
    question, { ...question, key: 'a' } as Question, { ...question, task: { ttlMs: 1 } } as Question,
    { ...question, elicitationId: 'e' } as Question,
  ]
  for (const one of same) assert.equal(keptAnswer(given, 'a', one), 'Ann', JSON.stringify(one))
  const others: readonly (readonly [key: string, question: Question])[] = [
    ['a', { ...question, message: 'Another?' } as Question], ['a', form('b', 'string').question],
    ['b', question], ['old', question], ['unasked', question], ['constructor', question],
  ]
  for (const [key, one] of others) assert.equal(keptAnswer(given, key, one), undefined, key)
  assert.equal(keptAnswer({ answers: { a: 'Ann' } }, 'a', question), undefined)
  assert.equal(keptAnswer({ answers: {}, asked: given.asked }, 'a', question), undefined)
  const inherited = { answers: {}, asked: { constructor: given.asked!['a']! } }
  assert.equal(keptAnswer(inherited, 'constructor', question), undefined)
})

const say: TaskQuestion = { key: 'say', question: { what: 'roots' } }

/** What a message does to a task that waits: what its run gets, and what is asked then. */
async function delivered(
  questions: readonly TaskQuestion[], parts: readonly Content[], hasRun = true,
): Promise<{ given: unknown; returned: unknown; task: Task }> {
  const tasks = new Tasks(limitsOf({}))
  let given: unknown
  const run = {
    onSettled() {}, refuse() {}, cancel() {}, lose() {},
    answer: (answers: ReadonlyMap<string, unknown>) => { given = Object.fromEntries(answers) },
  }
  const { id } = await tasks.create({
    owner: 'ann', protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, contextId: 'c',
    sessionId: undefined, ttlMs: undefined,
  }, hasRun ? run : undefined)
  tasks.move(id, 'input-required', { questions, message: [text('as it was asked')] })
  const asked = await tasks.get('ann', id) as Task
  const answers = deliverMessage(tasks, asked, { id: 'm', role: 'user', parts }, MAX_STEPS)
  const returned = answers && Object.fromEntries(answers)
  return { given, returned, task: await tasks.get('ann', id) as Task }
}

test('a message that answers goes to the run, one that does not is answered with what is asked', async () => {
  const accepted = { a: { action: 'accept', content: { a: 'Ann' } } }
  const name = form('a', 'string')
  const age = form('b', 'number')
  const again = (...lines: readonly string[]): readonly Content[] => (
    [...questionParts(age.question), ...lines.map(text)]
  )
  const rows: readonly (readonly [
    what: string, open: readonly TaskQuestion[], parts: readonly Content[], given: unknown,
    asked: readonly Content[],
  ])[] = [
    ['an answer', [name], [text('Ann')], accepted, [text('as it was asked')]],
    ['an answer to one of two', [age, name], [data({ a: 'Ann' })], accepted, [text('as it was asked')]],
    ['nothing is asked', [], [text('Ann')], {}, [text('as it was asked')]],
    ['what no message answers', [say], [text('Ann')], undefined, [text('as it was asked')]],
    ['no data', [age], [], undefined, again('The answer has to be data that fits the form.')],
    ['a picture', [age], [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }], undefined,
      again('The answer has to be data that fits the form.')],
    ['a text that is no number', [say, age], [text('old')], undefined,
      again('The answer does not fit the form: b: must be a number, got string "old".')],
    ['data of another form', [age], [text('old'), data({ b: 'old' })], undefined,
      again('The answer does not fit the form: b: must be a number, got string "old".')],
    ['data behind a picture', [age], [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }, data({})],
      undefined, again('The answer does not fit the form: b: is required.')],
    ['no data, and two are asked', [age, name], [data(1)], undefined, [
      ...questionParts(age.question), ...questionParts(name.question),
      text('The answer has to be data that fits the form.'),
    ]],
  ]
  for (const [what, open, parts, given, asked] of rows) {
    const { task, ...heard } = await delivered(open, parts)
    assert.deepEqual(heard, { given, returned: given }, what)
    assert.deepEqual(task.status.message?.parts, asked, what)
    assert.deepEqual(task.history.map(({ id }) => id).filter((id) => id === 'm'), ['m'], what)
    assert.equal(task.status.state, 'input-required', what)
    assert.deepEqual(task.questions, open, what)
  }
  const late = await delivered([name], [text('Ann')], false)
  assert.deepEqual([late.given, late.returned], [undefined, accepted])
})
