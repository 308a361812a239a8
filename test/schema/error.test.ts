import assert from 'node:assert/strict'
import test from 'node:test'
import { compile, summarize } from '../../lib/schema/compile.ts'
import type { JsonSchema } from '../../lib/schema/compile.ts'
import { errors, search } from './check.ts'

test('errors say where, what was expected and what came, in the order of the keywords', () => {
  const { errors } = compile(search)({ limit: 1.5, tags: ['new', 'red'], qeury: 'x' })
  assert.deepEqual(errors, [
    { path: '/query', keyword: 'required', message: 'is required', actual: 'nothing' },
    {
      path: '/limit',
      keyword: 'type',
      message: 'must be an integer',
      expected: 'integer',
      actual: 'number 1.5',
    },
    {
      path: '/tags/1',
      keyword: 'enum',
      message: 'must be one of "new", "old"',
      expected: ['new', 'old'],
      actual: 'string "red"',
    },
    {
      path: '/qeury',
      keyword: 'additionalProperties',
      actual: 'string "x"',
      message: 'is not a known property; known are "query", "limit", "tags"',
    },
  ])
})

test('a summary is one line about the first errors', () => {
  const rows = [
    [
      { query: '', limit: 0 },
      'query: must have at least 1 character, got string ""; limit: must be at least 1, got number 0',
    ],
    [
      { limit: 'x', tags: [1], other: true, more: 1 },
      'query: is required; limit: must be an integer, got string "x"; '
        + 'tags/0: must be one of "new", "old", got number 1; and 2 more',
    ],
    ['text', 'must be an object, got string "text"'],
    [[1, 2], 'must be an object, got array of 2 items'],
    [null, 'must be an object, got null'],
    [undefined, 'must be an object, got nothing'],
  ] as const
  for (const [value, line] of rows) assert.equal(summarize(compile(search)(value).errors), line)
  assert.equal(summarize([]), '')
})

test('a value that fits no branch hears of the branch it was meant for', () => {
  const shape = (kind: string, size: string): JsonSchema => ({
    type: 'object',
    properties: { kind: { const: kind }, [size]: { type: 'number' } },
    required: ['kind', size],
  })
  const shapes = { oneOf: [shape('circle', 'radius'), shape('square', 'side')] }
  assert.deepEqual(errors(shapes, { kind: 'square', side: 'x' }), ['/side type', ' oneOf'])
  assert.deepEqual(errors(shapes, { kind: 'circle' }), ['/radius required', ' oneOf'])
  assert.equal(
    summarize(compile(shapes)({ kind: 'star' }).errors),
    'kind: must be "circle", got string "star"; radius: is required; matches none of 2 alternatives',
  )
  assert.equal(
    summarize(compile({ anyOf: [{ type: 'string' }, { type: 'null' }] })(5).errors),
    'must be a string, got number 5; matches none of 2 alternatives',
  )
  assert.deepEqual(errors({ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3), [' oneOf'])
})

test('one mistake is said once', () => {
  const rows: readonly (readonly [JsonSchema, unknown, readonly string[]])[] = [
    [{ type: 'string', enum: ['a'], oneOf: [{ const: 'a' }] }, 1, [' type']],
    [{ properties: { a: { type: 'string' } }, unevaluatedProperties: false }, { a: 1, b: 2 }, ['/a type']],
    [{ unevaluatedProperties: false, properties: { a: true } }, { a: 1, b: 2 }, ['/b unevaluatedProperties']],
    [{ if: { required: ['a'] }, then: { required: ['b'] } }, { a: 1 }, ['/b required']],
    [{ not: { type: 'string' } }, 'x', [' not']],
    [{ contains: { type: 'string' }, minContains: 2 }, ['x', 1], [' contains']],
    [{ properties: { a: false } }, { a: 1 }, ['/a false']],
    [{ propertyNames: { pattern: '^[a-z]+$' } }, { Ab: 1 }, ['/Ab pattern']],
    [{ dependentRequired: { a: ['b', 'c'] } }, { a: 1, c: 1 }, ['/b dependentRequired']],
  ]
  for (const [schema, value, expected] of rows) assert.deepEqual(errors(schema, value), expected)
})

test('paths are JSON Pointers', () => {
  assert.deepEqual(errors({ additionalProperties: { items: { type: 'string' } } }, { 'a/b~c': [1] }), [
    '/a~1b~0c/0 type',
  ])
})
