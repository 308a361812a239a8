/**
 * Keywords for any value: `type`, `enum`, `const` (2020-12 validation §6.1).
 */
import type { Fault } from '../error.ts'
import type { Rule, Site } from '../rule.ts'
import type { Check } from '../run.ts'
import { equal } from '../equal.ts'
import { list, show } from '../error.ts'
import * as kind from '../kind.ts'
import { isObject, rule } from '../rule.ts'

const names: readonly unknown[] = ['string', 'number', 'boolean', 'integer', 'object', 'array', 'null']
const others: ReadonlyMap<unknown, (fault: Fault) => Check> = new Map<unknown, (fault: Fault) => Check>([
  ['integer', (fault) => (value, run) => Number.isInteger(value) || run.fails(fault, value)],
  ['object', (fault) => (value, run) => isObject(value) || run.fails(fault, value)],
  ['array', (fault) => (value, run) => Array.isArray(value) || run.fails(fault, value)],
  ['null', (fault) => (value, run) => value === null || run.fails(fault, value)],
])

export const type: Rule = rule(kind.type, (site, value) => {
  const chosen = [value].flat()
  const wrong = chosen.length > 0 ? chosen.find((name) => !names.includes(name)) : []
  if (wrong !== undefined) {
    throw site.broken(`${show(wrong)} is not a type; write one of ${list(names)}, or an array of them`)
  }
  const phrases = chosen.map((name) => name === 'null' ? name : `a ${name}`.replace(/ (?=[aio])/, 'n '))
  const fault = site.fault(`must be ${phrases.join(' or ')}`, value)
  const checks = chosen.map((name): Check => others.get(name)?.(fault)
    ?? ((one, run) => typeof one === name || run.fails(fault, one)))
  const [only] = checks
  if (only && checks.length === 1) return only
  return (one, run) => checks.some((check) => run.holds(check, one)) || run.fails(fault, one)
}, 'first')

const enumeration: Rule = rule(kind.list, (site, values) =>
  among(site, values, `one of ${list(values)}`, values))
const constant: Rule = rule(kind.anything, (site, value) => among(site, [value], show(value), value))

export { enumeration as enum, constant as const }

function among(site: Site, values: readonly unknown[], phrase: string, expected: unknown): Check {
  const fault = site.fault(`must be ${phrase}`, expected)
  const simple = new Set(values)
  const deep = values.filter((value) => typeof value === 'object')
  return (value, run) => simple.has(value) || deep.some((one) => equal(one, value)) || run.fails(fault, value)
}
