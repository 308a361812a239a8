import assert from 'node:assert/strict'
import { test } from 'node:test'

import { assistant, makeAssistant, tools } from '../../../lib/agents/assistant/assistant.ts'
import { makeTools } from '../../../lib/agents/assistant/assistant.ts'
import type { Call, ChatMessage } from '../../../lib/kernel/define/call.ts'

const here = makeAssistant(makeTools(() => ({ now: Date.UTC(2026, 2, 6, 13, 5), zone: 'UTC' })))

function pieces(prompt: string, history: readonly ChatMessage[] = [], agent = here): readonly string[] {
  return [...agent.run(prompt, { history } as Call) as Iterable<string>]
}

/** Says the prompts one after the other in one conversation and gives the answers. */
function talk(...prompts: readonly string[]): readonly string[] {
  const history: ChatMessage[] = []
  return prompts.map((prompt) => {
    const text = pieces(prompt, history).join('')
    history.push({ role: 'user', content: prompt }, { role: 'assistant', content: text })
    return text
  })
}

test('answers are short and show what was understood', () => {
  const table: readonly (readonly [string, string])[] = [
    ['what is 12 * (3 + 4)?', '12 * (3 + 4) = 84'], ['2 ^ 10', '2 ^ 10 = 1024'], ['sqrt(2)',
    'sqrt(2) ≈ 1.414213562'],
    ['20% of 150', '20% of 150 = 30'], ['convert 5 km to m', '5 km = 5000 m'],
    ['how many meters in 3.5 miles', '3.5 miles = 5632.704 m'], ['convert 72 F to C',
    '72 F ≈ 22.22222222 °C'],
    ['255 in hex', '255 = 0xff'], ['how many seconds in a day', 'a day = 86400 s'],
    ['what is the difference between 9 and 4', '9 - (4) = 5'], ['5 minutes + 3 minutes',
    '5 minutes + 3 minutes = 8 min'],
    ['what time is it in Tokyo', 'It is 22:05 on Friday, 2026-03-06 in Asia/Tokyo (UTC+09:00).'],
    ['what day was 1969-07-20', '1969-07-20 was a Sunday, in ISO week 29, in a common year.'],
    ['days until christmas', '2026-12-25 is 294 days after 2026-03-06 (42 weeks).'],
    ['90 days from now', '2026-03-06 + 90 days is 2026-06-04, a Thursday.'],
    ['how many words in: to be or not to be', '6 words, 18 characters, 1 sentence, 1 line, 13 letters.\n'
      + 'Most frequent: to (2), be (2), or (1), not (1).'],
    ['how many r\'s in strawberry', '"r" occurs 3 times in "strawberry".'], ['thanks', 'You are welcome.'],
    ['times 2', 'There is no earlier result in this conversation that I could go on from.'],
  ]
  for (const [prompt, expected] of table) assert.deepEqual(talk(prompt), [expected], prompt)
})

test('problems are explained', () => {
  const table: readonly (readonly [string, string])[] = [
    ['what is 5 / (3 - 3)?', 'Division by zero.'], ['convert 10 km to kg',
    'km and kg do not measure the same.'],
    ['convert 5 dollars to euros', 'There is no name or unit "dollars".'],
    ['what day is 2026-02-30', 'There is no date "2026-02-30"; write it as 2026-03-01.'],
    ['what time is it in Tokio',
      'There is no time zone for "Tokio"; name a city, such as "Tokyo", or a zone, such as "Europe/Paris".'],
    [`how many words in: ${'a '.repeat(60_000)}`, 'The text is longer than 100000 characters.'],
  ]
  for (const [prompt, why] of table) assert.deepEqual(talk(prompt), [`I cannot work that out. ${why}`])
})

test('a conversation is remembered', () => {
  const table: readonly (readonly (readonly [prompt: string, answer: string])[])[] = [
    [['what is 12 * 7', '12 * 7 = 84'], ['and times 2?', '84 times 2 = 168'], ['that plus 5',
      '168 plus 5 = 173'],
      ['divide it by 3', '173 / 3 ≈ 57.66666667'], ['times 3', '(173 / 3) times 3 = 173'],
      ['what did I ask before?', 'Before this you said: times 3'],
      ['what was the last result?', 'I said: (173 / 3) times 3 = 173']],
    [['how many meters in 3.5 miles', '3.5 miles = 5632.704 m'], ['convert that to feet',
      '(5632.704 m) = 18480 ft'],
      ['in yards?', '(18480 ft) = 6160 yd'], ['double it', 'double (6160 yd) = 12320 yd'], ['and 5 miles?',
      '5 miles = 8800 yd']],
    [['convert 72 F to C', '72 F ≈ 22.22222222 °C'], ['that plus 5',
      '((72 F) in °C) plus 5 °C ≈ 27.22222222 °C']],
    [['2026-03-01 + 90 days', '2026-03-01 + 90 days is 2026-05-30, a Saturday.'],
      ['plus 2 weeks', '2026-05-30 + 2 weeks is 2026-06-13, a Saturday.'],
      ['what day is that?', '2026-06-13 will be a Saturday, in ISO week 24, in a common year.'],
      ['days until that', '2026-06-13 is 99 days after 2026-03-06 (14 weeks and 1 day).']],
    [['days until christmas', '2026-12-25 is 294 days after 2026-03-06 (42 weeks).'], ['in weeks',
      '(294 days) = 42 weeks']],
    [['what time is it', 'It is 13:05 on Friday, 2026-03-06 in UTC.'],
      ['and in Paris?', 'It is 14:05 on Friday, 2026-03-06 in Europe/Paris (UTC+01:00).'], ['7 * 6',
      '7 * 6 = 42']],
    [['5 + 5', '5 + 5 = 10'], ['thanks', 'You are welcome.'], ['times 2', '10 times 2 = 20']],
    [['one two three', talk('one two three')[0]!],
      ['how many words in that?', '3 words, 13 characters, 1 sentence, 1 line, 11 letters.\n'
        + 'Most frequent: one (1), two (1), three (1).']],
  ]
  for (const turns of table) {
    assert.deepEqual(talk(...turns.map(([prompt]) => prompt)), turns.map(([, expected]) => expected))
  }
})

test('what is not understood is said, with all that can be done', () => {
  const prompts = ['what is the weather in Paris?', 'my name is Bob', 'I have 3 apples', 'x'.repeat(2000)]
  for (const prompt of prompts) {
    const [text = ''] = talk(prompt)
    assert.match(text, /^I do not understand that\. This is what I can do:\n- Arithmetic: "what is 12/)
    assert.match(text, /I remember our conversation/)
    assert.match(text, /not a language model: I cannot chat, write, or look anything up\.$/)
  }
  assert.match(talk('help')[0]!, /^This is what I can do:\n/)
  assert.match(talk('hello')[0]!, /^Hello! .*what can you do/)
})

test('every example works', () => {
  for (const { examples = [] } of here.skills ?? []) {
    assert.notDeepEqual(examples, [])
    for (const example of examples) assert.doesNotMatch(talk(example)[0]!, /^I /, example)
  }
  for (const example of ['and times 2?', 'convert that to feet']) {
    assert.doesNotMatch(talk('2 m + 3 m', example)[1]!, /^I /, example)
  }
})

test('answers come in pieces', () => {
  assert.deepEqual(pieces('6 * 7'), ['6 * 7 = ', '42'])
  assert.ok(pieces('help').length > 4)
})

test('nothing more is said when nobody listens', () => {
  const history: readonly ChatMessage[] = []
  const answer = (here.run('help', { history } as Call) as Iterable<string>)[Symbol.iterator]()
  assert.equal(answer.next().done, false)
  answer.return?.()
  assert.equal(answer.next().done, true)
})

test('a defect of a tool is no answer', () => {
  const run = (): never => { throw new RangeError('mine') }
  const broken = makeAssistant(tools.map((tool) => ({ ...tool, run })))
  assert.throws(() => pieces('1 + 1', [], broken), RangeError)
})

test('the built-in assistant has the built-in tools and tells the time', () => {
  assert.equal(assistant.id, 'assistant')
  assert.deepEqual(assistant.skills?.map(({ id }) => id), tools.map(({ name }) => name))
  const time = pieces('what time is it in UTC', [], assistant).join('')
  assert.match(time, /^It is \d\d:\d\d(:\d\d)? on \w+day, \d{4}-/)
})
