/**
 * Equality of JSON values (2020-12 core §4.2.2): by content, whatever the order of an object's members.
 */
import { isObject } from './rule.ts'

/** Whether two values are the same JSON. Goes as deep as the shallower of them. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return names.length === Object.keys(b).length
    && names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]))
}

/** Whether no two items are equal, in time proportional to their size. */
export function isUnique(items: readonly unknown[]): boolean {
  return new Set(items.map((item) => canonical(item, 0))).size === items.length
}

/** Text for what is compared by content, the same for equal values; anything else is its own. */
function canonical(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return value
  // What is nested more deeply is taken for equal: no honest value is, and the stack is finite.
  if (depth > 500) return '…'
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join()}]`
  const members = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}:${canonical(item, depth + 1)}`)
  return `{${members.sort().join()}}`
}
