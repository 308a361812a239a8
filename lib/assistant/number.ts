/**
 * Real numbers that stay exact as long as they can: a ratio of two integers, or else a double. So 0.1 + 0.2
 * is 0.3, 1/3 * 3 is 1 and 2^64 has all its digits. In: decimal text; out: decimal text that says whether it
 * is exact. Every operation is bounded in size and throws a `Problem` beyond that.
 * It knows no units and no expressions.
 */

import { Problem } from './problem.ts'

/** In lowest terms; the denominator is positive. */
export interface Ratio {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Exact as a ratio, rounded as a double. */
export type Real = Ratio | number

/** Past this size a ratio is not worth its time and becomes a double. */
const maxBits = 2200
const maxExponent = 400
/** A double shows itself with this many digits, a ratio that does not end in decimals too. */
const shownDigits = 10
/** An exact value with decimals is shown in full up to this many digits; a whole number always is. */
const maxDecimal = 16

/** 0, exactly. */
export const zero: Ratio = { numerator: 0n, denominator: 1n }
/** 1, exactly. */
export const one: Ratio = { numerator: 1n, denominator: 1n }

function bits(n: bigint): number {
  const digits = (n < 0n ? -n : n).toString(16)
  return digits.length * 4 - Math.clz32(Number.parseInt(digits[0]!, 16)) + 28
}

/** `numerator / denominator` in lowest terms. Throws for a denominator of zero and beyond 10^308. */
export function ratio(numerator: bigint, denominator = 1n): Real {
  if (denominator === 0n) throw new Problem('Division by zero')
  if (denominator < 0n) return ratio(-numerator, -denominator)
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator]
  while (b !== 0n) [a, b] = [b, a % b]
  const value = { numerator: numerator / a, denominator: denominator / a }
  const [above, below] = [bits(value.numerator), bits(value.denominator)]
  if (above - below > 1022 && !Number.isFinite(toNumber(value))) throw tooLarge()
  return above > maxBits || below > maxBits ? toNumber(value) : value
}

/** A double as a real: finite or a `Problem`; exact again where it is a short decimal but for rounding. */
export function approximate(value: number): Real {
  if (Number.isNaN(value)) throw new Problem('There is no real result')
  if (!Number.isFinite(value)) throw tooLarge()
  const near = Number(value.toPrecision(15))
  return near.toExponential().replace(/e.*|\D/g, '').length <= 9 ? parseReal(String(near)) : value
}

/** Reads `12`, `1234.5`, `.5`, `6.02e23`, `0xff`, `0b101`, `0o17` and `5/9`, exactly. */
export function parseReal(text: string): Real {
  const slash = text.indexOf('/')
  if (slash > 0) return divide(parseReal(text.slice(0, slash)), parseReal(text.slice(slash + 1)))
  if (/^0[xbo]/i.test(text)) return ratio(BigInt(text.toLowerCase()))
  const parts = /^(-?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text)
  const digits = parts === null ? '' : `${parts[2]}${parts[3]}`
  if (parts === null || digits === '') throw new Problem(`"${text.slice(0, 40)}" is not a number`)
  const exponent = Number(parts[4] ?? 0) - parts[3]!.length
  if (Math.abs(exponent) > maxExponent + digits.length) throw new Problem(`${text} is out of range`)
  const size = BigInt(`${parts[1]}${digits}`)
  return exponent < 0 ? ratio(size, 10n ** BigInt(-exponent)) : ratio(size * 10n ** BigInt(exponent))
}

/** The nearest double. */
export function toNumber(real: Real): number {
  if (typeof real === 'number') return real
  const shift = BigInt(Math.max(0, bits(real.numerator) - 1000, bits(real.denominator) - 1000))
  return Number(real.numerator >> shift) / Number(real.denominator >> shift)
}

/** Sum; exact for two ratios, as all of these are. */
export function add(a: Real, b: Real): Real {
  if (typeof a === 'number' || typeof b === 'number') return approximate(toNumber(a) + toNumber(b))
  return ratio(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator)
}

/** The same size on the other side of zero. */
export function negate(a: Real): Real {
  return typeof a === 'number' ? -a : { numerator: -a.numerator, denominator: a.denominator }
}

/** Product. */
export function multiply(a: Real, b: Real): Real {
  if (typeof a === 'number' || typeof b === 'number') return approximate(toNumber(a) * toNumber(b))
  return ratio(a.numerator * b.numerator, a.denominator * b.denominator)
}

/** Quotient. Throws a `Problem` for a divisor of zero. */
export function divide(a: Real, b: Real): Real {
  if (sign(b) === 0) throw new Problem('Division by zero')
  if (typeof a === 'number' || typeof b === 'number') return approximate(toNumber(a) / toNumber(b))
  return ratio(a.numerator * b.denominator, a.denominator * b.numerator)
}

/** The remainder with the sign of the divisor: -7 modulo 3 is 2. */
export function modulo(a: Real, b: Real): Real {
  return add(a, negate(multiply(floor(divide(a, b)), b)))
}

/** `base` to the `exponent`: exact for whole exponents that stay small, else a double. */
export function power(base: Real, exponent: Real): Real {
  if (sign(base) === 0 && sign(exponent) < 0) throw new Problem('Division by zero')
  const double = toNumber(base) ** toNumber(exponent)
  if (typeof base !== 'number' && isWhole(exponent)) {
    const times = Math.abs(toNumber(exponent))
    const size = Math.max(bits(base.numerator), bits(base.denominator))
    if (times * (size - 1) <= maxBits && times < 1e6) {
      const [above, below] = [base.numerator ** BigInt(times), base.denominator ** BigInt(times)]
      return sign(exponent) < 0 ? ratio(below, above) : ratio(above, below)
    }
    if (Number.isFinite(double)) return double
  }
  return approximate(double)
}

/** The greatest whole number that is not greater. */
export function floor(a: Real): Real {
  if (typeof a === 'number') return approximate(Math.floor(a))
  const whole = a.numerator / a.denominator
  return ratio(a.numerator < 0n && a.denominator > 1n ? whole - 1n : whole)
}

/** 1, 0 or -1. */
export function sign(a: Real): number {
  return typeof a === 'number' ? Math.sign(a) : a.numerator === 0n ? 0 : a.numerator < 0n ? -1 : 1
}

/** Whether it is an exact whole number. */
export function isWhole(a: Real): a is Ratio {
  return typeof a !== 'number' && a.denominator === 1n
}

/** Whether two numbers are the same, exact or not. */
export function equal(a: Real, b: Real): boolean {
  return sign(add(a, negate(b))) === 0
}

/** Decimal text without grouping, which `parseReal` reads back, and whether it is the whole truth. */
export function formatReal(a: Real): { readonly text: string; readonly exact: boolean } {
  const places = typeof a === 'number' ? undefined : decimalPlaces(a.denominator)
  if (typeof a === 'number' || places === undefined) {
    const value = toNumber(a)
    const whole = Math.trunc(Math.abs(value)).toString().length
    const text = String(Number(value.toPrecision(Math.max(shownDigits, Math.min(whole + 4, 15)))))
    return { text: text.replace('e+', 'e'), exact: false }
  }
  const digits = (a.numerator * 10n ** BigInt(places) / a.denominator).toString()
  if (places > 0 && digits.length > maxDecimal) return formatReal(toNumber(a))
  return { text: spell(digits, places), exact: true }
}

/** How many decimals a fraction over `denominator` has, or undefined when too many or endless. */
function decimalPlaces(denominator: bigint): number | undefined {
  let places = 0
  for (let rest = 1n; places <= 24; places++, rest *= 10n) if (rest % denominator === 0n) return places
  return undefined
}

/** `digits` with the point before the last `places`; very long or very small values with an exponent. */
function spell(digits: string, places: number): string {
  const minus = digits.startsWith('-') ? '-' : ''
  const size = digits.slice(minus.length)
  const point = size.length - places
  let end = size.length
  while (end > 1 && size[end - 1] === '0') end--
  if (point < -5 || (point > 21 && end <= 15)) {
    return `${minus}${size[0]}${end > 1 ? `.${size.slice(1, end)}` : ''}e${point - 1}`
  }
  if (places === 0) return digits
  const padded = size.padStart(places + 1, '0')
  return `${minus}${padded.slice(0, -places)}.${padded.slice(-places)}`
}

function tooLarge(): Problem {
  return new Problem('The result is too large: beyond 10^308')
}
