/**
 * A stream that outlives its socket: what was sent on it is kept for a while, within bounds, and a client
 * that comes back gets what it missed, of this stream alone.
 *
 * Event ids are `<stream>-<number>`. Knows no JSON-RPC.
 * Spec: MCP 2025-11-25, Transports, Resumability and Redelivery.
 */
import { FairPool } from '../../util/fair-pool.ts'
import { randomId } from '../../wire/random.ts'
import { FAREWELL, formatEvent } from '../../wire/sse.ts'
import { LinkedList } from '../../util/linked-list.ts'
import type { Limits } from '../../define/limits.ts'
import type { Id } from '../../wire/jsonrpc.ts'
import type { Slot } from '../../util/fair-pool.ts'
import type { LinkedMember } from '../../util/linked-list.ts'
import type { Sink, Source } from '../../http/message/exchange.ts'

interface KeptEvent {
  readonly number: number
  readonly text: string
  readonly bytes: number
  readonly at: number
}

/**
 * Memory that all streams of one server share for clients that come back. What has ended gives way first,
 * that of the owner who holds most before others'; of what goes on, only the owners above their share give
 * way.
 */
export class ReplayBudget {
  readonly #max: number
  readonly #ended = new FairPool<ReplayStream>(
    { maxCount: Infinity, maxBytes: Infinity },
    (stream) => {
      this.#slots.delete(stream)
      stream.forget()
    },
  )
  readonly #slots = new Map<ReplayStream, Slot<ReplayStream>>()
  readonly #byOwner = new Map<string, number>()
  #held = 0

  constructor(limits: Limits) {
    this.#max = limits.maxReplayBytes
  }

  get held(): number { return this.#held }

  take(owner: string, bytes: number): void {
    this.#count(owner, bytes)
    while (this.#held > this.#max && this.#ended.evict()) continue
  }

  give(owner: string, bytes: number): void { this.#count(owner, -bytes) }

  /** Whether an owner holds so much that what is kept for them must give way. */
  isTooMuch(owner: string): boolean {
    return this.#held > this.#max && (this.#byOwner.get(owner) ?? 0) * this.#byOwner.size >= this.#max
  }

  /** Keeps account of who has ended, and still holds something. */
  ended(stream: ReplayStream, bytes: number): void {
    // One that was dropped has nothing to give way with, and would stay for ever.
    if (bytes === 0 || this.#slots.has(stream)) return
    const slot = this.#ended.add(stream.owner, stream, bytes)
    if (slot !== undefined) this.#slots.set(stream, slot)
  }

  forgotten(stream: ReplayStream): void {
    const slot = this.#slots.get(stream)
    if (slot === undefined) return
    this.#slots.delete(stream)
    this.#ended.remove(slot)
  }

  #count(owner: string, bytes: number): void {
    this.#held += bytes
    const held = (this.#byOwner.get(owner) ?? 0) + bytes
    if (held > 0) this.#byOwner.set(owner, held)
    else this.#byOwner.delete(owner)
  }
}

/** One stream of a session. */
export class ReplayStream implements LinkedMember<ReplayStream> {
  readonly id: string = randomId(12)
  readonly owner: string
  readonly #limits: Limits
  readonly #budget: ReplayBudget
  /** Told once when the stream has ended. */
  readonly #onEnded: ((stream: ReplayStream) => void) | undefined
  /** Where it waits among its session's that have ended. */
  previous: ReplayStream | undefined
  next: ReplayStream | undefined
  #kept: KeptEvent[] = []
  #bytes = 0
  #count = 0
  /** The last event that a client was sent. */
  #told = 0
  #sink: Sink | undefined
  #isFinished = false
  #finishedAt = 0
  #hasBegun = false
  /** Set where the connection is to end before it has begun: the last words on it. */
  #farewell: string | undefined
  /** What the ids of its events end with: where it is, and what is owed on it. */
  readonly #mark: string

  constructor(
    owner: string, limits: Limits, budget: ReplayBudget, onEnded?: (stream: ReplayStream) => void, mark = '',
  ) {
    this.owner = owner
    this.#mark = mark
    this.#limits = limits
    this.#budget = budget
    this.#onEnded = onEnded
  }

  get isAttached(): boolean { return this.#sink !== undefined }
  get isFinished(): boolean { return this.#isFinished }
  /** Whether somebody reads it, or is about to. */
  get isConnected(): boolean { return this.isAttached || !this.#hasBegun }

  /** It has ended, and its client has not had all of it. */
  get isUnread(): boolean {
    return this.#isFinished && this.#told < this.#count && this.#kept.length > 0 && !this.isStale
  }

  /** Nobody can want it any more. */
  get isStale(): boolean {
    return this.#isFinished && performance.now() - this.#finishedAt > this.#limits.replayMs
  }

  /** Sends an event, or keeps it for the client to come back to. '' is the event that only has an id. */
  send(message: string): void {
    if (this.#isFinished) return
    const number = ++this.#count
    const text = formatEvent(message, undefined, `${this.id}-${number}${this.#mark}`)
    const bytes = Buffer.byteLength(text)
    this.#kept.push({ number, text, bytes, at: performance.now() })
    this.#bytes += bytes
    this.#budget.take(this.owner, bytes)
    // Until it has begun, what is kept is all there is.
    if (this.#hasBegun) this.#trim()
    if (this.#sink === undefined) return
    this.#sink.write(text)
    this.#told = number
  }

  /** Sends the last event and ends the stream; it can still be come back to. */
  finish(message?: string): void {
    if (this.#isFinished) return
    if (message !== undefined) this.send(message)
    this.#isFinished = true
    this.#finishedAt = performance.now()
    this.#onEnded?.(this)
    if (this.#hasBegun) this.#budget.ended(this, this.#bytes)
    this.#sink?.end()
    this.#sink = undefined
  }

  /** Ends a stream on which nothing is owed. */
  close(): void {
    this.#sink?.write(FAREWELL)
    this.finish()
  }

  /** Ends the connection and not the stream. `retryMs` tells the client when to come back. */
  detach(retryMs: number | undefined): void {
    const farewell = retryMs === undefined ? '' : `retry: ${retryMs}\n\n`
    if (!this.#hasBegun) this.#farewell = farewell
    this.#sink?.end(farewell)
    this.#sink = undefined
  }

  /** A source that first tells what followed event `after`, then goes on. `place` comes before all that. */
  source(after: number, place = ''): Source {
    return {
      open: (sink) => {
        if (place !== '') sink.write(place)
        for (const { number, text } of this.#kept) if (number > after) sink.write(text)
        const farewell = this.#farewell
        this.#farewell = undefined
        this.#hasBegun = true
        this.#trim()
        this.#told = this.#count
        if (this.#isFinished) this.#budget.ended(this, this.#bytes)
        if (this.#isFinished || farewell !== undefined) {
          sink.end(farewell)
          return undefined
        }
        this.#sink?.end()
        this.#sink = sink
        return () => {
          if (this.#sink === sink) this.#sink = undefined
        }
      },
    }
  }

  /** Whether what followed event `after` is not there any more. */
  hasLost(after: number): boolean {
    return this.#isFinished && after < this.#count && this.#kept.length === 0
  }

  /** What is kept of it, with the number of each event. */
  get kept(): readonly Replayed[] { return this.#kept.map(({ number, text }) => [number, text]) }

  /** Lets go of what was kept. */
  forget(): void {
    this.#budget.give(this.owner, this.#bytes)
    this.#budget.forgotten(this)
    this.#kept = []
    this.#bytes = 0
  }

  /** Lets go of everything. */
  drop(): void {
    this.forget()
    this.#isFinished = true
    this.#sink?.end(FAREWELL)
    this.#sink = undefined
  }

  #trim(): void {
    const { replayEvents, replayBytes, replayMs } = this.#limits
    const oldest = performance.now() - replayMs
    let drop = 0
    while (drop < this.#kept.length) {
      const kept = this.#kept[drop]!
      const isFine = this.#kept.length - drop <= replayEvents && this.#bytes <= replayBytes
        && kept.at >= oldest && !this.#budget.isTooMuch(this.owner)
      if (isFine) break
      this.#bytes -= kept.bytes
      this.#budget.give(this.owner, kept.bytes)
      drop++
    }
    if (drop > 0) this.#kept = this.#kept.slice(drop)
  }
}

/** An event of a stream: its number, and its text. */
export type Replayed = readonly [number: number, text: string]

/** An event as its id names it. */
export interface EventPlace {
  readonly stream: string
  readonly number: number
  /** The process that has the stream, where others may be asked for it. */
  readonly node: string | undefined
  /** Requests that are answered on the stream. */
  readonly owed: readonly Id[]
}

/** Of more the ids of events do not tell, in characters. */
const MAX_OWED = 1_024

/** What the ids of a stream's events end with; `at` is where it is, as `@<node>`, or nothing. */
export function streamMark(at: string, owed: readonly Id[]): string {
  if (at === '' || owed.length === 0) return at
  const told = Buffer.from(JSON.stringify(owed)).toString('base64url')
  return told.length > MAX_OWED ? at : at + told
}

/** The stream and number of an event id; undefined where it is none. */
export function parseEventId(eventId: string): EventPlace | undefined {
  const match = /^([\w-]{16})-(\d{1,15})(?:@([\w-]{8})([\w-]{0,1024}))?$/.exec(eventId)
  if (match === null) return undefined
  const [, stream, number, node, owed = ''] = match
  return { stream: stream!, number: Number(number), node, owed: owedIn(owed) }
}

function owedIn(told: string): readonly Id[] {
  try {
    const owed: unknown = JSON.parse(Buffer.from(told, 'base64url').toString())
    if (!Array.isArray(owed)) return []
    return owed.filter((id) => typeof id === 'string' || typeof id === 'number')
  } catch {
    return []
  }
}

/** One session's. */
export class KeptStreams {
  readonly #owner: string
  readonly #limits: Limits
  readonly #budget: ReplayBudget
  readonly #byId = new Map<string, ReplayStream>()
  /** Those that have ended, in that order. */
  readonly #ended = new LinkedList<ReplayStream>()

  constructor(owner: string, limits: Limits, budget: ReplayBudget) {
    this.#owner = owner
    this.#limits = limits
    this.#budget = budget
  }

  get all(): Iterable<ReplayStream> { return this.#byId.values() }

  /** Whether somebody reads one of them, or has not read one to its end. */
  get isBusy(): boolean {
    for (const stream of this.#byId.values()) if (stream.isAttached || stream.isUnread) return true
    return false
  }

  find(id: string): ReplayStream | undefined {
    return this.#byId.get(id)
  }

  /** A new one, whose events have ids that end with `mark`. */
  open(mark: string): ReplayStream {
    const most = this.#limits.maxCallsPerSession * 2
    for (let old = this.#ended.first; old !== undefined; old = this.#ended.first) {
      if (!old.isStale && this.#byId.size < most) break
      this.#forget(old)
    }
    const stream = new ReplayStream(this.#owner, this.#limits, this.#budget, this.#onEnded, mark)
    this.#byId.set(stream.id, stream)
    return stream
  }

  /** Ends all of them, and lets go of what was kept. */
  drop(): void {
    for (const stream of this.#byId.values()) this.#forget(stream)
  }

  readonly #onEnded = (stream: ReplayStream): void => { this.#ended.add(stream) }

  #forget(stream: ReplayStream): void {
    this.#byId.delete(stream.id)
    if (stream.isFinished) this.#ended.remove(stream)
    stream.drop()
  }
}
