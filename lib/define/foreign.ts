/**
 * What agents, tools and results of other frameworks look like, and what to write for each. They are told by
 * their shape: nothing of theirs is imported, and no member is called. What has a `run` of its own and is
 * written as `{ … }` is an author's, whatever else it has.
 */

/** What it is, whether a value is one, and what to write in its place. */
interface Shape {
  readonly what: string
  readonly is: (has: Has) => boolean
  readonly write: string
}

/** Reads a member, of its prototype too. A getter that throws is no member. */
type Has = (member: PropertyKey) => unknown

const isFunction = (has: Has, ...members: readonly string[]): boolean => (
  members.every((member) => typeof has(member) === 'function')
)
const lacksRun = (has: Has): boolean => typeof has('run') !== 'function'
const keyOf = (has: Has): string => {
  const action = has('__action')
  const key: unknown = typeof action === 'object' && action !== null ? Reflect.get(action, 'key') : undefined
  return typeof key === 'string' ? key : ''
}

const MESSAGES = `[...call.history, { role: 'user', content: prompt }]`

const agents: readonly Shape[] = [
  {
    what: 'an agent of the Agent Development Kit, which only its Runner can run',
    is: (has) => has(Symbol.for('google.adk.baseAgent')) !== undefined,
    write: `run: async function* (prompt, call) { const runner = new InMemoryRunner({ agent, appName: 'app' })
  const { id } = await runner.sessionService.createSession({ appName: 'app', userId: 'user' })
  for await (const { content, errorCode } of runner.runAsync({ userId: 'user', sessionId: id, `
      + `newMessage: { role: 'user', parts: [{ text: prompt }] }, abortSignal: call.signal })) `
      + `{ if (errorCode) throw new Error(errorCode); for (const { text } of content?.parts ?? []) `
      + `if (text) yield text } }`,
  },
  {
    what: 'a flow of Genkit', is: (has) => keyOf(has).startsWith('/flow/'),
    write: 'run: (prompt, call) => flow(prompt)',
  },
  {
    what: 'a graph of LangGraph', is: (has) => has('lg_is_pregel') === true,
    write: `run: async (prompt, call) => (await graph.invoke({ messages: ${MESSAGES} }, `
      + '{ signal: call.signal })).messages.at(-1).text',
  },
  {
    what: 'an agent of LangChain',
    is: (has) => lacksRun(has) && isFunction(has, 'invoke', 'stream') && isPregel(has('graph')),
    write: `run: async (prompt, call) => (await agent.invoke({ messages: ${MESSAGES} }, `
      + '{ signal: call.signal })).messages.at(-1).text',
  },
  {
    what: 'an agent of Mastra',
    is: (has) => has('component') === 'AGENT' && isFunction(has, 'generate', 'stream', 'getInstructions'),
    write: `run: async (prompt, call) => (await agent.generate(${MESSAGES}, `
      + '{ abortSignal: call.signal })).text',
  },
  {
    what: 'an agent of VoltAgent',
    is: (has) => lacksRun(has) && isFunction(has, 'generateText', 'streamText', 'generateObject')
      && has('instructions') !== undefined,
    write: `run: async (prompt, call) => (await agent.generateText(${MESSAGES}, `
      + '{ abortSignal: call.signal })).text',
  },
  {
    what: 'an agent of the AI SDK',
    is: (has) => lacksRun(has) && isFunction(has, 'generate', 'stream')
      && (/^agent-v\d+$/.test(String(has('version'))) || isWithModel(has('settings'))),
    write: `run: async (prompt, call) => (await agent.generate({ messages: ${MESSAGES}, `
      + 'abortSignal: call.signal })).text',
  },
  {
    what: 'an agent of the OpenAI Agents SDK',
    is: (has) => lacksRun(has) && isFunction(has, 'asTool', 'getSystemPrompt', 'getAllTools', 'clone')
      && Array.isArray(has('handoffs')),
    write: `run: async (prompt, call) => (await run(agent, prompt, { signal: call.signal })).finalOutput, `
      + `with import { run } from '@openai/agents'`,
  },
  {
    what: 'an agent of Strands, which holds one conversation only',
    is: (has) => lacksRun(has) && isFunction(has, 'invoke', 'stream', 'cancel', 'takeSnapshot')
      && Array.isArray(has('messages')),
    write: 'run: async (prompt, call) => String(await new Agent({ model, tools }).invoke(prompt, '
      + '{ cancelSignal: call.signal }))',
  },
  {
    what: 'an agent of PraisonAI',
    is: (has) => lacksRun(has) && isFunction(has, 'start', 'chat', 'execute', 'getInstructions'),
    write: 'run: (prompt, call) => agent.chat(prompt)',
  },
  {
    what: 'an agent of LlamaIndex', is: (has) => isFunction(has, 'run', 'runStream', 'getAgents'),
    write: 'run: async (prompt, call) => (await agent.run(prompt, { chatHistory: [...call.history] }))'
      + '.data.result',
  },
  {
    what: 'an agent of Inngest\'s AgentKit',
    is: (has) => isFunction(has, 'run', 'performInference', 'withModel'),
    write: `run: async (prompt, call) => (await agent.run(prompt)).output`
      + `.findLast(({ type }) => type === 'text')?.content`,
  },
  {
    what: 'a network of Inngest\'s AgentKit',
    is: (has) => isFunction(has, 'run', 'availableAgents', 'addAgent'),
    write: `run: async (prompt, call) => (await network.run(prompt)).state.results.at(-1)?.output`
      + `.findLast(({ type }) => type === 'text')?.content`,
  },
  {
    what: 'an agent of AG-UI', is: (has) => isFunction(has, 'runAgent', 'abortRun', 'clone', 'setMessages'),
    write: 'run: async (prompt, call) => { const one = agent.clone(); '
      + `one.setMessages([{ id: '1', role: 'user', content: prompt }]); `
      + `return (await one.runAgent()).newMessages.at(-1)?.content }`,
  },
]

const tools: readonly Shape[] = [
  {
    what: 'a tool of the Agent Development Kit',
    is: (has) => has(Symbol.for('google.adk.baseTool')) !== undefined,
    write: 'inputSchema: theirs.parameters, run: (args) => theirs.runAsync({ args, toolContext: {} })',
  },
  {
    what: 'a tool of Genkit', is: (has) => keyOf(has).startsWith('/tool/'),
    write: `inputSchema: { type: 'object', properties: { … } }, run: (args) => theirs(args)`,
  },
  {
    what: 'a tool of LangChain',
    is: (has) => lacksRun(has) && has('lc_runnable') === true && has('schema') !== undefined,
    write: 'inputSchema: theirs.schema, run: (args, call) => theirs.invoke(args, { signal: call.signal })',
  },
  {
    what: 'a tool of the OpenAI Agents SDK',
    is: (has) => lacksRun(has) && has('type') === 'function' && isFunction(has, 'invoke')
      && has('parameters') !== undefined,
    write: 'inputSchema: theirs.parameters, run: (args, call) => theirs.invoke(undefined, '
      + 'JSON.stringify(args), { signal: call.signal })',
  },
  {
    what: 'a tool of Mastra',
    is: (has) => lacksRun(has) && isFunction(has, 'execute') && typeof has('id') === 'string'
      && has('inputSchema') !== undefined,
    write: 'inputSchema: theirs.inputSchema, run: (args, call) => theirs.execute(args, '
      + '{ abortSignal: call.signal })',
  },
  {
    what: 'a tool of the AI SDK',
    is: (has) => lacksRun(has) && isFunction(has, 'execute') && has('inputSchema') !== undefined
      && has('id') === undefined && has('name') === undefined,
    write: 'inputSchema: theirs.inputSchema, run: (args, call) => theirs.execute(args, '
      + `{ toolCallId: call.requestId, messages: [], abortSignal: call.signal })`,
  },
]

/**
 * Throws `TypeError` for an agent or a tool of another framework: what it is, and what to write instead. What
 * is written as `{ … }` with a function `run` and a name is never one, but for those that bear a brand.
 */
export function refuseForeign(thing: unknown): void {
  if ((typeof thing !== 'object' && typeof thing !== 'function') || thing === null) return
  const has: Has = (member) => {
    try {
      return Reflect.get(thing, member)
    } catch {
      return undefined
    }
  }
  if (Object.hasOwn(thing, 'run') && Object.hasOwn(thing, 'name')
    && Object.getPrototypeOf(thing) === Object.prototype) return
  const agent = agents.find(({ is }) => is(has))
  if (agent !== undefined) {
    throw new TypeError(`This is ${agent.what}. Write agents: [{ name: 'Helper', ${agent.write} }]`)
  }
  const tool = tools.find(({ is }) => is(has))
  if (tool === undefined) return
  const asks = ['needsApproval', 'requireApproval'].map((member) => has(member))
  const isAsking = asks.some((asked) => asked !== undefined && asked !== false)
  const consent = isAsking ? '. It waits for a person\'s approval: ask in run, by call.elicit, before' : ''
  throw new TypeError(`This is ${tool.what}. Write tools: [defineTool({ name: 'theirs', `
    + `description: '…', ${tool.write} })]${consent}`)
}

/**
 * The text of what an agent of another framework has answered: in its result it stands beside all that led
 * to it. Undefined for anything else; what is written as `{ … }` is an author's own.
 */
export function foreignText(result: object): string | undefined {
  const has: Has = (member) => Reflect.get(result, member)
  const prototype: unknown = Object.getPrototypeOf(result)
  if (prototype === Object.prototype || prototype === null) {
    const messages = has('messages')
    const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined
    return isMessage(last) ? textIn(last) : undefined
  }
  if (isMessage(result)) return textIn(result)
  if (Array.isArray(has('steps')) && 'finishReason' in result && 'usage' in result) return textIn(result)
  if ('finalOutput' in result && Array.isArray(has('newItems'))) {
    const output = has('finalOutput')
    return typeof output === 'string' ? output : undefined
  }
  return has('type') === 'agentResult' && 'stopReason' in result ? String(result) : undefined
}

/** The texts of a whole result of `streamText()`, which is no stream itself. Undefined for anything else. */
export function foreignStream(result: unknown): unknown {
  if (typeof result !== 'object' || result === null || !('textStream' in result)) return undefined
  return 'fullStream' in result && 'finishReason' in result ? result.textStream : undefined
}

/** Whether a piece is the first part of a `fullStream`. */
export function beginsParts(piece: object): boolean {
  return 'type' in piece && piece.type === 'start'
    && Object.keys(piece).every((name) => name === 'type' || name === 'messageId')
}

/** What a part says to a reader; '' for all that led to it. Throws what a part of an error holds. */
export function textOfPart(part: object): string {
  const type: unknown = Reflect.get(part, 'type')
  if (type === 'error') throw Reflect.get(part, 'error')
  return type === 'text-delta' ? textIn(part) ?? '' : ''
}

/** A message of LangChain. */
function isMessage(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'lc_kwargs' in value && 'text' in value
}

function textIn(value: object): string | undefined {
  const text: unknown = Reflect.get(value, 'text')
  return typeof text === 'string' ? text : undefined
}

function isPregel(graph: unknown): boolean {
  return typeof graph === 'object' && graph !== null && Reflect.get(graph, 'lg_is_pregel') === true
}

function isWithModel(settings: unknown): boolean {
  return typeof settings === 'object' && settings !== null && Reflect.get(settings, 'model') !== undefined
}
