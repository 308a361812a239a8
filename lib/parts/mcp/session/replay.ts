/**
 * A stream that outlives its connection: its events are kept for a while, within bounds, and a client that
 * comes back gets what it missed, of this stream alone. Event ids are `<stream>-<number>`.
 * Spec: MCP 2025-11-25, Transports, Resumability and Redelivery.
 */
import { formatJson } from '../../../kernel/wire/json.ts'
import { randomId } from '../../../kernel/wire/random.ts'
import { FAREWELL, formatEvent } from '../../../kernel/wire/sse.ts'
import type { Origin } from '../../../kernel/define/call.ts'
import type { Id } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { KeptStream, ReplayBudget } from '../../../floors/kept-streams/replay-budget.ts'
import type { Sink, Source } from '../../../kernel/http/message/exchange.ts'
import type { McpLimits } from '../options.ts'

/** Who reads a stream: what it may read now, and the scopes without which it may read no more of it. */
export type StreamReader = Pick<Origin, 'principal' | 'needed'>

interface KeptEvent {
  readonly number: number
  readonly text: string
  readonly bytes: number
  readonly at: number
}

/** One stream of a session, and the bytes of its events that are kept. */
export class ReplayStream implements KeptStream {
  readonly id: string = randomId(12)
  slot = 0
  readonly caller: string
  readonly #limits: McpLimits
  readonly #budget: ReplayBudget
  readonly #onEnded: ((stream: ReplayStream) => void) | undefined
  #kept: KeptEvent[] = []
  #count = 0
  #sent = 0
  #sink: Sink | undefined
  #isFinished = false
  #finishedAt = 0
  #hasBegun = false
  /** The last text of the connection, where that is to end before it has begun. */
  #farewell: string | undefined
  /** What the ids of its events end with: its process, and the requests that are answered on it. */
  readonly #mark: string

  constructor(
    owner: string, limits: McpLimits, budget: ReplayBudget, onEnded?: (stream: ReplayStream) => void,
    mark = '',
  ) {
    this.caller = owner
    this.#mark = mark
    this.#limits = limits
    this.#budget = budget
    this.#onEnded = onEnded
  }

  /** Who reads it now. */
  reader: StreamReader | undefined
  /** Scopes that what is sent on it has needed. */
  needed: ReadonlySet<string> | undefined

  get isAttached(): boolean { return this.#sink !== undefined }
  get isFinished(): boolean { return this.#isFinished }
  /** Whether a client reads it, or is about to. */
  get isConnected(): boolean { return this.isAttached || !this.#hasBegun }

  /** Whether it has ended, and its client can still resume it. */
  get isUnread(): boolean {
    return this.#isFinished && this.#sent < this.#count && this.#kept.length > 0 && !this.isStale
  }

  /** Whether it cannot be resumed any more. */
  get isStale(): boolean {
    return this.#isFinished && performance.now() - this.#finishedAt > this.#limits.replayMs
  }

  /** Sends an event, and keeps it. '' is the event that only has an id. */
  send(message: string): void {
    if (this.#isFinished) return
    const number = ++this.#count
    const text = formatEvent(message, undefined, `${this.id}-${number}${this.#mark}`)
    const bytes = Buffer.byteLength(text)
    this.#kept.push({ number, text, bytes, at: performance.now() })
    this.#budget.hold(this, this.#budget.bytesOf(this) + bytes)
    // Until it has begun, what is kept is all there is.
    if (this.#hasBegun) this.#trim()
    if (this.#sink === undefined) return
    this.#sink.write(text)
    this.#sent = number
  }

  /** Sends the last event and ends the stream; it can still be resumed. */
  finish(message?: string): void {
    if (this.#isFinished) return
    if (message !== undefined) this.send(message)
    this.#isFinished = true
    this.#finishedAt = performance.now()
    this.#onEnded?.(this)
    if (this.#hasBegun) this.#budget.ended(this)
    this.#sink?.end()
    this.#sink = undefined
  }

  /** Ends a stream on which nothing is owed. */
  finishIdle(): void {
    this.#sink?.write(FAREWELL)
    this.finish()
  }

  /** Ends the connection and not the stream. `retryMs`: when the client should come back. */
  detach(retryMs: number | undefined): void {
    const farewell = retryMs === undefined ? '' : `retry: ${retryMs}\n\n`
    if (!this.#hasBegun) this.#farewell = farewell
    this.#sink?.end(farewell)
    this.#sink = undefined
  }

  /** A source of what followed event `after` and of what follows for `reader`, all that after `first`. */
  source(after: number, first = '', reader?: StreamReader): Source {
    return {
      open: (sink) => {
        for (const scope of this.needed ?? []) reader?.needed?.add(scope)
        if (first !== '') sink.write(first)
        for (const { number, text } of this.#kept) if (number > after) sink.write(text)
        const farewell = this.#farewell
        this.#farewell = undefined
        this.#hasBegun = true
        this.#trim()
        this.#sent = this.#count
        if (this.#isFinished) this.#budget.ended(this)
        if (this.#isFinished || farewell !== undefined) {
          sink.end(farewell)
          return undefined
        }
        this.#sink?.end()
        this.#sink = sink
        this.reader = reader
        return () => {
          if (this.#sink !== sink) return
          this.#sink = undefined
          this.reader = undefined
        }
      },
    }
  }

  /** Whether what followed event `after` is not kept any more, or there was no such event. */
  hasLost(after: number): boolean {
    if (after > this.#count) return true
    return this.#isFinished && after < this.#count && this.#kept.length === 0
  }

  get kept(): readonly Replayed[] { return this.#kept.map(({ number, text }) => [number, text]) }

  forget(): void {
    this.#budget.remove(this)
    this.#kept = []
  }

  /** Ends it for good: it cannot be resumed. */
  close(): void {
    this.forget()
    this.#isFinished = true
    this.#sink?.end(FAREWELL)
    this.#sink = undefined
  }

  #trim(): void {
    const { replayEvents, replayBytes, replayMs } = this.#limits
    const oldest = performance.now() - replayMs
    let drop = 0
    for (; drop < this.#kept.length; drop++) {
      const { at, bytes } = this.#kept[drop]!
      const isFine = this.#kept.length - drop <= replayEvents && this.#budget.bytesOf(this) <= replayBytes
        && at >= oldest && !this.#budget.isTooMuch(this)
      if (isFine) break
      this.#budget.hold(this, this.#budget.bytesOf(this) - bytes)
    }
    if (drop > 0) this.#kept = this.#kept.slice(drop)
  }
}

export type Replayed = readonly [number: number, text: string]

export interface EventPosition {
  readonly stream: string
  readonly number: number
  readonly node: string | undefined
  /** Requests that are answered on the stream. */
  readonly owed: readonly Id[]
}

/** The longest list of ids of requests in an event id, in characters. */
const MAX_OWED = 1_024

/** What the ids of a stream's events end with; `at`: `@<node>`, or nothing. */
export function streamMark(at: string, owed: readonly Id[]): string {
  if (at === '' || owed.length === 0) return at
  const list = Buffer.from(formatJson(owed)).toString('base64url')
  return list.length > MAX_OWED ? at : at + list
}

export function parseEventId(eventId: string): EventPosition | undefined {
  const match = /^([\w-]{16})-(\d{1,15})(?:@([\w-]{8})([\w-]{0,1024}))?$/.exec(eventId)
  if (match === null) return undefined
  const [, stream, number, node, owed = ''] = match
  return { stream: stream!, number: Number(number), node, owed: owedIn(owed) }
}

function owedIn(list: string): readonly Id[] {
  try {
    const owed: unknown = JSON.parse(Buffer.from(list, 'base64url').toString())
    if (!Array.isArray(owed)) return []
    return owed.filter((id) => typeof id === 'string' || typeof id === 'number')
  } catch {
    return []
  }
}

/** The streams of one session that a client can resume. Bounded in number: the first that ended go first. */
export class KeptStreams {
  readonly #owner: string
  readonly #limits: McpLimits
  readonly #budget: ReplayBudget
  readonly #byId = new Map<string, ReplayStream>()
  /** In the order of their ends. */
  readonly #ended = new Set<ReplayStream>()

  constructor(owner: string, limits: McpLimits, budget: ReplayBudget) {
    this.#owner = owner
    this.#limits = limits
    this.#budget = budget
  }

  get all(): Iterable<ReplayStream> { return this.#byId.values() }

  /** Whether a client reads one of them, or has not read one to its end. */
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
    for (const old of this.#ended) {
      if (!old.isStale && this.#byId.size < most) break
      this.#forget(old)
    }
    const stream = new ReplayStream(this.#owner, this.#limits, this.#budget, this.#onEnded, mark)
    this.#byId.set(stream.id, stream)
    return stream
  }

  close(): void {
    for (const stream of this.#byId.values()) this.#forget(stream)
  }

  readonly #onEnded = (stream: ReplayStream): void => { this.#ended.add(stream) }

  #forget(stream: ReplayStream): void {
    this.#byId.delete(stream.id)
    this.#ended.delete(stream)
    stream.close()
  }
}
