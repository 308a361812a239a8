/**
 * Keywords that apply schemas to the same value (2020-12 applicator §10.2).
 */
import type { Rule, Site } from '../rule.ts'
import type { Check } from '../run.ts'
import * as kind from '../kind.ts'
import { all, BRANCH, rule, SAME } from '../rule.ts'

export const allOf: Rule = rule(kind.schemas, (site, schemas) => all(branches(site, SAME, schemas)))

export const anyOf: Rule = rule(kind.schemas, (site, schemas) => {
  const checks = branches(site, BRANCH, schemas)
  const fault = site.fault(`matches none of ${checks.length} alternatives`)
  return (value, run) => {
    let held = false
    for (const check of checks) {
      held = run.holds(check, value) || held
      // Who reads what was evaluated needs it of every branch that holds.
      if (held && !site.tracks) return true
    }
    return held || run.failsAll(checks, fault, value)
  }
})

export const oneOf: Rule = rule(kind.schemas, (site, schemas) => {
  const checks = branches(site, BRANCH, schemas)
  const none = site.fault(`matches none of ${checks.length} alternatives`)
  const several = site.fault('matches more than one alternative, not exactly one')
  return (value, run) => {
    let held = 0
    for (const check of checks) if (run.holds(check, value) && ++held > 1) return run.fails(several, value)
    return held > 0 || run.failsAll(checks, none, value)
  }
})

export const not: Rule = rule(kind.schema, (site, schema) => {
  const check = site.check(BRANCH, schema, 'not')
  const fault = site.fault('matches what "not" forbids')
  return (value, run) => !run.holds(check, value) || run.fails(fault, value)
})

const condition: Rule = rule(kind.schema, (site, schema) => {
  const { then = true, else: otherwise = true } = site.schema
  const test = site.check(BRANCH, schema, 'if')
  const yes = site.check(BRANCH, then, 'then')
  const no = site.check(BRANCH, otherwise, 'else')
  return (value, run) => run.holds(test, value) ? yes(value, run) : no(value, run)
})

/** Applied by `if`. */
const consequence: Rule = rule(kind.schema)

export { condition as if, consequence as then, consequence as else }

function branches(site: Site, how: number, schemas: readonly unknown[]): readonly Check[] {
  return schemas.map((schema, index) => site.check(how, schema, site.keyword, index))
}
