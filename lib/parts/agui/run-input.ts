/**
 * Decodes the input of a run of AG-UI: the messages of its thread, the tools of the client, its answers to
 * questions. Throws `Fault('invalid')` for the first thing that is wrong, but not for earlier messages: front
 * ends send those as they are, and no user can mend them.
 * Spec: AG-UI 1.0, RunAgentInput; 0.0.37 to 0.0.57 for parts of the type `binary`.
 */
import { createHash } from 'node:crypto'
import { base64, isGiven, isRecord, text } from '../../kernel/define/content.ts'
import { CONVERSATION_ID } from '../../floors/conversations/conversation-page.ts'
import { isName } from '../../kernel/wire/bounded.ts'
import { clientToolsIn } from '../../floors/chat/client-tools.ts'
import { readDataUrl } from '../../floors/chat/data-url.ts'
import { listIn, nameIn, wrongBody, wrongMember } from '../../floors/chat/members.ts'
import { decodeMessages } from '../../floors/chat/messages.ts'
import { attachmentOf } from '../../floors/conversations/message.ts'
import type { JsonBounds } from '../../floors/bounds/parse-json.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { AgentInput, ChatDialect } from '../../floors/chat/messages.ts'
import type { PassedOver } from '../../floors/chat/passed-over.ts'

/** The client's answer to one question of the run before. */
export interface Resume {
  readonly interruptId: string
  readonly isCancelled: boolean
  readonly payload: unknown
}

export interface RunInput extends AgentInput {
  readonly threadId: string
  readonly runId: string
  /** The run that it goes on from, by the client's word. */
  readonly parentRunId: string | undefined
  readonly resume: readonly Resume[]
  /** Whether the client declares the version that it speaks, and so expects ours. */
  readonly isVersioned: boolean
}

const thread: ChatDialect = {
  list: 'messages', roles: 'user, assistant, system, developer, tool, reasoning or activity',
  calls: 'toolCalls', callId: 'toolCallId', isLenient: true, blockOf,
  isTextPart: ({ type, text: written }) => type === 'text' && typeof written === 'string',
}
/** Members that an agent gets as they came. */
const handedOn = ['state', 'context', 'forwardedProps'] as const
/** That of a data URL without one (RFC 2397). */
const PLAIN_TEXT = 'text/plain'
/** What clients show, and no agent has said. */
const unread: ReadonlySet<unknown> = new Set(['reasoning', 'activity'])

export function decodeRunInput(body: unknown, passed: PassedOver, bounds: JsonBounds): RunInput {
  if (!isRecord(body)) throw wrongBody('must be a JSON object with threadId, runId and messages')
  const { messages, tools, resume, parentRunId } = body
  const threadId = nameIn(body['threadId'], 'threadId')
  const runId = nameIn(body['runId'], 'runId')
  const metadata: Record<string, unknown> = {}
  for (const name of handedOn) if (isGiven(body[name])) metadata[name] = body[name]
  if (!Array.isArray(messages)) throw wrongMember('messages', 'must be a list, which may be empty')
  const all = messages.map((message: unknown) => {
    if (!isRecord(message)) return message
    return unread.has(message['role']) ? undefined : withoutMirrors(message)
  })
  const { prompt, message, history, clientToolResults } = decodeMessages(all, thread, bounds, passed)
  const conversationId = conversationOf(threadId)
  return {
    protocol: 'http', sessionId: conversationId, conversationId, isNamed: true, threadId, runId,
    parentRunId: isGiven(parentRunId) ? nameIn(parentRunId, 'parentRunId') : undefined,
    prompt, message, history, clientToolResults, metadata,
    clientTools: clientToolsIn(tools),
    resume: listIn(resume, 'resume').map(resumeOf),
    isVersioned: typeof body['protocolVersion'] === 'string',
  }
}

/** Threads have ids of any form, and conversations do not. */
function conversationOf(threadId: string): string {
  if (CONVERSATION_ID.test(threadId)) return threadId
  return createHash('sha256').update(threadId).digest('base64url')
}

function resumeOf(entry: unknown, index: number): Resume {
  const { interruptId, status, payload } = isRecord(entry) ? entry : {}
  if (typeof interruptId !== 'string') throw wrongMember(`resume[${index}].interruptId`, 'must be a string')
  if (status !== 'resolved' && status !== 'cancelled') {
    throw wrongMember(`resume[${index}].status`, 'must be resolved or cancelled')
  }
  return { interruptId, isCancelled: status === 'cancelled', payload }
}

/** Without the files in the form of before 1.0 that stand beside the same in the present form. */
function withoutMirrors(message: Readonly<Record<string, unknown>>): unknown {
  const { content } = message
  const isOld = (part: unknown): boolean => isRecord(part) && part['type'] === 'binary'
  if (!Array.isArray(content) || !content.some(isOld)) return message
  const present = new Set<unknown>()
  for (const part of content) {
    const source: unknown = isRecord(part) ? part['source'] : undefined
    if (isRecord(source)) present.add(source['value'])
  }
  const isMirror = (part: unknown): boolean => (
    isRecord(part) && isOld(part) && (present.has(part['data']) || present.has(part['url']))
  )
  return { ...message, content: content.filter((part) => !isMirror(part)) }
}

/** A part of the present message. One that is not known here is data: the agent may know it. */
function blockOf(part: unknown, at: string): Content {
  if (typeof part === 'string') return text(part)
  const { type, text: written } = isRecord(part) ? part : {}
  if (type === 'text') {
    if (typeof written !== 'string') throw wrongMember(`${at}.text`, 'must be a string')
    return text(written)
  }
  const file = isRecord(part) ? fileIn(part, at) : undefined
  return file === undefined ? { type: 'data', data: part } : blockOfFile(file)
}

interface GivenFile {
  readonly kind: 'image' | 'audio' | 'video' | 'document' | 'binary'
  readonly at: string
  /** An address, or base64. */
  readonly value: string
  readonly isUrl: boolean
  readonly mimeType: string | undefined
  readonly name: unknown
}

/** The file of a part; undefined for one of another type, and for one that its provider keeps. */
function fileIn(
  { type, source, metadata, ...part }: Readonly<Record<string, unknown>>, at: string,
): GivenFile | undefined {
  if (type === 'binary') {
    const { data, url, mimeType, filename: name } = part
    const isUrl = typeof data !== 'string' || data === ''
    const value = isUrl ? url : data
    if (typeof value !== 'string') return undefined
    const named = mediaTypeIn(mimeType, `${at}.mimeType`)
    return { kind: type, at: `${at}.${isUrl ? 'url' : 'data'}`, value, isUrl, mimeType: named, name }
  }
  if (type !== 'image' && type !== 'audio' && type !== 'video' && type !== 'document') return undefined
  const { type: how, value, mimeType } = isRecord(source) ? source : {}
  if (typeof how === 'string' && how !== 'data' && how !== 'url') return undefined
  if (how !== 'data' && how !== 'url') throw wrongMember(`${at}.source.type`, 'must be data or url')
  if (typeof value !== 'string') throw wrongMember(`${at}.source.value`, 'must be a string')
  const named = mediaTypeIn(mimeType, `${at}.source.mimeType`)
  const name = isRecord(metadata) ? metadata['filename'] : undefined
  return { kind: type, at: `${at}.source.value`, value, isUrl: how === 'url', mimeType: named, name }
}

function mediaTypeIn(value: unknown, at: string): string | undefined {
  return isGiven(value) ? nameIn(value, at) : undefined
}

function blockOfFile({ kind, at, value, isUrl, mimeType, name }: GivenFile): Content {
  const called = isName(name) && name !== '' ? name : kind
  const held = readDataUrl(value)
  if (held === undefined && isUrl) {
    return {
      type: 'resource_link', uri: nameIn(value, at), name: called,
      ...mimeType !== undefined && { mimeType },
    }
  }
  const data = held === undefined ? base64(value) : held.data
  if (!data) throw wrongMember(at, 'must be base64')
  const type = held?.mimeType ?? mimeType
  if (type === undefined) {
    if (held === undefined) throw wrongMember(at, 'needs a mimeType beside it')
    return attachmentOf(data, PLAIN_TEXT, called)
  }
  return kind === 'image' || kind === 'audio' ? { type: kind, data, mimeType: type }
    : attachmentOf(data, type, called)
}
