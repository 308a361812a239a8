import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../../lib/preset/define.ts'
import { modelOf } from '../../../lib/agents/openai/openai.ts'
import { ToolCalls } from '../../../lib/agents/openai/tool-calls.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { LiveCall } from '../../../lib/kernel/define/live-call.ts'
import { defineTool } from '../../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from '../../fixtures/house.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { FunctionCall } from '../../../lib/agents/openai/openai-completion.ts'
import type { OpenaiOptions } from '../../../lib/agents/openai/openai.ts'
import type { Call } from '../../../lib/kernel/define/call.ts'
import type { Tool, ToolDefinition } from '../../../lib/kernel/define/tool.ts'

const never = new Promise<never>(() => {})
const schema = { type: 'object', properties: { sure: { type: 'boolean' } } }

function toolOf(run: (args: unknown, call: Call) => unknown, more: Partial<ToolDefinition> = {}): Tool {
  return defineTool({ name: 'tool', inputSchema: { type: 'object' }, ...more, run })
}

interface Ran { readonly text: string; readonly logged: readonly unknown[] }

/** Calls a tool as a model would, and tells what the model reads and what is logged. */
async function run(
  tool: Tool, input: FunctionCall['input'] = {}, call = callOf(), options: OpenaiOptions = {},
): Promise<Ran> {
  const logged: unknown[] = []
  const model = modelOf({ tools: [tool], log: (...line) => logged.push(line), ...options })
  const text = await new ToolCalls(model, call).run(requestFor(tool, input))
  return { text, logged }
}

/** A call as a model asks for it. */
function requestFor(tool: Tool, input: FunctionCall['input'], written = JSON.stringify(input)): FunctionCall {
  return { id: 'i1', name: tool.name.replaceAll('.', '_'), written, input, extra: undefined }
}

const uri = 'file:///a'

const results: readonly (readonly [what: string, result: unknown, text: string])[] = [
  ['a text', 'noon', 'noon'],
  ['nothing', undefined, 'The tool returned nothing'],
  ['an empty text', '', 'The tool returned nothing'],
  ['a value', { a: [1] }, '{"a":[1]}'],
  ['a number', 7, '7'],
  ['null', null, 'null'],
  ['an empty list', [], '[]'],
  ['blocks', [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }], 'a\nb'],
  ['a picture', { type: 'image', data: 'aGk=', mimeType: 'image/png' }, '[image: image/png, not shown]'],
  ['a sound', { type: 'audio', data: new Uint8Array(9), mimeType: 'audio/wav' },
    '[audio: audio/wav, not shown]'],
  ['a text of a resource', { type: 'resource', resource: { uri, text: 'inside' } }, 'inside'],
  ['bytes of a resource', { type: 'resource', resource: { uri, blob: 'aGk=' } },
    '[resource: file:///a, of unknown type, not shown]'],
  ['a link', { type: 'resource_link', uri, name: 'A' }, '[link: A, file:///a]'],
  ['a value for machines', { structuredContent: { a: 1 } }, '{"a":1}'],
  ['both', { content: ['one'], structuredContent: { a: 1 } }, 'one\n{"a":1}'],
  ['both, and the same', { content: ['{"a":1}'], structuredContent: { a: 1 } }, '{"a":1}'],
  ['a failure of its own words', { content: ['No such order'], isError: true }, 'No such order'],
]

test('the model reads a result as text, whatever it is', async () => {
  for (const [what, result, text] of results) {
    assert.deepEqual(await run(toolOf(() => result)), { text, logged: [] }, what)
    assert.equal((await run(toolOf(async () => result))).text, text, `${what}, later`)
  }
})

test('a tool may be a generator: its texts are progress, and the model reads what came of it', async () => {
  const table: readonly (readonly [run: () => unknown, text: string, told: readonly unknown[]])[] = [
    [async function* () { yield 'a'; yield 'b' }, 'ab', ['Calls tool…', 'a', 'b', 'tool is done']],
    [function* () { yield 'a'; return { n: 1 } }, '{"n":1}', ['Calls tool…', 'a', 'tool is done']],
    [async () => (async function* () { yield 'a' })(), 'a', ['Calls tool…', 'a', 'tool is done']],
    [async function* () { yield 'a'; throw new Fault('failed', 'No more') }, 'No more',
      ['Calls tool…', 'a', 'tool failed']],
  ]
  for (const [pieces, text, expected] of table) {
    const told: unknown[] = []
    const call = callOf({ progress: (_done, _total, said) => told.push(said) })
    assert.deepEqual(await run(toolOf(pieces), {}, call), { text, logged: [] })
    assert.deepEqual(told, expected)
  }
})

test('a long result is cut between two characters, and says so', async () => {
  const table: readonly (readonly [result: string, maxBytes: number, text: string])[] = [
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abcde\n[cut off: the first 5 of 6 bytes]'],
    ['aé👋b', 5, 'aé\n[cut off: the first 5 of 8 bytes]'],
    ['aé👋b', 7, 'aé👋\n[cut off: the first 7 of 8 bytes]'],
    ['abcdef', Infinity, 'abcdef'],
  ]
  for (const [result, maxToolResultBytes, text] of table) {
    for (const tool of [toolOf(() => result), toolOf(() => { throw new Fault('failed', result) })]) {
      assert.equal((await run(tool, {}, callOf(), { maxToolResultBytes })).text, text)
    }
  }
  const { text } = await run(toolOf(() => 'x'.repeat(100_000)))
  assert.equal(text, `${'x'.repeat(65_536)}\n[cut off: the first 65536 of 100000 bytes]`)
})

const add = defineTool({
  name: 'math.add',
  inputSchema: {
    type: 'object', properties: { a: { type: 'number' }, b: { type: 'number', minimum: 1 } }, required: ['a'],
  },
  run: ({ a, b = 1 }) => a + b,
})

test('arguments are checked, and what is wrong with them is told to the model', async () => {
  const table: readonly (readonly [FunctionCall['input'], string | RegExp])[] = [
    [{ a: 1, b: 2 }, '3'],
    [{ a: 'x', b: 0 },
      'Invalid arguments for math.add: a: must be a number, got string "x"; '
        + 'b: must be at least 1, got number 0'],
    [{}, /^Invalid arguments for math\.add: .*a.*$/],
  ]
  for (const [input, expected] of table) {
    const { text } = await run(add, input)
    if (typeof expected === 'string') assert.equal(text, expected)
    else assert.match(text, expected)
  }
  const half = requestFor(add, undefined, '{"half')
  assert.equal(await new ToolCalls(modelOf({ tools: [add] }), callOf()).run(half),
    'The arguments are not a JSON object: "{\\"half"')
})

test('a schema of another library checks and transforms', async () => {
  const inputSchema = {
    '~standard': {
      version: 1, vendor: 'mine',
      validate: async (value: unknown) => Object.hasOwn(Object(value), 'bad')
        ? { issues: [{ message: 'is bad', path: ['bad'] }] } : { value: 'transformed' },
      jsonSchema: { input: () => ({ type: 'object' }), output: () => ({}) },
    },
  } as const
  const tool = toolOf((args) => args, { inputSchema })
  assert.equal((await run(tool, {})).text, 'transformed')
  assert.equal((await run(tool, { bad: 1 })).text, 'Invalid arguments for tool: bad: is bad')
})

test('a tool that does not exist is told with those that do', async () => {
  const model = modelOf({ tools: [add, toolOf(() => '')] })
  const call = { ...requestFor(add, {}), name: 'x'.repeat(100) }
  assert.equal(await new ToolCalls(model, callOf()).run(call),
    `There is no tool "${'x'.repeat(60)}…"; use math_add, tool`)
})

test('what a Fault says is told to the model, and nothing of a defect is', async () => {
  const secret = new Error('connect postgres://user:password@db')
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  const outputSchema = { type: 'object', required: ['a'] } as const
  const table: readonly (readonly [what: string, tool: Tool, text: string, isLogged: boolean])[] = [
    ['a Fault', toolOf(() => { throw new Fault('not-found', 'No order 7') }), 'No order 7', false],
    ['a Fault later', toolOf(async () => { throw new Fault('busy', 'Try later') }), 'Try later', false],
    ['a Fault of a defect', toolOf(() => { throw new Fault('internal', 'secret') }), 'The tool failed', true],
    ['an error', toolOf(() => { throw secret }), 'The tool failed', true],
    ['an error later', toolOf(async () => { throw secret }), 'The tool failed', true],
    ['null', toolOf(() => { throw null }), 'The tool failed', true],
    ['a cycle', toolOf(() => cyclic), 'The tool failed', true],
    ['a bigint', toolOf(() => 7n), 'The tool failed', true],
    ['a broken promise of its own', toolOf(() => ({}), { outputSchema }), 'The tool failed', true],
    ['a kept promise of its own', toolOf(() => ({ a: 1 }), { outputSchema }), '{"a":1}', false],
  ]
  for (const [what, tool, expected, isLogged] of table) {
    const { text, logged } = await run(tool)
    assert.equal(text, expected, what)
    assert.equal(logged.length, Number(isLogged), what)
  }
  const { logged } = await run(toolOf(() => { throw secret }))
  assert.deepEqual(logged, [['error', 'A tool failed', { request: 'r-1', tool: 'tool', cause: secret }]])
})

test('a caller without the scopes of a tool cannot have it called', async () => {
  let isRun = false
  const tool = toolOf(() => { isRun = true }, { scopes: ['pay'] })
  const { text } = await run(tool)
  assert.equal(text, 'This needs the scope pay, which the caller does not have')
  assert.equal(isRun, false)
  await run(tool, {}, callOf({}, { principal: { id: 'ada', scopes: ['pay'] } }))
  assert.equal(isRun, true)
})

test('a tool that takes too long is aborted, and the call goes on', async () => {
  let signal: AbortSignal | undefined
  const tool = toolOf((_args, call) => { signal = call.signal; return never }, { timeoutMs: 20 })
  const call = callOf()
  assert.equal((await run(tool, {}, call)).text, 'No result within 20 ms')
  assert.equal(signal?.aborted, true)
  assert.equal(call.signal.aborted, false)
})

test('the time in which the client is asked does not count', async (t) => {
  const pass = standingTime(t)
  let answer: (value: unknown) => void = () => {}
  const asked = new Promise((resolve) => { answer = resolve })
  const call = callOf({ can: () => true, ask: () => asked })
  const tool = toolOf(async (_args, inner) => {
    setImmediate(() => {
      pass(60)
      answer({ action: 'accept' })
    })
    return inner.elicit({ message: 'Sure?', schema })
  }, { timeoutMs: 20 })
  assert.equal((await run(tool, {}, call)).text, '{"action":"accept"}')
})

test('a tool asks by the schema of a library, also in a call that an author has made', async () => {
  const validate = (value: unknown): { readonly value: unknown } => ({ value })
  // As zod 3 keeps it, which writes no JSON Schema.
  const ofZod = {
    _def: { typeName: 'ZodObject', shape: () => ({ sure: { _def: { typeName: 'ZodBoolean' } } }) },
    '~standard': { version: 1 as const, vendor: 'zod', validate },
  }
  const tool = toolOf((_args, inner) => inner.elicit({ message: 'Sure?', schema: ofZod }))
  const model = modelOf({ tools: [tool], log: false })
  const asked: unknown[] = []
  const ask = async (question: object): Promise<{ readonly action: 'decline' }> => {
    asked.push(question)
    return { action: 'decline' }
  }
  const live = callOf({ can: () => true, ask })
  const elicit = async (question: object): Promise<unknown> => ask({ what: 'elicit', ...question })
  const { signal } = live
  const ofAuthor = { headers: new Map(), signal, can: () => true, event: () => {}, elicit } as object as Call
  for (const call of [live, ofAuthor]) {
    assert.equal(await new ToolCalls(model, call).run(requestFor(tool, {})), '{"action":"decline"}')
  }
  const form = { ...schema, required: ['sure'] }
  assert.deepEqual(asked.map((question) => Reflect.get(question as object, 'schema')), [form, form])
})

test('the end of the call ends the tool, and leaves no listener behind', async () => {
  const call = callOf()
  let inner: Call | undefined
  const tool = toolOf((_args, given) => {
    inner = given
    setImmediate(() => call.cancel(new Fault('cancelled', 'The client has left')))
    return never
  })
  await assert.rejects(run(tool, {}, call), { name: 'AbortError', message: 'The client has left' })
  assert.equal(inner?.signal.aborted, true)
  await assert.rejects(run(toolOf(() => 'too late'), {}, call), { name: 'AbortError' })

  const counted = callOf()
  let listeners = 0
  const { signal } = counted
  signal.addEventListener = () => { listeners++ }
  signal.removeEventListener = () => { listeners-- }
  await run(toolOf(() => 'fine'), {}, counted)
  await run(toolOf(() => never, { timeoutMs: 5 }), {}, counted)
  assert.equal(listeners, 0)
})

test('what a tool says late is dropped', async () => {
  const said: unknown[] = []
  let proceed: (value: unknown) => void = () => {}
  let late: unknown
  const tool = toolOf(async (_args, call) => {
    await new Promise((resolve) => { proceed = resolve })
    call.log('info', 'late')
    call.progress(9, 9, 'late')
    late = await call.roots().catch((error: unknown) => error)
  }, { timeoutMs: 5 })
  await run(tool, {}, callOf({
    log: (...line) => said.push(line), can: () => true, ask: () => { said.push('asked'); return never },
  }))
  proceed(undefined)
  await new Promise(setImmediate)
  assert.deepEqual(said, [])
  assert.equal(Object(late).name, 'AbortError')
})

test('a tool has what the call has', async () => {
  const told: unknown[] = []
  const call = callOf({
    protocol: 'mcp', sessionId: 's1', client: { name: 'c', version: '1' }, metadata: { a: 1 },
    message: [{ type: 'text', text: 'now' }], trace: { traceparent: 't' },
    can: (what) => what !== 'roots',
    log: (...line) => told.push(['log', ...line]),
    ask: async (question) => { told.push(question); return { content: 'ok' } },
    detach: (retryMs) => told.push(['detach', retryMs]),
    completeElicitation: (id) => told.push(['complete', id]),
    artifact: (artifact) => told.push(artifact),
  }, { requestId: 'r-7', headers: new Map([['x-a', 'b']]) })
  call.history = [{ role: 'user', content: 'before' }]
  const tool = toolOf(async (_args, inner) => {
    assert.ok(inner instanceof LiveCall && inner !== call)
    for (const member of [
      'protocol', 'sessionId', 'client', 'metadata', 'history', 'message', 'trace', 'requestId', 'principal',
      'headers',
    ]) assert.deepEqual(Reflect.get(inner, member), Reflect.get(call, member), member)
    assert.deepEqual([inner.can('elicit'), inner.can('roots')], [true, false])
    inner.log('info', 'a line', 'mine')
    inner.detach()
    inner.detach({ retryMs: 5 })
    inner.artifact({ parts: ['part'] })
    await inner.elicit({ message: 'Sure?', schema })
    await inner.elicit({ message: 'Open', url: 'https://x.example', elicitationId: 'e1' })
    inner.completeElicitation('e1')
    await inner.sample({ messages: [], maxTokens: 5 })
    return inner.roots()
  })
  const { text } = await run(tool, {}, call)
  assert.match(text, /^This client cannot be asked/)
  assert.deepEqual(told, [
    ['log', 'info', 'a line', 'mine'], ['detach', undefined], ['detach', 5], { parts: ['part'] },
    { what: 'elicit', message: 'Sure?', schema },
    { what: 'elicit-url', message: 'Open', url: 'https://x.example', elicitationId: 'e1' },
    ['complete', 'e1'],
    { what: 'sample', messages: [], maxTokens: 5 },
  ])
})

test('a side effect with one key is one for each call of a tool, and a question too', async () => {
  const done: unknown[] = []
  const keys: (string | undefined)[] = []
  const once = new Map<string, Promise<unknown>>()
  const call = (): LiveCall => callOf({
    can: () => true,
    ask: async ({ key }) => { keys.push(key); return {} },
    once: (key, fn) => {
      const result = once.get(key) ?? Promise.resolve(fn())
      once.set(key, result)
      return result
    },
  })
  const pay = toolOf(async (args, inner) => {
    await inner.elicit({ key: 'sure', message: 'Sure?', schema })
    return inner.once('pay', () => done.push(args))
  })
  const model = modelOf({ tools: [pay], log: false })
  const rounds = async (): Promise<void> => {
    const calls = new ToolCalls(model, call())
    for (const input of [{ to: 'a' }, { to: 'b' }, { to: 'a' }]) {
      await calls.run(requestFor(pay, input))
    }
  }
  await rounds()
  assert.deepEqual(done, [{ to: 'a' }, { to: 'b' }, { to: 'a' }])
  assert.equal(new Set(keys).size, 3)
  // The handler runs again from the top after the client was asked: what was done is not done again.
  await rounds()
  assert.equal(done.length, 3)
  assert.deepEqual(keys.slice(3), keys.slice(0, 3))
})

test('progress rises from call to call, and never overtakes the pieces of the answer', async () => {
  const told: [number, unknown, unknown][] = []
  const call = callOf({ progress: (...line) => told.push(line) })
  const tool = toolOf((_args, inner) => {
    inner.progress(1, 2, 'half')
    inner.progress(2, 2)
    return 'done'
  })
  const calls = new ToolCalls(modelOf({ tools: [tool] }), call)
  const once = requestFor(tool, {})
  for (let piece = 1; piece <= 3; piece++) {
    await calls.run(once)
    await calls.run(once)
    call.progress(piece, undefined, 'a piece')
  }
  for (const [at, [done]] of told.entries()) {
    assert.ok(at === 0 || done > told[at - 1]![0], `${done} at ${at}`)
  }
  assert.deepEqual(told.slice(0, 5).map(([, total, text]) => [total, text]), [
    [undefined, 'Calls tool…'], [undefined, 'half'], [undefined, 'tool is done'],
    [undefined, 'Calls tool…'], [undefined, 'half'],
  ])
  assert.equal(told[6]?.[2], 'a piece')
})

test('what runs around the calls of the server runs around those of a model', async () => {
  const noted: unknown[] = []
  const { service } = serviceOf({
    around({ kind, name, input }, next) {
      noted.push([kind, name, input])
      return kind === 'tool' ? 'Other' : next()
    },
  })
  const tool = toolOf(() => 'ok')
  const agent = defineAgent({
    name: 'A',
    run: (_prompt, call) => new ToolCalls(modelOf({ tools: [tool] }), call).run(requestFor(tool, { a: 1 })),
  })
  const { text } = await ask(service, agent, 'hi', callOf())
  assert.equal(text, 'Other')
  assert.deepEqual(noted, [['agent', 'A', 'hi'], ['tool', 'tool', { a: 1 }]])
})

test('the limits of the server that runs the agent hold for what its model calls', async () => {
  const seen: unknown[] = []
  const tool = defineTool({
    name: 'tool', inputSchema: { type: 'object', properties: { list: { items: { type: 'string' } } } },
    run(args) { seen.push(args); return 'taken' },
  })
  const agent = { name: 'Model', run: (_prompt: string, call: Call) => (
    new ToolCalls(modelOf({ tools: [tool], log: false }), call)
      .run(requestFor(tool, { list: Array.from({ length: 1_000 }, () => 'x') }))
  ) }
  for (const [maxCheckSteps, said] of [[50, /too costly to check/], [1_000_000, /^taken$/]] as const) {
    const { service } = serviceOf({ agents: [agent], maxCheckSteps })
    const { text } = await ask(service, service.catalog.agents[0]!, 'hi', callOf())
    assert.match(text, said)
  }
  assert.equal(seen.length, 1)
})
