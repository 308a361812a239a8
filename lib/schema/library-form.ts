/**
 * JSON Schemas of schemas whose libraries make none by themselves, or not of all that they take: read from
 * how zod, valibot and effect keep them. What JSON Schema cannot say is named, with its place.
 */
import { readEffect } from './read-effect.ts'
import { readValibot } from './read-valibot.ts'
import { readZod, readZod3 } from './read-zod.ts'
import { compile } from './compile.ts'
import { step } from './error.ts'
import { itemsOf, jsonValue, referenceTo, together, wordOf } from './library-part.ts'
import { isObject } from './rule.ts'
import type { Part, ReadPart, Side } from './library-part.ts'
import type { JsonObject } from './rule.ts'

/** What JSON Schema cannot say. */
export interface Gap {
  /** A JSON Pointer into the form. */
  readonly path: string
  /** The construct, as the library calls it. */
  readonly what: string
  /** No JSON Schema is right for it, also if its library gives one. */
  readonly isSure: boolean
}

export interface LibraryForm {
  readonly json: JsonObject
  /** The first one; undefined where the form says all. */
  readonly gap: Gap | undefined
  /** What the library itself writes for it, if it does, is no better. */
  readonly isBest: boolean
}

const MAX_LEVELS = 100

/** The form of a schema; undefined where it is of no library that is read. */
export function libraryForm(schema: object, side: Side): LibraryForm | undefined {
  const read = readerOf(schema)
  if (read?.(schema, side) === undefined) return undefined
  const reading = new Reading(read, side)
  const json = reading.jsonOf('ast' in schema ? schema.ast : schema, '')
  // Effect writes the form of what its codec for JSON takes, which is not what the schema takes.
  const isBest = read === readEffect || (reading.gap?.isSure ?? reading.isFuller)
  return { json, gap: reading.gap, isBest }
}

function readerOf(schema: object): ReadPart | undefined {
  if ('_zod' in schema) return readZod
  if ('_def' in schema) return readZod3
  if ('ast' in schema) return readEffect
  return 'kind' in schema && schema.kind === 'schema' ? readValibot : undefined
}

/** What no value of JSON is, whatever a library writes for it. */
const unsayable: ReadonlySet<string> = new Set([
  'bigint', 'blob', 'custom', 'date', 'file', 'function', 'instance', 'literal', 'map', 'nan', 'set',
  'symbol', 'transform',
])

/** A date, as JSON has it. */
export const DATE = { type: 'string', format: 'date-time' } as const

class Reading {
  gap: Gap | undefined
  /** It says more than the library's own form would. */
  isFuller = false
  readonly #read: ReadPart
  readonly #side: Side
  /** Where each schema stands that is being written, or is a part of itself. */
  readonly #places = new Map<unknown, string>()
  readonly #around = new Set<unknown>()
  readonly #circular = new Set<unknown>()

  constructor(read: ReadPart, side: Side) {
    this.#read = read
    this.#side = side
  }

  /** The JSON Schema of what stands at `path`. `isCoerced`: what comes is made into it before it is seen. */
  jsonOf(schema: unknown, path: string, isCoerced = false): JsonObject {
    const part = this.#partOf(schema)
    if (part === undefined) return this.#leave(path, 'no schema')
    const place = this.#places.get(schema)
    if (place !== undefined && (this.#around.has(schema) || this.#circular.has(schema))) {
      this.#close(schema)
      return { $ref: referenceTo(place) }
    }
    if (this.#around.size > MAX_LEVELS) return this.#leave(path, `more than ${MAX_LEVELS} levels`)
    this.#places.set(schema, path)
    this.#around.add(schema)
    const json = this.#write(part, path, isCoerced || part.isCoerced === true)
    this.#around.delete(schema)
    return json
  }

  #partOf(schema: unknown): Part | undefined {
    return typeof schema === 'object' && schema !== null || typeof schema === 'function'
      ? this.#read(schema, this.#side) : undefined
  }

  /** What stands between a schema and itself is a part of itself too. */
  #close(schema: unknown): void {
    let isWithin = false
    for (const one of this.#around) {
      isWithin ||= one === schema
      if (isWithin) this.#circular.add(one)
    }
  }

  #leave(path: string, what: string): JsonObject {
    this.gap ??= { path, what, isSure: unsayable.has(what.replace(/ .*/s, '')) }
    return {}
  }

  #write(part: Part, path: string, isCoerced: boolean): JsonObject {
    const { type, inner, more = {}, rest, isClosed, isFlagged = false } = part
    this.isFuller ||= isFlagged
    const at = (one: unknown, ...keys: readonly (string | number)[]): JsonObject => (
      this.jsonOf(one, path + keys.map(step).join(''))
    )
    switch (type) {
      case 'any': case 'unknown':
        return isOpen(more) && part.isNarrowed === true ? this.#leave(path, `custom check of ${type}`) : more
      case 'never': case 'undefined': case 'void': return { not: {}, ...more }
      case 'string': case 'number': case 'boolean': case 'null': return { type, ...more }
      case 'date':
        if (this.#side === 'input' && !isCoerced) return this.#leave(path, type)
        this.isFuller = true
        return { ...DATE, ...more }
      case 'bigint':
        return this.#side === 'input' && isCoerced ? { type: 'integer', ...more } : this.#leave(path, type)
      case 'array': return { type, items: at(inner, 'items'), ...more }
      case 'tuple': return this.#tuple(part, at)
      case 'record': return this.#record(part, at)
      case 'object': return {
        type, ...this.#properties(part, at),
        ...isClosed === true ? { additionalProperties: false }
          : rest !== undefined && { additionalProperties: at(rest, 'additionalProperties') },
        ...more,
      }
      case 'enum': return this.#choices(part, path)
      case 'union': case 'xor': {
        const keyword = type === 'xor' ? 'oneOf' : 'anyOf'
        const all = itemsOf(part.several)
        const several = all.filter((one) => !isAbsent(this.#partOf(one)))
        if (several.length === 0) return { not: {}, ...more }
        if (several.length === 1 && all.length > 1) return together(this.jsonOf(several[0], path), more)
        return { [keyword]: several.map((one, index) => at(one, keyword, index)), ...more }
      }
      case 'intersection':
        return { allOf: itemsOf(part.several).map((one, index) => at(one, 'allOf', index)), ...more }
      case 'nullable': return this.#withInitial({ anyOf: [at(inner, 'anyOf', 0), { type: 'null' }] }, part)
      case 'nonnullable': {
        const json = at(inner)
        return together(json, json['not'] === undefined ? { not: { type: 'null' } } : {}, more)
      }
      case 'optional': case 'nonoptional': case 'wrapped':
        return this.#withInitial(this.jsonOf(inner, path, isCoerced), part)
      case 'lazy': {
        const target = called(inner)
        if (this.#partOf(target) === undefined) return this.#leave(path, type)
        return together(this.jsonOf(target, path), more)
      }
      case 'pipe': return together(this.#pipe(part, path, isCoerced), more)
      default: return this.#leave(path, type)
    }
  }

  #properties({ properties }: Part, at: At): JsonObject {
    const shape = Object.entries(isObject(properties) ? properties : {})
    const required = shape.filter(([, one]) => !this.#isOptional(one)).map(([name]) => name)
    return {
      properties: Object.fromEntries(shape.map(([name, one]) => [name, at(one, 'properties', name)])),
      ...required.length > 0 && { required },
    }
  }

  #tuple({ several, rest, isClosed, more }: Part, at: At): JsonObject {
    const items = itemsOf(several)
    const isOpenEnded = rest !== undefined && rest !== null
    const others = isOpenEnded ? at(rest, 'items') : isClosed === true ? false : undefined
    return together({
      type: 'array', prefixItems: items.map((one, index) => at(one, 'prefixItems', index)),
      minItems: items.findLastIndex((one) => !this.#isOptional(one)) + 1,
      ...others !== undefined && { items: others },
    }, more ?? {})
  }

  #record({ key, inner, isWhole, isLoose, more }: Part, at: At): JsonObject {
    const names = key === undefined ? {} : at(key, 'propertyNames')
    const { pattern } = names
    if (isLoose === true) {
      const named = typeof pattern === 'string' && { [pattern]: at(inner, 'patternProperties', pattern) }
      return { type: 'object', ...named !== false && { patternProperties: named }, ...more }
    }
    // A name is a text, also where the library takes it for a number.
    const { type, enum: choices, ...others } = names
    const texts = Array.isArray(choices) ? choices.map(String) : undefined
    const isOfNumbers = type === 'number' || type === 'integer'
    const propertyNames = texts !== undefined ? { enum: texts }
      : isOfNumbers ? { pattern: '^-?[0-9]+(\\.[0-9]+)?$' } : others
    return {
      type: 'object', ...!isOpen(propertyNames) && { propertyNames },
      additionalProperties: at(inner, 'additionalProperties'),
      ...isWhole === true && texts !== undefined && { required: texts }, ...more,
    }
  }

  #choices({ choices, more }: Part, path: string): JsonObject {
    const values = itemsOf(choices).filter((one) => one !== undefined)
    if (values.length === 0) return { not: {}, ...more }
    const odd = values.find((one) => one !== null && jsonValue(one) !== one)
    if (odd !== undefined) return this.#leave(path, `literal ${wordOf(odd)}`)
    const areTexts = values.every((one) => typeof one === 'string')
    return { ...areTexts && { type: 'string' }, enum: values, ...more }
  }

  /** A default is one of what comes in; some libraries have it of what comes out. */
  #withInitial(json: JsonObject, { initial, more = {} }: Part): JsonObject {
    const value = this.#side === 'input' ? jsonValue(initial) : undefined
    return together(json, value !== undefined && fits(json, value) ? { default: value } : {}, more)
  }

  /** What comes in, or what comes out. What takes anything is told by what it is made into. */
  #pipe({ from, to }: Part, path: string, isCoerced: boolean): JsonObject {
    if (this.#side === 'output') return this.jsonOf(to, path)
    const isFree = this.#partOf(from)?.type === 'transform'
    const json = isFree ? {} : this.jsonOf(from, path, isCoerced)
    const target = this.#targetOf(to)
    const isOfTarget = isOpen(json) && target?.type !== 'transform'
    const times = target?.type === 'date' ? timesOf(json) : undefined
    this.isFuller ||= isOfTarget || times !== undefined
    return isOfTarget ? this.jsonOf(to, path, true) : times ?? json
  }

  /** What a value becomes at last. */
  #targetOf(schema: unknown, depth = 0): Part | undefined {
    const part = this.#partOf(schema)
    if (part === undefined || depth > MAX_LEVELS) return part
    if (part.type === 'pipe') return this.#targetOf(part.to, depth + 1)
    return wrappers.has(part.type) ? this.#targetOf(part.inner, depth + 1) : part
  }

  #isOptional(schema: unknown, depth = 0): boolean {
    const part = this.#partOf(schema)
    if (part === undefined || depth > MAX_LEVELS) return false
    if (part.isOptional !== undefined) return part.isOptional
    if (part.initial !== undefined) return this.#side === 'input'
    const { type, inner } = part
    if (type === 'wrapped' || type === 'nullable') return this.#isOptional(inner, depth + 1)
    if (type === 'pipe') return this.#isOptional(this.#side === 'input' ? part.from : part.to, depth + 1)
    if (type === 'lazy') return this.#isOptional(called(inner), depth + 1)
    if (type === 'union') return itemsOf(part.several).some((one) => this.#isOptional(one, depth + 1))
    return type === 'optional' || isAbsent(part) || itemsOf(part.choices).includes(undefined)
  }
}

type At = (one: unknown, ...keys: readonly (string | number)[]) => JsonObject

const wrappers: ReadonlySet<string> = new Set([
  'optional', 'nonoptional', 'nullable', 'nonnullable', 'wrapped',
])

function isAbsent(part: Part | undefined): boolean {
  if (part?.type === 'enum') return itemsOf(part.choices).every((one) => one === undefined)
  return part?.type === 'undefined' || part?.type === 'void'
}

function called(make: unknown): unknown {
  return typeof make === 'function' ? make() as unknown : make
}

const annotations: ReadonlySet<string> = new Set([
  '$schema', 'title', 'description', 'examples', 'default', 'deprecated',
])

/** Whether a schema takes anything. */
export function isOpen(json: JsonObject): boolean {
  return Object.keys(json).every((keyword) => annotations.has(keyword))
}

const TIME = '2000-01-01T00:00:00.000Z'

/** The form of texts that are times, where one does not say so; undefined where they are something else. */
export function timesOf(json: JsonObject): JsonObject | undefined {
  const { pattern, ...others } = json
  if (json['type'] !== 'string' || json['format'] !== undefined) return undefined
  if (fits(json, TIME)) return { ...json, format: DATE.format }
  // Arktype's own pattern, which not every engine runs: the format says as much.
  const isOfTimes = typeof pattern === 'string' && fits(others, TIME) && new RegExp(pattern).test(TIME)
  return isOfTimes ? { ...others, format: DATE.format } : undefined
}

function fits(json: JsonObject, value: unknown): boolean {
  try {
    return compile(json)(value).valid
  } catch {
    return false
  }
}
