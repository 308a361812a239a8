/**
 * The server without a socket: a web `Request` in, a web `Response` out, through the same gate and endpoints.
 */
import { EVENT_STREAM } from '../../wire/sse.ts'
import { isSource, readyReply, replyTo } from './answer.ts'
import { objectionToBody, readWebBody } from './body.ts'
import { requestChannel } from './observer.ts'
import { brokenReply, Leaving, refusalOf } from './request.ts'
import type { Log } from '../../define/log.ts'
import type { Reply, Source } from '../message/exchange.ts'
import type { Pipe, StreamSink } from '../stream/sink.ts'
import type { Means } from './gate.ts'
import type { HttpRequest, RequestHead } from './request.ts'

/** Makes the function. It never rejects: failures are answered. */
export function createFetch(means: Means): (incoming: Request) => Promise<Response> {
  const { gate, log, observer } = means
  return async (incoming) => {
    const beganAtMs = observer.isAlwaysWanted || requestChannel.hasSubscribers ? performance.now() : 0
    const head = new WebRequestHead(incoming, log)
    const request = await gate(head)
    const onDone: Done = (status, bytes) => {
      request.close()
      if (beganAtMs > 0) observer.onDone(request, status, bytes, performance.now() - beganAtMs)
    }
    const answer = (reply: Reply): Response => responseOf(reply, request, head, means, onDone)
    if (request.refusal !== undefined) return answer(request.refusal)
    try {
      const refusal = request.takesBody ? await readInto(request, incoming, means) : undefined
      if (refusal !== undefined) return answer(refusal)
      await request.endpoint!.load?.()
      return answer(await replyTo(request))
    } catch (error) {
      return answer(brokenReply(request, error, log))
    }
  }
}

/** Called when the request is over: with the status, and how many bytes its body had. */
type Done = (status: number, bytes: number) => void

/** The head, and the client's end: it aborted its request, or stopped reading the response. */
class WebRequestHead extends Leaving implements RequestHead {
  readonly method: string
  readonly target: string
  readonly httpVersion = '1.1'
  readonly rawHeaders: readonly string[]
  readonly bind = 'none'
  readonly secure: boolean
  readonly remoteAddress = undefined

  constructor(incoming: Request, log: Log) {
    super()
    const { headers, method, body } = incoming
    const url = new URL(incoming.url)
    const lines: string[] = []
    for (const [name, value] of headers) if (!ofHosts.has(name)) lines.push(name, value)
    // A web Request has its authority in its URL, and no length of its body.
    if (!headers.has('host')) lines.push('host', url.host)
    const length = headers.get('content-length') ?? '0'
    if (body !== null && length === '0') lines.push('transfer-encoding', 'chunked')
    this.method = method
    this.target = url.pathname + url.search
    this.rawHeaders = lines
    this.secure = url.protocol === 'https:'
    // Some requests have no signal.
    const signal: AbortSignal | null | undefined = incoming.signal
    this.isDisconnected = signal?.aborted === true
    signal?.addEventListener('abort', () => this.disconnected(log), { once: true })
  }
}

/**
 * Headers that mean nothing here: those of one connection, which hosts copy, and the encodings of bodies,
 * which are a host's own matter; Next drops the name of one that it finds. What `Connection` names besides
 * stays: a client could remove what a proxy wrote. RFC 9110 §7.6.1.
 */
const ofHosts: ReadonlySet<string> = new Set([
  'connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade',
  'accept-encoding',
])

/** Reads the body into the request; a reply where that fails. */
function readInto(
  request: HttpRequest, incoming: Request, { budget, limits, log }: Means,
): Promise<Reply | undefined> {
  return new Promise((resolve) => readWebBody(incoming, request, budget, (text, failure) => {
    request.body = text
    resolve(failure && refusalOf(request, ...objectionToBody(failure, limits, log)))
  }))
}

function responseOf(
  wanted: Reply, request: HttpRequest, head: WebRequestHead, { log, streams }: Means, onDone: Done,
): Response {
  const { body, bytes, lines, status } = readyReply(request, wanted)
  const init = { status, headers: headersOf(lines) }
  if (!isSource(body)) {
    onDone(head.isDisconnected ? 0 : status, bytes)
    return new Response(bodyOf(body), init)
  }
  const pipe = new WebPipe(() => head.disconnected(log))
  const observed: Source = {
    open(sink) {
      const onOver = body.open(sink)
      return () => {
        onDone(status, pipe.bytes)
        onOver?.()
      }
    },
    dismissal: (why) => body.dismissal?.(why) ?? '',
  }
  pipe.sink = streams.open(observed, pipe, wanted.type === EVENT_STREAM, request)
  head.onDisconnect(() => pipe.finish())
  return new Response(pipe.stream, init)
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

/** Bytes that a web stream holds before its reader counts as slow. */
const HIGH_WATER = 16 * 1024

export class WebPipe implements Pipe {
  readonly stream: ReadableStream<Uint8Array>
  bytes = 0
  /** Set as soon as it is there. */
  sink: StreamSink | undefined
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #isOver = false

  constructor(onCancel: () => void) {
    this.stream = new ReadableStream<Uint8Array>({
      start: (controller) => { this.#controller = controller },
      pull: () => { this.sink?.drained() },
      cancel: () => {
        this.#isOver = true
        this.sink?.gone()
        onCancel()
      },
    }, { highWaterMark: HIGH_WATER, size: (chunk) => chunk?.byteLength ?? 0 })
  }

  get waiting(): number {
    return this.#isOver ? 0 : HIGH_WATER - (this.#controller?.desiredSize ?? HIGH_WATER)
  }

  get taken(): number { return this.bytes - this.waiting }

  push(text: string, isLast: boolean): void {
    if (text !== '' && !this.#isOver) {
      const chunk = this.#encoder.encode(text)
      this.bytes += chunk.byteLength
      this.#controller?.enqueue(chunk)
    }
    if (isLast) this.finish()
  }

  /** Ends the stream; also for a client that has left, whose host knows that already. */
  finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.close()
    this.sink?.gone()
  }

  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.error(new DOMException('The reader did not keep up', 'AbortError'))
  }
}
