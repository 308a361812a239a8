/**
 * Keywords for any value and for what is in a string, and those that bound a number, or how much there is of
 * something (2020-12 validation §6.1 to §6.5, §7).
 */
import { isRecord } from '../../util/record.ts'
import { isAmong } from '../equal.ts'
import { count, list, phraseOf } from '../error.ts'
import { formats } from '../format.ts'
import { CHARACTER, LIGHT, namesOf, pass, STEP } from '../evaluation.ts'
import * as kind from '../kind.ts'
import { patternAt } from '../pattern.ts'
import { rule } from '../rule.ts'
import type { Rule, Site } from '../rule.ts'
import type { Check, Fuel } from '../evaluation.ts'

/** Comparing two numbers as decimals, and each digit that one of them has more than the other. */
const DECIMAL = 8 * STEP
const DIGIT = 2

/** How much there is of a value, or nothing where the keyword is not for its type. */
type Measure = (value: unknown, limit: number, fuel: Fuel) => number | undefined
type Compare = (size: number, limit: number) => boolean

/** What JSON does not have, as NaN, is of no type. */
const types: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map([
  ['string', (value) => typeof value === 'string'],
  ['number', Number.isFinite],
  ['boolean', (value) => typeof value === 'boolean'],
  ['integer', Number.isInteger],
  ['object', isRecord],
  ['array', Array.isArray],
  ['null', (value) => value === null],
])

export const type: Rule = rule(kind.simpleTypes, (site, value, others) => {
  if (Array.isArray(value)) site.pay(value.length * LIGHT)
  const names = [...new Set([value].flat())]
  const tests = names.flatMap((name) => types.get(name) ?? [])
  const [first] = tests
  if (first === undefined || tests.length < names.length) {
    throw site.broken(`${phraseOf(value)} is not a type; write one of ${list([...types.keys()])}, or several`)
  }
  const failure = site.failure(`must be ${names.map(nounOf).join(' or ')}`, value)
  const is = tests.length > 1 ? anyOf(tests) : first
  if (others === pass) return (one, run) => is(one) || run.fails(failure, one)
  return (one, run) => is(one) ? others(one, run) : run.fails(failure, one)
}, 'gate')

function anyOf(tests: readonly ((value: unknown) => boolean)[]): (value: unknown) => boolean {
  return (value) => tests.some((test) => test(value))
}

function nounOf(name: unknown): string {
  if (name === 'null') return name
  return name === 'array' || name === 'integer' || name === 'object' ? `an ${name}` : `a ${name}`
}

const enumeration: Rule = rule(kind.array, (site, values) =>
  among(site, values, `one of ${list(values, (object) => site.namesOf(object))}`, values))
const constant: Rule = rule(kind.anything, (site, value) =>
  among(site, [value], phraseOf(value, (object) => site.namesOf(object)), value))

export { enumeration as enum, constant as const }

export const pattern: Rule = rule(kind.regex, (site, source) => {
  const matches = patternAt(site, source)
  const failure = site.failure(`must match the pattern ${source}`, source)
  return (value, run) => typeof value !== 'string' || matches(value, run) || run.fails(failure, value)
})

/** Asserted where the option `formats` is set. */
export const format: Rule = rule(kind.string, (site, name) =>
  site.limits.formats ? formatted(site, name) : undefined)
/** Asserted always. */
export const formatAssertion: Rule = rule(kind.string, formatted)

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

function among(site: Site, values: readonly unknown[], phrase: string, expected: unknown): Check {
  const failure = site.failure(`must be ${phrase}`, expected)
  const is = isAmong(values, site)
  return (value, run) => is(value, run) || run.fails(failure, value)
}

function formatted(site: Site, name: string): Check | undefined {
  const test = formats.get(name)
  if (test === undefined) return undefined
  const phrase = name === 'regex' ? 'regex of at most 1,000 characters' : name
  const failure = site.failure(`must be a valid ${phrase}`, name)
  return (value, run) => {
    if (typeof value !== 'string') return true
    run.pay(STEP + value.length * CHARACTER)
    return test(value, run) || run.fails(failure, value)
  }
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function items(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined
}

function properties(value: unknown, _: number, fuel: Fuel): number | undefined {
  return isRecord(value) ? namesOf(value, fuel).length : undefined
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
