/**
 * Numbers with units, and their arithmetic, in the unit that was written where it can be; what cannot be is a
 * `Fault`. A dimension is a number: length is 2, mass 3, time 5 and so on through the primes; a speed is 2/5.
 */
import { Fault } from '../../kernel/define/fault.ts'

/** A unit: value * factor + offset is in metre, kilogram, second, °C, bit or degree. A word takes an s. */
export interface Unit extends Readonly<Record<'dimension' | 'factor' | 'offset', number>> {
  readonly symbol: string
  readonly isWord?: boolean
}

/** A number, its unit, and how it is written: as %, which is added as a share, or with a base's prefix. */
export interface Quantity { readonly value: number; readonly unit: Unit | undefined; readonly form?: string }

/** `dimension: symbol size names, …;` where `*` takes prefixes, `~` a plural and `_` is a blank. */
const table = `
2: *m 1 meter metre, in 0.0254 inch inches " ″ ”, ft 0.3048 foot feet ' ′ ’, yd 0.9144 yard yds,
  mi 1609.344 mile, nmi 1852 nautical_mile, ly 9460730472580800 lightyear light_year;
3: *g 0.001 gram gramme, lb 0.45359237 lbs pound, oz 0.028349523125 ounce, t 1000 tonne metric_ton,
  st 6.35029318 stone, ~ton 907.18474 short_ton, ct 0.0002 carat;
5: *s 1 second sec secs, min 60 minute mins, h 3600 hour hr hrs, ~day 86400 d, ~week 604800 wk,
  ~fortnight 1209600, ~month 2629746 mo, ~year 31556952 yr yrs, ~decade 315569520;
7: °C 1 C c celsius centigrade degree_celsius degrees_celsius, K 1-273.15 kelvin,
  °F 5/9-160/9 F f fahrenheit degree_fahrenheit degrees_fahrenheit;
4: m² 1, ha 10000 hectare, ~acre 4046.8564224 ac; 13: deg 1 degree °, rad 57.29577951308232 radian, ~turn 360;
8: m³ 1, *L 0.001 l liter litre, gal 0.003785411784 gallon us_gallon, imp_gal 0.00454609 imperial_gallon,
  qt 0.000946352946 quart, pt 0.000473176473 pint, ~cup 0.0002365882365, fl_oz 0.0000295735295625 fluid_ounce,
  tbsp 0.00001478676478125 tablespoon, tsp 0.00000492892159375 teaspoon, cc 0.000001;
2/5: mi/h 0.44704 mph, km/h 1/3.6 kph kmh kmph, nmi/h 1852/3600 kn knot kt; 2/25: m/s² 1;
6/25: *N 1 newton, lbf 4.4482216152605 pound_force; 12/125: *W 1 watt, hp 745.69987158227022 horsepower;
12/25: *J 1 joule, *Wh 3600 watt_hour, *cal 4.184 calorie, BTU 1055.05585262, *eV 1.602176634e-19;
3/50: *Pa 1 pascal, *bar 100000, atm 101325 atmosphere, psi 6894.757293168361, mmHg 133.322387415;
1/5: *Hz 1 hertz, rpm 1/60; 11: *B 8 byte octet, *bit 1 b; 11/5: *bps 1;`

/** `symbol name size`; the binary ones are for data alone, those below a thousand for everything else. */
const prefixes = `k kilo 1e3, M mega 1e6, G giga 1e9, T tera 1e12, P peta 1e15, h hecto 1e2, d deci 1e-1,
  c centi 1e-2, m milli 1e-3, µ micro 1e-6, n nano 1e-9, p pico 1e-12, Ki kibi 1024, Mi mebi 1048576,
  Gi gibi 1073741824, Ti tebi 1099511627776`.split(',').map((row) => row.trim().split(' '))

const units: Unit[] = []
const spelled = new Map<string, Unit>()
const folded = new Map<string, Unit>()

function enter(unit: Unit, names: readonly string[]): void {
  units.push(unit)
  for (const name of names.flatMap((each) => each.length > 2 ? [each, `${each}s`] : [each])) {
    if (!spelled.has(name)) spelled.set(name, unit)
    if (name.length > 1 && !folded.has(name.toLowerCase())) folded.set(name.toLowerCase(), unit)
  }
}

const sizeOf = (text: string): number => text.split('/').map(Number).reduce((above, below) => above / below)

for (const [, size = '', rows = ''] of table.matchAll(/([\d/]+): ([^;]+);/g)) {
  const [dimension, isData] = [sizeOf(size), size.startsWith('11')]
  for (const row of rows.split(',')) {
    const [head = '', scale = '', ...names] = row.trim().split(/\s+/).map((word) => word.replaceAll('_', ' '))
    const [symbol, isWord] = [head.replace(/^[*~]/, ''), head.startsWith('~')]
    const [factor = 1, offset = 0] = scale.split(/(?<!e)(?=-)/).map(sizeOf)
    enter({ symbol, isWord, dimension, factor, offset }, [symbol, ...names])
    for (const [short = '', long = '', times = ''] of head.startsWith('*') ? prefixes : []) {
      if (isData ? /-|e2/.test(times) : long.endsWith('bi')) continue
      // "kb" is left to be read as kB, which is what is mostly meant by it.
      const prefixed = [symbol, ...names].flatMap((name) => name.length > 2 ? [short + name, long + name]
        : short + name === 'kb' ? [] : [short + name])
      enter({ symbol: short + symbol, dimension, factor: factor * Number(times), offset }, prefixed)
    }
  }
}

/** The unit of that name: a symbol or a word, with or without prefix; letter case where it matters. */
export function findUnit(name: string): Unit | undefined {
  const plain = name.replace(/^μ/, 'µ')
  return spelled.get(plain) ?? folded.get(plain.toLowerCase()) ?? spelled.get(plain.replace(/^u/, 'µ'))
}

const isSame = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-12 * Math.abs(a)
/** A number is shown with ten digits, or with eleven where that is all there is to it. */
const [shownDigits, wholeDigits] = [10, 11]

/** A finite quantity. What is a short decimal but for the rounding of doubles becomes that decimal. */
export function quantity(value: number, unit?: Unit, form = ''): Quantity {
  if (!Number.isFinite(value)) throw new Fault('invalid', 'There is no real result, or it is beyond 10^308')
  const near = Number(value.toPrecision(wholeDigits))
  return { value: near === Number(value.toPrecision(15)) ? near : value, unit, form }
}

/** The same quantity in another unit, or as a plain number. */
export function inUnit({ value, unit }: Quantity, target: Unit | undefined): Quantity {
  if (unit === target) return quantity(value, unit)
  if (!unit || !target || !isSame(unit.dimension, target.dimension)) {
    const [first, second] = [unit, target].map((each) => each?.symbol ?? 'a plain number')
    throw new Fault('invalid', `${first} and ${second} do not measure the same`)
  }
  const shift = unit.offset - target.offset
  const base = value * unit.factor + shift
  return quantity((shift === 0 ? base : Number(base.toFixed(10))) / target.factor, target)
}

/** Sum in the unit of `a`; a percentage on the right is one of `a`. */
export function add(a: Quantity, b: Quantity): Quantity {
  if (b.form === '%' && a.form !== '%') return quantity(a.value * (1 + b.value), a.unit)
  const { value } = inUnit(b, a.unit)
  if (a.unit?.offset !== b.unit?.offset) throw new Fault('invalid', 'Temperatures add up in one unit only')
  return quantity(a.value + value, a.unit, a.form === b.form ? a.form : '')
}

/** Product. */
export function multiply({ value, unit: a }: Quantity, { value: times, unit: b }: Quantity): Quantity {
  if (a === undefined || b === undefined) return quantity(value * times, a ?? b)
  const symbol = a === b ? `${a.symbol}²` : `${a.symbol}·${b.symbol}`
  return composed(value * times, symbol, a.dimension * b.dimension, a.factor * b.factor)
}

/** Quotient. */
export function divide({ value, unit: a }: Quantity, { value: divisor, unit: b }: Quantity): Quantity {
  if (divisor === 0) throw new Fault('invalid', 'Division by zero')
  if (b === undefined) return quantity(value / divisor, a)
  const symbol = `${a?.symbol ?? ''}/${/[·/]/.test(b.symbol) ? `(${b.symbol})` : b.symbol}`
  return composed(value / divisor, symbol, (a?.dimension ?? 1) / b.dimension, (a?.factor ?? 1) / b.factor)
}

/** The first to the power of the second, which must be a plain number. */
export function raise({ value, unit }: Quantity, exponent: Quantity): Quantity {
  const power = inUnit(exponent, undefined).value
  if (unit === undefined) return quantity(value ** power)
  const [dimension, factor] = [unit.dimension ** power, unit.factor ** power]
  const symbol = `${unit.symbol}${power === 2 ? '²' : power === 3 ? '³' : `^${power}`}`
  if (!Number.isInteger(power) || power === 0) return composed(value ** power, symbol, dimension, factor)
  return quantity(value ** power, { symbol, dimension, factor, offset: 0 })
}

/** In the unit of that size, in one that is part of the symbol, in that of size 1, or else as written. */
function composed(value: number, symbol: string, dimension: number, factor: number): Quantity {
  if (isSame(dimension, 1)) return quantity(value * factor)
  const alike = units.filter((unit) => isSame(unit.dimension, dimension))
  const isUnclear = symbol.includes('·') || (symbol.includes('/') && [2, 3, 5].includes(dimension))
  const unit = alike.find((each) => isSame(each.factor, factor))
    ?? alike.find((each) => symbol.split(/[·/()]/).includes(each.symbol))
    ?? alike.find((each) => isUnclear && each.factor === 1) ?? { symbol, dimension, factor, offset: 0 }
  return quantity(value * (factor / unit.factor), unit)
}

/** A quantity as text, and whether all its digits are there. */
export function formatQuantity({ value, unit, form = '' }: Quantity): { text: string, exact: boolean } {
  const base = Number(`${form}10`)
  if (form[0] === '0') return { text: value.toString(base).replace(/^-?/, `$&${form}`), exact: true }
  const size = form === '%' ? quantity(value * 100).value : value
  const exact = Number.isSafeInteger(size) || size === Number(size.toPrecision(wholeDigits))
  const digits = String(exact ? size : Number(size.toPrecision(shownDigits))).replace('e+', 'e')
  const name = unit === undefined ? '' : ` ${unit.symbol}${unit.isWord && size !== 1 ? 's' : ''}`
  return { text: digits + (form || name), exact }
}
