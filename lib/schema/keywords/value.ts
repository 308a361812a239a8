/** Keywords for any value, and for what is in a string (2020-12 validation §6.1, §6.3.3, §7). */
import { isAmong } from '../equal.ts'
import { list, phraseOf } from '../error.ts'
import { formats } from '../format.ts'
import { CHARACTER, pass, STEP } from '../run.ts'
import * as kind from '../kind.ts'
import { patternAt } from '../pattern.ts'
import { isObject, rule } from '../rule.ts'
import type { Rule, Site } from '../rule.ts'
import type { Check } from '../run.ts'

/** What JSON does not have, as NaN, is of no type. */
const types: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map([
  ['string', (value) => typeof value === 'string'],
  ['number', Number.isFinite],
  ['boolean', (value) => typeof value === 'boolean'],
  ['integer', Number.isInteger],
  ['object', isObject],
  ['array', Array.isArray],
  ['null', (value) => value === null],
])

export const type: Rule = rule(kind.simpleTypes, (site, value, others) => {
  const names = [value].flat()
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
  among(site, values, `one of ${list(values)}`, values))
const constant: Rule = rule(kind.anything, (site, value) => among(site, [value], phraseOf(value), value))

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

function among(site: Site, values: readonly unknown[], phrase: string, expected: unknown): Check {
  const failure = site.failure(`must be ${phrase}`, expected)
  const is = isAmong(values)
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
