import assert from 'node:assert/strict'
import { test } from 'node:test'

import { answer, skills } from '../../lib/assistant/answer.ts'
import type { ChatMessage } from '../../lib/core/conversation.ts'

const clock = { now: Date.UTC(2026, 2, 6, 13, 5), zone: 'UTC' }

/** Says the prompts one after the other in one conversation and gives the answers. */
function talk(...prompts: readonly string[]): readonly string[] {
  const history: ChatMessage[] = []
  return prompts.map((prompt) => {
    const text = [...answer(prompt, history, clock)].join('')
    history.push({ role: 'user', content: prompt }, { role: 'assistant', content: text })
    return text
  })
}

test('answers are short and show what was understood', () => {
  const table: readonly (readonly [string, string])[] = [
    ['what is 12 * (3 + 4)?', '12 * (3 + 4) = 84'],
    ['how many meters in 3.5 miles', '3.5 miles = 5632.704 m'],
    ['convert 72 F to C', '72 F ≈ 22.22222222 °C'],
    ['what time is it in Tokyo', 'It is 22:05 on Friday, 2026-03-06 in Tokyo (Asia/Tokyo, UTC+09:00).'],
    ['what day was 1969-07-20',
      '1969-07-20 was a Sunday, day 201 of 1969, ISO week 1969-W29, in a common year.'],
    ['how many words in: to be or not to be', '6 words (18 characters, 1 sentence).'],
    ['how many characters in "héllo"', '5 characters (1 word, 1 sentence).'],
    ['how many chars in "héllo"', '5 characters (1 word, 1 sentence).'],
    ['how many r\'s in strawberry', '"r" occurs 3 times in "strawberry".'],
    ['thanks', 'You are welcome.'],
    ['bye', 'Goodbye!'],
    ['times 2', 'There is no earlier result in this conversation that I could go on from.'],
    ['what did I ask before?', 'There is nothing before this in our conversation.'],
    ['what was the last answer?', 'There is nothing before this in our conversation.'],
    ['repeat that', 'There is nothing before this in our conversation.'],
  ]
  for (const [prompt, expected] of table) assert.deepEqual(talk(prompt), [expected], prompt)
})

test('problems are explained', () => {
  const table: readonly (readonly [string, string])[] = [
    ['what is 5 / (3 - 3)?', 'I cannot work out "5 / (3 - 3)". Division by zero at position 3.'],
    ['convert 10 km to kg', 'I cannot work that out. Cannot convert a length (km) to a mass (kg).'],
    ['convert 5 dollars to euros',
      'I cannot work that out. "dollars" needs live exchange rates, which I do not have.'],
    ['what day is 2026-02-30',
      'I cannot work that out. There is no such date: February 2026 has 28 days, not 30.'],
    ['what time is it in Tokio',
      'I cannot work that out. Unknown place or time zone "Tokio". Did you mean "tokyo"?'],
    [`count the words in: ${'a '.repeat(60_000)}`,
      'I cannot work that out. The text is longer than 100000 characters.'],
  ]
  for (const [prompt, expected] of table) assert.deepEqual(talk(prompt), [expected])
})

test('a conversation is remembered', () => {
  const table: readonly (readonly (readonly [prompt: string, answer: string])[])[] = [
    [['what is 12 * 7', '12 * 7 = 84'], ['and times 2?', '84 times 2 = 168'],
      ['that plus 5', '168 plus 5 = 173'],
      ['divide it by 3', '173 / 3 ≈ 57.66666667'], ['times 3', '(173 / 3) times 3 = 173'],
      ['what did I ask before?', 'Before this you said: "times 3"'],
      ['what was the last result?', '(173 / 3) times 3 = 173'],
      ['say that again', '(173 / 3) times 3 = 173']],
    [['how many meters in 3.5 miles', '3.5 miles = 5632.704 m'],
      ['convert that to feet', '(5632.704 m) = 18480 ft'],
      ['in yards?', '(18480 ft) = 6160 yd'], ['double it', '2 * (6160 yd) = 12320 yd'],
      ['and 5 miles?', '5 miles = 8800 yd']],
    [['convert 72 F to C', '72 F ≈ 22.22222222 °C'],
      ['that plus 5', '((72 F) in °C) plus 5 °C ≈ 27.22222222 °C']],
    [['2026-03-01 + 90 days', '2026-03-01 + 90 days is 2026-05-30, a Saturday.'],
      ['plus 2 weeks', '2026-05-30 + 2 weeks is 2026-06-13, a Saturday.'],
      ['what day is that?',
        '2026-06-13 will be a Saturday, day 164 of 2026, ISO week 2026-W24, in a common year.']],
    [['days until christmas', '2026-12-25 is 294 days after 2026-03-06 (42 weeks; 9 months and 19 days).'],
      ['in weeks', '(294 days) = 42 weeks']],
    [['what time is it', 'It is 13:05 on Friday, 2026-03-06 in UTC.'],
      ['and in Paris?', 'It is 14:05 on Friday, 2026-03-06 in Paris (Europe/Paris, UTC+01:00).']],
    [['5 + 5', '5 + 5 = 10'], ['thanks', 'You are welcome.'], ['times 2', '10 times 2 = 20']],
    [['5 / 0', 'I cannot work out "5 / 0". Division by zero at position 3.'],
      ['times 2', 'There is no earlier result in this conversation that I could go on from.']],
    [['one two three', talk('one two three')[0]!],
      ['how many words in that?', '3 words (13 characters, 1 sentence).']],
  ]
  for (const turns of table) {
    assert.deepEqual(talk(...turns.map(([prompt]) => prompt)), turns.map(([, expected]) => expected))
  }
})

test('what is not understood is said, with all that can be done', () => {
  const [text = ''] = talk('what is the weather in Paris?')
  assert.match(text, /^I did not understand that\. This is what I can do:\n- Arithmetic: "what is 12/)
  assert.match(text, /I remember our conversation/)
  assert.match(text, /not a language model: I cannot chat, write, or look anything up\.$/)
  assert.match(talk('help')[0]!, /^I am the assistant that comes with triport/)
  assert.match(talk('hello')[0]!, /^Hello! .*what can you do/)
})

test('every example works', () => {
  for (const { examples = [] } of skills) {
    for (const example of examples) assert.doesNotMatch(talk(example)[0]!, /^I /, example)
  }
  for (const example of ['and times 2?', 'convert that to feet']) {
    assert.doesNotMatch(talk('2 m + 3 m', example)[1]!, /^I /, example)
  }
})

test('text statistics come line by line', () => {
  assert.deepEqual([...answer('analyze: Hello world. Hello!', [], clock)], [
    '3 words, average length 5.', '\n19 characters, 17 without spaces.',
    '\n2 sentences, 1 line, 1 paragraph.',
    '\nMost frequent: hello (2), world (1).', '\nReading time: about 1 second.',
  ])
  assert.match(talk('analyze: !!!')[0]!, /Most frequent: no words\./)
})

test('answers come in pieces', () => {
  assert.deepEqual([...answer('6 * 7', [], clock)], ['6 * 7', ' = ', '42'])
  assert.ok([...answer('help', [], clock)].length > 4)
})
