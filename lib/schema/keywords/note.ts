/**
 * Keywords that describe and assert nothing (2020-12 validation §8, §9; core §8.3).
 */
import type { Rule } from '../rule.ts'
import * as kind from '../kind.ts'
import { rule } from '../rule.ts'

export const title: Rule = rule(kind.string)
export const readOnly: Rule = rule(kind.boolean)
export const examples: Rule = rule(kind.list)
export const contentSchema: Rule = rule(kind.schema)
const anything: Rule = rule(kind.anything)

export { anything as default, readOnly as deprecated, title as description, title as $comment, readOnly as writeOnly }
