import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { compile } from '../../../lib/kernel/schema/compile.ts'
import { errors, mistake, search } from './check.ts'
import type { JsonSchema } from '../../../lib/kernel/schema/compile.ts'

test('a valid value gives one frozen answer', () => {
  const validate = compile(search)
  const answer = validate({ query: 'x', limit: 5 })
  assert.deepEqual(answer, { valid: true, errors: [], more: false })
  assert.equal(validate({ query: 'y' }), answer)
  assert.ok(Object.isFrozen(answer) && Object.isFrozen(answer.errors))
})

test('a broken schema is refused with its place, the reason and what to write', () => {
  const rows: readonly (readonly [unknown, string])[] = [
    [
      { properties: { a: { type: 'any' } } },
      'at /properties/a/type: "any" is not a type; write one of "string", ',
    ],
    [{ type: [] }, 'at /type: [] is not a type'],
    [{ properties: [] }, 'at /properties: "properties" must be an object: { "name": schema }'],
    [{ properties: { a: 'string' } }, 'at /properties/a: a schema must be an object or a boolean; write {}'],
    [
      { properties: { a: { required: true } } },
      'at /properties/a/required: "required" must be an array of names',
    ],
    [{ minimum: '5' }, 'at /minimum: "minimum" must be a number'],
    [
      { maximum: 5, exclusiveMaximum: true },
      'at /exclusiveMaximum: "exclusiveMaximum" must be a number: the bound',
    ],
    [{ minLength: -1 }, 'at /minLength: "minLength" must be an integer of at least 0'],
    [{ multipleOf: 0 }, 'at /multipleOf: "multipleOf" must be greater than 0'],
    [
      { items: [{}] },
      'at /items: "items" must be one schema, an object or a boolean; for a list of them write "prefixItems"',
    ],
    [{ prefixItems: {} }, 'at /prefixItems: "prefixItems" must be a non-empty array of schemas'],
    [{ allOf: [] }, 'at /allOf: "allOf" must be a non-empty array of schemas'],
    [{ anyOf: [true, 1] }, 'at /anyOf/1: a schema must be an object or a boolean'],
    [{ additionalProperties: 'false' }, '"additionalProperties" must be one schema, an object or a boolean'],
    [{ enum: 'a' }, 'at /enum: "enum" must be an array'],
    [{ pattern: '(' }, 'at /pattern: Invalid regular expression'],
    [{ patternProperties: { '[': true } }, 'at /patternProperties/[: Invalid regular expression'],
    [{ dependentRequired: { a: 'b' } }, 'at /dependentRequired/a: must be an array of names'],
    [{ $defs: { unused: { not: 5 } } }, 'at /$defs/unused/not: "not" must be one schema'],
    [{ then: 5 }, 'at /then: "then" must be one schema'],
    [{ title: 5 }, 'at /title: "title" must be a string'],
    [{ $id: 'a#b' }, 'at /$id: "$id" must be a URI without fragment; write the fragment as "$anchor"'],
    [{ $anchor: '#a' }, 'at /$anchor: "$anchor" must be a word'],
    [{ $ref: '#%' }, 'at /$ref: nothing here is called #%; write "#/$defs/name"'],
    [{ $ref: '#/$defs/nothing' }, 'at /$ref: nothing here is called #/$defs/nothing; write "#/$defs/name"'],
    [
      { $ref: 'https://example.com/a' },
      'at /$ref: https://example.com/a is not known, and nothing is fetched; give it in the option "schemas"',
    ],
    [
      { $schema: 'http://json-schema.org/draft-04/schema#' },
      'at /$schema: the dialect http://json-schema.org/draft-04/schema# is not known; write '
        + '"https://json-schema.org/draft/2020-12/schema"',
    ],
    [null, 'A JSON Schema is an object or a boolean'],
  ]
  for (const [schema, message] of rows) {
    const said = mistake(schema)
    assert.ok(said.includes(message), `${said}\n${message}`)
  }
})

test('names that every object inherits are names like any other', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']
  for (const name of names) {
    const own = (value: unknown): unknown => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`)
    const schema = (keyword: string, value: unknown): JsonSchema =>
      JSON.parse(JSON.stringify({ [keyword]: 0 }).replace('0', JSON.stringify(value)))
    assert.deepEqual(errors(schema('required', [name]), {}), [`/${name} required`])
    assert.deepEqual(errors(schema('required', [name]), own(1)), [])
    assert.deepEqual(errors({ properties: own({ type: 'string' }) }, {}), [])
    assert.deepEqual(errors({ properties: own({ type: 'string' }) }, own(1)), [`/${name} type`])
    assert.deepEqual(errors({ properties: {}, additionalProperties: false }, own(1)), [
      `/${name} additionalProperties`,
    ])
    assert.deepEqual(errors({ dependentRequired: own(['x']) }, {}), [])
    assert.deepEqual(errors({ const: own(1) }, own(2)), [' const'])
    assert.deepEqual(errors({ const: own(1) }, own(1)), [])
  }
})

test('values are compared by content', () => {
  const rows: readonly (readonly [JsonSchema, unknown, boolean])[] = [
    [{ const: { a: [1, { b: null }], c: 'x' } }, { c: 'x', a: [1, { b: null }] }, true],
    [{ const: { a: 1 } }, { a: 1, b: 2 }, false],
    [{ const: [1, 2] }, [2, 1], false],
    [{ const: null }, undefined, false],
    [{ const: 0 }, -0, true],
    [{ const: 1 }, true, false],
    [{ enum: [[], {}, '1'] }, 1, false],
    [{ enum: [[], {}, '1'] }, {}, true],
    [{ uniqueItems: true }, [1, '1', true, null, [1], ['1'], { a: 1 }, { a: '1' }, 'null', '[1]'], true],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      false,
    ],
    [{ uniqueItems: true }, [[[]], [[]]], false],
    [{ uniqueItems: false }, [1, 1], true],
  ]
  for (const [schema, value, valid] of rows)
    assert.equal(compile(schema)(value).valid, valid, JSON.stringify([schema, value]))
})

test('numbers are decimals, and characters are code points', () => {
  const rows: readonly (readonly [JsonSchema, unknown, boolean])[] = [
    [{ multipleOf: 0.01 }, 19.99, true],
    [{ multipleOf: 0.01 }, 19.999, false],
    [{ multipleOf: 0.1 }, 0.3, true],
    [{ multipleOf: 1e-8 }, 12391239123, true],
    [{ multipleOf: 1e-8 }, 1.5e-8, false],
    [{ multipleOf: 0.5 }, 1e308, true],
    [{ multipleOf: 1e308 }, 1e308, true],
    [{ multipleOf: 7 }, 1e308, 1e308 % 7 === 0],
    [{ multipleOf: 5e-324 }, 1.5, true],
    [{ multipleOf: 3 }, -9, true],
    [{ multipleOf: 3 }, Infinity, false],
    [{ type: 'integer' }, 1.0, true],
    [{ type: 'integer' }, 1e300, true],
    [{ type: 'integer' }, NaN, false],
    [{ type: 'number' }, NaN, false],
    [{ type: 'number' }, Infinity, false],
    [{ type: ['number', 'null'] }, NaN, false],
    [{ maxLength: 2 }, '👍👍', true],
    [{ minLength: 3 }, '👍👍', false],
    [{ minLength: 2 }, '👍', false],
    [{ minLength: 2 }, '\ud83d', false],
  ]
  for (const [schema, value, valid] of rows)
    assert.equal(compile(schema)(value).valid, valid, JSON.stringify([schema, value]))
})

test('properties that are undefined count as absent', () => {
  assert.deepEqual(errors(search, { query: undefined, extra: undefined }), ['/query required'])
})

test('a validator may be called while it runs', () => {
  const validate = compile({ properties: { a: { type: 'number' }, b: { $ref: '#' } } })
  const value = {
    get a(): number {
      return validate({ a: 'x' }).valid ? 1 : 2
    },
    b: { a: 1 },
  }
  assert.equal(validate(value).valid, true)
})

test('nothing needs code to be made from strings', () => {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const library = new URL(`../../../lib/kernel/schema/compile.${extension}`, import.meta.url)
  const code = `import { compile } from ${JSON.stringify(library)}
    const validate = compile({ properties: { a: { format: 'email', pattern: '^(a+)+$' } }, $ref: '#/$defs/x',
      $defs: { x: { unevaluatedProperties: false, properties: { a: true } } } }, { formats: true })
    console.log(validate({ a: 'x' }).errors.length)`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--disallow-code-generation-from-strings', '--input-type=module', '-e', code],
    { encoding: 'utf8' },
  )
  assert.equal(stdout.trim(), '2', stderr)
})
