/**
 * What is posted: a message, or a batch, which is read and checked as a whole before any message is taken,
 * and answered as one array. Only one revision has batches.
 * Spec: MCP 2025-03-26, Base Protocol, Batching; Lifecycle, Initialization.
 */
import { parseJson } from '../../../floors/bounds/parse-json.ts'
import {
  errorReply, formatError, INVALID_REQUEST, PARSE_ERROR, rpcError,
} from '../../../floors/jsonrpc/jsonrpc.ts'
import { answerCounted, invalid } from '../protocol/replies.ts'
import { readMessage } from '../session/messages.ts'
import { dispatch } from '../methods/methods.ts'
import { claimsModern } from './choose.ts'
import { PostReply } from './post-reply.ts'
import type { Id } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { Origin } from '../../../kernel/define/call.ts'
import type { Exchange, Reply } from '../../../kernel/http/message/exchange.ts'
import type { McpServer } from '../methods/methods.ts'
import type { McpRequest } from '../request/request.ts'
import type { McpMessage, RequestMessage } from '../session/messages.ts'
import type { AnswerHead, Peer, ResponseChannel } from '../session/session.ts'
import type { Forms } from './post-reply.ts'
import type { Revision } from '../protocol/revisions.ts'

export const NO_BATCHES = 'This revision has no batches'

/** A body as a message, or as a batch; the reply to what is neither. */
export function readPosted(mcp: McpServer, body: string): McpMessage | readonly McpMessage[] | Reply {
  const { limits } = mcp.service
  const parsed = parseJson(body, limits.maxDepth, limits.maxObjects)
  if (!parsed.ok) return errorReply(undefined, rpcError(PARSE_ERROR, parsed.why), 400)
  if (Array.isArray(parsed.value)) {
    const messages = readBatch(parsed.value, mcp)
    return typeof messages === 'string' ? invalid(400, messages) : messages
  }
  const message = readMessage(parsed.value, limits.maxNameBytes)
  return message.kind === 'malformed' ? invalid(400, message.why, message.id) : message
}

/** The id of what was posted, where that is one request. */
export function idOf(posted: McpMessage | readonly McpMessage[]): Id | undefined {
  return 'kind' in posted && posted.kind === 'request' ? posted.id : undefined
}

export function readBatch(
  values: readonly unknown[], { limits: { maxBatch }, service: { limits: { maxNameBytes } } }: McpServer,
): readonly McpMessage[] | string {
  if (values.length === 0) return 'A batch must not be empty'
  if (values.length > maxBatch) return `A batch may hold ${maxBatch} messages`
  return values.map((value) => readMessage(value, maxNameBytes))
}

/** Why messages are no batch of a revision; undefined where they are. */
export function batchObjection(messages: readonly McpMessage[], revision: Revision): string | undefined {
  if (!revision.batches) return NO_BATCHES
  for (const message of messages) {
    if (message.kind === 'malformed') return message.why
    if ('method' in message && message.method === 'initialize') return 'initialize must not be in a batch'
  }
  const requests = requestsIn(messages)
  const ids = new Set(requests.map(({ id }) => id))
  return ids.size < requests.length ? 'Two requests of the batch have one id' : undefined
}

export function requestsIn(messages: readonly McpMessage[]): readonly RequestMessage[] {
  return messages.filter((message) => message.kind === 'request')
}

/** Counts the requests of a batch as calls, and takes it; one of them is counted already. */
export function countBatch(
  exchange: Exchange, messages: readonly McpMessage[], take: () => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
  return answerCounted(exchange, 'call', requestsIn(messages).length - 1, undefined, take)
}

/** Takes the answer to a message of a batch; undefined: there is none. */
export type TakeAnswer = (
  message: McpMessage, text: string | undefined, status?: number, more?: AnswerHead,
) => void

/** Gives the answer to each message of one batch; where there is no room for it, an error instead. */
function withinBytes(max: number): (message: McpMessage, text: string) => string {
  let taken = 0
  return (message, text) => {
    const bytes = Buffer.byteLength(text)
    if (taken + bytes > max) return refusal(message, `The answers of this batch are larger than ${max} bytes`)
    taken += bytes
    return text
  }
}

/** Collects the answers to one batch, at most `maxBytes` together, and sends them when the last is there. */
export function collectAnswers(owed: number, maxBytes: number, send: (text: string) => void): TakeAnswer {
  const fit = withinBytes(maxBytes)
  const answers: string[] = []
  let left = owed
  return (message, text) => {
    if (text !== undefined) answers.push(fit(message, text))
    left--
    if (left === 0 && answers.length > 0) send(`[${answers.join(',')}]`)
  }
}

/** Runs the requests of a batch; what else they send goes out on `channel`. Returns those without answer. */
export function runBatch(
  mcp: McpServer, requests: readonly RequestMessage[], peer: Peer, origin: Origin,
  channel: Pick<ResponseChannel, 'sends' | 'send'>, take: TakeAnswer,
): readonly McpRequest[] {
  const { sends } = channel
  const send = (text: string): void => channel.send(text)
  return requests.flatMap((message) => {
    const request = dispatch(mcp, message, peer, origin, {
      sends, send, finish: take.bind(undefined, message), abandon: () => take(message, undefined),
    })
    return request === undefined || request.isFinished ? [] : [request]
  })
}

/** The reply to a POST of several requests: the list of their answers, or a stream with an event for each. */
export function replyToBatch(
  mcp: McpServer, peer: Peer, forms: Forms, requests: readonly RequestMessage[], exchange: Exchange,
): Reply | Promise<Reply> {
  const fit = withinBytes(mcp.service.limits.maxResultBytes)
  const answers: string[] = []
  let owed = requests.length
  /** The HTTP status of the answers, as long as they agree. */
  let status: number | undefined
  const reply = new PostReply(mcp, peer, forms, exchange, requests, () => {
    for (const answer of answers) reply.send(answer)
  })
  const take: TakeAnswer = (message, text, own = 200, more) => {
    owed--
    const answer = text === undefined ? undefined : fit(message, text)
    if (reply.isStream) {
      if (answer !== undefined) reply.send(answer)
      if (owed === 0) reply.end()
      return
    }
    if (answer !== undefined) {
      answers.push(answer)
      status = status === undefined || status === own ? own : 200
    }
    if (owed > 0) return
    if (answers.length === 0) reply.abandon()
    else if (!forms.json && status === 200) reply.end()
    else reply.finish(`[${answers.join(',')}]`, status, status === 200 ? undefined : more)
  }
  return reply.known(runBatch(mcp, requests, peer, exchange.origin, reply, take))
}

export function owesAnswer(message: McpMessage): boolean {
  return message.kind === 'request' || (message.kind === 'malformed' && message.isNoRequest !== true)
}

/** Why a message cannot be part of a batch; undefined where it can. */
export function partObjection(mcp: McpServer, message: McpMessage): string | undefined {
  if (message.kind !== 'request') return undefined
  if (message.method === 'initialize') return 'initialize must not be in a batch'
  return claimsModern(mcp, message) ? NO_BATCHES : undefined
}

/** An error as an answer. An id that could not be read is left out. */
export function refusal(
  message: McpMessage | undefined, why: string, code: number = INVALID_REQUEST,
): string {
  const id = message !== undefined && 'id' in message ? message.id : undefined
  return formatError(id ?? undefined, rpcError(code, why))
}
