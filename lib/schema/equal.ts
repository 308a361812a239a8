/** Equality of JSON values (2020-12 core §4.2.2): by content, whatever the order of an object's members. */
import { COMPARISON, GLANCE, UNIQUE, namesOf } from './run.ts'
import { isObject } from './rule.ts'
import type { Fuel } from './run.ts'

/** The stack is finite, and no honest value is nested so deeply. */
const MAX_DEPTH = 500

/** Makes the test whether a value is equal to one of some. */
export function isAmong(values: readonly unknown[]): (value: unknown, fuel: Fuel) => boolean {
  const simple = new Set(values)
  const deep = values.filter((value) => typeof value === 'object')
  return (value, fuel) => simple.has(value)
    || (typeof value === 'object' && deep.some((one) => isEqual(one, value, fuel, 0)))
}

export function isUnique(items: readonly unknown[], fuel: Fuel): boolean {
  const simple = new Set<unknown>()
  const deep = new Map<number, unknown[]>()
  for (const item of items) {
    fuel.pay(UNIQUE)
    if (typeof item !== 'object' || item === null) {
      if (simple.has(item)) return false
      simple.add(item)
      continue
    }
    // Equal items have equal digests, and few others have.
    const key = digest(item, fuel, 0)
    const alike = deep.get(key)
    if (alike === undefined) deep.set(key, [item])
    else if (alike.some((one) => isEqual(one, item, fuel, 0))) return false
    else alike.push(item)
  }
  return true
}

function isEqual(one: unknown, other: unknown, fuel: Fuel, depth: number): boolean {
  if (one === other) return true
  // What is nested too deeply cannot be paid.
  fuel.pay(depth > MAX_DEPTH ? Infinity : COMPARISON)
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length
      && one.every((item, index) => isEqual(item, other[index], fuel, depth + 1))
  }
  if (!isObject(one) || !isObject(other)) return false
  const names = namesOf(one, fuel)
  return names.length === namesOf(other, fuel).length
    && names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name], fuel, depth + 1))
}

/** A number that is the same for equal values. What is nested too deeply counts for nothing. */
function digest(value: unknown, fuel: Fuel, depth: number): number {
  if (typeof value !== 'object' || value === null) return digestOf(String(value), fuel)
  if (depth > MAX_DEPTH) return 0
  fuel.pay(COMPARISON)
  let sum = 1
  if (isObject(value)) {
    for (const name of namesOf(value, fuel)) {
      sum += Math.imul(digestOf(name, fuel) | 1, digest(value[name], fuel, depth + 1))
    }
  } else if (Array.isArray(value)) {
    for (const item of value) sum = Math.imul(sum, 31) + digest(item, fuel, depth + 1)
  }
  return sum
}

function digestOf(text: string, fuel: Fuel): number {
  fuel.pay(text.length * GLANCE)
  let sum = 0
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum, 31) + text.charCodeAt(at)
  return sum
}
