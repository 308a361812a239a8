/**
 * The oldest transport: `GET /sse`, a stream that carries every message to the client, and
 * `POST /messages/`, which takes those from it. Without a session `POST /messages/` answers in the body: the
 * simplest way to try a server with curl.
 *
 * Spec: MCP 2024-11-05, Transports, HTTP with SSE.
 */
import { acceptance } from '../../../floors/reply/acceptance.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { EVENT_STREAM, FAREWELL, formatEvent } from '../../../kernel/wire/sse.ts'
import {
  batchObjection, collectAnswers, countBatch, idOf, NO_BATCHES, readPosted, requestsIn, runBatch,
} from './batch.ts'
import { anonymousPeer } from './choose.ts'
import { dispatch, initialize } from '../methods/methods.ts'
import { takeMessage } from '../session/messages.ts'
import { jsonAlone, replyToMessage } from './post-reply.ts'
import { answerCounted, duplicate, invalid, noLegacySse, unavailable } from '../protocol/replies.ts'
import { oldest } from '../protocol/revisions.ts'
import type { Origin } from '../../../kernel/define/call.ts'
import type { Exchange, Reply, Sink } from '../../../kernel/http/message/exchange.ts'
import type { McpServer } from '../methods/methods.ts'
import type { StreamReader } from '../session/replay.ts'
import type { McpMessage } from '../session/messages.ts'
import type { Outlet, ResponseChannel, Session } from '../session/session.ts'

/** `GET /sse`: a session that lives as long as its stream. */
export function openLegacySse(mcp: McpServer, exchange: Exchange): Reply | Promise<Reply> {
  if (acceptance(exchange.head.accept, EVENT_STREAM) === 0) {
    return invalid(406, `Accept must allow ${EVENT_STREAM}`)
  }
  if (mcp.options.sessions === 'none') {
    return invalid(405, 'This server keeps no sessions; POST to /mcp', undefined, ['Allow', 'OPTIONS'])
  }
  if (exchange.method === 'HEAD') return { status: 200, type: EVENT_STREAM }
  return answerCounted(exchange, 'initialize', 1, undefined, () => begin(mcp, exchange))
}

function begin(mcp: McpServer, exchange: Exchange): Reply {
  // Whatever can fail is read before a session begins.
  const path = `${exchange.basePath}/messages/`
  let session: Session
  try {
    session = mcp.sessions.open(exchange.origin.principal.id, oldest, mcp.migration?.legacySseId)
  } catch (error) {
    return unavailable(error)
  }
  return {
    status: 200,
    type: EVENT_STREAM,
    body: {
      open(sink) {
        sink.write(formatEvent(`${path}?session_id=${session.id}`, 'endpoint'))
        session.outlet = new LegacySseStream(sink, exchange.origin)
        return () => mcp.sessions.close(session)
      },
    },
  }
}

/** The stream of such a session: the channel of all its messages, and of every request. */
class LegacySseStream implements Outlet, ResponseChannel {
  readonly sends = true
  readonly reader: StreamReader
  readonly #sink: Sink

  constructor(sink: Sink, reader: StreamReader) {
    this.#sink = sink
    this.reader = reader
  }

  /** What answers a request goes out on it: it needs the same scopes. */
  needs({ needed }: Origin): void { for (const scope of needed ?? []) this.reader.needed?.add(scope) }

  send(message: string): void { this.#sink.write(formatEvent(message, 'message')) }
  finish(message: string): void { this.send(message) }
  abandon(): void {}
  end(): void { this.#sink.end(FAREWELL) }
}

export function postMessage(mcp: McpServer, exchange: Exchange): Reply | Promise<Reply> {
  const { body, origin } = exchange
  const posted = readPosted(mcp, body)
  if ('status' in posted) return posted
  const id = sessionIdIn(exchange.query)
  if (id === undefined) {
    return 'kind' in posted ? answerInBody(mcp, exchange, posted) : invalid(400, NO_BATCHES)
  }
  const pass = (): Reply | Promise<Reply> => (
    mcp.migration?.passToLegacySse(id, body, origin, idOf(posted)) ?? take(mcp, id, origin, posted)
  )
  // Counted before it is passed on: only here is it known whose it is.
  return 'kind' in posted ? pass() : countBatch(exchange, posted, pass)
}

/** Takes what other processes get for the streams that are here. */
export function serveLegacySse(mcp: McpServer): void {
  mcp.migration?.onLegacySsePost((id, origin, body) => {
    const posted = readPosted(mcp, body)
    return 'status' in posted ? posted : take(mcp, id, origin, posted)
  })
}

/** Takes what was posted for the session of a stream that is here, in whichever process. */
function take(
  mcp: McpServer, id: string, origin: Origin, posted: McpMessage | readonly McpMessage[],
): Reply {
  const requestId = idOf(posted)
  if (mcp.options.sessions === 'none') {
    const why = 'This server keeps no sessions; leave session_id out: the reply has the answer'
    return invalid(404, why, requestId)
  }
  const session = mcp.sessions.find(id, origin.principal.id)
  const stream = session?.outlet
  // A session of `/mcp` has no stream that its answers could travel on.
  if (session === undefined || !(stream instanceof LegacySseStream)) return noLegacySse(requestId)
  if ('kind' in posted) {
    if (posted.kind !== 'request') takeMessage(session, posted)
    else if (session.isRunning(posted.id)) return duplicate(posted.id)
    else if (posted.method === 'initialize') stream.finish(initialize(mcp, posted, session))
    else dispatch(mcp, posted, session, origin, stream)
    stream.needs(origin)
    return accepted
  }
  const objection = batchObjection(posted, session.revision)
  if (objection !== undefined) return invalid(400, objection)
  const requests = requestsIn(posted)
  for (const message of requests) if (session.isRunning(message.id)) return duplicate(message.id)
  for (const message of posted) if (message.kind !== 'request') takeMessage(session, message)
  const { maxResultBytes } = mcp.service.limits
  const answer = collectAnswers(requests.length, maxResultBytes, (text) => stream.finish(text))
  runBatch(mcp, requests, session, origin, stream, answer)
  stream.needs(origin)
  return accepted
}

const accepted: Reply = Object.freeze({
  status: 202, type: 'text/plain; charset=utf-8', body: 'Accepted',
})

/** What a query begins with that was copied from the endpoint event. */
const NAMED = 'session_id='

function sessionIdIn(query: string): string | undefined {
  if (query === '') return undefined
  // What needs no decoding is taken as it is: to read a query of any form costs a tenth of a round trip.
  const plain = query.startsWith(NAMED) ? query.slice(NAMED.length) : ''
  if (/^[\w-]+$/.test(plain)) return plain
  const params = new URLSearchParams(query)
  return params.get('session_id') ?? params.get('sessionId') ?? undefined
}

/** Without a session the answer is the body of the response; nothing is needed first. */
function answerInBody(mcp: McpServer, exchange: Exchange, message: McpMessage): Reply | Promise<Reply> {
  if (message.kind !== 'request') return { status: 202 }
  if (message.method === 'initialize') {
    return answerCounted(exchange, 'initialize', 1, message.id, () => (
      { status: 200, type: JSON_TYPE, body: initialize(mcp, message) }
    ))
  }
  // A client that leaves cannot fetch the answer.
  return replyToMessage(mcp, anonymousPeer(oldest), jsonAlone, message, exchange, true)
}
