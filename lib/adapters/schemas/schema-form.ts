/**
 * The JSON Schema that is published of a schema of a library: the library's own, or what is read of it, or
 * else a TypeError that says what has none, and what to write.
 * Spec: https://standardschema.dev/json-schema
 */
import { cut, step } from '../../kernel/schema/error.ts'
import { isRecord } from '../../kernel/util/record.ts'
import { formByHand, isShape, isStandard } from '../../kernel/schema/standard.ts'
import { DATE, GAP, gapIn, gapOf, isOpen, referenceTo, rewritten, timesOf } from './json-form.ts'
import { libraryForm } from './library-form.ts'
import { hasOwnFlags, rawOf, wordOf } from './library-part.ts'
import { itemsIn } from '../shared/shape.ts'
import { isChange, isCheck, madeBy, wordsOfBoolean } from './read-valibot.ts'
import { typeBoxForm } from './typebox.ts'
import type { JsonObject } from '../../kernel/schema/rule.ts'
import type { Side, StandardSchema } from '../../kernel/schema/standard.ts'
import type { Gap } from './json-form.ts'
import type { Raw } from './library-part.ts'

/** What takes a date as JSON has it. */
const dates: ReadonlyMap<string, string> = new Map([
  ['zod', 'z.coerce.date()'],
  ['valibot', 'v.pipe(v.string(), v.isoTimestamp(), v.toDate())'],
  ['arktype', `'string.date.iso.parse'`],
  ['effect', 'Schema.DateFromString'],
  ['TypeBox', `Type.String({ format: 'date-time' })`],
])

/** What holds properties alone, in each library. */
const objects: ReadonlyMap<string, string> = new Map([
  ['zod', 'z.object({ … })'],
  ['valibot', 'v.object({ … })'],
  ['arktype', 'type({ … })'],
])

/**
 * The form of one side of a schema, as `SchemaForm` has it. `at`: where it is put in another one, as a JSON
 * Pointer. Left out: it is a whole by itself.
 */
export function schemaForm(schema: unknown, side: Side, member: string, at = ''): JsonObject | undefined {
  if (!isStandard(schema)) return otherForm(schema, side, member)
  const { vendor } = schema['~standard']
  const read = libraryForm(schema, side)
  const own = read?.isBest === true ? undefined : ownFormOf(schema, side)
  if (own?.json !== undefined) return moved(own.json, at)
  const gap = read === undefined ? own?.gap : gapIn(read.json)
  if (gap !== undefined) throw gapError(vendor, gap, at, side, formByHand(member))
  if (read !== undefined) return moved(read.json, at)
  // Before its version 2.2.
  if (own !== undefined || vendor !== 'arktype') return undefined
  const remedy = formByHand(member, 'schema.toJsonSchema()')
  throw new TypeError(`This ${vendor} schema has no JSON Schema form; write ${remedy}`)
}

/** The form of a schema of TypeBox. Throws `TypeError` for what a library has that is no Standard Schema. */
function otherForm(schema: unknown, side: Side, member: string): JsonObject | undefined {
  const raw = rawOf(schema)
  if ('_tag' in rawOf(raw['ast'])) {
    throw new TypeError('This effect schema is no Standard Schema yet; write Schema.standardSchemaV1(schema)'
      + ', and in version 4 Schema.toStandardSchemaV1(schema)')
  }
  if ('_def' in raw) {
    throw new TypeError('This is a schema of a library, and neither a JSON Schema nor a Standard Schema; '
      + 'use zod 3.24 or later, or write its JSON Schema')
  }
  const remedy = isShape(schema) ? objects.get(Object.values(schema)[0]!['~standard'].vendor) : undefined
  if (remedy !== undefined) throw new TypeError(`This is a shape, not a schema; write ${remedy}`)
  const json = typeBoxForm(raw)
  const gap = gapIn(json)
  if (gap === undefined) return json
  throw gapError('TypeBox', gap, '', side, `${member}: { type: 'object', properties: { … } }`)
}

function gapError(library: string, { what, path }: Gap, at: string, side: Side, remedy: string): TypeError {
  const date = side === 'input' && /^date$/i.test(what) ? dates.get(library) : undefined
  return new TypeError(`This ${cut(library, 40)} schema cannot be written as JSON Schema, as it has `
    + `'${cut(what, 80)}' at ${cut(at + path, 200) || 'its root'}; write `
    + `${date === undefined ? '' : `${date} there, or `}${remedy}`)
}

/** What a library writes of a schema, or what it cannot. */
interface OwnForm { readonly json?: JsonObject; readonly gap?: Gap; readonly cause?: unknown }

function ownFormOf(schema: StandardSchema, side: Side): OwnForm | undefined {
  const { vendor, jsonSchema } = schema['~standard']
  if (jsonSchema === undefined) return undefined
  const optionsOf = libraryOptions.get(vendor)
  const flagged = flaggedIn(schema)
  const write = (one: Side): OwnForm => {
    try {
      const options = { target: 'draft-2020-12', libraryOptions: optionsOf?.(one) }
      return { json: unflagged(jsonSchema[one](options), flagged) }
    } catch (cause) {
      return { cause }
    }
  }
  const own = write(side)
  const gap = gapIn(own.json) ?? (side === 'output' ? morphIn(schema) : undefined)
  if (gap !== undefined) return { gap }
  if (side === 'output' || optionsOf === undefined) return own
  // What comes out may have no form, and is not asked for.
  return own.json === undefined ? own : { json: completed(own.json, write('output').json) as JsonObject }
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
      const action = rawOf(valibotAction)
      const { type, requirement } = action
      // Valibot's own formats of a time without a zone.
      if (type === 'iso_date_time' || type === 'iso_time') {
        const { format, ...rest } = jsonSchema
        return { ...rest, pattern: (requirement as RegExp).source }
      }
      if (isOpen(jsonSchema) && isCheck(action)) return gapOf(type)
      if (errors === undefined || !isChange(action)) return jsonSchema
      const spoken = side === 'input' && jsonSchema['type'] === 'string' ? wordsOfBoolean(action) : []
      if (spoken.length > 0) return { ...jsonSchema, enum: spoken }
      const made = madeBy(action)
      return made === 'date' ? DATE : made === 'transform' || made === 'bigint' ? gapOf(made)
        : made === 'unknown' ? {} : { type: made }
    },
  })],
])

/** What they ask with: a part of a schema, and what is written of it so far. */
type ArkGap = Raw & { readonly base: JsonObject }
type ValibotGap = Raw & { readonly jsonSchema: JsonObject }

/** Of arktype: a morph that does not say what it makes. Its library writes that as anything. */
function morphIn(schema: StandardSchema): Gap | undefined {
  const { references, flatMorphs } = rawOf(schema)
  const isFree = (node: unknown): boolean => {
    const { kind, rawOut } = rawOf(node)
    return kind === 'morph' && rawOf(rawOut)['expression'] === 'unknown'
  }
  if (!itemsIn(references).some(isFree)) return undefined
  const morph = itemsIn(flatMorphs).map(rawOf).find(({ node }) => isFree(node))
  const steps = itemsIn(morph?.['path']).map((key) => {
    if (typeof key === 'string') return `/properties${step(key)}`
    return typeof key === 'number' ? `/prefixItems/${key}` : '/items'
  })
  return { path: steps.join(''), what: 'morph' }
}

/** Of arktype: the expressions with flags. Its library writes their sources alone, which take less. */
function flaggedIn(schema: StandardSchema): ReadonlySet<unknown> {
  const nodes = itemsIn(rawOf(schema)['references']).map(rawOf)
  return new Set(nodes.filter(({ flags }) => hasOwnFlags(flags)).map(({ rule }) => rule))
}

function unflagged(json: JsonObject, flagged: ReadonlySet<unknown>): JsonObject {
  if (flagged.size === 0) return json
  return rewritten(json, ({ pattern, ...others }) => (
    pattern === undefined || flagged.has(pattern) ? others : { ...others, pattern }
  )) as JsonObject
}

/** A form of what comes in, with what the form says of it that it is made into. */
function completed(input: unknown, output: unknown): unknown {
  if (Array.isArray(input)) return input.map((one, index) => completed(one, itemsIn(output)[index]))
  if (!isRecord(input) || !isRecord(output) || GAP in output) return input
  if (isOpen(input)) return { ...output, ...input }
  const times = output['format'] === DATE.format ? timesOf(input) : undefined
  if (times !== undefined) return times
  return Object.fromEntries(Object.entries(input).map(([name, one]) => [name, completed(one, output[name])]))
}

/** A form that stands at a place in another, with its references. */
function moved(json: JsonObject, at: string): JsonObject {
  if (at === '') return json
  return rewritten(json, (one) => {
    const { $ref } = one
    const isLocal = typeof $ref === 'string' && $ref.startsWith('#')
    return isLocal ? { ...one, $ref: referenceTo(at) + $ref.slice(1) } : one
  }) as JsonObject
}
