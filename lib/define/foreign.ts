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
    is: (has) => has(Symbol.for('google.adk.baseAgent')) !== undefined
      || has(Symbol.for('google.adk.runner')) !== undefined,
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
  {
    what: 'an agent of BeeAI', is: (has) => isFunction(has, 'run', '_run', 'createSnapshot'),
    write: 'run: async (prompt, call) => (await agent.run({ prompt }, { signal: call.signal })).result.text',
  },
  {
    what: 'a prompt of Genkit', is: (has) => /^\/(?:executable-)?prompt\//.test(keyOf(has)),
    write: 'run: async (prompt, call) => (await theirs({ prompt })).text',
  },
  {
    what: 'a model, and no agent', is: (has) => isFunction(has, 'doGenerate', 'doStream'),
    write: `run: async (prompt, call) => (await generateText({ model, messages: ${MESSAGES}, `
      + `abortSignal: call.signal })).text, with import { generateText } from 'ai'`,
  },
  {
    what: 'a Mastra, which has agents',
    is: (has) => lacksRun(has) && isFunction(has, 'getAgent', 'listAgents'),
    write: `run: async (prompt, call) => (await mastra.getAgent('helper').generate(${MESSAGES}, `
      + '{ abortSignal: call.signal })).text',
  },
  {
    what: 'a client of A2A', is: (has) => isFunction(has, 'sendMessage', 'sendMessageStream', 'getAgentCard'),
    write: 'run: async (prompt, call) => textOf(await client.sendMessage({ … })), '
      + 'which makes the text of what it answers',
  },
  {
    what: 'a Runnable of LangChain, which does not say what it takes',
    is: (has) => lacksRun(has) && has('lc_runnable') === true && has('schema') === undefined
      && isFunction(has, 'invoke', 'stream'),
    write: 'run: async (prompt, call) => (await chain.invoke(prompt, { signal: call.signal })).text',
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
  {
    what: 'a tool of Strands',
    is: (has) => lacksRun(has) && isFunction(has, 'invoke', 'stream') && has('toolSpec') !== undefined,
    write: 'inputSchema: theirs.toolSpec.inputSchema, run: (args) => theirs.invoke(args)',
  },
  {
    what: 'a tool of VoltAgent',
    is: (has) => lacksRun(has) && isFunction(has, 'execute') && isStandard(has('parameters')),
    write: 'inputSchema: theirs.parameters, run: (args) => theirs.execute(args, {})',
  },
  {
    what: 'a tool of LlamaIndex',
    is: (has) => lacksRun(has) && isFunction(has, 'call')
      && memberOf(has('metadata'), 'parameters') !== undefined,
    write: 'inputSchema: theirs.metadata.parameters, run: (args) => theirs.call(args)',
  },
  {
    what: 'a tool of Inngest\'s AgentKit',
    is: (has) => lacksRun(has) && isFunction(has, 'handler') && isStandard(has('parameters')),
    write: 'inputSchema: theirs.parameters, run: (args) => theirs.handler(args, {})',
  },
  {
    what: 'a tool of the Anthropic SDK',
    is: (has) => isFunction(has, 'run', 'parse') && has('input_schema') !== undefined,
    write: 'inputSchema: theirs.input_schema, run: (args) => theirs.run(theirs.parse(args))',
  },
  {
    what: 'a tool of the Claude Agent SDK',
    is: (has) => lacksRun(has) && isFunction(has, 'handler') && isShape(has('inputSchema')),
    write: 'inputSchema: z.object(theirs.inputSchema), run: (args) => theirs.handler(args, {})',
  },
  {
    what: 'a client of MCP, which has many tools',
    is: (has) => lacksRun(has) && isFunction(has, 'listTools', 'callTool'),
    write: `inputSchema: { … }, run: (args) => client.callTool({ name: 'theirs', arguments: args })`,
  },
  {
    what: 'a server of MCP, whose tools a client has to ask for',
    is: (has) => lacksRun(has) && isFunction(has, 'registerTool', 'connect'),
    write: `inputSchema: { … }, run: (args) => client.callTool({ name: 'theirs', arguments: args })`,
  },
]

/** What an agent of another framework says on its way, or in all, with its text deep within. */
const results: readonly Shape[] = [
  {
    what: 'a chunk of OpenAI\'s chat completions', is: (has) => has('object') === 'chat.completion.chunk',
    write: `for await (const { choices: [first] } of stream) yield first?.delta.content ?? ''`,
  },
  {
    what: 'a chat completion of OpenAI\'s', is: (has) => has('object') === 'chat.completion',
    write: 'return completion.choices[0].message.content',
  },
  {
    what: 'a response of OpenAI\'s',
    is: (has) => has('object') === 'response' && Array.isArray(has('output')),
    write: 'return response.output_text',
  },
  {
    what: 'an event of OpenAI\'s responses',
    is: (has) => typeof has('sequence_number') === 'number' && isTyped(has, /^response\./),
    write: `for await (const event of stream) if (event.type === 'response.output_text.delta') `
      + `yield event.delta`,
  },
  {
    what: 'an event of the OpenAI Agents SDK',
    is: (has) => isTyped(has, /^(?:raw_model_stream|run_item_stream|agent_updated_stream)_event$/),
    write: 'yield* result.toTextStream()',
  },
  {
    what: 'an event of Anthropic\'s',
    is: (has) => isTyped(has, /^(?:message|content_block)_(?:start|delta|stop)$/),
    write: `for await (const event of stream) if (event.type === 'content_block_delta' `
      + `&& event.delta.type === 'text_delta') yield event.delta.text`,
  },
  {
    what: 'an event of Strands',
    is: (has) => isTyped(has, /^(?:modelStreamUpdate|messageAdded|(?:before|after)[A-Z]\w*)Event$/),
    write: `for await (const { type, event } of agent.stream(prompt)) if (type === 'modelStreamUpdateEvent' `
      + `&& event.delta?.type === 'textDelta') yield event.delta.text`,
  },
  {
    what: 'an event of the Agent Development Kit',
    is: (has) => typeof has('invocationId') === 'string' && typeof has('author') === 'string',
    write: `for await (const { content } of events) for (const { text } of content?.parts ?? []) `
      + `yield text ?? ''`,
  },
  {
    what: 'a result of LlamaIndex',
    is: (has) => ['result', 'state'].every((name) => memberOf(has('data'), name) !== undefined),
    write: 'return (await agent.run(prompt)).data.result',
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
  if (Object.hasOwn(thing, 'run') && Object.hasOwn(thing, 'name') && !Object.hasOwn(thing, 'input_schema')
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
  if (isMessage(result)) return textIn(result)
  if (Array.isArray(has('steps')) && 'finishReason' in result && 'usage' in result) return textIn(result)
  const prototype: unknown = Object.getPrototypeOf(result)
  if (prototype === Object.prototype || prototype === null) {
    const messages = has('messages')
    const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined
    return isMessage(last) ? textIn(last) : undefined
  }
  if ('finalOutput' in result && Array.isArray(has('newItems'))) {
    const output = has('finalOutput')
    return typeof output === 'string' ? output : JSON.stringify(output) ?? ''
  }
  return has('type') === 'agentResult' && 'stopReason' in result ? String(result) : undefined
}

/**
 * What an agent of another framework has said with its text deep within, and what to write for it. Undefined
 * for anything else.
 */
export function foreignResult(result: object): string | undefined {
  const shape = results.find(({ is }) => is((member) => Reflect.get(result, member)))
  if (shape !== undefined) return `${shape.what}; write ${shape.write}`
  const isState = Object.values(result).some((node: unknown) => {
    const messages = memberOf(node, 'messages')
    return isMessage(Array.isArray(messages) ? messages.at(-1) : messages)
  })
  return isState ? `a state of LangGraph; write ${PIECES_OF_GRAPH}` : undefined
}

const PIECES_OF_GRAPH = `for await (const [message] of await graph.stream({ messages }, `
  + `{ streamMode: 'messages' })) yield message.text`
const graphModes: ReadonlySet<unknown> = new Set([
  'messages', 'updates', 'values', 'custom', 'debug', 'tasks', 'checkpoints',
])

/** A piece of a graph's stream that is a list: its message, or what it is and what to write for it. */
export function foreignPair(list: readonly unknown[]): object | string | undefined {
  const [first, second] = list
  if (list.length !== 2 || typeof second !== 'object' || second === null) return undefined
  if (isMessage(first) && !isMessage(second)) return first
  return graphModes.has(first) ? `a piece of LangGraph's with its mode; write ${PIECES_OF_GRAPH}` : undefined
}

/**
 * The stream of a whole result of `streamText()`, which is no stream itself: of its parts, since its texts
 * say nothing of an error. Undefined for anything else.
 */
export function foreignStream(
  result: unknown,
): { readonly parts: unknown; readonly texts: unknown } | undefined {
  if (typeof result !== 'object' || result === null || !('textStream' in result)) return undefined
  return 'fullStream' in result ? { parts: result.fullStream, texts: result.textStream } : undefined
}

/** What the first part of a `fullStream` has. */
const beginning: ReadonlySet<string> = new Set(['type', 'messageId', 'runId', 'from', 'payload'])

/** Whether a piece is the first part of a `fullStream`. */
export function beginsParts(piece: object): boolean {
  return 'type' in piece && piece.type === 'start' && Object.keys(piece).every((name) => beginning.has(name))
}

/** What a part says to a reader; '' for all that led to it. Throws what a part of an error holds. */
export function textOfPart(part: object): string {
  const { type, error, text, delta, payload }: Readonly<Record<string, unknown>> = { ...part }
  if (type === 'error') throw error ?? memberOf(payload, 'error')
  if (type === 'abort') throw new Error('The stream of the model was aborted')
  const said = type === 'text-delta' ? text ?? delta ?? memberOf(payload, 'text') : ''
  return typeof said === 'string' ? said : ''
}

/** A message of LangChain. */
function isMessage(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'lc_kwargs' in value && 'text' in value
}

function textIn(value: object): string | undefined {
  const text: unknown = Reflect.get(value, 'text')
  return typeof text === 'string' ? text : undefined
}

function isTyped(has: Has, pattern: RegExp): boolean {
  const type = has('type')
  return typeof type === 'string' && pattern.test(type)
}

function memberOf(value: unknown, member: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, member) : undefined
}

/** Whether a value is a schema of a library. */
function isStandard(value: unknown): boolean {
  return memberOf(value, '~standard') !== undefined
}

/** Whether a value is properties alone, each of them a schema of a library. */
function isShape(value: unknown): boolean {
  const properties = typeof value === 'object' && value !== null ? Object.values(value) : []
  return properties.length > 0 && properties.every(isStandard)
}

function isPregel(graph: unknown): boolean {
  return typeof graph === 'object' && graph !== null && Reflect.get(graph, 'lg_is_pregel') === true
}

function isWithModel(settings: unknown): boolean {
  return typeof settings === 'object' && settings !== null && Reflect.get(settings, 'model') !== undefined
}
