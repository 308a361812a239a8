/** What a response of node:http is to streams and to the backlog: a pipe, or a reply that waits. */
import { Socket } from 'node:net'
import { QueuedReply } from './backlog.ts'
import type { ServerResponse } from 'node:http'
import type { Backlog } from './backlog.ts'
import type { Pipe, StreamSink } from './sink.ts'

/** Even at three bytes each they fit into a socket's buffer. */
const SMALL_CHARS = 4 * 1024

export class ResponsePipe implements Pipe {
  /** Bytes of the body, where they are counted. */
  bytes = 0
  /** Set as soon as it is there. */
  sink: StreamSink | undefined
  readonly #response: ServerResponse
  readonly #status: number
  /** Dropped when sent: a stream may be open for days. */
  #lines: string[] | undefined
  readonly #isCounted: boolean
  #awaitsDrain = false

  constructor(response: ServerResponse, status: number, lines: string[], isCounted: boolean) {
    this.#response = response
    this.#status = status
    this.#lines = lines
    this.#isCounted = isCounted
  }

  get waiting(): number { return this.#response.writableLength }
  get taken(): number { return takenOf(this.#response) }

  push(text: string, isLast: boolean): void {
    if (this.#lines !== undefined) return this.#begin(text, isLast, this.#lines)
    const response = this.#response
    if (this.#isCounted) this.bytes += Buffer.byteLength(text)
    if (isLast) return void response.end(text)
    if (text.length <= SMALL_CHARS && isAlone(response)) {
      // Node would write size, text and line end separately: each event would cost 20 % more.
      response.socket!.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
    } else if (!response.write(text) && !this.#awaitsDrain) {
      this.#awaitsDrain = true
      response.once('drain', () => this.#drained())
    }
  }

  destroy(): void { this.#response.destroy() }

  #begin(text: string, isWhole: boolean, lines: string[]): void {
    this.#lines = undefined
    const response = this.#response
    if (isWhole) {
      const bytes = Buffer.byteLength(text)
      if (this.#isCounted) this.bytes = bytes
      lines.push('Content-Length', String(bytes))
      response.writeHead(this.#status, lines)
      return endAtOnce(response, text, bytes)
    }
    response.writeHead(this.#status, lines)
    const isCorked = text !== '' && isAlone(response)
    if (isCorked) response.socket!.cork()
    // Joined with the body, Node would keep a head as thirty strings.
    if (isCorked || text === '') response.flushHeaders()
    if (text !== '') this.push(text, false)
    if (isCorked) response.socket!.uncork()
  }

  #drained(): void {
    this.#awaitsDrain = false
    this.sink?.drained()
  }
}

/** A whole reply that its reader has not taken yet. */
export class UnsentReply extends QueuedReply {
  readonly response: ServerResponse

  constructor(response: ServerResponse) {
    super()
    this.response = response
  }

  get waiting(): number { return this.response.writableLength }
  get taken(): number { return takenOf(this.response) }
  drop(): void { this.response.destroy() }
}

/**
 * Ends a response whose head is written, with its whole body of so many bytes. Node's own `end` makes two
 * writes of it; as one it is 10 % cheaper. A body of single-byte characters is sent as Latin-1, which needs
 * no encoding.
 */
export function endAtOnce(response: ServerResponse, body: string, bytes: number): void {
  const { socket } = response
  if (socket === null || body === '' || Object.hasOwn(response, 'end')) return void response.end(body)
  socket.cork()
  response.write(body, encodingOf(body, bytes))
  socket.uncork()
  response.end()
}

/** The cheaper encoding of a body of so many bytes. */
function encodingOf(body: string | Uint8Array, bytes: number): 'latin1' | 'utf8' {
  return bytes === body.length ? 'latin1' : 'utf8'
}

/**
 * Whether a chunk can be written to the socket itself: nothing waits, and no wrapper has replaced `write`.
 */
function isAlone(response: ServerResponse): boolean {
  return response.chunkedEncoding && response.socket !== null && response.writableLength === 0
    && !Object.hasOwn(response, 'write')
}

/**
 * How much of what was written the kernel has taken. Only the socket's handle knows that of a large piece
 * before all of it is taken.
 */
function takenOf(response: ServerResponse): number {
  const { socket } = response
  const handle: unknown = socket && '_handle' in socket ? socket._handle : undefined
  if (typeof handle !== 'object' || handle === null) return -response.writableLength
  const { bytesWritten, writeQueueSize } = handle as { bytesWritten?: unknown; writeQueueSize?: unknown }
  if (typeof bytesWritten !== 'number' || typeof writeQueueSize !== 'number') return -response.writableLength
  return bytesWritten - writeQueueSize
}

const PIECE_LENGTH = 128 * 1024

/**
 * A whole reply that is too large for one write, with its head already written. It leaves piece by piece as
 * its reader takes it; written at once, all of it would be held, and more than once, until its last byte is
 * sent.
 */
export class LargeReply extends UnsentReply {
  readonly #backlog: Backlog
  /** The rest, while the reader keeps up. */
  #body: string | Uint8Array
  #at = 0
  /** The rest in pieces, the last first: a piece that was taken is freed at once. */
  #pieces: Buffer[] | undefined
  /** Bytes that are not written yet. */
  #left: number
  /** Latin-1 for single-byte characters alone, which then need no encoding. */
  readonly #encoding: 'latin1' | 'utf8'
  #hasToWait = false

  constructor(response: ServerResponse, body: string | Uint8Array, length: number, backlog: Backlog) {
    super(response)
    this.#backlog = backlog
    this.#body = body
    this.#left = length
    this.#encoding = encodingOf(body, length)
    response.on('drain', () => this.#drained())
    const { socket } = response
    if (socket instanceof Socket) {
      // A client has closed its half. Node then closes the other, and what is not written by then is lost.
      const writeAll = (): void => { while (this.#left > 0 && !response.destroyed) this.#writeOne() }
      socket.prependListener('end', writeAll)
      response.once('close', () => socket.off('end', writeAll))
    }
    this.#write()
  }

  override get waiting(): number { return this.#left + super.waiting }

  override drop(): void {
    this.#body = ''
    this.#pieces = undefined
    super.drop()
  }

  #drained(): void {
    this.#hasToWait = false
    if (this.#left > 0 && !this.response.destroyed) this.#write()
    this.#backlog.account(this, this.waiting)
  }

  #write(): void {
    const hasRoom = this.#writeOne()
    if (this.#left === 0) return
    // A host may have raised the high-water mark: then nothing drains.
    if (hasRoom) return void setImmediate(() => this.#drained())
    this.#hasToWait = true
    // What the kernel takes at once has drained by then.
    if (this.#pieces === undefined) setImmediate(() => this.#split())
  }

  /** Whether the next piece may follow at once. */
  #writeOne(): boolean {
    const piece = this.#pieces === undefined ? this.#cut() : this.#pieces.pop()!
    this.#left -= typeof piece === 'string' ? Buffer.byteLength(piece, this.#encoding) : piece.length
    if (this.#left > 0) return this.response.write(piece, this.#encoding)
    this.#body = ''
    this.response.end(piece, this.#encoding)
    return true
  }

  /** The reader is slow: from here on only whole pieces are kept. */
  #split(): void {
    if (!this.#hasToWait || this.#pieces !== undefined || this.#left === 0 || this.response.destroyed) return
    const pieces: Buffer[] = []
    while (this.#at < this.#body.length) {
      const piece = this.#cut()
      pieces.push(typeof piece === 'string' ? Buffer.from(piece, this.#encoding) : Buffer.from(piece))
    }
    this.#pieces = pieces.reverse()
    this.#body = ''
  }

  #cut(): string | Uint8Array {
    const from = this.#at
    this.#at = Math.min(from + PIECE_LENGTH, this.#body.length)
    // Not inside a surrogate pair.
    if (typeof this.#body === 'string' && this.#body.codePointAt(this.#at - 1)! > 0xffff) this.#at++
    return this.#body.slice(from, this.#at)
  }
}
