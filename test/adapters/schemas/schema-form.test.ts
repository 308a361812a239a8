// What is published of libraries' schemas: the form of their own, what is read of them, or why there is none.
import assert from 'node:assert/strict'
import test from 'node:test'
import { schemaForm } from '../../../lib/adapters/schemas/schema-form.ts'
import { contract as contractOf } from '../../../lib/kernel/schema/standard.ts'
import type {
  Contract, ContractOptions, Schema, StandardSchema,
} from '../../../lib/kernel/schema/standard.ts'

type Spell = NonNullable<StandardSchema['~standard']['jsonSchema']>

const spelled: Spell = {
  input: ({ target }) => ({ type: 'string', title: target }),
  output: () => ({ type: 'number' }),
}

function of(vendor: string, jsonSchema?: Spell): StandardSchema {
  const validate = (value: unknown): { readonly value: unknown } => ({ value })
  return { '~standard': { version: 1, vendor, validate, ...jsonSchema && { jsonSchema } } }
}

function contract(schema: Schema, options: ContractOptions = {}): Contract {
  return contractOf(schema, { schemaForm, ...options })
}

test('arktype before its version 2.2 is told what writes its JSON Schema', () => {
  for (const [side, remedy] of [
    ['input', 'inputSchema: schema.toJsonSchema(), validate: schema'],
    ['output', 'outputSchema: schema.toJsonSchema()'],
  ] as const) {
    const message = `This arktype schema has no JSON Schema form; write ${remedy}`
    assert.throws(() => contract(of('arktype'), { side }), { name: 'TypeError', message })
  }
})

const byHand = `inputSchema: { type: 'object', properties: { … } }`
const unwritable = 'schema cannot be written as JSON Schema, as it has'

test('what JSON Schema cannot say is refused with its place, and with what to write', () => {
  const when = { _zod: { def: { type: 'date' } } }
  const read = { ...of('zod'), _zod: { def: { type: 'object', shape: { 'a/b': when } } } }
  assert.throws(() => contract(read), { name: 'TypeError', message:
    `This zod ${unwritable} 'date' at /properties/a~1b; write z.coerce.date() there, or ${byHand}, `
    + 'validate: schema',
  })
  assert.throws(() => schemaForm(read, 'input', 'schema', '/properties/c'), { message:
    `This zod ${unwritable} 'date' at /properties/c/properties/a~1b; write z.coerce.date() there, or `
    + byHand.replace('inputSchema', 'schema'),
  })
  const json = contract(read, { side: 'output' }).json['properties']
  assert.deepEqual(json, { 'a/b': { type: 'string', format: 'date-time' } })
  const long = { ...of('zod'), _zod: { def: { type: 'x'.repeat(9000) } } }
  assert.throws(() => contract(long), (error: Error) => error.message.length < 300)
})

test('what is read is taken where a library writes a file as a text, or a date not at all', () => {
  const file = { ...of('zod', spelled), _zod: { def: { type: 'file' } } }
  assert.throws(() => contract(file), { message: new RegExp(`This zod ${unwritable} 'file' at its root`) })
  const fail = (): never => { throw new Error('no dates') }
  const dated = { ...of('zod', { input: fail, output: fail }), _zod: { def: { type: 'date', coerce: true } } }
  assert.deepEqual(contract(dated).json, { type: 'string', format: 'date-time' })
  // What is not known yet is left to it.
  const later = { ...of('zod', spelled), _zod: { def: { type: 'later' } } }
  assert.equal(contract(later).json['title'], 'draft-2020-12')
})

/** What a library is asked by its options, where it would write nothing. */
type Ask = (options: { readonly fallback: Record<string, (gap: object) => object> }) => object
const ark = (input: Ask, output = input, more: object = {}): StandardSchema => {
  const write = (ask: Ask) => (options: object): Record<string, unknown> => (
    { ...ask((options as { readonly libraryOptions: never }).libraryOptions) }
  )
  return Object.assign(of('arktype', { input: write(input), output: write(output) }), more)
}

test('arktype, which writes {} of what it cannot write, says what that is', () => {
  const at = (inner: object): object => ({ type: 'object', properties: { a: inner } })
  const rows: readonly (readonly [string, object, string])[] = [
    ['proto', { proto: Map }, 'Map'], ['domain', { domain: 'bigint' }, 'bigint'],
    ['unit', { unit: 1n }, '1n'], ['unit', { unit: NaN }, 'NaN'], ['date', {}, 'Date'],
    ['predicate', { predicate: () => true }, 'narrow'],
  ]
  for (const [code, gap, what] of rows) {
    const schema = ark(({ fallback }) => at(fallback[code]!({ code, base: {}, ...gap })))
    const message = new RegExp(`^This arktype ${unwritable} '${what}' at /properties/a;`)
    assert.throws(() => contract(schema), { message })
  }
  const infinite = ark(() => at({ const: Infinity }))
  assert.throws(() => contract(infinite), { message: new RegExp(`'Infinity' at /properties/a;`) })
  const never = ark(({ fallback }) => at(fallback['unit']!({ code: 'unit', base: {}, unit: undefined })))
  assert.deepEqual(contract(never).json, at({ not: {} }))
  const free = { kind: 'morph', rawOut: { expression: 'unknown' } }
  const flatMorphs = [{ path: ['a', 0], node: free }]
  const morph = ark(() => at({}), undefined, { references: [free], flatMorphs })
  assert.throws(() => contract(morph, { side: 'output' }), /'morph' at \/properties\/a\/prefixItems\/0/)
})

test('a pattern whose flags take more is not published without them', () => {
  const text = { type: 'string' }
  const at = (pattern: string): object => (
    { properties: { a: { ...text, pattern }, pattern: { ...text, pattern: '^b' } } }
  )
  const without = { properties: { a: text, pattern: { ...text, pattern: '^b' } } }
  const rules = [{ rule: '^a', flags: 'i' }, { rule: '^b', flags: 'u' }, { rule: '^b' }]
  assert.deepEqual(contract(ark(() => at('^a'), undefined, { references: rules })).json, without)
  const string = (pattern: RegExp): object => ({ _zod: { def: { type: 'string', checks: [
    { _zod: { def: { check: 'string_format', format: 'regex', pattern } } },
  ] } } })
  const spelled = { input: () => ({ ...at('^a') }), output: () => ({ ...at('^a') }) }
  const shape = { a: string(/^a/i), pattern: string(/^b/u) }
  const zod = { ...of('zod', spelled), _zod: { def: { type: 'object', shape } } }
  const { json } = contract(zod)
  assert.deepEqual(json['properties'], without.properties)
})

test('texts that become dates are said to be dates', () => {
  const text = { type: 'string' }
  const time = { ...text, format: 'date-time' }
  const date: Ask = ({ fallback }) => fallback['date']!({ code: 'date', base: {} })
  const object = (inner: Ask): Ask => (options) => ({ properties: { list: { items: inner(options) } } })
  const rows: readonly (readonly [object, object])[] = [
    [text, time], [{ ...text, pattern: '^\\d{4}-' }, { ...time, pattern: '^\\d{4}-' }], [{}, time],
    [{ ...text, pattern: '^\\d+$' }, { ...text, pattern: '^\\d+$' }],
    [{ type: 'number' }, { type: 'number' }], [{ ...text, format: 'date' }, { ...text, format: 'date' }],
  ]
  for (const [given, json] of rows) {
    const schema = ark(object(() => given), object(date))
    assert.deepEqual(contract(schema).json, { properties: { list: { items: json } } })
  }
  const onlyIn = ark(() => text, () => { throw new Error('no form of what comes out') })
  assert.deepEqual(contract(onlyIn).json, text)
  function isParsableDate(): boolean { return true }
  const parsable = ark(({ fallback }) => fallback['predicate']!({ base: text, predicate: isParsableDate }))
  assert.deepEqual(contract(parsable).json, time)
})

test('valibot that is made a Standard JSON Schema is asked for what it cannot write', () => {
  interface Asked {
    overrideSchema(gap: object): object
    overrideAction(gap: object): object
  }
  const of1 = (ask: (options: Asked) => object): StandardSchema => {
    const write = (options: object): Record<string, unknown> => (
      { ...ask((options as { readonly libraryOptions: Asked }).libraryOptions) }
    )
    return of('valibot', { input: write, output: write })
  }
  const schema = (type: string): StandardSchema => of1((options) => (
    options.overrideSchema({ valibotSchema: { type }, jsonSchema: {}, errors: ['no'] })
  ))
  for (const type of ['bigint', 'map', 'date']) {
    const message = new RegExp(`^This valibot ${unwritable} '${type}' at its root`)
    assert.throws(() => contract(schema(type)), { message })
  }
  assert.deepEqual(contract(schema('undefined')).json, { not: {} })
  assert.deepEqual(contract(schema('date'), { side: 'output' }).json, { type: 'string', format: 'date-time' })
  const action = (kind: string, type: string, jsonSchema: object): StandardSchema => of1((options) => (
    options.overrideAction({ valibotAction: { kind, type }, jsonSchema, errors: ['no'] })
  ))
  const text = { type: 'string' }
  assert.deepEqual(contract(action('validation', 'check', text)).json, text)
  const toNumber = action('transformation', 'to_number', text)
  assert.deepEqual(contract(toNumber, { side: 'output' }).json, { type: 'number' })
  assert.throws(() => contract(action('transformation', 'transform', text)), /'transform' at its root/)
  assert.throws(() => contract(action('validation', 'check', {})), /'check' at its root/)
})

test('the references of a form that is put into another lead to where they led', () => {
  const loop = { type: 'array', items: { $ref: '#/items' }, not: { $ref: 'other' } }
  const schema = of('demo', { input: () => loop, output: () => loop })
  assert.deepEqual(schemaForm(schema, 'input', 'inputSchema', '/properties/a b'), {
    type: 'array', items: { $ref: '#/properties/a%20b/items' }, not: { $ref: 'other' },
  })
})

const kind = Symbol.for('TypeBox.Kind')
const box = (name: string, json: object = {}): object => ({ ...json, [kind]: name })

test('a schema of TypeBox is a JSON Schema of today, and what only TypeBox has is refused', () => {
  const tuple = box('Tuple', {
    type: 'array', items: [box('String', { type: 'string' }), box('Any')], additionalItems: false,
    minItems: 2,
  })
  const union = box('Union', {
    anyOf: [box('Null', { type: 'null' }), box('Undefined', { type: 'undefined' })],
  })
  const schema = box('Object', { type: 'object', properties: { tuple, union } })
  const { json, check } = contract(schema as never)
  assert.deepEqual(json, { type: 'object', properties: {
    tuple: { type: 'array', minItems: 2, prefixItems: [{ type: 'string' }, {}], items: false },
    union: { anyOf: [{ type: 'null' }] },
  } })
  const checked = check({ tuple: [1, 2] })
  assert.ok(!(checked instanceof Promise))
  assert.equal(checked.errors[0]?.path, '/tuple/0')
  const refine = Object.defineProperties({ type: 'string' }, {
    '~kind': { value: 'String' }, '~refine': { value: [] },
  })
  const rows: readonly (readonly [object, string])[] = [
    [box('Date', { type: 'Date' }), 'Date'], [box('BigInt', { type: 'bigint' }), 'bigint'],
    [box('Uint8Array', { type: 'Uint8Array' }), 'Uint8Array'], [box('Mine'), 'Mine'], [refine, 'Refine'],
    [box('Undefined', { type: 'undefined' }), 'undefined'],
    [box('Number', { type: 'number', minimum: Infinity }), 'Infinity'],
  ]
  for (const [one, what] of rows) {
    const list = box('Array', { type: 'array', items: one })
    const remedy = what === 'Date' ? `Type.String({ format: 'date-time' }) there, or ` : ''
    assert.throws(() => contract(list as never), {
      name: 'TypeError', message: `This TypeBox ${unwritable} '${what}' at /items; write ${remedy}${byHand}`,
    })
  }
})

test('a schema of zod 3 or effect that is no Standard Schema is refused with what makes it one', () => {
  const rows: readonly (readonly [unknown, string])[] = [
    [{ _def: { typeName: 'ZodObject' } }, 'This is a schema of a library, and neither a JSON Schema nor a '
      + 'Standard Schema; use zod 3.24 or later, or write its JSON Schema'],
    [Object.assign(() => 1, { ast: { _tag: 'StringKeyword' } }),
      'This effect schema is no Standard Schema yet; write Schema.standardSchemaV1(schema), '
        + 'and in version 4 Schema.toStandardSchemaV1(schema)'],
  ]
  for (const [schema, message] of rows) {
    for (const side of ['input', 'output'] as const) {
      assert.throws(() => contract(schema as never, { side }), { name: 'TypeError', message })
    }
  }
})

test('a shape is refused with the object that its library makes of it', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['zod', 'z.object({ … })'], ['valibot', 'v.object({ … })'], ['arktype', 'type({ … })'],
    ['demo', 'an object schema of demo'],
  ]
  for (const [vendor, remedy] of rows) {
    assert.throws(() => contract({ a: of(vendor), type: of(vendor) }), {
      name: 'TypeError', message: `This is a shape, not a schema; write ${remedy}`,
    })
  }
})
