/**
 * Decodes the body of a chat completion. Members for the work of a model (sampling, lengths, effort) are
 * ignored, because an agent answers. Members that change the kind of the answer (several answers, sounds) are
 * refused, because the client would miss them. A `Fault` has OpenAI's `param` and `code`.
 * Spec: https://platform.openai.com/docs/api-reference/chat/create
 */
import { isGiven, isRecord } from '../../kernel/define/content.ts'
import { wrongBody, wrongMember } from '../../floors/chat/members.ts'
import { decodeMessages } from '../../floors/chat/messages.ts'
import { MAX_STOP_LENGTH, MAX_STOPS } from './chat-stop.ts'
import { chosenTools, decodeTools, mostCalls } from './client-functions.ts'
import { blockOfPart, isTextPart } from './content-parts.ts'
import { decodeFormat } from './output-format.ts'
import { never, refuseMembers } from './refused-members.ts'
import type { JsonBounds } from '../../floors/bounds/parse-json.ts'
import type { AgentInput, ChatDialect, Conversation } from '../../floors/chat/messages.ts'
import type { PassedOver } from '../../floors/chat/passed-over.ts'
import type { OutputFormat } from './output-format.ts'
import type { RefusedMember } from './refused-members.ts'

export interface ChatRequest extends AgentInput {
  /** The id of an agent or a group. */
  readonly model: string
  /** What the answer must be; undefined: any text. */
  readonly format: OutputFormat | undefined
  readonly isStream: boolean
  /** Whether a stream ends with its usage. */
  readonly includesUsage: boolean
  /** The answer ends before the first of these. */
  readonly stops: readonly string[]
  /** Calls of the client's tools that one answer may have. */
  readonly maxCalls: number
}

/** Reads a parsed body. Throws `Fault('invalid')` for the first thing that is wrong. */
export function decodeChat(body: unknown, passed: PassedOver, bounds: JsonBounds): ChatRequest {
  if (!isRecord(body)) throw wrongBody('must be a JSON object with "model" and "messages"')
  const { model, messages, metadata, stream, stream_options: options, stop, tools } = body
  if (typeof model !== 'string' || model === '') {
    throw wrongMember('model', 'must be the id of an agent; the list of models has them')
  }
  if (isGiven(stream) && typeof stream !== 'boolean') throw wrongMember('stream', 'must be true or false')
  if (isGiven(options) && !isRecord(options)) throw wrongMember('stream_options', 'must be an object')
  const isCounted = isRecord(options) ? options['include_usage'] ?? false : false
  if (typeof isCounted !== 'boolean') {
    throw wrongMember('stream_options.include_usage', 'must be true or false')
  }
  if (isGiven(metadata) && !isRecord(metadata)) throw wrongMember('metadata', 'must be an object')
  refuseMembers(body, refused)
  // A spread into so many members would take 10 µs.
  const { prompt, message, history, clientToolResults } = conversationOf(messages, bounds, passed)
  const { clientTools, toolChoice } = chosenTools(decodeTools(tools), body['tool_choice'])
  const format = decodeFormat(body['response_format'])
  return {
    prompt, message, history, clientToolResults, protocol: 'http', conversationId: undefined, isNamed: false,
    model, format, outputSchema: format?.schema,
    clientTools, toolChoice,
    metadata: isRecord(metadata) ? metadata : undefined,
    isStream: stream === true,
    includesUsage: isCounted,
    stops: isGiven(stop) ? stopsIn(stop) : [],
    maxCalls: mostCalls(body),
  }
}

function stopsIn(stop: unknown): readonly string[] {
  const stops: readonly unknown[] = Array.isArray(stop) ? stop : [stop]
  const isStop = (one: unknown): one is string => (
    typeof one === 'string' && one !== '' && one.length <= MAX_STOP_LENGTH
  )
  if (stops.length <= MAX_STOPS && stops.every(isStop)) return stops
  const one = `a string of 1 to ${MAX_STOP_LENGTH} characters`
  throw wrongMember('stop', `must be ${one}, or up to ${MAX_STOPS} of them`)
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0
const isFree = (value: unknown): boolean => value === 'auto' || value === 'none'
const OLD_TOOLS = 'it is the older form; write "tools", each { "type": "function", "function" }'
const TEXT_ONLY = 'an agent answers with text'

const refused: readonly RefusedMember[] = [
  // Beside the present form the older says the same again.
  ['functions', (value, { tools }) => isEmpty(value) || isGiven(tools), OLD_TOOLS],
  ['function_call', (value, { tool_choice: choice }) => isFree(value) || isGiven(choice), OLD_TOOLS,
    '"auto" or "none"'],
  ['n', (value) => value === 1, 'an agent gives one answer', '1'],
  ['modalities', (value) => Array.isArray(value) && value.every((one) => one === 'text'),
    TEXT_ONLY, '["text"]'],
  ['audio', never, `${TEXT_ONLY}; leave it out`],
  ['web_search_options', never, 'an agent searches by means of its own; leave it out'],
]

const completions: ChatDialect = {
  list: 'messages', roles: 'user, assistant, system, developer or tool',
  calls: 'tool_calls', callId: 'tool_call_id', isTextPart, blockOf: (part, at) => blockOfPart(part, at),
  resultDemand: (id) => `has no result; add { "role": "tool", "tool_call_id": ${id} }`,
}

function conversationOf(messages: unknown, bounds: JsonBounds, passed: PassedOver): Conversation {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw wrongMember('messages', 'must be a list of at least one { "role", "content" }')
  }
  return decodeMessages(messages.map(inPresentForm), completions, bounds, passed)
}

/** The calls and results of before there were tools, which have no ids, as those of tools. */
function inPresentForm(message: unknown): unknown {
  if (!isRecord(message)) return message
  const { role, name, function_call: called, tool_calls: calls } = message
  if (role === 'function') return { ...message, role: 'tool', tool_call_id: name }
  if (!isRecord(called) || isGiven(calls)) return message
  return { ...message, tool_calls: [{ id: called['name'], type: 'function', function: called }] }
}
