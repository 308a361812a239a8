import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { compile, summarize } from '../../lib/schema/compile.ts'
import type { CompileOptions, JsonSchema } from '../../lib/schema/compile.ts'

/** The errors of a value as `path keyword`. */
function errors(schema: JsonSchema, value: unknown, options?: CompileOptions): string[] {
  return compile(schema, options)(value).errors.map(({ path, keyword }) => `${path} ${keyword}`)
}

/** The place and the reason that a broken schema is refused with. */
function mistake(schema: unknown, options?: CompileOptions): string {
  try {
    compile(schema as JsonSchema, options)
  } catch (error) {
    assert.ok(error instanceof TypeError)
    return error.message
  }
  return 'none'
}

const search: JsonSchema = {
  type: 'object',
  properties: {
    query: { type: 'string', minLength: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 100 },
    tags: { type: 'array', items: { enum: ['new', 'old'] } },
  },
  required: ['query'],
  additionalProperties: false,
}

test('a valid value gives one frozen answer', () => {
  const validate = compile(search)
  const answer = validate({ query: 'x', limit: 5 })
  assert.deepEqual(answer, { valid: true, errors: [] })
  assert.equal(validate({ query: 'y' }), answer)
  assert.ok(Object.isFrozen(answer) && Object.isFrozen(answer.errors))
})

test('errors say where, what was expected and what came, in the order of the keywords', () => {
  const { errors } = compile(search)({ limit: 1.5, tags: ['new', 'red'], qeury: 'x' })
  assert.deepEqual(errors, [
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
    { path: '/query', keyword: 'required', message: 'is required', actual: 'nothing' },
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
      'limit: must be an integer, got string "x"; '
        + 'tags/0: must be one of "new", "old", got number 1; other: is not a known property; '
        + 'known are "query", "limit", "tags"; and 2 more',
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
    'kind: must be "circle" or "square", got string "star"; matches none of 2 alternatives',
  )
  assert.equal(
    summarize(compile({ anyOf: [{ type: 'string' }, { type: 'null' }] })(5).errors),
    'must be a string or null, got number 5',
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
    [{ $ref: '#/$defs/nothing' }, 'at /$ref: nothing here is called #/$defs/nothing; write "#/$defs/name"'],
    [
      { $ref: 'https://example.com/a' },
      'at /$ref: https://example.com/a is not known, and nothing is fetched from '
        + 'the network; give it in the option "schemas"',
    ],
    [
      { $schema: 'http://json-schema.org/draft-04/schema#' },
      'at /$schema: the dialect '
        + 'http://json-schema.org/draft-04/schema# is not known; write "https://json-schema.org/draft/2020-12/schema"',
    ],
    [null, 'A JSON Schema is an object or a boolean'],
  ]
  for (const [schema, message] of rows) {
    const said = mistake(schema)
    assert.ok(said.includes(message), `${said}\n${message}`)
  }
})

test('references reach the schemas that were given, and those inside them', () => {
  const person = {
    $id: 'https://example.com/person',
    type: 'object',
    properties: { name: { $ref: '#/$defs/name' } },
    $defs: { name: { $id: 'name', $anchor: 'top', type: 'string' } },
  }
  const given = [
    { schemas: [person] },
    { schemas: { 'https://example.com/person': person } },
    { schemas: { other: person } },
  ]
  for (const options of given) {
    assert.deepEqual(errors({ $ref: 'https://example.com/person' }, { name: 1 }, options), ['/name type'])
    assert.deepEqual(errors({ $ref: 'https://example.com/name#top' }, 1, options), [' type'])
    assert.deepEqual(errors({ $ref: 'https://example.com/person#/$defs/name' }, 1, options), [' type'])
  }
  assert.deepEqual(errors({ $ref: 'part.json' }, 1, { schemas: { 'part.json': { type: 'string' } } }), [
    ' type',
  ])
  assert.match(mistake(true, { schemas: [{ type: 'string' }] }), /"schemas" must be .*"\$id"/)
})

test('the metaschemas may be referred to', () => {
  const latest = 'https://json-schema.org/draft/2020-12/schema'
  assert.deepEqual(errors({ $ref: latest }, search), [])
  assert.deepEqual(errors({ $ref: latest }, { properties: { a: { minLength: -1 } } }), [
    '/properties/a/minLength minimum',
  ])
  assert.deepEqual(
    errors({ $ref: 'http://json-schema.org/draft-07/schema#' }, { items: [{ type: 'x' }] }).slice(-1),
    ['/items anyOf'],
  )
})

test('a metaschema that was given makes a dialect of known vocabularies', () => {
  const $schema = 'https://example.com/plain'
  const vocabulary = 'https://json-schema.org/draft/2020-12/vocab/'
  const schemas = (more: object): CompileOptions => ({
    schemas: { [$schema]: { $vocabulary: { [`${vocabulary}core`]: true, ...more } } },
  })
  assert.deepEqual(errors({ $schema, minimum: 5 }, 1, schemas({})), [])
  assert.deepEqual(errors({ $schema, minimum: 5 }, 1, schemas({ [`${vocabulary}validation`]: true })), [
    ' minimum',
  ])
  assert.deepEqual(
    errors({ $schema, format: 'date' }, 'x', schemas({ [`${vocabulary}format-assertion`]: true })),
    [' format'],
  )
  assert.deepEqual(errors({ $schema }, 1, schemas({ 'https://example.com/unknown': false })), [])
  assert.match(
    mistake({ $schema }, schemas({ 'https://example.com/unknown': true })),
    /requires the vocabulary/,
  )
})

test('draft-07 reads its own keywords and not the later ones', () => {
  const $schema = 'http://json-schema.org/draft-07/schema#'
  assert.deepEqual(errors({ $schema, items: [{ type: 'string' }], additionalItems: false }, [1, 2]), [
    '/0 type',
    '/1 false',
  ])
  assert.deepEqual(errors({ $schema, dependencies: { a: ['b'], c: { required: ['d'] } } }, { a: 1, c: 1 }), [
    '/b dependencies',
    '/d required',
  ])
  assert.deepEqual(
    errors({ $schema, definitions: { a: { $id: '#x', type: 'string' } }, $ref: '#x', minimum: 5 }, 1),
    [' type'],
  )
  assert.deepEqual(
    errors({ $schema, prefixItems: [false], unevaluatedItems: false, minContains: 0 }, [1]),
    [],
  )
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
    const filled = {}
    compile({ properties: own({ default: 5 }) as object }, { defaults: true })(filled)
    assert.ok(Object.hasOwn(filled, name))
    assert.equal(Object.getPrototypeOf(filled), Object.prototype)
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
    [{ maxLength: 2 }, '👍👍', true],
    [{ minLength: 3 }, '👍👍', false],
    [{ minLength: 2 }, '👍', false],
    [{ minLength: 2 }, '\ud83d', false],
  ]
  for (const [schema, value, valid] of rows)
    assert.equal(compile(schema)(value).valid, valid, JSON.stringify([schema, value]))
})

test('defaults are filled in where that was asked for, and only where the schema applies', () => {
  const schema: JsonSchema = {
    properties: { a: { default: { deep: [] } }, b: { properties: { c: { default: 1 } } } },
    required: ['a'],
    allOf: [{ properties: { d: { default: 2 } } }],
    anyOf: [{ properties: { e: { default: 3 } } }],
    not: { properties: { f: { default: 4 } }, required: ['f'] },
  }
  const value = { b: {} }
  assert.equal(compile(schema, { defaults: true })(value).valid, true)
  assert.deepEqual(value, { a: { deep: [] }, b: { c: 1 }, d: 2 })
  const frozen = Object.freeze({})
  assert.deepEqual(
    errors({ properties: { a: { default: 1 } }, required: ['a'] }, frozen, { defaults: true }),
    ['/a required'],
  )
  const untouched = {}
  assert.deepEqual(errors(schema, untouched), ['/a required'])
  assert.deepEqual(untouched, {})
})

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

test('a hundred thousand items are compared in well under a second', () => {
  const items = Array.from({ length: 100_000 }, (_, id) => ({ id, tags: [id] }))
  const start = performance.now()
  assert.equal(compile({ uniqueItems: true })(items).valid, true)
  assert.ok(performance.now() - start < 2000)
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
  const library = new URL(`../../lib/schema/compile.${extension}`, import.meta.url)
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

function nestedIn(name: string, depth: number): unknown {
  let value: unknown = 1
  for (let at = 0; at < depth; at++) value = { [name]: value }
  return value
}
