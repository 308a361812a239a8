import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Memory } from '../../lib/assistant/memory.ts'
import { understand } from '../../lib/assistant/understand.ts'
import type { Intent } from '../../lib/assistant/understand.ts'

const none = undefined
const blank: Memory = { value: none, unit: '', result: none, question: none, answer: none }

test('sentences find their skill', () => {
  const table: readonly (readonly [string, Intent])[] = [
    ['what is 12 * (3 + 4)?', { skill: 'calculate', expression: '12 * (3 + 4)' }],
    ['Hello, can you please tell me what is 3+4 please?', { skill: 'calculate', expression: '3+4' }],
    ['3+4=?', { skill: 'calculate', expression: '3+4' }],
    ['5!', { skill: 'calculate', expression: '5!' }],
    ['seven hundred divided by two', { skill: 'calculate', expression: '7 hundred divided by 2' }],
    ['what is 5 km plus 300 m in miles', { skill: 'convert', value: '5 km plus 300 m', to: 'miles' }],
    ['how many meters in 3.5 miles', { skill: 'convert', value: '3.5 miles', to: 'meters' }],
    ['How many hours are there in a week?', { skill: 'convert', value: '1 week', to: 'hours' }],
    ['how much is 5 kg in pounds', { skill: 'convert', value: '5 kg', to: 'pounds' }],
    ['Convert 72 F to C', { skill: 'convert', value: '72 F', to: 'C' }],
    ['5 ft 3 in in cm', { skill: 'convert', value: '5 ft 3 in', to: 'cm' }],
    ['convert FF from hex to decimal', { skill: 'convert', value: 'FF from hex', to: 'decimal' }],
    ['100 USD to EUR', { skill: 'convert', value: '100 USD', to: 'EUR' }],
    ['what is 3 to the power of 4', { skill: 'calculate', expression: '3 ^ 4' }],
    ['= a dozen times 3', { skill: 'calculate', expression: '1 dozen times 3' }],
    ['hex of 255', { skill: 'convert', value: '255', to: 'hex' }],
    ['roman numeral for 42', { skill: 'convert', value: '42', to: 'roman numeral' }],
    ['MCMXCIV in decimal', { skill: 'convert', value: 'MCMXCIV', to: 'decimal' }],
    ['hex ff to decimal', { skill: 'convert', value: 'hex ff', to: 'decimal' }],
    ['convert 10 km to parsnips', { skill: 'convert', value: '10 km', to: 'parsnips' }],
    ['what time is it in Tokyo?', { skill: 'date', request: { operation: 'now', zone: 'Tokyo' } }],
    ['how many words in: to be or not', { skill: 'text_stats', text: 'to be or not', count: 'word' }],
    ['Count the letters in "banana"?', { skill: 'text_stats', text: 'banana', count: 'letter' }],
    ['word count: one two', { skill: 'text_stats', text: 'one two', count: 'word' }],
    ['Please analyze this text:\nHello.\n\nBye.', { skill: 'text_stats', text: 'Hello.\n\nBye.' }],
    ['how many sentences are there in the following text: Hi. Ho.',
      { skill: 'text_stats', text: 'Hi. Ho.', count: 'sentence' }],
    ['how many r\'s in strawberry?', { skill: 'text_stats', text: 'strawberry', letter: 'r' }],
    ['How many times does the letter p appear in "apple pie"?',
      { skill: 'text_stats', text: 'apple pie', letter: 'p' }],
    ['hello', { skill: 'greeting' }], ['Good morning!', { skill: 'greeting' }],
    ['thanks a lot!', { skill: 'thanks' }],
    ['bye', { skill: 'farewell' }], ['help', { skill: 'help' }], ['What can you do?', { skill: 'help' }],
    ['', { skill: 'help' }],
    ['who are you?', { skill: 'help' }], ['what did I ask before?', { skill: 'recall' }],
    ['What was my last question?', { skill: 'recall' }], ['repeat that', { skill: 'last' }],
    ['what was the last result?', { skill: 'result' }],
  ]
  for (const [prompt, expected] of table) assert.deepEqual(understand(prompt, blank), expected, prompt)
})

test('what is wrong but meant as arithmetic goes to the calculator, which explains it', () => {
  const wrong = ['5 / 0 / x', 'calculate 3 +', '2 +* 3', 'gcd(1, 2)', '1e999', 'factorial of 999', '5 + foos']
  for (const prompt of wrong) {
    assert.equal(understand(prompt, blank).skill, 'calculate', prompt)
  }
})

test('other sentences are not understood', () => {
  const others = ['what is love?', 'what is the weather in Paris?', 'I have 3 apples',
    'write a poem about 5 cats', 'tell me a joke',
    'who won the world cup in 2010?', 'my name is Bob', 'how many 5s in 55',
    '5 people go to the 3 big old houses',
    'how tall is 6 foot 2 in cm', '((((', '\u0000', '\ud800', 'constructor', '__proto__', 'x'.repeat(2000)]
  for (const prompt of others) assert.equal(understand(prompt, blank).skill, 'unknown', prompt)
})

test('a follow-up takes the last result', () => {
  const memory: Memory = { ...blank, value: '84', result: '12 * 7 = 84', answer: '12 * 7 = 84' }
  const table: readonly (readonly [string, Intent])[] = [
    ['and times 2?', { skill: 'calculate', expression: '84 times 2' }],
    ['+ 5', { skill: 'calculate', expression: '84 + 5' }],
    ['that plus 5', { skill: 'calculate', expression: '84 plus 5' }],
    ['divide it by 3', { skill: 'calculate', expression: '84 / 3' }],
    ['add 5 to that', { skill: 'calculate', expression: '84 + 5' }],
    ['squared', { skill: 'calculate', expression: '84 squared' }],
    ['what is the square root of that?', { skill: 'calculate', expression: 'sqrt 84' }],
    ['to hex', { skill: 'convert', value: '84', to: 'hex' }],
    ['that in binary', { skill: 'convert', value: '84', to: 'binary' }],
    ['what time is it?', { skill: 'date', request: { operation: 'now', zone: undefined } }],
    ['7 * 6', { skill: 'calculate', expression: '7 * 6' }],
    ['-5 + 2', { skill: 'calculate', expression: '-5 + 2' }],
    ['what is it about?', { skill: 'unknown' }],
  ]
  for (const [prompt, expected] of table) assert.deepEqual(understand(prompt, memory), expected, prompt)
})

test('a follow-up keeps the unit where only that makes sense', () => {
  const memory: Memory = { ...blank, value: '(20 °C)', unit: '°C' }
  assert.deepEqual(understand('that plus 5', memory), { skill: 'calculate', expression: '(20 °C) plus 5 °C' })
  assert.deepEqual(understand('times 2', memory), { skill: 'calculate', expression: '(20 °C) times 2' })
  assert.deepEqual(understand('and 72 F?', memory), { skill: 'convert', value: '72 F', to: '°C' })
})

test('a follow-up to the time is about another place', () => {
  const answer = 'It is 22:05 on Friday, 2026-03-06 in Tokyo.'
  const memory: Memory = { ...blank, answer, value: '2026-03-06' }
  for (const prompt of ['and in Paris?', 'what about Paris', 'Paris?']) {
    assert.deepEqual(understand(prompt, memory),
      { skill: 'date', request: { operation: 'now', zone: 'Paris' } }, prompt)
  }
  assert.deepEqual(understand('that plus 2 weeks', memory),
    { skill: 'date', request: { operation: 'add', date: '2026-03-06', duration: '2 weeks' } })
})

test('a follow-up to nothing is lost', () => {
  for (const prompt of ['times 2', 'that plus 5', 'convert it to miles', '* 3']) {
    assert.equal(understand(prompt, blank).skill, 'lost', prompt)
  }
})

test('text that was said before can be counted', () => {
  assert.deepEqual(understand('how many words in that?', { ...blank, question: 'one two three' }),
    { skill: 'text_stats', text: 'one two three', count: 'word' })
})

test('hostile prompts are dealt with quickly', () => {
  const many = (text: string, times: number): string => text.repeat(times)
  const hostile = [
    many('and ', 300), many('please ', 160), many('1 day ', 190), many('1 day and ', 19) + 'ago',
    many('1d', 95), many('what ', 240),
    'how many ' + many('in ', 380) + '3', many('5 to ', 230), many('x of ', 230),
    'how many words' + many(' ', 1e6) + 'x',
    'stats' + many(' ', 1e6) + 'x', 'stats:' + many('\n', 1e6) + 'x', many('"', 1e5),
    'count the words in "' + many('"?', 5e4) + 'x',
    many('how many a in ', 80), 'raise ' + many('to ', 390), many('(', 1100), many('what is ', 150),
    many('- ', 600), many('5 - ', 40),
    'what day is ' + many('in ', 60), many('1:00 ', 39), many('the ', 299),
  ]
  const start = performance.now()
  for (const prompt of hostile) understand(prompt, blank)
  for (const prompt of hostile) {
    understand(prompt, { ...blank, value: '84', unit: 'km', answer: 'It is 10:00' })
  }
  assert.ok(performance.now() - start < 3000)
})
