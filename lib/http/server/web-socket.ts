/**
 * One WebSocket on the socket of its request, from the handshake to its end. Each message of the client is a
 * request to the endpoint, one after another; each line that the endpoint writes is a message to the client.
 * Loaded when the first one is opened. Spec: RFC 6455.
 */
import { createHash } from 'node:crypto'
import { closeCodes, closeFrame, encodeFrame, FrameReader, opcodes } from '../websocket/frames.ts'
import { endingAt, headerLines, isSource, withEnd } from '../message/reply.ts'
import {
  LARGE_LENGTH, MANY_CHUNKS, markLoopBusy, pauseUntilLoopFree, turn as loopTurn, whenLoopIsFree,
} from '../stream/loop-fairness.ts'
import { takenOf } from '../stream/response-pipe.ts'
import { BodyReading, objectionToBody } from './body.ts'
import { NO_STREAM, refusalOf } from './request.ts'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { MessageChannel, Objection, Source } from '../message/exchange.ts'
import type { Pipe, StreamSink } from '../stream/sink.ts'
import type { FrameTaker } from '../websocket/frames.ts'
import type { BodyFailure, BodyTaker } from './body.ts'
import type { Means } from './gate.ts'
import type { HttpRequest } from './request.ts'

const VERSION = '13'
/** Sixteen bytes as base64. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/
/** A client has its digest with the key to see that this is no other protocol: RFC 6455 §1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** Messages of one connection that may wait, the one that is answered among them. */
const MAX_WAITING = 8
/** How long a client may take to close its side. */
const CLOSE_MS = 2_000
/** Pings in a row that a client may leave without any sign of life. */
const MAX_UNANSWERED = 2
/** A client that does not read gets no pong either. */
const MAX_UNREAD = 16 * 1024
/** An empty line: a ping. */
const PING_LINE = '\n'
const nothing = Buffer.alloc(0)
const failureCodes: ReadonlyMap<BodyFailure, number> = new Map([
  ['too-large', closeCodes.tooLarge], ['no-room', closeCodes.tryLater], ['not-utf8', closeCodes.notUtf8],
])

/** Why a request may not open one. */
export function objectionTo(request: HttpRequest): Objection | undefined {
  const { corsHeaders, head: { host, origin } } = request
  // There is no CORS here: a page that may call could read the answers, too.
  if (origin !== undefined && !corsHeaders.includes('Access-Control-Allow-Origin') && !isOwn(origin, host)) {
    return [403, "Pages of this Origin may not read this server's answers; its operator can add it to cors"]
  }
  const objection = handshakeObjection((name) => request.header(name))
  if (objection !== undefined) return objection
  return request.streamObjection === undefined ? undefined : NO_STREAM
}

/** What is wrong with the opening handshake: RFC 6455 §4.2. */
export function handshakeObjection(header: (name: string) => string | undefined): Objection | undefined {
  if (header('sec-websocket-version') !== VERSION) {
    return [426, `Sec-WebSocket-Version must be ${VERSION}`,
      ['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Version', VERSION]]
  }
  if (KEY.test(header('sec-websocket-key') ?? '')) return undefined
  return [400, 'Sec-WebSocket-Key must be 16 bytes as base64, another one for each connection']
}

/** Whether a page is of this server itself, which the guard has checked. */
function isOwn(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()
}

export class WebSocketConnection implements Pipe, FrameTaker {
  /** Of all messages that were sent. */
  bytes = 0
  readonly sink: StreamSink
  readonly heartbeat: string = PING_LINE
  readonly #response: ServerResponse
  readonly #socket: Socket
  readonly #request: HttpRequest
  readonly #channel: MessageChannel
  readonly #means: Means
  readonly #reader: FrameReader
  /** The last one may still arrive. */
  readonly #messages: Message[] = []
  #isAnswering = false
  #closeCode: number = closeCodes.normal
  #isClosing = false
  #unanswered = 0
  /** The last ping of those that came together, until it is answered. */
  #pinged: Buffer | undefined
  #isOver = false

  /** `first`: what came behind the head. */
  constructor(request: HttpRequest, response: ServerResponse, first: Buffer, means: Means) {
    const channel = request.endpoint!.connect!(request)
    this.#request = request
    this.#response = response
    this.#socket = response.socket!
    this.#channel = channel
    this.#means = means
    this.#reader = new FrameReader(this, means.limits.maxBodyBytes)
    const source: Source = {
      ...withEnd(channel, () => this.#end()),
      dismissal: (why) => {
        this.#closeCode = closeCodes.refused
        return channel.dismissal?.(why) ?? ''
      },
    }
    const accept = createHash('sha1').update(request.header('sec-websocket-key') + GUID).digest('base64')
    const headers = ['Upgrade', 'websocket', 'Connection', 'Upgrade', 'Sec-WebSocket-Accept', accept]
    response.writeHead(101, headerLines(request, { status: 101, headers }))
    response.flushHeaders()
    const { body = source } = endingAt({ status: 101, body: source }, request.principal.expiresAt)
    const { caller, readerCheck } = request
    this.sink = means.streams.open(isSource(body) ? body : source, this, true, caller, readerCheck)
    this.#listen(first)
  }

  get waiting(): number { return this.#socket.writableLength }
  get taken(): number { return takenOf(this.#response) }

  /** The server closes: no message is answered after the present one. */
  goAway(): void {
    this.#closeCode = closeCodes.goingAway
    if (!this.#isAnswering) this.sink.end()
  }

  /** The head is sent already. */
  begin(text: string): void { this.push(text) }

  push(text: string): void {
    const lines = text.split('\n')
    lines.pop()
    if (lines.length > 0) this.#socket.write(Buffer.concat(lines.map((line) => this.#frameOf(line))))
  }

  finish(): void { this.#close(this.#closeCode) }
  destroy(): void { this.#socket.destroy() }

  part(bytes: Buffer): void {
    const last = this.#messages.at(-1)
    const message = last?.isArriving === true ? last : this.#beginMessage()
    if (bytes.length > 0) message?.reading.take(bytes)
  }

  end(): void { this.#messages.at(-1)?.end() }

  ping(payload: Buffer): void { this.#pinged = payload }

  close(code: number): void {
    // What is running is not waited for.
    this.sink.gone()
    this.#close(code === closeCodes.none ? closeCodes.normal : code)
  }

  fail(code: number, why: string): void {
    if (code === closeCodes.tooLarge) return this.refuse('too-large')
    this.sink.gone()
    this.#close(code, why)
  }

  /** Says why a message cannot be read, and closes the connection: the rest of it may not come. */
  refuse(failure: BodyFailure): void {
    if (this.#isOver) return
    this.#reader.stop()
    this.#closeCode = failureCodes.get(failure) ?? closeCodes.refused
    const { limits, log } = this.#means
    this.#channel.refuse(refusalOf(this.#request, ...objectionToBody(failure, limits, log)))
    this.sink.end()
  }

  /** Answers the oldest message, where it is whole and none is being answered. */
  next(): void {
    const message = this.#messages[0]
    const isEnding = this.#isOver || this.#isClosing || this.#closeCode !== closeCodes.normal
    if (isEnding || this.#isAnswering || message?.isWhole !== true) return
    if (loopTurn.isTaken && message.isLarge) return whenLoopIsFree(() => this.next())
    if (message.isLarge) markLoopBusy()
    this.#isAnswering = true
    void this.#answer(message).catch((error) => this.#broke(error))
  }

  async #answer(message: Message): Promise<void> {
    await this.sink.checked()
    if (this.#isOver) return
    message.request.principal = this.#request.principal
    const answered = this.#channel.answer(message.request)
    message.request.body = ''
    await answered
    message.request.close()
    if (this.#isOver) return
    this.#messages.shift()
    this.#isAnswering = false
    if (this.#closeCode === closeCodes.goingAway) this.sink.end()
    else this.next()
  }

  #listen(first: Buffer): void {
    const socket = this.#socket
    socket.on('data', this.#take.bind(this))
    socket.on('drain', () => this.sink.drained())
    // Half of a connection is of no use.
    socket.on('end', () => socket.destroy())
    if (first.length > 0) this.#take(first)
    socket.resume()
  }

  #take(chunk: Buffer): void {
    const socket = this.#socket
    this.#unanswered = 0
    try {
      if (this.#reader.take(chunk) > MANY_CHUNKS) pauseUntilLoopFree({ socket })
      const ping = this.#pinged
      this.#pinged = undefined
      if (ping === undefined || this.#isClosing || socket.writableLength >= MAX_UNREAD) return
      socket.write(encodeFrame(opcodes.pong, ping))
    } catch (error) {
      this.#broke(error)
    }
  }

  #broke(cause: unknown): void {
    this.#means.log('error', 'A message could not be answered', { cause })
    this.#socket.destroy()
  }

  #frameOf(line: string): Buffer {
    if (line !== '') {
      const payload = Buffer.from(line)
      this.bytes += payload.length
      return encodeFrame(opcodes.text, payload)
    }
    if (++this.#unanswered > MAX_UNANSWERED) this.#socket.destroy()
    return encodeFrame(opcodes.ping, nothing)
  }

  #beginMessage(): Message | undefined {
    if (this.#messages.length >= MAX_WAITING) {
      const why = `More than ${MAX_WAITING} messages wait; send one when the one before it is answered`
      this.fail(closeCodes.refused, why)
      this.#reader.stop()
      return undefined
    }
    const message = new Message(this.#request, this, this.#means)
    this.#messages.push(message)
    return message
  }

  /** Sends the last frame. The client closes the connection, or it is closed here. */
  #close(code: number, why?: string): void {
    if (this.#isClosing) return
    this.#isClosing = true
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_MS).unref()
    this.#socket.once('close', () => clearTimeout(timer))
    this.#socket.end(closeFrame(code, why))
  }

  /** Nothing is sent any more, and nothing is answered. */
  #end(): void {
    this.#isOver = true
    this.#reader.stop()
    for (const message of this.#messages) message.drop()
    this.#messages.length = 0
  }
}

/** One message, while it arrives, waits and is answered. */
class Message implements BodyTaker {
  readonly request: HttpRequest
  readonly reading: BodyReading
  isArriving = true
  isWhole = false
  readonly #connection: WebSocketConnection
  /** Called when the client leaves. Undefined: it has. */
  #listeners: (() => void)[] | undefined = []

  constructor(handshake: HttpRequest, connection: WebSocketConnection, { budget, limits }: Means) {
    this.#connection = connection
    const { method, target, httpVersion, rawHeaders, bind, secure, remoteAddress } = handshake.incoming
    this.request = handshake.further({
      method, target, httpVersion, rawHeaders, bind, secure, remoteAddress,
      onDisconnect: (listener) => {
        if (this.#listeners === undefined) listener()
        else this.#listeners.push(listener)
      },
    })
    this.reading = new BodyReading(this.request, budget, limits, this)
    this.reading.limit()
  }

  get isLarge(): boolean { return this.request.body.length > LARGE_LENGTH }

  end(): void {
    this.isArriving = false
    this.reading.end()
  }

  takeBody(text: string, failure?: BodyFailure): void {
    if (failure !== undefined) return this.#connection.refuse(failure)
    this.request.body = text
    this.isWhole = true
    this.#connection.next()
  }

  /** The client has left before it was answered. */
  drop(): void {
    this.reading.stop()
    this.request.close()
    const listeners = this.#listeners ?? []
    this.#listeners = undefined
    for (const listener of listeners) listener()
  }
}
