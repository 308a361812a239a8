/**
 * The kinds of values that keywords have: how to tell one, what to write instead of another, and its metaschema.
 */
import type { JsonObject, Kind } from './rule.ts'
import { isObject } from './rule.ts'

const text = { type: 'string' }
const array = { type: 'array' }
const texts = { ...array, items: text, uniqueItems: true }
const types = { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] }
const named = 'an object: { "name": schema }'

export const anything: Kind<unknown> = kind(isGiven, '', {})
export const type: Kind<unknown> = kind(isGiven, '', { anyOf: [types, { ...listOf(types), uniqueItems: true }] })
export const boolean: Kind<boolean> = kind((value) => typeof value === 'boolean', 'true or false', { type: 'boolean' })
export const number: Kind<number> = kind(isNumber, 'a number', { type: 'number' })
export const positive: Kind<number> = kind((value): value is number => isNumber(value) && value > 0,
  'a number greater than 0', { type: 'number', exclusiveMinimum: 0 })
export const count: Kind<number> = kind((value): value is number => isNumber(value) && value >= 0 && value % 1 === 0,
  'an integer of at least 0', { type: 'integer', minimum: 0 })
export const string: Kind<string> = spelled('', 'a string', text)
export const regex: Kind<string> = spelled('', 'a string', { ...text, format: 'regex' })
export const reference: Kind<string> = spelled('', 'a string', { ...text, format: 'uri-reference' })
export const identifier: Kind<string> = spelled('^[^#]*#?$', 'a URI without fragment; write the fragment as "$anchor"')
export const anchor: Kind<string> =
  spelled('^[A-Za-z_][-A-Za-z0-9._]*$', 'a word of letters, digits, "-", "_" and ".", without "#"')
export const list: Kind<readonly unknown[]> = kind(isList, 'an array', array)
export const names: Kind<readonly string[]> = kind((value): value is string[] =>
  isList(value) && value.every((name) => typeof name === 'string'), 'an array of names of properties: ["name"]', texts)
export const map: Kind<JsonObject> = kind(isObject, 'an object', { type: 'object' })
export const namesMap: Kind<JsonObject> = kind(isObject, 'an object: { "name": ["other"] }', mapOf(texts))

export const schema: Kind<unknown> = kind(isSchema, 'one schema, an object or a boolean', (self) => self, 'schemas')
export const schemas: Kind<readonly unknown[]> = kind((value): value is unknown[] =>
  isList(value) && value.length > 0, 'an array of schemas, not empty', listOf, 'schemas')
export const schemaOrList: Kind<unknown> = kind((value): value is unknown => isSchema(value) || isList(value),
  'a schema or an array of schemas', (self) => ({ anyOf: [self, listOf(self)] }), 'schemas')
export const schemaMap: Kind<JsonObject> = kind(isObject, named, mapOf, 'map')
export const mixedMap: Kind<JsonObject> = kind(isObject, named, (self) => mapOf({ anyOf: [self, texts] }), 'map')

function kind<T>(
  is: Kind<T>['is'], phrase: string, schema: JsonObject | Kind<T>['schema'], holds?: Kind<T>['holds'],
): Kind<T> {
  return { is, phrase, schema: typeof schema === 'function' ? schema : () => schema, holds }
}

function spelled(pattern: string, phrase: string, schema: JsonObject = { ...text, pattern }): Kind<string> {
  const expression = RegExp(pattern)
  return kind((value): value is string => typeof value === 'string' && expression.test(value), phrase, schema)
}

function isGiven(value: unknown): value is unknown {
  return value !== undefined
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

function isSchema(value: unknown): value is unknown {
  return typeof value === 'boolean' || isObject(value)
}

function listOf(items: JsonObject): JsonObject {
  return { ...array, minItems: 1, items }
}

function mapOf(additionalProperties: JsonObject): JsonObject {
  return { type: 'object', additionalProperties }
}
