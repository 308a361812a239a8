/**
 * Keywords that name schemas, and the places where named schemas are kept (2020-12 core §8). Names are read
 * when a document is taken apart; here it is only checked that they are names. And those that describe and
 * assert nothing.
 */
import type { Rule } from '../rule.ts'
import * as kind from '../kind.ts'
import { rule } from '../rule.ts'

export const $id: Rule = rule(kind.identifier)
/** Up to draft-07. */
export const looseId: Rule = rule(kind.reference)
export const $anchor: Rule = rule(kind.anchor)
export const $vocabulary: Rule = rule(kind.map)
export const $ref: Rule = rule(kind.reference, (site, reference) => site.refer(reference))
export const $dynamicRef: Rule = rule(kind.reference, (site, reference) => site.refer(reference, true))
export const $defs: Rule = rule(kind.schemaMap, (site, schemas) => {
  for (const [name, schema] of Object.entries(schemas)) site.define(schema, name)
})

export const title: Rule = rule(kind.string)
export const readOnly: Rule = rule(kind.flag)
export const examples: Rule = rule(kind.list)
export const contentSchema: Rule = rule(kind.schema)
/** `default`. */
export const anything: Rule = rule(kind.anything)

export {
  $anchor as $dynamicAnchor, $defs as definitions, readOnly as deprecated, readOnly as writeOnly,
  title as $comment, title as $schema, title as description,
}
