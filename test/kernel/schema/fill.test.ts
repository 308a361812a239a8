import assert from 'node:assert/strict'
import test from 'node:test'
import { compile } from '../../../lib/kernel/schema/compile.ts'
import type { JsonSchema } from '../../../lib/kernel/schema/compile.ts'
import { errors, mistake } from './check.ts'

/** What a handler would get. */
function filled(schema: JsonSchema, value: unknown): unknown {
  const before = JSON.stringify(value)
  const validation = compile(schema, { defaults: true })(value)
  assert.deepEqual(validation.errors, [])
  assert.equal(JSON.stringify(value), before, 'what was given stays as it is')
  return validation.value
}

const $schema = 'http://json-schema.org/draft-07/schema#'
const a = { properties: { a: { default: 1 } } }

const rows: readonly (readonly [what: string, schema: JsonSchema, given: unknown, filled: unknown])[] = [
  ['absent', a, {}, { a: 1 }],
  ['given', a, { a: 2 }, { a: 2 }],
  ['null is given', a, { a: null }, { a: null }],
  ['undefined is absent', a, { a: undefined }, { a: 1 }],
  ['required', { ...a, required: ['a'] }, {}, { a: 1 }],
  ['no object', a, [1], [1]],
  ['others stay, in their order', a, { z: 1, b: { c: [] } }, { z: 1, b: { c: [] }, a: 1 }],
  ['falsy', { properties: { a: { default: false }, b: { default: null }, c: { default: '' } } },
    {}, { a: false, b: null, c: '' }],
  ['nested', { properties: { o: a } }, { o: {} }, { o: { a: 1 } }],
  ['an object without a default is not made', { properties: { o: a } }, {}, {}],
  ['a default is filled in too', { properties: { o: { default: { b: 2 }, ...a } } },
    {}, { o: { b: 2, a: 1 } }],
  ['items', { items: a }, [{}, { a: 2 }, 3], [{ a: 1 }, { a: 2 }, 3]],
  ['items behind others', { prefixItems: [true], items: a }, [{}, {}], [{}, { a: 1 }]],
  ['items of items', { items: { items: a } }, [[{}], []], [[{ a: 1 }], []]],
  ['all of several', { allOf: [a, { properties: { b: { default: 2 } } }] }, {}, { a: 1, b: 2 }],
  ['the first one wins', { ...a, allOf: [{ properties: { a: { default: 2 } } }] }, {}, { a: 1 }],
  ['several at one object', { properties: { o: a }, allOf: [{ properties: { o: { $ref: '#/$defs/b' } } }],
    $defs: { b: { properties: { b: { default: 2 } } } } }, { o: {} }, { o: { a: 1, b: 2 } }],
  ['a reference', { $ref: '#/$defs/x', $defs: { x: a } }, {}, { a: 1 }],
  ['recursion', { properties: { a: { default: 1 }, next: { $ref: '#' } } }, { next: { next: {} } },
    { next: { next: { a: 1 }, a: 1 }, a: 1 }],
  ['a document inside', { properties: { o: { $id: 'urn:o', $ref: '#/$defs/x', $defs: { x: a } } } },
    { o: {} }, { o: { a: 1 } }],
  ['draft-07', { $schema, items: a, definitions: {} }, [{}], [{ a: 1 }]],
  ['draft-07, beside a reference',
    { $schema, properties: { o: { $ref: '#/definitions/x', ...a } }, definitions: { x: true } },
    { o: {} }, { o: {} }],
  ['anyOf', { anyOf: [a, {}] }, {}, {}],
  ['oneOf', { oneOf: [a] }, {}, {}],
  ['not', { not: { ...a, required: ['a'] } }, {}, {}],
  ['if', { if: a, then: a, else: a }, {}, {}],
  ['dependentSchemas', { dependentSchemas: { b: a } }, { b: 1 }, { b: 1 }],
  ['contains', { contains: a }, [{}], [{}]],
  ['additionalProperties', { additionalProperties: a }, { o: {} }, { o: {} }],
  ['patternProperties', { patternProperties: { o: a } }, { o: {} }, { o: {} }],
  ['a property of a branch', { anyOf: [{ properties: { o: a } }] }, { o: {} }, { o: {} }],
  ['a reference in a branch', { anyOf: [{ $ref: '#/$defs/x' }], $defs: { x: a } }, {}, {}],
  ['a default of the root', { default: { a: 1 } }, {}, {}],
]

test('defaults are filled in wherever the schema applies in any case, and nowhere else', () => {
  for (const [what, schema, given, expected] of rows) {
    assert.equal(JSON.stringify(filled(schema, given)), JSON.stringify(expected), what)
  }
})

test('a value that lacks nothing is given back as it is, and parts that lack nothing are shared', () => {
  const value = { a: 2, b: {} }
  assert.equal(filled(a, value), value)
  const part = { deep: true }
  const result = filled(a, { part })
  assert.ok(typeof result === 'object' && result !== null && 'part' in result && result.part === part)
  const items = [{ a: 1 }, {}]
  const list = filled({ items: a }, items)
  assert.ok(Array.isArray(list) && list[0] === items[0] && list[1] !== items[1])
  assert.equal(filled({ type: 'object' }, value), value)
})

test('frozen values can be filled in, and every value gets a default of its own', () => {
  const schema = { properties: { a: { default: { list: [] } } } }
  const validate = compile(schema, { defaults: true })
  const first = validate(Object.freeze({})).value
  assert.deepEqual(first, { a: { list: [] } })
  Object(first).a.list.push(1)
  assert.deepEqual(validate({}).value, { a: { list: [] } })
  assert.deepEqual(schema.properties.a.default, { list: [] })
})

test('a default may be called what every object inherits', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const properties = JSON.parse(`{"${name}":{"default":{"a":1}}}`)
    const value = filled({ properties, additionalProperties: false }, {})
    assert.deepEqual(Object.getOwnPropertyDescriptor(value, name)?.value, { a: 1 })
    assert.equal(Object.getPrototypeOf(value), Object.prototype)
    const given = JSON.parse(`{"${name}":2}`)
    assert.equal(filled({ properties }, given), given)
    const kept = filled({ properties: { other: { default: 1 } } }, given)
    assert.equal(JSON.stringify(kept), `{"${name}":2,"other":1}`)
  }
})

test('without the option nothing is filled in, and a result has no value', () => {
  assert.deepEqual(errors({ ...a, required: ['a'] }, {}), ['/a required'])
  assert.ok(!('value' in compile(a)({})))
  assert.ok(!('value' in compile({ ...a, type: 'object' }, { defaults: true })(1)))
})

test('a default that does not fit its schema is refused with the schema', () => {
  const table: readonly (readonly [JsonSchema, string])[] = [
    [{ properties: { a: { type: 'string', default: 5 } } },
      'at /properties/a/default: the default does not fit its schema: must be a string, got number 5',
    ],
    [{ items: { properties: { a: { $ref: '#/$defs/x', default: 'x' } } }, $defs: { x: { enum: ['a'] } } },
      'at /items/properties/a/default: the default does not fit its schema: must be one of "a", got'],
    [{ properties: { a: { properties: { b: { type: 'number' } }, required: ['b'], default: {} } } },
      'at /properties/a/default: the default does not fit its schema: b: is required'],
    [{ properties: { a: { default: () => 1 } } }, 'at /properties/a/default: "default" must be a JSON value'],
    [{ properties: { a: { default: 1n } } }, 'at /properties/a/default: "default" must be a JSON value'],
  ]
  for (const [schema, message] of table) {
    const said = mistake(schema, { defaults: true })
    assert.ok(said.includes(message), said)
    assert.equal(mistake(schema), 'none')
  }
  for (const schema of [
    { properties: { a: { default: {}, required: ['b'], properties: { b: { default: 1 } } } } },
    { anyOf: [{ properties: { a: { type: 'string', default: 5 } } }] },
  ]) assert.equal(mistake(schema, { defaults: true }), 'none')
})

test('defaults cannot be made to fill the memory, nor the stack', () => {
  const big = { items: { properties: { a: { default: 'x'.repeat(10_000) } } } }
  const validate = compile(big, { defaults: true })
  assert.equal(validate([{}, {}]).valid, true)
  const before = process.memoryUsage().heapUsed
  const { errors } = validate(Array.from({ length: 1_000_000 }, () => ({})))
  assert.deepEqual(errors.map(({ keyword }) => keyword), ['maxSteps'])
  assert.ok(process.memoryUsage().heapUsed - before < 200_000_000)
  let deep: object = {}
  for (let depth = 0; depth < 100_000; depth++) deep = { next: deep }
  const chain = compile({ properties: { a: { default: 1 }, next: { $ref: '#' } } }, { defaults: true })
  assert.deepEqual(chain(deep).errors.map(({ keyword }) => keyword), ['maxDepth'])
  assert.equal(chain({ next: { next: {} } }).valid, true)
  const links = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [
    at, at < 2999 ? { $ref: `#/$defs/${at + 1}` } : { properties: { a: { default: 1 } } },
  ]))
  const { errors: tooDeep } = compile({ $ref: '#/$defs/0', $defs: links }, { defaults: true })({})
  assert.deepEqual(tooDeep.map(({ keyword }) => keyword), ['maxDepth'])
})

test('what has no defaults costs nothing more where something else has some', () => {
  const schema = { properties: { a: { default: 1 }, list: { items: { type: 'integer' }, allOf: [{}] } } }
  const list = Array.from({ length: 2_000_000 }, (_, at) => at % 10)
  const { valid, value } = compile(schema, { defaults: true })({ list })
  assert.ok(valid && Object(value).list === list)
})
