/**
 * JSON Schemas of schemas whose libraries make none by themselves, or not of all that they take: read from
 * how zod, valibot and effect keep them. What JSON Schema cannot say is named, with its place.
 */
import { step } from '../../kernel/schema/error.ts'
import { isRecord } from '../../kernel/util/record.ts'
import { DATE, fits, gapIn, gapOf, isOpen, referenceTo, timesOf } from './json-form.ts'
import { jsonValue, rawOf, together, wordOf } from './library-part.ts'
import { itemsIn } from '../shared/shape.ts'
import { readEffect } from './read-effect.ts'
import { readValibot } from './read-valibot.ts'
import { readZod } from './read-zod.ts'
import type { JsonObject } from '../../kernel/schema/rule.ts'
import type { Side } from '../../kernel/schema/standard.ts'
import type { LibraryPart, ReadPart } from './library-part.ts'

export interface LibraryForm {
  /** With its gaps. */
  readonly json: JsonObject
  /** What the library itself writes for it, if it does, is no better. */
  readonly isBest: boolean
}

const MAX_LEVELS = 100

/** The form of a schema; undefined where it is of no library that is read. */
export function libraryForm(schema: object, side: Side): LibraryForm | undefined {
  const read = readerOf(schema)
  const root: unknown = 'ast' in schema ? schema.ast : schema
  if (read?.(rawOf(root), side) === undefined) return undefined
  const reading = new Reading(read, side)
  const json = reading.jsonOf(root, '')
  const gap = gapIn(json)
  const isSure = gap === undefined ? reading.isFuller : unsayable.has(gap.what.replace(/ .*/s, ''))
  // Effect writes the form of what its codec for JSON takes, which is not what the schema takes.
  return { json, isBest: read === readEffect || isSure }
}

function readerOf(schema: object): ReadPart | undefined {
  if ('_zod' in schema || '_def' in schema) return readZod
  if ('ast' in schema) return readEffect
  return 'kind' in schema && schema.kind === 'schema' ? readValibot : undefined
}

/** What no value of JSON is, whatever a library writes for it. */
const unsayable: ReadonlySet<string> = new Set([
  'bigint', 'blob', 'custom', 'date', 'file', 'function', 'instance', 'literal', 'map', 'nan', 'set',
  'symbol', 'transform',
])

class Reading {
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
    if (part === undefined) return gapOf('no schema')
    const place = this.#places.get(schema)
    if (place !== undefined && (this.#around.has(schema) || this.#circular.has(schema))) {
      this.#close(schema)
      return { $ref: referenceTo(place) }
    }
    if (this.#around.size > MAX_LEVELS) return gapOf(`more than ${MAX_LEVELS} levels`)
    this.#places.set(schema, path)
    this.#around.add(schema)
    const bare = this.#write(part, path, isCoerced || part.isCoerced === true)
    this.#around.delete(schema)
    this.isFuller ||= part.isFuller === true
    // A default is one of what comes in; some libraries have it of what comes out.
    const initial = this.#side === 'input' ? jsonValue(part.initial) : undefined
    const hasInitial = initial !== undefined && fits(bare, initial)
    const json = together(bare, hasInitial ? { default: initial } : {}, part.more ?? {})
    const isUnsaid = part.isNarrowed === true && isOpen(json)
    return isUnsaid ? gapOf(`custom check of ${String(this.#targetOf(schema)?.type)}`) : json
  }

  #partOf(schema: unknown): LibraryPart | undefined {
    return typeof schema === 'object' && schema !== null || typeof schema === 'function'
      ? this.#read(rawOf(schema), this.#side) : undefined
  }

  /** What stands between a schema and itself is a part of itself too. */
  #close(schema: unknown): void {
    const around = [...this.#around]
    for (const one of around.slice(around.indexOf(schema))) this.#circular.add(one)
  }

  #write(part: LibraryPart, path: string, isCoerced: boolean): JsonObject {
    const { type, inner, several } = part
    const at: At = (one, ...keys) => this.jsonOf(one, path + keys.map(step).join(''))
    const each = (keyword: string, all: readonly unknown[]): JsonObject => (
      { [keyword]: all.map((one, index) => at(one, keyword, index)) }
    )
    switch (type) {
      case 'any': case 'unknown': return {}
      case 'never': case 'undefined': case 'void': return { not: {} }
      case 'string': case 'number': case 'boolean': case 'null': return { type }
      case 'date':
        if (this.#side === 'input' && !isCoerced) return gapOf(type)
        this.isFuller = true
        return DATE
      case 'bigint': return this.#side === 'input' && isCoerced ? { type: 'integer' } : gapOf(type)
      case 'array': return { type, items: at(inner, 'items') }
      case 'tuple': {
        const items = itemsIn(several)
        const minItems = items.findLastIndex((one) => !this.#isOptional(one)) + 1
        return { type: 'array', ...each('prefixItems', items), minItems, ...further(part, 'items', at) }
      }
      case 'object': {
        const shape = Object.entries(isRecord(part.properties) ? part.properties : {})
        const required = shape.filter(([, one]) => !this.#isOptional(one)).map(([name]) => name)
        const properties = Object.fromEntries(shape.map(([name, one]) => [name, at(one, 'properties', name)]))
        const others = further(part, 'additionalProperties', at)
        return { type, properties, ...required.length > 0 && { required }, ...others }
      }
      case 'record': return recordOf(part, at)
      case 'enum': return choiceOf(part)
      case 'union': case 'xor': {
        const all = itemsIn(several)
        const present = all.filter((one) => !isAbsent(this.#partOf(one)))
        if (present.length === 0) return { not: {} }
        if (present.length === 1 && all.length > 1) return at(present[0])
        return each(type === 'xor' ? 'oneOf' : 'anyOf', present)
      }
      case 'intersection': return each('allOf', itemsIn(several))
      case 'nullable': return { anyOf: [at(inner, 'anyOf', 0), { type: 'null' }] }
      case 'nonnullable': return { not: { type: 'null' }, ...at(inner) }
      case 'optional': case 'nonoptional': case 'wrapped': return this.jsonOf(inner, path, isCoerced)
      case 'lazy': return this.#partOf(called(inner)) === undefined ? gapOf(type) : at(called(inner))
      case 'pipe': return this.#pipe(part, path, isCoerced)
      default: return gapOf(type)
    }
  }

  /** What comes in, or what comes out. What takes anything is told by what it is made into. */
  #pipe({ from, to }: LibraryPart, path: string, isCoerced: boolean): JsonObject {
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
  #targetOf(schema: unknown, depth = 0): LibraryPart | undefined {
    const part = this.#partOf(schema)
    if (part === undefined || depth > MAX_LEVELS) return part
    if (part.type === 'pipe') return this.#targetOf(part.to, depth + 1)
    if (part.type === 'lazy') return this.#targetOf(called(part.inner), depth + 1)
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
    if (type === 'union') return itemsIn(part.several).some((one) => this.#isOptional(one, depth + 1))
    return type === 'optional' || isAbsent(part) || itemsIn(part.choices).includes(undefined)
  }
}

type At = (one: unknown, ...keys: readonly (string | number)[]) => JsonObject

const wrappers: ReadonlySet<string> = new Set([
  'optional', 'nonoptional', 'nullable', 'nonnullable', 'wrapped',
])

function isAbsent(part: LibraryPart | undefined): boolean {
  if (part?.type === 'enum') return itemsIn(part.choices).every((one) => one === undefined)
  return part?.type === 'undefined' || part?.type === 'void'
}

function called(make: unknown): unknown {
  return typeof make === 'function' ? make() as unknown : make
}

/** What else may be in an object or a list. */
function further({ rest, isClosed }: LibraryPart, keyword: string, at: At): JsonObject {
  if (rest !== undefined && rest !== null) return { [keyword]: at(rest, keyword) }
  return isClosed === true ? { [keyword]: false } : {}
}

function recordOf({ key, inner, isWhole, isLoose }: LibraryPart, at: At): JsonObject {
  // A name is a text, also where the library takes it for a number.
  const { type, enum: choices, ...others } = key === undefined ? {} : at(key, 'propertyNames')
  if (isLoose === true) {
    const { pattern } = others
    const named = typeof pattern === 'string' && { [pattern]: at(inner, 'patternProperties', pattern) }
    return { type: 'object', ...named !== false && { patternProperties: named } }
  }
  const texts = Array.isArray(choices) ? choices.map(String) : undefined
  const isOfNumbers = type === 'number' || type === 'integer'
  const propertyNames = texts !== undefined ? { enum: texts }
    : isOfNumbers ? { pattern: '^-?[0-9]+(\\.[0-9]+)?$' } : others
  return {
    type: 'object', ...!isOpen(propertyNames) && { propertyNames },
    additionalProperties: at(inner, 'additionalProperties'),
    ...isWhole === true && texts !== undefined && { required: texts },
  }
}

function choiceOf({ choices }: LibraryPart): JsonObject {
  const values = itemsIn(choices).filter((one) => one !== undefined)
  if (values.length === 0) return { not: {} }
  const odd = values.find((one) => one !== null && jsonValue(one) !== one)
  if (odd !== undefined) return gapOf(`literal ${wordOf(odd)}`)
  const areTexts = values.every((one) => typeof one === 'string')
  return { ...areTexts && { type: 'string' }, enum: values }
}
