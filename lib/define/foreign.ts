/**
 * What agents, tools and results of other frameworks look like, and what to write for each. They are known by
 * their shape: nothing of theirs is imported, and no member is called. An object written as `{ … }` with a
 * `run` of its own is an author's, whatever else it has.
 */

/** What it is, whether a value is one, and what to write instead. */
type Shape = readonly [what: string, is: (has: Has) => boolean, write: string]

/** Reads a member, of its prototype too. A getter that throws is no member. */
type Has = (member: PropertyKey) => unknown

const isFunction = (has: Has, ...members: readonly string[]): boolean => (
  members.every((member) => typeof has(member) === 'function')
)
const lacksRun = (has: Has): boolean => typeof has('run') !== 'function'
const keyOf = (has: Has): string => {
  const key = memberOf(has('__action'), 'key')
  return typeof key === 'string' ? key : ''
}

const MESSAGES = `[...call.history, { role: 'user', content: prompt }]`

const RUN = 'run: async (prompt, call) => (await '

const agents: readonly Shape[] = [
  ['an agent of the Agent Development Kit, which only its Runner can run',
    (has) => has(Symbol.for('google.adk.baseAgent')) !== undefined
      || has(Symbol.for('google.adk.runner')) !== undefined,
    `run: async function* (prompt, call) { const runner = new InMemoryRunner({ agent, appName: 'app' })
  const { id } = await runner.sessionService.createSession({ appName: 'app', userId: 'user' })
  for await (const { content, errorCode } of runner.runAsync({ userId: 'user', sessionId: id, `
      + `newMessage: { role: 'user', parts: [{ text: prompt }] }, abortSignal: call.signal })) `
      + `{ if (errorCode) throw new Error(errorCode); for (const { text } of content?.parts ?? []) `
      + `if (text) yield text } }`],
  ['a flow of Genkit', (has) => keyOf(has).startsWith('/flow/'),
    'run: (prompt, call) => flow(prompt)'],
  ['a graph of LangGraph', (has) => has('lg_is_pregel') === true,
    `${RUN}graph.invoke({ messages: ${MESSAGES} }, { signal: call.signal })).messages.at(-1).text`],
  ['an agent of LangChain',
    (has) => lacksRun(has) && isFunction(has, 'invoke', 'stream')
      && memberOf(has('graph'), 'lg_is_pregel') === true,
    `${RUN}agent.invoke({ messages: ${MESSAGES} }, { signal: call.signal })).messages.at(-1).text`],
  ['an agent of Mastra',
    (has) => has('component') === 'AGENT' && isFunction(has, 'generate', 'stream', 'getInstructions'),
    `${RUN}agent.generate(${MESSAGES}, { abortSignal: call.signal })).text`],
  ['an agent of VoltAgent',
    (has) => lacksRun(has) && isFunction(has, 'generateText', 'streamText', 'generateObject')
      && has('instructions') !== undefined,
    `${RUN}agent.generateText(${MESSAGES}, { abortSignal: call.signal })).text`],
  ['an agent of the AI SDK',
    (has) => lacksRun(has) && isFunction(has, 'generate', 'stream')
      && (/^agent-v\d+$/.test(String(has('version'))) || memberOf(has('settings'), 'model') !== undefined),
    `${RUN}agent.generate({ messages: ${MESSAGES}, abortSignal: call.signal })).text`],
  ['an agent of the OpenAI Agents SDK',
    (has) => lacksRun(has) && isFunction(has, 'asTool', 'getSystemPrompt', 'getAllTools', 'clone')
      && Array.isArray(has('handoffs')),
    `${RUN}run(agent, prompt, { signal: call.signal })).finalOutput, with import { run } from `
      + `'@openai/agents'`],
  ['an agent of Strands, which holds one conversation only',
    (has) => lacksRun(has) && isFunction(has, 'invoke', 'stream', 'cancel', 'takeSnapshot')
      && Array.isArray(has('messages')),
    'run: async (prompt, call) => String(await new Agent({ model, tools }).invoke(prompt, '
      + '{ cancelSignal: call.signal }))'],
  ['an agent of PraisonAI',
    (has) => lacksRun(has) && isFunction(has, 'start', 'chat', 'execute', 'getInstructions'),
    'run: (prompt, call) => agent.chat(prompt)'],
  ['an agent of LlamaIndex', (has) => isFunction(has, 'run', 'runStream', 'getAgents'),
    `${RUN}agent.run(prompt, { chatHistory: [...call.history] })).data.result`],
  ['an agent of Inngest\'s AgentKit', (has) => isFunction(has, 'run', 'performInference', 'withModel'),
    `${RUN}agent.run(prompt)).output.findLast(({ type }) => type === 'text')?.content`],
  ['a network of Inngest\'s AgentKit', (has) => isFunction(has, 'run', 'availableAgents', 'addAgent'),
    `${RUN}network.run(prompt)).state.results.at(-1)?.output.findLast(({ type }) => type === `
      + `'text')?.content`],
  ['an agent of AG-UI', (has) => isFunction(has, 'runAgent', 'abortRun', 'clone', 'setMessages'),
    'run: async (prompt, call) => { const one = agent.clone(); '
      + `one.setMessages([{ id: '1', role: 'user', content: prompt }]); `
      + `return (await one.runAgent()).newMessages.at(-1)?.content }`],
  ['an agent of BeeAI', (has) => isFunction(has, 'run', '_run', 'createSnapshot'),
    `${RUN}agent.run({ prompt }, { signal: call.signal })).result.text`],
  ['a prompt of Genkit', (has) => /^\/(?:executable-)?prompt\//.test(keyOf(has)),
    `${RUN}theirs({ prompt })).text`],
  ['a model, and no agent', (has) => isFunction(has, 'doGenerate', 'doStream'),
    `${RUN}generateText({ model, messages: ${MESSAGES}, abortSignal: call.signal })).text, with import { `
      + `generateText } from 'ai'`],
  ['a Mastra, which has agents', (has) => lacksRun(has) && isFunction(has, 'getAgent', 'listAgents'),
    `${RUN}mastra.getAgent('helper').generate(${MESSAGES}, { abortSignal: call.signal })).text`],
  ['a client of A2A', (has) => isFunction(has, 'sendMessage', 'sendMessageStream', 'getAgentCard'),
    'run: async (prompt, call) => textOf(await client.sendMessage({ … })), '
      + 'which makes the text of what it answers'],
  ['a Runnable of LangChain, which does not declare what it takes',
    (has) => lacksRun(has) && has('lc_runnable') === true && has('schema') === undefined
      && isFunction(has, 'invoke', 'stream'),
    'run: async (prompt, call) => (await chain.invoke(prompt, { signal: call.signal })).text'],
]

const tools: readonly Shape[] = [
  ['a tool of the Agent Development Kit', (has) => has(Symbol.for('google.adk.baseTool')) !== undefined,
    'inputSchema: theirs.parameters, run: (args) => theirs.runAsync({ args, toolContext: {} })'],
  ['a tool of Genkit', (has) => keyOf(has).startsWith('/tool/'),
    `inputSchema: { type: 'object', properties: { … } }, run: (args) => theirs(args)`],
  ['a tool of LangChain',
    (has) => lacksRun(has) && has('lc_runnable') === true && has('schema') !== undefined,
    'inputSchema: theirs.schema, run: (args, call) => theirs.invoke(args, { signal: call.signal })'],
  ['a tool of the OpenAI Agents SDK',
    (has) => lacksRun(has) && has('type') === 'function' && isFunction(has, 'invoke')
      && has('parameters') !== undefined,
    'inputSchema: theirs.parameters, run: (args, call) => theirs.invoke(undefined, '
      + 'JSON.stringify(args), { signal: call.signal })'],
  ['a tool of Mastra',
    (has) => lacksRun(has) && isFunction(has, 'execute') && typeof has('id') === 'string'
      && has('inputSchema') !== undefined,
    'inputSchema: theirs.inputSchema, run: (args, call) => theirs.execute(args, '
      + '{ abortSignal: call.signal })'],
  ['a tool of the AI SDK',
    (has) => lacksRun(has) && isFunction(has, 'execute') && has('inputSchema') !== undefined
      && has('id') === undefined && has('name') === undefined,
    'inputSchema: theirs.inputSchema, run: (args, call) => theirs.execute(args, '
      + `{ toolCallId: call.requestId, messages: [], abortSignal: call.signal })`],
  ['a tool of Strands',
    (has) => lacksRun(has) && isFunction(has, 'invoke', 'stream') && has('toolSpec') !== undefined,
    'inputSchema: theirs.toolSpec.inputSchema, run: (args) => theirs.invoke(args)'],
  ['a tool of VoltAgent',
    (has) => lacksRun(has) && isFunction(has, 'execute') && isStandard(has('parameters')),
    'inputSchema: theirs.parameters, run: (args) => theirs.execute(args, {})'],
  ['a tool of LlamaIndex',
    (has) => lacksRun(has) && isFunction(has, 'call')
      && memberOf(has('metadata'), 'parameters') !== undefined,
    'inputSchema: theirs.metadata.parameters, run: (args) => theirs.call(args)'],
  ['a tool of Inngest\'s AgentKit',
    (has) => lacksRun(has) && isFunction(has, 'handler') && isStandard(has('parameters')),
    'inputSchema: theirs.parameters, run: (args) => theirs.handler(args, {})'],
  ['a tool of the Anthropic SDK',
    (has) => isFunction(has, 'run', 'parse') && has('input_schema') !== undefined,
    'inputSchema: theirs.input_schema, run: (args) => theirs.run(theirs.parse(args))'],
  ['a tool of the Claude Agent SDK',
    (has) => lacksRun(has) && isFunction(has, 'handler') && isShape(has('inputSchema')),
    'inputSchema: z.object(theirs.inputSchema), run: (args) => theirs.handler(args, {})'],
  ['a client of MCP, which has many tools',
    (has) => lacksRun(has) && isFunction(has, 'listTools', 'callTool'),
    `inputSchema: { … }, run: (args) => client.callTool({ name: 'theirs', arguments: args })`],
  ['a server of MCP, whose tools a client has to ask for',
    (has) => lacksRun(has) && isFunction(has, 'registerTool', 'connect'),
    `inputSchema: { … }, run: (args) => client.callTool({ name: 'theirs', arguments: args })`],
]

/** What an agent of another framework gives as a piece or as a whole, with its text deep within. */
const results: readonly Shape[] = [
  ['a chunk of OpenAI\'s chat completions', (has) => has('object') === 'chat.completion.chunk',
    `for await (const { choices: [first] } of stream) yield first?.delta.content ?? ''`],
  ['a chat completion of OpenAI\'s', (has) => has('object') === 'chat.completion',
    'return completion.choices[0].message.content'],
  ['a response of OpenAI\'s', (has) => has('object') === 'response' && Array.isArray(has('output')),
    'return response.output_text'],
  ['an event of OpenAI\'s responses',
    (has) => typeof has('sequence_number') === 'number' && isTyped(has, /^response\./),
    `for await (const event of stream) if (event.type === 'response.output_text.delta') `
      + `yield event.delta`],
  ['an event of the OpenAI Agents SDK',
    (has) => isTyped(has, /^(?:raw_model_stream|run_item_stream|agent_updated_stream)_event$/),
    'yield* result.toTextStream()'],
  ['an event of Anthropic\'s', (has) => isTyped(has, /^(?:message|content_block)_(?:start|delta|stop)$/),
    `for await (const event of stream) if (event.type === 'content_block_delta' `
      + `&& event.delta.type === 'text_delta') yield event.delta.text`],
  ['an event of Strands',
    (has) => isTyped(has, /^(?:modelStreamUpdate|messageAdded|(?:before|after)[A-Z]\w*)Event$/),
    `for await (const { type, event } of agent.stream(prompt)) if (type === 'modelStreamUpdateEvent' `
      + `&& event.delta?.type === 'textDelta') yield event.delta.text`],
  ['an event of the Agent Development Kit',
    (has) => typeof has('invocationId') === 'string' && typeof has('author') === 'string',
    `for await (const { content } of events) for (const { text } of content?.parts ?? []) `
      + `yield text ?? ''`],
  ['a result of LlamaIndex',
    (has) => ['result', 'state'].every((name) => memberOf(has('data'), name) !== undefined),
    'return (await agent.run(prompt)).data.result'],
]

/** Throws `TypeError` for an agent or a tool of another framework: what it is, and what to write instead. */
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
  const agent = agents.find(([, is]) => is(has))
  if (agent !== undefined) {
    throw new TypeError(`This is ${agent[0]}. Write agents: [{ name: 'Helper', ${agent[2]} }]`)
  }
  const tool = tools.find(([, is]) => is(has))
  if (tool === undefined) return
  const asks = ['needsApproval', 'requireApproval'].map(has)
  const isAsking = asks.some((asked) => asked !== undefined && asked !== false)
  const consent = isAsking ? '. It waits for a person\'s approval: ask in run, by call.elicit, before' : ''
  throw new TypeError(`This is ${tool[0]}. Write tools: [defineTool({ name: 'theirs', `
    + `description: '…', ${tool[2]} })]${consent}`)
}

/**
 * The text of a result of another framework's agent, which has it beside all that led to it. Undefined for
 * anything else; what is written as `{ … }` is an author's own.
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

/** What a piece or a result of another framework is, and what to write for it. Undefined: anything else. */
export function foreignResult(result: object): string | undefined {
  const shape = results.find(([, is]) => is((member) => Reflect.get(result, member)))
  if (shape !== undefined) return `${shape[0]}; write ${shape[2]}`
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
 * The streams of a result of `streamText()`: that of its parts is read, since its texts omit errors.
 * Undefined for anything else.
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

/** The text of a part for a reader; '' for all that led to it. Throws what a part of an error holds. */
export function textOfPart(part: object): string {
  const { type, error, text, delta, payload }: Readonly<Record<string, unknown>> = { ...part }
  if (type === 'error') throw error ?? memberOf(payload, 'error')
  if (type === 'abort') throw new Error('The stream of the model was aborted')
  const added = type === 'text-delta' ? text ?? delta ?? memberOf(payload, 'text') : ''
  return typeof added === 'string' ? added : ''
}

/** A message of LangChain. */
function isMessage(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'lc_kwargs' in value && 'text' in value
}

function textIn(value: object): string | undefined {
  const text = memberOf(value, 'text')
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
