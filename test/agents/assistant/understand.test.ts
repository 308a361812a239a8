import assert from 'node:assert/strict'
import { test } from 'node:test'

import { costOf } from '../../fixtures/time.ts'
import { understand } from '../../../lib/agents/assistant/understand.ts'
import type { ChatMessage } from '../../../lib/kernel/define/call.ts'

type Args = Readonly<Record<string, string>>

const after = (...answers: readonly string[]): readonly ChatMessage[] =>
  answers.map((content) => ({ role: 'assistant', content }))

/** The first step that a prompt leads to: a tool with the arguments that it is given. */
function first(
  prompt: string, history: readonly ChatMessage[] = [],
): readonly [tool: string, args: Args] | string {
  const [step] = understand(prompt, history)
  assert.ok(step, prompt)
  if ('text' in step) return step.text
  const args = Object.entries(step.args).filter(([, value]) => value !== '')
  return [step.tool, Object.fromEntries(args)]
}

/** All expressions that are tried. */
const expressions = (prompt: string, history: readonly ChatMessage[] = []): readonly (string | undefined)[] =>
  [...understand(prompt, history)].flatMap((step) =>
    'tool' in step && step.tool === 'calculate' ? [step.args['expression']] : [])

test('arithmetic becomes an expression', () => {
  const table: readonly (readonly [string, string])[] = [
    ['what is 12 * (3 + 4)?', '12 * (3 + 4)'], ['Hello, can you please tell me what is 3+4 please?', '3+4'],
    ['3+4=?', '3+4'], ['5!', '5!'], ['hi, 2+2', '2+2'], ['calculate: 5 + 5', '5 + 5'],
    ['What\'s 2 ^ 10', '2 ^ 10'],
    ['add 5 to 10', '10 + 5'], ['subtract 5 from 9', '9 - (5)'], ['multiply 6 by 7', '6 * 7'],
    ['divide 10 by 4', '10 / 4'], ['increase 80 by 5%', '80 + 5%'], ['decrease 80 by 5%', '80 - 5%'],
    ['20% off 80', '80 - 20%'], ['a tip of 15% on 80', '15% of 80'],
    ['what percent of 80 is 20', '(20) / (80) in %'], ['20 is what percent of 80', '(20) / (80) in %'],
    ['the difference between 9 and 4', '9 - (4)'], ['the sum of 3, 4 and 5', 'sum(3, 4, 5)'],
    ['product of 3 and 4', '3 * 4'], ['the largest of 3 and 4', 'max(3, 4)'], ['minimum of 3 and 4',
    'min(3, 4)'],
    ['what is the square root of 16?', 'square root of 16'],
  ]
  for (const [prompt, expected] of table) assert.equal(expressions(prompt)[0], expected, prompt)
})

test('conversions find their value and where it goes to', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['what is 5 km plus 300 m in miles', '5 km plus 300 m', 'miles'],
    ['how many meters in 3.5 miles', '3.5 miles', 'meters'],
    ['How many hours are there in a week?', 'a week', 'hours'], ['how much is 5 kg in pounds', '5 kg',
    'pounds'],
    ['Convert 72 F to C', '72 F', 'C'], ['5 ft 3 in in cm', '5 ft 3 in', 'cm'], ['100 USD to EUR', '100 USD',
    'EUR'],
    ['convert 10 km to parsnips', '10 km', 'parsnips'], ['255 in hex', '255', 'hex'],
  ]
  for (const [prompt, value, to] of table) assert.deepEqual(first(prompt), ['convert', { value, to }], prompt)
})

test('questions about dates are understood', () => {
  const table: readonly (readonly [string, Args])[] = [
    ['what time is it', { operation: 'now' }], ['time', { operation: 'now' }],
    ['what is the current time in Tokyo', { operation: 'now', zone: 'Tokyo' }],
    ['what time is it right now in New York', { operation: 'now', zone: 'New York' }],
    ['days until 2026-12-25', { operation: 'difference', until: '2026-12-25' }],
    ['how many weeks are left until christmas', { operation: 'difference', until: 'christmas' }],
    ['how long until new year', { operation: 'difference', until: 'new year' }],
    ['how many days since July 4', { operation: 'difference', date: 'July 4' }],
    ['how long ago was 1969-07-20', { operation: 'difference', date: '1969-07-20' }],
    ['how many days between 2026-01-01 and today',
      { operation: 'difference', date: '2026-01-01', until: 'today' }],
    ['2026-03-10 - 2026-03-01', { operation: 'difference', date: '2026-03-01', until: '2026-03-10' }],
    ['how old is someone born on 1990-05-17', { operation: 'difference', date: '1990-05-17' }],
    ['what date is 90 days after 2026-03-01', { operation: 'add', date: '2026-03-01', duration: '90 days ' }],
    ['3 weeks before christmas', { operation: 'add', date: 'christmas', duration: '-3 weeks ' }],
    ['90 days from now', { operation: 'add', date: 'now', duration: '90 days ' }],
    ['what was the date 2 weeks ago', { operation: 'add', duration: '-2 weeks ' }],
    ['2026-03-01 + 1 year, 2 months and 3 days',
      { operation: 'add', date: '2026-03-01', duration: '1 year, 2 months and 3 days' }],
    ['2026-03-01 minus 2 weeks', { operation: 'add', date: '2026-03-01', duration: '-2 weeks' }],
    ['add 2 weeks to tomorrow', { operation: 'add', date: 'tomorrow', duration: '2 weeks ' }],
    ['subtract a day from 2026-03-01', { operation: 'add', date: '2026-03-01', duration: '-a day ' }],
    ['what day was 1969-07-20', { operation: 'describe', date: '1969-07-20' }],
    ['what day of the week will 2026-12-25 be', { operation: 'describe', date: '2026-12-25' }],
    ['what day is it', { operation: 'describe' }], ['which week is it', { operation: 'describe' }],
    ['what day is today in Tokyo', { operation: 'describe', zone: 'Tokyo' }],
    ['what\'s today\'s date', { operation: 'describe' }],
    ['what is the date in Tokyo', { operation: 'describe', zone: 'Tokyo' }],
    ['the weekday of 2026-03-01', { operation: 'describe', date: '2026-03-01' }],
    ['what is the ISO week of 2026-01-01', { operation: 'describe', date: '2026-01-01' }],
    ['is 2028 a leap year', { operation: 'describe', date: '2028' }],
    ['is it a leap year', { operation: 'describe' }],
    ['when is christmas', { operation: 'describe', date: 'christmas' }],
    ['2026-02-30', { operation: 'describe', date: '2026-02-30' }],
  ]
  for (const [prompt, args] of table) assert.deepEqual(first(prompt), ['date', args], prompt)
})

test('a date is never taken for a difference of numbers', () => {
  for (const prompt of ['2026-02-30', '2026-03-10 - 2026-03-01', 'what day was 1969-07-20']) {
    assert.deepEqual(expressions(prompt), [], prompt)
  }
})

test('a text to be counted is what follows', () => {
  const table: readonly (readonly [string, Args])[] = [
    ['how many words in: to be or not', { text: 'to be or not' }],
    ['Count the letters in "banana"?', { text: 'banana' }],
    ['Please analyze this text:\nHello.\n\nBye.', { text: 'Hello.\n\nBye.' }],
    ['how many sentences are there in the following text: Hi. Ho.', { text: 'Hi. Ho.' }],
    [`how many words in ${'a '.repeat(50_000)}`, { text: 'a '.repeat(50_000).trim() }],
    ['how many r\'s in strawberry?', { text: 'strawberry', letter: 'r' }],
    ['How many times does the letter p appear in "apple pie"?', { text: 'apple pie', letter: 'p' }],
    ['how often does "e" occur in Tennessee', { text: 'Tennessee', letter: 'e' }],
  ]
  for (const [prompt, args] of table) assert.deepEqual(first(prompt), ['text_stats', args])
  const history: readonly ChatMessage[] = [{ role: 'user', content: 'one two three' }]
  assert.deepEqual(first('how many words in that?', history), ['text_stats', { text: 'one two three' }])
})

test('some things are just said', () => {
  const history: readonly ChatMessage[] = [{ role: 'user', content: '12 * 7' }, ...after('12 * 7 = 84')]
  const table: readonly (readonly [string, string])[] = [
    ['hello', 'Hello! Ask "what can you do?"'], ['Good morning!', 'Hello! Ask "what can you do?"'],
    ['thanks a lot!', 'You are welcome.'], ['bye', 'Goodbye!'], ['help', 'help'], ['What can you do?',
    'help'],
    ['', 'help'], ['who are you?', 'help'], ['what did I ask before?', 'Before this you said: 12 * 7'],
    ['What was my last question?', 'Before this you said: 12 * 7'], ['what was the last result?',
    'I said: 12 * 7 = 84'],
    ['repeat that', 'I said: 12 * 7 = 84'],
  ]
  for (const [prompt, said] of table) assert.equal(first(prompt, history), said, prompt)
  assert.equal(first('what did I ask before?'), 'Before this you said: nothing')
})

test('a follow-up takes the last result', () => {
  const table: readonly (readonly [string, string])[] = [
    ['and times 2?', '84 times 2'], ['+ 5', '84 + 5'], ['that plus 5', '84 plus 5'], ['divide it by 3',
    '84 / 3'],
    ['add 5 to that', '84 + 5'], ['squared', '84 squared'], ['what is the square root of that?',
    'square root of 84'],
    ['the previous result minus 4', '84 minus 4'], ['7 * 6', '7 * 6'], ['-5 + 2', '-5 + 2'],
  ]
  const history = after('12 * 7 = 84')
  for (const [prompt, expected] of table) assert.equal(expressions(prompt, history)[0], expected, prompt)
  assert.deepEqual(first('to hex', history), ['convert', { value: '84', to: 'hex' }])
  assert.deepEqual(first('what time is it?', history), ['date', { operation: 'now' }])
})

test('a follow-up may mean the unit of the last result', () => {
  const history = after('20 °C + 1 °C = 21 °C')
  assert.deepEqual(expressions('that plus 5', history).slice(0, 2), ['(21 °C) plus 5', '(21 °C) plus 5 °C'])
  assert.deepEqual(first('and 72 F?', history), ['convert', { value: '72 F', to: '°C' }])
})

test('a follow-up to the time is about another place', () => {
  const history = after('It is 22:05 on Friday, 2026-03-06 in Asia/Tokyo (UTC+09:00).')
  for (const prompt of ['and in Paris?', 'what about Paris', 'Paris?']) {
    assert.deepEqual(first(prompt, history), ['date', { operation: 'now', zone: 'Paris' }], prompt)
  }
})

test('the last result is carried on, exactly where its digits are rounded', () => {
  const table: readonly (readonly [answer: string, expression: string])[] = [
    ['12 * 7 = 84', '84 * 2'], ['5 - 7 = -2', '(-2) * 2'], ['3 km + 200 m = 3.2 km', '(3.2 km) * 2'],
    ['255 = 0xff', '(0xff) * 2'], ['1/3 ≈ 0.3333333333', '(1/3) * 2'], ['72 F ≈ 22.22222222 °C',
    '((72 F) in °C) * 2'],
    [`1/3 ${'+ 1/3 '.repeat(20)}≈ 7`, '7 * 2'], ['6 words, 18 characters.', '6 * 2'],
    ['2026-12-25 is 299 days after 2026-03-01 (42 weeks and 5 days).', '(299 days) * 2'],
    ['17:30 is 8 hours and 30 minutes after 09:00.', '(8 hours 30 minutes) * 2'],
    ['The total is -2.5 in the end', '-2.5 * 2'],
  ]
  for (const [answer, expected] of table) assert.equal(expressions('* 2', after(answer))[0], expected, answer)
  assert.deepEqual(first('plus 2 weeks', after('2026-03-01 + 90 days is 2026-05-30, a Saturday.')),
    ['date', { operation: 'add', date: '2026-05-30', duration: '2 weeks' }])
})

test('an answer without a result is skipped', () => {
  const history = after('2 + 2 = 4', 'You are welcome.', 'I do not understand that. 99')
  assert.equal(expressions('* 2', history)[0], '4 * 2')
  const others: readonly ChatMessage[] = [
    { role: 'user', content: '7 = 7' }, { role: 'system', content: '8 = 8' },
  ]
  assert.equal(expressions('* 2', others)[0], '* 2')
})

test('a follow-up to nothing is lost', () => {
  for (const prompt of ['times 2', 'that plus 5', 'convert it to miles', '* 3']) {
    const last = [...understand(prompt, [])].at(-1)
    assert.ok(last && 'text' in last && last.text.startsWith('There is no earlier result'), prompt)
  }
  assert.ok([...understand('what is love?', [])].every((step) => 'tool' in step))
})

test('only what is surely meant is a fault worth telling', () => {
  const isSure = (prompt: string): boolean =>
    [...understand(prompt, [])].some((step) => 'tool' in step && step.isSure)
  const sure = ['5 / 0 / x', 'calculate 3 +', '2 +* 3', 'gcd(1, 2)', '1e999', 'what time is it in Tokio']
  for (const prompt of sure) {
    assert.equal(isSure(prompt), true, prompt)
  }
  for (const prompt of ['what is love?', 'what is the weather in Paris?', 'I have 3 apples', 'constructor',
    'write a poem about 5 cats', 'tell me a joke', 'who won the world cup in 2010?', '\u0000', '\ud800',
    '__proto__']) {
    assert.equal(isSure(prompt), false, prompt)
  }
})

test('hostile prompts and conversations are dealt with quickly', () => {
  const many = (text: string, times: number): string => text.repeat(times)
  const hostile = [
    many('and ', 100), many('please ', 57), many('1 day ', 66),
    many('1 day and ', 39) + 'ago', many('1d', 195),
    many('what ', 80), many('a day ', 66), many('an hour, ', 44),
    'how many ' + many('in ', 130) + '3', many('5 to ', 79),
    many('x of ', 79), 'how many words' + many(' ', 1e6) + 'x', 'analyze' + many(' the', 1e5), many('"', 1e5),
    'count the words in "' + many('"?', 5e4) + 'x', many('how many a in ', 28), many('(', 400),
    many('what is ', 50),
    many('- ', 199), many('5 - ', 99), many('time ', 80), 'what day is ' + many('in ', 120),
    many('1:00 ', 79),
    many('the ', 99), many('12:00 in ', 44), many('1 + ', 99), many(' ', 1e6),
  ]
  const histories = [[], after('12 km = 84 km'), after('It is 10:00 on Friday'),
    ...['is 1', ' = ', '(', '9', '2 = (', ' ≈ ', '1-',
    '\n'].map((part) => after(...Array(100).fill(many(part, 1e5))))]
  assert.ok(costOf(() => {
    for (const prompt of hostile) {
      for (const history of histories) assert.ok([...understand(prompt, history)].length < 50)
    }
  }, 10_000) <= 10_000)
})
