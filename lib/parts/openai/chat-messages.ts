/**
 * Decodes the body of a chat completion. Members for the work of a model (sampling, lengths, effort) are
 * ignored, because an agent answers. Members that change the kind of the answer (several answers, sounds) are
 * refused, because the client would miss them. A `Fault` has OpenAI's `param` and `code`.
 * Spec: https://platform.openai.com/docs/api-reference/chat/create
 */
import { isGiven, isRecord, linesOf, text } from '../../kernel/define/content.ts'
import { OutputFormat } from './output-format.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { MAX_STOP_LENGTH, MAX_STOPS } from '../../floors/reply/chat-stop.ts'
import { decodeTools, resultMessage, ToolExchange } from './chat-tools.ts'
import { blockOfPart, isTextPart, textOfPart } from './content-parts.ts'
import { wrongBody, wrongParam } from './openai-errors.ts'
import { refuseMembers } from './refused-members.ts'
import { chosenTools, mostCalls } from './tool-choice.ts'
import type { ChatMessage } from '../../kernel/define/chat.ts'
import type { ClientToolResult } from '../../kernel/define/client-tool.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { PassedOver } from '../../floors/reply/passed-over.ts'
import type { AgentInput, Conversation } from '../../floors/reply/run-stream.ts'
import type { JsonBounds } from '../../kernel/wire/json.ts'
import type { CalledResult, CallSpelling } from './chat-tools.ts'
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

type Members = Readonly<Record<string, unknown>>

const roles: ReadonlyMap<unknown, ChatMessage['role']> = new Map([
  ['user', 'user'], ['assistant', 'assistant'], ['system', 'system'], ['developer', 'system'],
])

/** Reads a parsed body. Throws `Fault('invalid')` for the first thing that is wrong. */
export function decodeChat(body: unknown, bounds: JsonBounds, passed: PassedOver): ChatRequest {
  if (!isRecord(body)) throw wrongBody('must be a JSON object with "model" and "messages"')
  const { model, messages, metadata, stream, stream_options: options, stop, tools } = body
  if (typeof model !== 'string' || model === '') {
    throw wrongParam('model', 'must be the id of an agent; GET /v1/models lists them')
  }
  if (isGiven(stream) && typeof stream !== 'boolean') throw wrongParam('stream', 'must be true or false')
  if (isGiven(options) && !isRecord(options)) throw wrongParam('stream_options', 'must be an object')
  if (isGiven(metadata) && !isRecord(metadata)) throw wrongParam('metadata', 'must be an object')
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
    includesUsage: isRecord(options) && options['include_usage'] === true,
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
  throw wrongParam('stop', `must be ${one}, or up to ${MAX_STOPS} of them`)
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0
const isFree = (value: unknown): boolean => value === 'auto' || value === 'none'
const never = (): boolean => false
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

function conversationOf(messages: unknown, bounds: JsonBounds, passed: PassedOver): Conversation {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw wrongParam('messages', 'must be a list of at least one { "role", "content" }')
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

/** How a protocol writes a conversation. */
export interface ChatDialect extends CallSpelling {
  /** The member of a body that has the messages. */
  readonly list: string
  /** The roles that there are, for errors. */
  readonly roles: string
  /** Whether calls of the present answer must have results. */
  readonly needsResults: boolean
  /** A part of the last user message. Throws `Fault('invalid')`. */
  blockOf(part: unknown, at: string): Content
}

const completions: ChatDialect = {
  list: 'messages', roles: 'user, assistant, system, developer or tool', needsResults: true,
  calls: 'tool_calls', callId: 'tool_call_id', blockOf: (part, at) => blockOfPart(part, at),
}

/** `nameOf` says in errors where a message is; an undefined one says nothing. Throws `Fault('invalid')`. */
export function decodeMessages(
  messages: readonly unknown[], dialect: ChatDialect, bounds: JsonBounds, passed: PassedOver,
  nameOf = (index: number) => `${dialect.list}[${index}]`,
): Conversation {
  // Without one the agent begins, or goes on with what its tools gave.
  const last = messages.findLastIndex((one) => isRecord(one) && one['role'] === 'user')
  const history: ChatMessage[] = []
  let results: Map<unknown, ClientToolResult> | undefined
  const exchange = new ToolExchange(dialect, bounds, passed)
  const reading = { dialect, exchange, passed }
  const files: Content[] = []
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]
    if (message === undefined) continue
    if (index === last) {
      exchange.forget()
      continue
    }
    const read = messageOf(message, reading, nameOf(index), index > last)
    if (read === undefined) continue
    if ('call' in read) {
      results = (results ?? new Map()).set(read.call, read.result)
      files.push(...filesIn(message, dialect, `${nameOf(index)}.content`))
    } else if (index < last || read.content !== '') {
      history.push(read)
    }
  }
  if (dialect.needsResults) exchange.end()
  const present = last < 0 ? { message: [], prompt: '' }
    : presentOf(messages[last] as Members, reading, `${nameOf(last)}.content`)
  const message = files.length === 0 ? present.message : [...present.message, ...files]
  const clientToolResults = results === undefined ? [] : [...results.values()]
  return { prompt: present.prompt, message, history, clientToolResults }
}

/** What a result has beside its texts. */
function filesIn(message: unknown, dialect: ChatDialect, at: string): readonly Content[] {
  const content = isRecord(message) ? message['content'] : undefined
  if (!Array.isArray(content) || dialect.isLenient) return []
  return content.flatMap((part: unknown, index) => (
    isRecord(part) && isTextPart(part) ? [] : dialect.blockOf(part, `${at}[${index}]`)
  ))
}

/** What the user has said last. */
function presentOf(
  { content }: Members, { dialect, passed }: Reading, at: string,
): Pick<Conversation, 'message' | 'prompt'> {
  if (dialect.isLenient && !isText(content)) {
    passed.add(at, 'is none')
    return { message: [], prompt: '' }
  }
  const message = blocksOf(content, at, dialect)
  const prompt = linesOf(message)
  if (prompt.trim() === '' && message.every(({ type }) => type === 'text')) throw wrongParam(at, 'is empty')
  return { prompt, message }
}

interface Reading {
  readonly dialect: ChatDialect
  readonly exchange: ToolExchange
  readonly passed: PassedOver
}

/**
 * A message that is not the present one, or a result of the present answer (`isLater`). Its files are left
 * out: a history is text. Undefined: it is passed over.
 */
function messageOf(
  message: unknown, { dialect, exchange, passed }: Reading, at: string, isLater: boolean,
): ChatMessage | CalledResult | undefined {
  const { isLenient = false, roles: known } = dialect
  if (!isRecord(message)) {
    if (isLenient) return void passed.add(at, 'is no message')
    throw wrongParam(at, 'must be an object')
  }
  const { role: name } = message
  const role = roles.get(name)
  if (role === undefined && name !== 'tool') {
    if (isLenient) return void passed.add(`${at}.role`, 'is none that is known')
    throw wrongParam(`${at}.role`, `must be ${known}`)
  }
  const { content: given } = message
  const isBroken = isLenient && isGiven(given) && !isText(given)
  if (isBroken) passed.add(`${at}.content`, 'is none')
  const content = !isBroken ? textIn(message, at, isLenient)
    : role === undefined ? formatJson(given ?? null) : ''
  if (role === undefined) {
    const called = exchange.result(message, content, at)
    if (isLater && called !== undefined) return called
    const written = called?.result.name ?? (typeof message['name'] === 'string' ? message['name'] : 'A tool')
    return resultMessage({ name: written, result: content })
  }
  const calls = role === 'assistant' ? exchange.calls(message, at) : ''
  // Those of the present answer are in `clientToolResults`.
  if (isLater) return { role, content }
  return { role, content: content === '' || calls === '' ? content + calls : `${content}\n${calls}` }
}

/** Clients write null for the content of a tool that gave nothing, and of an answer that is a call. */
function textIn({ content, refusal, role, error }: Members, at: string, isLenient: boolean): string {
  if (!isGiven(content) || content === '') {
    const instead = role === 'assistant' ? refusal : error
    return typeof instead === 'string' ? instead : ''
  }
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw wrongParam(`${at}.content`, 'must be a string or a list of parts')
  const texts = content.flatMap((part: unknown, index) => {
    if (isLenient && typeof part === 'string') return [part]
    if (!isRecord(part)) {
      if (isLenient) return []
      throw wrongParam(`${at}.content[${index}]`, 'must be an object')
    }
    return textOfPart(part) ?? []
  })
  return texts.join('\n')
}

/** Whether a content can be read. */
function isText(content: unknown): boolean { return typeof content === 'string' || Array.isArray(content) }

function blocksOf(content: unknown, at: string, dialect: ChatDialect): readonly Content[] {
  if (typeof content === 'string') return [text(content)]
  if (!Array.isArray(content)) throw wrongParam(at, 'must be a string or a list of parts')
  return content.map((part: unknown, index) => dialect.blockOf(part, `${at}[${index}]`))
}

/**
 * The format of an answer; undefined: any text. `isFlat`: its schema stands beside its type, as in Responses.
 * Throws a `Fault` for a format that is not known, or a schema that is none.
 * Spec: https://platform.openai.com/docs/guides/structured-outputs
 */
export function decodeFormat(format: unknown, isFlat = false): OutputFormat | undefined {
  if (!isGiven(format)) return undefined
  const [at, path] = isFlat ? ['text.format', '.schema'] : ['response_format', '.json_schema.schema']
  const type = isRecord(format) ? format['type'] : undefined
  if (type === 'text') return undefined
  if (type === 'json_object') return new OutputFormat({ type: 'object' })
  if (type !== 'json_schema') throw wrongParam(`${at}.type`, 'must be text, json_object or json_schema')
  const holder = isFlat ? format : Reflect.get(Object(format), 'json_schema')
  const schema = isRecord(holder) ? holder['schema'] : undefined
  if (!isRecord(schema)) throw wrongParam(`${at}${path}`, 'must be a JSON Schema, an object')
  try {
    return new OutputFormat(schema)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw wrongParam(`${at}${path}`, `is no JSON Schema that can be used: ${why}`)
  }
}
