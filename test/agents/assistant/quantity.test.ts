import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  add, divide, findUnit, formatQuantity, inUnit, multiply, quantity, raise,
} from '../../../lib/agents/assistant/quantity.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import type { Quantity } from '../../../lib/agents/assistant/quantity.ts'

const of = (value: number, name = ''): Quantity => quantity(value, findUnit(name))
const text = (given: Quantity): string => formatQuantity(given).text

test('units go by symbol, by name, in both numbers and with prefixes', () => {
  const table: readonly (readonly [string, string])[] = [
    ['m', 'm'], ['meter', 'm'], ['metres', 'm'], ['km', 'km'], ['kilometers', 'km'], ['Kilometre', 'km'],
    ['µm', 'µm'], ['μm', 'µm'], ['um', 'µm'], ['feet', 'ft'], ['inches', 'in'], ['"', 'in'], ['mL', 'mL'],
    ['nautical miles', 'nmi'], ['ml', 'mL'], ['KWH', 'kWh'], ['kilowatt hours', 'kWh'], ['hPa', 'hPa'],
    ['millibar', 'mbar'], ['days', 'day'], ['degrees celsius', '°C'], ['fahrenheit', '°F'], ['f', '°F'],
    ['mph', 'mi/h'], ['lbs', 'lb'], ['fl oz', 'fl oz'], ['knots', 'nmi/h'], ['kph', 'km/h'],
  ]
  for (const [name, symbol] of table) assert.equal(findUnit(name)?.symbol, symbol, name)
})

test('letter case decides where it must', () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ['MW', 'MW'], ['mW', 'mW'], ['Mb', 'Mbit'], ['MB', 'MB'], ['mb', 'MB'], ['kb', 'kB'], ['KiB', 'KiB'],
    ['M', undefined], ['Mg', 'Mg'], ['mg', 'mg'],
  ]
  for (const [name, symbol] of table) assert.equal(findUnit(name)?.symbol, symbol, name)
})

test('names of the language are no units', () => {
  for (const name of ['', 'constructor', '__proto__', 'toString', 'unit', 'kilos']) {
    assert.equal(findUnit(name), undefined, name)
  }
})

test('units have their sizes', () => {
  const table: readonly (readonly [string, number])[] = [
    ['mi', 1609.344], ['lb', 0.45359237], ['h', 3600], ['acre', 4046.8564224], ['L', 0.001], ['mph', 0.44704],
    ['psi', 6894.757293168361], ['kWh', 3.6e6], ['hp', 745.69987158227022], ['GiB', 8589934592],
    ['turn', 360],
    ['N', 1], ['K', 1], ['Hz', 1], ['Mbps', 1e6],
  ]
  for (const [name, size] of table) assert.equal(findUnit(name)?.factor, size, name)
})

test('a quantity is converted between units of its kind, thermometers too', () => {
  const table: readonly (readonly [Quantity, string, string])[] = [
    [of(3.5, 'mi'), 'm', '5632.704 m'], [of(98.6, '°F'), '°C', '37 °C'], [of(-40, 'C'), 'F', '-40 °F'],
    [of(0, 'K'), 'C', '-273.15 °C'], [of(-459.67, 'F'), 'K', '0 K'], [of(2, 'weeks'), 'days', '14 days'],
  ]
  for (const [given, unit, expected] of table) assert.equal(text(inUnit(given, findUnit(unit))), expected)
})

test('what does not measure the same is not converted', () => {
  const message = 'km and kg do not measure the same'
  assert.throws(() => inUnit(of(1, 'km'), findUnit('kg')), (error) =>
    error instanceof Fault && error.kind === 'invalid' && error.message === message)
  assert.throws(() => inUnit(of(1), findUnit('J')), /^Fault: a plain number and J do not measure the same$/)
})

test('a sum is in the unit of its first part', () => {
  assert.equal(text(add(of(3, 'km'), of(200, 'm'))), '3.2 km')
  assert.equal(text(add(of(20, 'C'), of(5, 'C'))), '25 °C')
  assert.throws(() => add(of(20, 'C'), of(5, 'F')), /Temperatures add up in one unit only/)
  assert.throws(() => add(of(1, 'm'), of(1)), /do not measure the same/)
})

test('a percentage on the right is a share of what stands on the left', () => {
  const percent = quantity(0.2, undefined, '%')
  assert.equal(text(add(of(150, 'km'), percent)), '180 km')
  assert.equal(text(add(percent, percent)), '40%')
  assert.equal(text(add(percent, of(1))), '1.2')
})

test('products and quotients are shown in the unit that reads best', () => {
  const table: readonly (readonly [Quantity, string])[] = [
    [multiply(of(60, 'km/h'), of(90, 'min')), '90 km'],
    [multiply(of(4, 'm'), of(3, 'ft')), '3.6576 m²'],
    [multiply(of(6, 'ft'), of(4, 'ft')), '24 ft²'],
    [multiply(of(2, 'kW'), of(3, 'h')), '6 kWh'],
    [multiply(of(5, 'kg'), of(2, 'm/s²')), '10 N'],
    [multiply(of(100, 'W'), of(1, 'min')), '6000 J'],
    [divide(of(100, 'km'), of(2, 'h')), '50 km/h'],
    [divide(of(100, 'km'), of(50, 'km/h')), '2 h'],
    [divide(of(1, 'GB'), of(100, 'Mbps')), '80 s'],
    [divide(of(10, 'MB'), of(1, 's')), '10 MB/s'],
    [divide(of(30, 'mi'), of(10, 'gal')), '3 mi/gal'],
    [divide(of(1, 'kWh'), of(2, 'J')), '1800000'],
    [divide(of(6), of(2, 'h')), '3 /h'],
    [divide(of(1), divide(of(1, 'mi'), of(1, 'gal'))), '1 /(mi/gal)'],
  ]
  for (const [given, expected] of table) assert.equal(text(given), expected)
  assert.throws(() => divide(of(1), of(0)), { message: 'Division by zero' })
})

test('units have powers and roots', () => {
  assert.equal(text(raise(of(3, 'm'), of(2))), '9 m²')
  assert.equal(text(raise(of(2, 'km'), of(3))), '8 km³')
  assert.equal(text(raise(raise(of(3, 'ft'), of(2)), of(0.5))), '3 ft')
  assert.equal(text(raise(of(9, 'm'), of(0))), '1')
  assert.equal(text(raise(of(5, 's'), of(-1))), '0.2 s^-1')
  assert.throws(() => raise(of(2), of(1, 'm')), /do not measure the same/)
})

test('what is a short decimal but for rounding becomes that decimal', () => {
  assert.equal(quantity(0.1 + 0.2).value, 0.3)
  assert.equal(quantity(Math.SQRT2).value, Math.SQRT2)
})

test('a number shows ten digits, or all where there are not many more', () => {
  const table: readonly (readonly [number, string])[] = [
    [0.1, '= 0.1'], [84, '= 84'], [2 / 3, '≈ 0.6666666667'], [Math.PI, '≈ 3.141592654'], [1e-7, '= 1e-7'],
    [4046.8564224, '= 4046.8564224'], [123456789012, '= 123456789012'], [1.5e300, '= 1.5e300'],
    [-2.5, '= -2.5'],
    [2 ** 64, '≈ 18446744070000000000'],
  ]
  for (const [value, expected] of table) {
    const { text: shown, exact } = formatQuantity(quantity(value))
    assert.equal(`${exact ? '=' : '≈'} ${shown}`, expected)
  }
})

test('words are singular for one, whole numbers have bases', () => {
  assert.equal(text(of(1, 'days')), '1 day')
  assert.equal(text(of(2, 'day')), '2 days')
  assert.equal(text(quantity(-255, undefined, '0x')), '-0xff')
  assert.equal(text(quantity(5, undefined, '0b')), '0b101')
})

test('what has no value is refused', () => {
  for (const value of [NaN, Infinity, -Infinity]) assert.throws(() => quantity(value), /no real result/)
})
