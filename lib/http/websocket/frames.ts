/**
 * The frames of a WebSocket: those of a client, from chunks of any size, and those of a server. Extensions
 * are none.
 * Spec: RFC 6455 §5 to §8.
 */
import { isUtf8 } from 'node:buffer'

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Why a connection ends: RFC 6455 §7.4.1, and the registry of IANA. */
export const closeCodes = {
  normal: 1000, goingAway: 1001, protocolError: 1002, unsupported: 1003, none: 1005, notUtf8: 1007,
  refused: 1008, tooLarge: 1009, tryLater: 1013,
} as const

const FINAL = 0x80
const RESERVED = 0x70
const MASKED = 0x80
/** The longest payload of a control frame, and the longest whose length fits into one byte. */
const MAX_SHORT = 125
const TWO_BYTES = 126
const EIGHT_BYTES = 127

/** What a client has sent. */
export interface FrameTaker {
  /** A part of a text message, maybe an empty one. The bytes may be kept. */
  part(bytes: Buffer): void
  /** The message is whole. */
  end(): void
  ping(payload: Buffer): void
  /** The client ends the connection. */
  close(code: number): void
  /** The connection cannot go on: the code to close it with, and a sentence. Nothing comes after it. */
  fail(code: number, why: string): void
}

/** One frame of a server, final and unmasked. */
export function encodeFrame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload
  const head = length <= MAX_SHORT ? 2 : length < 0x1_0000 ? 4 : 10
  const frame = Buffer.allocUnsafe(head + length)
  frame[0] = FINAL | opcode
  if (head === 2) {
    frame[1] = length
  } else if (head === 4) {
    frame[1] = TWO_BYTES
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = EIGHT_BYTES
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  frame.set(payload, head)
  return frame
}

/** A close frame, whose sentence is cut to what fits. */
export function closeFrame(code: number, why = ''): Buffer {
  const payload = Buffer.alloc(2)
  payload.writeUInt16BE(code)
  // One of several bytes is left out whole.
  let reason = Buffer.from(why).subarray(0, MAX_SHORT - 2)
  while (!isUtf8(reason)) reason = reason.subarray(0, -1)
  return encodeFrame(opcodes.close, Buffer.concat([payload, reason]))
}

/** Reads the frames of a client. Keeps a head of 14 bytes and a control frame, and no more. */
export class FrameReader {
  readonly #taker: FrameTaker
  readonly #maxBytes: number
  readonly #head = Buffer.alloc(14)
  #headLength = 0
  /** Of the payload, bytes that are still to come; undefined while a head is read. */
  #left: number | undefined
  /** Of the payload, bytes that have come. */
  #passed = 0
  #control: Buffer | undefined
  /** Of the message, where its first frame has come and its last one has not. */
  #messageBytes: number | undefined
  #isOver = false

  /** `maxBytes`: the longest message. */
  constructor(taker: FrameTaker, maxBytes: number) {
    this.#taker = taker
    this.#maxBytes = maxBytes
  }

  /** Takes what a client has sent, and changes it in place. Returns of how many heads and payloads it was. */
  take(chunk: Buffer): number {
    let count = 0
    for (let at = 0; !this.#isOver && (at < chunk.length || this.#left === 0); count++) {
      at = this.#left === undefined ? this.#takeHead(chunk, at) : this.#takePayload(chunk, at, this.#left)
    }
    return count
  }

  /** What follows is dropped. */
  stop(): void { this.#isOver = true }

  get #opcode(): number { return this.#head[0]! & 0x0f }
  get #isFinal(): boolean { return (this.#head[0]! & FINAL) !== 0 }

  #takeHead(chunk: Buffer, from: number): number {
    let at = from
    while (at < chunk.length) {
      this.#head[this.#headLength++] = chunk[at++]!
      if (this.#headLength === 2) this.#checkHead()
      if (this.#isOver) break
      if (this.#headLength >= 2 && this.#headLength === this.#headSize) {
        this.#beginFrame()
        break
      }
    }
    return at
  }

  /** With the mask, which each client sends. */
  get #headSize(): number {
    const length = this.#head[1]! & 0x7f
    return 6 + (length === TWO_BYTES ? 2 : length === EIGHT_BYTES ? 8 : 0)
  }

  get #payloadLength(): number {
    const length = this.#head[1]! & 0x7f
    if (length === TWO_BYTES) return this.#head.readUInt16BE(2)
    return length === EIGHT_BYTES ? Number(this.#head.readBigUInt64BE(2)) : length
  }

  /** What is wrong is known after two bytes; a frame without a mask may have no more. */
  #checkHead(): void {
    const error = this.#headError()
    if (error !== undefined) return this.#fail(closeCodes.protocolError, error)
    if (this.#opcode === opcodes.binary) this.#fail(closeCodes.unsupported, 'Messages are text; send JSON')
  }

  #headError(): string | undefined {
    const opcode = this.#opcode
    const isControl = opcode >= opcodes.close
    if ((this.#head[0]! & RESERVED) !== 0) return 'No extension was agreed upon'
    if ((this.#head[1]! & MASKED) === 0) return 'A frame is not masked'
    if (opcode > (isControl ? opcodes.pong : opcodes.binary)) return 'A frame is of an unknown kind'
    if (isControl) {
      const isShort = (this.#head[1]! & 0x7f) <= MAX_SHORT
      return this.#isFinal && isShort ? undefined : 'A control frame is in parts, or too long'
    }
    const isBegun = this.#messageBytes !== undefined
    if ((opcode === opcodes.continuation) === isBegun) return undefined
    return isBegun ? 'A message begins within another' : 'There is no message to continue'
  }

  #beginFrame(): void {
    const length = this.#payloadLength
    if (this.#opcode >= opcodes.close) {
      this.#control = Buffer.alloc(length)
    } else {
      this.#messageBytes = (this.#messageBytes ?? 0) + length
      if (this.#messageBytes > this.#maxBytes) {
        return this.#fail(closeCodes.tooLarge, `The message is larger than ${this.#maxBytes} bytes`)
      }
    }
    this.#left = length
    this.#passed = 0
  }

  #takePayload(chunk: Buffer, at: number, left: number): number {
    const end = Math.min(at + left, chunk.length)
    const mask = this.#headLength - 4
    for (let from = at, passed = this.#passed; from < end; from++, passed++) {
      chunk[from]! ^= this.#head[mask + (passed & 3)]!
    }
    const part = chunk.subarray(at, end)
    if (this.#control !== undefined) this.#control.set(part, this.#passed)
    else this.#taker.part(part)
    this.#passed += part.length
    this.#left = left - part.length
    if (this.#left === 0 && !this.#isOver) this.#endFrame()
    return end
  }

  #endFrame(): void {
    this.#left = undefined
    this.#headLength = 0
    const payload = this.#control
    this.#control = undefined
    if (payload !== undefined) return this.#endControl(payload)
    if (!this.#isFinal) return
    this.#messageBytes = undefined
    this.#taker.end()
  }

  #endControl(payload: Buffer): void {
    if (this.#opcode === opcodes.ping) return this.#taker.ping(payload)
    if (this.#opcode !== opcodes.close) return
    const code = payload.length === 0 ? closeCodes.none : payload.length === 1 ? 0 : payload.readUInt16BE()
    if (payload.length > 0 && !isSendable(code)) {
      return this.#fail(closeCodes.protocolError, 'A close frame has no code that may be sent')
    }
    if (!isUtf8(payload.subarray(2))) return this.#fail(closeCodes.notUtf8, 'A close frame is not UTF-8')
    this.#isOver = true
    this.#taker.close(code)
  }

  #fail(code: number, why: string): void {
    this.#isOver = true
    this.#taker.fail(code, why)
  }
}

/** Whether a code may stand in a frame: RFC 6455 §7.4.2, and the registry of IANA. */
function isSendable(code: number): boolean {
  if (code >= 3000) return code < 5000
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== closeCodes.none && code !== 1006
}
