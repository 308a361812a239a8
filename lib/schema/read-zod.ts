/** Reads schemas of zod: version 3, and version 4 with zod/mini. */
import { about, hasOwnFlags, keywordsOf, itemsOf, rawOf, together } from './library-part.ts'
import { isObject } from './rule.ts'
import type { Part, Raw, Side } from './library-part.ts'
import type { JsonObject } from './rule.ts'

const words: ReadonlyMap<unknown, string> = new Map(Object.entries({
  nativeenum: 'enum', literal: 'enum', discriminatedunion: 'union', default: 'wrapped', prefault: 'wrapped',
  readonly: 'wrapped', catch: 'wrapped', branded: 'wrapped', pipeline: 'pipe',
}))

export function readZod3(schema: object, side: Side): Part | undefined {
  const def = rawOf(Reflect.get(schema, '_def'))
  const { typeName, shape, innerType, valueType, type: element, options, items, values, value, rest } = def
  if (typeof typeName !== 'string') return undefined
  const name = typeName.slice('Zod'.length).toLowerCase()
  const type = words.get(name) ?? name
  const { description, minLength, maxLength, exactLength } = def
  const more = together(
    ...itemsOf(def['checks']).map((check) => keywordsOfZod3(type, rawOf(check))),
    keywordsOf(type, 'min', rawOf(minLength)['value']), keywordsOf(type, 'max', rawOf(maxLength)['value']),
    keywordsOf(type, 'length', rawOf(exactLength)['value']), about({ description }),
  )
  switch (name) {
    case 'effects': return { ...effectsOfZod3(def, side), more }
    case 'pipeline': return { type, from: def['in'], to: def['out'], more }
    case 'lazy': return { type, inner: def['getter'], more }
    case 'catch': return { type, inner: innerType, isOptional: side === 'input', more }
    case 'intersection': return { type, several: [def['left'], def['right']], more }
    case 'record': return { type, key: def['keyType'], inner: valueType, more }
    case 'tuple':
      return { type, several: items, rest, isClosed: true, more: { minItems: itemsOf(items).length } }
    case 'object': return {
      type, properties: typeof shape === 'function' ? shape() : undefined, more,
      isClosed: def['unknownKeys'] === 'strict' && isOfNothing(def['catchall']),
      ...!isOfNothing(def['catchall']) && { rest: def['catchall'] },
    }
    default: return {
      type, more, inner: innerType ?? element, several: options, isCoerced: def['coerce'] === true,
      choices: name === 'literal' ? [value] : isObject(values) ? membersOf(values) : values,
      initial: typeof def['defaultValue'] === 'function' ? def['defaultValue']() : undefined,
    }
  }
}

/** A refinement, a transformation, or what is made before it is looked at. */
function effectsOfZod3(def: Raw, side: Side): Part {
  const { type: effect } = rawOf(def['effect'])
  const inner = def['schema']
  const transform = { _def: { typeName: 'ZodTransform' } }
  if (effect === 'transform') return { type: 'pipe', from: inner, to: transform }
  if (effect === 'preprocess') return { type: 'pipe', from: transform, to: inner }
  const part = readZod3(rawOf(inner), side)
  const isFree = part?.type === 'any' || part?.type === 'unknown'
  return isFree ? { ...part, isNarrowed: true } : { type: 'wrapped', inner }
}

function isOfNothing(schema: unknown): boolean {
  const typeName = rawOf(rawOf(schema)['_def'])['typeName']
  return typeName === undefined || typeName === 'ZodNever'
}

function keywordsOfZod3(type: string, check: Raw): JsonObject {
  const { kind, value, inclusive, version, regex, offset, local } = check
  if (kind === 'regex') return keywordsOf(type, kind, regex)
  if (kind === 'ip') return version === undefined ? {} : keywordsOf(type, `ip${String(version)}`, undefined)
  // Without an offset it ends with a Z.
  const expression = kind === 'datetime' && offset === false && local !== true ? /Z$/ : undefined
  return keywordsOf(type, kind, value, { isExclusive: inclusive === false, expression })
}

/** The values of an enumeration; one of numbers has its names as values too. */
function membersOf(entries: Raw): readonly unknown[] {
  const numbers = new Set(Object.values(entries).filter((value) => typeof value === 'number'))
  return Object.entries(entries).filter(([name]) => !numbers.has(Number(name))).map(([, value]) => value)
}

const numbers: ReadonlyMap<unknown, JsonObject> = new Map<unknown, JsonObject>([
  ['safeint', { type: 'integer' }],
  ['int32', { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }],
  ['uint32', { type: 'integer', minimum: 0, maximum: 2 ** 32 - 1 }],
  ['float32', { minimum: -Math.fround(3.4028234663852886e38), maximum: Math.fround(3.4028234663852886e38) }],
])

export function readZod(schema: object, side: Side): Part | undefined {
  const { optin, optout, traits } = rawOf(Reflect.get(schema, '_zod'))
  const part = readPart(schema)
  if (part === undefined || traits === undefined) return part
  return { ...part, isOptional: (side === 'input' ? optin : optout) !== undefined }
}

function readPart(schema: object): Part | undefined {
  const def = defOf(schema)
  const { type: name, innerType, valueType, element, options, items, entries, values, catchall, rest } = def
  if (typeof name !== 'string') return undefined
  const type = words.get(name) ?? name
  const checks = [def, ...itemsOf(def['checks']).map(defOf)]
  const more = together(...checks.map((check) => keywordsOfZod(type, check)), about(registered(schema)))
  switch (name) {
    case 'pipe': return { type, from: def['in'], to: def['out'], more: about(registered(schema)) }
    case 'lazy': return { type, inner: def['getter'], more }
    case 'promise': return { type: 'wrapped', inner: innerType, more }
    case 'success': return { type: 'boolean', more }
    case 'intersection': return { type, several: [def['left'], def['right']], more }
    case 'union': return { type: isExclusive(def) ? 'xor' : type, several: options, more }
    case 'template_literal': {
      const { pattern } = rawOf(rawOf(schema)['_zod'])
      return { type: 'string', more: { ...keywordsOf('string', name, pattern), ...more } }
    }
    case 'record': return {
      type, key: def['keyType'], inner: valueType, more,
      isLoose: def['mode'] === 'loose', isWhole: def['partial'] !== true && !isLenient(def['keyType']),
    }
    case 'object': return {
      type, properties: def['shape'], more, isClosed: defOf(catchall)['type'] === 'never',
      ...catchall !== undefined && { rest: catchall },
    }
    default: return {
      type, more, inner: innerType ?? element, several: items, rest, isClosed: name === 'tuple',
      choices: isObject(entries) ? membersOf(entries) : values, initial: def['defaultValue'],
      isCoerced: def['coerce'] === true, isNarrowed: checks.some(({ check }) => check === 'custom'),
      isFlagged: checks.some(({ pattern }) => hasOwnFlags(rawOf(pattern)['flags'])),
    }
  }
}

/** Exactly one of the options, without a member that tells which. */
function isExclusive({ inclusive, discriminator }: Raw): boolean {
  return inclusive === false && discriminator === undefined
}

/** Whether the names of a record may be left out: before version 4.2 that was said by no key of its own. */
function isLenient(key: unknown): boolean {
  return rawOf(rawOf(key)['_zod'])['values'] === undefined
}

function keywordsOfZod(type: string, check: Raw): JsonObject {
  const { check: kind, value, inclusive, minimum, maximum, length, format, pattern, precision } = check
  if (kind === 'number_format') return numbers.get(format) ?? {}
  if (kind === 'string_format') {
    // Without seconds it is no time of a date-time.
    const name = precision === -1 || format === 'time' ? undefined : format
    return keywordsOf(type, name, undefined, { expression: pattern })
  }
  return keywordsOf(type, kind, value ?? minimum ?? maximum ?? length, { isExclusive: inclusive === false })
}

function defOf(schema: unknown): Raw {
  return rawOf(rawOf(rawOf(schema)['_zod'])['def'])
}

/** What zod's own register holds of a schema: zod/mini has it for all copies of the package alone. */
function registered(schema: object): unknown {
  if ('meta' in schema && typeof schema.meta === 'function') return schema.meta() as unknown
  const register = rawOf(Reflect.get(globalThis, '__zod_globalRegistry'))
  return typeof register['get'] === 'function' ? register['get'](schema) as unknown : undefined
}
