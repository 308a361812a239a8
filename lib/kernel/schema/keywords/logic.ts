/**
 * Keywords that apply schemas to the same value (2020-12 applicator §10.2, core §8), and those that assert
 * nothing. Identifiers are read when a document is taken apart; here only their kind is checked.
 */
import { all, LIGHT } from '../evaluation.ts'
import * as kind from '../kind.ts'
import { rule } from '../rule.ts'
import type { Rule, Site } from '../rule.ts'
import type { Check } from '../evaluation.ts'

export const allOf: Rule = rule(kind.schemaArray, (site, schemas) => all(branches(site, schemas)))
export const anyOf: Rule = rule(kind.schemaArray, (site, schemas) => choice(site, schemas, 1))
export const oneOf: Rule = rule(kind.schemaArray, (site, schemas) => choice(site, schemas, 2))

export const not: Rule = rule(kind.schema, (site, schema) => {
  const check = site.same(schema, 'not')
  const failure = site.failure('matches what "not" forbids')
  return (value, run) => !run.holds(check, value) || run.fails(failure, value)
})

const condition: Rule = rule(kind.schema, (site, schema) => {
  const test = site.same(schema, 'if')
  const yes = site.same(site.beside('then') ?? true, 'then')
  const no = site.same(site.beside('else') ?? true, 'else')
  return (value, run) => run.holds(test, value) ? yes(value, run) : no(value, run)
})

export const $id: Rule = rule(kind.identifier)
/** Up to draft-07. */
export const looseId: Rule = rule(kind.reference)
export const $anchor: Rule = rule(kind.anchor)
export const $vocabulary: Rule = rule(kind.map)
export const $ref: Rule = rule(kind.reference, (site, reference) => site.refer(reference))
export const $dynamicRef: Rule = rule(kind.reference, (site, reference) => site.refer(reference, true))
export const $defs: Rule = rule(kind.schemaMap, (site, schemas) => {
  for (const name of site.namesOf(schemas)) site.define(schemas[name], name)
})

export const title: Rule = rule(kind.string)
export const readOnly: Rule = rule(kind.flag)
export const examples: Rule = rule(kind.array)
/** `contentSchema`, and what `if` applies. */
const schema: Rule = rule(kind.schema)

export {
  $anchor as $dynamicAnchor, $defs as definitions, readOnly as deprecated, readOnly as writeOnly,
  title as $comment, title as $schema, title as contentEncoding, title as contentMediaType,
  title as description, schema as contentSchema, schema as then, schema as else, condition as if,
}

function branches(site: Site, schemas: readonly unknown[]): readonly Check[] {
  return schemas.map((schema, index) => site.same(schema, site.keyword, index))
}

/** The search for branches that hold is over when `enough` are found: one for `anyOf`, two for `oneOf`. */
function choice(site: Site, schemas: readonly unknown[], enough: number): Check {
  const checks = branches(site, schemas)
  const none = site.failure(`matches none of ${checks.length} alternatives`)
  const several = site.failure('matches more than one alternative, not exactly one')
  // Who reads what was evaluated needs it of every branch that holds.
  const stop = site.tracks ? Infinity : enough
  const cost = checks.length * LIGHT
  return (value, run) => {
    run.pay(cost)
    let held = 0
    for (const check of checks) if (run.holds(check, value) && ++held >= stop) break
    if (held === 0) return run.failsAll(checks, none, value)
    return enough === 1 || held === 1 || run.fails(several, value)
  }
}
