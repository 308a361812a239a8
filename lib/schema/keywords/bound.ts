/**
 * Keywords that bound a number, or how much there is of something (2020-12 validation §6.2 to §6.5). A rule is made of
 * what is measured, how it is compared, and the phrase for it.
 */
import type { Rule } from '../rule.ts'
import { count } from '../error.ts'
import * as kind from '../kind.ts'
import { isObject, rule } from '../rule.ts'

/** A value's measure; undefined where it has none and every bound holds. */
type Measure = (value: unknown) => number | undefined
type Compare = (measure: number, limit: number) => boolean

const atMost: Compare = (measure, limit) => measure <= limit
const atLeast: Compare = (measure, limit) => measure >= limit
const number: Measure = (value) => typeof value === 'number' ? value : undefined
const items: Measure = (value) => Array.isArray(value) ? value.length : undefined
const properties: Measure = (value) => isObject(value) ? Object.keys(value).length : undefined
/** Characters are code points, of which some take two UTF-16 units. */
const characters: Measure = (value) => {
  if (typeof value !== 'string') return undefined
  let { length } = value
  for (let at = 1; at < value.length; at++) {
    if ((value.charCodeAt(at) & 0xfc00) === 0xdc00 && (value.charCodeAt(at - 1) & 0xfc00) === 0xd800) length--
  }
  return length
}

export const maximum: Rule = bound(number, atMost, 'at most')
export const minimum: Rule = bound(number, atLeast, 'at least')
export const exclusiveMaximum: Rule = bound(number, (value, limit) => value < limit, 'less than')
export const exclusiveMinimum: Rule = bound(number, (value, limit) => value > limit, 'greater than')
export const multipleOf: Rule = bound(number, isMultiple, 'a multiple of')
export const maxLength: Rule = bound(characters, atMost, 'at most', 'character')
export const minLength: Rule = bound(characters, atLeast, 'at least', 'character')
export const maxItems: Rule = bound(items, atMost, 'at most', 'item')
export const minItems: Rule = bound(items, atLeast, 'at least', 'item')
export const maxProperties: Rule = bound(properties, atMost, 'at most', 'property')
export const minProperties: Rule = bound(properties, atLeast, 'at least', 'property')

function bound(measure: Measure, compare: Compare, phrase: string, noun?: string): Rule {
  return rule(noun ? kind.count : compare === isMultiple ? kind.positive : kind.number, (site, limit) => {
    const fault = site.fault(noun ? `must have ${phrase} ${count(limit, noun)}` : `must be ${phrase} ${limit}`, limit)
    return (value, run) => {
      const measured = measure(value)
      return measured === undefined || compare(measured, limit) || run.fails(fault, value)
    }
  })
}

/** As people write them: 19.99 is a multiple of 0.01, although neither has an exact binary form. */
function isMultiple(value: number, divisor: number): boolean {
  // The remainder of two integers is exact, however large they are.
  if (Number.isInteger(divisor)) return value % divisor === 0
  const [digits, scale] = decimal(value)
  const [unit, unitScale] = decimal(divisor)
  const common = Math.max(scale, unitScale)
  return (digits * 10n ** BigInt(common - scale)) % (unit * 10n ** BigInt(common - unitScale)) === 0n
}

/** A number as an integer, and how many of its digits come after the point. */
function decimal(number: number): [digits: bigint, scale: number] {
  const [mantissa = '', exponent = '0'] = String(number).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return [BigInt(whole + fraction), fraction.length - Number(exponent)]
}
