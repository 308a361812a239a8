/**
 * Conversions: a quantity into other units, whole numbers between bases and Roman numerals. In: a value as a
 * number or as text ("5 ft 3 in", "0xff", "MCMXCIV"), where to, and where from unless the value says it.
 * Out: a `Calculation`. It knows no sentences.
 */

import { calculate, describe, evaluate, parseUnits } from './calculate.ts'
import type { Calculation } from './calculate.ts'
import { isWhole } from './number.ts'
import { Problem, shorten } from './problem.ts'
import { inUnits } from './quantity.ts'
import { maxExpression } from './tokens.ts'

const numerals: readonly (readonly [string, number])[] = [
  ['M', 1000], ['CM', 900], ['D', 500], ['CD', 400], ['C', 100], ['XC', 90],
  ['L', 50], ['XL', 40], ['X', 10], ['IX', 9], ['V', 5], ['IV', 4], ['I', 1],
]

const baseNames = new Map([
  ['decimal', 10], ['dec', 10], ['hex', 16], ['hexadecimal', 16], ['binary', 2], ['octal', 8], ['oct', 8],
  ['roman', 0], ['roman numeral', 0], ['roman numerals', 0],
])

/** The base that a name means ("hex", "base 7"), 0 for Roman numerals, undefined for anything else. */
export function findBase(name: string): number | undefined {
  const plain = name.trim().toLowerCase()
  const base = Number(/^base[ -]?(\d{1,2})$/.exec(plain)?.[1])
  return base >= 2 && base <= 36 ? base : baseNames.get(plain)
}

/** Whether something can be converted to it: a base or units. */
export function isTarget(text: string): boolean {
  if (findBase(text) !== undefined || /^(?:%|percent(?:age)?)$/i.test(text)) return true
  try {
    return parseUnits(text).length > 0
  } catch {
    return false
  }
}

/** Converts `value`, which is in `from` where it carries no unit or base itself. Throws a `Problem`. */
export function convert(value: string | number, to: string, from?: string): Calculation {
  let text = String(value).trim().replace(/\s+/g, ' ')
  if (text.length + to.length > maxExpression) throw new Problem('The value is too long')
  const words = /^(\S+) (?:in |from )?(\S+|base \d+)$/i.exec(text)
  if (words !== null && from === undefined) {
    const [first, second] = [words[1]!, words[2]!]
    if (findBase(second) !== undefined) [text, from] = [first, second]
    else if (findBase(first) !== undefined) [text, from] = [second, first]
  }
  const target = findBase(to)
  let source = from === undefined ? undefined : findBase(from)
  if (source === undefined && from === undefined && target === 10 && /^[ivxlcdm]+$/i.test(text)) source = 0
  if (source !== undefined || target !== undefined) {
    const written = from === undefined || findBase(from) === 10 ? text : `${text} (${from})`
    return inBase(written, readInteger(text, source), target ?? 10)
  }
  if (/^(?:%|percent(?:age)?)$/i.test(to.trim())) return calculate(`(${text}) in %`)
  const written = from === undefined ? text : `${text} ${from}`
  return describe(written, inUnits(evaluate(written), parseUnits(to)))
}

function readInteger(text: string, base: number | undefined): bigint {
  if (base === 0) return readRoman(text)
  if (base === undefined || base === 10) {
    const { value, units } = evaluate(text)
    if (!isWhole(value) || units.length > 0) throw new Problem('Only whole numbers have other bases')
    return value.numerator
  }
  const [, minus, , digits = ''] = /^(-?)(0[xbo](?=.))?(\w+)$/i.exec(text) ?? []
  let value = 0n
  for (const digit of digits.toLowerCase()) {
    const worth = Number.parseInt(digit, 36)
    if (!(worth < base)) throw new Problem(`"${digit}" is not a digit of base ${base}`)
    value = value * BigInt(base) + BigInt(worth)
  }
  if (digits === '') throw new Problem(`"${shorten(text)}" is not a number in base ${base}`)
  return minus === '-' ? -value : value
}

function readRoman(text: string): bigint {
  let rest = text.toUpperCase()
  let value = 0
  for (const [numeral, worth] of numerals) {
    for (; rest.startsWith(numeral); rest = rest.slice(numeral.length)) value += worth
  }
  if (rest !== '' || value > 3999 || roman(value) !== text.toUpperCase()) {
    throw new Problem(`"${shorten(text)}" is not a Roman numeral`)
  }
  return BigInt(value)
}

function roman(value: number): string {
  if (value < 1 || value > 3999) throw new Problem('Roman numerals go from 1 to 3999')
  let rest = value
  return numerals.map(([numeral, worth]) => {
    const times = Math.floor(rest / worth)
    rest -= times * worth
    return numeral.repeat(times)
  }).join('')
}

function inBase(expression: string, value: bigint, base: number): Calculation {
  const digits = base === 0 ? roman(Number(value)) : (value < 0n ? -value : value).toString(base)
  const prefix = base === 16 ? '0x' : base === 8 ? '0o' : base === 2 ? '0b' : ''
  const unit = base === 0 || base === 10 || prefix !== '' ? '' : ` (base ${base})`
  const result = `${value < 0n ? '-' : ''}${prefix}${digits}${unit}`
  return { expression, result, exact: true, value: Number(value), unit: '' }
}
