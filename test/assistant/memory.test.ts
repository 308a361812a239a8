import assert from 'node:assert/strict'
import { test } from 'node:test'

import { remember } from '../../lib/assistant/memory.ts'

const after = (...answers: string[]): string | undefined =>
  remember(answers.map((content) => ({ role: 'assistant', content }))).value

test('the last result is carried on, exactly where its digits are rounded', () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ['12 * 7 = 84', '84'], ['5 - 7 = -2', '(-2)'], ['3 km + 200 m = 3.2 km', '(3.2 km)'],
    ['255 = 0xff', '(0xff)'],
    ['1/3 ≈ 0.3333333333', '(1/3)'], ['72 F ≈ 22.22222222 °C', '((72 F) in °C)'],
    ['pi m ≈ 3.141592654 m', '(pi m)'],
    [`1/3 ${'+ 1/3 '.repeat(20)}≈ 7`, '7'], ['1994 = MCMXCIV', '1994'],
    ['2026-03-01 + 90 days is 2026-05-30, a Saturday.', '2026-05-30'],
    ['2026-12-25 is 299 days after 2026-03-01 (42 weeks and 5 days).', '(299 days)'],
    ['17:30 on Friday, 2026-03-06 is 8 hours and 30 minutes after 09:00 on Friday, 2026-03-06.',
      '(8 hours 30 minutes)'],
    ['6 words (18 characters, 1 sentence).', '6'], ['The total is -2.5 in the end', '-2.5'],
    ['I cannot work out "5 / 0". Division by zero at position 3.', undefined],
    ['Hello! Try 12 * 3', undefined],
    ['', undefined], ['Nothing to see', undefined], ['= ≈ =', undefined],
  ]
  for (const [answer, expected] of table) assert.equal(after(answer), expected, answer)
})

test('an answer without a result is skipped', () => {
  assert.equal(after('2 + 2 = 4', 'You are welcome.', 'I did not understand that. 99'), '4')
})

test('the unit and the answer of a result are remembered too', () => {
  const memory = remember([{ role: 'user', content: 'q' }, { role: 'assistant', content: '5 km = 5000 m' },
    { role: 'user', content: 'thanks' }, { role: 'assistant', content: 'You are welcome.' }])
  assert.deepEqual(memory,
    { value: '(5000 m)', unit: 'm', result: '5 km = 5000 m', question: 'thanks', answer: 'You are welcome.' })
})

test('an empty conversation has nothing', () => {
  assert.deepEqual(remember([]),
    { value: undefined, unit: '', result: undefined, question: undefined, answer: undefined })
})

test('a hostile conversation is read quickly', () => {
  const start = performance.now()
  for (const part of ['is 1', ' = ', '(', '9', '2 = (']) {
    after(...Array.from({ length: 100 }, () => `2 = ${part.repeat(50_000)}`))
  }
  assert.ok(performance.now() - start < 2000)
})
