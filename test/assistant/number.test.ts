import assert from 'node:assert/strict'
import { test } from 'node:test'

import { add, approximate, divide, equal, floor } from '../../lib/assistant/number.ts'
import { formatReal, modulo, multiply, negate } from '../../lib/assistant/number.ts'
import { parseReal, power, ratio, sign, toNumber } from '../../lib/assistant/number.ts'
import { Problem } from '../../lib/assistant/problem.ts'

const show = (value: Parameters<typeof formatReal>[0]): string => {
  const { text, exact } = formatReal(value)
  return `${exact ? '=' : '≈'} ${text}`
}

test('decimal text is read and written without loss', () => {
  for (const text of ['0', '12', '-7', '0.1', '1234.5', '0.000001', '18446744073709551616', '-0.125']) {
    assert.equal(show(parseReal(text)), `= ${text}`)
  }
})

test('numbers have many spellings', () => {
  const table: readonly (readonly [string, string])[] = [
    ['.5', '= 0.5'], ['5.', '= 5'], ['6.02e3', '= 6020'], ['1E-2', '= 0.01'], ['0xff', '= 255'],
    ['0B101', '= 5'],
    ['0o17', '= 15'], ['5/9', '≈ 0.5555555556'], ['1e30', '= 1e30'], ['1e-20', '= 1e-20'],
    ['0.0000001', '= 1e-7'],
    ['-2.5e30', '= -2.5e30'], ['1e-300', '≈ 1e-300'],
  ]
  for (const [text, shown] of table) assert.equal(show(parseReal(text)), shown, text)
})

test('sums of decimals are exact', () => {
  assert.equal(show(add(parseReal('0.1'), parseReal('0.2'))), '= 0.3')
  assert.equal(show(multiply(divide(parseReal('1'), parseReal('3')), parseReal('3'))), '= 1')
})

test('what is rounded says so', () => {
  assert.equal(show(divide(parseReal('2'), parseReal('3'))), '≈ 0.6666666667')
  assert.equal(show(Math.PI), '≈ 3.141592654')
  assert.equal(show(1234567890123.4567), '≈ 1234567890123.46')
  assert.equal(show(1.5e300), '≈ 1.5e300')
})

test('doubles that are short decimals but for rounding become exact again', () => {
  assert.equal(show(approximate(0.1 + 0.2)), '= 0.3')
  assert.equal(show(approximate(2.0000000000000004)), '= 2')
  assert.equal(show(approximate(Math.SQRT2)), '≈ 1.414213562')
})

test('doubles and ratios mix', () => {
  const half = parseReal('0.5')
  assert.equal(toNumber(add(Math.PI, half)), Math.PI + 0.5)
  assert.equal(toNumber(multiply(half, Math.PI)), Math.PI / 2)
  assert.equal(toNumber(divide(Math.PI, half)), Math.PI * 2)
  assert.equal(toNumber(negate(Math.PI)), -Math.PI)
  assert.equal(show(floor(-Math.PI)), '= -4')
  assert.equal(sign(-Math.PI), -1)
  assert.equal(equal(parseReal('2/4'), half), true)
})

test('the remainder has the sign of the divisor', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['7', '3', '= 1'], ['-7', '3', '= 2'], ['7', '-3', '= -2'], ['5.5', '2', '= 1.5'], ['10', '3.3', '= 0.1'],
  ]
  for (const [a, b, expected] of table) assert.equal(show(modulo(parseReal(a), parseReal(b))), expected)
})

test('whole powers are exact as long as they are small', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['2', '64', '= 18446744073709551616'], ['2', '-3', '= 0.125'], ['0', '0', '= 1'], ['-2', '3', '= -8'],
    ['2', '0.5', '≈ 1.414213562'], ['27', '1/3', '= 3'], ['0.5', '10000', '≈ 0'],
    ['1.0000001', '1e9', '≈ 2.688103858e43'],
    ['1', '1e300', '≈ 1'], ['-1', '1e7', '≈ 1'],
  ]
  for (const [a, b, expected] of table) {
    assert.equal(show(power(parseReal(a), parseReal(b))).slice(0, 12), expected.slice(0, 12), `${a}^${b}`)
  }
})

test('what has no value or too large a one is refused', () => {
  const table: readonly (readonly [() => unknown, RegExp])[] = [
    [() => ratio(1n, 0n), /Division by zero/],
    [() => divide(1.5, ratio(0n)), /Division by zero/],
    [() => power(ratio(0n), ratio(-1n)), /Division by zero/],
    [() => power(ratio(-8n), parseReal('0.5')), /no real result/],
    [() => power(ratio(10n), ratio(400n)), /too large/],
    [() => power(ratio(9n), parseReal('1e300')), /too large/],
    [() => multiply(1e308, 1e308), /too large/],
    [() => parseReal('1e999999999'), /out of range/],
    [() => parseReal('twelve'), /not a number/],
    [() => parseReal('.'), /not a number/],
  ]
  for (const [work, message] of table) {
    assert.throws(work, (error) => error instanceof Problem && message.test(error.message))
  }
})

test('very long ratios become doubles', () => {
  const tiny = power(parseReal('1/3'), ratio(1300n))
  assert.notEqual(typeof tiny, 'number')
  assert.equal(typeof multiply(tiny, power(parseReal('1/7'), ratio(300n))), 'number')
})
