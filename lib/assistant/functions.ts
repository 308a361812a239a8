/**
 * The named functions and constants of the calculator. In: quantities; out: a quantity, or a `Problem` about
 * the arguments. Angles may carry a unit, plain numbers are radians. It knows no grammar and no positions.
 */

import { add, approximate, divide, floor, multiply, negate } from './number.ts'
import { parseReal, ratio, sign, toNumber } from './number.ts'
import type { Real } from './number.ts'
import { Problem } from './problem.ts'
import { addQuantities, compare, divideQuantities, inUnits, plain, powerOf, wholeNumber } from './quantity.ts'
import type { Quantity, Units } from './quantity.ts'
import { findUnit } from './units.ts'

/** A function with the least and the most arguments that it takes. `apply` throws a `Problem`. */
export interface NamedFunction {
  readonly least: number
  readonly most: number
  readonly apply: (first: Quantity, ...rest: readonly Quantity[]) => Quantity
}

const half = ratio(1n, 2n)
const degrees: Units = [[findUnit('deg')!, 1]]

/** By their names in lower case. */
export const constants: ReadonlyMap<string, Real> = new Map([
  ['pi', Math.PI], ['π', Math.PI], ['tau', Math.PI * 2], ['e', Math.E], ['phi', (1 + Math.sqrt(5)) / 2],
])

/** Words that multiply the number before them. */
export const scales: ReadonlyMap<string, Real> = new Map([
  ['dozen', '12'], ['hundred', '1e2'], ['thousand', '1e3'], ['million', '1e6'], ['billion', '1e9'],
  ['trillion', '1e12'],
].map(([word = '', size = '']) => [word, parseReal(size)]))

/** A function of plain numbers. */
const real = (work: (...values: number[]) => number, least = 1, most = least): NamedFunction => ({
  least,
  most,
  apply: (...values) => {
    if (values.some(({ units }) => units.length > 0)) throw new Problem('This function takes no units')
    return plain(approximate(work(...values.map(({ value }) => toNumber(value)))))
  },
})

/** Whether the value of a circular function is zero but for the rounding of its argument. */
const isNothing = (value: number, radians: number): boolean =>
  Math.abs(value) < 4e-16 * Math.max(1, Math.abs(radians))

/** A function of an angle, exactly zero where only rounding says otherwise. */
const circular = (work: (radians: number) => number): NamedFunction => ({
  least: 1,
  most: 1,
  apply: (angle) => {
    const turned = angle.units.length === 0
      ? toNumber(angle.value)
      : toNumber(inUnits(angle, degrees).value) * Math.PI / 180
    const value = work(turned)
    return plain(approximate(isNothing(value, turned) ? 0 : value))
  },
})

/** A function that keeps the unit and works on the exact value. */
const keeping = (work: (value: Real, digits: Real) => Real, most = 1): NamedFunction => ({
  least: 1,
  most,
  apply: (first, digits) => {
    const places = digits === undefined ? 0 : wholeNumber(digits, -100, 100, 'The number of decimals')
    const scale = places < 0 ? ratio(1n, 10n ** BigInt(-places)) : ratio(10n ** BigInt(places))
    return { ...first, value: work(first.value, scale) }
  },
})

const round = (value: Real, scale: Real): Real => {
  const nearest = floor(add(multiply(sign(value) < 0 ? negate(value) : value, scale), half))
  return divide(sign(value) < 0 ? negate(nearest) : nearest, scale)
}

/** A function of a list of quantities of one kind. */
const listed = (work: (values: readonly Quantity[]) => Quantity): NamedFunction => ({
  least: 1,
  most: Infinity,
  apply: (...values) => work(values),
})

const sum = (values: readonly Quantity[]): Quantity => values.reduce(addQuantities)
const average = (values: readonly Quantity[]): Quantity =>
  divideQuantities(sum(values), plain(ratio(BigInt(values.length))))
const sorted = (values: readonly Quantity[]): readonly Quantity[] => values.toSorted(compare)

const middle = (values: readonly Quantity[]): readonly Quantity[] =>
  sorted(values).slice((values.length - 1) >> 1, (values.length >> 1) + 1)

/** n! for whole n up to 170; beyond that it passes 10^308. */
export function factorial(quantity: Quantity): Quantity {
  const n = wholeNumber(quantity, 0, 170, 'The operand of a factorial')
  let product = 1n
  for (let factor = 2n; factor <= n; factor++) product *= factor
  return plain(ratio(product))
}

const positive = (log: (value: number) => number) => (value: number): number => value > 0 ? log(value) : NaN

/** By their names in lower case. */
export const functions: ReadonlyMap<string, NamedFunction> = new Map<string, NamedFunction>([
  ['sqrt', { least: 1, most: 1, apply: (first) => powerOf(first, plain(half)) }],
  ['cbrt', real(Math.cbrt)],
  ['abs', keeping((value) => sign(value) < 0 ? negate(value) : value)],
  ['round', keeping(round, 2)],
  ['floor', keeping(floor)],
  ['ceil', keeping((value) => negate(floor(negate(value))))],
  ['trunc', keeping((value) => sign(value) < 0 ? negate(floor(negate(value))) : floor(value))],
  ['min', listed((values) => sorted(values)[0]!)],
  ['max', listed((values) => sorted(values).at(-1)!)],
  ['sum', listed(sum)],
  ['average', listed(average)],
  ['mean', listed(average)],
  ['median', listed((values) => average(middle(values)))],
  ['factorial', { least: 1, most: 1, apply: factorial }],
  ['sin', circular(Math.sin)],
  ['cos', circular(Math.cos)],
  ['tan', circular((angle) => isNothing(Math.cos(angle), angle) ? NaN : Math.tan(angle))],
  ['asin', real(Math.asin)],
  ['acos', real(Math.acos)],
  ['atan', real(Math.atan)],
  ['exp', real(Math.exp)],
  ['ln', real(positive(Math.log))],
  ['log', real((value, base = 10) => positive(Math.log10)(value) / positive(Math.log10)(base), 1, 2)],
  ['log10', real(positive(Math.log10))],
  ['log2', real(positive(Math.log2))],
])
