/**
 * Keywords for any value, and for what is in a string (2020-12 validation §6.1, §6.3.3, §7).
 */
import { isAmong } from '../equal.ts'
import { list, show } from '../error.ts'
import { formats } from '../format.ts'
import { CHARACTER } from '../fuel.ts'
import * as kind from '../kind.ts'
import { patternAt } from '../pattern.ts'
import { isObject, rule } from '../rule.ts'
import type { Matches } from '../automaton.ts'
import type { Rule, Site } from '../rule.ts'
import type { Check } from '../run.ts'

const types: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['boolean', (value) => typeof value === 'boolean'],
  ['integer', Number.isInteger],
  ['object', isObject],
  ['array', Array.isArray],
  ['null', (value) => value === null],
])

export const type: Rule = rule(kind.type, (site, value, others) => {
  const names = [value].flat()
  const [first, ...more] = names.flatMap((name) => types.get(name) ?? [])
  if (!first || more.length + 1 < names.length) {
    throw site.broken(`${show(value)} is not a type; write one of ${list([...types.keys()])}, or several`)
  }
  const phrases = names.map((name) => name === 'null' ? name : `a ${name}`.replace(/ (?=[aio])/, 'n '))
  const fault = site.fault(`must be ${phrases.join(' or ')}`, value)
  const is = more.length > 0 ? (one: unknown) => first(one) || more.some((test) => test(one)) : first
  return (one, run) => is(one) ? others(one, run) : run.fails(fault, one)
}, 'gate')

const enumeration: Rule = rule(kind.list, (site, values) =>
  among(site, values, `one of ${list(values)}`, values))
const constant: Rule = rule(kind.anything, (site, value) => among(site, [value], show(value), value))

export { enumeration as enum, constant as const }

export const pattern: Rule = rule(kind.regex, (site, source) =>
  text(site, patternAt(site, source), `match the pattern ${source}`, source))

/** Asserted where the option `formats` is set. */
export const format: Rule = rule(kind.string, (site, name) =>
  site.limits.formats ? formatted(site, name) : undefined)
/** Asserted always. */
export const formatAssertion: Rule = rule(kind.string, formatted)

function among(site: Site, values: readonly unknown[], phrase: string, expected: unknown): Check {
  const fault = site.fault(`must be ${phrase}`, expected)
  const is = isAmong(values)
  return (value, run) => is(value, run) || run.fails(fault, value)
}

function text(site: Site, test: Matches, phrase: string, expected: string): Check {
  const fault = site.fault(`must ${phrase}`, expected)
  return (value, run) => typeof value !== 'string' || test(value, run) || run.fails(fault, value)
}

function formatted(site: Site, name: string): Check | undefined {
  const test = formats.get(name)
  if (test === undefined) return undefined
  const isValid: Matches = (value, fuel) => fuel.pays(1 + value.length * CHARACTER) && test(value, fuel)
  const phrase = name === 'regex' ? 'regex of at most 1,000 characters' : name
  return text(site, isValid, `be a valid ${phrase}`, name)
}
