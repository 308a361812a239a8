import assert from 'node:assert/strict'
import { test } from 'node:test'

import { costOf } from '../../fixtures/time.ts'
import { calculate, evaluate } from '../../../lib/agents/assistant/calculate.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'

type Table = readonly (readonly [expression: string, result: string])[]

function check(table: Table): void {
  for (const [expression, expected] of table) {
    const { result, exact } = calculate(expression)
    assert.equal(`${exact === true ? '' : '≈ '}${String(result)}`, expected, expression)
  }
}

test('operators bind as they do in mathematics', () => check([
  ['12 * (3 + 4)', '84'], ['2 + 3 * 4', '14'], ['-2^2', '-4'], ['2^3^2', '512'], ['2^-1', '0.5'],
  ['10 - 4 - 3', '3'], ['64 / 4 / 2', '8'], ['10 % 3', '1'], ['-7 mod 3', '2'], ['--5', '5'], ['+5', '5'],
  ['2(3+4)', '14'], ['(3+4)(2)', '14'], ['6/2(1+2)', '9'], ['5!', '120'], ['3!!', '720'], ['2^3!', '64'],
  ['5²', '25'], ['√16 + 9', '13'], ['2 ** 3', '8'], ['3x4', '12'], ['2×3÷4−1', '0.5'], ['2 * 3 km', '6 km'],
  ['-5!', '-120'], ['7 mod 3', '1'],
]))

test('decimals come out as people expect', () => check([
  ['0.1 + 0.2', '0.3'], ['(0.1 + 0.7) * 10', '8'], ['floor((0.1 + 0.7) * 10)', '8'], ['1/3*3', '1'],
  ['1/3', '≈ 0.3333333333'], ['1,234.5 * 2', '2469'], ['2e3', '2000'], ['1.1^10', '2.5937424601'],
  ['100 * 1.07^10', '≈ 196.7151357'], ['0x1f + 1', '32'], ['1e-7', '1e-7'], ['.5 + 5.', '5.5'],
  ['123456789 * 1000', '123456789000'],
]))

test('functions and constants', () => check([
  ['sqrt(144)', '12'], ['sqrt(2)', '≈ 1.414213562'], ['sqrt(2)^2', '2'], ['sqrt 16 + 9', '13'], ['cbrt(27)',
  '3'],
  ['abs(-3 km)', '3 km'], ['abs(2)', '2'], ['round(3.14159, 2)', '3.14'], ['round(-2.5)', '-3'],
  ['round(1234, -2)', '1200'], ['floor(-2.5)', '-3'], ['ceil(2.1)', '3'], ['trunc(-2.7)', '-2'],
  ['min(3, 9, 4)', '3'], ['max(1 km, 900 m)', '1 km'], ['sum(1, 2, 3)', '6'], ['average(1,2,3,4)', '2.5'],
  ['mean(1, 2)', '1.5'], ['sin(pi)', '0'], ['sin(30 deg)', '0.5'], ['cos(pi/2)', '0'], ['tan(45°)', '1'],
  ['asin(1)', '≈ 1.570796327'], ['acos(1)', '0'], ['atan(0)', '0'], ['ln(e)', '1'], ['log(1000)', '3'],
  ['log(8, 2)', '3'], ['log2(1024)', '10'], ['log10 100', '2'], ['exp(0)', '1'], ['factorial(5)', '120'],
  ['2 pi', '≈ 6.283185307'], ['tau / pi', '2'], ['E', '≈ 2.718281828'], ['max(1,234)', '234'], ['MAX(1, 2)',
  '2'],
]))

test('percentages', () => check([
  ['20% of 150', '30'], ['150 + 20%', '180'], ['150 - 20%', '120'], ['100 - 20% - 10%', '72'], ['5% + 3%',
  '8%'],
  ['50%', '50%'], ['50% * 80', '40'], ['30/120 in percent', '25%'], ['1/8 in %', '12.5%'], ['10 % -3',
  '-2.9'],
  ['200 km + 10%', '220 km'], ['20% of 50 kg', '10 kg'], ['ten percent', '10%'],
]))

test('words and scales', () => check([
  ['3 times 4', '12'], ['7 minus 2', '5'], ['10 divided by 4', '2.5'], ['3 million / 2 million', '1.5'],
  ['2 dozen', '24'], ['a dozen times 3', '36'], ['5 hundred', '500'], ['2 to the power of 10', '1024'],
  ['two plus three', '5'], ['Twelve over four', '3'], ['5 squared', '25'], ['2 cubed', '8'], ['half of 90',
  '45'],
  ['a third of 90', '30'], ['a quarter of 90', '22.5'], ['twice 4', '8'], ['triple 4', '12'], ['5 factorial',
  '120'],
  ['the square root of 16', '4'], ['cube root of 27', '3'], ['sin of 30 deg', '0.5'], ['15% of $80', '12'],
  ['10 modulo 4', '2'], ['6 multiplied by 7', '42'],
]))

test('quantities', () => check([
  ['3 km + 200 m', '3.2 km'], ['60 km/h * 90 min', '90 km'], ['60 mph * 90 min', '90 mi'], ['5 ft 3 in',
  '5.25 ft'],
  ['5\'3" in cm', '160.02 cm'], ['5 ft 3 in in cm', '160.02 cm'], ['2 * 5 in', '10 in'], ['5 in to cm',
  '12.7 cm'],
  ['100 km / 2 h', '50 km/h'], ['100 km / 50 km/h', '2 h'], ['(2 + 3) km', '5 km'], ['1/2 cup in tbsp',
  '8 tbsp'],
  ['6 / 2 h', '3 /h'], ['72 F in C', '≈ 22.22222222 °C'], ['-40 °F in °C', '-40 °C'], ['5 m^2', '5 m²'],
  ['100 square feet in m2', '9.290304 m²'], ['1 acre in sq m', '4046.8564224 m²'],
  ['2 days 4 hours in minutes', '3120 min'],
  ['1 m3 in cubic feet', '≈ 35.31466672 ft³'], ['10 sqft in ft^2', '10 ft²'], ['1 cuft in ft^3', '1 ft³'],
  ['min(3, 4) + 5', '8'], ['5 min', '5 min'], ['mile in km', '1.609344 km'], ['60 miles per hour in m/s',
  '26.8224 m/s'],
  ['7 km mod 2 km', '1 km'], ['1 m / 1 ft', '≈ 3.280839895'], ['(3 mi in km) * 2', '9.656064 km'],
  ['3 fl oz in tsp', '18 tsp'], ['10 N * 2 m', '20 J'], ['5 N*m', '5 J'], ['5 kg * 9.81 m/s^2', '49.05 N'],
  ['1 GB / 100 Mbps', '80 s'], ['pi rad in deg', '180 deg'], ['12 knots in km/h', '22.224 km/h'],
  ['6 ft x 4 ft', '24 ft²'],
  ['100 Mbps in MB/s', '12.5 MB/s'], ['1 kWh in MJ', '3.6 MJ'], ['-5 ft 3 in', '-5.25 ft'], ['2^3 km',
  '8 km'],
  ['3 mi/gal * 2 gal', '6 mi'], ['1 GiB in MB', '1073.741824 MB'], ['32 psi in kPa', '≈ 220.6322334 kPa'],
]))

test('whole numbers are written in other bases', () => check([
  ['255 in hex', '0xff'], ['0xff in decimal', '255'], ['-255 in binary', '-0b11111111'], ['8 to octal',
  '0o10'],
  ['2^64 in hex', '0x10000000000000000'], ['0b101 + 1', '6'],
]))

test('errors say what is wrong', () => {
  const table: Table = [
    ['', 'Expected a number but found the end'],
    ['3 +', 'Expected a number but found the end'],
    ['2 +* 3', 'Expected a number but found "* 3"'],
    ['(3', 'Expected ")" but found the end'],
    ['3)', 'Expected an operator or the end but found ")"'],
    ['5 5', 'Expected an operator or the end but found "5"'],
    ['5 km 3', 'Expected an operator or the end but found "3"'],
    ['1,23', 'Expected an operator or the end but found ", 23"'],
    ['1 / 0', 'Division by zero'], ['5 / (3 - 3)', 'Division by zero'], ['1/0 cup', 'Division by zero'],
    ['5 mod 0', 'Division by zero'],
    ['foo + 1', 'There is no name or unit "foo"'], ['sqroot(4)', 'There is no name or unit "sqroot"'],
    ['5 km in parsnips', 'There is no name or unit "parsnips"'], ['5 $', 'There is no name or unit "$"'],
    ['3 # 4', 'There is no name or unit "#"'],
    ['5 km in 3', 'What follows "in" must be a unit'],
    ['3 km + 2 kg', 'kg and km do not measure the same'],
    ['3 km in kg', 'km and kg do not measure the same'],
    ['3 km in hex', 'km and a plain number do not measure the same'],
    ['5 + 3 km', 'km and a plain number do not measure the same'],
    ['ln(3 km)', 'km and rad do not measure the same'],
    ['2.5 in hex', 'Only whole numbers have bases'],
    ['max()', 'Expected a number but found ")"'], ['sin(1, 2)', 'sin takes 1'], ['log(1, 2, 3)',
    'log takes 2'],
    ...['sqrt(-1)', 'ln(0)', 'tan(90 deg)', '171!', '2.5!', '(-1)!', '10^400', '1e999', '0^-1',
    'min(1 km, 2)^0.5^-9e9'].map(
      (expression) => [expression, 'There is no real result, or it is beyond 10^308'] as const),
  ]
  for (const [expression, message] of table) {
    assert.throws(() => calculate(expression), (error) => {
      assert.ok(error instanceof Fault)
      assert.deepEqual([error.kind, error.message], ['invalid', message], expression)
      return true
    })
  }
})

test('hostile expressions are refused quickly', () => {
  const hostile = [
    '('.repeat(1000), '-'.repeat(900) + '1', '2' + '^2'.repeat(400), 'sin('.repeat(240), '9^9^9^9',
    '10^1000000000', '1e' + '9'.repeat(900), '170!*170!', '1e308 * 10', '9'.repeat(1001),
    '(' + 'km*'.repeat(300) + 'm)^12', '1/(7+'.repeat(150), '__proto__', 'constructor(1)', 'x => 1',
    'process.exit()', '`1`', '1;2', ' '.repeat(1000), 'in '.repeat(300), 'a(1,111'.repeat(140),
    'x('.repeat(400),
  ]
  assert.ok(costOf(() => {
    for (const expression of hostile) {
      assert.throws(() => calculate(expression), { name: 'Fault' }, expression.slice(0, 40))
    }
    for (const part of ['1/997*', '1+', '-', '1 * ']) evaluate(part.repeat(60) + '1')
  }, 2_000) <= 2_000)
})

test('a calculation has a text and figures', () => {
  assert.deepEqual(calculate(' 3  km + 200 m '),
    { text: '3 km + 200 m = 3.2 km', result: '3.2 km', exact: true, value: 3.2, unit: 'km' })
  assert.deepEqual(calculate('1/8 in %'),
    { text: '1/8 in % = 12.5%', result: '12.5%', exact: true, value: 0.125, unit: '' })
  assert.equal(calculate('1/3').text, '1/3 ≈ 0.3333333333')
})

test('a calculation may end in a unit or a base', () => {
  assert.equal(calculate('5 ft 3 in', 'cm').text, '5 ft 3 in = 160.02 cm')
  assert.equal(calculate('0.25', 'percent').text, '0.25 = 25%')
  assert.equal(calculate('100 km/h', 'miles per hour').text, '100 km/h ≈ 62.13711922 mi/h')
  assert.throws(() => calculate('1', ') + ('), Fault)
})

test('a value has its unit', () => {
  assert.deepEqual([evaluate('20 °C').value, evaluate('20 °C').unit?.symbol], [20, '°C'])
})
