/**
 * Numbers with units, and their arithmetic: 3 km + 200 m, 60 km/h * 90 min, 20 °C in °F, 150 + 20%.
 * A value is kept in the units that were written, so that answers come back in them. In and out: quantities
 * and their text. Knows the table of units, not the grammar that reads expressions.
 */

import { add, divide, equal, formatReal, isWhole, multiply } from './number.ts'
import { negate, one, power, ratio, sign, toNumber } from './number.ts'
import type { Real } from './number.ts'
import { Problem } from './problem.ts'
import { findBySize, findQuotient, findUnit, kindOf } from './units.ts'
import type { Dimension, Unit } from './units.ts'

/** Units with their powers: km/h is [km, 1], [h, -1]. Empty for a plain number. */
export type Units = readonly (readonly [unit: Unit, power: number])[]

/** A number in units. */
export interface Quantity {
  readonly value: Real
  readonly units: Units
  /** Written as a percentage: adding it to a number takes its share of that number. */
  readonly percent?: boolean
}

const baseSymbols = ['m', 'kg', 's', 'K', 'bit', 'deg']

/** A number without a unit. */
export function plain(value: Real): Quantity {
  return { value, units: [] }
}

function dimensionOf(units: Units): Dimension {
  const axes = [0, 1, 2, 3, 4, 5]
  return axes.map((axis) => units.reduce((sum, [unit, times]) => sum + unit.dimension[axis]! * times, 0))
}

function factorOf(units: Units): Real {
  const factors = units.map(([unit, times]) => power(unit.factor, whole(times)))
  return factors.reduce<Real>(multiply, one)
}

const whole = (value: number): Real => ratio(BigInt(value))

const thermometer = (units: Units): Unit | undefined =>
  units.length === 1 && units[0]![1] === 1 && sign(units[0]![0].offset) !== 0 ? units[0]![0] : undefined

const sameUnits = (a: Units, b: Units): boolean =>
  a.length === b.length && a.every(([unit, times], index) => b[index]![0] === unit && b[index]![1] === times)

/** The same quantity in other units. Throws a `Problem` that names both kinds when they differ. */
export function inUnits(quantity: Quantity, units: Units): Quantity {
  if (sameUnits(quantity.units, units)) return { value: quantity.value, units }
  if (dimensionOf(quantity.units).join() !== dimensionOf(units).join()) {
    throw new Problem(`Cannot convert ${kindText(quantity.units)} to ${kindText(units)}`)
  }
  const [from, to] = [thermometer(quantity.units)?.offset, thermometer(units)?.offset]
  const scaled = multiply(quantity.value, factorOf(quantity.units))
  const base = from === undefined ? scaled : add(scaled, from)
  return { value: divide(to === undefined ? base : add(base, negate(to)), factorOf(units)), units }
}

/** "a length (km)", "a plain number": the words of refusals. */
function kindText(units: Units): string {
  if (units.length === 0) return 'a plain number'
  const kind = kindOf(dimensionOf(units))
  const article = /^[aeo]/.test(kind ?? '') ? 'an' : 'a'
  return kind === undefined ? unitText(units) : `${article} ${kind} (${unitText(units)})`
}

/** Sum in the units of `a`; a percentage on the right is one of `a`. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  if (b.percent && !a.percent) return { value: multiply(a.value, add(one, b.value)), units: a.units }
  if (dimensionOf(a.units).join() !== dimensionOf(b.units).join()) {
    throw new Problem(`Cannot add or subtract ${kindText(a.units)} and ${kindText(b.units)}`)
  }
  if (!sameUnits(a.units, b.units) && (thermometer(a.units) ?? thermometer(b.units))) {
    throw new Problem('Temperatures can be added or subtracted in one unit only')
  }
  const percent = Boolean(a.percent && b.percent)
  return { value: add(a.value, inUnits(b, a.units).value), units: a.units, percent }
}

/** The same size on the other side of zero. */
export function negateQuantity(a: Quantity): Quantity {
  return { ...a, value: negate(a.value) }
}

/** Product; units of one kind are merged into the first that was written. */
export function multiplyQuantities(a: Quantity, b: Quantity): Quantity {
  let value = multiply(a.value, b.value)
  const merged = new Map<Unit, number>(a.units)
  for (const [unit, times] of b.units) {
    const like = [...merged.keys()].find((each) => each.dimension.join() === unit.dimension.join()) ?? unit
    if (like !== unit) value = multiply(value, power(divide(unit.factor, like.factor), whole(times)))
    merged.set(like, (merged.get(like) ?? 0) + times)
  }
  return { value, units: [...merged].filter(([, times]) => times !== 0) }
}

/** Quotient, as `multiplyQuantities`. */
export function divideQuantities(a: Quantity, b: Quantity): Quantity {
  return multiplyQuantities(a, powerOf(b, plain(whole(-1))))
}

/** `base` to the `exponent`. A base with units takes whole powers, and roots that leave whole powers. */
export function powerOf(base: Quantity, exponent: Quantity): Quantity {
  if (exponent.units.length > 0) throw new Problem('An exponent must be a plain number')
  const times = toNumber(exponent.value)
  const units = times === 0 ? [] : base.units.map(([unit, each]) => [unit, each * times] as const)
  if (units.some(([, each]) => !Number.isInteger(each) || Math.abs(each) > 12)) {
    throw new Problem(`Cannot raise ${kindText(base.units)} to the power ${formatReal(exponent.value).text}`)
  }
  return { value: power(base.value, exponent.value), units }
}

/** -1, 0 or 1, for quantities of one kind. */
export function compare(a: Quantity, b: Quantity): number {
  return sign(add(a.value, negate(inUnits(b, a.units).value)))
}

/** A readable unit for a product: kW·h is kWh, kg·m/s² is N, W·min is J. What is clear already stays. */
export function simplify(quantity: Quantity): Quantity {
  if (quantity.units.length < 2) return quantity
  const dimension = dimensionOf(quantity.units)
  const same = findBySize(dimension, factorOf(quantity.units))
  if (same !== undefined) return { value: quantity.value, units: [[same, 1]] }
  const count = (axis: number): number => quantity.units.filter(([unit]) => unit.dimension[axis] !== 0).length
  const clear = dimension.every((_, axis) => count(axis) < 2)
  const named = kindOf(dimension) !== undefined || dimension.every((times) => times === 0)
  if (clear || !named) return quantity
  const base = dimension.map((times, axis) => [findUnit(baseSymbols[axis]!)!, times] as const)
  return simplify(inUnits(quantity, base.filter(([, times]) => times !== 0)))
}

/** `km/h`, `kg·m/s²`, `°C`: text that the calculator reads back. `count` decides between "day" and "days". */
export function unitText(units: Units, count: Real = one): string {
  const [first, second] = units
  const isQuotient = units.length === 2 && first?.[1] === 1 && second?.[1] === -1
  const named = isQuotient ? findQuotient(first[0], second[0]) : undefined
  if (named !== undefined) return named.symbol
  const spell = ([unit, times]: Units[number]): string => {
    const size = Math.abs(times)
    const plural = unit.plural && units.length === 1 && !equal(count, one)
    const raised = size === 2 ? '²' : size === 3 ? '³' : size > 3 ? `^${size}` : ''
    return `${unit.symbol}${plural ? 's' : ''}${raised}`
  }
  const above = units.filter(([, times]) => times > 0).map(spell).join('·')
  return above + units.filter(([, times]) => times < 0).map((each) => `/${spell(each)}`).join('')
}

/** A quantity as text, and whether the digits are exact. */
export function formatQuantity(quantity: Quantity): { readonly text: string; readonly exact: boolean } {
  const value = quantity.percent ? multiply(quantity.value, whole(100)) : quantity.value
  const { text, exact } = formatReal(value)
  const unit = unitText(quantity.units, value)
  return { text: `${text}${quantity.percent ? '%' : unit === '' ? '' : ` ${unit}`}`, exact }
}

/** A plain whole number from `least` to `most`, or a `Problem` that says `what` it must be. */
export function wholeNumber(quantity: Quantity, least: number, most: number, what: string): number {
  const value = toNumber(quantity.value)
  if (quantity.units.length > 0 || !isWhole(quantity.value) || value < least || value > most) {
    throw new Problem(`${what} must be a whole number from ${least} to ${most}`)
  }
  return value
}
