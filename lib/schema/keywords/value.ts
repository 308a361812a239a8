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

type Gate = (fault: Fault, others: Check | undefined) => Check

const names: readonly unknown[] = ['string', 'number', 'boolean', 'integer', 'object', 'array', 'null']
/** The types that `typeof` does not tell. Each has a check of its own, which is the quickest. */
const gates: ReadonlyMap<unknown, Gate> = new Map<unknown, Gate>([
  ['integer', (fault, others) => (value, run) =>
    Number.isInteger(value) ? !others || others(value, run) : run.fails(fault, value)],
  ['object', (fault, others) => (value, run) =>
    isObject(value) ? !others || others(value, run) : run.fails(fault, value)],
  ['array', (fault, others) => (value, run) =>
    Array.isArray(value) ? !others || others(value, run) : run.fails(fault, value)],
  ['null', (fault, others) => (value, run) =>
    value === null ? !others || others(value, run) : run.fails(fault, value)],
])
const primitive = (name: unknown): Gate => (fault, others) => (value, run) =>
  typeof value === name ? !others || others(value, run) : run.fails(fault, value)

export const type: Rule = rule(kind.type, (site, value, others) => {
  const chosen = [value].flat()
  const wrong = chosen.length > 0 ? chosen.find((name) => !names.includes(name)) : []
  if (wrong !== undefined) {
    throw site.broken(`${show(wrong)} is not a type; write one of ${list(names)}, or an array of them`)
  }
  const phrases = chosen.map((name) => name === 'null' ? name : `a ${name}`.replace(/ (?=[aio])/, 'n '))
  const fault = site.fault(`must be ${phrases.join(' or ')}`, value)
  const [only = primitive(''), ...more] = chosen.map((name) => gates.get(name) ?? primitive(name))
  if (more.length === 0) return only(fault, others)
  const checks = [only, ...more].map((gate) => gate(fault, undefined))
  return (one, run) =>
    checks.some((check) => run.holds(check, one)) ? !others || others(one, run) : run.fails(fault, one)
}, 'gate')

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
