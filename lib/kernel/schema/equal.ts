/** Equality of JSON values (2020-12 core §4.2.2): by content, whatever the order of an object's members. */
import { isRecord } from '../util/record.ts'
import { COMPARISON, GLANCE, UNIQUE, namesOf } from './evaluation.ts'
import type { Fuel } from './evaluation.ts'

/** The stack is finite, and no honest value is nested so deeply. */
const MAX_DEPTH = 500

/** Two texts of one length cost a part for so many characters, as a power of two. */
const COMPARED = 3

/**
 * A factor that no client knows. What a table of hashes makes of texts nobody can tell before; of numbers
 * everybody can, and could give it those that it keeps in one place, where each is compared with all others.
 */
const FACTOR = Math.floor(Math.random() * 2 ** 31) | 1

/** Makes the test whether a value is equal to one of some. `site` pays for making it. */
export function isAmong(values: readonly unknown[], site: Fuel): (value: unknown, fuel: Fuel) => boolean {
  site.pay(values.length * UNIQUE)
  const numbers = Float64Array.from(values.filter((value) => typeof value === 'number')).sort()
  const simple = new Set(values.filter((value) => typeof value !== 'number'))
  const deep = values.filter((value) => typeof value === 'object')
  return (value, fuel) => typeof value === 'number' ? isIn(numbers, value)
    : simple.has(value) || (typeof value === 'object' && deep.some((one) => isEqual(one, value, fuel, 0)))
}

/** Whether a number is one of some that are sorted. */
function isIn(numbers: Float64Array, wanted: number): boolean {
  let from = 0
  let to = numbers.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (numbers[middle]! < wanted) from = middle + 1
    else to = middle
  }
  return numbers[from] === wanted
}

function differ(numbers: readonly number[]): boolean {
  const sorted = Float64Array.from(numbers).sort()
  return sorted.every((number, at) => number !== sorted[at + 1])
}

export function isUnique(items: readonly unknown[], fuel: Fuel): boolean {
  const numbers: number[] = []
  const simple = new Set<unknown>()
  const deep = new Map<number, unknown[]>()
  for (const item of items) {
    fuel.pay(UNIQUE)
    if (typeof item === 'number') {
      numbers.push(item)
      continue
    }
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
  return differ(numbers)
}

function isEqual(one: unknown, other: unknown, fuel: Fuel, depth: number): boolean {
  if (typeof one === 'string' && typeof other === 'string' && one.length === other.length) {
    fuel.pay(one.length >> COMPARED)
  }
  if (one === other) return true
  // What is nested too deeply cannot be paid.
  fuel.pay(depth > MAX_DEPTH ? Infinity : COMPARISON)
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length
      && one.every((item, index) => isEqual(item, other[index], fuel, depth + 1))
  }
  if (!isRecord(one) || !isRecord(other)) return false
  const names = namesOf(one, fuel)
  return names.length === namesOf(other, fuel).length
    && names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name], fuel, depth + 1))
}

/** A number that is the same for equal values. What is nested too deeply counts for nothing. */
function digest(value: unknown, fuel: Fuel, depth: number): number {
  if (typeof value === 'number') return digestOfNumber(value)
  if (typeof value !== 'object' || value === null) return digestOf(String(value), fuel)
  if (depth > MAX_DEPTH) return 0
  fuel.pay(COMPARISON)
  let sum = 1
  if (isRecord(value)) {
    for (const name of namesOf(value, fuel)) {
      sum += Math.imul(digestOf(name, fuel) | 1, digest(value[name], fuel, depth + 1))
    }
  } else if (Array.isArray(value)) {
    for (const item of value) sum = Math.imul(sum, FACTOR) + digest(item, fuel, depth + 1)
  }
  return sum
}

const bits = new Float64Array(1)
const words = new Uint32Array(bits.buffer)

function digestOfNumber(value: number): number {
  // There are two zeros, which are equal.
  bits[0] = value + 0
  return Math.imul(words[0]!, FACTOR) + words[1]!
}

function digestOf(text: string, fuel: Fuel): number {
  fuel.pay(text.length * GLANCE)
  let sum = 0
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum, FACTOR) + text.charCodeAt(at)
  return sum
}
