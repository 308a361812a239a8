import assert from 'node:assert/strict'
import { test } from 'node:test'

import { asExpression, inDigits } from '../../lib/assistant/phrases.ts'

test('sentences become expressions', () => {
  const table: readonly (readonly [string, string])[] = [
    ['what is 12 * 3', '12 * 3'], ['add 5 to 10', '10 + 5'], ['subtract 5 from 9', '9 - 5'],
    ['multiply 6 by 7', '6 * 7'],
    ['divide 10 by 4', '10 / 4'], ['raise 2 to the power of 5', '(2) ^ (5)'],
    ['increase 80 by 5%', '80 + 5%'],
    ['decrease 80 by 5%', '80 - 5%'], ['20% off 80', '80 - 20%'], ['a tip of 15% on 80', '15% of 80'],
    ['what percent of 80 is 20', '(20) / (80) in %'], ['20 is what percent of 80', '(20) / (80) in %'],
    ['the difference between 9 and 4', '9 - 4'], ['what is the remainder of 10 divided by 3', '(10) mod (3)'],
    ['the sum of 3, 4 and 5', 'sum(3, 4, 5)'], ['product of 3 and 4', '3 * 4'],
    ['the largest of 3 and 4', 'max(3, 4)'],
    ['minimum of 3 and 4', 'min(3, 4)'], ['average 1, 2', 'average(1, 2)'],
    ['the square root of 16', 'sqrt 16'],
    ['the cube root of 27', 'cbrt 27'], ['absolute value of -5', 'abs -5'],
    ['the natural logarithm of 2', 'ln 2'],
    ['logarithm of 100', 'log 100'], ['sine of 30 deg', 'sin 30 deg'], ['cosine of 0', 'cos 0'],
    ['tangent of 0', 'tan 0'],
    ['5 factorial', '5!'], ['factorial of 5', 'factorial 5'], ['half of 90', '1/2 * 90'],
    ['a third of 90', '1/3 * 90'],
    ['a quarter of 90', '1/4 * 90'], ['twice 4', '2 * 4'], ['triple 4', '3 * 4'], ['15% of $80', '15% of 80'],
  ]
  for (const [sentence, expected] of table) {
    assert.equal(asExpression(sentence).expression, expected, sentence)
  }
})

test('a sentence that asks for a result is told from one that does not', () => {
  assert.equal(asExpression('what is 5').asked, true)
  assert.equal(asExpression('calculate: 5').asked, true)
  assert.equal(asExpression('5 apples').asked, false)
})

test('number words become digits', () => {
  const table: readonly (readonly [string, string])[] = [
    ['two plus three', '2 plus 3'], ['Twenty-five times four', '25 times 4'], ['ninety nine', '99'],
    ['thirty', '30'],
    ['nineteen', '19'], ['someone', 'someone'],
  ]
  for (const [text, expected] of table) assert.equal(inDigits(text), expected)
})
