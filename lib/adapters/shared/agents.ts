/**
 * Agents of other frameworks: how each is known, and the adapter that runs it, or what to write instead. They
 * are known by their shape: nothing of theirs is imported, and no member is called. An adapter is loaded with
 * the first run.
 */
import {
  areFunctions, findShape, genkitKeyOf, isLike, lacksRun, memberAt, membersOf, readMember, wordIn,
} from './shape.ts'
import { Later } from '../../kernel/util/later.ts'
import { loaders } from './loaders.ts'
import type { AdaptedAgent, Adapter } from '../../kernel/define/adapters.ts'
import type { Has, MemberPlace, Shape } from './shape.ts'

/** How an agent is taken: its adapter, and where its framework keeps its name and description. */
interface Adapted {
  readonly adapter: Later<Adapter>
  /** Left out: `name`. */
  readonly name?: MemberPlace<object>
  /** Left out: `description`. */
  readonly description?: MemberPlace<object>
}

const RUN = 'run: async (prompt, call) => (await '

/** Where the author gave none, it has a new one at each start. */
function nameOfPraisonAi(has: Has): unknown {
  const name = readMember(has('simpleAgent'), 'name') ?? has('name')
  return isLike(name, /^Agent_[a-z0-9]+$/) ? undefined : name
}

const {
  a2aSdk, adk, agUi, aiSdk, genkit, inngest, langchain, llamaIndex, mastra, openaiAgents, strands,
} = loaders
const praisonAi = new Later(async () => (await import('../praisonai.ts')).praisonAi)
const voltAgent = new Later(async () => (await import('../ai-sdk.ts')).voltAgent)

const agents: readonly Shape<Adapted>[] = [
  ['a Runner of the Agent Development Kit', (has) => has(Symbol.for('google.adk.runner')) === true,
    { adapter: adk, name: 'agent.name', description: 'agent.description' }],
  ['an agent of the Agent Development Kit, which only its Runner can run',
    (has) => ['baseAgent', 'workflow.baseNode'].some((name) => (
      has(Symbol.for(`google.adk.${name}`)) === true
    )),
    `agents: [new InMemoryRunner({ agent, appName: 'app' })], with import { InMemoryRunner } from `
      + `'@google/adk'`],
  ['a flow of Genkit', (has) => genkitKeyOf(has).startsWith('/flow/'),
    { adapter: genkit, name: '__action.name', description: '__action.description' }],
  ['a graph of LangGraph without messages in its state',
    (has) => has('lg_is_pregel') === true && has('channels') !== undefined
      && ['messages', '__previous__'].every((name) => readMember(has('channels'), name) === undefined),
    `${RUN}graph.invoke({ question: prompt }, { signal: call.signal })).answer, with the names of its state`],
  ['a graph of LangGraph', (has) => has('lg_is_pregel') === true, { adapter: langchain }],
  ['an agent of LangChain',
    (has) => lacksRun(has) && areFunctions(has, 'invoke', 'stream')
      && readMember(has('graph'), 'lg_is_pregel') === true,
    { adapter: langchain, name: 'options.name', description: 'options.description' }],
  ['an agent of Mastra',
    (has) => has('component') === 'AGENT' && areFunctions(has, 'generate', 'stream', 'getInstructions'),
    {
      adapter: mastra,
      // A method of its own: the text is private.
      description: (has, agent) => areFunctions(has, 'getDescription')
        ? Reflect.apply(has('getDescription') as () => unknown, agent, []) : undefined,
    }],
  ['an agent of VoltAgent',
    (has) => lacksRun(has) && areFunctions(has, 'generateText', 'streamText', 'generateObject')
      && has('instructions') !== undefined,
    { adapter: voltAgent, description: 'purpose' }],
  ['an agent of the AI SDK',
    (has) => lacksRun(has) && areFunctions(has, 'generate', 'stream')
      && (isLike(has('version'), /^agent-v\d+$/) || readMember(has('settings'), 'model') !== undefined),
    { adapter: aiSdk, name: 'id' }],
  ['an agent of the OpenAI Agents SDK',
    (has) => lacksRun(has) && areFunctions(has, 'asTool', 'getSystemPrompt', 'getAllTools', 'clone')
      && Array.isArray(has('handoffs')),
    { adapter: openaiAgents, description: 'handoffDescription' }],
  ['an agent of Strands',
    (has) => lacksRun(has) && areFunctions(has, 'invoke', 'stream', 'cancel', 'takeSnapshot')
      && Array.isArray(has('messages')),
    { adapter: strands }],
  ['a graph or a swarm of Strands, which takes no history',
    (has) => lacksRun(has) && areFunctions(has, 'invoke', 'stream', 'initialize', 'addHook')
      && typeof has('nodes') === 'object',
    'run: (prompt, call) => theirs.stream(prompt, { cancelSignal: call.signal })'],
  ['a graph of LangGraph that is not compiled',
    (has) => lacksRun(has) && areFunctions(has, 'addNode', 'addEdge', 'compile'),
    'agents: [graph.compile()]'],
  ['an agent of PraisonAI',
    (has) => lacksRun(has) && areFunctions(has, 'start', 'chat', 'execute', 'getInstructions'),
    { adapter: praisonAi, name: nameOfPraisonAi }],
  ['a team of PraisonAI, which takes no prompt',
    (has) => lacksRun(has) && areFunctions(has, 'start', 'chat')
      && (has('simpleImpl') !== undefined || has('taskImpl') !== undefined),
    `groups: [{ name: 'Team', agents: [adapt(one, { name: 'One' }), adapt(two, { name: 'Two' })] }]`],
  ['an agent of LlamaIndex', (has) => areFunctions(has, 'run', 'runStream', 'getAgents'),
    { adapter: llamaIndex, name: 'rootAgentName' }],
  ['an agent of Inngest\'s AgentKit', (has) => areFunctions(has, 'run', 'performInference', 'withModel'),
    { adapter: inngest }],
  ['a network of Inngest\'s AgentKit', (has) => areFunctions(has, 'run', 'availableAgents', 'addAgent'),
    { adapter: inngest }],
  ['an agent of AG-UI', (has) => areFunctions(has, 'runAgent', 'abortRun', 'clone', 'setMessages'),
    { adapter: agUi, name: 'agentId' }],
  ['an agent of BeeAI, which holds one conversation',
    (has) => areFunctions(has, 'run', '_run', 'createSnapshot'),
    'run: async (prompt, call) => (await new ReActAgent({ llm, tools, memory: new UnconstrainedMemory() })'
      + '.run({ prompt }, { signal: call.signal })).result.text'],
  ['a client of A2A', (has) => areFunctions(has, 'sendMessage', 'sendMessageStream', 'getAgentCard'),
    { adapter: a2aSdk, name: 'agentCard.name', description: 'agentCard.description' }],
  ['a prompt of Genkit', (has) => /^\/(?:executable-)?prompt\//.test(genkitKeyOf(has)),
    `${RUN}theirs({ prompt })).text`],
  ['an App of the Agent Development Kit', (has) => has(Symbol.for('google.adk.app')) === true,
    'agents: [new Runner({ app, sessionService: new InMemorySessionService() })]'],
  ['a model of the Agent Development Kit', (has) => has(Symbol.for('google.adk.baseModel')) === true,
    `agents: [new InMemoryRunner({ agent: new LlmAgent({ name: 'helper', model }), appName: 'app' })]`],
  ['a chat model of LangChain, and no agent',
    (has) => lacksRun(has) && has('lc_runnable') === true && areFunctions(has, 'bindTools', '_generate'),
    'agents: [createAgent({ model, tools: [] })], with import { createAgent } from '
      + `'langchain'`],
  ['a model of LlamaIndex, and no agent',
    (has) => lacksRun(has) && areFunctions(has, 'chat', 'complete') && has('metadata') !== undefined,
    `agents: [agent({ name: 'Helper', llm, tools: [] })], with import { agent } from '@llamaindex/workflow'`],
  ['a client of OpenAI, and no agent',
    (has) => typeof readMember(readMember(has('chat'), 'completions'), 'create') === 'function',
    `agents: [openaiAgent({ name: 'Helper', model: '…' })]`],
  ['a client of Anthropic, and no agent',
    (has) => lacksRun(has) && ['create', 'stream'].every((name) => (
      typeof readMember(has('messages'), name) === 'function'
    )),
    `run: async (prompt) => (await client.messages.create({ model: '…', max_tokens: 1024, messages: [{ `
      + `role: 'user', content: prompt }] })).content[0].text`],
  ['a client of Gemini, and no agent',
    (has) => typeof readMember(has('models'), 'generateContent') === 'function',
    `run: async (prompt) => (await client.models.generateContent({ model: '…', contents: prompt })).text`],
  ['a client of Ollama, and no agent',
    (has) => lacksRun(has) && areFunctions(has, 'chat', 'generate', 'embed', 'pull'),
    `agents: [openaiAgent({ name: 'Helper', baseUrl: 'http://localhost:11434/v1', model: '…' })]`],
  ['a Genkit, which has flows', (has) => areFunctions(has, 'defineFlow', 'generate', 'generateStream'),
    `agents: [ai.defineFlow('helper', async (prompt) => (await ai.generate(prompt)).text)]`],
  ['a Runner of the OpenAI Agents SDK, which runs the agents that it is given',
    (has) => areFunctions(has, 'run') && ['inputGuardrailDefs', 'outputGuardrailDefs'].every((name) => (
      Array.isArray(has(name))
    )), 'agents: [agent]'],
  ['a model of the AI SDK, and no agent', (has) => areFunctions(has, 'doGenerate', 'doStream'),
    `agents: [new ToolLoopAgent({ id: 'Helper', model })], with import { ToolLoopAgent } from 'ai'`],
  ['a Mastra, which has agents', (has) => lacksRun(has) && areFunctions(has, 'getAgent', 'listAgents'),
    'agents: Object.values(mastra.listAgents())'],
  ['a Mastra, which has agents', (has) => lacksRun(has) && areFunctions(has, 'getAgent', 'getAgents'),
    'agents: Object.values(mastra.getAgents())'],
  ['a Runnable of LangChain, which does not declare what it takes',
    (has) => lacksRun(has) && has('lc_runnable') === true && has('schema') === undefined
      && areFunctions(has, 'invoke', 'stream'),
    'run: async (prompt, call) => (await chain.invoke(prompt, { signal: call.signal })).text'],
]

/**
 * An agent of another framework, ready to be defined; undefined for anything else. Throws `TypeError` for
 * what cannot be taken, with what to write instead.
 */
export function adaptAgent(thing: unknown): AdaptedAgent | undefined {
  const known = findShape(agents, thing)
  if (known === undefined) return undefined
  const { what, how, has } = known
  if (typeof how === 'string') {
    const write = /^(?:agents|groups): /.test(how) ? how : `agents: [{ name: 'Helper', ${how} }]`
    throw new TypeError(`This is ${what}. Write ${write}`)
  }
  const agent = thing as object
  const read = (place: MemberPlace<object>): string | undefined => (
    wordIn(typeof place === 'string' ? memberAt(has, place) : place(has, agent))
  )
  return {
    what,
    name: read(how.name ?? 'name'),
    description: read(how.description ?? 'description'),
    async* run(prompt, call) {
      await how.adapter.load()
      yield* how.adapter.loaded.run(agent, prompt, call)
      // Many end quietly when they are aborted.
      call.signal.throwIfAborted()
    },
  }
}

/** What others call the function that answers. */
const verbs = [
  'generate', 'invoke', 'chat', 'ask', 'respond', 'query', 'complete', 'execute', 'call', 'prompt', 'process',
  'handle', 'send', 'start',
]

const MAX_SHOWN = 5

/**
 * A sentence with what was looked for, what is there, and how to write an agent that uses it. Undefined for
 * what has a `run`, and for what no author means as an agent: a plain object, one of the language.
 */
export function describeUnknown(thing: object): string | undefined {
  const has = membersOf(thing)
  const { name } = Object(has('constructor')) as { readonly name?: unknown }
  if (typeof has('run') === 'function' || typeof name !== 'string' || name === '') return undefined
  if (has('constructor') === Reflect.get(globalThis, name)) return undefined
  const functions = functionsOf(thing)
  const found = functions.length === 0 ? 'no function' : functions.slice(0, MAX_SHOWN).join(', ')
  const verb = verbs.find((one) => functions.includes(one)) ?? functions[0] ?? 'generate'
  return `This is an object of the class ${name} with ${found} and no 'run', and no agent of a framework `
    + `that is known. Write agents: [{ name: 'Helper', run: (prompt, call) => theirs.${verb}(prompt, `
    + '{ signal: call.signal }) }]'
}

/** The names of its functions, those of its classes too. No getter is called. */
function functionsOf(thing: object): readonly string[] {
  const names = new Set<string>()
  for (let one = thing; one !== Object.prototype && one !== null;) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(one))) {
      if (typeof value === 'function' && name !== 'constructor' && !name.startsWith('_')) names.add(name)
    }
    one = Object.getPrototypeOf(one) as object
  }
  return [...names]
}
