/**
 * Keywords for the items of arrays (2020-12 applicator §10.3.1, validation §6.4; draft-07 §6.4).
 */
import type { Rule, Site } from '../rule.ts'
import type { Check } from '../run.ts'
import { isUnique } from '../equal.ts'
import { count } from '../error.ts'
import * as kind from '../kind.ts'
import { all, rule } from '../rule.ts'

export const prefixItems: Rule = rule(kind.schemas, leading)
export const items: Rule = rule(kind.itemSchema, (site, schema) =>
  each(site, schema, lengthOf(site.beside('prefixItems'), 0)))
export const unevaluatedItems: Rule = rule(kind.schema, (site, schema) =>
  each(site, schema, 0, Infinity, true), 'last')

/** draft-07: one schema for all items, or one for each of the first. */
export const itemsOrTuple: Rule = rule(kind.schemaOrList, (site, value) =>
  Array.isArray(value) ? leading(site, value) : each(site, value, 0))
/** draft-07: what follows a tuple. */
export const additionalItems: Rule = rule(kind.schema, (site, schema) =>
  each(site, schema, lengthOf(site.beside('items'), Infinity)))

export const contains: Rule = rule(kind.schema, (site, schema) => {
  const least = Number(site.beside('minContains') ?? 1)
  const most = Number(site.beside('maxContains') ?? Infinity)
  const check = site.part(schema, 'contains')
  const few = site.fault(`must have at least ${count(least, 'matching item')}`, least)
  const many = site.fault(`must have at most ${count(most, 'matching item')}`, most)
  return (value, run) => {
    if (!Array.isArray(value)) return true
    run.steps += value.length
    const found = [...value.keys()].filter((index) => run.holds(check, value[index]))
    if (site.tracks) run.seen = run.seen.concat(found)
    return found.length < least ? run.fails(few, value) : found.length <= most || run.fails(many, value)
  }
})
/** Read by `contains`. */
const containsBound: Rule = rule(kind.count)

export const uniqueItems: Rule = rule(kind.flag, (site, unique) => {
  const fault = site.fault('must not have equal items')
  return (value, run) => !unique || !Array.isArray(value) || isUnique(value) || run.fails(fault, value)
})

export { containsBound as minContains, containsBound as maxContains }

function leading(site: Site, schemas: readonly unknown[]): Check {
  return all(schemas.map((schema, index) => each(site, schema, index, index + 1, false, index)))
}

/** Checks the items between two indexes, or those of them that nothing has evaluated. */
function each(
  site: Site, schema: unknown, start: number, end = Infinity, unseen = false, ...steps: number[]
): Check {
  const check = site.part(schema, site.keyword, ...steps)
  return (value, run) => {
    if (!Array.isArray(value)) return true
    const stop = Math.min(end, value.length)
    const seen = unseen && new Set(run.seen)
    run.steps += stop
    for (let index = start; index < stop; index++) {
      if (seen && seen.has(index)) continue
      if (site.tracks) run.seen.push(index)
      if (!run.visit(check, value[index], index)) return false
    }
    return true
  }
}

function lengthOf(value: unknown, otherwise: number): number {
  return Array.isArray(value) ? value.length : otherwise
}
