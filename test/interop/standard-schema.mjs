/**
 * Schemas of zod, valibot and arktype as the schemas of triport: what is published of them, what is
 * checked, and where their errors point to. Skips itself, and says so, where they are not installed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missing } from './start.mjs'

const skip = missing('zod', 'valibot', '@valibot/to-json-schema', 'arktype')
if (skip) console.log(`standard-schema: skipped: ${skip}`)

const load = (path) => (skip ? {} : import(path))
const [{ z }, valibot, toJson, ark] = await Promise.all(
  ['zod', 'valibot', '@valibot/to-json-schema', 'arktype'].map(load),
)
const { createServer, defineTool } = await load('../../dist/index.js')
const { contract: contractOf } = await load('../../.test/lib/kernel/schema/standard.js')
const { schemaForm } = await load('../../.test/lib/adapters/schemas/schema-form.js')
const contract = (schema, options) => contractOf(schema, { schemaForm, ...options })

/** The same shape in each library: a name, perhaps a number of at least 1, tags. */
function libraries() {
  const v = valibot
  const inValibot = v.object({
    name: v.string(),
    count: v.optional(v.pipe(v.number(), v.minValue(1))),
    tags: v.array(v.string()),
  })
  return [
    ['zod', z.object({ name: z.string(), count: z.number().min(1).optional(), tags: z.array(z.string()) })],
    ['valibot', toJson.toStandardJsonSchema(inValibot)],
    ['arktype', ark.type({ name: 'string', 'count?': 'number >= 1', tags: 'string[]' })],
  ]
}

test('the JSON Schema of each library is published', { skip }, () => {
  for (const [name, schema] of libraries()) {
    const { json } = contract(schema)
    assert.equal(json.type, 'object', name)
    assert.deepEqual(Object.keys(json.properties).sort(), ['count', 'name', 'tags'], name)
    assert.deepEqual([...json.required].sort(), ['name', 'tags'], name)
  }
})

test('each library checks, and its issues become errors with JSON Pointers', { skip }, async () => {
  for (const [name, schema] of libraries()) {
    const { check } = contract(schema)
    const good = { name: 'x', count: 2, tags: ['a'] }
    assert.deepEqual(await check(good), { value: good, errors: [], more: false }, name)
    const { errors } = await check({ name: 'x', count: 0, tags: ['a', 5] })
    assert.deepEqual(errors.map(({ path }) => path).sort(), ['/count', '/tags/1'], name)
    for (const { keyword, message, actual } of errors) {
      assert.equal(keyword, name)
      assert.ok(message.length > 0 && /^number [05]$/.test(actual), `${name}: ${message}, ${actual}`)
    }
  }
})

test('what a library transforms and awaits is what comes out', { skip }, async () => {
  const late = z
    .object({ day: z.string().transform((text) => Number(text)) })
    .refine(async ({ day }) => day > 0)
  const { json, check } = contract(late)
  assert.equal(json.properties.day.type, 'string')
  const pending = check({ day: '5' })
  assert.ok(pending instanceof Promise)
  assert.deepEqual(await pending, { value: { day: 5 }, errors: [], more: false })
  assert.equal((await check({ day: '0' })).errors.length, 1)
})

test('what zod cannot write needs a JSON Schema beside it', { skip }, () => {
  const dated = z.object({ when: z.date() })
  assert.throws(() => contract(dated), /zod schema cannot be written as JSON Schema/)
  assert.deepEqual(contract(dated, { beside: { type: 'object' } }).json, { type: 'object' })
})

test('valibot, zod/mini and zod 3 need no further package', { skip }, async () => {
  const v = valibot
  const inValibot = v.object({
    name: v.pipe(v.string(), v.minLength(2), v.description('Who.')), mail: v.pipe(v.string(), v.email()),
    count: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 3),
    size: v.picklist(['small', 'large']),
    tags: v.pipe(v.array(v.string()), v.minLength(1)), note: v.nullable(v.string()),
    of: v.variant('kind', [v.object({ kind: v.literal('a'), a: v.string() })]),
  })
  const mini = await import('zod/mini')
  const inMini = mini.object({
    name: mini.string().check(mini.minLength(2)).register(mini.globalRegistry, { description: 'Who.' }),
    mail: mini.string().check(mini.email()), count: mini._default(mini.int().check(mini.gte(1)), 3),
    size: mini.enum(['small', 'large']), tags: mini.array(mini.string()).check(mini.minLength(1)),
    note: mini.nullable(mini.string()),
    of: mini.discriminatedUnion('kind', [mini.object({ kind: mini.literal('a'), a: mini.string() })]),
  })
  const { z: z3 } = await import('zod/v3')
  const inZod3 = z3.object({
    name: z3.string().min(2).describe('Who.'), mail: z3.string().email(),
    count: z3.number().int().min(1).default(3), size: z3.enum(['small', 'large']),
    tags: z3.array(z3.string()).min(1), note: z3.string().nullable(),
    of: z3.discriminatedUnion('kind', [z3.object({ kind: z3.literal('a'), a: z3.string() })]),
  })
  const text = { type: 'string' }
  for (const [library, schema] of Object.entries({ inValibot, inMini, inZod3 })) {
    const { json, check } = contract(schema)
    assert.deepEqual(json, {
      type: 'object',
      properties: {
        name: { ...text, minLength: 2, description: 'Who.' }, mail: { ...text, format: 'email' },
        count: { type: 'integer', minimum: 1, default: 3 }, size: { ...text, enum: ['small', 'large'] },
        tags: { type: 'array', items: text, minItems: 1 }, note: { anyOf: [text, { type: 'null' }] },
        of: { anyOf: [{
          type: 'object', properties: { kind: { ...text, enum: ['a'] }, a: text }, required: ['kind', 'a'],
        }] },
      },
      required: ['name', 'mail', 'size', 'tags', 'note', 'of'],
    }, library)
    const good = {
      name: 'Ann', mail: 'a@b.example', size: 'small', tags: ['a'], note: null, of: { kind: 'a', a: '' },
    }
    const { value, errors } = await check(good)
    assert.deepEqual([value, errors], [{ ...good, count: 3 }, []], library)
    assert.equal((await check({ ...good, name: 'A' })).errors[0].path, '/name', library)
  }
})

test('a tool takes the schema of a library', { skip }, async () => {
  const tool = defineTool({
    name: 'greet',
    description: 'Greets.',
    inputSchema: z.object({ name: z.string().trim() }),
    run: ({ name }) => `Hello, ${name}!`,
  })
  assert.ok(createServer({ tools: [tool], protocol: 'mcp' }))
})
