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
const { contract } = await load('../../.test/lib/schema/standard.js')

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

test(
  'valibot without its JSON Schema half, and what zod cannot spell, need a JSON Schema beside them',
  { skip },
  () => {
    const bare = valibot.object({ name: valibot.string() })
    assert.throws(() => contract(bare), /valibot schema has no JSON Schema form; write toStandardJsonSchema/)
    assert.throws(() => contract(z.object({ when: z.date() })), /zod schema cannot be written as JSON Schema/)
    assert.deepEqual(contract(bare, { beside: { type: 'object' } }).json, { type: 'object' })
  },
)

test('a tool takes the schema of a library', { skip }, async () => {
  const tool = defineTool({
    name: 'greet',
    description: 'Greets.',
    inputSchema: z.object({ name: z.string().trim() }),
    run: ({ name }) => `Hello, ${name}!`,
  })
  assert.ok(createServer({ tools: [tool], protocol: 'mcp' }))
})
