/** Equality of JSON values (2020-12 core §4.2.2): by content, whatever the order of an object's members. */
import { isObject } from './rule.ts'

// The stack is finite, and no honest value is nested so deeply.
const DEEPEST = 500

/** Whether two values are the same JSON; what is nested too deeply is not. */
export function equal(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b || depth > DEEPEST) return a === b
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equal(item, b[index], depth + 1))
  }
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return names.length === Object.keys(b).length
    && names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name], depth + 1))
}

/** Whether no two items are equal, in time proportional to their size. */
export const isUnique = (items: readonly unknown[]): boolean =>
  new Set(items.map((item) => canonical(item))).size === items.length

/** JSON text that is the same for equal values, for strings, arrays and objects; other values as they are. */
export function canonical(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) return '…'
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join()}]`
  const members = Object.entries(value).map(([name, item]) =>
    `${JSON.stringify(name)}:${canonical(item, depth + 1)}`)
  return `{${members.sort().join()}}`
}
