/**
 * The kinds of values that keywords have: how to tell one, what to write instead of another, its metaschema,
 * and where subschemas are in it.
 */
import type { JsonObject, Kind } from './rule.ts'
import { isObject } from './rule.ts'

const text = { type: 'string' }
const array = { type: 'array' }
const texts = { ...array, items: text, uniqueItems: true }
const types = { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] }
const uri = '^[^#]*#?$'
const word = '^[A-Za-z_][-A-Za-z0-9._]*$'
const itself = (self: JsonObject): JsonObject => self
const listOf = (items: JsonObject): JsonObject => ({ ...array, minItems: 1, items })
const mapOf = (additionalProperties: JsonObject): JsonObject => ({ type: 'object', additionalProperties })

const isAny = (value: unknown): value is unknown => value !== undefined
const isText = (value: unknown): value is string => typeof value === 'string'
const isUri = (value: unknown): value is string => isText(value) && RegExp(uri).test(value)
const isWord = (value: unknown): value is string => isText(value) && RegExp(word).test(value)
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isPositive = (value: unknown): value is number => isNumber(value) && value > 0
const isCount = (value: unknown): value is number => isNumber(value) && value >= 0 && value % 1 === 0
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
const isFullList = (value: unknown): value is readonly unknown[] => isList(value) && value.length > 0
const areNames = (value: unknown): value is readonly string[] => isList(value) && value.every(isText)
const isFlag = (value: unknown): value is unknown => typeof value === 'boolean'
const isSchema = (value: unknown): value is unknown => isFlag(value) || isObject(value)
const isEither = (value: unknown): value is unknown => isSchema(value) || isList(value)

const noList = 'one schema, an object or a boolean; for a list of them write "prefixItems"'
const onObject = 'an array of names, ["name"], on the object that has the properties'
const noFragment = 'a URI without fragment; write the fragment as "$anchor"'
const several = 'a non-empty array of schemas'
const wordy = 'a word of letters, digits, "-", "_" and ".", without "#"'
const either = (self: JsonObject): JsonObject => ({ anyOf: [self, listOf(self)] })
const mixed = (self: JsonObject): JsonObject => mapOf({ anyOf: [self, texts] })

export const anything: Kind<unknown> = [isAny, '', {}]
export const type: Kind<unknown> = [isAny, '', { anyOf: [types, { ...listOf(types), uniqueItems: true }] }]
export const flag: Kind<unknown> = [isFlag, 'true or false', { type: 'boolean' }]
export const number: Kind<number> = [isNumber, 'a number: the bound itself', { type: 'number' }]
export const positive: Kind<number> = [isPositive, 'greater than 0', { type: 'number', exclusiveMinimum: 0 }]
export const count: Kind<number> = [isCount, 'an integer of at least 0', { type: 'integer', minimum: 0 }]
export const string: Kind<string> = [isText, 'a string', text]
export const regex: Kind<string> = [isText, 'a string', { ...text, format: 'regex' }]
export const reference: Kind<string> = [isText, 'a string', { ...text, format: 'uri-reference' }]
export const identifier: Kind<string> = [isUri, noFragment, { ...text, pattern: uri }]
export const anchor: Kind<string> = [isWord, wordy, { ...text, pattern: word }]
export const list: Kind<readonly unknown[]> = [isList, 'an array', array]
export const names: Kind<readonly string[]> = [areNames, onObject, texts]
export const map: Kind<JsonObject> = [isObject, 'an object', { type: 'object' }]
export const namesMap: Kind<JsonObject> = [isObject, 'an object: { "name": ["other"] }', mapOf(texts)]
export const schema: Kind<unknown> = [isSchema, 'one schema, an object or a boolean', itself, 'schemas']
export const itemSchema: Kind<unknown> = [isSchema, noList, itself, 'schemas']
export const schemas: Kind<readonly unknown[]> = [isFullList, several, listOf, 'schemas']
export const schemaOrList: Kind<unknown> = [isEither, 'a schema or an array of schemas', either, 'schemas']
export const schemaMap: Kind<JsonObject> = [isObject, 'an object: { "name": schema }', mapOf, 'map']
export const mixedMap: Kind<JsonObject> = [isObject, 'an object: { "name": schema }', mixed, 'map']
