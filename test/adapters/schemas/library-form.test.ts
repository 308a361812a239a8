// JSON Schemas of libraries that make none: what is read of how they keep their schemas. Those of the real
// packages are compared in test/interop/schema-libraries.mjs.
import assert from 'node:assert/strict'
import test from 'node:test'
import { gapIn } from '../../../lib/adapters/schemas/json-form.ts'
import { libraryForm } from '../../../lib/adapters/schemas/library-form.ts'

type Raw = Record<string, unknown>

const z3 = (typeName: string, def: Raw = {}): Raw => ({ _def: { typeName: `Zod${typeName}`, ...def } })
const mini = (type: string, def: Raw = {}): Raw => ({ _zod: { def: { type, ...def } } })
const check = (name: string, def: Raw): Raw => ({ _zod: { def: { check: name, ...def } } })
const val = (type: string, more: Raw = {}): Raw => ({ kind: 'schema', type, ...more })
const piped = (schema: Raw, ...steps: Raw[]): Raw => ({ ...schema, pipe: [schema, ...steps] })
const step = (type: string, more: Raw = {}): Raw => ({ kind: 'validation', type, ...more })
const change = (type: string): Raw => ({ kind: 'transformation', type })
/** Effect of version 3, and of version 4. */
const eff = (tag: string, node: Raw = {}): Raw => ({ _tag: tag, ...node })
const noted = (notes: Raw): Raw => ({ annotations: Object.fromEntries(
  Object.entries(notes).map(([name, value]) => [Symbol.for(`effect/annotation/${name}`), value]),
) })
const filter = (json: unknown): Raw => ({ annotations: { toJsonSchema: () => json } })
const of = (node: Raw): Raw => ({ ast: node })

const text = { type: 'string' }
const time = { type: 'string', format: 'date-time' }
const transform3 = z3('Effects', { schema: z3('String'), effect: { type: 'transform' } })

/** The same members in each library. */
const members: readonly (readonly [
  what: string, json: object, zod3: Raw, zod: Raw, valibot: Raw, effect3: Raw, effect4: Raw,
])[] = [
  ['a text', { type: 'string', minLength: 2, maxLength: 9, description: 'D' },
    z3('String', { description: 'D', checks: [{ kind: 'min', value: 2 }, { kind: 'max', value: 9 }] }),
    mini('string', { checks: [
      check('min_length', { minimum: 2 }), check('max_length', { maximum: 9 }),
    ], meta: 'D' }),
    piped(piped(val('string'), step('min_length', { requirement: 2 })),
      step('min_length', { requirement: 1 }), step('max_length', { requirement: 9 }),
      { kind: 'metadata', type: 'description', description: 'D' }),
    eff('Refinement', {
      from: eff('StringKeyword', noted({ Description: 'a string' })),
      ...noted({ JSONSchema: { minLength: 2, maxLength: 9 }, Description: 'D' }),
    }),
    eff('String', { annotations: { description: 'D' }, checks: [
      filter({ minLength: 2 }), { checks: [filter([{ maxLength: 9 }, true])] },
    ] })],
  ['a format', time, z3('String', { checks: [{ kind: 'datetime' }] }),
    mini('string', { check: 'string_format', format: 'datetime' }),
    piped(val('string'), step('iso_timestamp')),
    eff('StringKeyword', noted({ JSONSchema: { format: 'date-time' } })),
    eff('String', { checks: [filter({ format: 'date-time' })] })],
  ['patterns', { type: 'string', allOf: [{ pattern: '^a' }, { pattern: '\\.\\/b$' }] },
    z3('String', { checks: [{ kind: 'regex', regex: /^a/ }, { kind: 'endsWith', value: './b' }] }),
    mini('string', { checks: [
      check('string_format', { format: 'regex', pattern: /^a/ }),
      check('string_format', { format: 'ends_with', pattern: /\.\/b$/ }),
    ] }),
    piped(val('string'), step('regex', { requirement: /^a/ }), step('ends_with', { requirement: './b' })),
    eff('Refinement', {
      from: eff('Refinement', { from: eff('StringKeyword') }),
      ...noted({ JSONSchema: { allOf: [{ pattern: '^a' }, { pattern: '\\.\\/b$' }] } }),
    }),
    eff('String', { checks: [filter({ pattern: '^a' }), filter({ pattern: '\\.\\/b$' })] })],
  ['a pattern whose flags take more', { type: 'string' },
    z3('String', { checks: [{ kind: 'regex', regex: /^a/i }] }),
    mini('string', { checks: [check('string_format', { format: 'regex', pattern: /^a/i })] }),
    piped(val('string'), step('regex', { requirement: /^a/i })),
    eff('Refinement', { from: eff('StringKeyword'), annotations: {
      [Symbol.for('effect/SchemaId/Pattern')]: { regex: /^a/i },
      [Symbol.for('effect/annotation/JSONSchema')]: { pattern: '^a' },
    } }),
    eff('String', { checks: [{ annotations: {
      representation: { id: 'effect/schema/isPattern', payload: { source: '^a', flags: 'i' } },
      toJsonSchema: () => ({ pattern: '^a' }),
    } }] })],
  ['an integer', { type: 'integer', minimum: 1, exclusiveMaximum: 5, multipleOf: 2 },
    z3('Number', { checks: [
      { kind: 'int' }, { kind: 'min', value: 1, inclusive: true }, { kind: 'min', value: 0, inclusive: true },
      { kind: 'max', value: 5, inclusive: false }, { kind: 'multipleOf', value: 2 },
    ] }),
    mini('number', { check: 'number_format', format: 'safeint', checks: [
      check('greater_than', { value: 1, inclusive: true }),
      check('less_than', { value: 5, inclusive: false }), check('less_than', { value: 7, inclusive: false }),
      check('multiple_of', { value: 2 }),
    ] }),
    piped(val('number'), step('integer', { requirement: Number.isInteger }),
      step('min_value', { requirement: 1 }), step('lt_value', { requirement: 5 }),
      step('multiple_of', { requirement: 2 })),
    eff('NumberKeyword', noted({
      JSONSchema: { type: 'integer', minimum: 1, exclusiveMaximum: 5, multipleOf: 2 },
    })),
    eff('Number', { checks: [
      filter({ type: 'integer', minimum: 1 }), filter({ exclusiveMaximum: 5, multipleOf: 2 }),
    ] })],
  ['a list', { type: 'array', items: { type: 'boolean' }, minItems: 1 },
    z3('Array', { type: z3('Boolean'), minLength: { value: 1 }, maxLength: null }),
    mini('array', { element: mini('boolean'), checks: [check('min_length', { minimum: 1 })] }),
    piped(val('array', { item: val('boolean') }), step('non_empty')),
    eff('TupleType', { elements: [], rest: [{ type: eff('BooleanKeyword') }], ...noted({
      JSONSchema: { minItems: 1 },
    }) }),
    eff('Arrays', { elements: [], rest: [eff('Boolean')], checks: [filter({ minItems: 1 })] })],
  ['choices', { type: 'string', enum: ['a', 'b'] }, z3('Enum', { values: ['a', 'b'] }),
    mini('enum', { entries: { a: 'a', b: 'b' } }), val('picklist', { options: ['a', 'b'] }),
    eff('Union', { types: [eff('Literal', { literal: 'a' }), eff('Literal', { literal: 'b' })] }),
    eff('Enum', { enums: [['A', 'a'], ['B', 'b']] })],
  ['numbers by name', { enum: [0, 1] }, z3('NativeEnum', { values: { 0: 'A', 1: 'B', A: 0, B: 1 } }),
    mini('enum', { entries: { 0: 'A', 1: 'B', A: 0, B: 1 } }), val('enum', { options: [0, 1] }),
    eff('Enums', { enums: [['A', 0], ['B', 1]] }), eff('Enum', { enums: [['A', 0], ['B', 1]] })],
  ['a constant', { enum: [7] }, z3('Literal', { value: 7 }), mini('literal', { values: [7] }),
    val('literal', { literal: 7 }), eff('Literal', { literal: 7 }), eff('Literal', { literal: 7 })],
  ['a union', { anyOf: [text, { type: 'number' }] },
    z3('Union', { options: [z3('String'), z3('Number')] }),
    mini('union', { options: [mini('string'), mini('number')] }),
    val('variant', { options: [val('string'), val('number')] }),
    eff('Union', { types: [eff('StringKeyword'), eff('NumberKeyword')] }),
    eff('Union', { types: [eff('String'), eff('Number')] })],
  ['what may be null', { anyOf: [text, { type: 'null' }] },
    z3('Nullable', { innerType: z3('String') }), mini('nullable', { innerType: mini('string') }),
    val('nullable', { wrapped: val('string') }),
    eff('Union', { types: [eff('StringKeyword'), eff('Literal', { literal: null, ...noted({}) })] }),
    eff('Union', { types: [eff('String'), eff('Null')] })],
  ['both', { allOf: [text, { enum: [7] }] },
    z3('Intersection', { left: z3('String'), right: z3('Literal', { value: 7 }) }),
    mini('intersection', { left: mini('string'), right: mini('literal', { values: [7] }) }),
    val('intersect', { options: [val('string'), val('literal', { literal: 7 })] }),
    eff('AnyKeyword', noted({ JSONSchema: { allOf: [text, { enum: [7] }] } })),
    eff('Any', { checks: [filter({ allOf: [text, { enum: [7] }] })] })],
  ['a record', { type: 'object', propertyNames: { pattern: '^a' }, additionalProperties: { type: 'number' } },
    z3('Record', {
      valueType: z3('Number'), keyType: z3('String', { checks: [{ kind: 'regex', regex: /^a/ }] }),
    }),
    mini('record', { valueType: mini('number'), keyType: mini('string', {
      check: 'string_format', format: 'regex', pattern: /^a/,
    }) }),
    val('record', { value: val('number'), key: piped(val('string'), step('regex', { requirement: /^a/ })) }),
    eff('TypeLiteral', { propertySignatures: [], indexSignatures: [{
      type: eff('NumberKeyword'), parameter: eff('StringKeyword', noted({ JSONSchema: { pattern: '^a' } })),
    }] }),
    eff('Objects', { propertySignatures: [], indexSignatures: [{
      type: eff('Number'), parameter: eff('String', { checks: [filter({ pattern: '^a' })] }),
    }] })],
  ['a tuple', { type: 'array', prefixItems: [text, { type: 'number' }], minItems: 2, items: false },
    z3('Tuple', { items: [z3('String'), z3('Number')], rest: null }),
    mini('tuple', { items: [mini('string'), mini('number')], rest: null }),
    val('strict_tuple', { items: [val('string'), val('number')] }),
    eff('TupleType', { rest: [], elements: [
      { type: eff('StringKeyword'), isOptional: false }, { type: eff('NumberKeyword'), isOptional: false },
    ] }),
    eff('Arrays', { rest: [], elements: [eff('String'), eff('Number')] })],
  ['a closed object', { type: 'object', properties: {}, additionalProperties: false },
    z3('Object', { shape: () => ({}), unknownKeys: 'strict', catchall: z3('Never') }),
    mini('object', { shape: {}, catchall: mini('never') }), val('strict_object', { entries: {} }),
    eff('AnyKeyword', noted({
      JSONSchema: { type: 'object', properties: {}, additionalProperties: false },
    })),
    eff('Any', { checks: [filter({ type: 'object', properties: {}, additionalProperties: false })] })],
  ['further members', { type: 'object', properties: {}, additionalProperties: text },
    z3('Object', { shape: () => ({}), catchall: z3('String') }),
    mini('object', { shape: {}, catchall: mini('string') }),
    val('object_with_rest', { entries: {}, rest: val('string') }),
    eff('AnyKeyword', noted({
      JSONSchema: { type: 'object', properties: {}, additionalProperties: text },
    })),
    eff('Any', { checks: [filter({ type: 'object', properties: {}, additionalProperties: text })] })],
  ['what may be left out', text, z3('Optional', { innerType: z3('String') }),
    mini('optional', { innerType: mini('string') }), val('exact_optional', { wrapped: val('string') }),
    eff('StringKeyword'), eff('String', { context: { isOptional: true } })],
  ['a default', { type: 'number', default: 3 },
    z3('Default', { innerType: z3('Number'), defaultValue: () => 3 }),
    mini('default', { innerType: mini('number'), defaultValue: 3 }),
    val('optional', { wrapped: val('number'), default: 3 }),
    eff('NumberKeyword', noted({ JSONSchema: { default: 3 } })),
    eff('Number', { checks: [filter({ default: 3 })], context: { isOptional: true } })],
  ['a date of a text', time, z3('Pipeline', { in: z3('String'), out: z3('Date', { coerce: true }) }),
    mini('pipe', { in: mini('pipe', { in: mini('string'), out: mini('transform') }), out: mini('date') }),
    piped(val('string'), change('to_date')),
    eff('Refinement', { from: eff('Transformation', {
      from: eff('StringKeyword'), to: eff('Declaration', noted({ Identifier: 'DateFromSelf' })),
    }) }),
    eff('Declaration', { annotations: { representation: { id: 'effect/schema/Date' } }, encoding: [
      { to: eff('String') },
    ] })],
  ['a date of anything', time, z3('Effects', { effect: { type: 'preprocess' }, schema: z3('Date') }),
    mini('date', { coerce: true }),
    piped(val('unknown'), change('transform'), val('date')),
    eff('Transformation', {
      from: eff('UnknownKeyword'), to: eff('Declaration', noted({ Identifier: 'DateTimeUtcFromSelf' })),
    }),
    eff('Declaration', { annotations: { representation: { id: 'effect/schema/DateTimeUtc' } }, encoding: [
      { to: eff('Unknown') },
    ] })],
  ['a day', { type: 'string', format: 'date' },
    z3('Pipeline', { in: z3('String', { checks: [{ kind: 'date' }] }), out: z3('Date', { coerce: true }) }),
    mini('pipe', { in: mini('string', { check: 'string_format', format: 'date' }), out: mini('date') }),
    piped(val('string'), step('iso_date'), change('to_date')),
    eff('Transformation', {
      from: eff('StringKeyword', noted({ JSONSchema: { format: 'date' } })),
      to: eff('Declaration', noted({ Identifier: 'DateFromSelf' })),
    }),
    eff('Declaration', { annotations: { representation: { id: 'effect/schema/Date' } }, encoding: [
      { to: eff('String', { checks: [filter({ format: 'date' })] }) },
    ] })],
  ['a number of anything', { type: 'number' },
    z3('Pipeline', { in: z3('Any'), out: z3('Number') }),
    mini('pipe', { in: mini('any'), out: mini('number') }),
    piped(val('unknown'), change('transform'), val('number'), step('check')),
    eff('Transformation', { from: eff('AnyKeyword'), to: eff('NumberKeyword') }),
    eff('Number', { encoding: [{ to: eff('Any') }] })],
  ['what is transformed', text, transform3,
    mini('pipe', { in: mini('string'), out: mini('transform') }),
    piped(val('string'), change('transform'), step('min_length', { requirement: 5 })),
    eff('Transformation', { from: eff('StringKeyword'), to: eff('Declaration') }),
    eff('Declaration', { encoding: [{ to: eff('String') }] })],
  ['anything', {}, z3('Any'), mini('unknown'), piped(val('any'), change('readonly')), eff('AnyKeyword'),
    eff('Unknown')],
]
const optional = new Set(['what may be left out', 'a default'])

/** An object of each library with these members. */
function objectsOf(rows: typeof members): readonly Raw[] {
  const shapes = [2, 3, 4].map((at) => Object.fromEntries(rows.map((row) => [row[0], row[at]])))
  const signatures = [5, 6].map((at) => rows.map((row) => (
    { name: row[0], type: row[at], ...at === 5 && { isOptional: optional.has(row[0]) } }
  )))
  return [
    z3('Object', { shape: () => shapes[0] }), mini('object', { shape: shapes[1] }),
    val('loose_object', { entries: shapes[2] }),
    of(eff('TypeLiteral', { propertySignatures: signatures[0] })),
    of(eff('Objects', { propertySignatures: signatures[1] })),
  ]
}

const form = (schema: Raw, side: 'input' | 'output' = 'input'): unknown => libraryForm(schema, side)?.json

test('the arguments of a schema of zod 3, zod/mini, valibot and effect are read', (t) => {
  const register = { get: (schema: Raw) => (
    (schema['_zod'] as { def: Raw }).def['meta'] === 'D' ? { description: 'D', id: 'x' } : undefined
  ) }
  Object.assign(globalThis, { __zod_globalRegistry: register })
  t.after(() => { Reflect.deleteProperty(globalThis, '__zod_globalRegistry') })
  for (const [at, schema] of objectsOf(members).entries()) {
    const read = libraryForm(schema, 'input')
    assert.equal(gapIn(read?.json), undefined)
    const { 'what may be null': nullable, ...properties } = read?.json['properties'] as Raw
    const json = Object.fromEntries(members.map(([what, one]) => [what, one]))
    const { 'what may be null': expected, ...others } = json
    assert.deepEqual(properties, others, String(at))
    const asChoice = { anyOf: [text, { enum: [null] }] }
    assert.deepEqual(nullable, at === 3 ? asChoice : expected)
    const required = members.map(([what]) => what).filter((what) => !optional.has(what))
    assert.deepEqual(read?.json['required'], required, String(at))
  }
})

test('of a result a default is there, a date is a text, and what is transformed is not said', () => {
  for (const [at, schema] of objectsOf(members).entries()) {
    const read = libraryForm(schema, 'output')!
    const properties = read.json['properties'] as Raw
    assert.deepEqual(properties['a date of a text'], time)
    assert.deepEqual(properties['a day'], time)
    const what = at < 3 ? 'transform' : 'Declaration'
    assert.deepEqual(gapIn(read.json), { path: '/properties/what is transformed', what })
    if (at < 3) assert.ok((read.json['required'] as readonly string[]).includes('a default'))
  }
})

test('words that are read as true or false are the choices of a text', () => {
  const transform = (input: string, payload: { issues: object[] }): unknown => {
    payload.issues.push({ expected: 'stringbool', values: ['ja', 'nein'], input })
    return {}
  }
  const older = mini('pipe', { in: mini('string'), out: mini('transform', { transform }) })
  const parsed = { ...change('parse_boolean'), expects: '(true | 1 | "ja" | "nein")' }
  for (const schema of [
    mini('pipe', { in: mini('string'), out: mini('boolean'), transform }),
    mini('pipe', { in: older, out: mini('boolean') }), piped(val('string'), parsed),
  ]) {
    const { json, isBest } = libraryForm(schema, 'input')!
    assert.deepEqual([json, isBest], [{ type: 'string', enum: ['ja', 'nein'] }, true])
    assert.deepEqual(libraryForm(schema, 'output')?.json, { type: 'boolean' })
  }
})

test('what is a text of several things that become a date is a time', () => {
  const union = { anyOf: [{ ...text, format: 'date-time' }, { type: 'number' }] }
  const several = [val('string'), val('number')]
  const made = piped(val('union', { options: several }), change('to_date'))
  assert.deepEqual(libraryForm(made, 'input')?.json, union)
  const choices = mini('union', { options: [mini('string'), mini('number')] })
  const piping = mini('pipe', { in: choices, out: mini('date', { coerce: true }) })
  assert.deepEqual(libraryForm(piping, 'input')?.json, union)
})

test('what JSON Schema cannot say is named with its place', () => {
  const date = z3('Date')
  const rows: readonly (readonly [Raw, string, string])[] = [
    [z3('Object', { shape: () => ({ 'a/b': z3('Array', { type: date }) }) }), '/properties/a~1b/items',
      'date'],
    [z3('Tuple', { items: [z3('String'), date] }), '/prefixItems/1', 'date'],
    [z3('Union', { options: [z3('String'), date] }), '/anyOf/1', 'date'],
    ...['BigInt', 'Symbol', 'Map', 'Set', 'Function', 'NaN'].map((name) => (
      [z3('Record', { valueType: z3(name) }), '/additionalProperties', name.toLowerCase()] as const
    )),
    [z3('Literal', { value: 10n }), '', 'literal 10n'],
    [z3('Effects', { schema: z3('Any'), effect: { type: 'refinement' } }), '', 'custom check of any'],
    [z3('NewInSome'), '', 'newinsome'],
    ...[
      'bigint', 'symbol', 'map', 'set', 'function', 'nan', 'date', 'file', 'custom', 'transform',
    ].map((name) => [mini('optional', { innerType: mini(name) }), '', name] as const),
    [mini('literal', { values: ['a', Infinity] }), '', 'literal Infinity'],
    [mini('unknown', { checks: [check('custom', {})] }), '', 'custom check of unknown'],
    ...[
      'bigint', 'blob', 'file', 'instance', 'map', 'set', 'promise', 'symbol', 'date', 'custom',
    ].map((name) => [val('nullish', { wrapped: val(name) }), '/anyOf/0', name] as const),
    [piped(val('any'), step('check')), '', 'custom check of any'],
    // Also where it may be missing, and where it stands elsewhere.
    [mini('optional', { innerType: mini('any'), checks: [check('custom', {})] }), '', 'custom check of any'],
    [piped(val('optional', { wrapped: val('any') }), step('check')), '', 'custom check of any'],
    [of(eff('Refinement', { from: eff('Suspend', { f: () => eff('UnknownKeyword') }) })), '',
      'custom check of unknown'],
    [val('lazy', { getter: async () => val('string') }), '', 'lazy'],
    ...['BigIntKeyword', 'SymbolKeyword', 'UniqueSymbol', 'BigInt'].map((tag) => (
      [of(eff(tag)), '', /bigint/i.test(tag) ? 'bigint' : 'symbol'] as const
    )),
    [of(eff('Declaration', noted({ Identifier: 'URLFromSelf' }))), '', 'Declaration URLFromSelf'],
    [of(eff('Declaration', noted({ Identifier: 'DateFromSelf' }))), '', 'date'],
    [of(eff('Refinement', { from: eff('AnyKeyword') })), '', 'custom check of any'],
    [of(eff('Arrays', { elements: [], rest: [eff('String'), eff('Number')] })), '', 'elements after a rest'],
    [of(eff('Objects', { propertySignatures: [{ name: Symbol('a'), type: eff('String') }] })), '',
      'symbol as a name'],
  ]
  for (const [schema, path, what] of rows) {
    const gap = gapIn(libraryForm(schema, 'input')?.json)
    assert.deepEqual([gap?.path, gap?.what], [path, what])
  }
  assert.equal(libraryForm(z3('NewInSome'), 'input')?.isBest, false)
  assert.equal(libraryForm(mini('file'), 'input')?.isBest, true)
})

test('what is not there is left out, or is never', () => {
  const never = { not: {} }
  assert.deepEqual(form(mini('object', { shape: {
    a: mini('undefined'), b: mini('union', { options: [mini('string'), mini('undefined')] }),
    c: mini('literal', { values: [undefined] }), d: mini('literal', { values: ['a', undefined] }),
  } })), { type: 'object', properties: { a: never, b: text, c: never, d: { type: 'string', enum: ['a'] } } })
  // Valibot wants the key.
  assert.deepEqual(form(val('object', { entries: {
    a: val('undefined'), b: val('undefinedable', { wrapped: val('string') }),
    c: val('nullable', { wrapped: val('string'), default: 'x' }),
    d: val('non_nullish', { wrapped: val('nullish', { wrapped: val('string') }) }),
  } })), { type: 'object', required: ['a', 'b', 'c', 'd'], properties: {
    a: never, b: text, c: { anyOf: [text, { type: 'null' }], default: 'x' },
    d: { anyOf: [text, { type: 'null' }], not: { type: 'null' } },
  } })
})

test('the last items of a tuple may be missing where the library says so', () => {
  const tuple = (minItems: number): object => (
    { type: 'array', prefixItems: [text, { type: 'number' }], minItems, items: { type: 'boolean' } }
  )
  const rows: readonly (readonly [number, Raw])[] = [
    [2, z3('Tuple', {
      items: [z3('String'), z3('Optional', { innerType: z3('Number') })], rest: z3('Boolean'),
    })],
    [1, mini('tuple', {
      items: [mini('string'), mini('optional', { innerType: mini('number') })], rest: mini('boolean'),
    })],
    [1, val('tuple_with_rest', {
      items: [val('string'), val('nullish', { wrapped: val('number') })], rest: val('boolean'),
    })],
    [1, of(eff('TupleType', { rest: [{ type: eff('BooleanKeyword') }], elements: [
      { type: eff('StringKeyword'), isOptional: false }, { type: eff('NumberKeyword'), isOptional: true },
    ] }))],
    [1, of(eff('Arrays', { rest: [eff('Boolean')], elements: [
      eff('String'), eff('Number', { context: { isOptional: true } }),
    ] }))],
  ]
  for (const [at, [minItems, schema]] of rows.entries()) {
    const expected = JSON.stringify(tuple(minItems)).replace('{"type":"number"}', at === 2
      ? '{"anyOf":[{"type":"number"},{"type":"null"}]}' : '{"type":"number"}')
    assert.deepEqual(form(schema), JSON.parse(expected))
  }
  const orNothing = eff('Union', { types: [eff('StringKeyword'), eff('UndefinedKeyword')] })
  const one = of(eff('TupleType', { rest: [], elements: [{ type: orNothing, isOptional: false }] }))
  assert.equal((form(one) as Raw)['minItems'], 1)
  // Zod says itself what may be left out.
  const real = (optin?: string): Raw => ({ _zod: { def: { type: 'undefined' }, traits: new Set(), optin } })
  const both = form(mini('object', { shape: { a: real(), b: real('optional') } })) as Raw
  assert.deepEqual(both['required'], ['a'])
})

test('checks of several steps all count', () => {
  const short = { type: 'string', maxLength: 3, allOf: [{ pattern: 'a' }, { pattern: 'b' }] }
  const inner = eff('StringKeyword', noted({ JSONSchema: { maxLength: 3, pattern: 'a' } }))
  assert.deepEqual(form(of(eff('Refinement', {
    from: inner, ...noted({ JSONSchema: { maxLength: 5, pattern: 'b' } }),
  }))), short)
  // Of what it becomes nothing is said of what it was.
  assert.deepEqual(form(of(eff('Number', {
    checks: [filter({ type: 'integer', minimum: 5 })], encoding: [{ to: eff('String') }],
  }))), text)
  assert.deepEqual(form(mini('pipe', {
    in: mini('string'), out: mini('transform'), checks: [check('greater_than', { value: 5 })],
  })), text)
  const long = { annotations: {
    toJsonSchema: () => [{ minLength: 1 }, true], representation: { payload: { minLength: 2 } },
  } }
  assert.deepEqual(form(of(eff('String', { checks: [long] }))), { ...text, minLength: 2 })
  assert.deepEqual(form(val('non_nullable', { wrapped: val('undefined') })), { not: {} })
  const undefineds = { options: [mini('undefined'), mini('void')] }
  assert.deepEqual(form(mini('union', undefineds)), { not: {} })
})

test('a default that does not fit what comes in is not published', () => {
  const toNumber = mini('pipe', { in: mini('string'), out: mini('transform') })
  const shape = {
    a: mini('default', { innerType: toNumber, defaultValue: 3 }),
    b: mini('prefault', { innerType: toNumber, defaultValue: '3' }),
    c: mini('default', { innerType: mini('date', { coerce: true }), defaultValue: new Date(0) }),
  }
  assert.deepEqual(form(mini('object', { shape })), { type: 'object', properties: {
    a: text, b: { ...text, default: '3' }, c: { ...time, default: '1970-01-01T00:00:00.000Z' },
  } })
})

test('the names of a record are texts, and those of a list of choices are all there', () => {
  const numbers = { type: 'object', additionalProperties: text }
  const keys = { _zod: { def: { type: 'enum', entries: { a: 'a', b: 1 } }, values: new Set(['a', 1]) } }
  const record = (def: Raw): unknown => form(mini('record', { valueType: mini('string'), ...def }))
  assert.deepEqual(record({ keyType: mini('number') }), {
    ...numbers, propertyNames: { pattern: '^-?[0-9]+(\\.[0-9]+)?$' },
  })
  assert.deepEqual(record({ keyType: keys }), {
    ...numbers, propertyNames: { enum: ['a', '1'] }, required: ['a', '1'],
  })
  assert.deepEqual(record({ keyType: keys, partial: true }), {
    ...numbers, propertyNames: { enum: ['a', '1'] },
  })
  const named = mini('string', { check: 'string_format', format: 'regex', pattern: /^x/ })
  assert.deepEqual(record({ keyType: named, mode: 'loose' }), {
    type: 'object', patternProperties: { '^x': text },
  })
})

test('a schema that holds itself is written once', () => {
  const list: Raw = {}
  const tree = mini('object', { shape: { name: mini('string'), 'all of it': list } })
  Object.assign(list, mini('array', { element: mini('lazy', { getter: () => tree }) }))
  const json = {
    type: 'object', required: ['name', 'all of it'],
    properties: { name: text, 'all of it': { type: 'array', items: { $ref: '#' } } },
  }
  assert.deepEqual(form(tree), json)
  assert.deepEqual(form(mini('object', { shape: { list } })), {
    type: 'object', required: ['list'], properties: { list: { type: 'array', items: {
      ...json, properties: { name: text, 'all of it': { $ref: '#/properties/list' } },
    } } },
  })
})

test('many schemas that hold each other are each written once', () => {
  const all: Raw[] = Array.from({ length: 12 }, () => ({}))
  for (const one of all) {
    Object.assign(one, mini('object', { shape: Object.fromEntries(all.map((other, at) => (
      [`m${at}`, mini('optional', { innerType: other })]
    ))) }))
  }
  const json = JSON.stringify(form(all[0]!))
  assert.equal(json.match(/"properties":/g)?.length, 12)
})

test('schemas that never end are refused', () => {
  const endless = (): Raw => mini('object', { shape: { a: mini('lazy', { getter: endless }) } })
  const gap = gapIn(libraryForm(endless(), 'input')?.json)
  assert.equal(gap?.what, 'more than 100 levels')
})

test('anything else is not read', () => {
  const others = [
    {}, { _def: {} }, { _zod: {} }, { kind: 'schema' }, { kind: 'validation', type: 'a' }, { ast: {} },
  ]
  for (const schema of others) {
    assert.equal(libraryForm(schema, 'input'), undefined)
  }
})
