/** Schemas that were made to be expensive, and what they cost. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { compile, compileForeign } from '../../../lib/kernel/schema/compile.ts'
import { costOf, costOfParsing } from '../../fixtures/time.ts'
import { list } from './rows.ts'
import type { JsonSchema } from '../../../lib/kernel/schema/compile.ts'

function named(length: number, make: (index: number) => unknown): Record<string, unknown> {
  return Object.fromEntries(list(length, (at) => [`a${at}`, make(at)]))
}

function nested(levels: number, around: (inner: JsonSchema) => JsonSchema, inner: JsonSchema): JsonSchema {
  return levels === 0 ? inner : nested(levels - 1, around, around(inner))
}

const reference = (at: number): object => ({ $ref: `#/$defs/a${at}` })
const long = 'n'.repeat(1_000_000)

/** More of each than anyone needs, with the place from which on it is too much. */
const excessive: readonly (readonly [what: string, place: RegExp, schema: JsonSchema])[] = [
  ['a long pattern', /\/pattern$/, { pattern: 'a'.repeat(3_900_000) }],
  ['many alternatives', /\/pattern$/, { pattern: `^(?:${'word|'.repeat(40_000)})$` }],
  ['sets of Unicode', /\/pattern$/, { pattern: '\\p{L}'.repeat(300) }],
  ['short patterns', /\/anyOf\/\d+\/pattern$/, { anyOf: list(6_000, (at) => ({ pattern: `(a+)+${at}` })) }],
  ['huge repetitions', /\/anyOf\/\d+\/pattern$/,
    { anyOf: list(200, (at) => ({ pattern: `(a{2000})*${at}` })) }],
  ['patterns of names', /\/patternProperties$/, { patternProperties: named(6_000, () => true) }],
  ['subschemas', /\/\$defs(?:\/a\d+.*)?$/,
    { $defs: named(19_000, () => ({ type: 'string', minLength: 1 })) }],
  ['booleans', /^$/, { properties: named(100_000, () => true) }],
  ['unknown keywords', /^$/, named(100_000, () => 1)],
  ['references by URI', /\/allOf\/\d+$/,
    { $id: `http://a/${long}/`, allOf: list(100, () => ({ $ref: 'b' })) }],
  ['names by URI', /\/\$defs\/a\d+$/,
    { $id: `http://a/${long}/`, $defs: named(100, (at) => ({ $id: `${at}` })) }],
  ['short names by URI', /\/\$defs\/a\d+$/, { $defs: named(9_000, (at) => ({ $id: `http://a/${at}` })) }],
  ['a long reference', /^$/, { $ref: `#${'/a'.repeat(1_500_000)}` }],
  ['long references that are found', /\/anyOf\/\d+$/, {
    a: JSON.parse(`${'{"a":'.repeat(60)}{}${'}'.repeat(60)}`),
    anyOf: list(5_000, () => ({ $ref: `#${'/a'.repeat(60)}` })),
  }],
  ['a constant', /\/const$/, { const: named(100_000, () => 1) }],
  ['constants', /\/enum$/, { enum: list(200_000, (at) => at) }],
  ['names that are required', /\/required$/, { required: list(200_000, (at) => `a${at}`) }],
  ['names that others require', /\/dependentRequired$/, { dependentRequired: named(12_000, () => ['b']) }],
  ['the same type', /\/type$/, { type: list(2_000_000, () => 'string') }],
]

test('a foreign schema that is too much work is refused soon, in a sentence that names the place', () => {
  const limit = 20 * costOfParsing()
  for (const [what, place, schema] of excessive) {
    let said = ''
    const took = costOf(() => {
      try {
        compileForeign(schema)
      } catch (error) {
        assert.ok(error instanceof TypeError, what)
        said = error.message
      }
    }, limit)
    const [, at] = /^Invalid JSON Schema at (.*): from here on the schema takes too much/.exec(said) ?? []
    assert.match(at?.replace(/^http:.*#/, '') ?? said, place, what)
    assert.match(said, /\(maxCompileSteps 250000\); write fewer subschemas, references and values/, what)
    assert.ok(said.length < 1_100, what)
    assert.ok(took <= limit, `${what} took ${took} ms`)
  }
})

test('a foreign schema may have as much as model providers take', () => {
  const properties = Object.fromEntries(list(100, (at) => [`group ${at}`, {
    type: 'object',
    description: 'Some words about what this is for.',
    properties: Object.fromEntries(list(50, (property) => [`property ${property}`, { type: 'string' }])),
    required: list(50, (property) => `property ${property}`),
    additionalProperties: false,
  }]))
  const pattern = '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$'
  assert.ok(compileForeign({
    type: 'object', properties: { ...properties, one: { enum: list(1_000, (at) => `choice ${at}`) } },
  })({}).valid)
  assert.ok(compileForeign({ properties: named(500, () => ({ type: 'string', pattern })) })({}).valid)
  assert.equal(compileForeign({ format: 'date' })('x').valid, true)
  assert.equal(compileForeign({ format: 'date' }, { formats: true })('x').valid, false)
})

test('the work of compiling has no bound for authors, unless they ask for one', () => {
  const schema = { properties: named(19_000, () => ({ type: 'string' })) }
  assert.ok(compile(schema)({}).valid)
  assert.throws(() => compile(schema,
    { maxCompileSteps: 1_000 }), /takes too much work .*maxCompileSteps 1000/)
})

const chain = (length: number): JsonSchema =>
  ({ ...reference(0), $defs: named(length, (at) => at + 1 < length ? reference(at + 1) : {}) })

/** Schemas that took time, or memory, in proportion to the square of their size. */
const growing: readonly (readonly [what: string, make: (size: number) => JsonSchema])[] = [
  ['a chain of references', (size) => chain(4 * size)],
  ['dynamic references to one anchor', (size) => ({
    $defs: named(2 * size, (at) => (
      { $id: `http://a/${at}`, $dynamicAnchor: 'x', items: { $dynamicRef: '#x' } }
    )),
  })],
  ['one anchor in one document', (size) => ({
    $defs: named(2 * size, () => ({ $dynamicAnchor: 'x', items: { $dynamicRef: '#x' } })),
  })],
  ['a long name above many', (size) => ({
    $defs: { ['n'.repeat(100 * size)]: { $defs: named(4 * size, () => ({})) } },
  })],
  ['anchors below a long URI', (size) => ({
    $id: `http://a/${'n'.repeat(100 * size)}`, $defs: named(2 * size, (at) => ({ $anchor: `b${at}` })),
    allOf: list(size, (at) => ({ $ref: `#b${at}` })),
  })],
  ['a long pattern', (size) => ({ pattern: 'ab|'.repeat(20 * size) })],
  ['defaults that refer to one schema', (size) => ({
    $defs: { a0: { items: { properties: named(size, () => ({ type: 'string' })) } } },
    properties: named(size, () => ({ default: [], $ref: '#/$defs/a0' })),
  })],
]

test('to compile twice as much takes about twice as long', () => {
  for (const [what, make] of growing) {
    const costFor = (size: number): number => costOf(() => { compile(make(size), { defaults: true }) })
    costFor(250)
    // What grows with the square takes 64 times as long.
    const once = Math.max(costFor(500), 1)
    const limit = 32 * once
    const took = costOf(() => { compile(make(4_000), { defaults: true }) }, limit)
    assert.ok(took <= limit, `${what}: ${took} ms for eight times what took ${once} ms`)
  }
})

test('compiling four times as much takes about four times as many steps', () => {
  const least = (schema: JsonSchema): number => {
    let [low, high] = [1, 2 ** 24]
    while (high - low > low / 50) {
      const maxCompileSteps = Math.round((low + high) / 2)
      try {
        compile(schema, { maxCompileSteps })
        high = maxCompileSteps
      } catch {
        low = maxCompileSteps
      }
    }
    return high
  }
  for (const [what, make] of growing) {
    const once = least(make(300))
    const more = least(make(1_200))
    assert.ok(more > 3 * once && more < 10 * once, `${what}: ${once} for one, ${more} for four`)
  }
})

test('a long pointer costs what it has, and one that leads nowhere nothing more', () => {
  const limit = 20 * costOfParsing()
  const took = costOf(() => {
    assert.throws(() => compile({ $ref: `#${'/a'.repeat(1_500_000)}` }), /nothing here is called #\/a\/a/)
  }, limit)
  assert.ok(took <= limit, `took ${took} ms`)
})

test('a schema under a keyword that nobody knows is nested no deeper than others', () => {
  const deep = nested(5_000, (not) => ({ not }), {})
  assert.throws(() => compile({ x: deep, $ref: '#/x' }),
    /^TypeError: .*is more than 100 levels deep; use "\$ref"/)
  const fine = { x: nested(99, (not) => ({ not }), {}), $ref: '#/x' }
  assert.equal(compile(fine)(1).valid, false)
})

/** Whole numbers that the runtime's tables keep in one place, where each is compared with all others. */
function colliding(count: number): number[] {
  const hash = (number: number): number => {
    let sum = (~number + (number << 15)) >>> 0
    sum = (sum ^ (sum >>> 12)) >>> 0
    sum = (sum + (sum << 2)) >>> 0
    sum = (sum ^ (sum >>> 4)) >>> 0
    sum = Math.imul(sum, 2_057) >>> 0
    return (sum ^ (sum >>> 16)) >>> 0
  }
  const found: number[] = []
  for (let number = 0; found.length < count; number++) if ((hash(number) & 0x3fff) === 0) found.push(number)
  return found
}

/** Whether the cost of work is at most so many times that of other work. */
function assertRatio(what: string, work: () => void, usual: () => void, most: number): void {
  const limit = most * Math.max(costOf(usual), 1)
  const took = costOf(work, limit)
  assert.ok(took <= limit, `${what} took ${took} ms, more than ${limit}`)
}

test('numbers that were chosen to meet in a table cost what others cost', () => {
  const chosen = colliding(15_000)
  const others = list(15_000, (at) => at * 7 + 0.5)
  const unique = compile({ uniqueItems: true })
  assertRatio('uniqueItems', () => assert.ok(unique(chosen).valid), () => unique(others), 20)
  assertRatio('enum', () => assert.ok(compile({ enum: chosen })(chosen[9]).valid),
    () => compile({ enum: others })(1), 20)
  assert.equal(unique([...chosen, chosen[0]]).valid, false)
  assert.equal(unique([0, -0]).valid, false)
  assert.equal(unique([[0], [-0]]).valid, false)
  assert.equal(unique([[1.5], [2.5], [1.5]]).valid, false)
  for (const value of [...others.slice(0, 20), 5, -1, 1e9]) {
    assert.equal(compile({ enum: others })(value).valid, others.includes(value), String(value))
  }
})

test('texts that were chosen to have one digest cost what others cost', () => {
  const chosen = list(8_000, (at) => (
    [at.toString(2).padStart(13, '0').replace(/0/g, 'Aa').replace(/1/g, 'BB')]))
  assert.ok(compile({ uniqueItems: true })(chosen).valid)
})

/** What a value costs beyond what it is allowed; each was free, or nearly. */
const unpaid: readonly (readonly [what: string, schema: JsonSchema, value: unknown])[] = [
  ['schemas in one another', { items: nested(89, (not) => ({ not }),
    { type: 'string' }) }, list(60_000, () => 1)],
  ['conditions in one another', {
    items: nested(30, (inner) => ({ if: { minimum: 3 }, then: { maximum: 1 }, else: inner }),
      { type: 'number' }),
  }, list(60_000, () => 1)],
  ['many keywords', {
    items: { minimum: 0, maximum: 9, exclusiveMinimum: 0, exclusiveMaximum: 9, multipleOf: 1, maxItems: 9,
      minItems: 0, maxProperties: 9, minProperties: 0 },
  }, list(300_000, () => 1)],
  ['alternatives of one letter',
    { items: { pattern: `^(?:${'a|'.repeat(9_000)}a)b` } }, list(3_000, () => 'ab')],
  ['alternatives that multiply', { pattern: `^(?:${'a|'.repeat(9_000)}a)(?:${'a|'.repeat(9_000)}a)c` }, 'aa'],
  ['members of few names', { items: { allOf: list(500, () => ({ additionalProperties: true })) } },
    list(400, () => named(16, () => 1))],
  ['patterns of few names', { items: { patternProperties: named(500, () => true) } },
    list(400, () => Object.fromEntries(list(16, (at) => [`b${at}`, 1])))],
  ['properties that are not there',
    { items: { properties: named(1_000, () => ({})) } }, list(1_000, () => ({}))],
  ['long constants', { items: { not: { enum: list(100, (at) => [`${'x'.repeat(20_000)}${at % 10}`]) } } },
    list(100, () => [`${'x'.repeat(20_000)}-`])],
]

test('what a check does for each item, name or branch is paid', () => {
  for (const [what, schema, value] of unpaid) {
    const { errors } = compile(schema)(value)
    assert.deepEqual(errors.map(({ keyword }) => keyword), ['maxSteps'], what)
  }
})

test('a dynamic reference looks through many documents at the cost of one', () => {
  const schema = (anchors: number): JsonSchema => ({
    $defs: named(anchors, (at) => ({ $id: `http://a/${at}`, $dynamicAnchor: 'x' })),
    items: { $dynamicRef: 'http://a/0#x' },
  })
  const items = list(10_000, () => 1)
  const [few, many] = [compile(schema(2)), compile(schema(1_000))]
  assertRatio('of a thousand', () => assert.ok(many(items).valid), () => few(items), 20)
})

test('a type that is named again and again is one type', () => {
  const once = compile({ items: { type: ['string', 'null'] } })
  const often = compile({ items: { type: list(10_000, (at) => at % 2 ? 'string' : 'null') } })
  const items = list(5_000, () => null)
  assertRatio('often', () => assert.ok(often(items).valid), () => once(items), 20)
  assert.equal(often([1]).errors[0]?.message, 'must be null or a string')
})

test('the nearest of very many branches is found', () => {
  const anyOf = [...list(130_000, () => ({ type: 'null' })), { type: 'number', minimum: 5 }]
  const { errors } = compile({ anyOf }, { maxSubschemas: Infinity, maxSteps: Infinity })(1)
  assert.deepEqual(errors.map(({ keyword }) => keyword), ['minimum', 'anyOf'])
})

test('a message takes the beginning of a constant, and no more of it', () => {
  for (const long of [list(5_000, (at) => at), { a: 'x'.repeat(5_000) }, ['x'.repeat(5_000), 1]]) {
    const shown = String(compile({ const: long })('other').errors[0]?.expected)
    assert.ok(shown.length > 100 && shown.length <= 161 && shown.endsWith('…'), shown)
    assert.ok(JSON.stringify(long).startsWith(shown.slice(0, -1)), shown)
  }
  const rows: readonly (readonly [expected: unknown, shown: unknown])[] = [
    [{ a: 1, b: undefined, c: [true, null] }, { a: 1, b: undefined, c: [true, null] }],
    [new Date(0), new Date(0)],
  ]
  for (const [expected, shown] of rows) {
    assert.deepEqual(compile({ const: expected })('other').errors[0]?.expected, shown)
  }
})
