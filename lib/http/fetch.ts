/**
 * The same server without a socket: a web `Request` in, a web `Response` out, through the same gate and
 * the same endpoints.
 */
import { isUtf8 } from 'node:buffer'
import { EVENT_STREAM } from '../wire/sse.ts'
import { isSource } from './exchange.ts'
import { endingAt } from './expiry.ts'
import { NO_ROOM, tooLarge } from './gate.ts'
import { discard, headerLines, lengthOf, STREAM_HEADERS } from './reply.ts'
import { refusalOf } from './request.ts'
import type { Limits } from '../core/defaults.ts'
import type { Log } from '../core/log.ts'
import type { BodyBudget } from './body.ts'
import type { Reply, Source } from './exchange.ts'
import type { Gate } from './gate.ts'
import type { Pipe, StreamSink, Streams } from './sink.ts'
import type { RequestHead, HttpRequest } from './request.ts'

/** What it works with. */
export interface FetchOptions {
  readonly gate: Gate
  readonly streams: Streams
  readonly budget: BodyBudget
  readonly limits: Limits
  readonly log: Log
}

/** Bytes that a web stream holds before it calls its reader slow. */
const HIGH_WATER = 16 * 1024

/** Makes the function. It never rejects: what fails is answered. */
export function createFetch(options: FetchOptions): (incoming: Request) => Promise<Response> {
  const { gate, log } = options
  return async (incoming) => {
    const departure = new Departure(incoming.signal)
    const request = await gate(headOf(incoming, departure))
    const send = (reply: Reply): Response =>
      responseOf(request, endingAt(reply, request.principal.expiresAt), options, departure)
    if (request.refusal !== undefined) return send(request.refusal)
    const endpoint = request.endpoint!
    try {
      if (endpoint.accepts !== undefined && request.method !== 'GET' && request.method !== 'HEAD') {
        const refusal = await readInto(request, incoming, options)
        if (refusal !== undefined) return send(refusal)
      }
      return send(await endpoint.handle(request))
    } catch (error) {
      log('error', 'An endpoint failed', { request: request.requestId, path: request.path, cause: error })
      return send(refusalOf(request, 500, `Internal error (request ${request.requestId})`))
    }
  }
}

/** Whether, and that, the client has left: it aborted its request, or stopped reading the response. */
class Departure {
  isGone = false
  readonly #listeners = new Set<() => void>()

  constructor(signal: AbortSignal) {
    if (signal.aborted) this.isGone = true
    else signal.addEventListener('abort', () => this.leave(), { once: true })
  }

  leave(): void {
    if (this.isGone) return
    this.isGone = true
    for (const listener of this.#listeners) listener()
  }

  onGone(listener: () => void): void {
    if (this.isGone) listener()
    else this.#listeners.add(listener)
  }
}

function headOf(incoming: Request, departure: Departure): RequestHead {
  const { headers, method, body } = incoming
  const url = new URL(incoming.url)
  const rawHeaders: string[] = []
  for (const [name, value] of headers) rawHeaders.push(name, value)
  // A web Request has its authority in its address and its body's length nowhere.
  if (!headers.has('host')) rawHeaders.push('host', url.host)
  const length = headers.get('content-length') ?? '0'
  if (body !== null && length === '0') rawHeaders.push('transfer-encoding', 'chunked')
  return {
    method,
    target: url.pathname + url.search,
    httpVersion: '1.1',
    rawHeaders,
    bind: 'none',
    secure: url.protocol === 'https:',
    remoteAddress: undefined,
    onGone: (listener) => departure.onGone(listener),
  }
}

/** Reads the body into the request; a reply where that cannot be. */
async function readInto(request: HttpRequest, incoming: Request, options: FetchOptions): Promise<Reply | undefined> {
  const { budget, limits } = options
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of incoming.body ?? []) {
      if (length + chunk.length > limits.maxBodyBytes) return refusalOf(request, 413, tooLarge(limits))
      if (!budget.take(chunk.length)) return refusalOf(request, 503, NO_ROOM, ['Retry-After', '1'])
      length += chunk.length
      chunks.push(chunk)
    }
  } catch {
    return refusalOf(request, 400, 'The body ended before it was whole')
  } finally {
    budget.give(length)
  }
  const bytes = Buffer.concat(chunks, length)
  if (!isUtf8(bytes)) return refusalOf(request, 400, 'The body is not valid UTF-8', undefined, true)
  request.body = bytes.toString()
  return undefined
}

function responseOf(request: HttpRequest, reply: Reply, options: FetchOptions, departure: Departure): Response {
  const { body, status } = reply
  const { streams } = options
  const lines = headerLines(request, reply)
  if (!isSource(body)) {
    const length = lengthOf(status, body)
    if (length !== undefined) lines.push('Content-Length', length)
    const isEmpty = request.method === 'HEAD' || length === undefined
    return new Response(isEmpty ? null : bodyOf(body), { status, headers: headersOf(lines) })
  }
  if (streams.isFull) {
    discard(body)
    const full = refusalOf(request, 503, 'Too many streams are open; try again later', ['Retry-After', '5'])
    return responseOf(request, full, options, departure)
  }
  const headers = headersOf([...lines, ...STREAM_HEADERS])
  if (request.method !== 'HEAD') {
    return new Response(streamOf(body, streams, reply.type === EVENT_STREAM, departure), { status, headers })
  }
  discard(body)
  return new Response(null, { status, headers })
}

function bodyOf(body: string | Uint8Array | undefined): string | Uint8Array<ArrayBuffer> | null {
  if (body === undefined) return null
  return typeof body === 'string' ? body : new Uint8Array(body)
}

function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at < lines.length; at += 2) headers.append(lines[at]!, lines[at + 1]!)
  return headers
}

function streamOf(
  source: Source, streams: Streams, isEvents: boolean, departure: Departure,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let sink: StreamSink | undefined
  return new ReadableStream<Uint8Array>({
    start(controller) {
      let isOver = false
      const push = (text: string): boolean => {
        if (text !== '' && !isOver) controller.enqueue(encoder.encode(text))
        return (controller.desiredSize ?? 0) > 0
      }
      const pipe: Pipe = {
        begin: push,
        push,
        finish() {
          if (isOver) return
          isOver = true
          controller.close()
          sink?.gone()
        },
        destroy() {
          if (!isOver) controller.error(new DOMException('The reader did not keep up', 'AbortError'))
          isOver = true
        },
        get waiting() { return isOver ? 0 : HIGH_WATER - (controller.desiredSize ?? HIGH_WATER) },
      }
      sink = streams.open(source, pipe, isEvents)
      departure.onGone(() => {
        if (isOver) return
        isOver = true
        controller.error(new DOMException('The request was aborted', 'AbortError'))
        sink?.gone()
      })
    },
    pull() { sink?.drained() },
    cancel() {
      sink?.gone()
      departure.leave()
    },
  }, { highWaterMark: HIGH_WATER, size: (chunk) => chunk?.byteLength ?? 0 })
}
