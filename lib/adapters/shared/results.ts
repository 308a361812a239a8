/**
 * What agents of other frameworks return and yield: how each is known, and the reader that takes its text out
 * of it. They are known by their shape; a reader is loaded when the first of its kind comes.
 */
import { Later } from '../../kernel/util/later.ts'
import { isThenable } from '../../kernel/util/thenable.ts'
import { loaders } from './loaders.ts'
import { areFunctions, hasMembers, isLike, itemsIn, membersOf, readMember } from './shape.ts'
import type { ForeignResult, ForeignResults, Reader } from '../../kernel/define/adapters.ts'
import type { Has } from './shape.ts'

/**
 * What it is, whether a value is one, and how it is read, or what to write instead; and the pieces of a
 * stream, where those that it iterates over are not all.
 */
type ResultShape = readonly [
  what: string, is: (has: Has, names: readonly string[], value: object) => boolean,
  how: Later<Reader> | string, pieces?: (has: Has, result: object) => unknown,
]

const {
  a2aSdk, adk, agUi, aiSdk, genkit, inngest, langchain, llamaIndex, mastra, openaiAgents, strands,
} = loaders
const anthropicClient = new Later<Reader>(async () => (
  (await import('../anthropic-client.ts')).anthropicClient
))
const claudeAgent = new Later<Reader>(async () => (await import('../claude-agent.ts')).claudeAgent)
const openaiClient = new Later<Reader>(async () => (await import('../openai-client.ts')).openaiClient)

const MIDDLEWARE = /\.(?:before|after)_(?:agent|model)$/
const onRun = /^on_(?:chain|chat_model|llm|tool|prompt|parser|retriever|custom)_/
const graphModes: ReadonlySet<unknown> = new Set([
  'messages', 'updates', 'values', 'custom', 'debug', 'tasks', 'checkpoints', 'tools',
])

/** The pieces of a stream, and itself at its end: then it has its data. */
async function* withEnd(stream: object): AsyncGenerator<unknown> {
  yield* stream as AsyncIterable<unknown>
  yield stream
}

/** The last completion of a runner that streams nothing. */
async function* finalOf(runner: object): AsyncGenerator<unknown> {
  yield await (runner as { finalChatCompletion(): Promise<unknown> }).finalChatCompletion()
}

/** The parts of a stream of the AI SDK, and what it has for machines. */
async function* partsOf(result: object): AsyncGenerator<object> {
  const { parts } = await import('../ai-sdk.ts')
  yield* parts(result)
}

/** What the first part of a `fullStream` has. */
const firstPart: ReadonlySet<PropertyKey> = new Set(['type', 'messageId', 'messageMetadata'])

const graphStream: ResultShape = [
  'a stream of LangChain', (has) => areFunctions(has, 'getReader', 'ensureReader'), langchain,
]
const graphChanges: ResultShape = [
  'what the nodes of a graph of LangGraph have changed',
  (has, names) => has('length') === undefined && names.some((name) => (
    name === '__interrupt__' || MIDDLEWARE.test(name) || isChange(has(name))
  )),
  langchain,
]

const shapes: readonly ResultShape[] = [
  ['a message of LangChain', isMessage, langchain],
  ['a piece of a stream of LangGraph', (has) => has('length') === 2 && isMessageIn(has('0'))
    && typeof has('1') === 'object' && !isMessageIn(has('1')), langchain],
  ['a piece of LangGraph\'s with its mode',
    (has) => (has('length') === 2 && graphModes.has(has('0')) && typeof has('1') === 'object')
      || (has('length') === 3 && Array.isArray(has('0')) && graphModes.has(has('1'))), langchain],
  ['a state of LangChain', (has) => isMessageIn(lastOf(has('messages'))), langchain],
  graphStream,
  ['an event of LangChain',
    (has) => typeof has('run_id') === 'string' && isLike(has('event'), onRun), langchain],
  ['a stream of Mastra',
    (has, _names, value) => hasMembers(value, 'fullStream') && areFunctions(has, 'getFullOutput'),
    mastra, (has) => has('fullStream')],
  ['a result of Mastra',
    (_has, _names, value) => hasMembers(value, 'steps', 'finishReason', 'tripwire'), mastra],
  ['a part of a stream of Mastra', (has) => has('type') === 'start' && typeof has('runId') === 'string'
    && typeof has('from') === 'string', mastra],
  ['a stream of the AI SDK', (_has, _names, value) => hasMembers(value, 'textStream')
    && (hasMembers(value, 'fullStream') || hasMembers(value, 'partialObjectStream')),
    aiSdk, (_has, result) => partsOf(result)],
  ['a result of the AI SDK',
    (has) => has('finishReason') !== undefined && has('usage') !== undefined
      && (Array.isArray(has('steps')) || (has('object') !== undefined && has('response') !== undefined)),
    aiSdk],
  ['a part of a stream of the AI SDK', (has, names) => has('type') === 'start'
    && names.every((name) => firstPart.has(name)), aiSdk],
  ['a result of the OpenAI Agents SDK',
    (has) => Array.isArray(has('newItems')) && typeof has('state') === 'object',
    openaiAgents, (has, result) => areFunctions(has, 'toTextStream') && withEnd(result)],
  ['a result of Strands', (has) => (has('type') === 'agentResult' && has('stopReason') !== undefined)
    || (has('type') === 'multiAgentResult' && Array.isArray(has('results'))), strands],
  ['a chunk of OpenAI\'s chat completions', (has) => has('object') === 'chat.completion.chunk', openaiClient],
  ['a chat completion of OpenAI\'s', (has) => has('object') === 'chat.completion', openaiClient],
  ['a runner of OpenAI\'s chat completions',
    (has) => areFunctions(has, 'finalContent', 'finalChatCompletion'),
    openaiClient, (_has, runner) => isStream(runner) ? runner : finalOf(runner)],
  ['a response of OpenAI\'s', (has) => has('object') === 'response' && Array.isArray(has('output')),
    openaiClient],
  ['an event of OpenAI\'s responses',
    (has) => typeof has('sequence_number') === 'number' && isTyped(has, /^(?:response\.|error$)/),
    openaiClient],
  ['an event of the OpenAI Agents SDK',
    (has) => isTyped(has, /^(?:raw_model_stream|run_item_stream|agent_updated_stream)_event$/), openaiAgents],
  ['a message of Anthropic\'s',
    (has) => has('type') === 'message' && has('role') === 'assistant' && has('stop_reason') !== undefined,
    anthropicClient],
  ['an event of Anthropic\'s', (has) => isTyped(has, /^(?:message|content_block)_(?:start|delta|stop)$/),
    anthropicClient],
  ['an event of Strands',
    (has) => isTyped(has, /^(?:modelStreamUpdate|messageAdded|agentResult|(?:before|after)[A-Z]\w*)Event$/),
    strands],
  ['an event of the Agent Development Kit',
    (has) => typeof has('invocationId') === 'string' && typeof has('author') === 'string', adk],
  ['an event or a result of LlamaIndex',
    (has) => areFunctions(has, 'toJSON') && typeof has(Symbol.toStringTag) === 'string'
      && eventMembers.some((name) => readMember(has('data'), name) !== undefined), llamaIndex],
  ['a result of Inngest\'s AgentKit',
    (has) => typeof has('agentName') === 'string'
      && ['output', 'toolCalls'].every((name) => Array.isArray(has(name))), inngest],
  ['a run of a network of Inngest\'s AgentKit',
    (has) => areFunctions(has, 'availableAgents') && Array.isArray(readMember(has('state'), 'results')),
    inngest],
  ['a response of Genkit\'s',
    (has) => has('finishReason') !== undefined && readMember(has('message'), 'role') === 'model', genkit],
  ['a chunk of Genkit\'s', (has) => isLike(has('role'), /^(?:model|tool)$/)
    && Array.isArray(has('content')) && typeof has('index') === 'number', genkit],
  ['a stream of Genkit', (has) => isStream(has('stream')) && isThenable(has('response') ?? has('output')),
    genkit, (has) => withAnswer(has('stream'), has('response') ?? has('output'))],
  ['an event of AG-UI',
    (has) => isTyped(has, /^(?:RUN|STEP|TEXT_MESSAGE|TOOL_CALL|STATE|MESSAGES|REASONING)_[A-Z_]+$/)
      && ['runId', 'messageId', 'toolCallId', 'stepName', 'snapshot'].some((name) => has(name) !== undefined),
    agUi],
  ['what runAgent of AG-UI gives',
    (has, names) => Array.isArray(has('newMessages')) && names.includes('result'), agUi],
  ['an Observable of RxJS', (has) => areFunctions(has, 'subscribe', 'pipe', 'forEach'),
    'return (await agent.clone().runAgent())'],
  ['an event of A2A', (has) => typeof readMember(has('payload'), '$case') === 'string'
    || isLike(has('kind'), /^(?:status|artifact)-update$/), a2aSdk],
  ['a task of A2A', (has) => typeof has('contextId') === 'string'
    && readMember(has('status'), 'state') !== undefined, a2aSdk],
  ['a message of A2A', (has) => typeof has('messageId') === 'string' && Array.isArray(has('parts')), a2aSdk],
  ['a message of the Claude Agent SDK', (has) => typeof has('session_id') === 'string'
    && isTyped(has, /^(?:system|assistant|user|result|stream_event)$/), claudeAgent],
  ['a result of BeeAI',
    (has) => has('memory') !== undefined && readMember(has('result'), 'text') !== undefined,
    'return (await agent.run({ prompt })).result.text'],
  graphChanges,
]

/** What the data of events of LlamaIndex have. */
const eventMembers = ['currentAgentName', 'agentName', 'userInput', 'toolId', 'state']

/** The pieces of a stream, and the answer promised with it, but for a text that has come in pieces. */
async function* withAnswer(stream: unknown, end: unknown): AsyncGenerator<unknown> {
  const last = Promise.resolve(end)
  // It is awaited behind the stream, which may throw before.
  last.catch(() => {})
  let isEmpty = true
  for await (const piece of stream as AsyncIterable<unknown>) {
    isEmpty = false
    yield piece
  }
  const whole: unknown = await last
  if (isEmpty || typeof whole === 'object') yield whole
}

/** The same, with what asks for no more than the value. */
const results = shapes.map(([what, is, how, pieces]) => ({
  what, is, how: typeof how === 'string' ? how
    : { reader: how, ...pieces && { pieces: (value: object) => pieces(membersOf(value), value) } },
}))

/**
 * What a value that was returned or yielded is; undefined for an author's own. `before`: what came before it
 * in one stream, whose later pieces are often too plain to be known by themselves.
 */
export function resultShape(value: object, before?: ForeignResult): ForeignResult | undefined {
  const names = Object.keys(value)
  const has = membersOf(value)
  const found = results.find(({ is }) => is(has, names, value))
  return found ?? (before !== undefined && goesOn(before, has) ? before : undefined)
}

/** Of a textStream of the AI SDK, which just ends where its model fails. */
function streamFlaw(stream: object, isSilent: boolean): string | undefined {
  // As browsers have it.
  if (!('getReader' in stream)) return undefined
  const remedy = 'return the result that it is of, as streamText({ … })'
  if (isSilent) {
    return 'a stream that ended without a piece. A textStream of the AI SDK does so where its model fails; '
      + remedy
  }
  // Which the AI SDK has made iterable itself.
  return Object.hasOwn(stream, Symbol.asyncIterator)
    ? `a textStream of the AI SDK, which just ends where its model fails; ${remedy}` : undefined
}

function goesOn({ what }: ForeignResult, has: Has): boolean {
  if (typeof has('type') === 'string') return true
  // What a node changes may be anything.
  return what === graphStream[0] || what === graphChanges[0]
}

/** Whether a node of a graph has changed its messages. */
function isChange(node: unknown): boolean {
  const messages = readMember(node, 'messages')
  return isMessageIn(node) || isMessageIn(Array.isArray(messages) ? messages.at(-1) : messages)
}

function isMessage(has: Has): boolean {
  return has('lc_kwargs') !== undefined && has('text') !== undefined
}

function isMessageIn(value: unknown): boolean {
  return typeof value === 'object' && value !== null && isMessage(membersOf(value))
}

function lastOf(list: unknown): unknown {
  return itemsIn(list).at(-1)
}

function isStream(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function isTyped(has: Has, pattern: RegExp): boolean {
  return isLike(has('type'), pattern)
}

export const foreignResults: ForeignResults = { shapeOf: resultShape, streamFlaw }
