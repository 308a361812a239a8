import assert from 'node:assert/strict'
import { test } from 'node:test'

import { toNumber } from '../../lib/assistant/number.ts'
import { findBySize, findQuotient, findUnit, kindOf, unknownName } from '../../lib/assistant/units.ts'

test('units go by symbol, by name, in both numbers and with prefixes', () => {
  const table: readonly (readonly [string, string])[] = [
    ['m', 'm'], ['meter', 'm'], ['metres', 'm'], ['km', 'km'], ['kilometers', 'km'], ['Kilometre', 'km'],
    ['µm', 'µm'],
    ['μm', 'µm'], ['um', 'µm'], ['feet', 'ft'], ['inches', 'in'], ['"', 'in'], ['nautical miles', 'nmi'],
    ['mL', 'mL'],
    ['ml', 'mL'], ['KWH', 'kWh'], ['kilowatt hours', 'kWh'], ['hPa', 'hPa'], ['millibar', 'mbar'],
    ['days', 'day'],
    ['degrees celsius', '°C'], ['fahrenheit', '°F'], ['f', '°F'], ['mph', 'mph'], ['lbs', 'lb'],
    ['fl oz', 'fl oz'],
  ]
  for (const [name, symbol] of table) assert.equal(findUnit(name)?.symbol, symbol, name)
})

test('letter case decides where it must', () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ['MW', 'MW'], ['mW', 'mW'], ['Mb', 'Mbit'], ['MB', 'MB'], ['mb', 'MB'], ['kb', 'kB'], ['KiB', 'KiB'],
    ['M', undefined],
    ['PS', 'PS'], ['ps', 'ps'], ['kn', 'kn'], ['kN', 'kN'],
  ]
  for (const [name, symbol] of table) assert.equal(findUnit(name)?.symbol, symbol, name)
})

test('names of the language are no units', () => {
  for (const name of ['', 'constructor', '__proto__', 'toString', 'unit']) {
    assert.equal(findUnit(name), undefined)
  }
})

test('units know what they measure and how large they are', () => {
  const table: readonly (readonly [string, string, number])[] = [
    ['mi', 'length', 1609.344], ['lb', 'mass', 0.45359237], ['h', 'time', 3600],
    ['acre', 'area', 4046.8564224],
    ['L', 'volume', 0.001], ['mph', 'speed', 0.44704], ['psi', 'pressure', 6894.757293168361],
    ['kWh', 'energy', 3.6e6],
    ['hp', 'power', 745.69987158227022], ['GiB', 'data', 8589934592], ['turn', 'angle', 360],
    ['N', 'force', 1],
    ['K', 'temperature', 1], ['Hz', 'frequency', 1], ['Mbps', 'data rate', 1e6],
    ['gee', 'acceleration', 9.80665],
  ]
  for (const [name, kind, size] of table) {
    const unit = findUnit(name)
    assert.ok(unit, name)
    assert.equal(kindOf(unit.dimension), kind)
    assert.equal(toNumber(unit.factor), size, name)
  }
})

test('units are found by what they are made of', () => {
  const [mile, hour, joule] = [findUnit('mi')!, findUnit('h')!, findUnit('J')!]
  assert.equal(findQuotient(mile, hour)?.symbol, 'mph')
  assert.equal(findQuotient(hour, mile), undefined)
  assert.equal(findBySize(joule.dimension, joule.factor)?.symbol, 'J')
  assert.equal(findBySize(joule.dimension, 0.123), undefined)
})

test('an unknown name comes with the nearest one, a currency with the reason', () => {
  assert.equal(unknownName('meteers', 3).message,
    'Unknown name or unit "meteers" at position 3. Did you mean "meters"?')
  assert.match(unknownName('sqroot', 1, ['sqrt']).message, /Did you mean "sqrt"/)
  assert.match(unknownName('EUR', 1).message, /exchange rates/)
})
