/**
 * Schemas of TypeBox, of both packages: JSON Schemas in the words of an older draft, with kinds of TypeBox's
 * own among them. They are checked as JSON Schemas; nothing of TypeBox runs.
 */
import { GAP, gapOf, rewritten } from './json-form.ts'
import { rawOf } from './library-part.ts'
import type { JsonObject } from '../../kernel/schema/rule.ts'

const kind = Symbol.for('TypeBox.Kind')

/** What takes anything, as its author says. */
const open: ReadonlySet<unknown> = new Set(['Any', 'Unknown', 'Unsafe'])

const types: ReadonlySet<unknown> = new Set([
  'array', 'boolean', 'integer', 'null', 'number', 'object', 'string',
])

/** What tells which values are taken. */
const assertions = [
  '$ref', 'allOf', 'anyOf', 'const', 'enum', 'not', 'oneOf', 'pattern', 'patternProperties', 'properties',
] as const

const absent: ReadonlySet<unknown> = new Set(['undefined', 'void'])

/**
 * The form of a schema of TypeBox, with its gaps; undefined for anything else. Tuples are as the draft of
 * today has them, and what may be left out, which `required` tells, is no choice.
 */
export function typeBoxForm(schema: JsonObject): JsonObject | undefined {
  if (kindOf(schema) === undefined) return undefined
  return rewritten(schema, (form, given) => {
    const what = unsayable(given)
    if (what !== undefined) return gapOf(what)
    const { anyOf } = form
    if (Array.isArray(anyOf)) return { ...form, anyOf: anyOf.filter((one) => !absent.has(rawOf(one)[GAP])) }
    if (kindOf(given) === undefined || !Array.isArray(given['items'])) return form
    const { items, additionalItems, ...rest } = form
    return { ...rest, prefixItems: items, ...additionalItems !== undefined && { items: additionalItems } }
  }) as JsonObject
}

function kindOf(schema: object): unknown {
  return Reflect.get(schema, kind) ?? Reflect.get(schema, '~kind')
}

/** What JSON Schema cannot say of one schema, in TypeBox's words. */
function unsayable(schema: JsonObject): string | undefined {
  const what = kindOf(schema)
  if (what === undefined) return undefined
  if ('~refine' in schema) return 'Refine'
  const { type } = schema
  const isKnown = type === undefined ? open.has(what) || assertions.some((name) => name in schema)
    : (Array.isArray(type) ? type : [type]).every((one) => types.has(one))
  return isKnown ? undefined : String(type ?? what)
}
