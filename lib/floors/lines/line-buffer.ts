/** Lines of one client: bytes in, lines of text out. */
import { isUtf8 } from 'node:buffer'
import { ownBytes } from '../../kernel/util/own.ts'

export type Line =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly fault: 'too-long' | 'not-utf-8' }

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const END = Buffer.of(LINE_FEED)
const nothing = Buffer.alloc(0)
/** Shorter chunks that wait behind others share pages: a client may send each byte by itself. */
const PAGE_BYTES = 16 * 1024

/**
 * Chunks of bytes as lines of text, of at most `maxBytes` each, taken one by one: each ends with LF, a CR
 * before it is dropped, blank lines are skipped. Of a longer line nothing is kept.
 */
export class LineBuffer {
  readonly #maxBytes: number
  readonly #chunks: Buffer[] = []
  /** The page of the last chunk, and how far it is filled; none where that is no page of ours. */
  #page = nothing
  #filled = 0
  /** How much of the first chunk is read. */
  #at = 0
  #size = 0
  /** The line that began in earlier chunks: its buffer, and how many bytes are in it. */
  #room = nothing
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Bytes that were added and not yet read. */
  get size(): number { return this.#size }

  add(chunk: Uint8Array | string): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk)
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    if (bytes.length === 0) return
    this.#size += bytes.length
    if (bytes.length >= PAGE_BYTES || this.#chunks.length === 0) {
      this.#page = nothing
      this.#chunks.push(ownBytes(bytes))
      return
    }
    if (this.#page.length - this.#filled < bytes.length) {
      this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES)
      this.#filled = 0
      this.#chunks.push(nothing)
    }
    bytes.copy(this.#page, this.#filled)
    this.#filled += bytes.length
    this.#chunks[this.#chunks.length - 1] = this.#page.subarray(0, this.#filled)
  }

  /** Nothing will follow: the rest is a line. */
  end(): void {
    this.add(END)
  }

  /** The next line; undefined until its end has come. */
  take(): Line | undefined {
    for (let [chunk] = this.#chunks; chunk !== undefined; [chunk] = this.#chunks) {
      const end = chunk.indexOf(LINE_FEED, this.#at)
      const piece = chunk.subarray(this.#at, end < 0 ? chunk.length : end)
      this.#pass(chunk, end < 0 ? chunk.length : end + 1)
      const line = end < 0 ? this.#keep(piece) : this.#close(piece)
      if (line !== undefined) return line
    }
    return undefined
  }

  #pass(chunk: Buffer, to: number): void {
    this.#size -= to - this.#at
    this.#at = to
    if (to < chunk.length) return
    this.#chunks.shift()
    this.#at = 0
  }

  /** Adds to a line; of one that gets too long only the length is kept. */
  #keep(piece: Buffer): undefined {
    const length = this.#length + piece.length
    if (length > this.#maxBytes) {
      this.#room = nothing
    } else {
      if (length > this.#room.length) {
        const room = Buffer.allocUnsafe(Math.min(this.#maxBytes, length * 2))
        this.#room.copy(room, 0, 0, this.#length)
        this.#room = room
      }
      piece.copy(this.#room, this.#length)
    }
    this.#length = length
  }

  #close(piece: Buffer): Line | undefined {
    if (this.#length === 0) return this.#read(piece)
    this.#keep(piece)
    const whole = this.#room.subarray(0, this.#length)
    const line = this.#length > this.#maxBytes ? tooLong : this.#read(whole)
    this.#room = nothing
    this.#length = 0
    return line
  }

  #read(bytes: Buffer): Line | undefined {
    if (bytes.length > this.#maxBytes) return tooLong
    if (!isUtf8(bytes)) return notUtf8
    const text = bytes.toString('utf8', 0, bytes.length - Number(bytes.at(-1) === CARRIAGE_RETURN))
    return text.trim() === '' ? undefined : { ok: true, text }
  }
}

const tooLong: Line = Object.freeze({ ok: false, fault: 'too-long' })
const notUtf8: Line = Object.freeze({ ok: false, fault: 'not-utf-8' })
