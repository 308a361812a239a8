/** Keywords for the items of arrays (2020-12 applicator §10.3.1, validation §6.4; draft-07 §6.4). */
import { isUnique } from '../equal.ts'
import { count } from '../error.ts'
import { all, EVALUATED, LIGHT } from '../evaluation.ts'
import * as kind from '../kind.ts'
import { rule } from '../rule.ts'
import type { Rule, Site } from '../rule.ts'
import type { Check } from '../evaluation.ts'

export const prefixItems: Rule = rule(kind.schemaArray, leading)

export const items: Rule = rule(kind.itemSchema, (site, schema) =>
  eachItem(site, site.part(schema, 'items'), lengthOf(site.beside('prefixItems')) ?? 0))

export const unevaluatedItems: Rule = rule(kind.schema, (site, schema) => {
  const check = site.part(schema, site.keyword)
  const { tracks } = site
  return (value, run) => {
    if (!Array.isArray(value)) return true
    run.pay(run.evaluated.length * EVALUATED)
    const known = new Set(run.evaluated)
    for (let index = 0; index < value.length; index++) {
      run.pay(LIGHT)
      if (known.has(index)) continue
      if (tracks) run.evaluated.push(index)
      if (!run.checkPart(check, value[index], index)) return false
    }
    return true
  }
}, 'last')

/** draft-07: one schema for all items, or one for each of the first. */
export const itemsOrTuple: Rule = rule(kind.schemaOrList, (site, value) =>
  Array.isArray(value) ? leading(site, value) : eachItem(site, site.part(value, 'items'), 0))

/** draft-07: what follows a tuple. */
export const additionalItems: Rule = rule(kind.schema, (site, schema) => {
  const check = site.part(schema, site.keyword)
  const start = lengthOf(site.beside('items'))
  return start === undefined ? undefined : eachItem(site, check, start)
})

export const contains: Rule = rule(kind.schema, (site, schema) => {
  const least = Number(site.beside('minContains') ?? 1)
  const most = Number(site.beside('maxContains') ?? Infinity)
  const check = site.part(schema, 'contains')
  const { tracks } = site
  // Who reads what was evaluated needs all items that match.
  const enough = tracks ? Infinity : most === Infinity ? least : most + 1
  const few = site.failure(`must have at least ${count(least, 'matching item')}`, least)
  const many = site.failure(`must have at most ${count(most, 'matching item')}`, most)
  return (value, run) => {
    if (!Array.isArray(value)) return true
    let found = 0
    for (let index = 0; index < value.length && found < enough; index++) {
      run.pay(LIGHT)
      if (!run.holds(check, value[index])) continue
      found++
      if (tracks) run.evaluated.push(index)
    }
    if (found < least) return run.fails(few, value)
    return found <= most || run.fails(many, value)
  }
})

/** Read by `contains`. */
const containsBound: Rule = rule(kind.nonNegativeInteger)

export { containsBound as minContains, containsBound as maxContains }

export const uniqueItems: Rule = rule(kind.flag, (site, unique) => {
  if (!unique) return undefined
  const failure = site.failure('must not have equal items')
  return (value, run) => !Array.isArray(value) || isUnique(value, run) || run.fails(failure, value)
})

function leading(site: Site, schemas: readonly unknown[]): Check {
  return all(schemas.map((schema, index) =>
    eachItem(site, site.part(schema, site.keyword, index), index, index + 1)))
}

function eachItem({ tracks }: Site, check: Check, start: number, end: number = Infinity): Check {
  const cost = tracks ? EVALUATED : LIGHT
  return (value, run) => {
    if (!Array.isArray(value)) return true
    const stop = Math.min(end, value.length)
    for (let index = start; index < stop; index++) {
      run.pay(cost)
      if (tracks) run.evaluated.push(index)
      if (!run.checkPart(check, value[index], index)) return false
    }
    return true
  }
}

function lengthOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined
}
