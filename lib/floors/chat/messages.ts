/**
 * The messages that a client sends of a chat, decoded: what the user says now, what was said before, and what
 * came of the calls of the client's tools.
 */
import { chatRoles } from '../conversations/chat.ts'
import { isGiven, isRecord, text } from '../../kernel/define/content.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { linesOf } from '../conversations/message.ts'
import { wrongMember } from './members.ts'
import { resultMessage, ToolExchange } from './tool-exchange.ts'
import type { CallFacts, ChatMessage } from '../../kernel/define/call.ts'
import type { ClientToolResult } from '../../kernel/define/client-tool.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { JsonBounds } from '../bounds/parse-json.ts'
import type { UserMessage } from '../conversations/answer-message.ts'
import type { PassedOver } from './passed-over.ts'
import type { CalledResult, CallSpelling } from './tool-exchange.ts'

type Members = Readonly<Record<string, unknown>>

/** What an agent gets of what a client has sent. */
export interface AgentInput extends CallFacts, UserMessage {
  /**
   * The last user message, its files among it, and those of results since. `prompt` has its texts, and is
   * empty where it has none.
   */
  readonly message: readonly Content[]
  /** All other messages as text, but for the results of tools after the last user message. */
  readonly history: readonly ChatMessage[]
  /** What came of the calls of the client's tools since the last user message. */
  readonly clientToolResults: readonly ClientToolResult[]
}

/** Bytes of a token, where an agent does not count them. */
const TOKEN_BYTES = 4

/** The tokens of what an agent was asked, its history included. */
export function tokensRead({ prompt, history }: AgentInput): number {
  let bytes = Buffer.byteLength(prompt)
  for (const { content } of history) bytes += Buffer.byteLength(content)
  return tokensIn(bytes)
}

export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / TOKEN_BYTES)
}

/** The part of it that is decoded from the messages. */
export type Conversation = Pick<AgentInput, 'prompt' | 'message' | 'history' | 'clientToolResults'>

/** How a protocol writes a conversation. */
export interface ChatDialect extends CallSpelling {
  /** The member of a body that has the messages. */
  readonly list: string
  /** The roles that there are, for errors. */
  readonly roles: string
  /** What a call of the present answer that has no result needs, by its id in quotes. Left out: nothing. */
  readonly resultDemand?: (id: string) => string
  /** Whether a part is text, or has one. */
  readonly isTextPart: (part: Members) => boolean
  /** A part of the last user message. Throws `Fault('invalid')`. */
  readonly blockOf: (part: unknown, at: string) => Content
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
      files.push(...filesIn(message, reading, `${nameOf(index)}.content`))
    } else if (index < last || read.content !== '') {
      history.push(read)
    }
  }
  if (dialect.resultDemand !== undefined) exchange.end(dialect.resultDemand)
  const present = last < 0 ? { message: [], prompt: '' }
    : presentOf(messages[last] as Members, reading, `${nameOf(last)}.content`)
  const message = files.length === 0 ? present.message : [...present.message, ...files]
  const clientToolResults = results === undefined ? [] : [...results.values()]
  return { prompt: present.prompt, message, history, clientToolResults }
}

/** What a result has beside its texts. */
function filesIn(message: unknown, { dialect, passed }: Reading, at: string): readonly Content[] {
  const { isLenient = false, isTextPart, blockOf } = dialect
  const content = isRecord(message) ? message['content'] : undefined
  if (!Array.isArray(content)) return []
  return content.flatMap((part: unknown, index) => {
    if (isRecord(part) ? isTextPart(part) : isLenient) return []
    const place = `${at}[${index}]`
    try {
      return blockOf(part, place)
    } catch (error) {
      if (!isLenient) throw error
      passed.add(place, 'is no file, and no text')
      return []
    }
  })
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
  if (prompt.trim() === '' && message.every(({ type }) => type === 'text')) throw wrongMember(at, 'is empty')
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
    throw wrongMember(at, 'must be an object')
  }
  const { role: name } = message
  const role = chatRoles.get(name)
  if (role === undefined && name !== 'tool') {
    if (isLenient) return void passed.add(`${at}.role`, 'is none that is known')
    throw wrongMember(`${at}.role`, `must be ${known}`)
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
  if (!Array.isArray(content)) throw wrongMember(`${at}.content`, 'must be a string or a list of parts')
  const texts = content.flatMap((part: unknown, index) => {
    if (isLenient && typeof part === 'string') return [part]
    if (!isRecord(part)) {
      if (isLenient) return []
      throw wrongMember(`${at}.content[${index}]`, 'must be an object')
    }
    return textOfPart(part) ?? []
  })
  return texts.join('\n')
}

/** The text of a part, that of a refusal too; undefined for a part of another kind. */
export function textOfPart({ type, text: written, refusal }: Members): string | undefined {
  const content = type === 'refusal' ? refusal : written
  return typeof content === 'string' ? content : undefined
}

/** Whether a content can be read. */
function isText(content: unknown): boolean { return typeof content === 'string' || Array.isArray(content) }

function blocksOf(content: unknown, at: string, dialect: ChatDialect): readonly Content[] {
  if (typeof content === 'string') return [text(content)]
  if (!Array.isArray(content)) throw wrongMember(at, 'must be a string or a list of parts')
  return content.map((part: unknown, index) => dialect.blockOf(part, `${at}[${index}]`))
}
