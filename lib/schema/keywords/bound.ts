/**
 * Keywords that bound a number, or how much there is of something (2020-12 validation §6.2 to §6.5).
 */
import type { Rule } from '../rule.ts'
import { count } from '../error.ts'
import * as kind from '../kind.ts'
import { isObject, rule } from '../rule.ts'

/** How much there is of a value, or nothing where the keyword says nothing about its type. */
type Measure = (value: unknown, limit: number) => number | undefined
type Compare = (size: number, limit: number) => boolean

const number: Measure = (value) => typeof value === 'number' ? value : undefined
const items: Measure = (value) => Array.isArray(value) ? value.length : undefined
const properties: Measure = (value) => isObject(value) ? Object.keys(value).length : undefined
const characters: Measure = (value, limit) => {
  if (typeof value !== 'string') return undefined
  // A character is a code point, one or two UTF-16 units, so most strings need no counting.
  const { length } = value
  return length < limit || length > 2 * limit ? length
    : value.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '.').length
}

const isAtMost: Compare = (size, limit) => size <= limit
const isAtLeast: Compare = (size, limit) => size >= limit

const bound = (measure: Measure, holds: Compare, phrase: string, noun?: string): Rule =>
  rule(noun ? kind.count : kind.number, (site, limit) => {
    const fault = site.fault(`must ${phrase} ${noun ? count(limit, noun) : limit}`, limit)
    return (value, run) => {
      const size = measure(value, limit)
      return size === undefined || holds(size, limit) || run.fails(fault, value)
    }
  })
const most = (measure: Measure, noun: string): Rule => bound(measure, isAtMost, 'have at most', noun)
const least = (measure: Measure, noun: string): Rule => bound(measure, isAtLeast, 'have at least', noun)

export const maximum: Rule = bound(number, isAtMost, 'be at most')
export const minimum: Rule = bound(number, isAtLeast, 'be at least')
export const exclusiveMaximum: Rule = bound(number, (size, limit) => size < limit, 'be less than')
export const exclusiveMinimum: Rule = bound(number, (size, limit) => size > limit, 'be greater than')
export const maxLength: Rule = most(characters, 'character')
export const minLength: Rule = least(characters, 'character')
export const maxItems: Rule = most(items, 'item')
export const minItems: Rule = least(items, 'item')
export const maxProperties: Rule = most(properties, 'property')
export const minProperties: Rule = least(properties, 'property')

export const multipleOf: Rule = rule(kind.positive, (site, divisor) => {
  const fault = site.fault(`must be a multiple of ${divisor}`, divisor)
  return (value, run) => typeof value !== 'number' || isMultiple(value, divisor) || run.fails(fault, value)
})

/** As people write them: 19.99 is a multiple of 0.01, although neither has an exact binary form. */
function isMultiple(value: number, divisor: number): boolean {
  // The remainder of two integers is exact, however large they are.
  if (!Number.isFinite(value) || Number.isInteger(divisor)) return value % divisor === 0
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
