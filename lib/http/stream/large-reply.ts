/**
 * A whole reply that is too large for one write. It leaves piece by piece, as fast as its reader takes it, so
 * that no more of it is held than what is still to be taken: written at once, all of it would be held, and
 * more than once, until the last byte has gone.
 */
import { QueuedReply } from './backlog.ts'
import { takenOf } from './response-pipe.ts'
import type { ServerResponse } from 'node:http'
import type { Backlog } from './backlog.ts'

/** Characters or bytes of one piece. */
const PIECE_LENGTH = 128 * 1024

/** One large reply; its head is written already. */
export class LargeReply extends QueuedReply {
  readonly #response: ServerResponse
  readonly #backlog: Backlog
  /** What is left of it while its reader keeps up. */
  #body: string | Uint8Array
  #at = 0
  /** What is left of it when the reader has not, the last piece first: what was taken goes at once. */
  #pieces: Buffer[] | undefined
  /** Bytes of the body that are not written yet. */
  #left: number
  #hasToWait = false

  constructor(response: ServerResponse, body: string | Uint8Array, length: number, backlog: Backlog) {
    super()
    this.#response = response
    this.#backlog = backlog
    this.#body = body
    this.#left = length
    response.on('drain', () => this.#drained())
    this.#write()
  }

  get waiting(): number { return this.#left + this.#response.writableLength }
  get taken(): number { return takenOf(this.#response) }

  drop(): void {
    this.#body = ''
    this.#pieces = undefined
    this.#response.destroy()
  }

  #drained(): void {
    this.#hasToWait = false
    if (this.#left > 0 && !this.#response.destroyed) this.#write()
    this.#backlog.account(this, this.waiting)
  }

  #write(): void {
    const piece = this.#pieces === undefined ? this.#cut() : this.#pieces.pop()!
    this.#left -= typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
    if (this.#left === 0) {
      this.#body = ''
      this.#response.end(piece)
      return
    }
    // Whoever made the response may let it hold more than a piece: then nothing drains.
    if (this.#response.write(piece)) return void setImmediate(() => this.#drained())
    this.#hasToWait = true
    // What the kernel takes at once has drained by then.
    if (this.#pieces === undefined) setImmediate(() => this.#split())
  }

  /** The reader does not keep up: from here on a piece is all that a piece holds. */
  #split(): void {
    if (!this.#hasToWait || this.#pieces !== undefined || this.#left === 0 || this.#response.destroyed) return
    const pieces: Buffer[] = []
    while (this.#at < this.#body.length) {
      const piece = this.#cut()
      pieces.push(typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece))
    }
    this.#pieces = pieces.reverse()
    this.#body = ''
  }

  #cut(): string | Uint8Array {
    const from = this.#at
    this.#at = Math.min(from + PIECE_LENGTH, this.#body.length)
    // Not between the two halves of one character.
    if (typeof this.#body === 'string' && this.#body.codePointAt(this.#at - 1)! > 0xffff) this.#at++
    return this.#body.slice(from, this.#at)
  }
}
