/**
 * A schema of a library in common words, as the reader of each library gives it, and what several libraries
 * call the same.
 */
import { jsonCopy } from '../../kernel/wire/json.ts'
import { itemsIn } from '../shared/shape.ts'
import type { JsonObject } from '../../kernel/schema/rule.ts'
import type { Side } from '../../kernel/schema/standard.ts'

/** One schema in common words. What it is made of are schemas of the library, or functions that give one. */
export interface LibraryPart {
  /** One of the words of `library-form.ts`, or else the library's own name of what JSON Schema cannot say. */
  readonly type: string
  /** Of an object: name to schema. */
  readonly properties?: unknown
  /** Of further properties or items. */
  readonly rest?: unknown
  /** Nothing further is taken. */
  readonly isClosed?: boolean
  /** Of the names of a record. */
  readonly key?: unknown
  /** A record has all the names of its key, where these are choices. */
  readonly isWhole?: boolean
  /** A record takes other names too, with anything. */
  readonly isLoose?: boolean
  readonly inner?: unknown
  readonly several?: unknown
  readonly choices?: unknown
  readonly initial?: unknown
  /** A date or a bigint is made of what comes. */
  readonly isCoerced?: boolean
  /** It has checks that JSON Schema cannot say. */
  readonly isNarrowed?: boolean
  /** Its library would write less of it: no flags of an expression, any text for the words of a boolean. */
  readonly isFuller?: boolean
  /** Whether its key may be left out. Left out: as its type and what is in it have it. */
  readonly isOptional?: boolean | undefined
  /** What it was made of, and what comes of it. */
  readonly from?: unknown
  readonly to?: unknown
  /** Keywords of JSON Schema. */
  readonly more?: JsonObject
}

/** Reads a schema of one library; undefined for what is none. */
export type ReadPart = (schema: Raw, side: Side) => LibraryPart | undefined

export type Raw = Readonly<Record<string, unknown>>

export function rawOf(value: unknown): Raw {
  return (typeof value === 'object' || typeof value === 'function') && value !== null ? value as Raw : {}
}

const formats: ReadonlyMap<unknown, string> = new Map(Object.entries({
  email: 'email', rfc_email: 'email', url: 'uri', uuid: 'uuid', guid: 'uuid', datetime: 'date-time',
  date: 'date', duration: 'duration', ipv4: 'ipv4', ipv6: 'ipv6', iso_date: 'date',
  iso_timestamp: 'date-time',
}))

/** What they call the same of checks. */
const checks: ReadonlyMap<unknown, string> = new Map(Object.entries({
  greater_than: 'min', min_length: 'min', min_value: 'min', gt_value: 'min', less_than: 'max',
  max_length: 'max', max_value: 'max', lt_value: 'max', length_equals: 'length', multiple_of: 'multipleOf',
  integer: 'int', safe_integer: 'int', starts_with: 'startsWith', ends_with: 'endsWith',
  min_entries: 'min', non_empty: 'min', max_entries: 'max', empty: 'max', entries: 'length',
}))

/**
 * The keywords of one check: of a format it is the name, with the expression that the library uses for it.
 * None where JSON Schema cannot say it.
 */
export function keywordsOf(
  type: string, check: unknown, limit: unknown, { isExclusive = false, expression = limit }: {
    readonly isExclusive?: boolean; readonly expression?: unknown
  } = {},
): JsonObject {
  const kind = checks.get(check) ?? check
  if (kind === 'min' || kind === 'max') return bound(type, kind, limit, isExclusive)
  if (kind === 'length') return { ...bound(type, 'min', limit, false), ...bound(type, 'max', limit, false) }
  if (kind === 'int') return { type: 'integer' }
  if (kind === 'multipleOf') return { multipleOf: limit }
  if (typeof limit === 'string') {
    const literal = escaped(limit)
    if (kind === 'startsWith') return { pattern: `^${literal}` }
    if (kind === 'endsWith') return { pattern: `${literal}$` }
    if (kind === 'includes') return { pattern: literal }
  }
  const format = formats.get(kind)
  return { ...format !== undefined && { format }, ...patternOf(expression, format) }
}

/** Dates are narrower than their formats; of other formats the name is enough. */
function patternOf(expression: unknown, format: string | undefined): JsonObject {
  const isEnough = format !== undefined && !format.startsWith('date')
  if (isEnough || !(expression instanceof RegExp) || hasOwnFlags(expression.flags)) return {}
  return { pattern: expression.source }
}

/** Whether an expression takes what its source alone would not: JSON Schema has no flags. */
export function hasOwnFlags(flags: unknown): boolean {
  return typeof flags === 'string' && /[^dgu]/.test(flags)
}

/** A text as a part of a regular expression. */
export function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

const sizes: ReadonlyMap<string, string> = new Map(Object.entries({
  string: 'Length', array: 'Items', tuple: 'Items', object: 'Properties', record: 'Properties',
}))

/** A bound of a length, of a number of items or members, or of a number. */
function bound(type: string, end: 'min' | 'max', value: unknown, isExclusive: boolean): JsonObject {
  if (typeof value !== 'number' || !Number.isFinite(value)) return {}
  const size = sizes.get(type)
  if (size !== undefined) return { [`${end}${size}`]: value }
  if (type !== 'number') return {}
  return { [isExclusive ? `exclusive${end === 'min' ? 'Min' : 'Max'}imum` : `${end}imum`]: value }
}

/** The keywords of several checks, all of which count: a schema has one of each, and others in `allOf`. */
export function together(...all: readonly JsonObject[]): JsonObject {
  const merged: Record<string, unknown> = {}
  const patterns: unknown[] = []
  for (const [name, value] of all.flatMap((one) => Object.entries(one))) {
    const other = merged[name]
    if (name === 'pattern') patterns.push(value)
    else if (Array.isArray(other) && name === 'allOf') merged[name] = [...other, ...itemsIn(value)]
    else if (typeof value !== 'number' || typeof other !== 'number') merged[name] = value
    else merged[name] = /^(?:m|exclusiveM)in/.test(name) ? Math.max(value, other) : Math.min(value, other)
  }
  if (patterns.length === 1) return { ...merged, pattern: patterns[0] }
  if (patterns.length === 0) return merged
  return { ...merged, allOf: [...itemsIn(merged['allOf']), ...patterns.map((pattern) => ({ pattern }))] }
}

/** What describes a schema, of what its author wrote about it. */
export function about(given: unknown): JsonObject {
  const { id, ...members } = rawOf(given)
  const known = Object.entries(members).filter(([, value]) => value !== undefined)
  return jsonValue(Object.fromEntries(known)) as JsonObject | undefined ?? {}
}

/** A value as its author writes it. */
export function wordOf(value: unknown): string {
  return typeof value === 'bigint' ? `${value}n` : String(value)
}

/** A value as JSON has it; undefined for what it cannot write. */
export function jsonValue(value: unknown): unknown {
  try {
    return jsonCopy(value)
  } catch {
    return undefined
  }
}
