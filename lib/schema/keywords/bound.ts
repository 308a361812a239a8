/** Keywords that bound a number, or how much there is of something (2020-12 validation §6.2 to §6.5). */
import { count } from '../error.ts'
import { CHARACTER, namesOf, STEP } from '../run.ts'
import * as kind from '../kind.ts'
import { isObject, rule } from '../rule.ts'
import type { Fuel } from '../run.ts'
import type { Rule } from '../rule.ts'

/** Comparing two numbers as decimals, and each digit that one of them has more than the other. */
const DECIMAL = 8 * STEP
const DIGIT = 2

/** How much there is of a value, or nothing where the keyword is not for its type. */
type Measure = (value: unknown, limit: number, fuel: Fuel) => number | undefined
type Compare = (size: number, limit: number) => boolean

export const maximum: Rule = bound(number, isAtMost, 'be at most')
export const minimum: Rule = bound(number, isAtLeast, 'be at least')
export const exclusiveMaximum: Rule = bound(number, (size, limit) => size < limit, 'be less than')
export const exclusiveMinimum: Rule = bound(number, (size, limit) => size > limit, 'be greater than')
export const maxLength: Rule = bound(characters, isAtMost, 'have at most', 'character')
export const minLength: Rule = bound(characters, isAtLeast, 'have at least', 'character')
export const maxItems: Rule = bound(items, isAtMost, 'have at most', 'item')
export const minItems: Rule = bound(items, isAtLeast, 'have at least', 'item')
export const maxProperties: Rule = bound(properties, isAtMost, 'have at most', 'property')
export const minProperties: Rule = bound(properties, isAtLeast, 'have at least', 'property')

export const multipleOf: Rule = rule(kind.positive, (site, divisor) => {
  const failure = site.failure(`must be a multiple of ${divisor}`, divisor)
  return (value, run) => (
    typeof value !== 'number' || isMultiple(value, divisor, run) || run.fails(failure, value)
  )
})

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function items(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined
}

function properties(value: unknown, _: number, fuel: Fuel): number | undefined {
  return isObject(value) ? namesOf(value, fuel).length : undefined
}

function characters(value: unknown, limit: number, fuel: Fuel): number | undefined {
  if (typeof value !== 'string') return undefined
  const { length } = value
  // A character is a code point, one or two UTF-16 units, so most strings need no counting.
  if (length < limit || length > 2 * limit) return length
  fuel.pay(length * CHARACTER)
  let size = 0
  for (const _ of value) size++
  return size
}

function isAtMost(size: number, limit: number): boolean {
  return size <= limit
}

function isAtLeast(size: number, limit: number): boolean {
  return size >= limit
}

/** A bound of a number itself, or, where there is a noun, of how many of these there are. */
function bound(measure: Measure, holds: Compare, phrase: string, noun?: string): Rule {
  return rule(noun === undefined ? kind.number : kind.nonNegativeInteger, (site, limit) => {
    const failure = site.failure(`must ${phrase} ${noun === undefined ? limit : count(limit, noun)}`, limit)
    return (value, run) => {
      const size = measure(value, limit, run)
      return size === undefined || holds(size, limit) || run.fails(failure, value)
    }
  })
}

/** As people write them: 19.99 is a multiple of 0.01, although neither has an exact binary form. */
function isMultiple(value: number, divisor: number, fuel: Fuel): boolean {
  // The remainder of two integers is exact, however large they are.
  if (!Number.isFinite(value) || Number.isInteger(divisor)) return value % divisor === 0
  const [digits, scale] = decimal(value)
  const [unit, unitScale] = decimal(divisor)
  const common = Math.max(scale, unitScale)
  fuel.pay(DECIMAL + (2 * common - scale - unitScale) * DIGIT)
  return (digits * 10n ** BigInt(common - scale)) % (unit * 10n ** BigInt(common - unitScale)) === 0n
}

/** A number as an integer, and how many of its digits come after the point. */
function decimal(number: number): [digits: bigint, scale: number] {
  const [mantissa = '', exponent = '0'] = String(number).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return [BigInt(whole + fraction), fraction.length - Number(exponent)]
}
