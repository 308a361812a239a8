import assert from 'node:assert/strict'
import { test } from 'node:test'

import { parseUnits } from '../../lib/assistant/calculate.ts'
import { parseReal } from '../../lib/assistant/number.ts'
import { addQuantities, compare, divideQuantities } from '../../lib/assistant/quantity.ts'
import { formatQuantity, inUnits } from '../../lib/assistant/quantity.ts'
import { multiplyQuantities, plain, powerOf, simplify } from '../../lib/assistant/quantity.ts'
import { unitText, wholeNumber } from '../../lib/assistant/quantity.ts'
import type { Quantity } from '../../lib/assistant/quantity.ts'

const of = (value: string, units = ''): Quantity =>
  ({ value: parseReal(value), units: units === '' ? [] : parseUnits(units) })
const text = (quantity: Quantity): string => formatQuantity(quantity).text

test('a quantity is converted between units of its kind, thermometers too', () => {
  assert.equal(text(inUnits(of('3.5', 'mi'), parseUnits('m'))), '5632.704 m')
  assert.equal(text(inUnits(of('98.6', '°F'), parseUnits('°C'))), '37 °C')
  assert.equal(text(inUnits(of('-40', 'C'), parseUnits('F'))), '-40 °F')
  assert.throws(() => inUnits(of('1', 'km'), parseUnits('kg')),
    /Cannot convert a length \(km\) to a mass \(kg\)/)
  assert.throws(() => inUnits(of('1'), parseUnits('J')), /Cannot convert a plain number to an energy \(J\)/)
})

test('a sum is in the units of its first part', () => {
  assert.equal(text(addQuantities(of('3', 'km'), of('200', 'm'))), '3.2 km')
  assert.equal(text(addQuantities(of('20', 'C'), of('5', 'C'))), '25 °C')
  assert.throws(() => addQuantities(of('20', 'C'), of('5', 'F')), /in one unit only/)
  assert.throws(() => addQuantities(of('1', 'm'), of('1')), /Cannot add or subtract/)
})

test('a percentage on the right is a share of what stands on the left', () => {
  const percent: Quantity = { value: parseReal('0.2'), units: [], percent: true }
  assert.equal(text(addQuantities(of('150', 'km'), percent)), '180 km')
  assert.equal(text(addQuantities(percent, percent)), '40%')
  assert.equal(text(addQuantities(percent, of('1'))), '1.2')
})

test('products merge units of one kind and are shown in a unit of their own', () => {
  const table: readonly (readonly [Quantity, string])[] = [
    [multiplyQuantities(of('60', 'km/h'), of('90', 'min')), '90 km'],
    [multiplyQuantities(of('4', 'm'), of('3', 'ft')), '3.6576 m²'],
    [multiplyQuantities(of('2', 'kW'), of('3', 'h')), '6 kWh'],
    [multiplyQuantities(of('5', 'kg'), of('2', 'm/s^2')), '10 N'],
    [multiplyQuantities(of('100', 'W'), of('1', 'min')), '6000 J'],
    [divideQuantities(of('100', 'km'), of('2', 'h')), '50 km/h'],
    [divideQuantities(of('30', 'mi'), of('10', 'gal')), '3 mi/gal'],
    [divideQuantities(of('1', 'kWh'), of('2', 'J')), '1800000'],
    [multiplyQuantities(divideQuantities(of('6', 'N'), of('2', 'J')), of('2', 'm')), '6'],
  ]
  for (const [quantity, expected] of table) assert.equal(text(simplify(quantity)), expected)
})

test('powers of units are whole', () => {
  assert.equal(text(powerOf(of('3', 'm'), of('2'))), '9 m²')
  assert.equal(text(powerOf(of('9', 'm^2'), of('0.5'))), '3 m')
  assert.equal(text(powerOf(of('9', 'm'), of('0'))), '1')
  assert.throws(() => powerOf(of('2', 'm'), of('0.5')), /Cannot raise a length \(m\) to the power 0.5/)
  assert.throws(() => powerOf(of('2', 'm'), of('13')), /Cannot raise/)
  assert.throws(() => powerOf(of('2'), of('1', 'm')), /exponent must be a plain number/)
})

test('units are written so that they can be read back', () => {
  for (const units of ['km', 'kg·m/s²', 'mph', '/s', 'm³', 'm^4', 'L/min', 'fl oz']) {
    assert.equal(unitText(parseUnits(units.replace('/s', units === '/s' ? 's^-1' : '/s'))), units)
  }
})

test('words are singular for one', () => {
  assert.equal(text(of('1', 'days')), '1 day')
  assert.equal(text(of('2', 'day')), '2 days')
  assert.equal(text(of('2', 'acre/year')), '2 acre/year')
})

test('quantities of one kind are ordered', () => {
  assert.equal(compare(of('1', 'km'), of('900', 'm')), 1)
  assert.throws(() => compare(of('1', 'km'), of('1', 's')), /Cannot convert/)
})

test('a whole number is required where it is needed', () => {
  assert.equal(wholeNumber(of('5'), 0, 10, 'It'), 5)
  for (const wrong of [of('5.5'), of('11'), of('-1'), of('5', 'm'), plain(Math.PI)]) {
    assert.throws(() => wholeNumber(wrong, 0, 10, 'It'), /It must be a whole number from 0 to 10/)
  }
})
