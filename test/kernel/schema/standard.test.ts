import assert from 'node:assert/strict'
import test from 'node:test'
import { summarize } from '../../../lib/kernel/schema/compile.ts'
import { contract } from '../../../lib/kernel/schema/standard.ts'
import type { StandardResult, StandardSchema } from '../../../lib/kernel/schema/standard.ts'

type Validate = (value: unknown) => StandardResult<unknown> | Promise<StandardResult<unknown>>
type Spell = NonNullable<StandardSchema['~standard']['jsonSchema']>

function schemaOf(validate: Validate, jsonSchema?: Spell): StandardSchema {
  return { '~standard': { version: 1, vendor: 'demo', validate, ...(jsonSchema && { jsonSchema }) } }
}

const spelled: Spell = {
  input: ({ target }) => ({ type: 'string', title: target }),
  output: () => ({ type: 'number' }),
}

test('a JSON Schema is published unchanged and checked at once', () => {
  const json = { type: 'object', properties: { a: { type: 'string' } }, 'x-mine': 1 }
  const { json: published, check } = contract(json)
  assert.equal(published, json)
  const value = { a: 1 }
  assert.deepEqual(check(value), {
    value,
    errors: [
      { path: '/a', keyword: 'type', message: 'must be a string', expected: 'string', actual: 'number 1' },
    ],
    more: false,
  })
  assert.deepEqual(check({ a: 'x' }), { value: { a: 'x' }, errors: [], more: false })
  assert.deepEqual([contract(true).json, contract(false).json], [{}, { not: {} }])
  assert.throws(() => contract({ type: 'any' }), TypeError)
})

test('a Standard Schema is published in the form that its library has for the side', () => {
  const schema = schemaOf((value) => ({ value: Number(value) }), spelled)
  assert.deepEqual(contract(schema).json, { type: 'string', title: 'draft-2020-12' })
  assert.deepEqual(contract(schema, { side: 'output' }).json, { type: 'number' })
  assert.deepEqual(contract(schema, { beside: { type: 'integer' } }).json, { type: 'integer' })
  assert.deepEqual(contract(schema).check('5'), { value: 5, errors: [], more: false })
})

function of(vendor: string, jsonSchema?: Spell): StandardSchema {
  const { '~standard': standard } = schemaOf((value) => ({ value }), jsonSchema)
  return { '~standard': { ...standard, vendor } }
}

test('a Standard Schema without a JSON form is refused with what gives it one', () => {
  const dates = (): never => {
    throw new Error('no dates')
  }
  const mute: Spell = { input: dates, output: dates }
  const byHand = `{ type: 'object', properties: { … } }`
  const none = 'has no JSON Schema form; write'
  const rows: readonly (readonly [StandardSchema, 'input' | 'output', string])[] = [
    [of('arktype'), 'input', `${none} inputSchema: schema.toJsonSchema(), validate: schema`],
    [of('arktype'), 'output', `${none} outputSchema: schema.toJsonSchema()`],
    [of('demo'), 'input', `${none} inputSchema: ${byHand}, validate: schema`],
    [of('demo'), 'output', `${none} outputSchema: ${byHand}`],
    [of('zod', mute), 'input',
      `cannot be written as JSON Schema (no dates); write inputSchema: ${byHand}, validate: schema`],
    [of('zod', mute), 'output', `cannot be written as JSON Schema (no dates); write outputSchema: ${byHand}`],
  ]
  for (const [schema, side, why] of rows) {
    const message = `This ${schema['~standard'].vendor} schema ${why}`
    assert.throws(() => contract(schema, { side }), { name: 'TypeError', message })
  }
  assert.throws(() => contract(of('zod', mute)), { cause: new Error('no dates') })
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
  assert.throws(() => contract(read, { at: '/properties/c', member: 'schema' }), { message:
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
  const schema = schemaOf((value) => ({ value }), { input: () => loop, output: () => loop })
  assert.deepEqual(contract(schema, { at: '/properties/a b' }).json, {
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

test('a schema of a library that is no Standard Schema is refused', () => {
  const sentence = 'This is a schema of a library, and neither a JSON Schema nor a Standard Schema; '
  const rows: readonly (readonly [unknown, string])[] = [
    [{ _def: { typeName: 'ZodObject' } }, `${sentence}use zod 3.24 or later, or write its JSON Schema`],
    [{ type: 'object', validator() {} },
      `${sentence}use a version of it that is one, or write its JSON Schema`],
    [Object.assign(() => 1, { ast: { _tag: 'StringKeyword' } }),
      'This effect schema is no Standard Schema yet; write Schema.standardSchemaV1(schema), '
        + 'and in version 4 Schema.toStandardSchemaV1(schema)'],
  ]
  for (const [schema, message] of rows) {
    for (const side of ['input', 'output'] as const) {
      assert.throws(() => contract(schema as never, { side }), { name: 'TypeError', message })
    }
  }
  assert.throws(() => contract({ properties: { a: { type: 'object', validator() {} } } }),
    /JSON Schema at \/properties\/a: is a schema of a library; write its JSON/)
})

test('a JSON Schema that its library wrote may stand beside it, and in another', () => {
  const schema = of('zod', spelled)
  const written = Object.defineProperty({ type: 'object' }, '~standard', { value: schema['~standard'] })
  assert.deepEqual(contract(schema, { beside: written }).json, { type: 'object' })
  assert.deepEqual(contract({ properties: { a: written } }).json, { properties: { a: { type: 'object' } } })
  const fail = (): never => { throw new Error('no dates') }
  const { '~standard': own } = of('zod', { input: fail, output: fail })
  const alone = Object.defineProperty({ type: 'object', title: 'Mine' }, '~standard', { value: own })
  assert.deepEqual(contract(alone as never).json, { type: 'object', title: 'Mine' })
})

test('a JSON Schema beside a Standard Schema is published, and must be one', () => {
  const bare = of('demo')
  const { json, check } = contract(bare, { beside: { type: 'object' } })
  assert.deepEqual(json, { type: 'object' })
  assert.deepEqual(check(5), { value: 5, errors: [], more: false })
  assert.throws(() => contract(bare, { beside: { type: 'any' } }), /Invalid JSON Schema at \/type/)
})

test('a schema of a library where there should be a JSON Schema is refused', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['zod', 'z.object({ … })'], ['valibot', 'v.object({ … })'], ['arktype', 'type({ … })'],
    ['demo', 'an object schema of demo'],
  ]
  for (const [vendor, remedy] of rows) {
    assert.throws(() => contract({ a: of(vendor), type: of(vendor) }), {
      name: 'TypeError', message: `This is a shape, not a schema; write ${remedy}`,
    })
  }
  for (const schema of [
    { properties: { a: of('zod') } }, { type: 'array', items: of('zod') },
    { anyOf: [{ type: 'null' }, of('zod')] },
  ]) assert.throws(() => contract(schema), /JSON Schema at \/.*: is a schema of a library; write its JSON/)
})

test('issues become errors with JSON Pointers', () => {
  const issues = [
    { message: 'Too short', path: ['list', { key: 0 }, 'a/b'] },
    { message: 'Missing', path: ['absent', 'deeper'] },
    { message: 'Odd', path: [Symbol('tag')] },
    { message: 'Wrong as a whole' },
  ]
  const { check } = contract(
    schemaOf(() => ({ issues })),
    { beside: true },
  )
  const value = { list: [{ 'a/b': 'x' }] }
  const checked = check(value)
  assert.ok(!(checked instanceof Promise))
  assert.equal(checked.value, value)
  assert.deepEqual(checked.errors, [
    { path: '/list/0/a~1b', keyword: 'demo', message: 'Too short', actual: 'string "x"' },
    { path: '/absent/deeper', keyword: 'demo', message: 'Missing', actual: 'nothing' },
    { path: '/tag', keyword: 'demo', message: 'Odd', actual: 'nothing' },
    { path: '', keyword: 'demo', message: 'Wrong as a whole', actual: 'object' },
  ])
  const summary = summarize({ errors: checked.errors.slice(0, 2), more: false })
  assert.equal(summary, 'list/0/a~1b: Too short; absent/deeper: Missing')
})

test('an asynchronous library gives a promise, and a function may be a schema', async () => {
  const validate: Validate = async (value) =>
    value === 'good' ? { value: 'better' } : { issues: [{ message: 'Bad' }] }
  const schema = Object.assign(() => undefined, schemaOf(validate))
  const { check } = contract(schema, { beside: { type: 'string' } })
  assert.ok(check('good') instanceof Promise)
  assert.deepEqual(await check('good'), { value: 'better', errors: [], more: false })
  assert.deepEqual(await check('x'), {
    value: 'x',
    errors: [{ path: '', keyword: 'demo', message: 'Bad', actual: 'string "x"' }],
    more: false,
  })
})

test('of the issues of a library no more are kept than were asked for, and none is long', () => {
  const path = ['\n'.repeat(9000), ...Array<string>(500).fill('deep')]
  const issues = Array.from({ length: 100_000 }, () => ({ message: '\0'.repeat(5000), path }))
  const schema: StandardSchema = {
    '~standard': { version: 1, vendor: 'v'.repeat(3000), validate: () => ({ issues }) },
  }
  const checked = contract(schema, { beside: true }).check('x')
  assert.ok(!(checked instanceof Promise))
  assert.deepEqual([checked.errors.length, checked.more], [20, true])
  for (const error of checked.errors) assert.ok(Buffer.byteLength(JSON.stringify(error)) < 1024)
  const few = contract(schemaOf(() => ({ issues: issues.slice(0, 20) })), { beside: true }).check('x')
  assert.ok(!(few instanceof Promise))
  assert.deepEqual([few.errors.length, few.more], [20, false])
})
