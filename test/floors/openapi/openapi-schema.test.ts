import assert from 'node:assert/strict'
import test from 'node:test'
import { placed } from '../../../lib/floors/openapi/openapi-schema.ts'

const ROOT = '#/components/schemas/name'
const usual = 'https://json-schema.org/draft/2020-12/schema'
const draft07 = 'http://json-schema.org/draft-07/schema#'
const text = { type: 'string' }

/** A schema, and what is written in its place; with a component where its references were led there. */
const table: readonly (readonly [
  schema: Readonly<Record<string, unknown>>, written: object, component?: object, beside?: object,
])[] = [
  [{ type: 'object' }, { type: 'object' }],
  [{ $schema: usual, type: 'object' }, { type: 'object' }],
  [{ $schema: draft07, type: 'object' }, { $schema: draft07, type: 'object' }],
  [
    { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: text } }, { $ref: ROOT },
    { properties: { a: { $ref: `${ROOT}.a` } } }, { 'name.a': text },
  ],
  [
    { $ref: '#/$defs/a/items', $defs: { 'a': { items: text }, 'b c': { $ref: '#/$defs/a' } } },
    { $ref: ROOT },
    { $ref: `${ROOT}.a/items`, $defs: { 'b c': { $ref: `${ROOT}.a` } } }, { 'name.a': { items: text } },
  ],
  [
    { $schema: draft07, items: [{ $ref: '#/definitions/a' }], definitions: { a: text } }, { $ref: ROOT },
    { $schema: draft07, items: [{ $ref: `${ROOT}/definitions/a` }], definitions: { a: text } },
  ],
  [
    { properties: { next: { $ref: '#' } } }, { $ref: ROOT }, { properties: { next: { $ref: ROOT } } },
  ],
  [
    { $defs: { a: { anyOf: [text, { $ref: '#/$defs/a' }] } } }, { $ref: ROOT },
    {}, { 'name.a': { anyOf: [text, { $ref: `${ROOT}.a` }] } },
  ],
  // References to elsewhere, and names, are what they were.
  [{ $ref: 'https://example.com/a#/b' }, { $ref: 'https://example.com/a#/b' }],
  [{ $ref: '#a', $defs: { a: { $anchor: 'a' } } }, { $ref: '#a', $defs: { a: { $anchor: 'a' } } }],
  // A value is no schema, and a member may have any name.
  [{ const: { $ref: '#' }, enum: [{ $ref: '#' }] }, { const: { $ref: '#' }, enum: [{ $ref: '#' }] }],
  [{ properties: { $ref: text, const: text } }, { properties: { $ref: text, const: text } }],
  [
    { properties: { $ref: text, const: { $ref: '#' } } }, { $ref: ROOT },
    { properties: { $ref: text, const: { $ref: ROOT } } },
  ],
  // What has an identity is the root of its own references.
  [{ $id: 'urn:a', $ref: '#/$defs/a' }, { $id: 'urn:a', $ref: '#/$defs/a' }],
  [{ allOf: [{ $id: 'urn:a', $ref: '#/b' }] }, { allOf: [{ $id: 'urn:a', $ref: '#/b' }] }],
]

test('what a schema refers to in itself is led to where it stands', () => {
  for (const [schema, written, component, beside] of table) {
    const before = JSON.stringify(schema)
    const components: Record<string, unknown> = {}
    assert.deepEqual(placed(schema, 'name', components), written, before)
    assert.deepEqual(components, component === undefined ? {} : { name: component, ...beside }, before)
    assert.equal(JSON.stringify(schema), before)
  }
})
