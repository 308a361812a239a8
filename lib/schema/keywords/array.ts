/**
 * Keywords for the items of arrays (2020-12 applicator §10.3.1, validation §6.4.3 to §6.4.5; draft-07 §6.4).
 */
import type { Rule, Site } from '../rule.ts'
import type { Check } from '../run.ts'
import { isUnique } from '../equal.ts'
import { count } from '../error.ts'
import * as kind from '../kind.ts'
import { all, PART, PROBE, rule } from '../rule.ts'

export const prefixItems: Rule = rule(kind.schemas, leading)

export const items: Rule = rule(kind.schema, (site, schema) => {
  const { prefixItems } = site.schema
  return each(site, schema, Array.isArray(prefixItems) ? prefixItems.length : 0)
})

/** draft-07: one schema for all items, or one for each of the first. */
export const itemsOrTuple: Rule = rule(kind.schemaOrList, (site, value) =>
  Array.isArray(value) ? leading(site, value) : each(site, value, 0))

/** draft-07: what follows a tuple. */
export const additionalItems: Rule = rule(kind.schema, (site, schema) => {
  const { items } = site.schema
  return each(site, schema, Array.isArray(items) ? items.length : Infinity)
})

export const unevaluatedItems: Rule = rule(kind.schema, (site, schema) => each(site, schema, 0, true), 'last')

export const contains: Rule = rule(kind.schema, (site, schema) => {
  const { minContains = 1, maxContains = Infinity } = site.schema
  return containing(site, schema, Number(minContains), Number(maxContains))
})

/** draft-07: at least one. */
export const containsOne: Rule = rule(kind.schema, (site, schema) => containing(site, schema, 1, Infinity))

/** Read by `contains`. */
const containsBound: Rule = rule(kind.count)

export const uniqueItems: Rule = rule(kind.boolean, (site, unique) => {
  const fault = site.fault('must not have equal items')
  return (value, run) => !unique || !Array.isArray(value) || isUnique(value) || run.fails(fault, value)
})

export { containsBound as minContains, containsBound as maxContains }

function leading(site: Site, schemas: readonly unknown[]): Check {
  return all(schemas.map((schema, index) => each(site, schema, index, false, index)))
}

/** The items from one index to another, or of those the ones that nothing has evaluated. */
function each(site: Site, schema: unknown, start: number, unseen = false, end?: number): Check {
  const { keyword, tracks } = site
  const check = site.check(PART, schema, ...end === undefined ? [keyword] : [keyword, end])
  return (value, run) => {
    if (!Array.isArray(value)) return true
    const seen = unseen && new Set(run.seen)
    for (let index = start; index < value.length; index++) {
      if (index > (end ?? index)) break
      run.steps++
      if (seen && seen.has(index)) continue
      if (tracks) run.seen.push(index)
      if (!run.visit(check, value[index], index)) return false
    }
    return true
  }
}

function containing(site: Site, schema: unknown, least: number, most: number): Check {
  const check = site.check(PROBE, schema, site.keyword)
  const few = site.fault(`must have at least ${count(least, 'matching item')}`, least)
  const many = site.fault(`must have at most ${count(most, 'matching item')}`, most)
  return (value, run) => {
    if (!Array.isArray(value)) return true
    run.steps += value.length
    const found = [...value.keys()].filter((index) => run.holds(check, value[index]))
    if (site.tracks) run.seen.push(...found)
    return found.length < least ? run.fails(few, value) : found.length <= most || run.fails(many, value)
  }
}
