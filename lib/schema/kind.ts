/**
 * The kinds of values that keywords have: how to tell one, what to write instead of another, and its metaschema.
 */
import type { JsonObject, Kind } from './rule.ts'
import { isObject } from './rule.ts'

type Is<T> = (value: unknown) => value is T

const text = { type: 'string' }
const array = { type: 'array' }
const texts = { ...array, items: text, uniqueItems: true }
const types = { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] }
const listOf = (items: unknown): JsonObject => ({ ...array, minItems: 1, items })
const mapOf = (additionalProperties: unknown): JsonObject => ({ type: 'object', additionalProperties })

const isAny: Is<unknown> = (value): value is unknown => value !== undefined
const isText: Is<string> = (value) => typeof value === 'string'
const isNumber: Is<number> = (value) => typeof value === 'number'
const isList: Is<readonly unknown[]> = (value): value is unknown[] => Array.isArray(value)
const isSchema: Is<JsonObject | boolean> = (value) => typeof value === 'boolean' || isObject(value)
const isCount: Is<number> = (value): value is number => isNumber(value) && value >= 0 && value % 1 === 0
const isPositive: Is<number> = (value): value is number => isNumber(value) && value > 0
const areNames: Is<readonly string[]> = (value): value is string[] => isList(value) && value.every(isText)

export const anything: Kind<unknown> = kind(isAny, 'given', {})
export const type: Kind<unknown> = kind(isAny, 'given', { anyOf: [types, { ...listOf(types), uniqueItems: true }] })
export const boolean: Kind<unknown> = kind((value) => typeof value === 'boolean', 'true or false', { type: 'boolean' })
export const number: Kind<number> = kind(isNumber, 'a number', { type: 'number' })
export const positive: Kind<number> = kind(isPositive, 'a number greater than 0', { type: 'number', exclusiveMinimum: 0 })
export const count: Kind<number> = kind(isCount, 'an integer of at least 0', { type: 'integer', minimum: 0 })
export const string: Kind<string> = kind(isText, 'a string', text)
export const regex: Kind<string> = kind(isText, 'a string', { ...text, format: 'regex' })
export const reference: Kind<string> = kind(isText, 'a string', { ...text, format: 'uri-reference' })
export const identifier: Kind<string> = spelled('^[^#]*#?$', 'a URI without fragment; write the fragment as "$anchor"')
export const anchor: Kind<string> =
  spelled('^[A-Za-z_][-A-Za-z0-9._]*$', 'a word of letters, digits, "-", "_" and ".", without "#"')
export const list: Kind<readonly unknown[]> = kind(isList, 'an array', array)
export const names: Kind<readonly string[]> = kind(areNames, 'an array of names of properties: ["name"]', texts)
export const map: Kind<JsonObject> = kind(isObject, 'an object', { type: 'object' })
export const schema: Kind<JsonObject | boolean> = kind(isSchema, 'one schema, an object or a boolean', (self) => self, 'schemas')
export const schemas: Kind<readonly unknown[]> =
  kind((value): value is unknown[] => isList(value) && value.length > 0, 'an array of schemas, not empty', listOf, 'schemas')
export const schemaOrList: Kind<unknown> = kind((value): value is unknown => isSchema(value) || isList(value),
  'a schema or an array of schemas', (self) => ({ anyOf: [self, listOf(self)] }), 'schemas')
export const schemaMap: Kind<JsonObject> = kind(isObject, 'an object: { "name": schema }', mapOf, 'map')
export const namesMap: Kind<JsonObject> = kind(isObject, 'an object: { "name": ["other"] }', mapOf(texts))
export const mixedMap: Kind<JsonObject> =
  kind(isObject, 'an object: { "name": schema }', (self) => mapOf({ anyOf: [self, texts] }), 'map')

function kind<T>(is: Is<T>, phrase: string, schema: JsonObject | Kind<T>['schema'], holds?: Kind<T>['holds']): Kind<T> {
  return { is, phrase, schema: typeof schema === 'function' ? schema : () => schema, holds }
}

function spelled(pattern: string, phrase: string): Kind<string> {
  const expression = RegExp(pattern)
  return kind((value): value is string => isText(value) && expression.test(value), phrase, { ...text, pattern })
}
