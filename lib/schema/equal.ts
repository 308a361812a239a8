/** Equality of JSON values (2020-12 core §4.2.2): by content, whatever the order of an object's members. */
import type { JsonObject } from './rule.ts'
import { isObject } from './rule.ts'

/** Whether two values are the same JSON. Goes as deep as the shallower of them. */
export function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equal(item, b[index]))
  }
  return a === b || (isObject(a) && isObject(b) && sameMembers(a, b))
}

function sameMembers(a: JsonObject, b: JsonObject): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length
    && names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]))
}

/** Whether no two items are equal, in time proportional to their size. */
export const isUnique = (items: readonly unknown[]): boolean =>
  new Set(items.map((item) => canonical(item, 0))).size === items.length

/** The same text for equal values; numbers and the like are their own. */
function canonical(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return value
  // The stack is finite, and no honest value is nested so deeply: what is, counts as equal.
  if (depth > 500) return '…'
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join()}]`
  const members = Object.entries(value).map(([name, item]) =>
    `${JSON.stringify(name)}:${canonical(item, depth + 1)}`)
  return `{${members.sort().join()}}`
}
