/**
 * One request of node:http from its head to its end: through the gate, its body reader and its endpoint
 * to its response. The one owner of what it holds: all of it is given back at its end, and its end is told
 * once. Whatever fails on the way is answered or dropped, and never thrown to an event or a timer.
 */
import { isThenable } from '../core/thenable.ts'
import { EVENT_STREAM } from '../wire/sse.ts'
import { readBody } from './body.ts'
import { isSource } from './exchange.ts'
import { endingAt } from './expiry.ts'
import { NO_ROOM, tooLarge } from './gate.ts'
import { canLinger, linger } from './linger.ts'
import { isHttp2, NodeRequestHead } from './node-request.ts'
import { discard, headerLines, lengthOf, STREAM_HEADERS } from './reply.ts'
import { refusalOf } from './request.ts'
import { ResponsePipe, takenOf } from './response-pipe.ts'
import { LATE } from './unread.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Limits } from '../core/defaults.ts'
import type { Log } from '../core/log.ts'
import type { Waiting } from './backlog.ts'
import type { BodyBudget, BodyFailure } from './body.ts'
import type { Endpoint, Reply, Source } from './exchange.ts'
import type { Gate } from './gate.ts'
import type { Bind } from './guard.ts'
import type { Observer } from './observer.ts'
import type { HttpRequest } from './request.ts'
import type { StreamSink, Streams } from './sink.ts'

/** What the requests of one server are answered with. */
export interface Means {
  readonly gate: Gate
  readonly streams: Streams
  readonly budget: BodyBudget
  readonly limits: Limits
  readonly observer: Observer
  readonly log: Log
}

/** What a client wants to hear before it sends its body. */
export type Expectation = 'nothing' | 'continue' | 'unknown'

/** A refused body of up to this length is read to its end, so that the connection can be kept. */
const KEPT_BYTES = 64 * 1024

/** One request and its response. */
export class Transaction {
  /** Nothing is to follow on this connection. */
  isLast = false
  readonly incoming: IncomingMessage
  readonly #response: ServerResponse
  readonly #head: NodeRequestHead
  readonly #means: Means
  readonly #expects: Expectation
  readonly #isOwn: boolean
  readonly #isTimed: boolean
  #request: HttpRequest | undefined
  #sink: StreamSink | undefined
  #pipe: ResponsePipe | undefined
  #unsent: UnsentReply | undefined
  #isGivenUp = false
  #isClosed = false
  #isDone = false
  #status = 0
  #bytes = 0
  /** Zero where nobody wants to hear of this request. */
  #beganAtMs = 0

  /** `isTimed`: nobody else looks at how long the body takes. */
  constructor(
    incoming: IncomingMessage, response: ServerResponse, bind: Bind | undefined, expects: Expectation,
    isTimed: boolean, means: Means,
  ) {
    this.incoming = incoming
    this.#response = response
    this.#head = new NodeRequestHead(incoming, bind)
    this.#expects = expects
    this.#isOwn = bind !== undefined
    this.#isTimed = isTimed
    this.#means = means
  }

  /** Lets the request in, and answers it sooner or later. */
  begin(): void {
    const { gate, observer } = this.#means
    try {
      if (observer.isWanted) this.#beganAtMs = performance.now()
      const request = gate(this.#head)
      if (!(request instanceof Promise)) return this.#go(request)
      request.then((later) => this.#go(later)).catch((error) => this.#broke(error))
    } catch (error) {
      this.#broke(error)
    }
  }

  /**
   * What comes on this connection cannot be read, or does not come in time. A request that is whole is still
   * answered, as the last one; one that is not is refused. False where neither can be, or it comes again.
   */
  giveUp(status: number, detail: string): boolean {
    const request = this.#request
    if (this.incoming.complete) {
      const isFirst = !this.#isGivenUp
      this.#isGivenUp = this.isLast = true
      // Node's clock goes on over what its parser has given up.
      return isFirst || detail === LATE
    }
    if (request === undefined || this.#response.headersSent) return false
    this.isLast = true
    this.#deliver(request, refusalOf(request, status, detail))
    return true
  }

  /** The response is over: everything was sent, or the client has left. */
  closed(): void {
    this.#isClosed = true
    try {
      if (!this.#response.writableFinished) this.#head.left()
    } catch (error) {
      this.#means.log('error', 'What was to end with a request did not', { cause: error })
    }
    this.#sink?.gone()
    if (this.#unsent !== undefined) this.#means.streams.backlog.account(this.#unsent, 0)
    if (this.#request !== undefined) this.#done(this.#request)
    // The head of a stream may have gone out before it was known that nothing follows.
    if (this.isLast && this.#isOwn) this.incoming.socket.destroySoon()
  }

  #go(request: HttpRequest): void {
    this.#request = request
    if (this.#isClosed) return this.#done(request)
    // A socket that has closed does not know any more who it was.
    if (this.#beganAtMs > 0) void this.#head.remoteAddress
    const { endpoint, refusal } = request
    if (refusal !== undefined) return this.#send(request, refusal)
    if (endpoint === undefined) return
    if (this.#expects === 'unknown') {
      return this.#send(request, refusalOf(request, 417, 'Nothing but 100-continue can be expected'))
    }
    if (endpoint.accepts === undefined || request.method === 'GET' || request.method === 'HEAD') {
      return this.#run(request, endpoint)
    }
    if (this.#expects === 'continue') this.#response.writeContinue()
    const { budget, limits } = this.#means
    readBody(this.incoming, request, budget, limits, this.#isTimed, (text, failure) => {
      if (failure !== undefined) return this.#fail(request, failure)
      request.body = text
      this.#run(request, endpoint)
    })
  }

  #fail(request: HttpRequest, failure: BodyFailure): void {
    const refusal = bodyRefusal(request, failure, this.#means)
    if (refusal !== undefined) this.#send(request, refusal)
  }

  #run(request: HttpRequest, endpoint: Endpoint): void {
    try {
      const reply = endpoint.handle(request)
      request.body = ''
      if (!isThenable(reply)) return this.#send(request, reply)
      reply.then((later) => this.#send(request, later), (error) => this.#broke(error))
    } catch (error) {
      this.#broke(error)
    }
  }

  #send(request: HttpRequest, reply: Reply): void {
    try {
      if (!isSource(reply.body) || !this.#means.streams.isFull) return this.#deliver(request, reply)
      discard(reply.body)
      const detail = 'Too many streams are open; try again later'
      this.#deliver(request, refusalOf(request, 503, detail, ['Retry-After', '5']))
    } catch (error) {
      this.#broke(error)
    }
  }

  /** What broke before a word was sent is told; what breaks while that is told is not. */
  #broke(error: unknown): void {
    const request = this.#request
    if (request === undefined) {
      this.#means.log('error', 'A request could not be handled', { cause: error })
      return void this.#response.destroy()
    }
    const { path, requestId } = request
    this.#means.log('error', 'An endpoint failed', { request: requestId, path, cause: error })
    try {
      if (this.#response.headersSent) this.#response.destroy()
      else this.#deliver(request, refusalOf(request, 500, `Internal error (request ${requestId})`))
    } catch {
      this.#response.destroy()
    }
  }

  #deliver(request: HttpRequest, wanted: Reply): void {
    const response = this.#response
    const { expiresAt } = request.principal
    const reply = expiresAt === undefined ? wanted : endingAt(wanted, expiresAt)
    const { body, status } = reply
    if (this.#isClosed || response.destroyed || response.writableEnded) {
      if (isSource(body)) discard(body)
      return
    }
    const lines = headerLines(request, reply)
    const isUnread = !this.incoming.complete && mayNotBeRead(request)
    if ((this.isLast || isUnread) && !isHttp2(this.incoming)) lines.push('Connection', 'close')
    this.#status = status
    if (isSource(body)) {
      lines.push(...STREAM_HEADERS)
      if (request.method !== 'HEAD') return this.#open(body, status, lines, reply.type === EVENT_STREAM)
      discard(body)
      response.writeHead(status, lines)
      response.end()
      return
    }
    const length = lengthOf(status, body)
    if (length !== undefined) lines.push('Content-Length', String(length))
    const sent = request.method === 'HEAD' ? undefined : body
    if (sent !== undefined) this.#bytes = length ?? 0
    response.writeHead(status, lines)
    if (isUnread && canLinger(this.incoming)) {
      linger(this.incoming, response, sent, Math.max(this.#means.limits.maxBodyBytes * 2, KEPT_BYTES))
      this.#done(request)
    } else {
      response.end(sent)
    }
    if (response.writableLength > 0) this.#follow()
  }

  #open(source: Source, status: number, lines: string[], isEvents: boolean): void {
    const response = this.#response
    response.on('drain', () => this.#sink?.drained())
    this.#pipe = new ResponsePipe(response, status, lines, this.#beganAtMs > 0)
    this.#sink = this.#means.streams.open(source, this.#pipe, isEvents)
  }

  /** The kernel has not taken the whole reply: from now on it is looked at whether somebody reads it. */
  #follow(): void {
    this.#unsent = new UnsentReply(this.#response)
    this.#means.streams.backlog.account(this.#unsent, this.#unsent.waiting)
  }

  #done(request: HttpRequest): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#means.budget.release(request)
    if (this.#beganAtMs === 0) return
    const bytes = this.#pipe?.bytes ?? this.#bytes
    this.#means.observer.onDone(request, this.#status, bytes, performance.now() - this.#beganAtMs)
  }
}

/** A whole reply that its reader has not taken yet. */
class UnsentReply implements Waiting {
  held = 0
  seen = 0
  seenAtMs = 0
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get waiting(): number { return this.#response.writableLength }
  get taken(): number { return takenOf(this.#response) }
  drop(): void { this.#response.destroy() }
}

/** Whether a body may be too long to be read for nothing, or may never come: then nothing can follow it. */
function mayNotBeRead(request: HttpRequest): boolean {
  const { contentLength, transferEncoding } = request.head
  return transferEncoding !== undefined || Number(contentLength ?? 0) > KEPT_BYTES
    || request.header('expect') !== undefined
}

function bodyRefusal(request: HttpRequest, failure: BodyFailure, { limits, log }: Means): Reply | undefined {
  switch (failure) {
    case 'too-large': return refusalOf(request, 413, tooLarge(limits))
    case 'no-room': return refusalOf(request, 503, NO_ROOM, ['Retry-After', '1'])
    case 'not-utf8': return refusalOf(request, 400, 'The body is not valid UTF-8', undefined, true)
    case 'late': return refusalOf(request, 408, LATE)
    case 'gone': return undefined
    case 'taken':
      log('error', 'A body was read before the handler got it; mount the handler before body parsers')
      return refusalOf(request, 500, `Internal error (request ${request.requestId})`)
  }
}
