import assert from 'node:assert/strict'
import test from 'node:test'
import { compile } from '../../../lib/kernel/schema/compile.ts'
import { isAmong, isUnique } from '../../../lib/kernel/schema/equal.ts'
import { costOf } from '../../fixtures/time.ts'
import { errors, mistake } from './check.ts'
import { doubling, list, row, text } from './rows.ts'
import type { JsonSchema } from '../../../lib/kernel/schema/compile.ts'

test('schemas that are made to be expensive are refused', () => {
  let deep: JsonSchema = {}
  for (let depth = 0; depth < 200; depth++) deep = { not: deep }
  assert.match(mistake(deep), /levels deep/)
  assert.equal(mistake(deep, { maxSchemaDepth: 300 }), 'none')
  const loop: { properties: Record<string, unknown> } = { properties: {} }
  loop.properties['a'] = loop
  assert.match(mistake(loop), /levels deep/)
  const wide = { anyOf: Array.from({ length: 30_000 }, () => ({})) }
  assert.match(mistake(wide), /one subschema too many \(maxSubschemas\)/)
  assert.equal(mistake(wide, { maxSubschemas: Infinity }), 'none')
  let nested: JsonSchema = {}
  for (let depth = 0; depth < 50; depth++) nested = { not: nested }
  const levels = Array.from({ length: 50 }, (_, depth) => ({ $ref: `#/$defs/a${'/not'.repeat(depth)}` }))
  assert.match(mistake({ $defs: { a: nested }, prefixItems: levels }, { maxSubschemas: 110 }),
    /is used in too many ways \(maxSubschemas\)/)
})

test('recursion ends, whatever the schema and the value', () => {
  let deep: unknown[] = []
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  const rows: readonly (readonly [JsonSchema, unknown, RegExp])[] = [
    [{ items: { $ref: '#' } }, deep, /nested too deeply/],
    [
      { properties: { a: { $dynamicRef: '#x' } }, $dynamicAnchor: 'x' },
      nestedIn('a', 5000),
      /nested too deeply/,
    ],
    [{ $ref: '#/$defs/0', $defs: doubling }, 1, /too costly/],
  ]
  for (const [schema, value, message] of rows)
    assert.match(compile(schema)(value).errors[0]?.message ?? '', message)
  assert.equal(compile({ items: { $ref: '#' } })(JSON.parse('['.repeat(300) + ']'.repeat(300))).valid, true)
  assert.equal(compile({ uniqueItems: true })([deep, [1]]).valid, true)
  const round: unknown[] = []
  round.push(round)
  assert.equal(compile({ items: { $ref: '#' } })(round).valid, false)
})

test('constants and items that are nested too deeply do not exhaust the stack', () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 4000; depth++) deep = [deep]
  const copy: unknown = JSON.parse(JSON.stringify(deep))
  assert.equal(compile({ const: deep })(copy).valid, false)
  assert.equal(compile({ enum: [deep, 1] })(1).valid, true)
  assert.equal(compile({ uniqueItems: true })([deep, copy]).valid, false)
})

test('a comparison costs as much as is compared, and what is nested too deeply more than there is', () => {
  const costs = (one: unknown, other: unknown): readonly number[] => {
    const paid = [0, 0]
    isAmong([one], { pay: () => {} })(other, { pay: (parts) => { paid[0]! += parts } })
    isUnique([one, other], { pay: (parts) => { paid[1]! += parts } })
    return paid
  }
  const texts = (length: number): readonly number[] => (
    costs({ a: 'x'.repeat(length) }, { a: `${'x'.repeat(length - 1)}y` })
  )
  const [short, long] = [texts(80), texts(880)]
  // A part for eight characters, and for each that is digested.
  assert.deepEqual([long[0]! - short[0]!, long[1]! - short[1]!], [100, 1_600])
  const [first] = costs({ a: 'x'.repeat(880) }, { a: 'x'.repeat(879) })
  assert.equal(first, short[0]! - 10)
  const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
  for (const [depth, isPaid] of [[501, true], [502, false]] as const) {
    for (const cost of costs(nested(depth), nested(depth))) assert.equal(Number.isFinite(cost), isPaid)
  }
})

test('no more errors are collected than asked for', () => {
  const values = Array.from({ length: 1000 }, () => 'x')
  assert.equal(errors({ items: { type: 'number' } }, values).length, 20)
  assert.equal(errors({ items: { type: 'number' } }, values, { maxErrors: 3 }).length, 3)
  assert.equal(errors({ items: { type: 'number' } }, values, { maxErrors: Infinity }).length, 1000)
  assert.equal(
    errors({ items: { anyOf: [{ type: 'number' }, { maxLength: 0 }] } }, values, { maxErrors: 5 }).length,
    5,
  )
  assert.equal(errors({ items: { type: 'number' } }, values, { maxErrors: undefined }).length, 20)
  const many = list(200_000, () => 'x')
  const anyOf = [{ items: { type: 'number' } }, { items: { type: 'null' } }]
  assert.equal(errors({ anyOf }, many, { maxErrors: Infinity, maxSteps: Infinity }).length, 200_001)
})

test('four megabytes of wrong items fail at once', () => {
  const two = Array.from({ length: 2_000_000 }, () => 1)
  const rows: readonly JsonSchema[] = [
    { items: { type: 'string' } },
    { items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    { prefixItems: [{ type: 'string' }], items: { enum: ['a', { b: 1 }] } },
    { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] },
    { uniqueItems: true },
    { items: { not: { type: 'number' } } },
    { items: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
    { unevaluatedItems: { type: 'string' } },
  ]
  for (const schema of rows) {
    const validate = compile(schema)
    validate([1, 1])
    const { valid, errors } = validate(two)
    assert.ok(!valid && errors.length > 0 && errors.length <= 20)
    const took = costOf(() => validate(two), 20)
    assert.ok(took <= 20, `${JSON.stringify(schema)} took ${took} ms`)
  }
})

function rowWith(more: object): JsonSchema {
  return { ...row, properties: { ...row.properties, ...more } }
}

const rows = list(24_000, (id) => ({
  id,
  name: `The name of ${id}`,
  mail: `joe.bloggs.${id}@example.com`,
  at: '2024-05-06T07:08:09Z',
  tags: ['new', 'old'],
  price: id + 0.5,
  address: { street: `High Street ${id}`, city: 'London', zip: 'N1' },
}))

test('four megabytes of ordinary rows are valid within the usual bounds', () => {
  assert.ok(JSON.stringify(rows).length > 4 * 1024 * 1024)
  const table: readonly (readonly [what: string, row: JsonSchema])[] = [
    ['plain', row],
    ['with formats', rowWith({ mail: { format: 'email' }, at: { format: 'date-time' } })],
    ['with patterns', rowWith({
      mail: { pattern: '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$' },
      at: { pattern: '^\\d{4}-\\d\\d-\\d\\dT(?:\\d\\d:?){3}(?:\\.\\d+)?Z$' },
    })],
    ['one of several', { oneOf: [rowWith({ name: { const: 'a' } }), row, { type: 'null' }] }],
    ['by reference', { $ref: '#/$defs/row' }],
  ]
  for (const [what, items] of table) {
    const { valid, errors } = compile({ items, $defs: { row } }, { formats: true })(rows)
    assert.ok(valid, `${what}: ${errors[0]?.message}`)
  }
  assert.ok(compile({ items: { type: 'integer', minimum: 0 } })(list(2_000_000, (at) => at % 10)).valid)
  assert.ok(compile({ uniqueItems: true })(list(100_000, (id) => ({ id, tags: [id] }))).valid)
  assert.ok(compile({ additionalProperties: text })(
    Object.fromEntries(list(100_000, (at) => [`name ${at}`, 'some text'])),
  ).valid)
})

test('what is wrong at the end of four megabytes is found', () => {
  const last = [...rows, { id: -1, name: 'x' }]
  const { errors } = compile({ items: row })(last)
  assert.deepEqual(errors.map(({ path, keyword }) => `${path} ${keyword}`), ['/24000/id minimum'])
  const validation = compile({ items: { type: 'integer' } })([...list(2_000_000, () => 1), 'x'])
  assert.deepEqual(validation.errors.map(({ path }) => path), ['/2000000'])
})

test('the budget is one for the whole value, and every value has its own', () => {
  const validate = compile({ items: { pattern: '^(a+)+$' } }, { maxSteps: 5000 })
  assert.equal(validate(list(100, () => 'a'.repeat(100))).valid, true)
  assert.equal(validate(list(1000, () => 'a'.repeat(100))).valid, false)
  assert.equal(validate(list(100, () => 'a'.repeat(100))).valid, true)
  assert.equal(compile({ items: { pattern: '^(a+)+$' } }, { maxSteps: Infinity })(
    list(20_000, () => 'a'.repeat(300)),
  ).valid, true)
})

test('what is too costly in a branch is too costly as a whole', () => {
  const costly = { pattern: '^(?:(?!-)\\w+ ?)*$' }
  const value = 'word '.repeat(2000)
  for (const schema of [
    { not: costly }, { anyOf: [costly, true] }, { oneOf: [true, costly] }, { if: costly, then: true },
    { contains: costly },
  ]) {
    const { errors } = compile(schema, { maxSteps: 1000 })('contains' in schema ? [value] : value)
    assert.deepEqual(errors.map(({ keyword }) => keyword), ['maxSteps'], Object.keys(schema)[0])
  }
})

function nestedIn(name: string, depth: number): unknown {
  let value: unknown = 1
  for (let at = 0; at < depth; at++) value = { [name]: value }
  return value
}

test('compile takes only options that it has, of the type that they have', () => {
  const table: readonly (readonly [options: object, message: string])[] = [
    [{ fromats: true }, `compile has no option 'fromats'; did you mean 'formats'?`],
    [{ formats: 'yes' }, 'compile has formats "yes"; write true or false'],
    [{ defaults: 1 }, 'compile has defaults 1; write true or false'],
    [{ maxErrors: 0 }, 'compile has maxErrors 0; write a number above zero, or Infinity for no bound'],
    [{ maxSteps: '9' }, 'compile has maxSteps "9"; write a number above zero, or Infinity for no bound'],
    [{ maxDepth: NaN }, 'compile has maxDepth NaN; write a number above zero, or Infinity for no bound'],
    [{ maxErrors: null }, 'compile has maxErrors null; write a number above zero, or Infinity for no bound'],
  ]
  for (const [options, message] of table) {
    assert.throws(() => compile(true, options), { name: 'TypeError', message })
  }
  for (const options of [null, 'formats', 1]) {
    const message = /^TypeError: compile takes options as an object/
    assert.throws(() => compile(true, options as unknown as object), message)
  }
  assert.ok(compile(true, { formats: undefined, maxErrors: undefined, schemas: undefined })(1).valid)
})
