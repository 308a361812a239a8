/**
 * Streamable HTTP: `POST`, `GET` and `DELETE /mcp`, for all five revisions.
 *
 * Spec: MCP 2025-11-25 and 2026-07-28, Transports.
 */
import { Fault } from '../../define/fault.ts'
import { isThenable } from '../../util/thenable.ts'
import { parseJson } from '../../wire/json.ts'
import { errorReply, formatResult, INVALID_PARAMS, PARSE_ERROR, rpcError } from '../../wire/jsonrpc.ts'
import { acceptance, JSON_TYPE } from '../../wire/media.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import { batchObjection, NO_BATCHES, readBatch, requestsIn, BatchBytes, BatchPart } from './batch.ts'
import { isModern, legacyPeer, modernHttpPeer } from './choose.ts'
import { decodeInitialize, initializeText, dispatch, isStreamed } from '../methods/methods.ts'
import { readMessage, takeMessage } from '../session/messages.ts'
import { formsOf, jsonAlone, PostReply } from './post-reply.ts'
import { parseEventId } from '../session/replay.ts'
import { invalid, noSession, twice, unavailable } from '../protocol/replies.ts'
import { noEvent, placeEvent, resumeElsewhere } from './resume.ts'
import { revisionByName } from '../protocol/revisions.ts'
import type { Exchange, Overuse, Reply } from '../../http/message/exchange.ts'
import type { McpContext } from '../request/context.ts'
import type { RpcMessage } from '../../wire/jsonrpc.ts'
import type { RequestMessage } from '../session/messages.ts'
import type { Forms } from './post-reply.ts'
import type { Peer, Session } from '../session/session.ts'

/** `POST /mcp`. `body` is that of the exchange, which is gone where something had to be waited for. */
export function post(
  mcp: McpContext, exchange: Exchange, body: string = exchange.body,
): Reply | Promise<Reply> {
  const forms = formsOf(exchange.head.accept)
  if (forms === undefined) return invalid(406, `Accept must allow ${JSON_TYPE} or ${EVENT_STREAM}`)
  const { limits } = mcp.service
  const parsed = parseJson(body, limits.maxDepth, limits.maxObjects)
  if (!parsed.ok) return errorReply(undefined, rpcError(PARSE_ERROR, parsed.why), 400)
  if (Array.isArray(parsed.value)) return postBatch(mcp, exchange, parsed.value, withRoom(forms, exchange))

  const message = readMessage(parsed.value, limits.maxNameBytes)
  if (message.kind === 'malformed') return invalid(400, message.why, message.id)
  const claim = message.kind === 'response' ? { method: undefined, params: undefined } : message
  const id = message.kind === 'request' ? message.id : undefined

  if (isModern(claim, exchange)) {
    if (message.kind === 'response') return invalid(400, 'A response cannot be posted', message.id)
    // Ids are the client's own and there is no session, so no notification can be acted on.
    if (message.kind === 'notification') return { status: 202 }
    const peer = modernHttpPeer(mcp, message, exchange)
    if ('error' in peer) return errorReply(id, peer.error, peer.status)
    return answerOne(mcp, exchange, message, peer, withRoom(forms, exchange, message))
  }
  if (message.kind === 'request' && message.method === 'initialize') return initialize(mcp, exchange, message)
  const peer = legacyPeer(mcp, exchange)
  if ('error' in peer) return errorReply(id, peer.error, peer.status)
  if (message.kind !== 'request') return take(mcp, peer.session, [message])
  return answerOne(mcp, exchange, message, peer, withRoom(forms, exchange, message))
}

/** Where there is no room for a stream, whoever reads JSON is told the answer alone, if there is one. */
function withRoom(forms: Forms, { streamObjection }: Exchange, message?: RequestMessage): Forms {
  if (streamObjection === undefined || !forms.json || (message && isStreamed(message.method))) return forms
  return jsonAlone
}

/** Takes what owes no answer, here or where it belongs. */
function take(
  mcp: McpContext, session: Session | undefined, messages: readonly RpcMessage[],
): Reply | Promise<Reply> {
  let passed: Promise<void> | undefined
  for (const message of messages) {
    if (takeMessage(session, message) || session === undefined) continue
    const told = mcp.elsewhere?.pass(session, message)
    if (told !== undefined) passed = passed === undefined ? told : Promise.all([passed, told]).then(() => {})
  }
  return passed === undefined ? { status: 202 } : passed.then(() => ({ status: 202 }), unavailable)
}

/** Runs a request and holds its reply open. */
function answerOne(
  mcp: McpContext, exchange: Exchange, message: RequestMessage, peer: Peer, forms: Forms,
): Reply | Promise<Reply> {
  if (peer.session?.isRunning(message.id) === true) return twice(message.id)
  const post = new PostReply(peer, forms, mcp.service.timers, mcp.service.limits.heartbeatMs)
  if (mcp.elsewhere !== undefined) post.ids = [message.id]
  const request = dispatch(mcp, message, peer, exchange.origin, post)
  if (request !== undefined && !request.isFinished) post.waitFor(request)
  return held(post, exchange)
}

/** The same for the requests of a batch. */
function answerAll(
  mcp: McpContext, exchange: Exchange, requests: readonly RequestMessage[], peer: Peer, forms: Forms,
): Reply | Promise<Reply> {
  for (const message of requests) if (peer.session?.isRunning(message.id) === true) return twice(message.id)
  const post = new PostReply(
    peer, forms, mcp.service.timers, mcp.service.limits.heartbeatMs, requests.length,
  )
  if (mcp.elsewhere !== undefined) post.ids = requests.map(({ id }) => id)
  const bytes = new BatchBytes(mcp.service.limits.maxResultBytes)
  for (const message of requests) {
    const part = new BatchPart(post, message, bytes)
    const request = dispatch(mcp, message, peer, exchange.origin, part)
    if (request !== undefined && !request.isFinished) post.waitFor(request)
  }
  return held(post, exchange)
}

function held(post: PostReply, { origin }: Exchange): Reply | Promise<Reply> {
  const reply = post.reply()
  if (isThenable(reply)) origin.onDisconnect(post.leave.bind(post))
  return reply
}

/** `initialize`: a new session, unless there are none. */
function initialize(mcp: McpContext, exchange: Exchange, message: RequestMessage): Reply | Promise<Reply> {
  const overuse = exchange.take('initialize', 1)
  return isThenable(overuse) ? overuse.then((later) => begin(mcp, exchange, message, later))
    : begin(mcp, exchange, message, overuse)
}

function begin(
  mcp: McpContext, exchange: Exchange, { id, params }: RequestMessage, overuse: Overuse | undefined,
): Reply {
  if (overuse !== undefined) return invalid(429, overuse.detail, id, overuse.headers)
  const { mcpSessionId } = exchange.head
  const owner = exchange.origin.principal.id
  if (mcpSessionId !== undefined && mcp.sessions.find(mcpSessionId, owner) !== undefined) {
    return invalid(400, 'This session has begun already; leave out Mcp-Session-Id to begin another', id)
  }
  const handshake = decodeInitialize(params)
  if (typeof handshake === 'string') return errorReply(id, rpcError(INVALID_PARAMS, handshake), 200)
  const hasSessions = mcp.options.sessions !== 'none'
  const body = formatResult(id, initializeText(mcp, handshake.revision, hasSessions))
  if (!hasSessions) return { status: 200, type: JSON_TYPE, body }
  try {
    const sealed = mcp.elsewhere?.sessionId(owner, handshake)
    const session = mcp.sessions.open(owner, handshake.revision, sealed)
    session.settle(handshake)
    return { status: 200, type: JSON_TYPE, body, headers: ['Mcp-Session-Id', session.id] }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return noSession(error, id)
  }
}

/** An array of messages, for the one revision that has them. */
function postBatch(
  mcp: McpContext, exchange: Exchange, values: readonly unknown[], forms: Forms,
): Reply | Promise<Reply> {
  const messages = readBatch(values, mcp.service.limits)
  if (typeof messages === 'string') return invalid(400, messages)
  if (messages.some((message) => 'method' in message && isModern(message, exchange))) {
    return invalid(400, NO_BATCHES)
  }
  const peer = legacyPeer(mcp, exchange)
  if ('error' in peer) return errorReply(undefined, peer.error, peer.status)
  const objection = batchObjection(messages, peer.revision)
  if (objection !== undefined) return invalid(400, objection)
  const requests = requestsIn(messages)
  // Each is a call; one of them is counted already.
  const overuse = requests.length > 1 ? exchange.take('call', requests.length - 1) : undefined
  const refuse = ({ detail, headers }: Overuse): Reply => invalid(429, detail, undefined, headers)
  const run = (): Reply | Promise<Reply> => runBatch(mcp, exchange, messages, requests, peer, forms)
  if (!isThenable(overuse)) return overuse === undefined ? run() : refuse(overuse)
  return overuse.then((later) => later === undefined ? run() : refuse(later))
}

function runBatch(
  mcp: McpContext, exchange: Exchange, messages: readonly RpcMessage[],
  requests: readonly RequestMessage[], peer: Peer, forms: Forms,
): Reply | Promise<Reply> {
  const taken = take(mcp, peer.session, messages.filter((message) => message.kind !== 'request'))
  if (requests.length === 0) return taken
  // Who asked elsewhere waits on; the requests beside the answer are answered all the same.
  if (isThenable(taken)) taken.catch(() => {})
  return answerAll(mcp, exchange, requests, peer, forms)
}

/** The session that GET and DELETE are about, or why there is none. */
function sessionOf(mcp: McpContext, exchange: Exchange): Session | Reply {
  const { mcpSessionId, mcpProtocolVersion } = exchange.head
  const isModernOnly = revisionByName.get(mcpProtocolVersion)?.opening === 'each-request'
  if (isModernOnly || mcp.options.sessions === 'none') {
    return invalid(405, 'Only POST is answered here', undefined, ['Allow', 'POST'])
  }
  if (mcpSessionId === undefined) {
    return invalid(400, 'The Mcp-Session-Id header is missing; begin with initialize')
  }
  const peer = legacyPeer(mcp, exchange)
  if ('error' in peer) return errorReply(undefined, peer.error, peer.status)
  return peer.session!
}

/** `GET /mcp`: the stream of a session, or the rest of one that was interrupted. */
export function get(mcp: McpContext, exchange: Exchange): Reply | Promise<Reply> {
  if (acceptance(exchange.head.accept, EVENT_STREAM) === 0) {
    return invalid(406, `Accept must allow ${EVENT_STREAM}`)
  }
  const session = sessionOf(mcp, exchange)
  if ('status' in session) return session
  const lastEventId = exchange.header('last-event-id')
  if (exchange.method === 'HEAD') return { status: 200, type: EVENT_STREAM }
  return lastEventId === undefined ? openStandalone(session) : resume(mcp, session, lastEventId)
}

/** What followed an event, and what follows. */
function resume(mcp: McpContext, session: Session, lastEventId: string): Reply | Promise<Reply> {
  const event = parseEventId(lastEventId)
  if (event === undefined) return noEvent()
  const { shared } = mcp.service
  const stream = session.streamOf(event.stream)
  if (stream === undefined || stream.hasLost(event.number)) {
    const { node } = event
    if (shared === undefined || node === undefined || node === shared.cluster.id) return noEvent()
    return resumeElsewhere(mcp, shared, session, node, event, lastEventId, () => openStandalone(session))
  }
  const place = shared === undefined ? '' : placeEvent(session, lastEventId)
  return { status: 200, type: EVENT_STREAM, body: stream.source(event.number, place) }
}

/** The stream for messages of a session that belong to no request. */
function openStandalone(session: Session): Reply {
  if (session.standalone?.isAttached === true) {
    return invalid(409, 'This session has a stream open already')
  }
  // What its client left behind can still be come back to, for a while.
  session.standalone?.finish()
  const stream = session.openStream()
  session.standalone = stream
  session.outlet = stream
  if (session.revision.primes) stream.send('')
  return { status: 200, type: EVENT_STREAM, body: stream.source(0) }
}

/** `DELETE /mcp`: the end of a session. */
export function remove(mcp: McpContext, exchange: Exchange): Reply | Promise<Reply> {
  const session = sessionOf(mcp, exchange)
  if ('status' in session) return session
  // What others do not learn they would bring back.
  const ended = mcp.elsewhere?.end(session)
  if (ended !== undefined) return ended.then(() => ({ status: 204 }), unavailable)
  mcp.sessions.close(session)
  return { status: 204 }
}
