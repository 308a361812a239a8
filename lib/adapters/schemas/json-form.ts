/** JSON Schemas that are made of a library's schemas: what is missing in them, and how they are changed. */
import { compile } from '../../kernel/schema/compile.ts'
import { step } from '../../kernel/schema/error.ts'
import { isRecord } from '../../kernel/util/record.ts'
import type { JsonObject } from '../../kernel/schema/rule.ts'

/** What JSON Schema cannot say. */
export interface Gap {
  /** A JSON Pointer into the form. */
  readonly path: string
  /** The construct, as the library calls it. */
  readonly what: string
}

/** The keyword that stands for it. */
export const GAP = 'x-no-json-schema'

export function gapOf(what: unknown): JsonObject {
  return { [GAP]: String(what) }
}

/** The first gap in a form, or number that JSON does not have. */
export function gapIn(json: unknown, path = ''): Gap | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  if (isRecord(json) && typeof json[GAP] === 'string') return { path, what: json[GAP] }
  for (const [name, member] of Object.entries(json)) {
    const isOdd = typeof member === 'number' && !Number.isFinite(member)
    const gap = isOdd ? { path, what: String(member) } : gapIn(member, path + step(name))
    if (gap !== undefined) return gap
  }
  return undefined
}

/** A form with each of its objects changed, the inner ones first; `given` is the object as it was. */
export function rewritten(
  json: unknown, change: (one: JsonObject, given: JsonObject) => JsonObject,
): unknown {
  if (Array.isArray(json)) return json.map((one) => rewritten(one, change))
  if (!isRecord(json)) return json
  const members = Object.entries(json).map(([name, one]) => [name, rewritten(one, change)])
  return change(Object.fromEntries(members) as JsonObject, json)
}

/** A JSON Pointer as a reference. */
export function referenceTo(pointer: string): string {
  return `#${pointer.split('/').map(encodeURIComponent).join('/')}`
}

const annotations: ReadonlySet<string> = new Set([
  '$schema', 'title', 'description', 'examples', 'default', 'deprecated',
])

/** Whether a schema takes anything. */
export function isOpen(json: JsonObject): boolean {
  return Object.keys(json).every((keyword) => annotations.has(keyword))
}

/** A date, as JSON has it. */
export const DATE = { type: 'string', format: 'date-time' } as const

const TIME = '2000-01-01T00:00:00.000Z'

/** The form of texts that are times, where one does not say so; undefined where they are something else. */
export function timesOf(json: JsonObject): JsonObject | undefined {
  const { pattern, anyOf, type, ...more } = json
  if (Array.isArray(anyOf)) {
    // What is a text of several things.
    const several = anyOf.map((one) => isRecord(one) ? timesOf(one) ?? one : one)
    return several.every((one, index) => one === anyOf[index]) ? undefined : { ...json, anyOf: several }
  }
  const isText = type === 'string' || (Array.isArray(type) && type.includes('string'))
  if (!isText || json['format'] !== undefined) return undefined
  const others = { type, ...more }
  if (fits(json, TIME)) return { ...json, format: DATE.format }
  // Arktype's own pattern, which not every engine runs: the format says as much.
  const isOfTimes = typeof pattern === 'string' && fits(others, TIME) && new RegExp(pattern).test(TIME)
  return isOfTimes ? { ...others, format: DATE.format } : undefined
}

export function fits(json: JsonObject, value: unknown): boolean {
  try {
    return compile(json)(value).valid
  } catch {
    return false
  }
}
