// JSON Schemas of libraries that make none: what is read of how they keep their schemas. Those of the real
// packages are compared in test/interop/standard-schema.mjs.
import assert from 'node:assert/strict'
import test from 'node:test'
import { libraryForm } from '../../lib/schema/library-form.ts'

type Raw = Record<string, unknown>

const z3 = (typeName: string, def: Raw = {}): Raw => ({ _def: { typeName: `Zod${typeName}`, ...def } })
const mini = (type: string, def: Raw = {}): Raw => ({ _zod: { def: { type, ...def } } })
const check = (name: string, def: Raw): Raw => ({ _zod: { def: { check: name, ...def } } })
const val = (type: string, more: Raw = {}): Raw => ({ kind: 'schema', type, ...more })
const piped = (schema: Raw, ...steps: Raw[]): Raw => ({ ...schema, pipe: [schema, ...steps] })

/** The same members in each library. */
const members: readonly (readonly [what: string, json: object, zod3: Raw, zod: Raw, valibot: Raw])[] = [
  ['a text', { type: 'string', minLength: 2, maxLength: 9, description: 'D' },
    z3('String', { description: 'D', checks: [{ kind: 'min', value: 2 }, { kind: 'max', value: 9 }] }),
    mini('string', { checks: [
      check('min_length', { minimum: 2 }), check('max_length', { maximum: 9 }),
    ], meta: 'D' }),
    piped(val('string'), { kind: 'validation', type: 'min_length', requirement: 2 },
      { kind: 'validation', type: 'max_length', requirement: 9 },
      { kind: 'metadata', type: 'description', description: 'D' })],
  ['a format', { type: 'string', format: 'date-time' }, z3('String', { checks: [{ kind: 'datetime' }] }),
    mini('string', { check: 'string_format', format: 'datetime' }),
    piped(val('string'), { kind: 'validation', type: 'iso_timestamp', requirement: /a/ })],
  ['an integer', { type: 'integer', minimum: 1, exclusiveMaximum: 5, multipleOf: 2 },
    z3('Number', { checks: [
      { kind: 'int' }, { kind: 'min', value: 1, inclusive: true },
      { kind: 'max', value: 5, inclusive: false }, { kind: 'multipleOf', value: 2 },
    ] }),
    mini('number', { check: 'number_format', format: 'safeint', checks: [
      check('greater_than', { value: 1, inclusive: true }),
      check('less_than', { value: 5, inclusive: false }),
      check('multiple_of', { value: 2 }),
    ] }),
    piped(val('number'), { kind: 'validation', type: 'integer', requirement: Number.isInteger },
      { kind: 'validation', type: 'min_value', requirement: 1 },
      { kind: 'validation', type: 'lt_value', requirement: 5 },
      { kind: 'validation', type: 'multiple_of', requirement: 2 })],
  ['a list', { type: 'array', items: { type: 'boolean' }, minItems: 1 },
    z3('Array', { type: z3('Boolean'), minLength: { value: 1 }, maxLength: null }),
    mini('array', { element: mini('boolean'), checks: [check('min_length', { minimum: 1 })] }),
    piped(val('array', { item: val('boolean') }), { kind: 'validation', type: 'non_empty' })],
  ['choices', { type: 'string', enum: ['a', 'b'] }, z3('Enum', { values: ['a', 'b'] }),
    mini('enum', { entries: { a: 'a', b: 'b' } }), val('picklist', { options: ['a', 'b'] })],
  ['a constant', { enum: [7] }, z3('Literal', { value: 7 }), mini('literal', { values: [7] }),
    val('literal', { literal: 7 })],
  ['a union', { anyOf: [{ type: 'string' }, { type: 'null' }] },
    z3('Union', { options: [z3('String'), z3('Null')] }),
    mini('union', { options: [mini('string'), mini('null')] }),
    val('union', { options: [val('string'), val('null')] })],
  ['what may be null', { anyOf: [{ type: 'string' }, { type: 'null' }] },
    z3('Nullable', { innerType: z3('String') }), mini('nullable', { innerType: mini('string') }),
    val('nullable', { wrapped: val('string') })],
  ['a record', { type: 'object', additionalProperties: { type: 'number' } },
    z3('Record', { valueType: z3('Number') }), mini('record', { valueType: mini('number') }),
    val('record', { value: val('number') })],
  ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }], minItems: 1 },
    z3('Tuple', { items: [z3('String')] }), mini('tuple', { items: [mini('string')] }),
    val('tuple', { items: [val('string')] })],
  ['what may be left out', { type: 'string' }, z3('Optional', { innerType: z3('String') }),
    mini('optional', { innerType: mini('string') }), val('nullish', { wrapped: val('string') })],
  ['a default', { type: 'number', default: 3 },
    z3('Default', { innerType: z3('Number'), defaultValue: () => 3 }),
    mini('default', { innerType: mini('number'), defaultValue: 3 }),
    val('optional', { wrapped: val('number'), default: 3 })],
  ['what is transformed', { type: 'string' },
    z3('Effects', { schema: z3('String'), effect: { type: 'transform' } }),
    mini('pipe', { in: mini('string'), out: mini('transform') }),
    piped(val('string'), { kind: 'transformation', type: 'transform' })],
  ['what cannot be read', {}, z3('Date'), mini('date'), val('date')],
]
const optional = new Set(['what may be left out', 'a default'])

/** An object of each library with a member of all kinds. */
function objectsOf(): readonly Raw[] {
  const shapes = [2, 3, 4].map((at) => Object.fromEntries(members.map((row) => [row[0], row[at]])))
  return [
    z3('Object', { shape: () => shapes[0] }), mini('object', { shape: shapes[1] }),
    val('strict_object', { entries: shapes[2] }),
  ]
}

test('the arguments of a schema of zod 3, zod/mini and valibot are read', (t) => {
  const register = { get: (schema: Raw) => (
    (schema['_zod'] as { def: Raw }).def['meta'] === 'D' ? { description: 'D' } : undefined
  ) }
  Object.assign(globalThis, { __zod_globalRegistry: register })
  t.after(() => { Reflect.deleteProperty(globalThis, '__zod_globalRegistry') })
  for (const schema of objectsOf()) {
    assert.deepEqual(libraryForm(schema, 'input'), {
      type: 'object',
      properties: Object.fromEntries(members.map(([what, json]) => [what, json])),
      required: members.map(([what]) => what).filter((what) => !optional.has(what)),
    })
  }
})

test('of a result, a default is there and what is transformed is open', () => {
  for (const schema of objectsOf()) {
    const { properties, required } = libraryForm(schema, 'output') as {
      properties: Raw; required: readonly string[]
    }
    assert.deepEqual(properties['what is transformed'], {})
    assert.ok(required.includes('a default'))
    assert.ok(!required.includes('what may be left out'))
  }
})

test('a schema that holds itself is read once', () => {
  const list: Raw = {}
  const tree = mini('object', { shape: { name: mini('string'), children: list } })
  Object.assign(list, mini('array', { element: tree }))
  assert.deepEqual(libraryForm(tree, 'input'), {
    type: 'object', required: ['name', 'children'],
    properties: { name: { type: 'string' }, children: { type: 'array', items: {} } },
  })
})

test('anything else is not read', () => {
  const others = [{}, { _def: {} }, { _zod: {} }, { kind: 'schema' }, { kind: 'validation', type: 'a' }]
  for (const schema of others) {
    assert.equal(libraryForm(schema, 'input'), undefined)
  }
})
