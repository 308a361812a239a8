/**
 * The oldest transport: `GET /sse`, a stream that carries every message to the client, and
 * `POST /messages/`, which takes those from it. And, without a session, `POST /messages/` alone, which
 * answers in the body: the simplest way to try a server with curl.
 *
 * Spec: MCP 2024-11-05, Transports, HTTP with SSE.
 */
import { Fault } from '../../define/fault.ts'
import { andThen, isThenable } from '../../util/thenable.ts'
import { parseJson } from '../../wire/json.ts'
import {
  errorReply, formatError, formatResult, INVALID_PARAMS, PARSE_ERROR, rpcError,
} from '../../wire/jsonrpc.ts'
import { acceptance, JSON_TYPE } from '../../wire/media.ts'
import { EVENT_STREAM, FAREWELL, formatEvent } from '../../wire/sse.ts'
import { batchObjection, NO_BATCHES, readBatch, requestsIn, BatchAnswer } from './batch.ts'
import { anonymousPeer } from './choose.ts'
import { decodeInitialize, initializeText, dispatch } from '../methods/methods.ts'
import { readMessage, takeMessage } from '../session/messages.ts'
import { jsonAlone, PostReply } from './post-reply.ts'
import { invalid, noSession, twice } from '../protocol/replies.ts'
import { oldest } from '../protocol/revisions.ts'
import type { Origin } from '../../define/call.ts'
import type { Exchange, Overuse, Reply, Sink } from '../../http/message/exchange.ts'
import type { RpcMessage } from '../../wire/jsonrpc.ts'
import type { McpContext } from '../request/context.ts'
import type { Outlet, ResponseChannel, Session } from '../session/session.ts'
import type { RequestMessage } from '../session/messages.ts'

/** `GET /sse`: a session that lives as long as its stream. */
export function openLegacySse(mcp: McpContext, exchange: Exchange): Reply | Promise<Reply> {
  if (acceptance(exchange.head.accept, EVENT_STREAM) === 0) {
    return invalid(406, `Accept must allow ${EVENT_STREAM}`)
  }
  if (mcp.options.sessions === 'none') {
    return invalid(405, 'This server keeps no sessions; POST to /mcp', undefined, ['Allow', 'OPTIONS'])
  }
  if (exchange.method === 'HEAD') return { status: 200, type: EVENT_STREAM }
  const overuse = exchange.take('initialize', 1)
  return isThenable(overuse) ? overuse.then((later) => beginPair(mcp, exchange, later))
    : beginPair(mcp, exchange, overuse)
}

function beginPair(mcp: McpContext, exchange: Exchange, overuse: Overuse | undefined): Reply {
  if (overuse !== undefined) return invalid(429, overuse.detail, undefined, overuse.headers)
  // Whatever can fail is read before a session begins.
  const path = `${exchange.basePath}/messages/`
  let session: Session
  try {
    session = mcp.sessions.open(exchange.origin.principal.id, oldest, mcp.elsewhere?.pairId)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return noSession(error)
  }
  return {
    status: 200,
    type: EVENT_STREAM,
    body: {
      open(sink) {
        sink.write(formatEvent(`${path}?session_id=${session.id}`, 'endpoint'))
        session.outlet = new LegacySseStream(sink)
        return () => mcp.sessions.close(session)
      },
    },
  }
}

/** The stream of a pair: the way of all that is said in its session, and the way back of every request. */
class LegacySseStream implements Outlet, ResponseChannel {
  readonly sends = true
  readonly #sink: Sink

  constructor(sink: Sink) {
    this.#sink = sink
  }

  send(message: string): void { this.#sink.write(formatEvent(message, 'message')) }
  finish(message: string): void { this.send(message) }
  abandon(): void {}
  end(): void { this.#sink.end(FAREWELL) }
}

/** `POST /messages/`. */
export function postMessage(mcp: McpContext, exchange: Exchange): Reply | Promise<Reply> {
  const { limits } = mcp.service
  const parsed = parseJson(exchange.body, limits.maxDepth, limits.maxObjects)
  if (!parsed.ok) return errorReply(undefined, rpcError(PARSE_ERROR, parsed.why), 400)
  const id = sessionIdIn(exchange.query)
  if (Array.isArray(parsed.value)) return postBatch(mcp, exchange, id, parsed.value)
  const message = readMessage(parsed.value, limits.maxNameBytes)
  if (message.kind === 'malformed') return invalid(400, message.why, message.id)
  if (id === undefined) return answerInBody(mcp, exchange, message)
  return mcp.elsewhere?.passToPair(id, exchange) ?? takeForPair(mcp, id, exchange.origin, message)
}

/** An array of messages, for the one revision that has them. */
function postBatch(
  mcp: McpContext, exchange: Exchange, id: string | undefined, values: readonly unknown[],
): Reply | Promise<Reply> {
  if (id === undefined) return invalid(400, NO_BATCHES)
  const messages = readBatch(values, mcp.service.limits)
  if (typeof messages === 'string') return invalid(400, messages)
  const { body, origin } = exchange
  const pass = (overuse: Overuse | undefined): Reply | Promise<Reply> => {
    if (overuse !== undefined) return invalid(429, overuse.detail, undefined, overuse.headers)
    return mcp.elsewhere?.passToPair(id, { body, origin }) ?? takeBatchForPair(mcp, id, origin, messages)
  }
  // Each is a call; one of them is counted already. Only here is it known whose.
  const { length } = requestsIn(messages)
  const overuse = length > 1 ? exchange.take('call', length - 1) : undefined
  return andThen(overuse, pass)
}

/** Takes what other processes get for the streams that are here. */
export function followLegacySse(mcp: McpContext): void {
  const { limits } = mcp.service
  mcp.elsewhere?.onPair((id, origin, body) => {
    const parsed = parseJson(body, limits.maxDepth, limits.maxObjects)
    const value = parsed.ok ? parsed.value : undefined
    if (!Array.isArray(value)) return takeForPair(mcp, id, origin, readMessage(value, limits.maxNameBytes))
    const messages = readBatch(value, limits)
    return typeof messages === 'string' ? invalid(400, messages) : takeBatchForPair(mcp, id, origin, messages)
  })
}

/** Takes a message for the session of a stream that is here, whichever process it came to. */
function takeForPair(mcp: McpContext, id: string, origin: Origin, message: RpcMessage): Reply {
  const session = mcp.sessions.find(id, origin.principal.id)
  // A session of `/mcp` has no stream that its answers could travel on.
  if (!(session?.outlet instanceof LegacySseStream)) return noPair()
  if (message.kind === 'request' && session.isRunning(message.id)) return twice(message.id)
  answerOnStream(mcp, origin, session, session.outlet, message)
  return accepted
}

/** The same for a batch, whose answers travel together. */
function takeBatchForPair(
  mcp: McpContext, id: string, origin: Origin, messages: readonly RpcMessage[],
): Reply {
  const session = mcp.sessions.find(id, origin.principal.id)
  const stream = session?.outlet
  if (session === undefined || !(stream instanceof LegacySseStream)) return noPair()
  const objection = batchObjection(messages, session.revision)
  if (objection !== undefined) return invalid(400, objection)
  const requests = requestsIn(messages)
  for (const message of requests) if (session.isRunning(message.id)) return twice(message.id)
  for (const message of messages) if (message.kind !== 'request') takeMessage(session, message)
  const { maxResultBytes } = mcp.service.limits
  const batch = new BatchAnswer(requests.length, maxResultBytes, (text) => {
    if (text !== undefined) stream.finish(text)
  })
  for (const message of requests) {
    dispatch(mcp, message, session, origin, {
      sends: true,
      send: (text) => stream.send(text),
      finish: (text) => batch.answer(message, text),
      abandon: () => batch.answer(message, undefined),
    })
  }
  return accepted
}

const accepted: Reply = Object.freeze({
  status: 202, type: 'text/plain; charset=utf-8', body: 'Accepted',
})

function noPair(): Reply {
  return invalid(404, 'There is no such session, or it has ended; open /sse again')
}

/** What a query begins with that comes back as it was told. */
const NAMED = 'session_id='

function sessionIdIn(query: string): string | undefined {
  if (query === '') return undefined
  // What needs no decoding is taken as it is: to read a query of any form costs a tenth of a round trip.
  const plain = query.startsWith(NAMED) ? query.slice(NAMED.length) : ''
  if (/^[\w-]+$/.test(plain)) return plain
  const params = new URLSearchParams(query)
  return params.get('session_id') ?? params.get('sessionId') ?? undefined
}

function answerOnStream(
  mcp: McpContext, origin: Origin, session: Session, channel: ResponseChannel, message: RpcMessage,
): void {
  if (message.kind !== 'request') return void takeMessage(session, message)
  if (message.method !== 'initialize') {
    dispatch(mcp, message, session, origin, channel)
    return
  }
  const handshake = decodeInitialize(message.params)
  if (typeof handshake === 'string') {
    return channel.finish(formatError(message.id, rpcError(INVALID_PARAMS, handshake)))
  }
  session.settle(handshake)
  channel.finish(formatResult(message.id, initializeText(mcp, handshake.revision, true)))
}

/** Without a session the answer is the body of the response; nothing is needed first. */
function answerInBody(mcp: McpContext, exchange: Exchange, message: RpcMessage): Reply | Promise<Reply> {
  if (message.kind !== 'request') return { status: 202 }
  if (message.method === 'initialize') {
    const overuse = exchange.take('initialize', 1)
    return isThenable(overuse) ? overuse.then((later) => greetInBody(mcp, message, later))
      : greetInBody(mcp, message, overuse)
  }
  const peer = anonymousPeer(oldest)
  const post = new PostReply(peer, jsonAlone, mcp.service.timers, mcp.service.limits.heartbeatMs)
  const request = dispatch(mcp, message, peer, exchange.origin, post)
  const reply = post.reply()
  // Nobody else could fetch the answer.
  if (isThenable(reply)) exchange.origin.onDisconnect(() => request?.leave())
  return reply
}

function greetInBody(
  mcp: McpContext, { id, params }: RequestMessage, overuse: Overuse | undefined,
): Reply {
  if (overuse !== undefined) return invalid(429, overuse.detail, id, overuse.headers)
  const handshake = decodeInitialize(params)
  if (typeof handshake === 'string') return errorReply(id, rpcError(INVALID_PARAMS, handshake), 200)
  const body = formatResult(id, initializeText(mcp, handshake.revision, false))
  return { status: 200, type: JSON_TYPE, body }
}
