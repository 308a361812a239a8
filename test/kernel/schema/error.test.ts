import assert from 'node:assert/strict'
import test from 'node:test'
import { compile, summarize } from '../../../lib/kernel/schema/compile.ts'
import type { JsonSchema } from '../../../lib/kernel/schema/compile.ts'
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
  for (const [value, line] of rows) assert.equal(summarize(compile(search)(value)), line)
  assert.equal(summarize({ errors: [], more: false }), '')
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
    summarize(compile(shapes)({ kind: 'star' })),
    'kind: must be "circle" or "square", got string "star"; matches none of 2 alternatives',
  )
  assert.equal(
    summarize(compile({ anyOf: [{ type: 'string' }, { type: 'null' }] })(5)),
    'must be a string or null, got number 5; matches none of 2 alternatives',
  )
  const [choice] = compile({ anyOf: [{ type: 'null' }, { enum: ['a', 'b'] }, { const: 'c' }] })('d').errors
  assert.equal(choice?.message, 'must be one of "a", "b" or "c"')
  assert.deepEqual(choice?.expected, ['a', 'b', 'c'])
  const optional = { anyOf: [shape('circle', 'radius'), { type: 'null' }] }
  assert.deepEqual(errors(optional, { kind: 'star' }), ['/kind const', '/radius required', ' anyOf'])
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

test('a result says whether there may be more errors than it lists, and so does a summary', () => {
  const numbers = (length: number): unknown[] => Array.from({ length }, () => 'x')
  const rows: readonly (readonly [number, number, number, boolean, string])[] = [
    [19, 20, 19, false, '; and 16 more'],
    [20, 20, 20, true, '; and at least 17 more'],
    [500, 20, 20, true, '; and at least 17 more'],
    [500, 3, 3, true, '; and more'],
    [2, 3, 2, false, '/1: must be a number, got string "x"'.slice(1)],
  ]
  for (const [length, maxErrors, listed, more, end] of rows) {
    const validation = compile({ items: { type: 'number' } }, { maxErrors })(numbers(length))
    assert.deepEqual([validation.errors.length, validation.more], [listed, more], `${length} of ${maxErrors}`)
    assert.ok(summarize(validation).endsWith(end), summarize(validation))
  }
  assert.equal(compile({ type: 'array' })([]).more, false)
})

const long = 4 * 1024 * 1024
const nasty = ['x', '\0', '"', '~', '/', 'é', '漢', '😀', '\ud83d', '\n']

/** A value that is nested in properties of some name. */
function nested(name: string, depth: number): unknown {
  let value: unknown = 1
  for (let at = 0; at < depth; at++) value = { [name]: value }
  return value
}

const huge: readonly (readonly [what: string, schema: JsonSchema, value: unknown])[] = [
  ...nasty.flatMap((part) => {
    const text = part.repeat(long / 8)
    return [
      ['a long text', { type: 'number' }, text],
      ['a long name', { additionalProperties: false }, { [text]: 1 }],
      ['a long name that is refused', { propertyNames: { maxLength: 1 } }, { [text]: 1 }],
      ['a long name that is absent', { required: [text] }, {}],
      ['a long name that asks for another', { dependentRequired: { a: [text] } }, { a: 1 }],
      ['another that a long name asks for', { dependentRequired: { [text]: ['a'] } }, { [text]: 1 }],
      ['many names', { properties: { [text]: true, b: true }, additionalProperties: false }, { c: 1 }],
      ['a long constant', { const: text }, 1],
      ['a long list of values', { enum: Array.from({ length: 500 }, (_, at) => `${at}${part}`) }, 1],
      ['a long pattern', { pattern: `^a{5}(?:${part.replace('/', '\\/').repeat(300)})$` }, 'b'],
      ['a deep place', { $ref: '#/$defs/a', $defs: { a: { additionalProperties: { $ref: '#/$defs/a' },
        type: 'object' } } }, nested(part.repeat(40), 300)],
    ] as const
  }),
  ['a long array', { type: 'string' }, Array.from({ length: 100_000 }, () => 1)],
  ['a deep constant', { const: nested('a', 400) }, nested('b', 400)],
]

test('no error takes 1 KiB, and no summary, whatever the schema and the value', () => {
  for (const [what, schema, value] of huge) {
    const validation = compile(schema)(value)
    assert.equal(validation.valid, false, what)
    for (const error of validation.errors) {
      const bytes = Buffer.byteLength(JSON.stringify(error))
      assert.ok(bytes < 1024, `${what}: ${bytes} bytes: ${JSON.stringify(error).slice(0, 80)}`)
    }
    assert.ok(Buffer.byteLength(JSON.stringify(summarize(validation))) < 1024, what)
  }
})

test('what is cut says so, and what is short stays as it is', () => {
  const { errors: [error] } = compile({ additionalProperties: false })({ ['a/'.repeat(100)]: 1 })
  assert.equal(error?.path, `/${'a~1'.repeat(30)}…`)
  const { errors: [listed] } = compile({ enum: Array.from({ length: 99 }, (_, at) => at) })('x')
  assert.match(String(listed?.expected), /^\[0,1,2,.*…$/)
  assert.match(String(listed?.message), /^must be one of 0, 1, 2, .*, …$/)
})
