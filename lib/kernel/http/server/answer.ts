/** How a request is answered, over a socket and as a web `Response` alike: its endpoint, and what is sent. */
import { EVENT_STREAM } from '../../wire/sse.ts'
import { NO_STREAM, refusalOf } from './request.ts'
import type { Reply, Source } from '../message/exchange.ts'
import type { HttpRequest } from './request.ts'

/** A reply as it is sent. */
export interface ReadyReply {
  readonly status: number
  /** Names and values in turn, Content-Length among them where the body is whole. */
  readonly lines: string[]
  /** Undefined: none is sent, as to HEAD. */
  readonly body: Reply['body']
  /** Of the body, in bytes; zero of one that is a stream, or not sent. */
  readonly bytes: number
}

/** Asks the endpoint of a request that has its body, and drops that. May throw. */
export function replyTo(request: HttpRequest): Reply | Promise<Reply> {
  const reply = request.endpoint!.handle(request)
  request.body = ''
  return reply
}

/** A reply for this request: with its headers, without a body for HEAD, refused where no stream has room. */
export function readyReply(request: HttpRequest, wanted: Reply): ReadyReply {
  const isHead = request.method === 'HEAD'
  const { body, status } = wanted
  if (isSource(body)) {
    if (request.streamObjection === undefined && !isHead) {
      return { status, lines: headerLines(request, wanted), body, bytes: 0 }
    }
    discard(body)
    if (request.streamObjection !== undefined) return readyReply(request, refusalOf(request, ...NO_STREAM))
    return { status, lines: headerLines(request, wanted), body: undefined, bytes: 0 }
  }
  const lines = headerLines(request, wanted)
  // A stream that a HEAD asks for has no length.
  const hasNone = status === 204 || status === 304 || (body === undefined && wanted.type === EVENT_STREAM)
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body?.length ?? 0
  if (!hasNone) lines.push('Content-Length', String(length))
  const isSent = !isHead && !hasNone
  return { status, lines, body: isSent ? body : undefined, bytes: isSent ? length : 0 }
}

export function isSource(body: Reply['body']): body is Source {
  return typeof body === 'object' && 'open' in body
}

/** A reader that left before its stream began: a source must be opened even for it. */
const absentReader = Object.freeze({
  closed: true,
  write: () => false,
  ready: () => Promise.resolve(),
  end: () => {},
})

/** Opens a source without a reader, so that it gives back what it holds. */
export function discard(source: Source): void {
  source.open(absentReader)?.()
}

/** The header lines of a reply without Content-Length. */
function headerLines(request: HttpRequest, reply: Reply): string[] {
  const { status, type, headers, neededScopes, body } = reply
  const { requestId, rateHeaders, corsHeaders } = request
  // Browsers must not guess another media type.
  const lines = type === undefined ? ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff']
    : ['Content-Type', type, 'X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff']
  // Also for a stream that is complete: proxies must not buffer it.
  const isStream = type === EVENT_STREAM || isSource(body)
  if (isStream) lines.push('Cache-Control', 'no-cache, no-transform', 'X-Accel-Buffering', 'no')
  if (headers !== undefined && headers.length > 0) lines.push(...headers)
  if ((status === 401 || neededScopes !== undefined) && !hasHeader(reply, 'www-authenticate')) {
    lines.push('WWW-Authenticate', request.challenge(neededScopes))
  }
  // A shared cache could keep it, and serve it without a key.
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (request.isIdentified && isRead && !isStream && !hasHeader(reply, 'cache-control')) {
    lines.push('Cache-Control', 'private, no-cache')
  }
  if (rateHeaders.length > 0) lines.push(...rateHeaders)
  if (corsHeaders.length > 0) lines.push(...corsHeaders)
  return lines
}

/** By its name in lower case. */
function hasHeader({ headers = [] }: Reply, name: string): boolean {
  return headers.some((part, at) => at % 2 === 0 && part.toLowerCase() === name)
}
