/**
 * Reads the members of a JSON object that a client wrote, or throws a fault that names the member and what it
 * must be. `at` is the path of the object: with the member's `name` it becomes a text only for a fault. Of a
 * member that is left out or `null` (a text, an id, a list of texts: or empty) `read…` gives undefined, and
 * `need…` throws.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { isWithin, MAX_NAME_BYTES } from '../../../kernel/wire/bounded.ts'
import type { JsonMembers } from './model.ts'

/** A member is wrong. */
export class FieldFault extends Fault {
  /** Its path, as in `params.message.parts[0].text`. */
  readonly field: string

  constructor(field: string, demand: string) {
    super('invalid', `${field} ${demand}`)
    this.field = field
  }

  /** The same fault of an object that is at `at`. */
  within(at: string): FieldFault {
    return wrongField(at, this.field, this.message.slice(this.field.length + 1))
  }
}

/** As in `wrongField('params', 'id', 'must be a string')`. */
export function wrongField(at: string, name: string, demand: string): FieldFault {
  return new FieldFault(`${at}.${name}`, demand)
}

/** `path` is that of the object itself. */
export function needObject(value: unknown, path: string): JsonMembers {
  if (isRecord(value)) return value
  throw new FieldFault(path, isUnset(value) ? 'is missing; it must be an object' : 'must be an object')
}

/** So many members are looked at for names of the definition: no object has more, but a stranger may. */
const MAX_MEMBERS = 64

/**
 * The same by names of JSON: `task_id` of the protocol's definition is `taskId`, where that is unset. It may
 * be a view of the object, and no copy: listed, its members have the names that the client wrote.
 */
export function needMembers(value: unknown, path: string): JsonMembers {
  const members = needObject(value, path)
  let view: JsonMembers | undefined
  let left = MAX_MEMBERS
  for (const name in members) {
    if (left-- === 0) break
    if (!name.includes('_')) continue
    const other = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (other === name || !isUnset(members[other])) continue
    if (view !== undefined && Object.hasOwn(view, other)) continue
    view ??= Object.create(members) as JsonMembers
    Object.defineProperty(view, other, { value: members[name] })
  }
  return view ?? members
}

export function readMembers(value: unknown, at: string, name: string): JsonMembers | undefined {
  if (isUnset(value)) return undefined
  if (isRecord(value)) return value
  throw wrongField(at, name, 'must be an object')
}

/** A text of any length; it may be empty. */
export function needText(value: unknown, at: string, name: string): string {
  if (typeof value === 'string') return value
  throw wrongField(at, name, 'must be a string')
}

/** An id, a media type, a token: at most `maxBytes` of UTF-8. */
export function readName(
  value: unknown, at: string, name: string, maxBytes: number = MAX_NAME_BYTES,
): string | undefined {
  if (isUnset(value) || value === '') return undefined
  if (isName(value, maxBytes)) return value
  throw wrongField(at, name, `must be a string${within(maxBytes)}`)
}

export function needName(value: unknown, at: string, name: string, maxBytes: number): string {
  if (value !== '' && isName(value, maxBytes)) return value
  throw wrongField(at, name, `must be a non-empty string${within(maxBytes)}`)
}

export function readNames(
  value: unknown, at: string, name: string, maxBytes: number = MAX_NAME_BYTES,
): readonly string[] | undefined {
  if (isUnset(value)) return undefined
  if (!Array.isArray(value)) throw wrongField(at, name, 'must be a list of strings')
  value.forEach((item, index) => needName(item, at, `${name}[${index}]`, maxBytes))
  return value.length === 0 ? undefined : value
}

export function readBoolean(value: unknown, at: string, name: string): boolean | undefined {
  if (isUnset(value)) return undefined
  if (typeof value === 'boolean') return value
  throw wrongField(at, name, 'must be true or false')
}

/** How JSON writes numbers; the protocol's definition takes it as a text too. */
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?(?:e[+-]?\d{1,2})?$/i

/** An integer within bounds, as a number or as its text; never -0. */
export function readInteger(
  value: unknown, at: string, name: string, minimum: number, maximum: number,
): number | undefined {
  if (isUnset(value)) return undefined
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= minimum && number <= maximum) {
    return number === 0 ? 0 : number
  }
  throw wrongField(at, name, `must be an integer from ${minimum} to ${maximum}`)
}

/** One of some values; `choices` has every way to write each. */
export function readChoice<T>(
  value: unknown, at: string, name: string, choices: ReadonlyMap<unknown, T>,
): T | undefined {
  if (isUnset(value)) return undefined
  const choice = choices.get(value)
  if (choice !== undefined) return choice
  const names = [...choices.keys()].filter((key) => typeof key === 'string')
  throw wrongField(at, name, `must be ${names.length === 1 ? '' : 'one of '}${names.join(', ')}`)
}

/** A list of one item at least. `read` gets each with its path. */
export function needList<T>(
  value: unknown, at: string, name: string, read: (item: unknown, path: string) => T,
): readonly T[] {
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item, index) => read(item, `${at}.${name}[${index}]`))
  }
  throw wrongField(at, name, 'must be a list with at least one item')
}

// RFC 3339 §5.6; `Date.parse` alone would take much more.
const TIMESTAMP = /^[\d-]{10}T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/** A moment of RFC 3339, at any offset, as UTC with milliseconds. */
export function readTimestamp(value: unknown, at: string, name: string): string | undefined {
  if (isUnset(value) || value === '') return undefined
  if (typeof value === 'string' && value.length <= 64 && TIMESTAMP.test(value) && isDay(value.slice(0, 10))) {
    const moment = new Date(value.toUpperCase()).toISOString()
    // An offset may lead out of the years of four digits, and moments are compared as texts.
    if (moment.length === 24) return moment
  }
  throw wrongField(at, name, 'must be a time as in 2026-07-28T12:00:00.000Z')
}

/** Whether a date is `yyyy-mm-dd` and the month has that day: `Date.parse` makes the next month's of it. */
function isDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}

/** Whether a member is left out or `null`. */
export function isUnset(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

function within(maxBytes: number): string {
  return maxBytes === Infinity ? '' : ` of at most ${maxBytes} bytes`
}

function isName(value: unknown, maxBytes: number): value is string {
  return typeof value === 'string' && isWithin(value, maxBytes)
}
