/**
 * JSON Schemas of schemas whose libraries make none by themselves: zod 3, zod/mini and valibot. Read from how
 * these keep them. What cannot be read is left open: the library checks it all the same.
 */
import { isObject } from './rule.ts'
import type { JsonObject } from './rule.ts'

export type Side = 'input' | 'output'

/** One schema in common words. */
interface Part {
  readonly type: string
  /** What it is made of: schemas of the library. */
  readonly properties?: unknown
  readonly inner?: unknown
  readonly several?: unknown
  readonly choices?: unknown
  readonly initial?: unknown
  /** Keywords of JSON Schema. */
  readonly more?: JsonObject
}

/** Reads a schema of one library; undefined for a type that it does not know. */
type Reader = (schema: object, side: Side) => Part | undefined

/** The JSON Schema of an object's schema; undefined where it is none, or of another library. */
export function libraryForm(schema: object, side: Side): JsonObject | undefined {
  const read = readerOf(schema)
  return read?.(schema, side) && jsonOf(schema, read, side, new Set())
}

function readerOf(schema: object): Reader | undefined {
  if ('_zod' in schema) return readZod
  if ('_def' in schema) return readZod3
  return 'kind' in schema && schema.kind === 'schema' ? readValibot : undefined
}

/** `within`: the schemas around it, of which it may be one. */
function jsonOf(schema: unknown, read: Reader, side: Side, within: ReadonlySet<unknown>): JsonObject {
  const part = partOf(schema, read, side)
  if (part === undefined || within.has(schema)) return {}
  const around = new Set([...within, schema])
  const of = (one: unknown): JsonObject => jsonOf(one, read, side, around)
  const { type, inner, more = {} } = part
  switch (type) {
    case 'string': case 'number': case 'boolean': case 'null': return { type, ...more }
    case 'array': return { type, items: of(inner), ...more }
    case 'record': return { type: 'object', additionalProperties: of(inner), ...more }
    case 'tuple': {
      const items = listOf(part.several).map(of)
      return { type: 'array', prefixItems: items, minItems: items.length, ...more }
    }
    case 'enum': {
      const choices = listOf(part.choices)
      const areTexts = choices.every((one) => typeof one === 'string')
      return { ...areTexts && { type: 'string' }, enum: choices, ...more }
    }
    case 'union': return { anyOf: listOf(part.several).map(of), ...more }
    case 'nullable': return { anyOf: [of(inner), { type: 'null' }], ...more }
    case 'default': return { ...of(inner), default: part.initial, ...more }
    case 'optional': case 'wrapped': return { ...of(inner), ...more }
    case 'object': {
      const shape = isObject(part.properties) ? Object.entries(part.properties) : []
      const required = shape.filter(([, one]) => !isOptional(one, read, side)).map(([name]) => name)
      const properties = Object.fromEntries(shape.map(([name, one]) => [name, of(one)]))
      return { type, properties, ...required.length > 0 && { required }, ...more }
    }
    default: return more
  }
}

function partOf(schema: unknown, read: Reader, side: Side): Part | undefined {
  return typeof schema === 'object' && schema !== null ? read(schema, side) : undefined
}

function isOptional(schema: unknown, read: Reader, side: Side): boolean {
  const part = partOf(schema, read, side)
  if (part?.type === 'default') return side === 'input'
  if (part?.type === 'wrapped' || part?.type === 'nullable') return isOptional(part.inner, read, side)
  return part?.type === 'optional'
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

type Raw = Readonly<Record<string, unknown>>

function rawOf(value: unknown): Raw {
  return typeof value === 'object' && value !== null ? value as Raw : {}
}

/** What libraries call the same. */
const words: ReadonlyMap<unknown, string> = new Map(Object.entries({
  loose_object: 'object', strict_object: 'object', nativeenum: 'enum', picklist: 'enum', literal: 'enum',
  discriminatedunion: 'union', variant: 'union', nullish: 'optional', undefinedable: 'optional',
  exact_optional: 'optional', prefault: 'default', readonly: 'wrapped', catch: 'wrapped', branded: 'wrapped',
}))

const formats: ReadonlyMap<unknown, string> = new Map(Object.entries({
  email: 'email', url: 'uri', uuid: 'uuid', guid: 'uuid', datetime: 'date-time', date: 'date', ipv4: 'ipv4',
  ipv6: 'ipv6', iso_date: 'date', iso_timestamp: 'date-time',
}))

/** What they call the same of checks. */
const checks: ReadonlyMap<unknown, string> = new Map(Object.entries({
  greater_than: 'min', min_length: 'min', min_value: 'min', gt_value: 'min', less_than: 'max',
  max_length: 'max', max_value: 'max', lt_value: 'max', length_equals: 'length', multiple_of: 'multipleOf',
  integer: 'int', safe_integer: 'int',
}))

/** The keywords of one check: of a format it is the name. */
function keywordsOf(type: string, check: unknown, limit: unknown, isExclusive = false): JsonObject {
  const kind = checks.get(check) ?? check
  if (kind === 'min' || kind === 'max') return bound(type, kind, limit, isExclusive)
  if (kind === 'length') return { ...bound(type, 'min', limit), ...bound(type, 'max', limit) }
  if (kind === 'int') return { type: 'integer' }
  if (kind === 'multipleOf') return { multipleOf: limit }
  const format = formats.get(kind)
  return format === undefined ? {} : { format }
}

/** A bound of a length, of a number of items, or of a number. */
function bound(type: string, end: 'min' | 'max', value: unknown, isExclusive = false): JsonObject {
  if (typeof value !== 'number') return {}
  if (type === 'string') return { [`${end}Length`]: value }
  if (type === 'array') return { [`${end}Items`]: value }
  return { [isExclusive ? `exclusive${end === 'min' ? 'Min' : 'Max'}imum` : `${end}imum`]: value }
}

function readZod3(schema: object, side: Side): Part | undefined {
  const def = rawOf(Reflect.get(schema, '_def'))
  const { typeName, shape, innerType, valueType, type: element, options, items, values, value } = def
  if (typeof typeName !== 'string') return undefined
  const name = typeName.slice('Zod'.length).toLowerCase()
  const type = words.get(name) ?? name
  const { minLength, maxLength } = def
  const more = described(def['description'], listOf(def['checks']).map((check) => {
    const { kind, value: limit, inclusive } = rawOf(check)
    return keywordsOf(type, kind, limit, inclusive === false)
  }), bound(type, 'min', rawOf(minLength)['value']), bound(type, 'max', rawOf(maxLength)['value']))
  if (type === 'effects') {
    const isOpen = side === 'output' && rawOf(def['effect'])['type'] === 'transform'
    return { type: isOpen ? 'transformed' : 'wrapped', inner: def['schema'], more }
  }
  if (type === 'pipeline') return { type: 'wrapped', inner: side === 'input' ? def['in'] : def['out'], more }
  return {
    type, more,
    properties: typeof shape === 'function' ? shape() : undefined,
    inner: innerType ?? valueType ?? element,
    several: options ?? items,
    choices: name === 'literal' ? [value] : isObject(values) ? Object.values(values) : values,
    initial: typeof def['defaultValue'] === 'function' ? def['defaultValue']() : undefined,
  }
}

/** Version 4, of which zod/mini makes no JSON Schema. */
function readZod(schema: object, side: Side): Part | undefined {
  const def = defOf(schema)
  const { type: name, shape, innerType, valueType, element, options, items, entries, values } = def
  if (typeof name !== 'string') return undefined
  const type = words.get(name) ?? name
  const about = registered(schema)
  const more = described(about, [def, ...listOf(def['checks']).map(defOf)].map((check) => {
    const { check: kind, value: limit, inclusive, minimum, maximum, length, format } = check
    if (kind === 'number_format') return /int/.test(String(format)) ? { type: 'integer' } : {}
    if (kind === 'string_format') return keywordsOf(type, format, undefined)
    return keywordsOf(type, kind, limit ?? minimum ?? maximum ?? length, inclusive === false)
  }))
  if (type === 'transform') return { type: 'transformed', more }
  if (type === 'pipe') return { type: 'wrapped', inner: side === 'input' ? def['in'] : def['out'], more }
  return {
    type, more, properties: shape, inner: innerType ?? valueType ?? element, several: options ?? items,
    choices: isObject(entries) ? Object.values(entries) : values, initial: def['defaultValue'],
  }
}

function defOf(schema: unknown): Raw {
  return rawOf(rawOf(rawOf(schema)['_zod'])['def'])
}

/** What zod's own register holds of a schema: it is one for all copies of the package. */
function registered(schema: object): unknown {
  const register = rawOf(Reflect.get(globalThis, '__zod_globalRegistry'))
  const about: unknown = typeof register['get'] === 'function' ? register['get'](schema) : undefined
  return rawOf(about)['description']
}

function readValibot(schema: object, side: Side): Part | undefined {
  const raw = rawOf(schema)
  const { type: name, entries, wrapped, item, value, options, items, literal, pipe } = raw
  if (typeof name !== 'string') return undefined
  const type = words.get(name) ?? name
  const steps = listOf(pipe).slice(1).map(rawOf)
  if (side === 'output' && steps.some(({ kind }) => kind !== 'validation' && kind !== 'metadata')) {
    return { type: 'transformed' }
  }
  const about = steps.findLast((step) => step['type'] === 'description')
  const more = described(about?.['description'], steps.map(({ type: kind, requirement }) => (
    kind === 'non_empty' ? bound(type, 'min', 1)
      : keywordsOf(type, kind, requirement, kind === 'gt_value' || kind === 'lt_value')
  )))
  const { default: initial } = raw
  const hasDefault = type === 'optional' && initial !== undefined && typeof initial !== 'function'
  return {
    type: hasDefault ? 'default' : type, more, properties: entries, inner: wrapped ?? item ?? value,
    several: options ?? items, choices: name === 'literal' ? [literal] : options, initial,
  }
}

function described(
  description: unknown, checks: readonly JsonObject[], ...others: readonly JsonObject[]
): JsonObject {
  const about = typeof description === 'string' ? { description } : {}
  return Object.assign({}, ...checks, ...others, about) as JsonObject
}
