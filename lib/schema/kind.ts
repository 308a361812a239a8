/**
 * The kinds of values that keywords have: how to tell one, what to write instead of another, and its
 * metaschema.
 */
import type { JsonObject, Kind } from './rule.ts'
import { isObject } from './rule.ts'

const text = { type: 'string' }
const array = { type: 'array' }
const texts = { ...array, items: text, uniqueItems: true }
const types = { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] }
const listOf = (items: JsonObject): JsonObject => ({ ...array, minItems: 1, items })
const mapOf = (additionalProperties: JsonObject): JsonObject => ({ type: 'object', additionalProperties })

const isAny = (value: unknown): value is unknown => value !== undefined
const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isPositive = (value: unknown): value is number => isNumber(value) && value > 0
const isCount = (value: unknown): value is number => isNumber(value) && value >= 0 && value % 1 === 0
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
const isSchema = (value: unknown): value is unknown => typeof value === 'boolean' || isObject(value)
const id = '^[^#]*#?$'
const word = '^[A-Za-z_][-A-Za-z0-9._]*$'
const spelled = (pattern: string) => (value: unknown): value is string => isText(value) && RegExp(pattern).test(value)

export const anything: Kind<unknown> = [isAny, '', {}]
export const type: Kind<unknown> = [isAny, '', { anyOf: [types, { ...listOf(types), uniqueItems: true }] }]
export const boolean: Kind<unknown> = [(value) => typeof value === 'boolean', 'true or false', { type: 'boolean' }]
export const number: Kind<number> = [isNumber, 'a number: the bound itself', { type: 'number' }]
export const positive: Kind<number> = [isPositive, 'greater than 0', { type: 'number', exclusiveMinimum: 0 }]
export const count: Kind<number> = [isCount, 'an integer of at least 0', { type: 'integer', minimum: 0 }]
export const string: Kind<string> = [isText, 'a string', text]
export const regex: Kind<string> = [isText, 'a string', { ...text, format: 'regex' }]
export const reference: Kind<string> = [isText, 'a string', { ...text, format: 'uri-reference' }]
export const identifier: Kind<string> =
  [spelled(id), 'a URI without fragment; write the fragment as "$anchor"', { ...text, pattern: id }]
export const anchor: Kind<string> =
  [spelled(word), 'a word of letters, digits, "-", "_" and ".", without "#"', { ...text, pattern: word }]
export const list: Kind<readonly unknown[]> = [isList, 'an array', array]
export const names: Kind<readonly string[]> = [
  (value): value is string[] => isList(value) && value.every(isText), 'an array of names, ["name"], on the object that has the properties', texts,
]
export const map: Kind<JsonObject> = [isObject, 'an object', { type: 'object' }]
export const namesMap: Kind<JsonObject> = [isObject, 'an object: { "name": ["other"] }', mapOf(texts)]
export const itemSchema: Kind<unknown> =
  [isSchema, 'one schema, an object or a boolean; write "prefixItems" for a list', (self) => self, 'schemas']
export const schema: Kind<unknown> = [isSchema, 'one schema, an object or a boolean', (self) => self, 'schemas']
export const schemas: Kind<readonly unknown[]> = [
  (value): value is unknown[] => isList(value) && value.length > 0, 'an array of schemas, not empty', listOf, 'schemas',
]
export const schemaOrList: Kind<unknown> = [
  (value): value is unknown => isSchema(value) || isList(value), 'a schema or an array of schemas',
  (self) => ({ anyOf: [self, listOf(self)] }), 'schemas',
]
export const schemaMap: Kind<JsonObject> = [isObject, 'an object: { "name": schema }', mapOf, 'map']
export const mixedMap: Kind<JsonObject> =
  [isObject, 'an object: { "name": schema }', (self) => mapOf({ anyOf: [self, texts] }), 'map']
