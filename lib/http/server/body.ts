/**
 * A request's body, read within a bound and a time: bytes in, text out. Counts what all requests hold of
 * theirs, from the first byte until each is done, so that many together cannot fill the memory.
 */
import { constants, isAscii, isUtf8 } from 'node:buffer'
import { CallerShares } from '../../util/shares.ts'
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { LinkedList } from '../../util/linked-list.ts'
import { PLACE_LENGTH, placesIn } from '../../wire/random.ts'
import { BodyParts, bytesTaken } from './body-parts.ts'
import {
  pauseUntilLoopFree, LARGE_LENGTH, MANY_CHUNKS, turn, whenLoopIsFree,
} from '../stream/loop-fairness.ts'
import type { IncomingMessage } from 'node:http'
import type { Limits } from '../../define/limits.ts'
import type { LinkedMember } from '../../util/linked-list.ts'

/** Why a body could not be had. `taken`: somebody else has read it and left nothing of it. */
export type BodyFailure = 'too-large' | 'no-room' | 'not-utf8' | 'late' | 'taken'

/** What bounds one body. */
export type BodyLimits = Pick<Limits, 'maxBodyBytes' | 'bodyTimeoutMs'>

/** Whoever waits for a body. */
export interface BodyTaker {
  /** Takes its text, or why there is none. */
  takeBody(text: string, failure?: BodyFailure): void
}

/** Whoever holds a body. What can be written is the budget's own. */
export interface BodyHolder extends LinkedMember<BodyHolder> {
  /** Bytes of the budget that it holds until it gives them back. */
  held: number
  /** It has ended, and gets nothing any more: nobody would give it back. */
  readonly isOver: boolean
  /** Whose share of all bodies it has. */
  readonly caller: string
}

/** Bodies up to this are short, as those of most requests are. */
const SHORT_BYTES = 16 * 1024
/** One part in so many is kept for short bodies: to fill it takes thousands of them, the rest some dozens. */
const KEPT_SHARE = 8

/** Memory that the bodies of all requests share. Longer ones leave a part of it to the short. */
export class BodyBudget {
  readonly #max: number
  readonly #maxWithLong: number
  readonly #holders = new LinkedList<BodyHolder>()
  readonly #shares = new CallerShares(() => this.#holders)
  #held = 0

  constructor(max: number) {
    this.#max = max
    this.#maxWithLong = max - max / KEPT_SHARE
  }

  /** Bytes that are held now. */
  get held(): number { return this.#held }

  /** Whether there is room for a body of that length, before any of it is read. */
  fits(holder: BodyHolder, bytes: number): boolean {
    return this.#hasRoom(holder, bytes, this.#maxFor(bytes, this.#held))
  }

  /** Takes room for more of a body; false where there is none. */
  take(holder: BodyHolder, bytes: number): boolean {
    const max = this.#maxFor(holder.held + bytes, this.#held - holder.held)
    if (holder.isOver || !this.#hasRoom(holder, bytes, max)) return false
    this.#change(holder, bytes)
    return true
  }

  /**
   * Takes what a whole body costs in the place of what it took while it was read; false where there is no
   * room. A body that is alone always finds room, whatever it costs.
   */
  settle(holder: BodyHolder, cost: number): boolean {
    if (holder.isOver) return false
    const others = this.#held - holder.held
    const more = cost - holder.held
    if (others > 0 && !this.#hasRoom(holder, more, this.#maxFor(holder.held, others))) return false
    this.#change(holder, more)
    return true
  }

  /** Who has less than an equal part still finds room where others have filled it. */
  #hasRoom(holder: BodyHolder, more: number, max: number): boolean {
    const held = this.#held + more
    return held <= max || this.#shares.mayExceed(max, held, holder.caller, more)
  }

  #change(holder: BodyHolder, more: number): void {
    if (holder.held === 0 && more > 0) this.#holders.add(holder)
    holder.held += more
    this.#held += more
    this.#shares.changed(holder, more, this.#max, this.#held)
  }

  /** What all may hold together with a body of so many bytes, which has everything where it is alone. */
  #maxFor(length: number, others: number): number {
    return length > SHORT_BYTES && others > 0 ? this.#maxWithLong : this.#max
  }

  /** Gives everything back. */
  release(holder: BodyHolder): void {
    if (holder.held === 0) return
    this.#change(holder, -holder.held)
    this.#holders.remove(holder)
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

/** A body that is being read. */
export interface ReadingBody {
  /** Its request is over: the taker is told nothing any more, and what was read is let go of. */
  stop(): void
}

/**
 * Reads a body within `limits` and tells `taker` exactly once: the text, or why there is none. `holder` holds
 * it from then on. `isTimed`: nobody else looks at how long it takes.
 */
export function readBody(
  incoming: IncomingMessage, holder: BodyHolder, budget: BodyBudget, limits: BodyLimits, isTimed: boolean,
  taker: BodyTaker,
): ReadingBody {
  const reading = new BodyReading(incoming, holder, budget, limits, taker)
  reading.begin(isTimed)
  return reading
}

/**
 * A body that is being read. Its listeners are bound methods: five closures and what they share take half a
 * kilobyte more of each request, and a full collection that finds none in use drops their optimized code.
 */
class BodyReading implements ReadingBody {
  readonly #incoming: IncomingMessage
  readonly #holder: BodyHolder
  readonly #budget: BodyBudget
  readonly #limits: BodyLimits
  readonly #taker: BodyTaker
  /** The only chunk, as of most bodies. */
  #first: Buffer | undefined
  #parts: BodyParts | undefined
  #length = 0
  #chunks = 0
  #isOver = false
  #timer: NodeJS.Timeout | undefined

  constructor(
    incoming: IncomingMessage, holder: BodyHolder, budget: BodyBudget, limits: BodyLimits, taker: BodyTaker,
  ) {
    this.#incoming = incoming
    this.#holder = holder
    this.#budget = budget
    this.#limits = limits
    this.#taker = taker
  }

  begin(isTimed: boolean): void {
    const incoming = this.#incoming
    const { bodyTimeoutMs } = this.#limits
    if (incoming.readableEnded) return this.#takeLeftOver(leftOver(incoming))
    if (isTimed && bodyTimeoutMs <= MAX_TIMER_MS) {
      this.#timer = setTimeout(() => this.#fail('late'), bodyTimeoutMs)
    }
    incoming.on('data', this.#take.bind(this))
    incoming.on('end', this.#end.bind(this))
    // Of HTTP/2 an error that nobody listens for would end the process; that it is over tells the response.
    if (isTimed) incoming.on('error', ignore)
  }

  stop(): void {
    if (!this.#isOver) this.#letGo()
  }

  /** What fits into no string is too large, whatever the operator says. */
  get #max(): number { return Math.min(this.#limits.maxBodyBytes, constants.MAX_STRING_LENGTH) }

  #takeLeftOver(left: Buffer | 'taken' | undefined): void {
    if (left === 'taken') this.#fail('taken')
    else if (left !== undefined && left.length > this.#max) this.#fail('too-large')
    else this.#succeed(left)
  }

  #take(chunk: Buffer): void {
    if (this.#isOver) return
    const length = this.#length + chunk.length
    if (length > this.#max) return this.#fail('too-large')
    if (!this.#budget.take(this.#holder, bytesTaken(length) - this.#holder.held)) return this.#fail('no-room')
    this.#length = length
    if (++this.#chunks % MANY_CHUNKS === 0) pauseUntilLoopFree(this.#incoming)
    if (this.#parts !== undefined) return this.#parts.add(chunk)
    if (this.#first === undefined) {
      this.#first = chunk
      return
    }
    this.#parts = new BodyParts()
    this.#parts.add(this.#first)
    this.#parts.add(chunk)
    this.#first = undefined
  }

  #end(): void {
    if (this.#length > LARGE_LENGTH && turn.isTaken) whenLoopIsFree(() => this.#finish())
    else this.#finish()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#succeed(this.#parts === undefined ? this.#first : this.#parts.join())
  }

  #succeed(bytes: Buffer | undefined): void {
    const isPlain = bytes !== undefined && isAscii(bytes)
    if (bytes !== undefined && !isPlain && !isUtf8(bytes)) return this.#fail('not-utf8')
    if (bytes !== undefined && !this.#budget.settle(this.#holder, costOf(bytes))) return this.#fail('no-room')
    this.#letGo()
    // What is ASCII, as most is, needs no decoding: half the cost of a long one.
    const isCopied = isPlain && bytes.length <= COPIED_BYTES
    this.#taker.takeBody(bytes === undefined ? '' : bytes.toString(isCopied ? 'latin1' : 'utf8'))
  }

  #fail(failure: BodyFailure): void {
    if (this.#isOver) return
    this.#budget.release(this.#holder)
    this.#letGo()
    this.#taker.takeBody('', failure)
  }

  #letGo(): void {
    this.#isOver = true
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#first = undefined
    this.#parts?.free()
    this.#parts = undefined
  }
}

function ignore(): void {}

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
