/**
 * Streamable HTTP: `POST`, `GET` and `DELETE /mcp`, for all five revisions.
 * Spec: MCP 2025-11-25 and 2026-07-28, Transports.
 */
import { sharedOf } from '../../../floors/shared/shared-of.ts'
import { isThenable } from '../../../kernel/util/thenable.ts'
import { errorReply, formatResult, INVALID_PARAMS, rpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import { acceptance } from '../../../floors/reply/acceptance.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { onlyValue } from '../../../kernel/wire/only-value.ts'
import { EVENT_STREAM } from '../../../kernel/wire/sse.ts'
import {
  batchObjection, countBatch, idOf, NO_BATCHES, readPosted, replyToBatch, requestsIn,
} from './batch.ts'
import { isModern, legacyPeer, modernHttpPeer, sessionIdOf } from './choose.ts'
import { decodeInitialize, initializeText } from '../methods/methods.ts'
import { takeMessage } from '../session/messages.ts'
import { replyToMessage } from './post-reply.ts'
import { parseEventId } from '../session/replay.ts'
import { answerCounted, duplicate, invalid, unavailable } from '../protocol/replies.ts'
import { noEvent, positionEvent, resumeFromPeer } from './resume.ts'
import { revisionByName } from '../protocol/revisions.ts'
import type { Id } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { Origin } from '../../../kernel/define/call.ts'
import type { Exchange, Reply } from '../../../kernel/http/message/exchange.ts'
import type { McpServer } from '../methods/methods.ts'
import type { McpMessage, RequestMessage } from '../session/messages.ts'
import type { Forms } from './post-reply.ts'
import type { Peer, Session } from '../session/session.ts'

/** What an `Accept` header allows; undefined: neither. */
export function formsOf(accept: string | undefined): Forms | undefined {
  const json = acceptance(accept, JSON_TYPE) > 0
  const events = acceptance(accept, EVENT_STREAM) > 0
  return json || events ? { json, events } : undefined
}

export function post(mcp: McpServer, exchange: Exchange): Reply | Promise<Reply> {
  const forms = formsOf(exchange.head.accept)
  if (forms === undefined) return invalid(406, `Accept must allow ${JSON_TYPE} or ${EVENT_STREAM}`)
  const posted = readPosted(mcp, exchange.body)
  if ('status' in posted) return posted
  return withSession(mcp, () => (
    'kind' in posted ? answerMessage(mcp, exchange, posted, forms) : answerBatch(mcp, exchange, posted, forms)
  ), exchange, idOf(posted))
}

function answerMessage(
  mcp: McpServer, exchange: Exchange, message: McpMessage, forms: Forms,
): Reply | Promise<Reply> {
  if (isModern(mcp, message, exchange)) {
    if (message.kind === 'response') return invalid(400, 'A response cannot be posted', message.id)
    // Ids are the client's own and there is no session, so no notification can be acted on.
    if (message.kind !== 'request') return { status: 202 }
    const peer = modernHttpPeer(mcp, message, exchange)
    return 'status' in peer ? peer : replyToMessage(mcp, peer, forms, message, exchange)
  }
  if (message.kind === 'request' && message.method === 'initialize') {
    return answerCounted(exchange, 'initialize', 1, message.id, () => begin(mcp, exchange, message))
  }
  const peer = legacyPeer(mcp, exchange, message.kind === 'request' ? message.id : undefined)
  if ('status' in peer) return peer
  if (message.kind !== 'request') return take(mcp, peer.session, [message])
  if (peer.session?.isRunning(message.id) === true) return duplicate(message.id)
  return replyToMessage(mcp, peer, forms, message, exchange)
}

/** Takes what owes no answer, here or in the process that it is for. */
function take(
  mcp: McpServer, session: Session | undefined, messages: readonly McpMessage[],
): Reply | Promise<Reply> {
  let passed: Promise<void> | undefined
  for (const message of messages) {
    if (takeMessage(session, message) || session === undefined) continue
    const sent = mcp.migration?.pass(session, message)
    if (sent !== undefined) passed = passed === undefined ? sent : Promise.all([passed, sent]).then(() => {})
  }
  return passed === undefined ? { status: 202 } : passed.then(() => ({ status: 202 }), unavailable)
}

function begin(mcp: McpServer, exchange: Exchange, { id, params }: RequestMessage): Reply {
  const sessionId = sessionIdOf(mcp, exchange)
  const owner = exchange.origin.principal.id
  if (sessionId !== undefined && mcp.sessions.find(sessionId, owner) !== undefined) {
    return invalid(400, 'This session has begun already; leave out Mcp-Session-Id to begin another', id)
  }
  const handshake = decodeInitialize(params)
  if (typeof handshake === 'string') return errorReply(id, rpcError(INVALID_PARAMS, handshake), 200)
  const hasSessions = mcp.options.sessions !== 'none'
  const body = formatResult(id, initializeText(mcp, handshake.revision, hasSessions))
  if (!hasSessions) return { status: 200, type: JSON_TYPE, body }
  try {
    const sealed = mcp.migration?.sessionId(owner, handshake)
    const session = mcp.sessions.open(owner, handshake.revision, sealed)
    session.settle(handshake)
    return { status: 200, type: JSON_TYPE, body, headers: ['Mcp-Session-Id', session.id] }
  } catch (error) {
    return unavailable(error, id)
  }
}

/** An array of messages, for the one revision that has them. */
function answerBatch(
  mcp: McpServer, exchange: Exchange, messages: readonly McpMessage[], forms: Forms,
): Reply | Promise<Reply> {
  if (messages.some((message) => 'method' in message && isModern(mcp, message, exchange))) {
    return invalid(400, NO_BATCHES)
  }
  const peer = legacyPeer(mcp, exchange)
  if ('status' in peer) return peer
  const objection = batchObjection(messages, peer.revision)
  if (objection !== undefined) return invalid(400, objection)
  return countBatch(exchange, messages, () => takeBatch(mcp, exchange, messages, peer, forms))
}

function takeBatch(
  mcp: McpServer, exchange: Exchange, messages: readonly McpMessage[], peer: Peer, forms: Forms,
): Reply | Promise<Reply> {
  const taken = take(mcp, peer.session, messages.filter((message) => message.kind !== 'request'))
  const requests = requestsIn(messages)
  if (requests.length === 0) return taken
  // An answer that could not be passed on is sent again; the requests beside it are answered all the same.
  if (isThenable(taken)) taken.catch(() => {})
  for (const { id } of requests) if (peer.session?.isRunning(id) === true) return duplicate(id)
  return replyToBatch(mcp, peer, forms, requests, exchange)
}

/** The session that GET and DELETE are about, or why there is none. */
function sessionOf(mcp: McpServer, exchange: Exchange): Session | Reply {
  const isModernOnly = revisionByName.get(exchange.head.mcpProtocolVersion)?.opening === 'each-request'
  if (isModernOnly || mcp.options.sessions === 'none') {
    return invalid(405, 'Only POST is answered here', undefined, ['Allow', 'POST'])
  }
  if (sessionIdOf(mcp, exchange) === undefined) {
    return invalid(400, 'The Mcp-Session-Id header is missing; begin with initialize')
  }
  const peer = legacyPeer(mcp, exchange)
  return 'status' in peer ? peer : peer.session!
}

/** Handles a request once its session is here. */
export function withSession(
  mcp: McpServer, handle: (mcp: McpServer, exchange: Exchange) => Reply | Promise<Reply>,
  exchange: Exchange, id?: Id,
): Reply | Promise<Reply> {
  const adopted = mcp.migration?.adopt(sessionIdOf(mcp, exchange), exchange)
  return adopted === undefined ? handle(mcp, exchange)
    : adopted.then(() => handle(mcp, exchange), (error: unknown) => unavailable(error, id))
}

/** `GET /mcp`: the stream of a session, or the rest of one that was interrupted. */
export function get(mcp: McpServer, exchange: Exchange): Reply | Promise<Reply> {
  if (acceptance(exchange.head.accept, EVENT_STREAM) === 0) {
    return invalid(406, `Accept must allow ${EVENT_STREAM}`)
  }
  const session = sessionOf(mcp, exchange)
  if ('status' in session) return session
  // Whose last event had no id may write an empty one.
  const lastEventId = onlyValue(exchange.header('last-event-id') ?? '')
  if (exchange.method === 'HEAD') return { status: 200, type: EVENT_STREAM }
  const { origin } = exchange
  return lastEventId === '' ? openStandalone(session, origin) : resume(mcp, session, lastEventId, origin)
}

function resume(
  mcp: McpServer, session: Session, lastEventId: string, origin: Origin,
): Reply | Promise<Reply> {
  const event = parseEventId(lastEventId)
  if (event === undefined) return noEvent()
  const shared = sharedOf(mcp.service)
  const stream = session.streamOf(event.stream)
  if (stream === undefined || stream.hasLost(event.number)) {
    const { node } = event
    if (shared === undefined || node === undefined || node === shared.cluster.id) return noEvent()
    const begin = (): Reply => openStandalone(session, origin)
    return resumeFromPeer(mcp, shared, session, node, event, lastEventId, begin)
  }
  const first = shared === undefined ? '' : positionEvent(session, lastEventId)
  return { status: 200, type: EVENT_STREAM, body: stream.source(event.number, first, origin) }
}

/**
 * The stream for messages of a session that belong to no request. A client that opens another one has lost
 * the first, often before this server could notice.
 */
function openStandalone(session: Session, origin: Origin): Reply {
  // What its client has not read can still be resumed, for a while.
  session.standalone?.finish()
  const stream = session.openStream()
  session.standalone = stream
  session.outlet = stream
  if (session.revision.primes) stream.send('')
  return { status: 200, type: EVENT_STREAM, body: stream.source(0, '', origin) }
}

export function remove(mcp: McpServer, exchange: Exchange): Reply | Promise<Reply> {
  const session = sessionOf(mcp, exchange)
  if ('status' in session) return session
  // Another process that does not learn of the end would go on with the session.
  const ended = mcp.migration?.end(session)
  if (ended !== undefined) return ended.then(() => ({ status: 200 }), unavailable)
  mcp.sessions.close(session)
  return { status: 200 }
}
