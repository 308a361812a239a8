import assert from 'node:assert/strict'
import test from 'node:test'
import { summarize } from '../../../lib/kernel/schema/compile.ts'
import { contract } from '../../../lib/kernel/schema/standard.ts'
import type { SchemaForm, StandardResult, StandardSchema } from '../../../lib/kernel/schema/standard.ts'

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

test('what knows libraries is asked first, and a form that it does not know is the schema\'s own', () => {
  const asked: unknown[] = []
  const schemaForm: SchemaForm = (...all) => {
    asked.push(all)
    return all[0] === known || all[0] === box ? { type: 'string', title: 'Known' } : undefined
  }
  const box = { type: 'Text' }
  const known = of('known')
  const own = of('demo', spelled)
  const plain = { type: 'object' }
  const forms = [known, box, own, plain].map((schema) => (
    contract(schema, { schemaForm, side: 'output', member: 'schema' }).json
  ))
  const form = { type: 'string', title: 'Known' }
  assert.deepEqual(forms, [form, form, { type: 'number' }, plain])
  assert.deepEqual(asked, [known, box, own, plain].map((schema) => [schema, 'output', 'schema']))
  const boxed = contract(box, { schemaForm }).check(1)
  assert.ok(!(boxed instanceof Promise))
  assert.equal(boxed.errors.length, 1)
  assert.throws(() => contract(of('other'), { schemaForm }), /This other schema has no JSON Schema form/)
  assert.deepEqual(contract(known, { schemaForm, beside: { type: 'object' } }).json, { type: 'object' })
})

test('a form that a library writes, and which is no object, is none', () => {
  const nothing = of('demo', { input: () => undefined as never, output: () => [] as never })
  for (const side of ['input', 'output'] as const) {
    assert.throws(() => contract(nothing, { side }), /This demo schema cannot be written as JSON Schema; w/)
  }
  const long = of('v'.repeat(9000))
  assert.throws(() => contract(long), (error: Error) => error.message.length < 200)
})

test('a schema of a library that is no Standard Schema is refused', () => {
  const message = 'This is a schema of a library, and neither a JSON Schema nor a Standard Schema; '
    + 'use a version of it that is one, or write its JSON Schema'
  const schemas: readonly unknown[] = [
    { type: 'object', validator() {} }, Object.assign(() => 1, { type: 'object' }),
  ]
  for (const schema of schemas) {
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
  assert.throws(() => contract({ a: of('demo'), type: of('demo') }), {
    name: 'TypeError', message: 'This is a shape, not a schema; write an object schema of demo',
  })
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
