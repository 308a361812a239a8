import assert from 'node:assert/strict'
import test from 'node:test'
import { adapt, frameworks } from '../../lib/adapters/frameworks.ts'
import { defineAgent } from '../../lib/preset/define.ts'
import { defineThing } from '../../lib/kernel/define/normalize-definitions.ts'
import { normalizeDefinitions } from '../../lib/preset/subject.ts'
import { defineTool } from '../../lib/preset/define.ts'
import { Fault } from '../../lib/kernel/define/fault.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { AgentOutput, ForeignAgent } from '../../lib/index.ts'
import type { Subject } from '../../lib/preset/subject.ts'

/** An object of a class with these functions, and with these members of its own. */
function objectOf(functions: readonly string[], own: object = {}): object {
  class Theirs {}
  for (const name of functions) Object.defineProperty(Theirs.prototype, name, { value: () => 'called' })
  return Object.assign(new Theirs(), own)
}

const agents: readonly (readonly [what: string, agent: object, write: RegExp])[] = [
  ['a graph that is not compiled', objectOf(['addNode', 'addEdge', 'compile']), /graph\.compile\(\)/],
  ['a swarm of Strands',
    objectOf(['invoke', 'stream', 'initialize', 'addHook'], { id: 's', nodes: new Map() }),
    /swarm of Strands.*cancelSignal/s],
  ['LangGraph', objectOf(['invoke', 'stream'], { lg_is_pregel: true, channels: { question: {} } }),
    /LangGraph without messages.*graph\.invoke/s],
  ['ADK', objectOf(['run', 'runAsync'], { name: 'A', [Symbol.for('google.adk.baseAgent')]: true }),
    /Runner can run.*InMemoryRunner/s],
  ['a team of PraisonAI', objectOf(['start', 'chat'], { simpleImpl: {}, taskImpl: null }), /groups/],
  ['a prompt of Genkit', Object.assign(() => {}, { __action: { key: '/prompt/a' } }), /prompt of Genkit/],
  ['BeeAI', objectOf(['run', '_run', 'createSnapshot'], { name: 'A', meta: { name: 'A' } }), /BeeAI/],
  ['a model', objectOf(['doGenerate', 'doStream'], { modelId: 'm' }), /model of the AI SDK.*ToolLoopAgent/s],
  ['a Mastra', objectOf(['listAgents', 'getAgent']), /agents: Object\.values\(mastra\.listAgents/],
  ['a Mastra of old', objectOf(['getAgents', 'getAgent']), /agents: Object\.values\(mastra\.getAgents/],
  ['a Runnable', objectOf(['invoke', 'stream', 'pipe'], { lc_runnable: true }), /chain\.invoke/],
]

/** Agents that are taken as they are; each streams what it is given. */
const taken: readonly (readonly [what: string, agent: object])[] = [
  ['AI SDK 7', objectOf([], { id: 'Theirs', version: 'agent-v1', generate: () => {}, stream: partsOf })],
  ['AI SDK 5', objectOf([], { settings: { model: {} }, generate: () => {}, stream: partsOf })],
  ['PraisonAI', praisonAi('Agent_x1')],
  ['Mastra', objectOf(['generate', 'getInstructions'], {
    component: 'AGENT', name: 'A', stream: mastraStreamOf,
  })],
  ['VoltAgent', objectOf(['generateText', 'generateObject'], {
    name: 'A', instructions: 'I',
    streamText: (messages: readonly { content: string }[]) => partsOf({ messages }),
  })],
]

function mastraStreamOf(messages: readonly { content: string }[]): object {
  const text = `Said ${messages.at(-1)?.content}.`
  return { fullStream: streamOf([{ type: 'text-delta', runId: '1', from: 'AGENT', payload: { text } }]) }
}

/** Of PraisonAI: without a name of the author's, it has another at each start. */
function praisonAi(name: string): object {
  return objectOf(['start', 'execute', 'getInstructions'], {
    simpleAgent: { name }, chat: async (prompt: string) => `Said ${prompt}.`,
  })
}

function partsOf({ messages }: { messages: readonly { content: string }[] }): object {
  const last = messages.at(-1)
  return { fullStream: streamOf([{ type: 'start' }, { type: 'text-delta', text: `Said ${last?.content}.` }]) }
}

test('an agent of another framework is taken as it is, or by adapt with a name', async () => {
  const { service } = serviceOf()
  for (const [what, agent] of taken) {
    const adapted = adapt(agent as ForeignAgent, { name: 'Mine', description: 'Of theirs.' })
    assert.equal((await ask(service, adapted, 'hi', callOf())).text, 'Said hi.', what)
    assert.equal(adapted.description, 'Of theirs.')
  }
  const [[, named], [, nameless]] = taken as readonly [readonly [string, object], readonly [string, object]]
  assert.equal(defineAgent(named as ForeignAgent).name, 'Theirs')
  assert.equal(normalizeDefinitions(named as Subject, 'All', frameworks).agents[0]?.id, 'theirs')
  assert.equal(defineAgent(nameless as ForeignAgent).name, 'Assistant')
  for (const two of [[nameless, nameless], [nameless, taken[2]?.[1]]]) {
    assert.throws(() => serviceOf({ agents: two as readonly ForeignAgent[] }), {
      name: 'TypeError',
      message: /two agents with the id 'assistant'.* write adapt\(agent, \{ name: 'Writer' \}\) for one/,
    })
  }
  assert.throws(() => defineTool(named as never), { message: /no tool; put it into 'agents'/ })
  assert.throws(() => adapt({ name: 'A' } as never), { message: /none that is known/ })
})

test('an agent of another framework is refused with what to write, wherever it is given', () => {
  for (const [what, agent, write] of agents) {
    const ways = [
      () => defineAgent(agent as never), () => defineThing(agent, frameworks),
      () => normalizeDefinitions(agent as Subject, 'All', frameworks),
    ]
    for (const define of ways) {
      assert.throws(define, (error: unknown) => {
        assert.ok(error instanceof TypeError, what)
        assert.match(error.message, write, what)
        const advice =
          /^This.* Write (?:agents|groups): (?:\[(?:\{ name: '\w+', \w+: |new |\w+[.(])|Object\.)/s
        assert.match(error.message, advice, what)
        assert.doesNotMatch(error.message, /rename/i)
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
  const one = { name: 'A', run: () => '' } as Subject
  assert.equal(normalizeDefinitions(one, 'All', frameworks).agents.length, 1)
  assert.equal(defineThing(defineAgent(() => ''), frameworks).kind, 'agent')
  assert.throws(() => defineAgent(objectOf(['invoke'], { name: 'A' }) as never), (error: unknown) => (
    error instanceof TypeError && /no 'run'/.test(error.message) && !/Rename/.test(error.message)
  ))
})

/** A message as LangChain makes it. */
const message = (text: string, type = 'ai'): object => ({ lc_kwargs: {}, type, text, content: text })

const results: readonly (readonly [what: string, result: object, text: string])[] = [
  ['generateText()', objectOf([], {
    text: 'Said.', content: [{ type: 'text', text: 'Said.' }], steps: [{}], finishReason: 'stop', usage: {},
  }), 'Said.'],
  ['a graph\'s state', { messages: [message('Asked.', 'human'), message('Said.')], thread: 'secret' },
    'Said.'],
  ['a message', Object.assign(Object.create({}), message('Said.')), 'Said.'],
  ['the same as an object without a class', {
    text: 'Said.', content: [{ type: 'text', text: 'Said.' }], steps: [{}], finishReason: 'stop', usage: {},
  }, 'Said.'],
  ['a pair of a graph\'s stream', [message('Said.'), { langgraph_node: 'secret' }], 'Said.'],
  ['a run of OpenAI\'s with data', objectOf([], { finalOutput: { a: 1 }, newItems: [], state: {} }),
    '{"a":1}'],
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
    () => objectOf([], { textStream: streamOf([]), fullStream: streamOf(parts), finishReason: 1 }),
    () => streamOf([{ type: 'start', runId: '1', from: 'AGENT', payload: {} },
      { type: 'text-delta', payload: { text: 'Said.' } }]),
  ]
  for (const output of outputs) {
    const agent = defineAgent({ name: 'A', run: () => output() as AgentOutput })
    assert.equal((await ask(service, agent, 'hi', callOf())).text, 'Said.')
  }
  const failing: readonly (() => unknown)[] = [
    () => streamOf([{ type: 'start' }, { type: 'error', error: new Error('gone') }]),
    () => streamOf([{ type: 'start' }, { type: 'abort' }]),
    // Its texts only come to their end.
    () => objectOf([], {
      textStream: streamOf([]), fullStream: streamOf([{ type: 'error', error: new Error('gone') }]),
    }),
  ]
  for (const output of failing) {
    const agent = defineAgent({ name: 'A', run: () => output() as AgentOutput })
    await assert.rejects(async () => ask(service, agent, 'hi', callOf()), { kind: 'internal' })
  }
})

const pieces: readonly (readonly [what: string, piece: unknown, write: RegExp])[] = [
  ['a result of BeeAI', { memory: {}, result: { text: 'a' } }, /result\.text/],
]

test('what has its text deep within is refused with what to write, and none of it is told', async () => {
  for (const [what, piece, write] of pieces) {
    for (const output of [() => piece, () => streamOf([piece])]) {
      const { service } = serviceOf()
      const agent = defineAgent({ name: 'A', run: () => output() as AgentOutput })
      await assert.rejects(async () => ask(service, agent, 'hi', callOf()), (error: unknown) => {
        assert.ok(error instanceof Fault, what)
        assert.equal(error.kind, 'internal', what)
        assert.match(String(error.cause), write, what)
        return true
      }, what)
    }
  }
})
