/**
 * One request of node:http from its head to its end: through the gate, its body reader and its endpoint
 * to its response. The one owner of what it holds: all of it is given back at its end, and its end is told
 * once. Whatever fails on the way is answered or dropped, and never thrown to an event or a timer.
 */
import { Socket } from 'node:net'
import { isThenable } from '../../util/thenable.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import { inContext } from '../message/context.ts'
import { discard, endingAt, headerLines, isSource, lengthOf } from '../message/reply.ts'
import {
  LARGE_LENGTH, MANY_CHUNKS, markLoopBusy, pauseUntilLoopFree, turn, whenLoopIsFree,
} from '../stream/loop-fairness.ts'
import { endAtOnce, LargeReply, ResponsePipe, UnsentReply } from '../stream/response-pipe.ts'
import { readBody, refuseBody } from './body.ts'
import { NodeRequestHead } from './node-request.ts'
import { requestChannel } from './observer.ts'
import { NO_STREAM, refusalOf } from './request.ts'
import { LATE } from './unread.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Limits } from '../../define/limits.ts'
import type { Log } from '../../define/log.ts'
import type { LinkedMember } from '../../util/linked-list.ts'
import type { Bind } from '../access/guard.ts'
import type { Reply, Source } from '../message/exchange.ts'
import type { QueuedReply } from '../stream/backlog.ts'
import type { Streams, StreamSink } from '../stream/sink.ts'
import type { BodyBudget, BodyFailure, BodyTaker, ReadingBody } from './body.ts'
import type { Gate } from './gate.ts'
import type { Observer } from './observer.ts'
import type { HttpRequest } from './request.ts'

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

/** One request and its response. */
export class Transaction implements LinkedMember<Transaction>, BodyTaker {
  readonly response: ServerResponse
  /** Where it stands among those that are being answered. */
  previous: Transaction | undefined
  next: Transaction | undefined
  readonly #incoming: IncomingMessage
  readonly #head: NodeRequestHead
  readonly #means: Means
  readonly #expects: Expectation
  readonly #isOwn: boolean
  readonly #isTimed: boolean
  #request: HttpRequest | undefined
  #reading: ReadingBody | undefined
  #sink: StreamSink | undefined
  #pipe: ResponsePipe | undefined
  #unsent: QueuedReply | undefined
  /** Nothing is to follow on this connection. */
  #isLast = false
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
    this.#incoming = incoming
    this.response = response
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
      if (observer.isAlwaysWanted || requestChannel.hasSubscribers) this.#beganAtMs = performance.now()
      const request = gate(this.#head)
      if (!isThenable(request)) return this.#go(request)
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
    if (this.#incoming.complete) {
      // Node's clock goes on over what its parser has given up.
      if (this.#isGivenUp) return detail === LATE
      this.#isGivenUp = true
      this.end()
      return true
    }
    if (request === undefined || this.response.headersSent) return false
    this.end()
    // Should the rest come after all, nobody waits for it.
    this.#reading?.stop()
    this.#refuse(request, status, detail)
    return true
  }

  /** Makes this request the last one of its connection. */
  end(): void {
    if (this.#isLast) return
    this.#isLast = true
    if (!this.#isOwn || !this.response.headersSent) return
    // Its head does not say so. Before Node's own listener, which would give the turn to what waits.
    this.response.prependListener('finish', () => this.#incoming.socket.destroySoon())
  }

  /** The response is over: everything was sent, or the client has left. */
  closed(): void {
    this.#isClosed = true
    this.#reading?.stop()
    if (!this.response.writableFinished) this.#head.left(this.#means.log)
    this.#head.letGo()
    this.#sink?.gone()
    this.#unsent?.close()
    const request = this.#request
    if (request === undefined) return
    this.#done(request)
    // It may wait for its turn still.
    request.body = ''
  }

  #go(request: HttpRequest): void {
    this.#request = request
    if (this.#isClosed) return this.#done(request)
    // A socket that has closed does not know any more who it was.
    if (this.#beganAtMs > 0) void this.#head.remoteAddress
    if (request.refusal !== undefined) return this.#deliver(request, request.refusal)
    const endpoint = request.endpoint!
    if (this.#expects === 'unknown') {
      return this.#refuse(request, 417, 'Nothing but 100-continue can be expected')
    }
    if (endpoint.accepts === undefined || request.method === 'GET' || request.method === 'HEAD') {
      return this.#run(request)
    }
    if (this.#expects === 'continue') this.response.writeContinue()
    const { budget, limits } = this.#means
    // What a host keeps in an AsyncLocalStorage for this request is not there in events of its socket.
    const taker = this.#isOwn ? this : { takeBody: inContext(this.takeBody.bind(this)) }
    this.#reading = readBody(this.#incoming, request, budget, limits, this.#isTimed, taker)
  }

  takeBody(text: string, failure?: BodyFailure): void {
    const request = this.#request!
    this.#reading = undefined
    if (failure !== undefined) return this.#refuseBody(request, failure)
    request.body = text
    if (turn.isTaken) whenLoopIsFree(() => this.#run(request))
    else this.#run(request)
  }

  #run(request: HttpRequest): void {
    // It may have had to wait.
    if (this.#isClosed) return
    const endpoint = request.endpoint!
    const loading = endpoint.load?.()
    // Many may wait for it: each goes on as if its body had come only now.
    if (loading !== undefined) {
      return void loading.then(() => this.takeBody(request.body)).catch((error) => this.#broke(error))
    }
    if (request.body.length > LARGE_LENGTH) markLoopBusy()
    try {
      const reply = endpoint.handle(request)
      request.body = ''
      if (!('then' in reply)) return this.#deliver(request, reply)
      reply.then(this.#deliverLate.bind(this, request), this.#broke.bind(this))
    } catch (error) {
      this.#broke(error)
    }
  }

  #refuse(request: HttpRequest, status: number, detail: string, headers?: readonly string[]): void {
    try {
      this.#deliver(request, refusalOf(request, status, detail, headers))
    } catch (error) {
      this.#broke(error)
    }
  }

  #refuseBody(request: HttpRequest, failure: BodyFailure): void {
    const { limits, log } = this.#means
    if (failure === 'late') this.end()
    if (failure === 'taken') {
      log('error', 'A body was read before the handler got it; mount the handler before body parsers')
    }
    try {
      this.#deliver(request, refuseBody(request, failure, limits))
    } catch (error) {
      this.#broke(error)
    }
  }

  /** What broke before a word was sent is told; what breaks while that is told is not. */
  #broke(error: unknown): void {
    const request = this.#request
    if (request === undefined) {
      this.#means.log('error', 'A request could not be handled', { cause: error })
      return void this.response.destroy()
    }
    const { path, requestId } = request
    this.#means.log('error', 'An endpoint failed', { request: requestId, path, cause: error })
    try {
      if (this.response.headersSent) this.response.destroy()
      else this.#deliver(request, refusalOf(request, 500, `Internal error (request ${requestId})`))
    } catch {
      this.response.destroy()
    }
  }

  #deliverLate(request: HttpRequest, reply: Reply): void {
    try {
      this.#deliver(request, reply)
    } catch (error) {
      this.#broke(error)
    }
  }

  /** Sends a reply. What it throws is for whoever has called it. */
  #deliver(request: HttpRequest, wanted: Reply): void {
    const response = this.response
    const { expiresAt } = request.principal
    const reply = expiresAt === undefined ? wanted : endingAt(wanted, expiresAt)
    const { body, status, type } = reply
    if (this.#isClosed || response.destroyed || response.writableEnded) {
      if (isSource(body)) discard(body)
      return
    }
    if (isSource(body) && !this.#means.streams.hasRoomFor(request)) {
      discard(body)
      return this.#refuse(request, 503, NO_STREAM, ['Retry-After', '5'])
    }
    const lines = headerLines(request, reply)
    const isUnread = !this.#incoming.complete && mayNotBeRead(request)
    if ((this.#isLast || isUnread) && !this.#head.isHttp2) lines.push('Connection', 'close')
    this.#status = status
    if (isSource(body)) {
      if (request.method !== 'HEAD') return this.#open(request, body, status, lines, type === EVENT_STREAM)
      discard(body)
      return void response.writeHead(status, lines).end()
    }
    const length = lengthOf(status, body)
    if (length !== undefined) lines.push('Content-Length', String(length))
    const sent = request.method === 'HEAD' ? undefined : body
    if (sent !== undefined) this.#bytes = length ?? 0
    response.writeHead(status, lines)
    if (isUnread && !this.#head.isHttp2 && canLinger(this.#incoming)) {
      // Who is up to twice over the limit gets to read that.
      linger(this.#incoming, response, sent, Math.max(this.#means.limits.maxBodyBytes * 2, KEPT_BYTES))
      this.#done(request)
      if (response.writableLength > 0) this.#follow(new UnsentReply(response))
    } else if (sent !== undefined && sent.length > LARGE_LENGTH) {
      markLoopBusy()
      this.#follow(new LargeReply(response, sent, this.#bytes, this.#means.streams.backlog))
    } else {
      if (this.#isOwn && typeof sent === 'string') endAtOnce(response, sent, this.#bytes)
      else response.end(sent)
      if (response.writableLength > 0) this.#follow(new UnsentReply(response))
    }
  }

  #open(
    request: HttpRequest, source: Source, status: number, lines: string[], isEvents: boolean,
  ): void {
    const pipe = new ResponsePipe(this.response, status, lines, this.#beganAtMs > 0)
    pipe.sink = this.#sink = this.#means.streams.open(source, pipe, isEvents, request.caller)
    this.#pipe = pipe
    // A stream may be open for days: what nobody will ask for again is let go of.
    if (this.#beganAtMs === 0 && request.amount === 0) this.#request = undefined
  }

  /** The kernel has not taken the whole reply: from now on it is looked at whether somebody reads it. */
  #follow(unsent: QueuedReply): void {
    this.#unsent = unsent
    this.#means.streams.backlog.account(unsent, unsent.waiting)
  }

  #done(request: HttpRequest): void {
    if (this.#isDone) return
    this.#isDone = true
    request.close()
    if (this.#beganAtMs === 0) return
    const bytes = this.#pipe?.bytes ?? this.#bytes
    this.#means.observer.onDone(request, this.#status, bytes, performance.now() - this.#beganAtMs)
  }
}

/** A refused body of up to this length is read to its end, so that the connection can be kept. */
export const KEPT_BYTES: number = 64 * 1024

/** The longest that a client may go on sending. */
const LINGER_MS = 2_000

/** Whether a body may be too long to be read for nothing, or may never come: then nothing can follow it. */
export function mayNotBeRead(request: HttpRequest): boolean {
  const { contentLength, transferEncoding } = request.head
  return transferEncoding !== undefined || Number(contentLength ?? 0) > KEPT_BYTES
    || request.header('expect') !== undefined
}

/** Whether it can be done: over a socket of its own. Over anything else a response simply ends. */
export function canLinger(incoming: IncomingMessage): boolean {
  return incoming.socket instanceof Socket
}

/** Sends the rest of an answer whose head is written, and passes over at most `maxBytes` of the body. */
export function linger(
  incoming: IncomingMessage, response: ServerResponse, body: string | Uint8Array | undefined,
  maxBytes: number,
): void {
  if (body !== undefined) response.write(body)
  else response.flushHeaders()
  const { socket } = incoming
  socket.end()
  let passed = 0
  let chunks = 0
  const close = (): void => {
    clearTimeout(timer)
    socket.destroySoon()
  }
  const timer = setTimeout(close, LINGER_MS)
  incoming.removeAllListeners('data')
  incoming.on('data', (chunk: Buffer) => {
    passed += chunk.length
    if (passed > maxBytes) close()
    else if (++chunks % MANY_CHUNKS === 0) pauseUntilLoopFree(incoming)
  })
  incoming.on('end', close)
  incoming.on('close', close)
  incoming.resume()
}
