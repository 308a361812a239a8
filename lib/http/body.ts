/**
 * A request's body, read within a bound and a time: bytes in, text out. Counts what all requests hold of
 * theirs, from the first byte until each is done, so that many together cannot fill the memory.
 */
import { constants, isAscii, isUtf8 } from 'node:buffer'
import { MAX_TIMER_MS } from '../core/clock.ts'
import { PLACE_LENGTH, placesIn } from '../wire/random.ts'
import { LARGE_LENGTH, turn, whenTurnIsFree } from './turn.ts'
import type { IncomingMessage } from 'node:http'
import type { Limits } from '../core/defaults.ts'

/** Why a body could not be had. `taken`: somebody else has read it and left nothing of it. */
export type BodyFailure = 'too-large' | 'no-room' | 'not-utf8' | 'late' | 'gone' | 'taken'

/** What bounds one body. */
export type BodyLimits = Pick<Limits, 'maxBodyBytes' | 'bodyTimeoutMs'>

/** Takes a body's text, or why there is none. */
export type BodyReader = (text: string, failure?: BodyFailure) => void

/** Whoever holds a body: the bytes of the budget that are his until he gives them back. */
export interface BodyHolder {
  held: number
}

/** Memory that the bodies of all requests share. */
export class BodyBudget {
  readonly #max: number
  #held = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Bytes that are held now. */
  get held(): number { return this.#held }

  /** Whether there is room for a body of that length, before any of it is read. */
  fits(bytes: number): boolean {
    return this.#held + bytes <= this.#max
  }

  /** Takes room for more of a body; false where there is none. */
  take(holder: BodyHolder, bytes: number): boolean {
    if (!this.fits(bytes)) return false
    this.#held += bytes
    holder.held += bytes
    return true
  }

  /**
   * Takes what a whole body costs in the place of what it took while it was read; false where there is no
   * room. A body that is alone always finds room, whatever it costs.
   */
  settle(holder: BodyHolder, cost: number): boolean {
    const others = this.#held - holder.held
    if (others > 0 && others + cost > this.#max) return false
    this.#held = others + cost
    holder.held = cost
    return true
  }

  /** Gives everything back. */
  release(holder: BodyHolder): void {
    this.#held -= holder.held
    holder.held = 0
  }
}

/**
 * Bytes on V8's heap for each byte of a JSON text: two for the byte itself, which may be kept as text and be
 * one of a two-byte string, and for what begins a value its header, its slots and its share of a table.
 * Measured with many small values of one kind it is between 0.7 and 5 of what they really take.
 */
const COSTS = new Uint8Array(256).fill(2)
for (const [mark, cost] of [['{', 64], ['[', 48], [':', 32], [',', 16], ['"', 12]] as const) {
  COSTS[mark.charCodeAt(0)] = cost
}

/** Longer bodies are judged by samples: to look at each byte costs a quarter of what parsing costs. */
const WHOLE_BYTES = 32 * 1024

/** What a body will take as values: ten to twenty times its text where these are many and small. */
export function costOf(bytes: Uint8Array): number {
  let cost = 0
  if (bytes.length <= WHOLE_BYTES) {
    for (let at = 0; at < bytes.length; at++) cost += COSTS[bytes[at]!]!
    return cost
  }
  const next = placesIn(bytes.length)
  let seen = 0
  for (let place = next(); place >= 0; place = next()) {
    const end = place + PLACE_LENGTH
    for (let at = place; at < end; at++) cost += COSTS[bytes[at]!]!
    seen += PLACE_LENGTH
  }
  return Math.round(cost * bytes.length / seen)
}

/** Longer copies are put outside of V8's heap, which is then collected three times as often, and in full. */
const COPIED_BYTES = 1_000_000

/** Longer bodies than this are put together in memory of their own. */
const DESK_BYTES = 4 * 1024 * 1024

/** Where the parts of a body are put together, one after another: fresh memory costs more than to fill it. */
let desk = Buffer.alloc(0)

/** The parts as one. What it returns is good until the next call. */
function joined(parts: readonly Buffer[], length: number): Buffer {
  if (length > DESK_BYTES) return Buffer.concat(parts, length)
  if (length > desk.length) desk = Buffer.allocUnsafeSlow(Math.min(length * 2, DESK_BYTES))
  let at = 0
  for (const part of parts) at += part.copy(desk, at)
  return desk.subarray(0, length)
}

/**
 * Reads a body within `limits` and calls `done` exactly once: with the text, or why there is none. `isTimed`:
 * nobody else looks at how long it takes.
 */
export function readBody(
  incoming: IncomingMessage, holder: BodyHolder, budget: BodyBudget,
  { maxBodyBytes, bodyTimeoutMs }: BodyLimits, isTimed: boolean, done: BodyReader,
): void {
  // What fits into no string is too large, whatever the operator says.
  const max = Math.min(maxBodyBytes, constants.MAX_STRING_LENGTH)
  let first: Buffer | undefined
  let rest: Buffer[] | undefined
  let length = 0
  let isOver = false
  let timer: NodeJS.Timeout | undefined

  function fail(failure: BodyFailure): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    budget.release(holder)
    first = rest = undefined
    done('', failure)
  }

  function succeed(bytes: Buffer | undefined): void {
    const isPlain = bytes !== undefined && isAscii(bytes)
    if (bytes !== undefined && !isPlain && !isUtf8(bytes)) return fail('not-utf8')
    if (bytes !== undefined && !budget.settle(holder, costOf(bytes))) return fail('no-room')
    isOver = true
    clearTimeout(timer)
    first = rest = undefined
    // What is ASCII, as most is, needs no decoding: half the cost of a long one.
    const isCopied = isPlain && bytes.length <= COPIED_BYTES
    done(bytes === undefined ? '' : bytes.toString(isCopied ? 'latin1' : 'utf8'))
  }

  if (incoming.readableEnded) {
    const left = leftOver(incoming)
    if (left === 'taken') return fail('taken')
    return left !== undefined && left.length > max ? fail('too-large') : succeed(left)
  }
  if (isTimed && bodyTimeoutMs <= MAX_TIMER_MS) timer = setTimeout(fail, bodyTimeoutMs, 'late')
  incoming.on('data', (chunk: Buffer) => {
    if (isOver) return
    if (length + chunk.length > max) return fail('too-large')
    if (!budget.take(holder, chunk.length)) return fail('no-room')
    length += chunk.length
    if (first === undefined) first = chunk
    else (rest ??= [first]).push(chunk)
  })
  let isWhole = false
  const finish = (): void => {
    if (!isOver) succeed(rest === undefined ? first : joined(rest, length))
  }
  incoming.on('end', () => {
    isWhole = true
    if (length > LARGE_LENGTH && turn.isTaken) whenTurnIsFree(finish)
    else finish()
  })
  // Where Node looks at the time, whoever holds the body is told of its client's leaving by the response.
  if (!isTimed) return
  const gone = (): void => { if (!isWhole) fail('gone') }
  incoming.on('error', gone)
  incoming.on('close', gone)
}

/** In somebody else's server a body parser may have come first: what it left in `body` is text again here. */
function leftOver(incoming: IncomingMessage): Buffer | 'taken' | undefined {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = incoming.headers
  if (encoding === undefined && length === '0') return undefined
  const left: unknown = 'body' in incoming ? incoming.body : undefined
  if (Buffer.isBuffer(left)) return left
  try {
    const text = typeof left === 'string' ? left : JSON.stringify(left)
    return text === undefined ? 'taken' : Buffer.from(text)
  } catch {
    // Nested so deep that it cannot be written down: as good as nothing.
    return 'taken'
  }
}
