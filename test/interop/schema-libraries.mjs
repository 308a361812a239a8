/**
 * Each construct of zod 4, zod/mini, zod 3, valibot, arktype, effect 3 and 4 and both packages of TypeBox:
 * its JSON Schema is published, and then the library takes what that takes; or it is refused, with its name
 * and its place. Skips itself, and says so, where they are not installed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missing } from './start.mjs'

const skip = missing(
  'zod', 'zod-3', 'valibot', '@valibot/to-json-schema', 'arktype', 'effect', 'effect-3', '@sinclair/typebox',
  'typebox',
)
if (skip) console.log(`schema-libraries: skipped: ${skip}`)

const load = (path) => (skip ? {} : import(path))
const [{ z }, mini, { z: z3 }, v, { toStandardJsonSchema }, { type }] = await Promise.all([
  'zod', 'zod/mini', 'zod-3', 'valibot', '@valibot/to-json-schema', 'arktype',
].map(load))
const [{ Schema: S3 }, { Schema: S4 }, old, box] = await Promise.all([
  'effect-3', 'effect', '@sinclair/typebox', 'typebox',
].map(load))
const { compile, defineTool } = await load('../../dist/index.js')

const TIME = '2024-02-03T04:05:06.000Z'
/** Takes a time as JSON has it. */
const time = { json: { type: 'string', format: 'date-time' }, good: [TIME], bad: [1, null, {}] }
/** The same, with more keywords. */
const times = { good: [TIME], bad: [1, 'x'], format: 'date-time' }
/** A time, or its milliseconds. */
const ofUnion = {
  json: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'number' }] }, good: [TIME, 1], bad: [{}],
}
/** The words of a boolean. */
const spoken = { good: ['true', 'yes', 'off', '0'], bad: ['maybe', '', 1] }
const text = { json: { type: 'string' }, good: ['', 'a'], bad: [1, null] }
/** Of `/^a/i`: JSON Schema has no flags. */
const anyCase = { ...text, good: ['a', 'A'], bad: [1] }
const number = { json: { type: 'number' }, good: [1, -2.5], bad: ['1', null] }
const open = { json: {}, good: [1, 'a', null, {}], bad: [] }
const never = { json: { not: {} }, good: [], bad: [1, 'a', null] }
const object = { good: [{ a: 'x' }, { a: 'x', b: 1 }], bad: [{}, { a: 1 }, 'x'] }
const closed = { good: [{ a: 'x' }], bad: [{ a: 'x', b: 1 }, {}] }
const tree = {
  good: [{ v: 'a', kids: [{ v: 'b', kids: [] }] }], bad: [{ v: 'a', kids: [{ v: 1, kids: [] }] }],
}
const record = { good: [{}, { a: 1 }], bad: [{ a: 'x' }, 1] }
const pair = { good: [['a', 1]], bad: [[1, 'a'], [], 'a'] }
const either = { good: [{ t: 'a', a: 'x' }, { t: 'b', b: 1 }], bad: [{ t: 'c' }, { t: 'a', a: 1 }] }
const both = { good: [{ a: 'x', b: 1 }], bad: [{ a: 'x' }, { b: 1 }] }
const choice = { good: ['a', 'b'], bad: ['c', 1] }
const names = { good: [0, 1], bad: ['A', 2] }
const whole = { good: [1, 3], bad: [1.5, '1', 0, 9] }
const string = { good: ['abc.b'], bad: ['b', 'xbc.b', 'abc.c', 'aaaaaaaaaac.b'] }
const nullable = { good: ['a', null], bad: [1] }

/** Refused as an argument, with this word. */
const no = (what, output) => ({ what, output })
/** Refused as an argument; of a result it is a text. */
const date = (what) => ({ what, output: time.json })
/** An argument as given; of a result refused with this word. */
const oneWay = (expected, output, path) => ({ ...expected, output, path })

/** Of each library: what makes an object of one member, and its constructs. */
const libraries = skip ? [] : [
  ['zod', (x) => z.object({ x }), {
    'regex with flags': [z.string().regex(/^a/i), anyCase],
    string: [z.string().min(2).max(9).regex(/^a/).endsWith('b').includes('c.'), string],
    'coerce.string': [z.coerce.string(), { ...text, bad: [] }],
    number: [z.number(), number], int: [z.int().min(1).max(8), whole],
    'coerce.number': [z.coerce.number(), { ...number, bad: ['x'] }],
    boolean: [z.boolean(), { json: { type: 'boolean' }, good: [true], bad: ['true', 1] }],
    'coerce.boolean': [z.coerce.boolean(), { json: { type: 'boolean' }, good: [true, false], bad: [] }],
    stringbool: [z.stringbool(),
      { ...spoken, output: { type: 'boolean' } }],
    'stringbool of own words': [z.stringbool({ truthy: ['ja'], falsy: ['nein'] }),
      { json: { type: 'string', enum: ['ja', 'nein'] }, good: ['ja', 'nein'], bad: ['true', 1] }],
    'date of a union': [z.union([z.string(), z.number()]).pipe(z.coerce.date()), ofUnion],
    bigint: [z.bigint(), no('bigint')], int64: [z.int64(), no('bigint')],
    'coerce.bigint': [z.coerce.bigint(),
      oneWay({ json: { type: 'integer' }, good: [1], bad: [1.5] }, 'bigint')],
    date: [z.date(), date('date')], 'coerce.date': [z.coerce.date(), { ...time, bad: ['x', {}] }],
    'date of a text': [z.string().pipe(z.coerce.date()), time],
    'date of a transformed text': [z.string().transform((one) => new Date(one)).pipe(z.date()), time],
    'date of iso.datetime': [z.iso.datetime().pipe(z.coerce.date()), times],
    'transformed iso.datetime': [z.iso.datetime().transform((one) => new Date(one)),
      oneWay(times, 'transform')],
    'date of iso.date': [z.iso.date().pipe(z.coerce.date()),
      { good: ['2024-02-03'], bad: [TIME], format: 'date' }],
    'preprocessed date': [z.preprocess((one) => new Date(one), z.date()), { ...time, bad: ['x', {}] }],
    'codec to a date': [z.codec(z.iso.datetime(), z.date(), {
      decode: (one) => new Date(one), encode: (one) => one.toISOString(),
    }), times],
    'date within': [z.array(z.object({ d: z.coerce.date().optional() })), {
      good: [[{ d: TIME }], [{}]], bad: [[{ d: {} }], 1],
    }],
    'dates by name': [z.record(z.string(), z.coerce.date()), { good: [{ a: TIME }], bad: [{ a: {} }] }],
    'default date': [z.coerce.date().default(new Date(0)), { ...times, bad: ['x', {}] }],
    'a text or a date': [z.union([z.string(), z.date()]), { what: 'date', path: '/anyOf/1' }],
    symbol: [z.symbol(), no('symbol')], undefined: [z.undefined(), never], void: [z.void(), never],
    'a text or nothing': [z.union([z.string(), z.undefined()]), { ...text, json: undefined }],
    never: [z.never(), never], nan: [z.nan(), no('nan')], null: [z.null(), { good: [null], bad: [1] }],
    any: [z.any(), open], unknown: [z.unknown(), open], custom: [z.custom((one) => one === 1), no('custom')],
    'refined any': [z.any().refine((one) => one === 1), no('custom check of any')],
    instanceof: [z.instanceof(URL), no('custom')], file: [z.file(), no('file')],
    map: [z.map(z.string(), z.number()), no('map')], set: [z.set(z.string()), no('set')],
    function: [z.function(), no('function')], 'a promise': [z.promise(z.string()), text],
    transform: [z.transform(Number), no('transform')],
    'transformed text': [z.string().transform(Number), oneWay(text, 'transform')],
    preprocess: [z.preprocess(Number, z.number()), { ...number, bad: ['x'] }],
    'number of anything': [z.any().pipe(z.number()), number],
    'template literal': [z.templateLiteral(['a', z.number()]), { good: ['a1'], bad: ['b1', 'a', 1] }],
    'iso.datetime': [z.iso.datetime(), { ...times, bad: ['x', '2024-02-03T04:05:06+01:00'] }],
    'iso.time': [z.iso.time(), { good: ['04:05:06'], bad: ['25:00', 1] }],
    'iso.duration': [z.iso.duration(), { good: ['P1D'], bad: ['x'] }],
    email: [z.email(), { good: ['a@b.example'], bad: ['a'] }],
    url: [z.url(), { good: ['http://a/'], bad: ['a'] }],
    literal: [z.literal(['a', 'b']), choice], 'literal of bigint': [z.literal(10n), no('literal 10n')],
    'literal or nothing': [z.literal(['a', 'b', undefined]), choice],
    infinity: [z.literal(Infinity), no('literal Infinity')],
    enum: [z.enum({ A: 0, B: 1, 0: 'A', 1: 'B' }), names], object: [z.object({ a: z.string() }), object],
    strictObject: [z.strictObject({ a: z.string() }), closed],
    catchall: [z.object({ a: z.string() }).catchall(z.number()),
      { good: [{ a: 'x', b: 1 }], bad: [{ a: 'x', b: '' }] }],
    record: [z.record(z.string(), z.number()), record],
    'record of choices': [z.record(z.enum(['a', 'b']), z.number()),
      { good: [{ a: 1, b: 2 }], bad: [{ a: 1 }] }],
    partialRecord: [z.partialRecord(z.enum(['a', 'b']), z.number()), { good: [{ a: 1 }], bad: [{ c: 1 }] }],
    looseRecord: [z.looseRecord(z.string().regex(/^x/), z.number()),
      { good: [{ x: 1, a: '' }], bad: [{ x: '' }] }],
    'record of numbers': [z.record(z.number(), z.number()), { good: [{ 1: 1 }], bad: [{ a: 1 }] }],
    tuple: [z.tuple([z.string()], z.number()), { ...pair, bad: [[1], [], ['a', 'b']] }],
    union: [z.discriminatedUnion('t', [
      z.object({ t: z.literal('a'), a: z.string() }), z.object({ t: z.literal('b'), b: z.number() }),
    ]), either],
    intersection: [z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })), both],
    'getter of itself': [(() => {
      const node = z.object({ v: z.string(), get kids() { return z.array(node) } })
      return node
    })(), tree],
    lazy: [z.lazy(() => z.string()), text], json: [z.json(), { good: [1, null, ['a']], bad: [] }],
    nullable: [z.string().nullable(), nullable], nonoptional: [z.string().optional().nonoptional(), text],
    readonly: [z.array(z.string()).readonly(), { good: [['a']], bad: [[1]] }],
    brand: [z.string().brand('B'), text],
    refine: [z.string().refine((one) => one.length < 3), text],
    catch: [z.number().catch(1), { good: [1], bad: [] }],
    prefault: [z.string().transform(Number).prefault('3'), oneWay({ good: ['1'], bad: [1] }, 'transform')],
    meta: [z.string().meta({ title: 'T', id: 'T' }), { good: ['a'], bad: [1] }],
  }],
  ['zod', (x) => mini.object({ x }), {
    'regex with flags': [mini.string().check(mini.regex(/^a/i)), anyCase],
    string: [mini.string().check(mini.minLength(2), mini.maxLength(9), mini.regex(/^a/), mini.endsWith('b'),
      mini.includes('c.')), string],
    int32: [mini.int32().check(mini.gte(1), mini.lte(8)), whole], date: [mini.date(), date('date')],
    'coerce.date': [mini.coerce.date(), { ...time, bad: ['x', {}] }],
    'date of a text': [mini.pipe(mini.string(), mini.coerce.date()), time],
    'iso.datetime': [mini.iso.datetime(), { ...times, bad: ['x', '2024-02-03T04:05:06+01:00'] }],
    bigint: [mini.bigint(), no('bigint')], map: [mini.map(mini.string(), mini.string()), no('map')],
    set: [mini.set(mini.string()), no('set')], file: [mini.file(), no('file')], nan: [mini.nan(), no('nan')],
    custom: [mini.custom((one) => one === 1), no('custom')], instanceof: [mini.instanceof(URL), no('custom')],
    'refined any': [mini.any().check(mini.refine((one) => one === 1)), no('custom check of any')],
    symbol: [mini.symbol(), no('symbol')], undefined: [mini.undefined(), never], any: [mini.any(), open],
    'transformed text': [mini.pipe(mini.string(), mini.transform(Number)), oneWay(text, 'transform')],
    'template literal': [mini.templateLiteral(['a', mini.number()]), { good: ['a1'], bad: ['b1', 1] }],
    'record of choices': [mini.record(mini.enum(['a', 'b']), mini.number()),
      { good: [{ a: 1, b: 2 }], bad: [{ a: 1 }] }],
    looseRecord: [mini.looseRecord(mini.string().check(mini.regex(/^x/)), mini.number()), {
      good: [{ x: 1, a: '' }], bad: [{ x: '' }],
    }],
    tuple: [mini.tuple([mini.string(), mini.number()]), { ...pair, bad: [...pair.bad, ['a', 1, 2]] }],
    strictObject: [mini.strictObject({ a: mini.string() }), closed],
    xor: [mini.xor([mini.string(), mini.null()]), nullable],
    intersection: [mini.intersection(mini.object({ a: mini.string() }), mini.object({ b: mini.number() })),
      both],
    'getter of itself': [(() => {
      const node = mini.object({ v: mini.string(), get kids() { return mini.array(node) } })
      return node
    })(), tree],
    stringbool: [mini.stringbool(),
      { ...spoken, output: { type: 'boolean' } }],
  }],
  ['zod', (x) => z3.object({ x }), {
    'regex with flags': [z3.string().regex(/^a/i), anyCase],
    ZodString: [z3.string().min(2).max(9).regex(/^a/).endsWith('b').includes('c.'), string],
    ZodNumber: [z3.number().int().min(1).max(8), whole], ZodNaN: [z3.nan(), no('nan')],
    ZodBigInt: [z3.bigint(), no('bigint')], ZodBoolean: [z3.boolean(), { good: [true], bad: [1] }],
    ZodDate: [z3.date(), date('date')], 'coerce.date': [z3.coerce.date(), { ...time, bad: ['x', {}] }],
    'date of a text': [z3.string().pipe(z3.coerce.date()), time],
    'date of a transformed text': [z3.string().transform((one) => new Date(one)).pipe(z3.date()), time],
    'preprocessed date': [z3.preprocess((one) => new Date(one), z3.date()), { ...time, bad: ['x', {}] }],
    datetime: [z3.string().datetime(), { ...times, bad: ['x', '2024-02-03T04:05:06+01:00'] }],
    'transformed datetime': [z3.string().datetime().transform((one) => new Date(one)),
      oneWay(times, 'transform')],
    ZodSymbol: [z3.symbol(), no('symbol')], ZodUndefined: [z3.undefined(), never],
    ZodVoid: [z3.void(), never],
    ZodNull: [z3.null(), { good: [null], bad: [1] }], ZodAny: [z3.any(), open],
    ZodUnknown: [z3.unknown(), open],
    ZodNever: [z3.never(), never],
    ZodArray: [z3.array(z3.string()).nonempty(), { good: [['a']], bad: [[], [1]] }],
    ZodObject: [z3.object({ a: z3.string() }), object],
    strict: [z3.object({ a: z3.string() }).strict(), closed],
    ZodUnion: [z3.union([z3.string(), z3.null()]), nullable],
    ZodDiscriminatedUnion: [z3.discriminatedUnion('t', [
      z3.object({ t: z3.literal('a'), a: z3.string() }), z3.object({ t: z3.literal('b'), b: z3.number() }),
    ]), either],
    ZodIntersection: [z3.intersection(z3.object({ a: z3.string() }), z3.object({ b: z3.number() })), both],
    ZodTuple: [z3.tuple([z3.string(), z3.number()]), { ...pair, bad: [...pair.bad, ['a', 1, 2]] }],
    ZodRecord: [z3.record(z3.number()), record], ZodMap: [z3.map(z3.string(), z3.string()), no('map')],
    'record of choices': [z3.record(z3.enum(['a', 'b']), z3.number()), { good: [{ a: 1 }], bad: [{ c: 1 }] }],
    ZodSet: [z3.set(z3.string()), no('set')], ZodFunction: [z3.function(), no('function')],
    ZodLazy: [(() => {
      const node = z3.lazy(() => z3.object({ v: z3.string(), kids: z3.array(node) }))
      return node
    })(), tree],
    ZodLiteral: [z3.literal('a'), { good: ['a'], bad: ['b'] }],
    'literal of bigint': [z3.literal(1n), no('literal 1n')],
    ZodEnum: [z3.enum(['a', 'b']), choice],
    ZodNativeEnum: [z3.nativeEnum({ A: 0, B: 1, 0: 'A', 1: 'B' }), names],
    ZodEffects: [z3.string().transform(Number), oneWay(text, 'transform')],
    refine: [z3.string().refine((one) => one.length < 3), text],
    custom: [z3.custom((one) => one === 1), no('custom check of any')],
    instanceof: [z3.instanceof(URL), no('custom check of any')],
    'refined unknown': [z3.unknown().refine((one) => one === 1), no('custom check of unknown')],
    ZodOptional: [z3.string().optional(), text], ZodNullable: [z3.string().nullable(), nullable],
    ZodDefault: [z3.string().default('x'), { good: ['a'], bad: [1] }],
    ZodCatch: [z3.number().catch(1), { good: [1], bad: [] }],
    ZodPromise: [z3.promise(z3.string()), no('promise')],
    ZodBranded: [z3.string().brand('B'), text],
    ZodPipeline: [z3.string().pipe(z3.string().min(1)), { good: ['a'], bad: [1] }],
    ZodReadonly: [z3.array(z3.string()).readonly(), { good: [['a']], bad: [[1]] }],
  }],
  ['valibot', (x) => v.object({ x }), valibotRows()],
  ['valibot', (x) => toStandardJsonSchema(v.object({ x })), valibotRows({
    'a check of anything': [v.pipe(v.any(), v.check((one) => one === 1)), no('check')],
    literalBig: [v.literal(1n), no('literal')],
    nonOptional: [v.nonOptional(v.optional(v.string())), no('non_optional')],
    string: undefined,
  })],
  ['arktype', (x) => type({ x }), {
    Date: [type('Date'), date('Date')],
    'string.date.parse': [type('string.date.parse'), { ...time, bad: ['x', 1] }],
    'string.date.iso.parse': [type('string.date.iso.parse'), times],
    'string.date.epoch.parse': [type('string.date.epoch.parse'), { good: ['0'], bad: [TIME, 1] }],
    'a piped date': [type('string').pipe((one) => new Date(one)).to('Date'), time],
    'string | Date': [type('string | Date'), { what: 'Date', path: '/anyOf/1' }],
    "Date > d'2000'": [type(`Date > d'2000-01-01'`), date('Date')],
    bigint: [type('bigint'), no('bigint')], '10n': [type('10n'), no('10n')],
    symbol: [type('symbol'), no('symbol')],
    undefined: [type('undefined'), never], unknown: [type('unknown'), open],
    never: [type('never'), { good: [], bad: [1, 'a'] }], 'number.NaN': [type('number.NaN'), no('NaN')],
    'number.Infinity': [type('number.Infinity'), no('Infinity')],
    ...Object.fromEntries([
      'Map', 'Set', 'Function', 'File', 'Blob', 'FormData', 'URL', 'RegExp', 'Promise',
    ].map((name) => [name, [type(name), no(name)]])),
    'TypedArray.Uint8': [type('TypedArray.Uint8'), no('Uint8Array')],
    narrow: [type('unknown').narrow(() => false), no('narrow')],
    'narrowed text': [type('string').narrow((one) => one.length < 3), text],
    pipe: [type('string').pipe((one) => one.length), oneWay(text, 'morph')],
    'pipe to': [type('string').pipe(Number).to('number'),
      { ...text, good: ['1'], output: { type: 'number' } }],
    'unknown pipe to': [type('unknown').pipe(Number).to('number'), { ...number, bad: ['x'] }],
    'string.numeric.parse': [type('string.numeric.parse'),
      { good: ['1'], bad: ['x', 1], output: { type: 'number' } }],
    'text with flags': [type(/^a/i), anyCase],
    text: [type('/^a/'), { good: ['ab'], bad: ['b', 1] }], choice: [type(`'a' | 'b'`), choice],
    object: [type({ a: 'string' }), object], closed: [type({ '+': 'reject', a: 'string' }), closed],
    record: [type('Record<string, number>'), record], tuple: [type(['string', 'number']), pair],
    union: [type({ t: `'a'`, a: 'string' }).or({ t: `'b'`, b: 'number' }), either],
    'symbol key': [type({ '[symbol]': 'number' }), no('symbolKey')],
    tree: [type.module({ node: { v: 'string', kids: 'node[]' } }).node, tree],
  }],
  ['effect', (x) => S3.standardSchemaV1(S3.Struct({ x })), effectRows(S3, {
    Date: [S3.Date, { ...times, bad: [1, 'x'] }], DateFromSelf: [S3.DateFromSelf, date('date')],
    DateFromString: [S3.DateFromString, { ...times, bad: [1] }],
    'a date of a text': [S3.transform(S3.String, S3.DateFromSelf, {
      decode: (one) => new Date(one), encode: (one) => one.toISOString(),
    }), time],
    DateTimeUtc: [S3.DateTimeUtc, times], DateFromNumber: [S3.DateFromNumber, { good: [0], bad: ['x'] }],
    BigInt: [S3.BigInt, oneWay({ good: ['1'], bad: [1] }, 'bigint')],
    BigIntFromSelf: [S3.BigIntFromSelf, no('bigint')],
    SymbolFromSelf: [S3.SymbolFromSelf, no('symbol')],
    Map: [S3.Map({ key: S3.String, value: S3.Number }), oneWay({
      good: [[['a', 1]]], bad: [[['a']], [1], {}],
    }, 'Declaration ReadonlyMap')],
    MapFromSelf: [S3.MapFromSelf({ key: S3.String, value: S3.Number }), no('Declaration ReadonlyMap')],
    URLFromSelf: [S3.URLFromSelf, no('Declaration URLFromSelf')],
    instanceOf: [S3.instanceOf(URL), no('Declaration')],
    Uint8ArrayFromSelf: [S3.Uint8ArrayFromSelf, no('Declaration Uint8ArrayFromSelf')],
    'annotated declaration': [S3.declare((one) => one === 1, { jsonSchema: { const: 1 } }),
      { good: [1], bad: [2] }],
    'a check of anything': [S3.Unknown.pipe(S3.filter((one) => one === 1)), no('custom check of unknown')],
    optionalWith: [S3.Struct({ a: S3.optionalWith(S3.String, { default: () => 'x' }) }), { good: [{},
      { a: '' }], bad: [{ a: 1 }] }],
    Int: [S3.Int.pipe(S3.between(1, 8)), whole],
    'pattern with flags': [S3.String.pipe(S3.pattern(/^a/i)), { ...anyCase, json: undefined }],
    pattern: [S3.String.pipe(S3.pattern(/^a/)), { good: ['a'], bad: ['b', 1] }],
    Enums: [S3.Enums({ A: 0, B: 1 }), names],
    TemplateLiteral: [S3.TemplateLiteral('a', S3.Number), { good: ['a1'], bad: ['b1', 'a'] }],
    Literal: [S3.Literal('a', 'b'), choice], NullOr: [S3.NullOr(S3.String), nullable],
    Record: [S3.Record({ key: S3.String, value: S3.Number }), record],
    Tuple: [S3.Tuple(S3.String, S3.Number), pair],
    Union: [S3.Union(
      S3.Struct({ t: S3.Literal('a'), a: S3.String }), S3.Struct({ t: S3.Literal('b'), b: S3.Number }),
    ), either],
    Class: [class Thing extends S3.Class('Thing')({ a: S3.String }) {}, object],
    parseJson: [S3.parseJson(S3.Struct({ a: S3.Number })), { good: ['{"a":1}'], bad: [{ a: 1 }] }],
  })],
  ['effect', (x) => S4.toStandardSchemaV1(S4.Struct({ x })), effectRows(S4, {
    Date: [S4.Date, date('date')], DateFromString: [S4.DateFromString, times],
    'codec of JSON': [S4.toCodecJson(S4.Struct({ d: S4.Date, b: S4.BigInt })), oneWay({
      good: [{ d: TIME, b: '1' }], bad: [{ d: 1, b: '1' }, { d: TIME, b: 1 }],
    }, 'bigint', '/properties/b')],
    BigInt: [S4.BigInt, no('bigint')], Symbol: [S4.Symbol, no('symbol')],
    ReadonlyMap: [S4.ReadonlyMap(S4.String, S4.Number), no('Declaration effect/schema/ReadonlyMap')],
    URL: [S4.URL, no('Declaration effect/schema/URL')], instanceOf: [S4.instanceOf(URL), no('Declaration')],
    'a check of anything': [S4.Unknown.check(S4.makeFilter((one) => one === 1)),
      no('custom check of unknown')],
    withDecodingDefault: [S4.Struct({ a: S4.optionalKey(S4.String) }), { good: [{},
      { a: '' }], bad: [{ a: 1 }] }],
    Int: [S4.Int.check(S4.isBetween({ minimum: 1, maximum: 8 })), whole],
    'isPattern with flags': [S4.String.check(S4.isPattern(/^a/i)), anyCase],
    isPattern: [S4.String.check(S4.isPattern(/^a/u)), { good: ['a'], bad: ['b', 1] }],
    Enum: [S4.Enum({ A: 0, B: 1 }), names], Literals: [S4.Literals(['a', 'b']), choice],
    TemplateLiteral: [S4.TemplateLiteral(['a', S4.Number]), { good: ['a1'], bad: ['b1', 'a'] }],
    NullOr: [S4.NullOr(S4.String), nullable], Record: [S4.Record(S4.String, S4.Number), record],
    Tuple: [S4.Tuple([S4.String, S4.Number]), pair],
  })],
  ['TypeBox', (x) => old.Type.Object({ x }), { ...typeBoxRows(old.Type), ...{
    Date: [old.Type.Date(), no('Date')], Uint8Array: [old.Type.Uint8Array(), no('Uint8Array')],
    RegExp: [old.Type.RegExp(/^a/), no('RegExp')],
    Promise: [old.Type.Promise(old.Type.String()), no('Promise')],
    Recursive: [old.Type.Recursive((This) => old.Type.Object({
      v: old.Type.String(), kids: old.Type.Array(This),
    })),
      tree],
    Module: [old.Type.Module({
      A: old.Type.Object({ a: old.Type.Ref('B') }), B: old.Type.String(),
    }).Import('A'),
      object],
    Transform: [old.Type.Transform(old.Type.String()).Decode(Number).Encode(String), text],
    'a kind of its own': [old.Type.Unsafe({ [old.Kind]: 'Mine' }), no('Mine')],
    'an array of dates': [old.Type.Array(old.Type.Date()), { what: 'Date', path: '/items' }],
  } }],
  ['TypeBox', (x) => box.Type.Object({ x }), { ...typeBoxRows(box.Type), ...{
    Refine: [box.Type.Refine(box.Type.String(), () => false), no('Refine')],
    Codec: [box.Type.Codec(box.Type.String()).Decode(Number).Encode(String), text],
    Cyclic: [box.Type.Cyclic({ A: box.Type.Object({
      v: box.Type.String(), kids: box.Type.Array(box.Type.Ref('A')),
    }) }, 'A'), tree],
    Identifier: [box.Type.Identifier('A'), no('Identifier')],
  } }],
]

function valibotRows(others = {}) {
  const rows = {
    string: [
      v.pipe(v.string(), v.minLength(2), v.maxLength(9), v.regex(/^a/), v.endsWith('b'), v.includes('c.')),
      string,
    ],
    any: [v.any(), open], unknown: [v.unknown(), open], never: [v.never(), never],
    'a check of anything': [v.pipe(v.any(), v.check((one) => one === 1)), no('custom check of any')],
    date: [v.date(), date('date')], toDate: [v.pipe(v.string(), v.toDate()), time],
    'date of a union': [v.pipe(v.union([v.string(), v.number()]), v.toDate()), ofUnion],
    parseBoolean: [v.pipe(v.string(), v.parseBoolean()), { ...spoken, output: { type: 'boolean' } }],
    'transformed timestamp': [v.pipe(v.string(), v.isoTimestamp(), v.transform((one) => new Date(one))),
      oneWay(times, 'transform')],
    'timestamp to a date': [v.pipe(v.string(), v.isoTimestamp(), v.toDate()), times],
    'date of a transformed text': [v.pipe(v.string(), v.transform((one) => new Date(one)), v.date()), time],
    'date of anything': [v.pipe(v.unknown(), v.transform((one) => new Date(one)), v.date()),
      { ...time, bad: ['x', {}] }],
    'number of anything': [v.pipe(v.unknown(), v.transform(Number), v.number()), { ...number, bad: ['x'] }],
    'number of a text': [v.pipe(v.string(), v.transform(Number), v.number(), v.minValue(5)), {
      good: ['7'], bad: [7], output: { type: 'number', minimum: 5 },
    }],
    transform: [v.pipe(v.string(), v.transform(Number)), oneWay(text, 'transform')],
    toNumber: [v.pipe(v.string(), v.toNumber()), { good: ['1'], bad: [1], output: { type: 'number' } }],
    bigint: [v.bigint(), no('bigint')], blob: [v.blob(), no('blob')], file: [v.file(), no('file')],
    function: [v.function(), no('function')], instance: [v.instance(URL), no('instance')],
    custom: [v.custom((one) => one === 1), no('custom')], map: [v.map(v.string(), v.string()), no('map')],
    set: [v.set(v.string()), no('set')], nan: [v.nan(), no('nan')], symbol: [v.symbol(), no('symbol')],
    promise: [v.promise(), no('promise')], undefined: [v.optional(v.undefined()), never],
    void: [v.void(), never],
    null: [v.null(), { good: [null], bad: [1] }], literal: [v.literal('a'), { good: ['a'], bad: ['b'] }],
    literalBig: [v.literal(1n), no('literal 1n')], picklist: [v.picklist(['a', 'b']), choice],
    enum: [v.enum({ A: 0, B: 1, 0: 'A', 1: 'B' }), names], object: [v.object({ a: v.string() }), object],
    strictObject: [v.strictObject({ a: v.string() }), closed],
    objectWithRest: [v.objectWithRest({ a: v.string() }, v.number()),
      { good: [{ a: 'x', b: 1 }], bad: [{ a: 'x', b: '' }] }],
    record: [v.record(v.string(), v.number()), record],
    'record of choices': [v.record(v.picklist(['a', 'b']), v.number()), { good: [{ a: 1 }], bad: [] }],
    tuple: [v.tuple([v.string(), v.number()]), pair],
    tupleWithRest: [v.tupleWithRest([v.string()], v.number()), {
      good: [['a'], ['a', 1]], bad: [['a', 'b'], []],
    }],
    variant: [v.variant('t', [
      v.object({ t: v.literal('a'), a: v.string() }), v.object({ t: v.literal('b'), b: v.number() }),
    ]), either],
    intersect: [v.intersect([v.object({ a: v.string() }), v.object({ b: v.number() })]), both],
    nullish: [v.nullish(v.string()), nullable], nonOptional: [v.nonOptional(v.optional(v.string())), text],
    lazy: [(() => {
      const node = v.object({ v: v.string(), kids: v.array(v.lazy(() => node)) })
      return node
    })(), tree],
    number: [v.pipe(v.number(), v.integer(), v.minValue(1), v.ltValue(9)), whole],
    check: [v.pipe(v.string(), v.check((one) => one.length < 3)), text],
    isoDateTime: [v.pipe(v.string(), v.isoDateTime()), { good: ['2024-02-03T04:05'], bad: [TIME, 1] }],
    isoTime: [v.pipe(v.string(), v.isoTime()), { good: ['04:05'], bad: ['04:05:06Z', 1] }],
    brand: [v.pipe(v.string(), v.brand('B')), text],
    ...others,
  }
  return Object.fromEntries(Object.entries(rows).filter(([, row]) => row !== undefined))
}

function effectRows(S, others) {
  return {
    String: [S.String, text], Number: [S.Number, number], Boolean: [S.Boolean, { good: [true], bad: [1] }],
    Unknown: [S.Unknown, open], Any: [S.Any, open], Never: [S.Never, never], Undefined: [S.Undefined, never],
    Struct: [S.Struct({ a: S.String }), object], NumberFromString: [S.NumberFromString, {
      good: ['1'], bad: [1], output: { type: 'number' },
    }],
    optional: [S.Struct({ a: S.optional(S.Unknown) }), { good: [{}, { a: 1 }], bad: [1] }],
    suspend: [(() => {
      const node = S.Struct({ v: S.String, kids: S.Array(S.suspend(() => node)) })
      return node
    })(), tree],
    'a date within': [S.Array(S.Struct({ d: S.optional(S.DateFromString) })),
      { good: [[{ d: TIME }], [{}]], bad: [[{ d: 1 }]] }],
    ...others,
  }
}

function typeBoxRows(Type) {
  return {
    String: [Type.String({ format: 'date-time' }), times],
    Integer: [Type.Integer({ minimum: 1, maximum: 8 }), whole],
    Any: [Type.Any(), open], Unknown: [Type.Unknown(), open], Unsafe: [Type.Unsafe({ type: 'string' }), text],
    Never: [Type.Never(), never], Null: [Type.Null(), { good: [null], bad: [1] }],
    BigInt: [Type.BigInt(), no('bigint')],
    Symbol: [Type.Symbol(), no('symbol')], Undefined: [Type.Undefined(), no('undefined')],
    Void: [Type.Void(), no('void')],
    Function: [Type.Function([], Type.String()), { ...no(/function/i) }],
    Literal: [Type.Union([Type.Literal('a'), Type.Literal('b')]), choice],
    'a text or nothing': [Type.Union([Type.String(), Type.Undefined()]), { ...text, json: undefined }],
    Tuple: [Type.Tuple([Type.String(), Type.Number()]), { ...pair, bad: [...pair.bad, ['a', 1, 2]] }],
    Record: [Type.Record(Type.String(), Type.Number()), record],
    Object: [Type.Object({ a: Type.String() }), object],
    Intersect: [Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Number() })]), both],
    Enum: [Type.Enum({ A: 'a', B: 'b' }), choice],
    TemplateLiteral: [Type.TemplateLiteral('a${string}'), { good: ['ab'], bad: ['b', 1] }],
  }
}

const define = (member, schema) => (
  defineTool({ name: 'one', description: 'One.', [member]: schema, run: () => '' })
)
/** What a contract publishes of the member `x`, without what only describes it. */
const published = ({ json }) => {
  if (json.properties === undefined) return json
  const { $schema, ...member } = json.properties.x
  return member
}

for (const [index, [library, whole, rows]] of libraries.entries()) {
  for (const [name, [schema, { json, good, bad, what, path = '', output, format }]] of Object.entries(rows)) {
    test(`${index} ${library}: ${name}`, { skip }, async () => {
      const refusal = (word) => ({ name: 'TypeError', message: new RegExp(
        `^The tool 'one': \\w+: This ${library} schema cannot be written as JSON Schema, as it has '${
          word instanceof RegExp ? '(?:F|f)unction' : word}' at /properties/x${path}; write .*`,
      ) })
      if (what !== undefined) {
        assert.throws(() => define('inputSchema', whole(schema)), refusal(what))
        if (typeof output !== 'object' && path === '') {
          assert.throws(() => define('outputSchema', whole(schema)), refusal(what))
        }
      } else {
        const tool = define('inputSchema', whole(schema))
        const member = published(tool.input)
        if (json !== undefined) assert.deepEqual(member, json)
        else assert.notDeepEqual(member, {})
        if (format !== undefined) assert.equal(member.format, format)
        const check = compile(tool.input.json, { formats: true })
        for (const [values, isGood] of [[good, true], [bad, false]]) {
          for (const x of values) {
            const given = JSON.stringify(x)
            const byForm = check({ x })
            assert.equal(byForm.valid, isGood, `${given} by ${JSON.stringify(tool.input.json)}`)
            const byLibrary = await tool.input.check({ x })
            assert.equal(byLibrary.errors.length === 0, isGood, `${given} by the library`)
          }
        }
      }
      if (typeof output === 'object') {
        assert.deepEqual(pick(published(define('outputSchema', whole(schema)).output), output), output)
      } else if (typeof output === 'string') {
        assert.throws(() => define('outputSchema', whole(schema)), refusal(output))
      }
    })
  }
}

function pick(member, { ...names }) {
  return Object.fromEntries(Object.keys(names).map((name) => [name, member[name]]))
}
