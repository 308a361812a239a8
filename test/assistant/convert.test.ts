import assert from 'node:assert/strict'
import { test } from 'node:test'

import { convert, findBase, isTarget } from '../../lib/assistant/convert.ts'

type Row = readonly [value: string | number, from: string | undefined, to: string, result: string]

test('quantities are converted, with the unit in the value or beside it', () => {
  const table: readonly Row[] = [
    [3.5, 'miles', 'm', '5632.704 m'], ['3.5 mi', undefined, 'meters', '5632.704 m'],
    [72, 'F', 'C', '22.22222222 °C'],
    ['5 ft 3 in', undefined, 'cm', '160.02 cm'], ['5\'11"', undefined, 'cm', '180.34 cm'],
    [0, 'K', 'C', '-273.15 °C'],
    ['-459.67 F', undefined, 'K', '0 K'], [100, 'km/h', 'miles per hour', '62.13711922 mph'],
    [1, 'acre', 'm²', '4046.8564224 m²'],
    [1, 'GiB', 'MB', '1073.741824 MB'], [100, 'Mbps', 'MB/s', '12.5 MB/s'], [1, 'kWh', 'MJ', '3.6 MJ'],
    [32, 'psi', 'kPa', '220.6322334 kPa'],
    [90, 'deg', 'rad', '1.570796327 rad'], [12, 'knots', 'km/h', '22.224 km/h'],
    ['1/2 cup', undefined, 'tbsp', '8 tbsp'],
    ['0.25', undefined, 'percent', '25%'], [2, 'weeks', 'days', '14 days'], [1, 'bar', 'Pa', '100000 Pa'],
    [750, 'W', 'hp', '1.005766567 hp'],
  ]
  for (const [value, from, to, result] of table) {
    assert.equal(convert(value, to, from).result, result, `${value}`)
  }
})

test('whole numbers change their base', () => {
  const table: readonly Row[] = [
    [255, undefined, 'hex', '0xff'], ['0xff', undefined, 'decimal', '255'],
    ['ff', 'hex', 'binary', '0b11111111'],
    ['1010', 'binary', 'decimal', '10'], ['1010 binary', undefined, 'decimal', '10'],
    ['hex ff', undefined, 'octal', '0o377'],
    ['0xFF', 'hex', 'dec', '255'], [-255, undefined, 'hex', '-0xff'], ['zz', 'base 36', 'decimal', '1295'],
    ['zz base 36', undefined, 'decimal', '1295'], [1994, undefined, 'roman', 'MCMXCIV'],
    ['MCMXCIV', undefined, 'decimal', '1994'],
    ['mcmxciv', 'roman', 'hex', '0x7ca'], [10, 'decimal', 'base 7', '13 (base 7)'],
    ['-11', 'binary', 'decimal', '-3'],
    ['2^64', undefined, 'hex', '0x10000000000000000'],
  ]
  for (const [value, from, to, result] of table) {
    assert.equal(convert(value, to, from).result, result, `${value}`)
  }
})

test('a conversion tells its figures', () => {
  assert.deepEqual(convert(3.5, 'm', 'mi'),
    { expression: '3.5 mi', result: '5632.704 m', exact: true, value: 5632.704, unit: 'm' })
  assert.deepEqual(convert('ff', 'decimal', 'hex'),
    { expression: 'ff (hex)', result: '255', exact: true, value: 255, unit: '' })
})

test('what cannot be converted is explained', () => {
  const table: readonly Row[] = [
    [10, 'km', 'kg', 'Cannot convert a length (km) to a mass (kg).'],
    [10, 'parsnips', 'kg', 'Unknown name or unit "parsnips" at position 4.'],
    [10, 'km', 'metters', 'Unknown name or unit "metters" at position 1. Did you mean "meters"?'],
    [10, undefined, 'km', 'Cannot convert a plain number to a length (km).'],
    [2.5, undefined, 'hex', 'Only whole numbers have other bases.'],
    ['12', 'binary', 'decimal', '"2" is not a digit of base 2.'],
    ['', 'hex', 'decimal', '"" is not a number in base 16.'],
    ['IIII', 'roman', 'decimal', '"IIII" is not a Roman numeral.'],
    ['MMMMM', 'roman', 'decimal', '"MMMMM" is not a Roman numeral.'],
    [0, undefined, 'roman', 'Roman numerals go from 1 to 3999.'],
    [4000, undefined, 'roman', 'Roman numerals go from 1 to 3999.'],
    [5, 'USD', 'EUR', '"USD" needs live exchange rates, which I do not have.'],
    ['1'.repeat(1000), undefined, 'hex', 'The value is too long.'],
  ]
  for (const [value, from, to, message] of table) {
    assert.throws(() => convert(value, to, from), { message }, `${value}`)
  }
})

test('bases go by name or number', () => {
  const table: readonly (readonly [string, number | undefined])[] = [
    ['hex', 16], ['Binary', 2], ['base 7', 7], ['base-12', 12], ['base36', 36], ['base 37', undefined],
    ['base 1', undefined],
    ['roman numerals', 0], ['constructor', undefined],
  ]
  for (const [name, base] of table) assert.equal(findBase(name), base, name)
})

test('targets are told from other words', () => {
  for (const yes of ['km', 'hex', 'percent', '%', 'miles per hour']) assert.equal(isTarget(yes), true, yes)
  for (const no of ['Paris', '', '5', 'the end']) assert.equal(isTarget(no), false, no)
})
