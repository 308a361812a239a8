/**
 * Decodes the input of a run of AG-UI: the messages of its thread, the tools of the client, its answers to
 * questions. Throws `Fault('invalid')` for the first thing that is wrong.
 * Spec: AG-UI 1.0, RunAgentInput.
 */
import { createHash } from 'node:crypto'
import { isGiven, isRecord, linesOf, text } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { CONVERSATION_ID } from '../../state/conversation-page.ts'
import { decodeBase64 } from '../../wire/base64.ts'
import { resultMessage, ToolExchange } from '../openai/chat-tools.ts'
import type { ChatMessage } from '../../define/chat.ts'
import type { ClientTool, ClientToolResult } from '../../define/client-tool.ts'
import type { Content } from '../../define/content.ts'

/** The client's answer to one question of the run before. */
export interface Resume {
  readonly interruptId: string
  readonly isCancelled: boolean
  readonly payload: unknown
}

export interface RunInput {
  readonly threadId: string
  /** The thread's: its own id where that can be one. */
  readonly conversationId: string
  readonly runId: string
  /** The texts of the last user message, one below the other. Empty where it has only files. */
  readonly prompt: string
  readonly message: readonly Content[]
  /** The other messages as text, but for the results of tools after the last user message. */
  readonly history: readonly ChatMessage[]
  readonly clientTools: readonly ClientTool[]
  readonly clientToolResults: readonly ClientToolResult[]
  /** `state`, `context` and `forwardedProps`, as they came. */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly resume: readonly Resume[]
}

type Members = Readonly<Record<string, unknown>>

const roles: ReadonlyMap<unknown, ChatMessage['role']> = new Map([
  ['user', 'user'], ['assistant', 'assistant'], ['system', 'system'], ['developer', 'system'],
])
/** Members that an agent gets as they came. */
const passed = ['state', 'context', 'forwardedProps'] as const
/** What clients show, and no agent has said. */
const unread: ReadonlySet<unknown> = new Set(['reasoning', 'activity'])

export function decodeRunInput(body: unknown): RunInput {
  if (!isRecord(body)) throw wrong('The body', 'must be a JSON object with threadId, runId and messages')
  const { threadId, runId, messages, tools, resume } = body
  if (typeof threadId !== 'string' || threadId === '') {
    throw wrong('threadId', 'must be a string that is not empty')
  }
  if (typeof runId !== 'string' || runId === '') throw wrong('runId', 'must be a string that is not empty')
  const metadata: Record<string, unknown> = {}
  for (const name of passed) if (isGiven(body[name])) metadata[name] = body[name]
  const { prompt, message, history, clientToolResults } = threadOf(messages)
  return {
    threadId, conversationId: conversationOf(threadId), runId,
    prompt, message, history, clientToolResults, metadata,
    clientTools: listIn(tools, 'tools').map(toolOf),
    resume: listIn(resume, 'resume').map(resumeOf),
  }
}

/** Threads have ids of any form, and conversations do not. */
function conversationOf(threadId: string): string {
  if (CONVERSATION_ID.test(threadId)) return threadId
  return createHash('sha256').update(threadId).digest('base64url')
}

function toolOf(tool: unknown, index: number): ClientTool {
  const { name, description, parameters } = isRecord(tool) ? tool : {}
  if (typeof name !== 'string' || name === '') throw wrong(`tools[${index}].name`, 'must be a string')
  if (isGiven(parameters) && !isRecord(parameters)) {
    throw wrong(`tools[${index}].parameters`, 'must be a JSON Schema, an object')
  }
  return {
    name,
    ...typeof description === 'string' && { description },
    inputSchema: isRecord(parameters) ? parameters : { type: 'object', properties: {} },
  }
}

function resumeOf(entry: unknown, index: number): Resume {
  const { interruptId, status, payload } = isRecord(entry) ? entry : {}
  if (typeof interruptId !== 'string') throw wrong(`resume[${index}].interruptId`, 'must be a string')
  if (status !== 'resolved' && status !== 'cancelled') {
    throw wrong(`resume[${index}].status`, 'must be resolved or cancelled')
  }
  return { interruptId, isCancelled: status === 'cancelled', payload }
}

function threadOf(messages: unknown): Pick<
  RunInput, 'prompt' | 'message' | 'history' | 'clientToolResults'
> {
  const all = listIn(messages, 'messages')
  const last = all.findLastIndex((one) => isRecord(one) && one['role'] === 'user')
  if (last < 0) throw wrong('messages', 'needs a message of the role user')
  const history: ChatMessage[] = []
  const clientToolResults: ClientToolResult[] = []
  let exchange = new ToolExchange()
  for (let index = 0; index < all.length; index++) {
    const at = `messages[${index}]`
    const message = all[index]
    if (!isRecord(message)) throw wrong(at, 'must be an object')
    if (unread.has(message['role'])) continue
    if (index === last) {
      // Calls of before need no result any more.
      exchange = new ToolExchange()
    } else if (message['role'] === 'tool') {
      const result = exchange.result({ tool_call_id: message['toolCallId'] }, textIn(message, at), at)
      if (index > last) clientToolResults.push(result)
      else history.push(resultMessage(result))
    } else {
      const read = messageOf(message, exchange, at, index > last)
      if (read.content !== '') history.push(read)
    }
  }
  const message = blocksOf((all[last] as Members)['content'], `messages[${last}].content`)
  return { prompt: linesOf(message), message, history, clientToolResults }
}

function messageOf(message: Members, exchange: ToolExchange, at: string, isLater: boolean): ChatMessage {
  const role = roles.get(message['role'])
  if (role === undefined) {
    throw wrong(`${at}.role`, 'must be user, assistant, system, developer, tool, reasoning or activity')
  }
  const content = textIn(message, at)
  const calls = role === 'assistant' ? exchange.calls(message['toolCalls'], `${at}.toolCalls`) : ''
  if (isLater || calls === '') return { role, content }
  return { role, content: content === '' ? calls : `${content}\n${calls}` }
}

/** The text of an earlier message; its files are left out. */
function textIn({ content, role }: Members, at: string): string {
  if (!isGiven(content) && role === 'assistant') return ''
  return linesOf(blocksOf(content, `${at}.content`))
}

function blocksOf(content: unknown, at: string): readonly Content[] {
  if (typeof content === 'string') return [text(content)]
  if (!Array.isArray(content)) throw wrong(at, 'must be a string or a list of parts')
  return content.map((part: unknown, index) => partOf(part, `${at}[${index}]`))
}

function partOf(part: unknown, at: string): Content {
  const { type, text: written, source } = isRecord(part) ? part : {}
  if (type === 'text') {
    if (typeof written !== 'string') throw wrong(`${at}.text`, 'must be a string')
    return text(written)
  }
  if (type !== 'image' && type !== 'audio' && type !== 'video' && type !== 'document') {
    throw wrong(`${at}.type`, 'must be text, image, audio, video or document')
  }
  const { type: kind, value, mimeType } = isRecord(source) ? source : {}
  if (typeof value !== 'string') throw wrong(`${at}.source.value`, 'must be a string')
  const named = typeof mimeType === 'string' ? mimeType : undefined
  if (kind === 'url') {
    return { type: 'resource_link', uri: value, name: type, ...named !== undefined && { mimeType: named } }
  }
  if (kind !== 'data') throw wrong(`${at}.source.type`, 'must be data or url: no files are kept here')
  if (named === undefined) throw wrong(`${at}.source.mimeType`, 'must be a media type')
  if (decodeBase64(value) === undefined) throw wrong(`${at}.source.value`, 'must be base64')
  if (type === 'image' || type === 'audio') return { type, data: value, mimeType: named }
  return { type: 'resource', resource: { uri: `attachment:${type}`, mimeType: named, blob: value } }
}

function listIn(value: unknown, at: string): readonly unknown[] {
  if (!isGiven(value)) return []
  if (Array.isArray(value)) return value
  throw wrong(at, 'must be a list')
}

function wrong(at: string, demand: string): Fault {
  return new Fault('invalid', `${at} ${demand}`)
}
