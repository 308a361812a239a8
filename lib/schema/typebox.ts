/**
 * Schemas of TypeBox, of both packages: JSON Schemas in the words of an older draft, with kinds of TypeBox's
 * own among them. They are checked as JSON Schemas; nothing of TypeBox runs.
 */
import { step } from './error.ts'
import { isObject } from './rule.ts'
import type { Gap } from './library-form.ts'
import type { JsonObject } from './rule.ts'

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

/** The form of a schema of TypeBox, and what it cannot say; undefined for anything else. */
export function typeBoxForm(
  schema: JsonObject,
): { readonly json: JsonObject; readonly gap: Gap | undefined } | undefined {
  if (kindOf(schema) === undefined) return undefined
  return { json: formIn(schema) as JsonObject, gap: gapIn(schema, '') }
}

function kindOf(schema: object): unknown {
  return Reflect.get(schema, kind) ?? Reflect.get(schema, '~kind')
}

/** Tuples as the draft of today has them, and without what may be left out, which `required` tells. */
function formIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formIn)
  if (!isObject(value)) return value
  const form = Object.fromEntries(Object.entries(value).map(([name, one]) => (
    [name, formIn(name === 'anyOf' && Array.isArray(one) ? one.filter(isPresent) : one)]
  )))
  if (kindOf(value) === undefined || !Array.isArray(value['items'])) return form
  const { items, additionalItems, ...rest } = form
  return { ...rest, prefixItems: items, ...additionalItems !== undefined && { items: additionalItems } }
}

function gapIn(value: unknown, path: string): Gap | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const what = isObject(value) ? unsayable(value) : undefined
  if (what !== undefined) return { path, what, isSure: true }
  for (const [name, one] of Object.entries(value)) {
    const gap = path.endsWith('/anyOf') && !isPresent(one) ? undefined : gapIn(one, path + step(name))
    if (gap !== undefined) return gap
  }
  return undefined
}

function isPresent(schema: unknown): boolean {
  return !isObject(schema) || !absent.has(schema['type'])
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
