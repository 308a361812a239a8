import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import * as path from 'node:path'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { adapt, frameworks } from '../../lib/adapters/frameworks.ts'
import { defineAgent, defineGroup } from '../../lib/preset/define.ts'
import { defineThing } from '../../lib/kernel/define/normalize-definitions.ts'
import { normalizeDefinitions } from '../../lib/preset/subject.ts'
import { definePrompt } from '../../lib/kernel/define/prompt.ts'
import { defineResource } from '../../lib/kernel/define/resource.ts'
import { defineTool } from '../../lib/preset/define.ts'
import { adaptAgent, describeUnknown } from '../../lib/adapters/shared/agents.ts'
import { resultShape } from '../../lib/adapters/shared/results.ts'
import { foreignToolKind } from '../../lib/adapters/shared/tools.ts'
import { openaiAgent } from '../../lib/agents/openai/openai.ts'
import type { ForeignAgent } from '../../lib/index.ts'
import type { Subject } from '../../lib/preset/subject.ts'

class Service {
  readonly name = 'Service'
  readonly settings = { model: 'mine' }
  readonly messages = []
  readonly instructions = 'Mine.'
  readonly version = 'v1'
  readonly tools = []
  async generate(): Promise<string> { return '' }
  stream(): void {}
  invoke(): void {}
  chat(): void {}
  start(): void {}
  execute(): void {}
  cancel(): void {}
  run(): string { return '' }
}

class Store {
  readonly metadata = {}
  get(): void {}
  set(): void {}
  call(): void {}
}

class Private {
  #own = 1
  get graph(): number { return this.#own }
  run(): number { return this.#own }
}

const run = (): string => ''

/** An agent of the AI SDK. */
const theirs = { generate: run, stream: run, version: 'agent-v1' }

/** What nobody means as an agent of a framework. */
const innocent: readonly (readonly [what: string, value: unknown])[] = [
  ['undefined', undefined], ['null', null], ['a string', 'agent'], ['a number', 1],
  ['a symbol', Symbol('agent')],
  ['an object', {}], ['without a prototype', Object.create(null)], ['an array', [run]],
  ['a date', new Date()],
  ['a map', new Map([['run', run]])], ['a set', new Set([run])], ['a weak map', new WeakMap()],
  ['a regular expression', /agent/], ['an error', new Error('agent')], ['a promise', Promise.resolve(run)],
  ['bytes', new Uint8Array(2)], ['a buffer', Buffer.from('agent')], ['a URL', new URL('http://a.example')],
  ['headers', new Headers()], ['a request', new Request('http://a.example')],
  ['a response', new Response('')],
  ['a signal', new AbortController().signal], ['an emitter', new EventEmitter()],
  ['a stream', new PassThrough()],
  ['a web stream', new ReadableStream()], ['a module', path], ['a function', run],
  ['an async function', async () => ''], ['a generator', function* () { yield '' }],
  ['an async generator', async function* () { yield '' }], ['a class', Service],
  ['a bound function', run.bind({})],
  ['an object of a class with everything', new Service()], ['an object of a class', new Store()],
  ['an object with private members', new Private()], ['a frozen one', Object.freeze(new Service())],
  ['a definition', { name: 'A', run }],
  ['a definition with more', { name: 'A', run, generate: run, stream: run }],
  ['an agent', defineAgent(run)],
  ['an agent of a model', openaiAgent({ model: 'm', baseUrl: 'http://a.example' })],
  ['a group', defineGroup({ name: 'G', agents: [run] })],
  ['a tool', defineTool({ name: 't', description: 'd', inputSchema: { type: 'object' }, run })],
  ['a prompt', definePrompt({ name: 'p', get: run })],
  ['a resource', defineResource({ name: 'r', uri: 'a://b', read: run })],
  ['an adapted agent', adapt(theirs as ForeignAgent, { name: 'A' })],
  ['a proxy that answers everything', new Proxy(() => {}, { get: () => run })],
  ['a proxy that throws', new Proxy({}, {
    get() { throw new Error('get') }, getPrototypeOf() { throw new Error('prototype') },
    ownKeys() { throw new Error('keys') }, getOwnPropertyDescriptor() { throw new Error('descriptor') },
    has() { throw new Error('has') },
  })],
  ['a proxy that was revoked', revoked()],
]

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

test('what is no agent of a framework is taken for none', () => {
  assert.ok(innocent.length > 40)
  for (const [what, value] of innocent) {
    assert.equal(adaptAgent(value), undefined, what)
    if (typeof value === 'object' && value !== null && !/proxy/.test(what)) {
      assert.equal(resultShape(value), undefined, what)
    }
  }
})

/** What an author may return as data, with words of frameworks in it. */
const data: readonly object[] = [
  { text: 'a', data: { messages: [] } }, { data: 1 }, { messages: ['a'], count: 1 },
  { type: 'STATE_CHANGED', to: 'on' }, { type: 'result', value: 1 }, { type: 'user', name: 'Ann' },
  { role: 'model', content: 'a' }, { result: 1, state: 2 }, { stream: 'a', output: 'b' },
  { data: { result: 1, state: 2 }, toJSON: () => 1 }, { status: { state: 'on' }, id: 'a' },
  { kind: 'task', parts: 1 }, { output: [], agentName: 1 }, { finishReason: 'a' }, { newMessages: [] },
  { memory: 1, result: 'a' }, { steps: [] }, { choices: [] }, { invocationId: 'a' }, { object: 'list' },
  { parts: [] },
]

test('an author\'s own data is taken for no result of a framework', () => {
  for (const one of data) assert.equal(resultShape(one), undefined, JSON.stringify(one))
})

test('what cannot be made a text, as the objects of GraphQL, is looked at all the same', () => {
  const bare: object = Object.create(null)
  for (const name of ['type', 'role', 'kind', 'version']) {
    assert.equal(resultShape({ [name]: bare }), undefined, name)
    assert.equal(adaptAgent({ [name]: bare, generate() {}, stream() {} }), undefined, name)
    assert.equal(foreignToolKind({ [name]: bare, name: 'a' }), undefined, name)
  }
  assert.equal(resultShape({ run_id: 'a', event: bare }), undefined)
})

test('to know an agent no member of it is called, and what throws is no member', () => {
  const called: string[] = []
  const members = ['generate', 'stream', 'run', 'invoke', 'chat', 'start', 'execute', 'getInstructions']
  const object = Object.fromEntries(members.map((name) => [name, () => called.push(name)]))
  Object.defineProperty(object, 'version', { get() { throw new Error('no version') }, enumerable: true })
  class Theirs {}
  const descriptors = Object.getOwnPropertyDescriptors(object)
  assert.equal(adaptAgent(object), undefined)
  assert.equal(adaptAgent(Object.defineProperties(new Theirs(), descriptors)), undefined)
  assert.deepEqual(called, [])
})

class Bot {
  readonly model = 'm'
  _secret(): void {}
  get answer(): never { throw new Error('a getter') }
  foo(): void {}
  generate(): void {}
}

class Silent { readonly a = 1 }

test('an object that no framework has is refused with what it has, and how to write an agent of it', () => {
  const sentence = /^This is an object of the class Bot with foo, generate and no 'run', and no agent/
  const write = /Write agents: \[\{ name: 'Helper', run: \(prompt, call\) => theirs\.generate\(prompt, \{ si/
  const bot = new Bot()
  for (const define of [
    () => defineAgent(bot as never), () => adapt(bot as never), () => defineThing(bot, frameworks),
    () => normalizeDefinitions(bot as unknown as Subject, 'All', frameworks),
    () => normalizeDefinitions({ agents: [bot] } as unknown as Subject, 'All', frameworks),
    () => defineAgent(Object.assign(new Bot(), { name: 'Bot' }) as never),
    () => defineGroup({ name: 'G', agents: [bot as never] }),
  ]) {
    assert.throws(define, (error: unknown) => {
      assert.ok(error instanceof TypeError)
      assert.match(error.message, sentence)
      assert.match(error.message, write)
      return true
    })
  }
  assert.throws(() => defineAgent(new Silent() as never), /class Silent with no function and no 'run'/)
  assert.throws(() => defineAgent({ name: 'A', generate: run } as never), /needs 'run'/)
  for (const plain of [{ generate: run }, new Map(), new Date(), new Service()]) {
    assert.equal(describeUnknown(plain), undefined)
  }
})

/** An object of a class with these functions. */
function objectOf(functions: readonly string[], own: object = {}): object {
  class Theirs {}
  for (const name of functions) Object.defineProperty(Theirs.prototype, name, { value: () => 'called' })
  return Object.assign(new Theirs(), own)
}

const noAgents: readonly (readonly [what: string, thing: object, write: RegExp])[] = [
  ['a model of the AI SDK', objectOf(['doGenerate', 'doStream']), /new ToolLoopAgent/],
  ['a chat model of LangChain',
    objectOf(['invoke', 'stream', 'bindTools', '_generate'], { lc_runnable: true }), /createAgent\(/],
  ['a model of LlamaIndex', objectOf(['chat', 'complete'], { metadata: {} }), /agent\(\{ name: .* llm/],
  ['a model of the Agent Development Kit', objectOf([], { [Symbol.for('google.adk.baseModel')]: true }),
    /InMemoryRunner/],
  ['an App of the Agent Development Kit', objectOf([], { [Symbol.for('google.adk.app')]: true }),
    /new Runner/],
  ['a client of OpenAI', objectOf(['post'], { chat: { completions: { create: run } } }), /openaiAgent\(/],
  ['a client of Anthropic', objectOf([], { messages: { create: run, stream: run } }), /messages\.create/],
  ['a client of Gemini', objectOf([], { models: { generateContent: run } }), /generateContent/],
  ['a client of Ollama', objectOf(['chat', 'generate', 'embed', 'pull']), /11434\/v1/],
  ['a Genkit', objectOf(['defineFlow', 'generate', 'generateStream']), /defineFlow/],
  ['a Runner of the OpenAI Agents SDK',
    objectOf(['run'], { name: 'A', inputGuardrailDefs: [], outputGuardrailDefs: [] }), /agents: \[agent\]/],
  ['a client of MCP', objectOf(['listTools', 'callTool']), /tools/],
]

test('what is no agent, but of a framework that is known, has a sentence of its own', () => {
  for (const [what, thing, write] of noAgents) {
    assert.throws(() => defineAgent(thing as never), (error: unknown) => {
      assert.ok(error instanceof TypeError, what)
      assert.ok(error.message.startsWith(`This is ${what}`), `${what}: ${error.message}`)
      assert.match(error.message, write, what)
      return true
    })
  }
})

test('the options of adapt are those of an agent', () => {
  const agent = theirs as ForeignAgent
  const rows: readonly (readonly [options: unknown, message: RegExp])[] = [
    ['Helper', /^adapt takes its options as an object, not string/],
    [{ name: 'A', title: 'B' }, /^adapt has no option 'title'/],
    [{ name: 'A', run }, /^adapt has no option 'run'/],
    [{ name: 'A', descripton: 'B' }, /did you mean 'description'/],
    [{ name: 'A', timeoutMs: -1 }, /^The agent 'A' has .*timeoutMs/],
    [{ name: 1 }, /'name'/],
  ]
  for (const [options, message] of rows) {
    assert.throws(() => adapt(agent, options as never), { name: 'TypeError', message })
  }
  const withMore = adapt as (...all: unknown[]) => unknown
  assert.throws(() => withMore(agent, { name: 'A' }, 'more'), /two arguments/)
  assert.throws(() => adapt(defineAgent(run) as never), /none that is known; .* write defineAgent\(/)
  assert.throws(() => adapt(5 as never), /5 is none that is known; write \{ name/)
  assert.throws(() => adapt(Promise.resolve(agent) as never), /^TypeError: Cannot serve a promise: write /)
  const { name, description, timeoutMs } = adapt(agent, { name: 'A', description: 'B', timeoutMs: 5 })
  assert.deepEqual([name, description, timeoutMs], ['A', 'B', 5])
})
