/** Reads schemas of zod: version 3, and version 4 with zod/mini. */
import { isRecord } from '../../kernel/util/record.ts'
import { about, hasOwnFlags, keywordsOf, rawOf, together } from './library-part.ts'
import { itemsIn } from '../shared/shape.ts'
import type { JsonObject } from '../../kernel/schema/rule.ts'
import type { Side } from '../../kernel/schema/standard.ts'
import type { LibraryPart, Raw } from './library-part.ts'

const words: ReadonlyMap<unknown, string> = new Map(Object.entries({
  nativeenum: 'enum', literal: 'enum', discriminatedunion: 'union', default: 'wrapped', prefault: 'wrapped',
  readonly: 'wrapped', catch: 'wrapped', branded: 'wrapped', pipeline: 'pipe', success: 'boolean',
  template_literal: 'string',
}))

export function readZod(schema: object, side: Side): LibraryPart | undefined {
  const { _zod: core, _def: old } = rawOf(schema)
  const def = core === undefined ? rawOf(old) : defOf(schema)
  const { typeName, type: element, innerType, valueType, left, right, options, items, rest, catchall } = def
  // The name of version 3, which has the items of a list under `type`.
  const name = typeof typeName === 'string' ? typeName.slice('Zod'.length).toLowerCase() : element
  if (typeof name !== 'string') return undefined
  const isOld = core === undefined
  const type = name === 'promise' && !isOld ? 'wrapped' : words.get(name) ?? name
  const checks = type === 'pipe' ? [] : isOld ? checksOf(def) : [def, ...itemsIn(def['checks']).map(defOf)]
  const more = together(
    ...checks.map((check) => keywordsOfCheck(type, check)),
    name === 'template_literal' ? keywordsOf(type, name, rawOf(core)['pattern']) : {},
    isOld && type === 'tuple' ? { minItems: itemsIn(items).length } : {},
    about(isOld ? { description: def['description'] } : registered(schema)),
  )
  if (name === 'effects') return effectOf(def, more)
  const isAlone = isOld ? nameOfOld(catchall) === 'ZodNever' : defOf(catchall)['type'] === 'never'
  const { optin, optout, traits } = rawOf(core)
  const spoken = type === 'pipe' && !isOld ? wordsOfBoolean(def) : []
  return {
    type: type === 'union' && isExclusive(def) ? 'xor' : type, more,
    properties: made(def['shape']), rest: rest ?? (isAlone ? undefined : catchall),
    isClosed: type === 'tuple' || isAlone && (def['unknownKeys'] ?? 'strict') === 'strict',
    key: def['keyType'], isLoose: def['mode'] === 'loose',
    isWhole: def['partial'] !== true && !isLenient(def['keyType']),
    inner: def['getter'] ?? innerType ?? valueType ?? def['element'] ?? element,
    several: options ?? items ?? [left, right], to: def['out'],
    from: spoken.length === 0 ? def['in'] : { _zod: { def: { type: 'literal', values: spoken } } },
    choices: isOld && name === 'literal' ? [def['value']] : membersOf(def['entries'] ?? def['values']),
    initial: made(def['defaultValue']), isCoerced: def['coerce'] === true,
    isNarrowed: checks.some(({ check }) => check === 'custom'),
    isFuller: spoken.length > 0 || checks.some(({ pattern }) => hasOwnFlags(rawOf(pattern)['flags'])),
    isOptional: traits !== undefined ? (side === 'input' ? optin : optout) !== undefined
      : isOld && name === 'catch' ? side === 'input' : undefined,
  }
}

/** Of `z.stringbool()`: its words, which only its transformation knows, and tells of a text that is none. */
function wordsOfBoolean(def: Raw): readonly unknown[] {
  const transform: unknown = def['transform'] ?? defOf(defOf(def['in'])['out'])['transform']
  if (typeof transform !== 'function' || !String(transform).includes('stringbool')) return []
  const issues: unknown[] = []
  transform('\0', { value: '\0', issues })
  return itemsIn(rawOf(issues[0])['values'])
}

function defOf(schema: unknown): Raw {
  return rawOf(rawOf(rawOf(schema)['_zod'])['def'])
}

function nameOfOld(schema: unknown): unknown {
  return rawOf(rawOf(schema)['_def'])['typeName']
}

/** Version 3 has functions that give a shape or a default. */
function made(value: unknown): unknown {
  return typeof value === 'function' ? value() as unknown : value
}

/** Of version 3: a refinement, a transformation, or what is made before it is looked at. */
function effectOf({ effect, schema }: Raw, more: JsonObject): LibraryPart {
  const { type } = rawOf(effect)
  const transform = { _def: { typeName: 'ZodTransform' } }
  if (type === 'transform') return { type: 'pipe', from: schema, to: transform, more }
  if (type === 'preprocess') return { type: 'pipe', from: transform, to: schema, more }
  return { type: 'wrapped', inner: schema, isNarrowed: true, more }
}

/** Of version 3; those of a list are members of their own. */
function checksOf({ checks, minLength, maxLength, exactLength }: Raw): readonly Raw[] {
  const ofList = Object.entries({ min: minLength, max: maxLength, length: exactLength })
  return [...itemsIn(checks).map(rawOf), ...ofList.map(([kind, given]) => ({ ...rawOf(given), kind }))]
}

/** The values of an enumeration; one of numbers has its names as values too. */
function membersOf(entries: unknown): readonly unknown[] {
  if (!isRecord(entries)) return itemsIn(entries)
  const numbers = new Set(Object.values(entries).filter((value) => typeof value === 'number'))
  return Object.entries(entries).filter(([name]) => !numbers.has(Number(name))).map(([, value]) => value)
}

/** Exactly one of the options, without a member that tells which. */
function isExclusive({ inclusive, discriminator }: Raw): boolean {
  return inclusive === false && discriminator === undefined
}

/** Whether the names of a record may be left out: before version 4.2 that was said by no key of its own. */
function isLenient(key: unknown): boolean {
  return rawOf(rawOf(key)['_zod'])['values'] === undefined
}

const numbers: ReadonlyMap<unknown, JsonObject> = new Map<unknown, JsonObject>([
  ['safeint', { type: 'integer' }],
  ['int32', { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }],
  ['uint32', { type: 'integer', minimum: 0, maximum: 2 ** 32 - 1 }],
  ['float32', { minimum: -Math.fround(3.4028234663852886e38), maximum: Math.fround(3.4028234663852886e38) }],
])

function keywordsOfCheck(type: string, check: Raw): JsonObject {
  const { check: own, format, precision, offset, local, minimum, maximum, length, regex } = check
  if (own === 'number_format') return numbers.get(format) ?? {}
  const isExclusive = check['inclusive'] === false
  if (own === 'string_format') {
    // Without seconds it is no time of a date-time.
    const name = precision === -1 || format === 'time' ? undefined : format
    return keywordsOf(type, name, undefined, { expression: check['pattern'] })
  }
  const { kind = own, value = minimum ?? maximum ?? length ?? regex } = check
  const name = kind === 'ip' ? `ip${String(check['version'])}` : kind
  // Without an offset it ends with a Z.
  const expression = kind === 'datetime' && offset === false && local !== true ? /Z$/ : undefined
  return keywordsOf(type, name, value, { isExclusive, expression })
}

/** What zod's own register holds of a schema: zod/mini has it for all copies of the package alone. */
function registered(schema: object): unknown {
  if ('meta' in schema && typeof schema.meta === 'function') return schema.meta() as unknown
  const register = rawOf(Reflect.get(globalThis, '__zod_globalRegistry'))
  return typeof register['get'] === 'function' ? register['get'](schema) as unknown : undefined
}
