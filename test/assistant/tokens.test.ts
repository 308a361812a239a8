import assert from 'node:assert/strict'
import { test } from 'node:test'

import { maxExpression, tokenize } from '../../lib/assistant/tokens.ts'

const texts = (text: string): string => tokenize(text).slice(0, -1).map((token) => token.text).join(' ')

test('expressions are split as people type them', () => {
  const table: readonly (readonly [string, string])[] = [
    ['1+2', '1 + 2'], ['2×3÷4−1', '2 * 3 / 4 - 1'], ['2**3', '2 ^ 3'], ['5²', '5 ^ 2'], ['√16', 'sqrt 16'],
    ['3 times 4', '3 * 4'], ['6 divided by 2', '6 / 2'], ['2 to the power of 3', '2 ^ 3'],
    ['5 squared', '5 ^ 2'],
    ['7 mod 3', '7 mod 3'], ['3x4', '3 * 4'], ['6 ft x 4 ft', '6 ft * 4 ft'], ['0x1f', '0x1f'],
    ['2e3 m', '2e3 m'],
    ['1,234.5', '1,234.5'], ['max(1,234)', 'max ( 1 , 234 )'], ['(1,234)', '( 1,234 )'], ['5°C', '5 °C'],
    ['5\'3"', '5 \' 3 "'], ['ten percent', 'ten %'], ['f((1,000),2)', 'f ( ( 1,000 ) , 2 )'],
  ]
  for (const [given, expected] of table) assert.equal(texts(given), expected, given)
})

test('tokens know where they begin, and the last one is the end', () => {
  assert.deepEqual(tokenize(' 1 + ab').map(({ at, kind }) => [at, kind]),
    [[2, 'number'], [4, 'symbol'], [6, 'name'], [8, 'end']])
})

test('what belongs to no expression is refused with its position', () => {
  assert.throws(() => tokenize('3 # 4'), { message: 'Unexpected "#" at position 3.' })
  assert.throws(() => tokenize('3 \u{1f600}'), { message: 'Unexpected "\u{1f600}" at position 3.' })
  assert.throws(() => tokenize('2 + 1e9999'), /out of range at position 5/)
  assert.throws(() => tokenize('1'.repeat(maxExpression + 1)), /at most 1000 characters/)
})
