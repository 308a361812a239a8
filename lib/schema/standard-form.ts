/**
 * The JSON Schema that is published of a schema of a library: the library's own, or what is read of it, or
 * else a TypeError that says what has none, and what to write.
 * Spec: https://standardschema.dev/json-schema
 */
import { cut, step } from './error.ts'
import { DATE, isOpen, libraryForm, timesOf } from './library-form.ts'
import { hasOwnFlags, itemsOf, rawOf, referenceTo, wordOf } from './library-part.ts'
import { isChange, isCheck, madeBy } from './read-valibot.ts'
import { isObject, isWritten } from './rule.ts'
import { typeBoxForm } from './typebox.ts'
import type { Gap } from './library-form.ts'
import type { Side } from './library-part.ts'
import type { JsonObject } from './rule.ts'

/** A schema of a library, as far as it is published. */
interface Schematic {
  readonly '~standard': {
    readonly vendor: string
    readonly jsonSchema?: Readonly<Record<Side, Write>> | undefined
  }
}

type Write = (options: { readonly target: string }) => JsonObject

/** How to make a JSON Schema with libraries that do not give one by themselves. */
const remedies: ReadonlyMap<string, string> = new Map([
  ['zod', 'z.toJSONSchema(schema)'],
  ['arktype', 'schema.toJsonSchema()'],
])
const BY_HAND = `{ type: 'object', properties: { … } }`

/** What takes a date as JSON has it. */
const dates: ReadonlyMap<string, string> = new Map([
  ['zod', 'z.coerce.date()'],
  ['valibot', 'v.pipe(v.string(), v.isoTimestamp(), v.toDate())'],
  ['arktype', `'string.date.iso.parse'`],
  ['effect', 'Schema.DateFromString'],
  ['TypeBox', `Type.String({ format: 'date-time' })`],
])

/**
 * The form of one side. `member` is where an author writes the schema; `at`, a JSON Pointer, is where the
 * form is put. Throws `TypeError` where there is none.
 */
export function jsonFormOf(schema: Schematic, side: Side, member: string, at: string): JsonObject {
  const { vendor } = schema['~standard']
  const read = libraryForm(schema, side)
  const own = read?.isBest === true ? undefined : ownFormOf(schema, side)
  if (own?.json !== undefined) return moved(own.json, at)
  const gap = read === undefined ? own?.gap : read.gap
  if (gap !== undefined) throw gapError(vendor, gap, at, side, besides(BY_HAND, member))
  if (read !== undefined) return moved(read.json, at)
  if (own === undefined) {
    throw new TypeError(`This ${vendor} schema has no JSON Schema form; write ${remedyOf(schema, member)}`)
  }
  // What a library wrote by the options of its author.
  if (isWritten(schema)) return { ...schema }
  const { cause } = own
  const why = cause instanceof Error ? ` (${cut(cause.message, 200)})` : ''
  throw new TypeError(`This ${vendor} schema cannot be written as JSON Schema${why}; write `
    + besides(BY_HAND, member), { cause })
}

/** The form of a schema of TypeBox; undefined for anything else. Throws `TypeError` where there is none. */
export function typeBoxFormOf(schema: JsonObject, side: Side, member: string): JsonObject | undefined {
  const { json, gap } = typeBoxForm(schema) ?? {}
  if (gap !== undefined) throw gapError('TypeBox', gap, '', side, `${member}: ${BY_HAND}`)
  return json
}

function gapError(library: string, { what, path }: Gap, at: string, side: Side, remedy: string): TypeError {
  const date = side === 'input' && /^date$/i.test(what) ? dates.get(library) : undefined
  return new TypeError(`This ${cut(library, 40)} schema cannot be written as JSON Schema, as it has `
    + `'${cut(what, 80)}' at ${cut(at + path, 200) || 'its root'}; write `
    + `${date === undefined ? '' : `${date} there, or `}${remedy}`)
}

function remedyOf(schema: Schematic, member: string): string {
  const { vendor } = schema['~standard']
  if (vendor === 'valibot') return `${member}: toStandardJsonSchema(schema), from '@valibot/to-json-schema'`
  // Nothing of version 4 can read version 3.
  if (vendor === 'zod' && '_def' in schema && !('_zod' in schema)) {
    return `${besides('zodToJsonSchema(schema)', member)}, by 'zod-to-json-schema', or use zod 4`
  }
  return besides(remedies.get(vendor) ?? BY_HAND, member)
}

/** Where to write a JSON Schema: for arguments the schema of the library may go on checking. */
function besides(json: string, member: string): string {
  return member === 'inputSchema' ? `inputSchema: ${json}, validate: schema` : `${member}: ${json}`
}

/** What a library writes of a schema, or what it cannot. */
interface OwnForm { readonly json?: JsonObject; readonly gap?: Gap; readonly cause?: unknown }

function ownFormOf(schema: Schematic, side: Side): OwnForm | undefined {
  const { vendor, jsonSchema } = schema['~standard']
  if (jsonSchema === undefined) return undefined
  const optionsOf = libraryOptions.get(vendor)
  const flagged = flaggedIn(schema)
  const write = (one: Side): JsonObject => {
    const options = { target: 'draft-2020-12', libraryOptions: optionsOf?.(one) }
    return unflagged(jsonSchema[one](options), flagged) as JsonObject
  }
  try {
    const json = write(side)
    const gap = gapIn(json) ?? (side === 'output' ? morphIn(schema) : undefined)
    if (gap !== undefined) return { gap }
    if (side === 'output' || optionsOf === undefined) return { json }
    return { json: completedBy(json, () => write('output')) }
  } catch (cause) {
    return { cause }
  }
}

/** What comes out may have no form, and is not asked for. */
function completedBy(json: JsonObject, output: () => JsonObject): JsonObject {
  try {
    return completed(json, output()) as JsonObject
  } catch {
    return json
  }
}

/** The keyword that stands for what has no JSON Schema. */
const GAP = 'x-no-json-schema'

function gapOf(what: unknown): JsonObject {
  return { [GAP]: String(what) }
}

/** The first gap in a form, and the first number that JSON does not have. */
function gapIn(json: unknown, path = ''): Gap | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  if (isObject(json) && typeof json[GAP] === 'string') return { path, what: json[GAP], isSure: true }
  for (const [name, member] of Object.entries(json)) {
    const isOdd = typeof member === 'number' && !Number.isFinite(member)
    const gap = isOdd ? { path, what: String(member), isSure: true } : gapIn(member, path + step(name))
    if (gap !== undefined) return gap
  }
  return undefined
}

const ABSENT = { not: {} }

/** What libraries are told to write where they would write nothing, or throw. */
const libraryOptions: ReadonlyMap<string, (side: Side) => object> = new Map<string, (side: Side) => object>([
  ['arktype', (side: Side) => ({ fallback: {
    default: ({ code }: ArkGap) => gapOf(code),
    date: ({ base }: ArkGap) => side === 'output' ? { ...base, ...DATE } : gapOf('Date'),
    proto: ({ proto }: ArkGap) => gapOf(rawOf(proto)['name']),
    domain: ({ domain }: ArkGap) => gapOf(domain),
    unit: ({ unit }: ArkGap) => unit === undefined ? ABSENT : gapOf(wordOf(unit)),
    predicate: ({ base, predicate }: ArkGap) => (
      rawOf(predicate)['name'] === 'isParsableDate' ? { ...base, ...DATE }
        : isOpen(base) ? gapOf('narrow') : base
    ),
    // What they narrow is said without them.
    patternIntersection: ({ base }: ArkGap) => base,
    arrayPostfix: ({ base }: ArkGap) => base,
    defaultValue: () => undefined,
  } })],
  ['valibot', (side: Side) => ({
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema, jsonSchema, errors }: ValibotGap) => {
      const { type } = rawOf(valibotSchema)
      if (type === 'date' && side === 'output') return DATE
      if (type === 'undefined' || type === 'void') return ABSENT
      return errors === undefined || type === 'record' ? jsonSchema : gapOf(type)
    },
    overrideAction: ({ valibotAction, jsonSchema, errors }: ValibotGap) => {
      const { type, requirement } = rawOf(valibotAction)
      // Valibot's own formats of a time without a zone.
      if (type === 'iso_date_time' || type === 'iso_time') {
        const { format, ...rest } = jsonSchema
        return { ...rest, pattern: (requirement as RegExp).source }
      }
      if (isOpen(jsonSchema) && isCheck(rawOf(valibotAction))) return gapOf(type)
      if (errors === undefined || !isChange(rawOf(valibotAction))) return jsonSchema
      const made = madeBy(rawOf(valibotAction))
      return made === 'date' ? DATE : made === 'transform' || made === 'bigint' ? gapOf(made)
        : made === 'unknown' ? {} : { type: made }
    },
  })],
])

interface ArkGap {
  readonly code: string
  readonly base: JsonObject
  readonly proto?: unknown
  readonly domain?: unknown
  readonly unit?: unknown
  readonly predicate?: unknown
}

interface ValibotGap {
  readonly valibotSchema?: unknown
  readonly valibotAction?: unknown
  readonly jsonSchema: JsonObject
  readonly errors?: readonly string[]
}

/** Of arktype: a morph that does not say what it makes. Its library writes that as anything. */
function morphIn(schema: Schematic): Gap | undefined {
  const { references, flatMorphs } = rawOf(schema)
  const isFree = (node: unknown): boolean => {
    const { kind, rawOut } = rawOf(node)
    return kind === 'morph' && rawOf(rawOut)['expression'] === 'unknown'
  }
  if (!itemsOf(references).some(isFree)) return undefined
  const morph = itemsOf(flatMorphs).map(rawOf).find(({ node }) => isFree(node))
  const steps = itemsOf(morph?.['path']).map((key) => {
    if (typeof key === 'string') return `/properties${step(key)}`
    return typeof key === 'number' ? `/prefixItems/${key}` : '/items'
  })
  return { path: steps.join(''), what: 'morph', isSure: true }
}

/** Of arktype: the expressions with flags. Its library writes their sources alone, which take less. */
function flaggedIn(schema: Schematic): ReadonlySet<unknown> {
  const nodes = itemsOf(rawOf(schema)['references']).map(rawOf)
  return new Set(nodes.filter(({ flags }) => hasOwnFlags(flags)).map(({ rule }) => rule))
}

function unflagged(json: unknown, flagged: ReadonlySet<unknown>): unknown {
  if (flagged.size === 0) return json
  if (Array.isArray(json)) return json.map((one) => unflagged(one, flagged))
  if (!isObject(json)) return json
  return Object.fromEntries(Object.entries(json).flatMap(([name, one]) => (
    name === 'pattern' && flagged.has(one) ? [] : [[name, unflagged(one, flagged)]]
  )))
}

/** A form of what comes in, with what the form says of it that it is made into. */
function completed(input: unknown, output: unknown): unknown {
  if (Array.isArray(input)) return input.map((one, index) => completed(one, itemsOf(output)[index]))
  if (!isObject(input) || !isObject(output) || GAP in output) return input
  if (isOpen(input)) return { ...output, ...input }
  const times = output['format'] === DATE.format ? timesOf(input) : undefined
  if (times !== undefined) return times
  return Object.fromEntries(Object.entries(input).map(([name, one]) => [name, completed(one, output[name])]))
}

/** A form that stands at a place in another, with its references. */
function moved(json: JsonObject, at: string): JsonObject {
  return at === '' ? json : movedIn(json, at) as JsonObject
}

function movedIn(json: unknown, at: string): unknown {
  if (Array.isArray(json)) return json.map((one) => movedIn(one, at))
  if (!isObject(json)) return json
  return Object.fromEntries(Object.entries(json).map(([name, one]) => {
    const isLocal = name === '$ref' && typeof one === 'string' && one.startsWith('#')
    return [name, isLocal ? referenceTo(at) + one.slice(1) : movedIn(one, at)]
  }))
}
