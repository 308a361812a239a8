import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/define/agent.ts'
import { defineThing, sortOut } from '../../lib/define/definitions.ts'
import { defineTool } from '../../lib/define/tool.ts'
import { ask, callOf, serviceOf } from '../fixtures/house.ts'
import type { AgentOutput } from '../../lib/index.ts'
import type { Subject } from '../../lib/define/definitions.ts'

/** An object of a class with these functions, and with these members of its own. */
function objectOf(functions: readonly string[], own: object = {}): object {
  class Theirs {}
  for (const name of functions) Object.defineProperty(Theirs.prototype, name, { value: () => 'called' })
  return Object.assign(new Theirs(), own)
}

const graph = objectOf(['invoke', 'stream'], { name: 'LangGraph', lg_is_pregel: true })

const agents: readonly (readonly [what: string, agent: object, write: RegExp])[] = [
  ['ToolLoopAgent 7', objectOf(['generate', 'stream'], { version: 'agent-v1', settings: { model: {} } }),
    /AI SDK.*abortSignal: call\.signal/s],
  ['AI SDK 5', objectOf(['generate', 'stream'], { settings: { model: {} }, tools: {} }), /AI SDK/],
  ['LangChain', objectOf(['invoke', 'stream'], { options: { name: 'A' }, graph }),
    /LangChain.*messages\.at/s],
  ['LangGraph', graph, /LangGraph.*graph\.invoke/s],
  ['Mastra', objectOf(['generate', 'stream', 'getInstructions'], { component: 'AGENT' }), /Mastra/],
  ['OpenAI', objectOf(['asTool', 'getSystemPrompt', 'getAllTools', 'clone'], { handoffs: [] }),
    /OpenAI.*finalOutput/s],
  ['Strands', objectOf(['invoke', 'stream', 'cancel', 'takeSnapshot'], { name: 'A', messages: [] }),
    /Strands.*cancelSignal/s],
  ['VoltAgent', objectOf(['generateText', 'streamText', 'generateObject'], { name: 'A', instructions: 'I' }),
    /VoltAgent/],
  ['ADK', objectOf(['run', 'runAsync'], { name: 'A', [Symbol.for('google.adk.baseAgent')]: true }),
    /Runner can run.*runAsync/s],
  ['PraisonAI', objectOf(['start', 'chat', 'execute', 'getInstructions']), /PraisonAI.*agent\.chat/s],
  ['LlamaIndex', objectOf(['run', 'runStream', 'getAgents'], { rootAgentName: 'A' }),
    /LlamaIndex.*chatHistory/s],
  ['Inngest', objectOf(['run', 'performInference', 'withModel'], { name: 'A' }), /Inngest/],
  ['a network', objectOf(['run', 'availableAgents', 'addAgent'], { name: 'A' }), /network of Inngest/],
  ['AG-UI', objectOf(['runAgent', 'abortRun', 'clone', 'setMessages'], { name: 'A' }), /AG-UI/],
  ['Genkit', Object.assign(() => {}, { __action: { key: '/flow/a' } }), /flow of Genkit/],
]

const tools: readonly (readonly [what: string, tool: object, write: RegExp])[] = [
  ['AI SDK', { description: 'd', inputSchema: { type: 'object' }, execute: () => 1 }, /AI SDK.*toolCallId/s],
  ['Mastra', objectOf(['execute'], { id: 'a', inputSchema: { type: 'object' } }), /Mastra/],
  ['LangChain', objectOf(['invoke'], { name: 'a', lc_runnable: true, schema: {} }),
    /LangChain.*theirs\.schema/s],
  ['OpenAI', { type: 'function', name: 'a', parameters: {}, invoke: () => 1 }, /OpenAI.*JSON\.stringify/s],
  ['Genkit', Object.assign(() => {}, { __action: { key: '/tool/a', name: 'a' } }), /tool of Genkit/],
  ['ADK', objectOf(['runAsync'], { name: 'a', [Symbol.for('google.adk.baseTool')]: true }), /runAsync/],
]

test('an agent of another framework is refused with what to write, wherever it is given', () => {
  for (const [what, agent, write] of agents) {
    const ways = [
      () => defineAgent(agent as never), () => defineThing(agent), () => sortOut(agent as Subject, 'All'),
    ]
    for (const define of ways) {
      assert.throws(define, (error: unknown) => {
        assert.ok(error instanceof TypeError, what)
        assert.match(error.message, write, what)
        assert.match(error.message, /^This is .* Write agents: \[\{ name: 'Helper', run: /s, what)
        assert.doesNotMatch(error.message, /rename/i)
        return true
      }, what)
    }
  }
})

test('a tool of another framework is refused with what to write, among agents too', () => {
  for (const [what, tool, write] of tools) {
    for (const define of [defineTool, defineThing, defineAgent]) {
      assert.throws(() => (define as (one: unknown) => unknown)(tool), (error: unknown) => {
        assert.ok(error instanceof TypeError, what)
        assert.match(error.message, write, what)
        assert.match(error.message, /Write tools: \[defineTool\(/, what)
        return true
      }, what)
    }
  }
})

test('what an author writes is his own, whatever its members are called', () => {
  class Mine {
    readonly name = 'Mine'
    readonly settings = { model: 'mine' }
    readonly messages = []
    generate(): string { return 'generated' }
    stream(): string { return 'streamed' }
    invoke(): string { return 'invoked' }
    run(): string { return this.generate() }
  }
  const all = ['stream', 'invoke', 'generate', 'cancel', 'takeSnapshot', 'chat', 'start', 'execute']
  const other = objectOf([...all, 'run'], { name: 'A', messages: [], settings: { model: 1 } })
  for (const one of [new Mine(), other]) {
    assert.equal(defineAgent(one as Mine).kind, 'agent')
  }
  assert.equal(sortOut({ name: 'A', run: () => '' } as Subject, 'All').agents.length, 1)
  assert.equal(defineThing(defineAgent(() => '')).kind, 'agent')
  assert.throws(() => defineAgent(objectOf(['invoke'], { name: 'A' }) as never), (error: unknown) => (
    error instanceof TypeError && /needs 'run'/.test(error.message) && !/Rename/.test(error.message)
  ))
})

/** A message as LangChain makes it. */
const message = (text: string): object => ({ lc_kwargs: {}, text, content: text })

const results: readonly (readonly [what: string, result: object, text: string])[] = [
  ['generateText()', objectOf([], {
    text: 'Said.', content: [{ type: 'text', text: 'Said.' }], steps: [{}], finishReason: 'stop', usage: {},
  }), 'Said.'],
  ['a graph\'s state', { messages: [message('Asked.'), message('Said.')], thread: 'secret' }, 'Said.'],
  ['a message', Object.assign(Object.create({}), message('Said.')), 'Said.'],
  ['a run of OpenAI\'s', objectOf([], { finalOutput: 'Said.', newItems: [{}], state: {} }), 'Said.'],
  ['a result of Strands', objectOf(['toString'], { type: 'agentResult', stopReason: 'endTurn' }), 'called'],
  ['an author\'s own', { text: 'Said.', steps: ['one'] }, 'Said.'],
  ['an author\'s data', { messages: ['Asked.'], count: 1 }, '{"messages":["Asked."],"count":1}'],
]

test('of a result of another framework the text comes, once, and nothing of its inside', async () => {
  const { service } = serviceOf()
  for (const [what, result, text] of results) {
    const agent = defineAgent({ name: 'A', run: () => result as AgentOutput })
    assert.equal((await ask(service, agent, 'hi', callOf())).text, text, what)
  }
})

async function * streamOf(parts: readonly unknown[]): AsyncGenerator<unknown> { yield * parts }

const parts = [
  { type: 'start' }, { type: 'start-step', request: { body: 'secret' } }, { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', text: 'Sa' }, { type: 'tool-call', input: 'secret' },
  { type: 'text-delta', id: '1', text: 'id.' }, { type: 'finish', usage: { secret: 1 } },
]

test('of a stream of the AI SDK the text comes, whole or by its parts, and an error is one', async () => {
  const { service } = serviceOf()
  const outputs: readonly (() => unknown)[] = [
    () => streamOf(parts),
    () => objectOf([], {
      textStream: streamOf(['Sa', 'id.']), fullStream: 1, finishReason: 1, model: 'secret',
    }),
  ]
  for (const output of outputs) {
    const agent = defineAgent({ name: 'A', run: () => output() as AgentOutput })
    assert.equal((await ask(service, agent, 'hi', callOf())).text, 'Said.')
  }
  const failing = streamOf([{ type: 'start' }, { type: 'error', error: new Error('gone') }])
  await assert.rejects(async () => ask(service, defineAgent({ name: 'A', run: () => failing as AgentOutput }),
    'hi', callOf()), { kind: 'internal' })
})
