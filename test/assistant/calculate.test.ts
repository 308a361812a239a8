import assert from 'node:assert/strict'
import { test } from 'node:test'

import { calculate, isFunction, parseUnits } from '../../lib/assistant/calculate.ts'
import { unitText } from '../../lib/assistant/quantity.ts'

type Table = readonly (readonly [expression: string, result: string])[]

function check(table: Table): void {
  for (const [expression, expected] of table) {
    const { result, exact } = calculate(expression)
    assert.equal(`${exact ? '' : '≈ '}${result}`, expected, expression)
  }
}

test('operators bind as they do in mathematics', () => check([
  ['12 * (3 + 4)', '84'], ['2 + 3 * 4', '14'], ['-2^2', '-4'], ['2^3^2', '512'], ['2^-1', '0.5'],
  ['10 - 4 - 3', '3'],
  ['64 / 4 / 2', '8'], ['10 % 3', '1'], ['-7 mod 3', '2'], ['--5', '5'], ['+5', '5'], ['2(3+4)', '14'],
  ['(3+4)(2)', '14'],
  ['6/2(1+2)', '9'], ['5!', '120'], ['3!!', '720'], ['2^3!', '64'], ['5²', '25'], ['√16 + 9', '13'],
  ['2 ** 3', '8'],
]))

test('decimals come out as people expect', () => check([
  ['0.1 + 0.2', '0.3'], ['1/3*3', '1'], ['1/3', '≈ 0.3333333333'], ['1,234.5 * 2', '2469'], ['2e3', '2000'],
  ['1.1^10', '2.5937424601'], ['100 * 1.07^10', '≈ 196.7151357'], ['0x1f + 1', '32'], ['1e-7', '1e-7'],
]))

test('large whole numbers keep their digits', () => check([
  ['2^64', '18446744073709551616'], ['25!', '15511210043330985984000000'],
  ['9007199254740993 + 1', '9007199254740994'],
]))

test('functions and constants', () => check([
  ['sqrt(144)', '12'], ['sqrt(2)^2', '2'], ['sqrt 16 + 9', '13'], ['cbrt(27)', '3'], ['abs(-3 km)', '3 km'],
  ['abs(2)', '2'], ['round(3.14159, 2)', '3.14'], ['round(-2.5)', '-3'], ['round(1234, -2)', '1200'],
  ['floor(-2.5)', '-3'], ['ceil(2.1)', '3'], ['trunc(-2.7)', '-2'], ['trunc(2.7)', '2'],
  ['min(3, 9, 4)', '3'],
  ['max(1 km, 900 m)', '1 km'], ['sum(1, 2, 3)', '6'], ['average(1,2,3,4)', '2.5'], ['mean(1, 2)', '1.5'],
  ['median(3,1,2)', '2'], ['median(4,1,2,3)', '2.5'], ['sin(pi)', '0'], ['sin(30 deg)', '0.5'],
  ['cos(pi/2)', '0'],
  ['tan(45°)', '1'], ['asin(1)', '≈ 1.570796327'], ['acos(1)', '0'], ['atan(0)', '0'], ['ln(e)', '1'],
  ['log(1000)', '3'],
  ['log(8, 2)', '3'], ['log2(1024)', '10'], ['log10 100', '2'], ['exp(0)', '1'], ['factorial(5)', '120'],
  ['2 pi', '≈ 6.283185307'],
  ['tau / pi', '2'], ['E', '≈ 2.718281828'], ['max(1,234)', '234'],
]))

test('percentages', () => check([
  ['20% of 150', '30'], ['150 + 20%', '180'], ['150 - 20%', '120'], ['100 - 20% - 10%', '72'],
  ['5% + 3%', '8%'],
  ['50%', '50%'], ['50% * 80', '40'], ['30/120 in percent', '25%'], ['1/8 in %', '12.5%'],
  ['10 % -3', '-2.9'],
  ['200 km + 10%', '220 km'], ['20% of 50 kg', '10 kg'],
]))

test('words and scales', () => check([
  ['3 times 4', '12'], ['7 minus 2', '5'], ['10 divided by 4', '2.5'], ['3 million / 2 million', '1.5'],
  ['2 dozen', '24'], ['5 hundred', '500'], ['2 to the power of 10', '1024'],
]))

test('quantities', () => check([
  ['3 km + 200 m', '3.2 km'], ['60 km/h * 90 min', '90 km'], ['60 mph * 90 min', '90 mi'],
  ['5 ft 3 in', '5.25 ft'],
  ['5\'3" in cm', '160.02 cm'], ['5 ft 3 in in cm', '160.02 cm'], ['2 * 5 in', '10 in'],
  ['100 km / 2 h', '50 km/h'],
  ['100 km / 50 km/h', '2 h'], ['(2 + 3) km', '5 km'], ['3/4 cup in ml', '177.441177375 mL'],
  ['6 / 2 h', '3 /h'],
  ['72 F in C', '≈ 22.22222222 °C'], ['-40 °F in °C', '-40 °C'], ['100 square feet in m2', '9.290304 m²'],
  ['1 acre in sq m', '4046.8564224 m²'], ['1 m3 in cubic feet', '≈ 35.31466672 ft³'],
  ['10 sqft in ft^2', '10 ft²'],
  ['1 cuft in ft^3', '1 ft³'], ['2 days 4 hours in minutes', '3120 min'], ['min(3, 4) + 5', '8'],
  ['5 min', '5 min'],
  ['mile in km', '1.609344 km'], ['60 miles per hour in m/s', '26.8224 m/s'], ['7 km mod 2 km', '1 km'],
  ['1 m / 1 ft', '≈ 3.280839895'], ['(3 mi in km) * 2', '9.656064 km'], ['3 fl oz in ml', '88.7205886875 mL'],
  ['10 N * 2 m', '20 J'], ['5 N*m', '5 J'], ['5 kg * 9.81 m/s^2', '49.05 N'], ['1 GB / 100 Mbps', '80 s'],
  ['pi rad in deg', '180 deg'], ['5 s^-1', '5 /s'],
]))

test('errors say what is wrong, and where', () => {
  const table: Table = [
    ['', 'Expected a number but found the end at position 1.'],
    ['3 +', 'Expected a number but found the end at position 4.'],
    ['2 +* 3', 'Expected a number but found "*" at position 4.'],
    ['(3', 'Expected ")" but found the end at position 3.'],
    ['3)', 'Expected an operator or the end but found ")" at position 2.'],
    ['5 5', 'Expected an operator or the end but found "5" at position 3.'],
    ['5 km 3', 'Expected an operator or the end but found "3" at position 6.'],
    ['1,23', 'Expected an operator or the end but found "," at position 2.'
      + ' A comma groups thousands (1,234) or separates arguments.'],
    ['1 / 0', 'Division by zero at position 3.'],
    ['5 / (3 - 3)', 'Division by zero at position 3.'],
    ['1/0 cup', 'Division by zero at position 1.'],
    ['5 mod 0', 'Division by zero at position 3.'],
    ['foo + 1', 'Unknown name or unit "foo" at position 1. Did you mean "foot"?'],
    ['sqroot(4)', 'Unknown name or unit "sqroot" at position 1. Did you mean "sqrt"?'],
    ['5 km in parsnips', 'Unknown name or unit "parsnips" at position 9.'],
    ['5 km in 3', 'Expected a unit but found "3" at position 9.'],
    ['3 km + 2 kg', 'Cannot add or subtract a length (km) and a mass (kg) at position 6.'],
    ['3 km in kg', 'Cannot convert a length (km) to a mass (kg) at position 6.'],
    ['5 + 3 km', 'Cannot add or subtract a plain number and a length (km) at position 3.'],
    ['sqrt(-1)', 'There is no real result at position 1.'],
    ['ln(0)', 'There is no real result at position 1.'],
    ['tan(90 deg)', 'There is no real result at position 1.'],
    ['ln(3 km)', 'This function takes no units at position 1.'],
    ['sin(3 km)', 'Cannot convert a length (km) to an angle (deg) at position 1.'],
    ['max()', 'Wrong number of arguments (max takes at least 1) at position 1.'],
    ['sin(1, 2)', 'Wrong number of arguments (sin takes 1) at position 1.'],
    ['log(1, 2, 3)', 'Wrong number of arguments (log takes 1 to 2) at position 1.'],
    ['round(2.5, 0.5)', 'The number of decimals must be a whole number from -100 to 100 at position 1.'],
    ['1 km^100', 'The power of a unit must be a whole number up to 12 at position 6.'],
    ['171!', 'The operand of a factorial must be a whole number from 0 to 170 at position 4.'],
    ['2.5!', 'The operand of a factorial must be a whole number from 0 to 170 at position 4.'],
    ['5 $', '"$" needs live exchange rates, which I do not have.'],
  ]
  for (const [expression, message] of table) {
    assert.throws(() => calculate(expression), { message }, expression)
  }
})

test('hostile expressions are refused quickly', () => {
  const hostile = [
    '('.repeat(1000), '-'.repeat(900) + '1', '2' + '^2'.repeat(400), 'sin('.repeat(240), '9^9^9^9',
    '10^1000000000',
    '1e' + '9'.repeat(900), '170!*170!', '1e308 * 10', '9'.repeat(1001), '(' + 'km*'.repeat(300) + 'm)^12',
    '1/(7+'.repeat(150), '__proto__', 'constructor(1)', 'x => 1', 'process.exit()', '`1`', '1;2',
  ]
  const start = performance.now()
  for (const expression of hostile) {
    assert.throws(() => calculate(expression), { name: 'Problem' }, expression.slice(0, 40))
  }
  for (const part of ['1/997*', '(1/7^300)*7^301*', '1+']) calculate(part.repeat(60) + '1')
  assert.ok(performance.now() - start < 2000)
})

test('a result has its parts', () => {
  assert.deepEqual(calculate(' 3  km + 200 m '),
    { expression: '3 km + 200 m', result: '3.2 km', exact: true, value: 3.2, unit: 'km' })
  assert.deepEqual(calculate('1/8 in %'),
    { expression: '1/8 in %', result: '12.5%', exact: true, value: 12.5, unit: '%' })
})

test('units are read on their own', () => {
  const table: Table = [
    ['km/h', 'km/h'], ['miles per hour', 'mph'], ['square feet', 'ft²'], ['m^3', 'm³'], ['N*m', 'N·m'],
    ['sq mi', 'mi²'],
  ]
  for (const [text, expected] of table) assert.equal(unitText(parseUnits(text)), expected)
  for (const wrong of ['', '5', 'km 3', 'sqrt', 'square', 'km/', 'pi']) {
    assert.throws(() => parseUnits(wrong), { name: 'Problem' })
  }
})

test('functions are known by name', () => {
  assert.equal(isFunction('SQRT'), true)
  assert.equal(isFunction('constructor'), false)
})
