/**
 * How triport's JSON Schema validator compares with ajv, which compiles schemas to code.
 *
 * Method. Six schemas of the kind that tools have. For each, both validators are made once and checked to
 * agree; then they run in turn in this process, a slice of one and a slice of the other, so that a noisy
 * neighbour meets both. A pair of slices gives one ratio, ajv by triport: 1 is as fast as ajv, 0.5 takes
 * twice as long. The result is the median of the pairs, after some that warm up and do not count.
 * Compiling is measured the same way. ajv keeps its instance, which favours it; since it remembers the
 * schemas it has seen, it gets a copy each time.
 *
 * Measured: checking a value that is valid, checking one that is not (triport then collects all errors,
 * ajv stops at the first), compiling, compiling and checking once. Nanoseconds are those of the machine;
 * only the ratios travel.
 *
 * node bench/schema.js [--smoke]      --smoke: do both agree? The ratios say little.
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { compile } from 'triport'

const { values: options } = parseArgs({ options: { smoke: { type: 'boolean' } } })
const effort = options.smoke ? { pairs: 2, warmUps: 1, slice: 1e5 } : { pairs: 15, warmUps: 5, slice: 4e6 }

const peers = createRequire(new URL('peers/package.json', import.meta.url))
const Ajv = peer('ajv/dist/2020.js')
const addFormats = peer('ajv-formats')
if (Ajv === undefined || addFormats === undefined) {
  console.log(
    'The peers are not installed, so there is nothing to compare with. Run: npm ci --prefix bench/peers',
  )
  process.exit(0)
}

const string = { type: 'string' }

const item = {
  type: 'object',
  properties: {
    sku: { type: 'string', minLength: 1 },
    quantity: { type: 'integer', minimum: 1 },
    price: { type: 'number', minimum: 0 },
    tags: { type: 'array', items: string },
  },
  required: ['sku', 'quantity'],
  additionalProperties: false,
}

const kinds = [
  { type: 'string', maxLength: 100 },
  { type: 'integer' },
  { type: 'boolean' },
  { type: 'number', minimum: 0 },
  { type: 'array', items: string },
]
const samples = ['text', 5, true, 1.5, ['a', 'b']]
const fields = Array.from({ length: 50 }, (_, at) => `field${at}`)

function shape(kind, ...sizes) {
  const properties = Object.fromEntries(sizes.map((name) => [name, { type: 'number', exclusiveMinimum: 0 }]))
  return { properties: { shape: { const: kind }, ...properties }, required: ['shape', ...sizes] }
}

function tree(depth) {
  return { value: 'node', children: depth === 0 ? [] : [tree(depth - 1), tree(depth - 1)] }
}

const cases = [
  {
    name: 'flat',
    schema: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1 },
        limit: { type: 'integer', minimum: 1, maximum: 100 },
        exact: { type: 'boolean' },
      },
      required: ['query'],
      additionalProperties: false,
    },
    valid: { query: 'red shoes', limit: 5, exact: true },
    invalid: { query: '', limit: 5 },
  },
  {
    name: 'nested arrays',
    schema: {
      type: 'object',
      properties: {
        customer: {
          type: 'object',
          properties: {
            name: string,
            address: {
              type: 'object',
              properties: { street: string, city: string, zip: string },
              required: ['street', 'city'],
            },
          },
          required: ['name'],
        },
        items: { type: 'array', minItems: 1, maxItems: 100, items: item },
      },
      required: ['customer', 'items'],
    },
    valid: {
      customer: { name: 'Ada', address: { street: 'High Street 1', city: 'London', zip: 'N1' } },
      items: Array.from({ length: 10 }, (_, at) => ({
        sku: `sku-${at}`,
        quantity: at + 1,
        price: 1.5,
        tags: ['a', 'b'],
      })),
    },
    invalid: { customer: { name: 'Ada' }, items: [{ sku: 'a', quantity: 0 }] },
  },
  {
    name: 'enum, const, pattern, format',
    schema: {
      type: 'object',
      properties: {
        kind: { const: 'event' },
        level: { enum: ['debug', 'info', 'warning', 'error'] },
        code: { type: 'string', pattern: '^[A-Z]{3}-\\d{4}$' },
        at: { type: 'string', format: 'date-time' },
        mail: { type: 'string', format: 'email' },
        id: { type: 'string', format: 'uuid' },
      },
      required: ['kind', 'level', 'code'],
    },
    valid: {
      kind: 'event',
      level: 'warning',
      code: 'ABC-1234',
      at: '2024-05-06T07:08:09Z',
      mail: 'ada@example.com',
      id: '2eb8aa08-aa98-11ea-b4aa-73b441d16380',
    },
    invalid: { kind: 'event', level: 'loud', code: 'ABC-1234' },
  },
  {
    name: 'oneOf',
    schema: {
      type: 'object',
      oneOf: [shape('circle', 'radius'), shape('square', 'side'), shape('box', 'width', 'height')],
    },
    valid: { shape: 'box', width: 3, height: 4 },
    invalid: { shape: 'circle' },
  },
  {
    name: 'recursive $ref',
    schema: {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: { value: string, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          required: ['value'],
          additionalProperties: false,
        },
      },
    },
    valid: tree(4),
    invalid: { value: 'a', children: [{ value: 1 }] },
  },
  {
    name: '50 properties',
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map((name, at) => [name, kinds[at % 5]])),
      required: fields.slice(0, 20),
      additionalProperties: false,
    },
    valid: Object.fromEntries(fields.map((name, at) => [name, samples[at % 5]])),
    invalid: { field0: 1 },
  },
]

/** A call's time in nanoseconds: it is repeated for about `effort.slice`, however quick it is. */
function cost(run, argument) {
  let times = 1
  for (;;) {
    const start = process.hrtime.bigint()
    for (let at = 0; at < times; at++) run(argument)
    const elapsed = Number(process.hrtime.bigint() - start)
    if (elapsed >= effort.slice) return elapsed / times
    times = Math.ceil(times * Math.min(10, (1.2 * effort.slice) / Math.max(elapsed, 1)))
  }
}

/** Both in turn: the median time of each, and the median of the ratios. */
function compare(theirs, ours, argument) {
  const pairs = []
  for (let at = -effort.warmUps; at < effort.pairs; at++) {
    const pair = { theirs: cost(theirs, argument), ours: cost(ours, argument) }
    if (at >= 0) pairs.push(pair)
  }
  return {
    theirs: median(pairs.map((pair) => pair.theirs)),
    ours: median(pairs.map((pair) => pair.ours)),
    ratio: median(pairs.map((pair) => pair.theirs / pair.ours)),
  }
}

function measure({ name, schema, valid, invalid }) {
  const ajv = new Ajv({ strict: false })
  addFormats(ajv)
  const theirs = ajv.compile(schema)
  const ours = compile(schema, { formats: true })
  assert.deepEqual([theirs(valid), theirs(invalid)], [true, false])
  assert.deepEqual([ours(valid).valid, ours(invalid).valid], [true, false])

  const compileTheirs = () => ajv.compile(structuredClone(schema))
  const compileOurs = () => compile(schema, { formats: true })
  return {
    name,
    valid: compare(theirs, ours, valid),
    invalid: compare(theirs, ours, invalid),
    compile: compare(compileTheirs, compileOurs),
    first: compare(
      () => compileTheirs()(valid),
      () => compileOurs()(valid),
    ),
  }
}

const rows = cases.map(measure)
const columns = ['valid', 'invalid', 'compile', 'first']
console.log(
  '| schema | valid ns, ajv | triport | ajv / triport | invalid | compile | compile and check once |',
)
console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |')
for (const row of rows) {
  const ratios = columns.map((column) => row[column].ratio.toFixed(2))
  console.log(
    `| ${[row.name, row.valid.theirs.toFixed(0), row.valid.ours.toFixed(0), ...ratios].join(' | ')} |`,
  )
}
const means = columns.map((column) => `${column} ${mean(rows.map((row) => row[column].ratio)).toFixed(2)}`)
console.log(`\nGeometric means of ajv / triport: ${means.join(', ')}`)

function mean(numbers) {
  return Math.exp(numbers.reduce((sum, number) => sum + Math.log(number), 0) / numbers.length)
}

function median(numbers) {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
}

/** A peer, or undefined where it is not installed. */
function peer(name) {
  try {
    const module = peers(name)
    return module.default ?? module
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
