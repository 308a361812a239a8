/**
 * One request of node:http from its head to its end: through the gate, its body reader and its endpoint to
 * its response. It owns what it holds, and gives all back at its end. Failures on the way are answered or
 * dropped, and never thrown to an event or a timer.
 */
import { Socket } from 'node:net'
import { isThenable } from '../../util/thenable.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import {
  inContext, LARGE_LENGTH, MANY_CHUNKS, markLoopBusy, pauseUntilLoopFree, turn, whenLoopIsFree,
} from '../stream/loop-fairness.ts'
import { endAtOnce, LargeReply, ResponsePipe, UnsentReply } from '../stream/response-pipe.ts'
import { discard, isSource, readyReply, replyTo } from './answer.ts'
import { objectionToBody, readBody } from './body.ts'
import { NodeRequestHead } from './node-request.ts'
import { requestChannel } from './observer.ts'
import { brokenReply, refusalOf } from './request.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LinkedMember } from '../../util/linked-list.ts'
import type { Bind } from '../access/guard.ts'
import type { Objection, Reply, Source } from '../message/exchange.ts'
import type { QueuedReply } from '../stream/backlog.ts'
import type { StreamSink } from '../stream/sink.ts'
import type { BodyFailure, BodyReading, BodyTaker } from './body.ts'
import type { Means } from './gate.ts'
import type { HttpRequest } from './request.ts'

/** As Node reads it. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

export class Transaction implements LinkedMember<Transaction>, BodyTaker {
  readonly response: ServerResponse
  previous: Transaction | undefined
  next: Transaction | undefined
  readonly #incoming: IncomingMessage
  readonly #head: NodeRequestHead
  readonly #means: Means
  readonly #isOwn: boolean
  readonly #isTimed: boolean
  #request: HttpRequest | undefined
  #reading: BodyReading | undefined
  #sink: StreamSink | undefined
  #pipe: ResponsePipe | undefined
  #unsent: QueuedReply | undefined
  /** No request follows on this connection. */
  #isLast = false
  #isClosed = false
  #isDone = false
  #status = 0
  #bytes = 0
  /** Zero without an observer. */
  #beganAtMs = 0

  /** `isTimed`: no other clock limits the body. */
  constructor(
    incoming: IncomingMessage, response: ServerResponse, bind: Bind | undefined, isTimed: boolean,
    means: Means,
  ) {
    this.#incoming = incoming
    this.response = response
    this.#head = new NodeRequestHead(incoming, bind)
    this.#isOwn = bind !== undefined
    this.#isTimed = isTimed
    this.#means = means
  }

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
   * The connection cannot be read, or is too slow. A whole request is still answered, as the last one;
   * another is refused. False where neither is possible.
   */
  giveUp(status: number, detail: string): boolean {
    const request = this.#request
    if (this.#incoming.complete) {
      // Node says it again with every further chunk, and when its clock looks.
      this.end()
      return true
    }
    if (request === undefined || this.response.headersSent) return false
    this.end()
    // The rest may still arrive, and is dropped.
    this.#reading?.stop()
    this.#refuse(request, status, detail)
    return true
  }

  /** Makes this request the last one of its connection. */
  end(): void {
    if (this.#isLast) return
    this.#isLast = true
    if (!this.#isOwn || !this.response.headersSent) return
    // Its head does not say so. Before Node's own listener, which would start the next request.
    this.response.prependListener('finish', () => this.#incoming.socket.destroySoon())
  }

  /** The response is over: sent whole, or the client has left. */
  closed(): void {
    this.#isClosed = true
    this.#reading?.stop()
    if (!this.response.writableFinished) this.#head.disconnected(this.#means.log)
    this.#head.detach()
    this.#sink?.gone()
    this.#unsent?.close()
    const request = this.#request
    if (request === undefined) return
    this.#done(request)
    // It may still wait.
    request.body = ''
  }

  #go(request: HttpRequest): void {
    this.#request = request
    if (this.#isClosed) return this.#done(request)
    // A closed socket does not know its address.
    if (this.#beganAtMs > 0) void this.#head.remoteAddress
    if (request.refusal !== undefined) return this.#deliver(request, request.refusal)
    const expected = this.#expected
    if (expected !== undefined && !CONTINUE.test(expected)) {
      return this.#refuse(request, 417, 'Nothing but 100-continue can be expected')
    }
    if (!request.takesBody) return this.#run(request)
    if (expected !== undefined) this.response.writeContinue()
    // A host's AsyncLocalStorage is lost in events of its socket.
    const taker = this.#isOwn ? this : { takeBody: inContext(this.takeBody.bind(this)) }
    this.#reading = readBody(this.#incoming, request, this.#means.budget, this.#isTimed, taker)
  }

  /** In a host's server the host has answered it. */
  get #expected(): string | undefined {
    const { headers, httpVersion } = this.#incoming
    return this.#isOwn && httpVersion === '1.1' ? headers.expect : undefined
  }

  takeBody(text: string, failure?: BodyFailure): void {
    const request = this.#request!
    this.#reading = undefined
    if (failure !== undefined) {
      if (failure === 'late') this.end()
      const { limits, log } = this.#means
      return this.#refuse(request, ...objectionToBody(failure, limits, log))
    }
    request.body = text
    this.#runInTurn(request)
  }

  #runInTurn(request: HttpRequest): void {
    if (turn.isTaken) whenLoopIsFree(() => this.#run(request))
    else this.#run(request)
  }

  #run(request: HttpRequest): void {
    if (this.#isClosed) return
    const loading = request.endpoint!.load?.()
    // Many may wait for one module.
    if (loading !== undefined) {
      return void loading.then(() => this.#runInTurn(request)).catch((error) => this.#broke(error))
    }
    if (request.body.length > LARGE_LENGTH) markLoopBusy()
    try {
      const reply = replyTo(request)
      if (!('then' in reply)) return this.#deliver(request, reply)
      reply.then(this.#deliver.bind(this, request), this.#broke.bind(this))
    } catch (error) {
      this.#broke(error)
    }
  }

  #refuse(request: HttpRequest, ...why: Objection): void {
    try {
      this.#send(request, refusalOf(request, ...why))
    } catch (error) {
      this.#broke(error)
    }
  }

  /** Sends 500 if nothing was sent yet; otherwise destroys the socket. */
  #broke(error: unknown): void {
    const request = this.#request
    if (request === undefined) {
      this.#means.log('error', 'A request could not be handled', { cause: error })
      return void this.response.destroy()
    }
    try {
      const reply = brokenReply(request, error, this.#means.log)
      if (this.response.headersSent) this.response.destroy()
      else this.#send(request, reply)
    } catch {
      this.response.destroy()
    }
  }

  #deliver(request: HttpRequest, reply: Reply): void {
    try {
      this.#send(request, reply)
    } catch (error) {
      this.#broke(error)
    }
  }

  /** Sends a reply. May throw. */
  #send(request: HttpRequest, wanted: Reply): void {
    const response = this.response
    const { body, bytes, lines, status } = readyReply(request, wanted)
    if (this.#isClosed || response.destroyed || response.writableEnded) {
      if (isSource(body)) discard(body)
      return
    }
    const isUnread = !this.#incoming.complete && mayNotBeRead(request)
    if ((this.#isLast || isUnread) && !this.#head.isHttp2) lines.push('Connection', 'close')
    this.#status = status
    if (isSource(body)) return this.#open(request, body, status, lines, wanted.type === EVENT_STREAM)
    this.#bytes = bytes
    response.writeHead(status, lines)
    if (isUnread && !this.#head.isHttp2 && this.#incoming.socket instanceof Socket) {
      // A client up to twice over the limit can read why.
      linger(this.#incoming, response, body, Math.max(this.#means.limits.maxBodyBytes * 2, KEPT_BYTES))
      this.#done(request)
    } else if (body !== undefined && body.length > LARGE_LENGTH) {
      markLoopBusy()
      return this.#follow(new LargeReply(response, body, bytes, this.#means.streams.backlog))
    } else if (this.#isOwn && typeof body === 'string') {
      endAtOnce(response, body, bytes)
    } else {
      response.end(body)
    }
    if (response.writableLength > 0) this.#follow(new UnsentReply(response))
  }

  #open(
    request: HttpRequest, source: Source, status: number, lines: string[], isEvents: boolean,
  ): void {
    const pipe = new ResponsePipe(this.response, status, lines, this.#beganAtMs > 0)
    pipe.sink = this.#sink = this.#means.streams.open(source, pipe, isEvents, request)
    this.#pipe = pipe
    // A stream may be open for days: what is not needed again is dropped.
    if (this.#beganAtMs === 0 && request.amount === 0) this.#request = undefined
  }

  /** The kernel has not taken the whole reply: the backlog watches it from now on. */
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

/** A refused body up to this length is read, so that the connection stays. */
const KEPT_BYTES = 64 * 1024

/** How long a client may go on sending. */
const LINGER_MS = 2_000

/** Whether a body is too long to be read in vain, or may never arrive: then the connection closes. */
function mayNotBeRead(request: HttpRequest): boolean {
  const { contentLength, transferEncoding } = request.head
  return transferEncoding !== undefined || Number(contentLength ?? 0) > KEPT_BYTES
    || request.header('expect') !== undefined
}

/**
 * Sends the rest of an answer whose head is written, and reads at most `maxBytes` of the body, so that a
 * client that writes before it reads gets the answer: an immediate close would reset the connection.
 */
function linger(
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
