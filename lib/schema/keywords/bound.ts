/**
 * Keywords that bound a number, or how much there is of something (2020-12 validation §6.2 to §6.5). Every
 * bound is a range that is open on one side.
 */
import type { Fault } from '../error.ts'
import type { Rule } from '../rule.ts'
import type { Check } from '../run.ts'
import { count } from '../error.ts'
import * as kind from '../kind.ts'
import { isObject, rule } from '../rule.ts'

/** Makes the check that a value is in a range, or is of a type that the range says nothing about. */
type Range = (low: number, high: number, fault: Fault) => Check

const number: Range = (low, high, fault) => (value, run) =>
  typeof value !== 'number' || (value >= low && value <= high) || run.fails(fault, value)
const between: Range = (low, high, fault) => (value, run) =>
  typeof value !== 'number' || (value > low && value < high) || run.fails(fault, value)
const items: Range = (low, high, fault) => (value, run) =>
  !Array.isArray(value) || (value.length >= low && value.length <= high) || run.fails(fault, value)
const properties: Range = (low, high, fault) => (value, run) => {
  const size = isObject(value) ? Object.keys(value).length : low
  return (size >= low && size <= high) || run.fails(fault, value)
}
const characters: Range = (low, high, fault) => (value, run) => {
  // A character is a code point, one or two UTF-16 units, so most strings need no counting.
  if (typeof value !== 'string' || (value.length >= 2 * low && value.length <= high)) return true
  const size = value.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '.').length
  return (size >= low && size <= high) || run.fails(fault, value)
}

const bound = (range: Range, isHigh: boolean, phrase: string, noun?: string): Rule =>
  rule(noun ? kind.count : kind.number, (site, limit) => {
    const fault = site.fault(`must ${phrase} ${noun ? count(limit, noun) : limit}`, limit)
    return isHigh ? range(noun ? 0 : -Infinity, limit, fault) : range(limit, Infinity, fault)
  })

export const maximum: Rule = bound(number, true, 'be at most')
export const minimum: Rule = bound(number, false, 'be at least')
export const exclusiveMaximum: Rule = bound(between, true, 'be less than')
export const exclusiveMinimum: Rule = bound(between, false, 'be greater than')
export const maxLength: Rule = bound(characters, true, 'have at most', 'character')
export const minLength: Rule = bound(characters, false, 'have at least', 'character')
export const maxItems: Rule = bound(items, true, 'have at most', 'item')
export const minItems: Rule = bound(items, false, 'have at least', 'item')
export const maxProperties: Rule = bound(properties, true, 'have at most', 'property')
export const minProperties: Rule = bound(properties, false, 'have at least', 'property')

export const multipleOf: Rule = rule(kind.positive, (site, divisor) => {
  const fault = site.fault(`must be a multiple of ${divisor}`, divisor)
  return (value, run) => typeof value !== 'number' || isMultiple(value, divisor) || run.fails(fault, value)
})

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
