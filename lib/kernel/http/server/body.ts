/**
 * A request's body, read within a bound and a time, from a socket or a web stream: bytes in, text out. It is
 * counted from its first byte until its request is done, so that many together cannot fill the memory.
 */
import { constants, isAscii, isUtf8 } from 'node:buffer'
import { timer } from '../../util/clock.ts'
import { ownBytes } from '../../util/own.ts'
import { Quota } from '../../util/quota.ts'
import { formatJson } from '../../wire/json.ts'
import { PLACE_LENGTH, placesIn } from '../../wire/random.ts'
import { BodyParts, bytesTaken } from './body-parts.ts'
import {
  LARGE_LENGTH, MANY_CHUNKS, pauseUntilLoopFree, turn, whenLoopIsFree,
} from '../stream/loop-fairness.ts'
import { LATE } from './request.ts'
import type { IncomingMessage } from 'node:http'
import type { Origin } from '../../define/call.ts'
import type { KernelLimits } from '../../define/limits.ts'
import type { Log } from '../../define/log.ts'
import type { Asker, Lease } from '../../util/quota.ts'
import type { Objection } from '../message/exchange.ts'

/**
 * Why there is no body. `taken`, and of a web request `used`: other code has read it; `cut`: it ended before
 * it was whole.
 */
export type BodyFailure = 'too-large' | 'no-room' | 'not-utf8' | 'late' | 'taken' | 'used' | 'cut'

export type BodyLimits = Pick<KernelLimits, 'maxBodyBytes' | 'maxBodiesBytes' | 'bodyTimeoutMs'>

export interface BodyTaker {
  /** Called once: with the text, or with the reason why there is none. */
  takeBody(text: string, failure?: BodyFailure): void
}

const objections: Readonly<Record<Exclude<BodyFailure, 'too-large'>, Objection>> = {
  'no-room': [503, 'Too many bodies are being read; try again later', ['Retry-After', '1']],
  'not-utf8': [400, 'The body is not valid UTF-8', undefined, true],
  'cut': [400, 'The body ended before it was whole'],
  'late': [408, LATE],
  // Mistakes of the operator's: said to clients too, since they are the first to meet them.
  'taken': [500, 'The body was read before the handler got it; mount the handler before body parsers, or put '
    + 'what they have read into request.body'],
  'used': [500, 'The body was read before fetch got it; call fetch first, or give it request.clone()'],
}

/** Why a request without its body is refused. */
export function objectionToBody(why: BodyFailure, { maxBodyBytes }: BodyLimits, log: Log): Objection {
  if (why === 'too-large') return [413, `The body is larger than ${maxBodyBytes} bytes`]
  const objection = objections[why]
  const [status, detail] = objection
  if (status === 500) log('error', detail)
  return objection
}

const SHORT_BYTES = 16 * 1024
/**
 * This part of the budget is kept for short bodies: to fill it takes thousands of them, the rest some dozens.
 */
const KEPT_PART = 8

/** Memory that all bodies share; long ones leave a part of it to the short. */
export class BodyBudget extends Quota {
  readonly limits: BodyLimits

  constructor(limits: BodyLimits) {
    super('bytes of bodies', limits.maxBodiesBytes)
    this.limits = limits
  }

  /** Whether there is room for a body of that length, before it is read. */
  fits(asker: Asker, length: number): boolean {
    return this.hasRoom(asker, length, this.#maxFor(length, this.used))
  }

  /** Holds what the part that was read takes; false where there is no room. */
  hold(lease: Lease, bytes: number): boolean {
    return this.take(lease, bytes - lease.amount, this.#maxFor(bytes, this.used - lease.amount))
  }

  /**
   * Holds what a whole body costs instead of what it took while it was read; false where there is no room. A
   * body that is alone always finds room, whatever it costs.
   */
  settle(lease: Lease, cost: number): boolean {
    const others = this.used - lease.amount
    const max = others > 0 ? this.#maxFor(lease.amount, others) : Infinity
    return this.take(lease, cost - lease.amount, max)
  }

  #maxFor(length: number, others: number): number {
    return length > SHORT_BYTES && others > 0 ? this.max - this.max / KEPT_PART : this.max
  }
}

/**
 * Bytes on V8's heap for each byte of JSON: two for the byte itself, and for what begins a value its header,
 * its slots and its share of a table. Measured with many small values of one kind, the sum is 0.7 to 5 times
 * what they take.
 */
const COSTS = new Uint8Array(256).fill(2)
for (const [mark, cost] of [['{', 64], ['[', 48], [':', 32], [',', 16], ['"', 12]] as const) {
  COSTS[mark.charCodeAt(0)] = cost
}

/** Longer bodies are judged by samples: to look at each byte costs a quarter of what parsing costs. */
const WHOLE_BYTES = 32 * 1024

/** What a body takes as values: ten to twenty times its text where these are many and small. */
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

/** Longer copies are put outside of V8's heap, which then collects three times as often, and in full. */
const COPIED_BYTES = 1_000_000

/**
 * Reads a body of node:http and calls `taker` exactly once. `lease` holds it from then on. `isTimed`: no
 * other clock looks at how long it takes.
 */
export function readBody(
  incoming: IncomingMessage, lease: Lease, budget: BodyBudget, isTimed: boolean, taker: BodyTaker,
): BodyReading {
  const reading = new BodyReading(lease, budget, taker, incoming)
  if (incoming.readableEnded) {
    reading.takeLeftOver(leftOver(incoming))
    return reading
  }
  if (isTimed) reading.limit()
  incoming.on('data', reading.take.bind(reading))
  incoming.on('end', reading.end.bind(reading))
  // In HTTP/2 an error without a listener would end the process.
  if (isTimed) incoming.on('error', ignore)
  return reading
}

/** The same for the body of a web request, which ends where its client leaves. */
export function readWebBody(
  incoming: Request, request: Lease & Pick<Origin, 'onDisconnect'>, budget: BodyBudget,
  take: BodyTaker['takeBody'],
): void {
  if (incoming.bodyUsed || incoming.body?.locked === true) return take('', 'used')
  const reader = incoming.body?.getReader()
  const reading = new BodyReading(request, budget, {
    takeBody(text, failure) {
      if (failure !== undefined) reader?.cancel().catch(ignore)
      take(text, failure)
    },
  })
  const readAll = async (): Promise<void> => {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      const { value } = part
      reading.take(Buffer.from(value.buffer, value.byteOffset, value.length))
      if (reading.isOver) return
    }
    reading.end()
  }
  reading.limit()
  void readAll().catch(() => reading.fail('cut'))
  request.onDisconnect(() => reading.fail('cut'))
}

/**
 * A body that is being read. Its listeners are bound methods: five closures and what they share take half a
 * kilobyte more of each request, and a full collection that finds none in use drops their optimized code.
 */
export class BodyReading {
  readonly #lease: Lease
  readonly #budget: BodyBudget
  readonly #taker: BodyTaker
  readonly #incoming: IncomingMessage | undefined
  #first: Buffer | undefined
  #parts: BodyParts | undefined
  #length = 0
  #chunks = 0
  #timer: NodeJS.Timeout | undefined
  isOver = false

  constructor(lease: Lease, budget: BodyBudget, taker: BodyTaker, incoming?: IncomingMessage) {
    this.#lease = lease
    this.#budget = budget
    this.#taker = taker
    this.#incoming = incoming
  }

  limit(): void {
    this.#timer = timer(this.#budget.limits.bodyTimeoutMs, () => this.fail('late'))
  }

  /** Its request is over: the taker is not called, and what was read is dropped. */
  stop(): void {
    if (!this.isOver) this.#finish()
  }

  /** A string cannot be longer than this, whatever the limit says. */
  get #max(): number { return Math.min(this.#budget.limits.maxBodyBytes, constants.MAX_STRING_LENGTH) }

  takeLeftOver(left: Buffer | 'taken' | undefined): void {
    if (left === 'taken') this.fail('taken')
    else if (left !== undefined && left.length > this.#max) this.fail('too-large')
    else this.#succeed(left)
  }

  take(chunk: Buffer): void {
    if (this.isOver) return
    const length = this.#length + chunk.length
    if (length > this.#max) return this.fail('too-large')
    if (!this.#budget.hold(this.#lease, bytesTaken(length))) return this.fail('no-room')
    this.#length = length
    if (++this.#chunks % MANY_CHUNKS === 0 && this.#incoming !== undefined) pauseUntilLoopFree(this.#incoming)
    const own = ownBytes(chunk)
    if (this.#parts !== undefined) return this.#parts.add(own)
    if (this.#first === undefined) {
      this.#first = own
      return
    }
    this.#parts = new BodyParts()
    this.#parts.add(this.#first)
    this.#parts.add(own)
    this.#first = undefined
  }

  end(): void {
    if (this.#length > LARGE_LENGTH && turn.isTaken) whenLoopIsFree(() => this.#join())
    else this.#join()
  }

  fail(failure: BodyFailure): void {
    if (this.isOver) return
    this.#budget.add(this.#lease, -this.#lease.amount)
    this.#finish()
    this.#taker.takeBody('', failure)
  }

  #join(): void {
    if (this.isOver) return
    this.#succeed(this.#parts === undefined ? this.#first : this.#parts.join())
  }

  #succeed(bytes: Buffer | undefined): void {
    const isPlain = bytes !== undefined && isAscii(bytes)
    if (bytes !== undefined && !isPlain && !isUtf8(bytes)) return this.fail('not-utf8')
    if (bytes !== undefined && !this.#budget.settle(this.#lease, costOf(bytes))) return this.fail('no-room')
    this.#finish()
    // What is ASCII, as most is, needs no decoding: half the cost of a long one.
    const isCopied = isPlain && bytes.length <= COPIED_BYTES
    this.#taker.takeBody(bytes === undefined ? '' : bytes.toString(isCopied ? 'latin1' : 'utf8'))
  }

  #finish(): void {
    this.isOver = true
    clearTimeout(this.#timer)
    this.#first = undefined
    this.#parts?.free()
    this.#parts = undefined
  }
}

function ignore(): void {}

/** In a host's server a body parser may have read it: what it left in `body` becomes text again. */
function leftOver(incoming: IncomingMessage): Buffer | 'taken' | undefined {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = incoming.headers
  if (encoding === undefined && length === '0') return undefined
  const left: unknown = 'body' in incoming ? incoming.body : undefined
  if (Buffer.isBuffer(left)) return left
  try {
    const text = typeof left === 'string' ? left : formatJson(left)
    return text === undefined ? 'taken' : Buffer.from(text)
  } catch {
    // It is nested too deep to be written.
    return 'taken'
  }
}
