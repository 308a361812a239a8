import assert from 'node:assert/strict'
import test from 'node:test'
import { noAdapters } from '../../../lib/kernel/define/adapters.ts'
import { ownAgent } from '../../../lib/kernel/define/agent.ts'
import { namedTool, ownTool } from '../../../lib/kernel/define/tool.ts'
import { defineTool } from '../../../lib/kernel.ts'
import type { AgentDefinition } from '../../../lib/kernel/define/agent.ts'
import type { Call, ToolDefinition } from '../../../lib/kernel.ts'
import type { JsonSchema } from '../../../lib/kernel/schema/compile.ts'
import type { StandardSchema } from '../../../lib/kernel/schema/standard.ts'
import type { ToolResultInput } from '../../../lib/kernel/define/tool.ts'

const run = (): string => 'ok'

test('a tool is checked once, then frozen, and takes no arguments unless it says so', () => {
  const tool = defineTool({ name: 'now', run })
  assert.deepEqual([tool.kind, tool.description, tool.task, tool.scopes], ['tool', '', 'forbidden', []])
  assert.deepEqual(tool.input.json, { type: 'object', additionalProperties: false })
  assert.equal(tool.output, undefined)
  assert.ok(Object.isFrozen(tool))
  assert.equal(defineTool(tool), tool)
})

test('an object with methods and state can be a tool', () => {
  class Counter {
    readonly name = 'count'
    count = 0
    run(): number { return ++this.count }
  }
  const tool = defineTool(new Counter())
  assert.deepEqual([tool.run({}, {} as Call), tool.run({}, {} as Call)], [1, 2])
})

test('a tool of a class has another name, by a key or by a copy, and keeps its state to itself', () => {
  class Adder {
    readonly steps = 2
    readonly #base = 1
    get description(): string { return 'Adds three.' }
    run(): number { return this.#base + this.steps }
  }
  class Named extends Adder { readonly name = 'three' }
  const copy = { ...defineTool(new Named()), name: 'add' }
  const keyed = [new Adder() as never, new Named()].map((one) => namedTool('add', one, noAdapters))
  for (const tool of [...keyed, defineTool(copy)]) {
    assert.deepEqual([tool.name, tool.description, tool.run({}, {} as Call)], ['add', 'Adds three.', 3])
    assert.equal('steps' in tool, false)
  }
})

/** What a library makes of text: a number. */
const standard: StandardSchema<{ n: string }, { n: number }> = {
  '~standard': {
    version: 1,
    vendor: 'zod',
    validate: (value) => {
      const n = Number(Object(value).n)
      return Number.isNaN(n) ? { issues: [{ message: 'No number', path: ['n'] }] } : { value: { n } }
    },
  },
}

const spelled: typeof standard = {
  '~standard': {
    ...standard['~standard'],
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
}
test('a copy of a tool keeps its schemas, unless it brings its own', () => {
  const inputSchema = { type: 'object', properties: { a: { type: 'number' } } } as const
  const tool = defineTool({ name: 'add', inputSchema, outputSchema: { type: 'number' }, run })
  const copy = defineTool({ ...tool, name: 'sum' })
  assert.deepEqual([copy.name, copy.input, copy.output], ['sum', tool.input, tool.output])
  const other = defineTool({ ...tool, inputSchema: { type: 'object' } } as unknown as ToolDefinition)
  assert.deepEqual(other.input.json, { type: 'object' })
})

test('a union of objects is a schema of arguments, and its root says that they are an object', async () => {
  const inputSchema = {
    oneOf: [
      { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
      { anyOf: [{ type: 'object', properties: { b: { type: 'string' } }, required: ['b'] }] },
    ],
  } as const
  const { input } = defineTool({ name: 'either', inputSchema, run })
  assert.deepEqual(input.json, { type: 'object', ...inputSchema })
  assert.deepEqual((await input.check({ b: 'x' })).errors, [])
  assert.notEqual((await input.check({ b: 7 })).errors.length, 0)
})

test('objects in an allOf, and behind a reference, are objects', () => {
  const object = { type: 'object', properties: { a: { type: 'number' } } }
  const library = (json: Record<string, unknown>): ToolDefinition['inputSchema'] => ({
    '~standard': { ...standard['~standard'], jsonSchema: { input: () => json, output: () => json } },
  })
  const loop = { $ref: '#/$defs/Loop' }
  for (const inputSchema of [
    { allOf: [object, { required: ['a'] }] }, { $ref: '#/$defs/Args', $defs: { Args: object } },
    { $ref: '#/$defs/Args', $defs: { Args: { anyOf: [object, object] } } },
  ]) {
    const { json } = defineTool({ name: 'one', inputSchema, run }).input
    assert.deepEqual(json, { type: 'object', ...inputSchema })
  }
  for (const inputSchema of [
    library({ ...loop, $defs: { Loop: { anyOf: [loop] } } }), library({ ...loop, $defs: { Loop: loop } }),
    { allOf: [{ required: ['a'] }] },
  ]) assert.throws(() => defineTool({ name: 'one', inputSchema, run }), /whose root is not an object/)
})

test('a JSON Schema that a library wrote may stand beside the schema that checks', () => {
  const inputSchema = Object.defineProperty({ type: 'object' }, '~standard', { value: standard['~standard'] })
  const { input } = defineTool({ name: 'one', inputSchema, validate: standard, run })
  assert.deepEqual(input.json, { type: 'object' })
})

test('a member of a schema that is undefined is not there', () => {
  const inputSchema = { type: 'object', properties: undefined, required: undefined } as unknown as JsonSchema
  const { json } = defineTool({ name: 'none', inputSchema, run }).input
  assert.deepEqual(JSON.stringify(json), '{"type":"object"}')
})

const broken: readonly (readonly [definition: unknown, sentence: RegExp])[] = [
  [undefined, /defineTool takes an object, not undefined\. Write defineTool\(\{ name: 'add'/],
  [{ run }, /A tool needs 'name': a non-empty string/],
  [{ name: 'a b', run }, /The tool 'a b' has a name that clients refuse; use 1 to 128 of A-Z a-z 0-9 _ \. -/],
  [{ name: 'add' }, /The tool 'add' needs 'run': a function/],
  [{ name: 'add', run, title: 7 }, /has title 7; write a string/],
  [{ name: 'add', run, description: null }, /has description null; write a string/],
  [{ name: 'add', run, timeoutMs: NaN }, /has timeoutMs NaN/],
  [{ name: 'add', run, scopes: 'admin' },
    /has scopes "admin"; write a list of strings, as in \['orders:read'\]/],
  [{ name: 'add', run, scopes: [7] }, /has scopes an array; write a list of strings/],
  [{ name: 'add', run, task: 'yes' }, /has task "yes"; write 'forbidden', 'optional' or 'required'/],
  [{ name: 'add', run, inputSchema: { type: 'string' } },
    /has an inputSchema whose root is not an object; write \{ type: 'object'/],
  [{ name: 'add', run, inputSchema: { type: 'objekt' } }, /The tool 'add': inputSchema: /],
  [{ name: 'add', run, outputSchema: { type: 7 } }, /The tool 'add': outputSchema: /],
  [{ name: 'add', run, inputSchema: standard },
    /inputSchema: This zod schema has no .*; write inputSchema: \{ type: 'object', .*, validate: schema/],
  [{ name: 'add', run, outputSchema: standard },
    /outputSchema: This zod schema has no .*; write outputSchema: \{ type: 'object', /],
  [{ name: 'add', run, validate: standard },
    /The tool 'add' has validate, but no JSON Schema beside it for clients; write the JSON Schema of the/],
  [{ name: 'add', run, inputSchema: standard, validate: standard },
    /The tool 'add' has validate, but no JSON Schema beside it for clients; write/],
  [{ name: 'add', run, inputSchema: { type: 'object' }, validate: () => true },
    /The tool 'add' has validate a function; write a Standard Schema, such as one of zod, valibot/],
  [{ name: 'add', run, inputSchema: { type: 'objekt' }, validate: standard },
    /The tool 'add': inputSchema: /],
  [{ name: 'add', run, inputSchema: { type: 'array' }, validate: standard },
    /has an inputSchema whose root is not an object/],
  [{ name: 'add', run, inputSchema: null },
    /The tool 'add': inputSchema: A JSON Schema is an object or a boolean; write \{\} for anything$/],
  [{ name: 'add', run, outputSchema: null }, /The tool 'add': outputSchema: A JSON Schema is an object/],
  [{ name: 'add', run, outputSchema: { enum: [1n] } }, /The tool 'add': outputSchema: .*BigInt/],
  [{ name: 'add', run, inputSchema: { anyOf: [{ type: 'object' }, { type: 'string' }] } },
    /has an inputSchema whose root is not an object/],
  [{ name: 'add', run, _meta: 7 },
    /The tool 'add' has _meta 7; write an object, as in \{ 'example\.com\/key': 1 \}/],
  [{ name: 'add', run, _meta: { n: 1n } },
    /The tool 'add' has a _meta that JSON cannot represent \(.*BigInt\); write/],
  [{ name: 'add', run, icons: [{ src: 'data:,', sizes: '48x48' }] },
    /The tool 'add', in its icons, has sizes "48x48"; write a list of strings, as in \['48x48'\]/],
  [{ name: 'add', run, icons: [{ src: 'data:,', theme: 'blue' }] },
    /The tool 'add', in its icons, has theme "blue"; write 'light' or 'dark'/],
  [{ name: 'add', run, icons: [{ src: 'data:,', mimeType: 7 }] },
    /in its icons, has mimeType 7; write a string/],
  [{ name: 'add', handler: run }, /needs 'run': a function, not undefined\. Rename its 'handler' to 'run'$/],
  [{ name: 'add', run, colour: {} }, /has no option 'colour'; it has name, title, description,/],
  [{ name: 'add', run, inputschema: {} }, /has no option 'inputschema'; did you mean 'inputSchema'\?/],
  [{ name: 'add', run, kind: 'agent' }, /The tool 'add' has the kind "agent"; put it into 'agents'/],
  [{ name: 'add', run, kind: 'tool', input: 7 }, /The tool 'add' has no option 'input'/],
  [Object.freeze({ name: 'add', run, kind: 'tool', input: 7 }), /The tool 'add' has no option 'input'/],
  [{ name: 'add', run, annotations: 'read' }, /has annotations "read"; write \{ readOnlyHint: true \}/],
  [{ name: 'add', run, annotations: { readonlyHint: true } },
    /The tool 'add', in its annotations, has no option 'readonlyHint'; did you mean 'readOnlyHint'\?/],
  [{ name: 'add', run, annotations: { readOnlyHint: 'yes' } },
    /, in its annotations, has readOnlyHint "yes"; write true or false/],
  [{ name: 'add', run, annotations: { title: true } },
    /, in its annotations, has title true; write a string/],
  [{ name: 'add', run, icons: { src: 'a' } }, /has icons without a src; write icons: \[\{ src: /],
  [{ name: 'add', run, icons: [{ url: 'a' }] }, /has icons without a src/],
  [{ name: 'add', run, icons: [{ src: 'data:,', theem: 'dark' }] },
    /The tool 'add', in its icons, has no option 'theem'; did you mean 'theme'\?/],
  [{ name: 'add', run, icons: [{ src: 'data:,' }, { src: '/a.png' }] },
    /^The tool 'add', in its icons, has src "\/a\.png"; write an address, as in 'https:/],
]

test('what others call a member is told where nothing knows them by the members that there are', () => {
  const definition = { name: 'add', parameters: {}, run: () => 1 } as ToolDefinition
  assert.throws(() => ownTool(definition), /has no option 'parameters'; it has name, title, description,/)
  const agent = { name: 'Helper', model: 'x', run: () => '' } as AgentDefinition
  assert.throws(() => ownAgent(agent), /has no option 'model'; it has name, id, description,/)
})

test('a mistake in a tool says what to write instead', () => {
  for (const [definition, sentence] of broken) {
    assert.throws(
      () => defineTool(definition as ToolDefinition),
      (error) => error instanceof TypeError && sentence.test(error.message),
    )
  }
})

test('a Standard Schema checks and types the arguments beside the JSON Schema that clients see', async () => {
  const inputSchema = { type: 'object', properties: { n: { type: 'string' } } } as const
  const tool = defineTool({ name: 'next', inputSchema, validate: standard, run: ({ n }) => n + 1 })
  assert.equal(tool.input.json, inputSchema)
  assert.ok(!('validate' in tool))
  const checked = await tool.input.check({ n: '4' })
  assert.deepEqual(checked, { value: { n: 4 }, errors: [], more: false })
  assert.equal(tool.run(checked.value, {} as Call), 5)
  assert.deepEqual((await tool.input.check({ n: 'x' })).errors.map(({ path }) => path), ['/n'])
  // @ts-expect-error: it is a number, as the library says, whatever the JSON Schema says
  defineTool({ name: 'next', inputSchema, validate: standard, run: ({ n }) => n.trim() })
  // @ts-expect-error: and nothing else is there
  defineTool({ name: 'next', inputSchema, validate: standard, run: ({ other }) => String(other) })
})

const outputSchema = {
  type: 'object',
  properties: {
    n: { type: 'number' }, tags: { type: 'array', items: { type: 'string' } }, kind: { enum: ['a', 'b'] },
    limit: { type: 'number', default: 5 },
  },
  required: ['n'],
} as const

const said = { type: 'text', text: 'a' } as const
const png = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const

const lists: StandardSchema<{ names: string[]; kind: 'a' | 'b'; at?: Date }> = {
  '~standard': {
    version: 1, vendor: 'demo', validate: () => ({ issues: [] }), jsonSchema: spelled['~standard'].jsonSchema,
  },
}
const list = { type: 'array', items: { type: 'string' } } as const

class Counted {
  readonly n: number = 1
  get twice(): number { return 2 * this.n }
}

test('an output schema types what a tool returns', () => {
  const tags: readonly string[] = ['x']
  const at = new Date(0)
  const whole: ToolResultInput = { content: ['no'], isError: true }
  const fine = [
    defineTool({ name: 'a', outputSchema, run: () => ({ n: 1, tags, kind: 'a' }) }),
    defineTool({ name: 'a', outputSchema, run: async () => ({ n: 1, limit: undefined }) }),
    defineTool({ name: 'a', outputSchema, run: () => new Counted() }),
    defineTool({ name: 'a', outputSchema, run: () => 'a text' }),
    defineTool({ name: 'a', outputSchema, run: () => said }),
    defineTool({ name: 'a', outputSchema, run: () => [said, png] }),
    defineTool({ name: 'a', outputSchema, run: () => ({ content: ['a'], structuredContent: { n: 1 } }) }),
    defineTool({ name: 'a', outputSchema, run: () => ({ structuredContent: { n: 1 } }) }),
    defineTool({ name: 'a', outputSchema, run: async () => whole }),
    defineTool({ name: 'a', outputSchema, run: () => JSON.parse('{"n":1}') }),
    defineTool({ name: 'a', outputSchema: spelled, run: () => ({ n: 'the input of the library' }) }),
    defineTool({ name: 'a', outputSchema: lists, run: () => ({ names: ['a'], kind: 'b' }) }),
    defineTool({ name: 'a', outputSchema: lists, run: async () => ({ names: tags, kind: 'a', at }) }),
    defineTool({ name: 'a', outputSchema: { type: 'object' }, run: () => new Counted() }),
    defineTool({ name: 'a', outputSchema: { type: 'integer' }, run: () => 42 }),
    defineTool({ name: 'a', outputSchema: list, run: () => tags }),
    defineTool({ name: 'a', outputSchema: outputSchema as JsonSchema, run: () => ({ n: 'who knows' }) }),
    defineTool({ name: 'a', run: () => ({ n: 'anything' }) }),
    // @ts-expect-error: n is a number
    defineTool({ name: 'a', outputSchema, run: () => ({ n: 'one' }) }),
    // @ts-expect-error: n is a number, however late
    defineTool({ name: 'a', outputSchema, run: async () => ({ n: 'one' }) }),
    // @ts-expect-error: n is required
    defineTool({ name: 'a', outputSchema, run: () => ({ tags }) }),
    // @ts-expect-error: there is no such kind
    defineTool({ name: 'a', outputSchema, run: () => ({ n: 1, kind: 'c' }) }),
    // @ts-expect-error: it is an object
    defineTool({ name: 'a', outputSchema, run: () => 42 }),
    // @ts-expect-error: something must be returned
    defineTool({ name: 'a', outputSchema, run: () => {} }),
    // @ts-expect-error: not every item is a string
    defineTool({ name: 'a', outputSchema: list, run: () => ['a', 1] }),
    // @ts-expect-error: the library takes a string
    defineTool({ name: 'a', outputSchema: spelled, run: () => ({ n: 1 }) }),
  ]
  assert.equal(fine.length, 26)
})

test('a name has 1 to 128 of the characters that every client takes', () => {
  for (const name of ['a', '-', '.', '_', '0', 'A-Z_a.z', 'x'.repeat(128)]) {
    assert.equal(defineTool({ name, run: () => '' }).name, name)
  }
  for (const name of ['a b', 'a/b', 'a:b', 'ä', 'a\n', '\u0000', 'x'.repeat(129)]) {
    const refusal = { name: 'TypeError', message: /use 1 to 128 of/ }
    assert.throws(() => defineTool({ name, run: () => '' }), refusal)
  }
})
