import assert from 'node:assert/strict'
import test from 'node:test'
import { compile } from '../../lib/schema/compile.ts'
import type { JsonSchema } from '../../lib/schema/compile.ts'
import { errors, mistake } from './check.ts'

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
})

test('recursion ends, whatever the schema and the value', () => {
  let deep: unknown[] = []
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => {
      const next = { $ref: `#/$defs/${at + 1}` }
      return [String(at), at < 39 ? { allOf: [next, next] } : {}]
    }),
  )
  const rows: readonly (readonly [JsonSchema, unknown, RegExp])[] = [
    [{ $ref: '#' }, 1, /nested too deeply/],
    [{ not: { $ref: '#' } }, 1, /nested too deeply/],
    [
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      1,
      /nested too deeply/,
    ],
    [{ items: { $ref: '#' } }, deep, /nested too deeply/],
    [
      { properties: { a: { $dynamicRef: '#x' } }, $dynamicAnchor: 'x' },
      nestedIn('a', 5000),
      /nested too deeply/,
    ],
    [{ $ref: '#/$defs/0', $defs: doubling }, 1, /takes too long/],
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
    const start = performance.now()
    const { valid, errors } = validate(two)
    const took = performance.now() - start
    assert.ok(!valid && errors.length <= 20)
    assert.ok(took < 20, `${JSON.stringify(schema)} took ${took} ms`)
  }
})

test('a hundred thousand items are compared in well under a second', () => {
  const items = Array.from({ length: 100_000 }, (_, id) => ({ id, tags: [id] }))
  const start = performance.now()
  assert.equal(compile({ uniqueItems: true })(items).valid, true)
  assert.ok(performance.now() - start < 2000)
})

function nestedIn(name: string, depth: number): unknown {
  let value: unknown = 1
  for (let at = 0; at < depth; at++) value = { [name]: value }
  return value
}
