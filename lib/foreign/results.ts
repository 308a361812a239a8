/**
 * What agents of other frameworks return and yield: how each is known, and the reader that takes its text out
 * of it. They are known by their shape; a reader is loaded when the first of its kind comes.
 */
import { Later } from '../util/later.ts'
import { areFunctions, membersOf, readMember } from './shape.ts'
import type { Reader } from './adapter.ts'
import type { Has } from './shape.ts'

interface Taken {
  readonly reader: Later<Reader>
  /** The pieces of a result that is a stream, where those that it iterates over are not all. */
  pieces?(has: Has, result: object): unknown
}

/** What it is, whether a value is one, and how it is read, or what to write instead. */
export type ResultShape = readonly [
  what: string, is: (has: Has, names: readonly string[]) => boolean, how: Taken | string,
]

function takenBy(load: () => Promise<Reader>): Taken {
  return { reader: new Later(load) }
}

const adk = takenBy(async () => (await import('./adk.ts')).adk)
const aiSdk = takenBy(async () => (await import('./ai-sdk.ts')).aiSdk)
const langchain = takenBy(async () => (await import('./langchain.ts')).langchain)
const openaiAgents = takenBy(async () => (await import('./openai-agents.ts')).openaiAgents)
const strands = takenBy(async () => (await import('./strands.ts')).strands)

const graphModes: ReadonlySet<unknown> = new Set([
  'messages', 'updates', 'values', 'custom', 'debug', 'tasks', 'checkpoints', 'tools',
])

/** The pieces of a stream, and itself at its end: then it has its data. */
async function* withEnd(stream: object): AsyncGenerator<unknown> {
  yield* stream as AsyncIterable<unknown>
  yield stream
}

/** What the first part of a `fullStream` has. */
const firstPart: ReadonlySet<PropertyKey> = new Set(['type', 'messageId', 'runId', 'from', 'payload'])

const results: readonly ResultShape[] = [
  ['a message of LangChain', isMessage, langchain],
  ['a piece of a stream of LangGraph', (has) => has('length') === 2 && isMessageIn(has('0'))
    && typeof has('1') === 'object' && !isMessageIn(has('1')), langchain],
  ['a piece of LangGraph\'s with its mode',
    (has) => (has('length') === 2 && graphModes.has(has('0')) && typeof has('1') === 'object')
      || (has('length') === 3 && Array.isArray(has('0')) && graphModes.has(has('1'))), langchain],
  ['a state of LangChain', (has) => isMessageIn(lastOf(has('messages'))), langchain],
  ['a stream of LangChain', (has) => areFunctions(has, 'getReader', 'ensureReader'), langchain],
  ['an event of LangChain',
    (has) => typeof has('run_id') === 'string' && /^on_[a-z_]+$/.test(String(has('event'))), langchain],
  ['a stream of the AI SDK', (has) => has('textStream') !== undefined && has('fullStream') !== undefined,
    { ...aiSdk, pieces: (has) => isStream(has('fullStream')) ? has('fullStream') : has('textStream') }],
  ['a result of the AI SDK',
    (has) => Array.isArray(has('steps')) && has('finishReason') !== undefined && has('usage') !== undefined,
    aiSdk],
  ['a part of a stream of the AI SDK', (has, names) => has('type') === 'start'
    && names.every((name) => firstPart.has(name)), aiSdk],
  ['a result of the OpenAI Agents SDK',
    (has) => Array.isArray(has('newItems')) && typeof has('state') === 'object',
    { ...openaiAgents, pieces: (has, result) => areFunctions(has, 'toTextStream') && withEnd(result) }],
  ['a result of Strands', (has) => has('type') === 'agentResult' && has('stopReason') !== undefined, strands],
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
    (has) => isTyped(has, /^(?:raw_model_stream|run_item_stream|agent_updated_stream)_event$/), openaiAgents],
  ['an event of Anthropic\'s', (has) => isTyped(has, /^(?:message|content_block)_(?:start|delta|stop)$/),
    `for await (const event of stream) if (event.type === 'content_block_delta' `
      + `&& event.delta.type === 'text_delta') yield event.delta.text`],
  ['an event of Strands',
    (has) => isTyped(has, /^(?:modelStreamUpdate|messageAdded|agentResult|(?:before|after)[A-Z]\w*)Event$/),
    strands],
  ['an event of the Agent Development Kit',
    (has) => typeof has('invocationId') === 'string' && typeof has('author') === 'string', adk],
  ['a result of LlamaIndex',
    (has) => ['result', 'state'].every((name) => readMember(has('data'), name) !== undefined),
    'return (await agent.run(prompt)).data.result'],
  ['what the nodes of a graph of LangGraph have changed', (has, names) => has('length') === undefined
    && names.some((name) => name === '__interrupt__' || MIDDLEWARE.test(name) || isChange(has(name))),
    langchain],
]

/**
 * What a value that was returned or yielded is; undefined for an author's own. `before`: what came before it
 * in one stream, whose later pieces are often too plain to be known by themselves.
 */
export function resultShape(value: object, before?: ResultShape): ResultShape | undefined {
  const has = membersOf(value)
  const names = Object.keys(value)
  const shape = results.find(([, is]) => is(has, names))
  return shape ?? (before !== undefined && goesOn(before, has) ? before : undefined)
}

function goesOn([, , how]: ResultShape, has: Has): boolean {
  if (typeof has('type') === 'string') return true
  return how === langchain && ['text', 'data', 'content', 'state'].every((name) => has(name) === undefined)
}

/** Whether a node of a graph has changed its messages. */
function isChange(node: unknown): boolean {
  const messages = readMember(node, 'messages')
  return isMessageIn(node) || isMessageIn(Array.isArray(messages) ? messages.at(-1) : messages)
}

const MIDDLEWARE = /\.(?:before|after)_(?:agent|model)$/

function isMessage(has: Has): boolean {
  return has('lc_kwargs') !== undefined && has('text') !== undefined
}

function isMessageIn(value: unknown): boolean {
  return typeof value === 'object' && value !== null && isMessage(membersOf(value))
}

function lastOf(list: unknown): unknown {
  return Array.isArray(list) ? list.at(-1) : undefined
}

function isStream(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function isTyped(has: Has, pattern: RegExp): boolean {
  const type = has('type')
  return typeof type === 'string' && pattern.test(type)
}
