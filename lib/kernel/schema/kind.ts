/** The kinds of values that keywords have. Where the metaschemas have a word for a kind, it is its name. */
import { isRecord } from '../util/record.ts'
import { isSchema } from './rule.ts'
import type { JsonObject, Kind } from './rule.ts'

const text = { type: 'string' }
const someArray = { type: 'array' }
const texts = { ...someArray, items: text, uniqueItems: true }
const types = { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] }
const uri = '^[^#]*#?$'
const word = '^[A-Za-z_][-A-Za-z0-9._]*$'
const itself = (self: JsonObject): JsonObject => self
const listOf = (items: JsonObject): JsonObject => ({ ...someArray, minItems: 1, items })
const mapOf = (additionalProperties: JsonObject): JsonObject => ({ type: 'object', additionalProperties })

type Is<T> = (value: unknown) => value is T

const isAny: Is<unknown> = (_): _ is unknown => true
const isText: Is<string> = (value) => typeof value === 'string'
const isLike = (pattern: string): Is<string> => (value): value is string =>
  isText(value) && RegExp(pattern).test(value)
const isNumber: Is<number> = (value) => typeof value === 'number'
const isPositive: Is<number> = (value): value is number => isNumber(value) && value > 0
const isCount: Is<number> = (value): value is number => isNumber(value) && value >= 0 && value % 1 === 0
const isList: Is<readonly unknown[]> = Array.isArray
const isFullList: Is<readonly unknown[]> = (value): value is readonly unknown[] =>
  isList(value) && value.length > 0
const areNames: Is<readonly string[]> = (value): value is readonly string[] =>
  isList(value) && value.every(isText)
const isFlag: Is<unknown> = (value): value is unknown => typeof value === 'boolean'
const isEither: Is<unknown> = (value): value is unknown => isSchema(value) || isList(value)

const aSchema = 'one schema, an object or a boolean'
const aMap = 'an object: { "name": schema }'
const either = (self: JsonObject): JsonObject => ({ anyOf: [self, listOf(self)] })
const mixed = (self: JsonObject): JsonObject => mapOf({ anyOf: [self, texts] })

export const anything: Kind<unknown> = [isAny, '', {}]
export const simpleTypes: Kind<unknown> =
  [isAny, '', { anyOf: [types, { ...listOf(types), uniqueItems: true }] }]
export const flag: Kind<unknown> = [isFlag, 'true or false', { type: 'boolean' }]
export const number: Kind<number> = [isNumber, 'a number: the bound itself', { type: 'number' }]
export const positive: Kind<number> = [isPositive, 'greater than 0', { type: 'number', exclusiveMinimum: 0 }]
export const nonNegativeInteger: Kind<number> =
  [isCount, 'an integer of at least 0', { type: 'integer', minimum: 0 }]
export const string: Kind<string> = [isText, 'a string', text]
export const regex: Kind<string> = [isText, 'a string', { ...text, format: 'regex' }]
export const reference: Kind<string> = [isText, 'a string', { ...text, format: 'uri-reference' }]
export const identifier: Kind<string> =
  [isLike(uri), 'a URI without fragment; write the fragment as "$anchor"', { ...text, pattern: uri }]
export const anchor: Kind<string> =
  [isLike(word), 'a word of letters, digits, "-", "_" and "."', { ...text, pattern: word }]
export const array: Kind<readonly unknown[]> = [isList, 'an array', someArray]
export const stringArray: Kind<readonly string[]> =
  [areNames, 'an array of names, ["name"], on the object that has the properties', texts]
export const map: Kind<JsonObject> = [isRecord, 'an object', { type: 'object' }]
export const stringArrayMap: Kind<JsonObject> = [isRecord, 'an object: { "name": ["other"] }', mapOf(texts)]
export const schema: Kind<unknown> = [isSchema, aSchema, itself, 'schemas']
export const itemSchema: Kind<unknown> =
  [isSchema, `${aSchema}; for a list of them write "prefixItems"`, itself, 'schemas']
export const schemaArray: Kind<readonly unknown[]> =
  [isFullList, 'a non-empty array of schemas', listOf, 'schemas']
export const schemaOrList: Kind<unknown> = [isEither, 'a schema or an array of schemas', either, 'schemas']
export const schemaMap: Kind<JsonObject> = [isRecord, aMap, mapOf, 'map']
export const mixedMap: Kind<JsonObject> = [isRecord, aMap, mixed, 'map']
