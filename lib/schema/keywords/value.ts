/**
 * Keywords for any value: `type`, `enum`, `const` (2020-12 validation §6.1).
 */
import type { Check } from '../run.ts'
import { equal } from '../equal.ts'
import { list, show } from '../error.ts'
import * as kind from '../kind.ts'
import { isObject, type Rule, rule, type Site } from '../rule.ts'

type Type = [phrase: string, test: (value: unknown) => boolean]

const types: ReadonlyMap<unknown, Type> = new Map<unknown, Type>([
  ['string', ['a string', (value) => typeof value === 'string']],
  ['number', ['a number', (value) => typeof value === 'number']],
  ['integer', ['an integer', Number.isInteger]],
  ['boolean', ['a boolean', (value) => typeof value === 'boolean']],
  ['object', ['an object', isObject]],
  ['array', ['an array', Array.isArray]],
  ['null', ['null', (value) => value === null]],
])

export const type: Rule = rule(kind.type, (site, value) => {
  const chosen = [value].flat().map((name) => {
    const found = types.get(name)
    if (found) return found
    throw site.broken(`${show(name)} is not a type; write one of ${list([...types.keys()])}, or an array of them`)
  })
  const fault = site.fault(`must be ${chosen.map(([phrase]) => phrase).join(' or ')}`, value)
  const [only] = chosen
  if (!only) throw site.broken('"type" must not be empty; leave it out to allow every type')
  const test: Type[1] = chosen.length === 1 ? only[1] : (value) => chosen.some(([, test]) => test(value))
  return (value, run) => test(value) || run.fails(fault, value)
}, 'first')

const enumeration: Rule = rule(kind.list, (site, values) => among(site, values, `one of ${list(values)}`, values))
const constant: Rule = rule(kind.anything, (site, value) => among(site, [value], show(value), value))

export { enumeration as enum, constant as const }

function among(site: Site, values: readonly unknown[], phrase: string, expected: unknown): Check {
  const fault = site.fault(`must be ${phrase}`, expected)
  const simple = new Set(values)
  const deep = values.filter((value) => typeof value === 'object' && value !== null)
  return (value, run) => simple.has(value) || deep.some((one) => equal(one, value)) || run.fails(fault, value)
}
