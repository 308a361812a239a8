/**
 * A `Reply` to a response of node:http: one `writeHead` with everything and one `end`, or a stream.
 */
import { isSource } from './exchange.ts'
import { EVENT_STREAM } from '../wire/sse.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply, Source } from './exchange.ts'
import type { Pipe, StreamSink, Streams } from './sink.ts'
import type { HttpRequest } from './request.ts'

/** A refused body of up to this length is read to its end, so that the connection can be kept. */
const DRAIN_BYTES = 64 * 1024
const LINGER_MS = 1_000
/** Even at three bytes each they do not fill a socket's buffer, so nobody has to wait for its drain. */
const SMALL_CHARS = 4 * 1024

/** What every stream says to caches and proxies. */
export const STREAM_HEADERS: readonly string[] = Object.freeze([
  'Cache-Control', 'no-cache, no-transform', 'X-Accel-Buffering', 'no',
])

/** A reader that has left before its stream began: a source must be opened even for it. */
const nobody = Object.freeze({
  closed: true,
  write: () => false,
  ready: () => Promise.resolve(),
  end: () => {},
})

/** Opens a source for nobody, so that whatever it holds is let go. */
export function discard(source: Source): void {
  source.open(nobody)?.()
}

/** The header lines of a reply, but for the length. */
export function headerLines(request: HttpRequest, reply: Reply): string[] {
  const lines = reply.type === undefined ? [] : ['Content-Type', reply.type]
  lines.push('X-Request-Id', request.requestId)
  if (reply.headers !== undefined) for (const part of reply.headers) lines.push(part)
  if (request.isIdentified && mayBeKept(request, reply)) lines.push('Cache-Control', 'private, no-cache')
  if (request.rateHeaders.length > 0) for (const part of request.rateHeaders) lines.push(part)
  if (request.corsHeaders.length > 0) for (const part of request.corsHeaders) lines.push(part)
  return lines
}

/** Whether a cache could keep a reply of its own accord, and give it to whoever asks next without a key. */
function mayBeKept({ method }: HttpRequest, { body, headers = [] }: Reply): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || isSource(body)) return false
  return !headers.some((part, at) => at % 2 === 0 && part.toLowerCase() === 'cache-control')
}

/** The Content-Length of a body that is whole; undefined for a status that has none. */
export function lengthOf(status: number, body: string | Uint8Array | undefined): string | undefined {
  if (status === 204 || status === 304) return undefined
  return body === undefined ? '0' : String(typeof body === 'string' ? Buffer.byteLength(body) : body.length)
}

/** Sends a reply. `isLast`: the connection is not kept. */
export function sendReply(
  incoming: IncomingMessage, response: ServerResponse, request: HttpRequest, reply: Reply, streams: Streams,
  isLast: boolean,
): void {
  const { body } = reply
  if (response.destroyed || response.writableEnded) {
    if (isSource(body)) discard(body)
    return
  }
  const lines = headerLines(request, reply)
  const unread = !incoming.complete && mayNotBeRead(request)
  if (isLast || unread) lines.push('Connection', 'close')
  if (isSource(body)) {
    lines.push(...STREAM_HEADERS)
    if (request.method === 'HEAD') {
      discard(body)
      response.writeHead(reply.status, lines)
      response.end()
      return
    }
    openStream(response, reply, body, streams, lines)
    return
  }
  const length = lengthOf(reply.status, body)
  if (length !== undefined) lines.push('Content-Length', length)
  response.writeHead(reply.status, lines)
  if (unread) linger(incoming, response, request.method === 'HEAD' ? undefined : body)
  else response.end(request.method === 'HEAD' ? undefined : body)
}

function openStream(
  response: ServerResponse, reply: Reply, body: Source, streams: Streams, lines: string[],
): void {
  let sink: StreamSink | undefined
  response.on('drain', () => sink?.drained())
  response.on('close', () => sink?.gone())
  sink = streams.open(body, new ResponsePipe(response, reply.status, lines), reply.type === EVENT_STREAM)
}

/** A response of node:http under a stream. */
class ResponsePipe implements Pipe {
  readonly #response: ServerResponse
  readonly #status: number
  readonly #lines: string[]

  constructor(response: ServerResponse, status: number, lines: string[]) {
    this.#response = response
    this.#status = status
    this.#lines = lines
  }

  get waiting(): number { return this.#response.writableLength }

  begin(text: string, whole: boolean): boolean {
    if (whole) this.#lines.push('Content-Length', String(Buffer.byteLength(text)))
    this.#response.writeHead(this.#status, this.#lines)
    if (text !== '') return this.#response.write(text)
    if (!whole) this.#response.flushHeaders()
    return true
  }

  push(text: string, isLast: boolean): boolean {
    const response = this.#response
    if (isLast || text.length > SMALL_CHARS || !isAlone(response)) return response.write(text)
    // Node would hand over size, text and line end as three pieces, and every event would cost a fifth more.
    return response.socket!.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
  }

  finish(): void { this.#response.end() }
  destroy(): void { this.#response.destroy() }
}

/** Whether a chunk can go straight to the socket: nothing waits before it, and nobody wraps the response. */
function isAlone(response: ServerResponse): boolean {
  return response.chunkedEncoding && response.socket !== null && response.writableLength === 0
    && !Object.hasOwn(response, 'write')
}

/** Whether a body may be too long to be read for nothing, or may never come: then nothing can follow it. */
function mayNotBeRead(request: HttpRequest): boolean {
  const { contentLength, transferEncoding } = request.head
  return transferEncoding !== undefined || Number(contentLength ?? 0) > DRAIN_BYTES
    || request.header('expect') !== undefined
}

/**
 * Answers before the body has come. Closing at once would reset the connection and could take the answer
 * with it, so the answer is sent whole, this half of the connection is closed, and what the client still
 * sends is passed over for a little while.
 */
function linger(
  incoming: IncomingMessage, response: ServerResponse, body: string | Uint8Array | undefined,
): void {
  if (body !== undefined) response.write(body)
  else response.flushHeaders()
  const { socket } = incoming
  socket.end()
  let drained = 0
  const close = (): void => {
    clearTimeout(timer)
    socket.destroySoon()
  }
  const timer = setTimeout(close, LINGER_MS)
  incoming.removeAllListeners('data')
  incoming.on('data', (chunk: Buffer) => {
    drained += chunk.length
    if (drained > DRAIN_BYTES) close()
  })
  incoming.on('end', close)
  incoming.on('close', close)
  incoming.resume()
}
