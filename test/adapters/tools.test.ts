// Tools of other frameworks, by their shapes; the real packages run in test/interop/tools.
import assert from 'node:assert/strict'
import test from 'node:test'
import { frameworks } from '../../lib/adapters/frameworks.ts'
import { defineAgent } from '../../lib/preset/define.ts'
import { defineOffer, defineThing } from '../../lib/kernel/define/normalize-definitions.ts'
import { normalizeDefinitions } from '../../lib/preset/subject.ts'
import { defineTool } from '../../lib/preset/define.ts'
import { foreignToolKind } from '../../lib/adapters/shared/tools.ts'
import { callTool } from '../../lib/kernel/run/call-tool.ts'
import { callOf, serviceOf } from './house.ts'
import type { ElicitAnswer, Offer, StandardSchema, Tool } from '../../lib/index.ts'
import type { LiveCall } from '../../lib/kernel/define/live-call.ts'
import type { ToolResult } from '../../lib/kernel/define/tool.ts'

type Raw = Record<string, unknown>

/** An object of a class with these functions, and with these members of its own. */
function objectOf(functions: Record<string, unknown>, own: object = {}): object {
  class Theirs {}
  for (const [name, value] of Object.entries(functions)) {
    Object.defineProperty(Theirs.prototype, name, { value })
  }
  return Object.assign(new Theirs(), own)
}

const json = {
  type: 'object', properties: { a: { type: 'number' }, b: { type: 'number', default: 1 } }, required: ['a'],
}

/** A schema of a library that counts in `b` how often it has run, and adds a default. */
const schema: StandardSchema = {
  '~standard': {
    version: 1, vendor: 'lib',
    validate: (value) => {
      const { a, b = 1 } = value as { a: unknown; b?: number }
      return typeof a === 'number' ? { value: { a, b: b + 10 } }
        : { issues: [{ message: 'must be a number', path: ['a'] }] }
    },
    jsonSchema: { input: () => json, output: () => json },
  },
}

const part = (message: string, isOptional = false): StandardSchema => ({
  '~standard': {
    version: 1, vendor: 'lib',
    validate: (value) => typeof value === 'number' || (isOptional && value === undefined)
      ? { value } : { issues: [{ message }] },
    jsonSchema: { input: () => ({ type: 'number' }), output: () => ({ type: 'number' }) },
  },
})

/** What each tool was called with. */
let got: unknown[] = []
const add = (...args: unknown[]): unknown => {
  got = args
  const { a, b = 0 } = args[0] as { a: number; b?: number }
  return { sum: a + b }
}

/** How a tool is known, the arguments that it gets for `{ a: 1 }`, and where its signal is. */
const taken: readonly (readonly [
  what: string, tool: object, args: unknown, signal: ((args: unknown[]) => unknown) | undefined,
])[] = [
  ['a tool of the Agent Development Kit', objectOf({
    runAsync: ({ args, toolContext }: Raw) => add(args, toolContext),
  }, {
    name: 'add', description: 'Adds.', parameters: schema, [Symbol.for('google.adk.baseTool')]: true,
    [Symbol.for('google.adk.functionTool')]: true,
  }), { a: 1 }, ([, context]) => (context as Raw)['abortSignal']],
  ['a tool of Genkit', Object.assign((...args: unknown[]) => add(...args), {
    __action: { key: '/tool/add', name: 'add', description: 'Adds.', inputSchema: schema },
  }), { a: 1 }, ([, options]) => (options as Raw)['abortSignal']],
  ['a tool of LangChain', objectOf({ invoke: add, func: add }, {
    name: 'add', description: 'Adds.', lc_runnable: true, schema,
  }), { a: 1 }, ([, options]) => (options as Raw)['signal']],
  ['a tool of the OpenAI Agents SDK', {
    type: 'function', name: 'add', description: 'Adds.', parameters: json, needsApproval: async () => false,
    invoke: async (context: unknown, text: string, details: unknown) => (
      add(JSON.parse(text), details, context)
    ),
  }, { a: 1, b: 1 }, ([, details]) => (details as Raw)['signal']],
  ['a tool of Mastra', objectOf({}, {
    id: 'add', description: 'Adds.', inputSchema: schema, requestContextSchema: undefined, execute: add,
    requireApproval: false,
  }), { a: 1 }, ([, context]) => (context as Raw)['abortSignal']],
  ['a tool of Mastra', objectOf({}, {
    id: 'add', description: 'Adds.', inputSchema: schema, requireApproval: false,
    execute: ({ context }: Raw, options: unknown) => add(context, options),
  }), { a: 1 }, ([, options]) => (options as Raw)['abortSignal']],
  ['a tool of Strands', objectOf({ invoke: add, stream: add }, {
    name: 'add', description: 'Adds.', toolSpec: { inputSchema: json },
  }), { a: 1, b: 1 }, ([, context]) => (context as Raw)['cancelSignal']],
  ['a tool of VoltAgent', objectOf({}, {
    id: 'add', name: 'add', description: 'Adds.', parameters: schema, execute: add, isClientSide: () => false,
  }), { a: 1, b: 11 }, ([, options]) => ((options as Raw)['toolContext'] as Raw)['abortSignal']],
  ['a tool of LlamaIndex', objectOf({ call: add }, {
    metadata: { name: 'add', description: 'Adds.', parameters: json },
  }), { a: 1, b: 1 }, undefined],
  ['a tool of the Anthropic SDK', {
    type: 'custom', name: 'add', description: 'Adds.', input_schema: json, run: add,
    parse: (args: unknown) => args,
  }, { a: 1, b: 1 }, ([, options]) => (options as Raw)['signal']],
  ['a tool of the Claude Agent SDK', {
    name: 'add', description: 'Adds.', handler: add,
    inputSchema: { a: part('is no number'), b: part('is no number', true) },
  }, { a: 1 }, ([, extra]) => (extra as Raw)['signal']],
  // Inngest's, and whatever has a name, a schema and one function.
  ['a tool', { name: 'add', description: 'Adds.', parameters: schema, handler: add }, { a: 1, b: 11 },
    ([, options]) => (options as Raw)['abortSignal']],
  ['a tool', { name: 'add', description: 'Adds.', inputSchema: json, func: add }, { a: 1, b: 1 },
    ([, options]) => (options as Raw)['signal']],
  ['a tool', objectOf({ execute: add }, { name: 'add', description: 'Adds.', args: schema, count: 0 }),
    { a: 1, b: 11 }, ([, options]) => (options as Raw)['signal']],
]

const named: readonly (readonly [what: string, tool: object])[] = [
  ['a tool of the AI SDK', { description: 'Adds.', inputSchema: schema, execute: add }],
  ['a tool of the AI SDK', { description: 'Adds.', inputSchema: json, execute: add, type: 'dynamic' }],
  ['a tool of the AI SDK', {
    description: 'Adds.', execute: add,
    inputSchema: {
      [Symbol.for('vercel.ai.schema')]: true, jsonSchema: json,
      validate: (value: Raw) => typeof value['a'] === 'number' ? { success: true, value }
        : { success: false, error: new Error('a is no number') },
    },
  }],
]

const { service } = serviceOf()

async function run(tool: Tool, args: unknown, call: LiveCall = callOf()): Promise<ToolResult> {
  return await callTool(service, tool, args, call)
}

test('a tool of another framework is taken as it is', async () => {
  for (const [what, theirs, args, signalIn] of taken) {
    assert.equal(foreignToolKind(theirs), what)
    const tool = (defineThing(theirs, frameworks) as Tool)
    assert.deepEqual([tool.kind, tool.name, tool.description], ['tool', 'add', 'Adds.'], what)
    assert.deepEqual(tool.input.json['required'], ['a'], what)
    const call = callOf()
    const { structuredContent, isError } = await run(tool, { a: 1 }, call)
    assert.equal(isError, undefined, what)
    assert.deepEqual(got[0], args, what)
    assert.deepEqual(structuredContent, { sum: 1 + Number((args as Raw)['b'] ?? 0) }, what)
    if (signalIn !== undefined) assert.equal(signalIn(got), call.signal, what)
    got = []
    const wrong = await run(tool, { a: 'x' })
    assert.equal(wrong.isError, true, what)
    assert.deepEqual(got, [], `${what} ran with wrong arguments`)
  }
})

test('tools by name are named by their keys', async () => {
  for (const [what, theirs] of named) {
    const { tools: [tool, ours, same] } = defineOffer({ tools: {
      sum: theirs, other: defineTool({ name: 'mine', description: 'Mine.', run: () => 'mine' }),
      same: { description: 'Same.', run: () => 'same' },
    } } as unknown as Offer, frameworks)
    assert.deepEqual([tool?.name, ours?.name, same?.name], ['sum', 'other', 'same'], what)
    assert.deepEqual((await run(tool!, { a: 1, b: 2 })).isError, undefined, what)
    assert.equal((await run(tool!, { a: 'x' })).isError, true, what)
    assert.throws(() => defineTool(theirs as never),
      { name: 'TypeError', message: `This is ${what}, which has no name; write tools: { add: theirs }` })
    assert.equal((await run(ours!, {})).content.length, 1)
  }
  const odd = { tools: { 'a b': named[0]![1] } } as unknown as Offer
  assert.throws(() => defineOffer(odd, frameworks), /has a name that clients refuse/)
  const unnamed = { tools: { name: 'a', description: 'b' } } as unknown as Offer
  assert.throws(() => defineOffer(unnamed, frameworks), {
    message: `'tools' has 'name', which is "a" and no tool; write tools: [tool], or tools: { name: tool }`,
  })
  const byName = normalizeDefinitions({ tools: { add: named[0]![1] } } as never, 'All', frameworks)
  assert.equal(byName.tools[0]?.name, 'add')
})

test('a name and members of ours may stand beside what the AI SDK made', async () => {
  const theirs = { ...named[0]![1], name: 'add' }
  const tool = defineTool({ ...theirs, scopes: ['sums'], timeoutMs: 5 } as never)
  assert.deepEqual([tool.name, tool.scopes, tool.timeoutMs], ['add', ['sums'], 5])
  assert.throws(() => defineTool({ ...theirs, scope: ['sums'] } as never), /did you mean 'scopes'\?/)
  assert.throws(() => defineTool({ ...theirs, scopes: 'sums' } as never), /has scopes "sums"/)
  const renamed = defineTool({ ...defineTool(taken[2]![1] as never), name: 'other', scopes: ['x'] })
  assert.deepEqual([renamed.name, renamed.scopes], ['other', ['x']])
})

const refused: readonly (readonly [what: string, thing: object, sentence: RegExp])[] = [
  ['a client of MCP', objectOf({ listTools: add, callTool: add }),
    /^This is a client of MCP.*; write tools: \(await/],
  ['a server of MCP', objectOf({ registerTool: add, connect: add }),
    /^This is a server of MCP.*; connect a client/],
  ['a tool that a client runs', { description: 'Asks.', inputSchema: schema },
    /^This is a tool of the AI SDK without execute, which a client runs; give it an execute, or leave it/],
  ['the same of VoltAgent', objectOf({}, { name: 'a', parameters: schema, isClientSide: () => true }),
    /^This is a tool of VoltAgent that a client runs; give it an execute/],
  ['a tool of a provider', { type: 'provider', id: 'openai.web_search', args: {}, inputSchema: schema },
    /^This is a tool that the provider of a model runs; leave it out/],
  [`a tool as OpenAI's API describes it`, { type: 'function', function: { name: 'add', parameters: {} } },
    /; write what is in its function, .* inputSchema: parameters, run: /],
  ['a tool that OpenAI runs', { type: 'hosted_tool', name: 'web_search' },
    /^This is a tool that OpenAI runs; leave/],
  ['another tool of the ADK',
    objectOf({ runAsync: add }, { name: 'a', [Symbol.for('google.adk.baseTool')]: true }),
    /^This is a tool of the Agent Development Kit that runs within its Runner only; a FunctionTool/],
  ['a schema that comes later', {
    execute: add, inputSchema: { [Symbol.for('vercel.ai.schema')]: true, jsonSchema: Promise.resolve(json) },
  }, /^The schema of this tool is not there yet/],
]

test('what cannot be called here is refused with a sentence', () => {
  const offer = (one: unknown): unknown => defineOffer({ tools: [one] } as Offer, frameworks)
  for (const [what, thing, message] of refused) {
    const one = (thing: unknown): unknown => defineThing(thing, frameworks)
    for (const define of [defineTool, one, offer] as ((one: unknown) => unknown)[]) {
      assert.throws(() => define(thing), { name: 'TypeError', message }, what)
    }
  }
})

test('a tool among agents is one for tools', () => {
  for (const [what, theirs] of [...taken, ...named]) {
    assert.throws(() => defineAgent(theirs as never), {
      name: 'TypeError', message: `This is ${what}, and no agent; put it into 'tools'`,
    })
  }
})

const innocent: readonly unknown[] = [
  undefined, null, 0, '', 'add', true, [], {}, new Map(), new Date(), /a/, new Error('a'), Symbol('a'),
  () => {}, function execute() {}, class Tool {}, Promise.resolve({}), new URL('http://a.example'),
  new Proxy({}, {}),
  { name: 'a' }, { name: 'a', execute: add }, { name: 'a', inputSchema: json }, { name: 'a', run: add },
  { name: 'a', inputSchema: json, run: add, execute: add }, { name: 'a', schema: 'text', handler: add },
  { name: 'a', args: [], call: add }, { name: 'a', agents: [] }, { uri: 'x:1', name: 'a', read: add },
  defineTool({ name: 'a', inputSchema: json, run: () => '' }), defineAgent(() => ''), globalThis, process,
  new (class { readonly name = 'a'; run(): string { return '' } execute(): void {} })(),
]

test('innocent values are no tools, and no getter or function of theirs runs', () => {
  for (const [at, value] of innocent.entries()) assert.equal(foreignToolKind(value), undefined, `${at}`)
  const proxy = new Proxy({}, { get() { throw new Error('read') } })
  assert.equal(foreignToolKind(proxy), undefined)
  const fail = (): never => { throw new Error('called') }
  for (const [, theirs] of taken) {
    const other = Object.create(theirs) as object
    for (const name of ['execute', 'handler', 'parse', 'invoke', 'call', 'needsApproval']) {
      Object.defineProperty(other, name, { value: fail })
    }
    foreignToolKind(other)
  }
})

/** A call whose client answers each question so, and the messages of the questions. */
function asked(answer?: ElicitAnswer): { readonly call: LiveCall; readonly messages: string[] } {
  const messages: string[] = []
  const call = callOf()
  if (answer === undefined) return { call, messages }
  call.channel = {
    can: (what) => what === 'elicit',
    ask: async (question) => {
      messages.push((question as { readonly message?: string }).message ?? '')
      return answer
    },
  }
  return { call, messages }
}

const approving: readonly (readonly [what: string, tool: object])[] = [
  ['AI SDK', { name: 'add', inputSchema: json, execute: add, needsApproval: true }],
  ['AI SDK, by a function', {
    name: 'add', inputSchema: json, execute: add, needsApproval: async ({ a }: Raw) => a === 1,
  }],
  ['any object', {
    name: 'add', inputSchema: json, handler: add, needsApproval: false, requireApproval: async () => true,
  }],
  ['Mastra', objectOf({}, {
    id: 'add', inputSchema: json, execute: add, requireApproval: true, requestContextSchema: 1,
  })],
  ['Mastra, by a function', objectOf({}, {
    id: 'add', inputSchema: json, execute: add, requireApproval: true, requestContextSchema: 1,
    needsApprovalFn: ({ a }: Raw) => a === 1,
  })],
  ['OpenAI', {
    type: 'function', name: 'add', parameters: json,
    invoke: (_: unknown, text: string) => add(JSON.parse(text)),
    needsApproval: async (_context: unknown, { a }: Raw) => a === 1,
  }],
  ['VoltAgent', objectOf({}, {
    name: 'add', parameters: schema, execute: add, isClientSide: () => false, needsApproval: true,
  })],
  ['ADK', objectOf({ runAsync: ({ args }: Raw) => add(args) }, {
    name: 'add', parameters: json, requireConfirmation: true, [Symbol.for('google.adk.functionTool')]: true,
  })],
]

test('a tool that needs an approval asks its user first', async () => {
  for (const [what, theirs] of approving) {
    const tool = defineTool(theirs as never)
    got = []
    const approved = asked({ action: 'accept', content: { approve: true } })
    assert.equal((await run(tool, { a: 1 }, approved.call)).isError, undefined, what)
    assert.equal(got.length > 0, true, what)
    assert.match(approved.messages.join(), /^May the tool 'add' run with \{"a":1/, what)
    got = []
    const refusals = [{ action: 'accept', content: { approve: false } }, { action: 'decline' }] as const
    for (const answer of refusals) {
      const { isError, content } = await run(tool, { a: 1 }, asked(answer).call)
      const text = `The user did not approve 'add'`
      assert.deepEqual([isError, content], [true, [{ type: 'text', text }]], what)
    }
    await assert.rejects(run(tool, { a: 1 }, asked().call), {
      kind: 'unsupported',
      message: `The tool 'add' needs the approval of a user, whom this client cannot ask`,
    }, what)
    assert.deepEqual(got, [], what)
  }
})

test('of arguments without an end a user is shown the beginning, and how much is left', async () => {
  const tool = defineTool(approving[0]![1] as never)
  const { call, messages } = asked({ action: 'decline' })
  await run(tool, { a: 1, text: 'x'.repeat(100_000) }, call)
  const [message = ''] = messages
  assert.match(message, /^May the tool 'add' run with \{"a":1.*x… \(96\d{3} more characters\)\?$/)
  assert.equal(message.length < 4_100, true)
})

test('a failure that looks like a result is one', async () => {
  const sentence = 'An error occurred while running the tool. Please try again.'
  const failing: readonly (readonly [tool: object, text: string])[] = [
    [{ type: 'function', name: 'add', parameters: json, invoke: async () => sentence }, sentence],
    [objectOf({}, {
      id: 'add', inputSchema: json, requestContextSchema: undefined,
      execute: async () => ({ error: true, message: 'Tool input validation failed', validationErrors: {} }),
    }), 'Tool input validation failed'],
    [{
      name: 'add', inputSchema: { a: part('no') },
      handler: async () => ({ content: [{ type: 'text', text: 'No.' }], isError: true }),
    }, 'No.'],
  ]
  for (const [theirs, text] of failing) {
    const { isError, content } = await run(defineTool(theirs as never), { a: 1 })
    assert.deepEqual([isError, content], [true, [{ type: 'text', text }]])
  }
})

test('of a generator the last piece is the result, and those before are progress', async () => {
  const steps: unknown[] = []
  const call = callOf()
  call.channel = { progress: (done, _total, text) => { steps.push([done, text]) } }
  const theirs = {
    name: 'add', inputSchema: json, async * execute() { yield * ['one', { half: 1 }, { sum: 3 }] },
  }
  const { structuredContent } = await run(defineTool(theirs as never), { a: 1 }, call)
  assert.deepEqual([structuredContent, steps], [{ sum: 3 }, [[1, 'one'], [2, '{"half":1}']]])
  const writing = objectOf({}, {
    id: 'add', inputSchema: json, requestContextSchema: undefined,
    execute: async (_args: unknown, { writer }: { writer: { write(chunk: unknown): Promise<void> } }) => {
      await writer.write('half')
      return 'done'
    },
  })
  steps.length = 0
  const next = callOf()
  next.channel = call.channel
  await run(defineTool(writing as never), { a: 1 }, next)
  assert.deepEqual(steps, [[1, 'half']])
})

test('results are data, and content where they are blocks', async () => {
  const results: readonly (readonly [result: unknown, content: object[], data?: unknown])[] = [
    ['text', [{ type: 'text', text: 'text' }]],
    [undefined, []],
    [3, [{ type: 'text', text: '3' }], 3],
    [{ content: 'a page', title: 'A' }, [{ type: 'text', text: '{"content":"a page","title":"A"}' }],
      { content: 'a page', title: 'A' }],
    [{ content: [{ type: 'text', text: 'b' }], role: 'user' },
      [{ type: 'text', text: '{"content":[{"type":"text","text":"b"}],"role":"user"}' }],
      { content: [{ type: 'text', text: 'b' }], role: 'user' }],
    [{ content: [{ type: 'text', text: 'b' }] }, [{ type: 'text', text: 'b' }]],
    [{ type: 'text', text: 'b' }, [{ type: 'text', text: 'b' }]],
  ]
  for (const [result, content, data] of results) {
    const tool = defineTool({ name: 'add', inputSchema: json, execute: () => result } as never)
    const { content: got, structuredContent } = await run(tool, { a: 1 })
    assert.deepEqual([got, structuredContent], [content, data])
  }
  const picture = defineTool({
    name: 'add', input_schema: json, parse: (args: unknown) => args,
    run: () => [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
  } as never)
  const { content } = await run(picture, { a: 1 })
  assert.deepEqual(content, [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }])
})

test('annotations and output schemas are kept', () => {
  const mastra = objectOf({}, {
    id: 'add', inputSchema: json, outputSchema: schema, execute: add, requestContextSchema: undefined,
    mcp: { annotations: { readOnlyHint: true, other: 1 } },
  })
  const tool = defineTool(mastra as never)
  assert.deepEqual([tool.annotations, tool.output?.json], [{ readOnlyHint: true }, json])
  // What cannot be published is checked by its framework alone.
  const dated = { '~standard': { version: 1, vendor: 'lib', validate: () => ({ value: 1 }) } }
  assert.equal(defineTool({ ...mastra, outputSchema: dated } as never).output, undefined)
  const gemini = objectOf({ runAsync: add }, {
    name: 'add', [Symbol.for('google.adk.functionTool')]: true,
    parameters: { type: 'OBJECT', properties: { type: { type: 'STRING' } }, required: ['type'] },
  })
  assert.deepEqual(defineTool(gemini as never).input.json,
    { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] })
})

test('a schema in the form of Google that is nested too deep is refused in a sentence', () => {
  const nested = (levels: number): object => {
    let schema: object = { type: 'STRING' }
    for (let level = 0; level < levels; level++) schema = { type: 'ARRAY', items: schema }
    return schema
  }
  const tool = (levels: number): never => objectOf({ runAsync: () => 1 }, {
    name: 'add', [Symbol.for('google.adk.functionTool')]: true,
    parameters: { type: 'OBJECT', properties: { a: nested(levels) } },
  }) as never
  assert.equal(JSON.stringify(defineTool(tool(50)).input.json).match(/"array"/g)?.length, 50)
  for (const levels of [300, 100_000]) {
    assert.throws(() => defineTool(tool(levels)), { name: 'TypeError', message: /deeper than 256 levels/ })
  }
})

test('a form in a shape keeps its references, and what has none is named with its place', () => {
  const loop = { type: 'array', items: { $ref: '#' } }
  const list = (form: object): StandardSchema => ({ '~standard': {
    version: 1, vendor: 'lib', validate: (value) => ({ value }),
    jsonSchema: { input: () => ({ ...form }), output: () => ({ ...form }) },
  } })
  const shape = (schema: object): never => (
    { name: 'add', description: 'Adds.', inputSchema: { 'a/b': schema }, handler: add } as never
  )
  assert.deepEqual(defineTool(shape(list(loop))).input.json['properties'], {
    'a/b': { type: 'array', items: { $ref: '#/properties/a~1b' } },
  })
  assert.throws(() => defineTool(shape({ ...list(loop), _def: { typeName: 'ZodMap' } })), {
    name: 'TypeError', message: /it has 'map' at \/properties\/a~1b;/,
  })
})
