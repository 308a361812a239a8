/**
 * Decodes the input of a run of AG-UI: the messages of its thread, the tools of the client, its answers to
 * questions. Throws `Fault('invalid')` for the first thing that is wrong.
 * Spec: AG-UI 1.0, RunAgentInput.
 */
import { createHash } from 'node:crypto'
import { isGiven, isRecord, text } from '../../define/content.ts'
import { CONVERSATION_ID } from '../../state/conversation-page.ts'
import { decodeBase64 } from '../../wire/base64.ts'
import { decodeMessages } from '../openai/chat-messages.ts'
import { clientToolsIn, listIn } from '../openai/chat-tools.ts'
import { nameIn, wrongBody, wrongParam } from '../openai/openai-errors.ts'
import type { Content } from '../../define/content.ts'
import type { JsonBounds } from '../../wire/json.ts'
import type { ChatDialect } from '../openai/chat-messages.ts'
import type { AgentInput } from '../reply/run-stream.ts'

/** The client's answer to one question of the run before. */
export interface Resume {
  readonly interruptId: string
  readonly isCancelled: boolean
  readonly payload: unknown
}

export interface RunInput extends AgentInput {
  readonly threadId: string
  readonly runId: string
  readonly resume: readonly Resume[]
}

const thread: ChatDialect = {
  list: 'messages', roles: 'user, assistant, system, developer, tool, reasoning or activity',
  calls: 'toolCalls', callId: 'toolCallId', needsResults: false, blockOf: partOf,
}
/** Members that an agent gets as they came. */
const passed = ['state', 'context', 'forwardedProps'] as const
/** What clients show, and no agent has said. */
const unread: ReadonlySet<unknown> = new Set(['reasoning', 'activity'])

export function decodeRunInput(body: unknown, bounds: JsonBounds): RunInput {
  if (!isRecord(body)) throw wrongBody('must be a JSON object with threadId, runId and messages')
  const { messages, tools, resume } = body
  const threadId = nameIn(body['threadId'], 'threadId')
  const runId = nameIn(body['runId'], 'runId')
  const metadata: Record<string, unknown> = {}
  for (const name of passed) if (isGiven(body[name])) metadata[name] = body[name]
  const all = listIn(messages, 'messages').map((message) => (
    isRecord(message) && unread.has(message['role']) ? undefined : message
  ))
  const { prompt, message, history, clientToolResults } = decodeMessages(all, thread, bounds)
  const conversationId = conversationOf(threadId)
  return {
    protocol: 'http', sessionId: conversationId, conversationId, isNamed: true, threadId, runId,
    prompt, message, history, clientToolResults, metadata,
    clientTools: clientToolsIn(tools),
    resume: listIn(resume, 'resume').map(resumeOf),
  }
}

/** Threads have ids of any form, and conversations do not. */
function conversationOf(threadId: string): string {
  if (CONVERSATION_ID.test(threadId)) return threadId
  return createHash('sha256').update(threadId).digest('base64url')
}

function resumeOf(entry: unknown, index: number): Resume {
  const { interruptId, status, payload } = isRecord(entry) ? entry : {}
  if (typeof interruptId !== 'string') throw wrongParam(`resume[${index}].interruptId`, 'must be a string')
  if (status !== 'resolved' && status !== 'cancelled') {
    throw wrongParam(`resume[${index}].status`, 'must be resolved or cancelled')
  }
  return { interruptId, isCancelled: status === 'cancelled', payload }
}

function partOf(part: unknown, at: string): Content {
  const { type, text: written, source } = isRecord(part) ? part : {}
  if (type === 'text') {
    if (typeof written !== 'string') throw wrongParam(`${at}.text`, 'must be a string')
    return text(written)
  }
  if (type !== 'image' && type !== 'audio' && type !== 'video' && type !== 'document') {
    throw wrongParam(`${at}.type`, 'must be text, image, audio, video or document')
  }
  const { type: kind, value, mimeType } = isRecord(source) ? source : {}
  if (typeof value !== 'string') throw wrongParam(`${at}.source.value`, 'must be a string')
  const named = isGiven(mimeType) ? nameIn(mimeType, `${at}.source.mimeType`) : undefined
  if (kind === 'url') {
    const uri = nameIn(value, `${at}.source.value`)
    return { type: 'resource_link', uri, name: type, ...named !== undefined && { mimeType: named } }
  }
  if (kind !== 'data') throw wrongParam(`${at}.source.type`, 'must be data or url: no files are kept here')
  if (named === undefined) throw wrongParam(`${at}.source.mimeType`, 'must be a media type')
  if (decodeBase64(value) === undefined) throw wrongParam(`${at}.source.value`, 'must be base64')
  if (type === 'image' || type === 'audio') return { type, data: value, mimeType: named }
  return { type: 'resource', resource: { uri: `attachment:${type}`, mimeType: named, blob: value } }
}
