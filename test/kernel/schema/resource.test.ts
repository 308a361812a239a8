import assert from 'node:assert/strict'
import test from 'node:test'
import type { CompileOptions } from '../../../lib/kernel/schema/compile.ts'
import { usualDialect } from '../../../lib/kernel/schema/dialects.ts'
import { errors, mistake, search } from './check.ts'

test('references reach the schemas that were given, and those inside them', () => {
  const person = {
    $id: 'https://example.com/person',
    type: 'object',
    properties: { name: { $ref: '#/$defs/name' } },
    $defs: { name: { $id: 'name', $anchor: 'top', type: 'string' } },
  }
  const given = [
    { schemas: [person] },
    { schemas: { 'https://example.com/person': person } },
    { schemas: { other: person } },
  ]
  for (const options of given) {
    assert.deepEqual(errors({ $ref: 'https://example.com/person' }, { name: 1 }, options), ['/name type'])
    assert.deepEqual(errors({ $ref: 'https://example.com/name#top' }, 1, options), [' type'])
    assert.deepEqual(errors({ $ref: 'https://example.com/person#/$defs/name' }, 1, options), [' type'])
  }
  assert.deepEqual(errors({ $ref: 'part.json' }, 1, { schemas: { 'part.json': { type: 'string' } } }), [
    ' type',
  ])
  assert.match(mistake(true, { schemas: [{ type: 'string' }] }), /"schemas" must be .*"\$id"/)
})

test('the metaschemas may be referred to', () => {
  const latest = 'https://json-schema.org/draft/2020-12/schema'
  assert.deepEqual(errors({ $ref: latest }, search), [])
  assert.deepEqual(errors({ $ref: latest }, { properties: { a: { minLength: -1 } } }), [
    '/properties/a/minLength minimum',
  ])
  assert.deepEqual(
    errors({ $ref: 'http://json-schema.org/draft-07/schema#' }, { items: [{ type: 'x' }] }).slice(-1),
    ['/items anyOf'],
  )
})

test('the tables know every keyword of 2020-12', () => {
  const keywords = '$id $schema $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $comment $defs '
    + 'prefixItems items contains additionalProperties properties patternProperties dependentSchemas '
    + 'propertyNames if then else allOf anyOf oneOf not unevaluatedItems unevaluatedProperties type '
    + 'const enum multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength '
    + 'pattern maxItems minItems uniqueItems maxContains minContains maxProperties minProperties '
    + 'required dependentRequired title description default deprecated readOnly writeOnly examples '
    + 'format contentEncoding contentMediaType contentSchema definitions dependencies'
  assert.deepEqual([...usualDialect.rules.keys()].sort(), keywords.split(' ').sort())
})

test('a metaschema that was given makes a dialect of known vocabularies', () => {
  const $schema = 'https://example.com/plain'
  const vocabulary = 'https://json-schema.org/draft/2020-12/vocab/'
  const schemas = (more: object): CompileOptions => ({
    schemas: { [$schema]: { $vocabulary: { [`${vocabulary}core`]: true, ...more } } },
  })
  assert.deepEqual(errors({ $schema, minimum: 5 }, 1, schemas({})), [])
  assert.deepEqual(errors({ $schema, minimum: 5 }, 1, schemas({ [`${vocabulary}validation`]: true })), [
    ' minimum',
  ])
  assert.deepEqual(
    errors({ $schema, format: 'date' }, 'x', schemas({ [`${vocabulary}format-assertion`]: true })),
    [' format'],
  )
  assert.deepEqual(errors({ $schema }, 1, schemas({ 'https://example.com/unknown': false })), [])
  assert.match(
    mistake({ $schema }, schemas({ 'https://example.com/unknown': true })),
    /requires the vocabulary/,
  )
})

test('draft-07 reads its own keywords and not the later ones', () => {
  const $schema = 'http://json-schema.org/draft-07/schema#'
  assert.deepEqual(errors({ $schema, items: [{ type: 'string' }], additionalItems: false }, [1, 2]), [
    '/0 type',
    '/1 false',
  ])
  assert.deepEqual(errors({ $schema, dependencies: { a: ['b'], c: { required: ['d'] } } }, { a: 1, c: 1 }), [
    '/b dependencies',
    '/d required',
  ])
  assert.deepEqual(
    errors({ $schema, definitions: { a: { $id: '#x', type: 'string' } }, $ref: '#x', minimum: 5 }, 1),
    [' type'],
  )
  assert.deepEqual(
    errors({ $schema, prefixItems: [false], unevaluatedItems: false, minContains: 0 }, [1]),
    [],
  )
})

test('a schema that only leads back to itself is refused', () => {
  const $schema = 'http://json-schema.org/draft-07/schema#'
  const a = { $ref: '#/$defs/a' }
  const b = { $ref: '#/$defs/b' }
  const loops: readonly object[] = [
    { $ref: '#' }, { $ref: '' }, { type: 'string', $ref: '#' }, { $schema, $ref: '#' },
    { $id: 'https://example.com/a', $ref: 'https://example.com/a' },
    { $id: 'https://example.com/a', $ref: 'a' },
    { $anchor: 'x', $ref: '#x' }, { $dynamicRef: '#' },
    { allOf: [{ $ref: '#' }] }, { anyOf: [true, { $ref: '#' }] }, { oneOf: [{ $ref: '#' }] },
    { not: { $ref: '#' } }, { if: { $ref: '#' } }, { if: true, then: { $ref: '#' } },
    { dependentSchemas: { a: { $ref: '#' } } },
    { ...a, $defs: { a } }, { ...a, $defs: { a: b, b: a } },
    { properties: { x: a }, $defs: { a: { not: b }, b: a } },
    { $ref: '#/allOf/0', allOf: [{ allOf: [{ $ref: '#/allOf/0' }] }] },
    { ...a, $defs: { a: { $id: 'urn:a', allOf: [{ $id: 'urn:b', $ref: 'urn:a' }] } } },
    { $defs: { a } },
  ]
  for (const schema of loops) {
    assert.match(mistake(schema), /: leads back to itself by "\$ref"; a schema can refer to itself for parts/,
      JSON.stringify(schema))
  }
  assert.match(mistake({ ...a, $defs: { a: b, b: { ...b } } }), /at \/\$defs\//)
})

test('a schema may lead back to itself for a part of a value, and twice to another', () => {
  const a = { $ref: '#/$defs/a' }
  const fine: readonly object[] = [
    { properties: { a: { $ref: '#' } } }, { items: { $ref: '#' } }, { not: { items: { $ref: '#' } } },
    { contains: { $ref: '#' } }, { propertyNames: { $ref: '#' } }, { additionalProperties: { $ref: '#' } },
    { patternProperties: { a: { $ref: '#' } } }, { prefixItems: [{ $ref: '#' }] },
    { unevaluatedItems: { $ref: '#' } },
    { allOf: [a, a], $defs: { a: { items: a } } }, { allOf: [a, { allOf: [a] }], $defs: { a: true } },
    { $dynamicAnchor: 'x', properties: { a: { $dynamicRef: '#x' } } },
    { allOf: [{ properties: { a: { anyOf: [{ $ref: '#' }] } } }] },
  ]
  for (const schema of fine) assert.equal(mistake(schema), 'none', JSON.stringify(schema))
  const chain = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [
    at, at < 4999 ? { $ref: `#/$defs/${at + 1}` } : { type: 'string' },
  ]))
  assert.equal(mistake({ $ref: '#/$defs/0', $defs: chain }), 'none')
})
