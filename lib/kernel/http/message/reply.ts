/** The headers of every reply, and its body's kind. */
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import type { Dismissal, Reply, Sink, Source } from './exchange.ts'

export interface ReplyContext {
  readonly method: string
  readonly requestId: string
  readonly isIdentified: boolean
  readonly rateHeaders: readonly string[]
  readonly corsHeaders: readonly string[]
  /** The value of `WWW-Authenticate`: which scopes are needed; left out: a good credential. */
  challenge(neededScopes?: readonly unknown[]): string
}

/** A reader that left before its stream began: a source must be opened even for it. */
const absentReader = Object.freeze({
  closed: true,
  write: () => false,
  ready: () => Promise.resolve(),
  end: () => {},
})

export function isSource(body: Reply['body']): body is Source {
  return typeof body === 'object' && 'open' in body
}

/** Opens a source without a reader, so that it gives back what it holds. */
export function discard(source: Source): void {
  source.open(absentReader)?.()
}

/** The header lines of a reply without Content-Length. */
export function headerLines(request: ReplyContext, reply: Reply): string[] {
  const { status, type, headers, neededScopes, body } = reply
  const { requestId, rateHeaders, corsHeaders } = request
  // Browsers must not guess another media type.
  const lines = type === undefined ? ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff']
    : ['Content-Type', type, 'X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff']
  // Also for a stream that is complete: proxies must not buffer it.
  if (type === EVENT_STREAM || isSource(body)) {
    lines.push('Cache-Control', 'no-cache, no-transform', 'X-Accel-Buffering', 'no')
  }
  if (headers !== undefined && headers.length > 0) lines.push(...headers)
  if ((status === 401 || neededScopes !== undefined) && !hasHeader(reply, 'www-authenticate')) {
    lines.push('WWW-Authenticate', request.challenge(neededScopes))
  }
  if (request.isIdentified && mayBeKept(request, reply)) lines.push('Cache-Control', 'private, no-cache')
  if (rateHeaders.length > 0) lines.push(...rateHeaders)
  if (corsHeaders.length > 0) lines.push(...corsHeaders)
  return lines
}

/** Whether a shared cache could keep a reply and serve it without a key. */
function mayBeKept({ method }: ReplyContext, reply: Reply): boolean {
  const { body, type } = reply
  if ((method !== 'GET' && method !== 'HEAD') || isSource(body) || type === EVENT_STREAM) return false
  return !hasHeader(reply, 'cache-control')
}

/** By its name in lower case. */
function hasHeader({ headers = [] }: Reply, name: string): boolean {
  return headers.some((part, at) => at % 2 === 0 && part.toLowerCase() === name)
}

/** The Content-Length of a whole body; undefined for a status that has none. */
export function lengthOf(status: number, body: string | Uint8Array | undefined): number | undefined {
  if (status === 204 || status === 304) return undefined
  if (body === undefined) return 0
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length
}

/** The same reply, whose stream ends at a time in milliseconds since the epoch; undefined: never. */
export function endingAt(reply: Reply, expiresAt: number | undefined): Reply {
  const { body } = reply
  if (expiresAt === undefined || expiresAt === Infinity || !isSource(body)) return reply
  return { ...reply, body: passing(body, (sink) => openUntil(expiresAt, body, sink)) }
}

/** The same source; `onEnd` is called first when its stream is over. */
export function withEnd(source: Source, onEnd: () => void): Source {
  return passing(source, (sink) => {
    const onOver = source.open(sink)
    return () => {
      onEnd()
      onOver?.()
    }
  })
}

/** A source that is opened in another way. */
function passing(source: Source, open: Source['open']): Source {
  return source.dismissal === undefined ? { open } : { open, dismissal: source.dismissal.bind(source) }
}

const EXPIRED: Dismissal = { kind: 'unauthenticated', message: 'The key or token has expired' }

function openUntil(expiresAt: number, source: Source, sink: Sink): () => void {
  let running: NodeJS.Timeout | undefined
  let isOver = false
  const watch = (): void => {
    if (isOver) return
    const leftMs = expiresAt - Date.now()
    if (leftMs <= 0) return sink.end(source.dismissal?.(EXPIRED))
    running = setTimeout(watch, Math.min(leftMs, MAX_TIMER_MS)).unref()
  }
  const onOver = source.open(sink)
  if (!sink.closed) watch()
  return () => {
    isOver = true
    clearTimeout(running)
    onOver?.()
  }
}
