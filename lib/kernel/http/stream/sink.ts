/**
 * One open stream: back-pressure, the byte limit, the first flush and the heartbeat, for all protocols.
 *
 * Writes of one tick leave as one piece. A stream that ends in its first tick leaves as one body with a
 * length. Knows no socket: a `Pipe` is below it.
 */
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { HEARTBEAT } from '../../wire/sse.ts'
import { Lease, Quota } from '../../util/quota.ts'
import { Backlog, QueuedReply } from './backlog.ts'
import { LARGE_LENGTH, markLoopBusy } from './loop-fairness.ts'
import type { KernelLimits } from '../../define/limits.ts'
import type { Log } from '../../define/log.ts'
import type { Principal } from '../../define/principal.ts'
import type { Asker } from '../../util/quota.ts'
import type { Dismissal, Sink, Source } from '../message/exchange.ts'
import type { ReaderCheck } from './reader-check.ts'

export interface Pipe {
  /** The first has the head, the last the end. Where much waits, `StreamSink.drained` is called later. */
  push(text: string, isLast: boolean): void
  /** Drops the stream and its reader. */
  destroy(): void
  /** Bytes that were pushed and not taken yet. */
  readonly waiting: number
  /** Changes whenever some of them were taken. */
  readonly taken: number
}

/** Whose a stream is. */
export interface StreamOwner extends Asker {
  /** Left out: nothing can take the credential away. */
  readonly readerCheck?: ReaderCheck | undefined
  /** What the credential names: the stream ends when that expires. */
  readonly principal?: Pick<Principal, 'expiresAt'>
}

const EXPIRED: Dismissal = { kind: 'unauthenticated', message: 'The key or token has expired' }

/** From here on a reader is slow: writers that can wait should. */
const HIGH_WATER = 64 * 1024

export type StreamLimits = Pick<
  KernelLimits, 'maxStreams' | 'maxStreamBytes' | 'maxQueuedBytes' | 'heartbeatMs' | 'writeTimeoutMs'
>

export class Streams {
  readonly backlog: Backlog
  readonly maxStreamBytes: number
  readonly log: Log
  readonly #heartbeatMs: number
  readonly #open: Quota
  #timer: NodeJS.Timeout | undefined

  constructor(limits: StreamLimits, log: Log) {
    this.backlog = new Backlog(limits)
    this.#open = new Quota('streams', limits.maxStreams)
    this.maxStreamBytes = limits.maxStreamBytes
    this.log = log
    this.#heartbeatMs = limits.heartbeatMs
  }

  get count(): number { return this.#open.used }
  get queued(): number { return this.backlog.bytes }

  hasRoomFor(asker: Asker): boolean { return this.#open.hasRoom(asker, 1) }

  /** Opens a source on a pipe, for its owner. `isEvents`: heartbeats may be sent. */
  open(source: Source, pipe: Pipe, isEvents: boolean, owner: StreamOwner): StreamSink {
    const sink = new StreamSink(this, pipe, isEvents, owner)
    this.#open.add(sink, 1)
    if (this.#timer === undefined && this.#heartbeatMs <= MAX_TIMER_MS) {
      // Two beats per interval, so that no silence is longer.
      this.#timer = setInterval(() => this.#beat(), this.#heartbeatMs / 2)
      this.#timer.unref()
    }
    try {
      sink.start(source, owner.principal?.expiresAt)
    } catch (error) {
      sink.gone()
      throw error
    }
    return sink
  }

  #beat(): void {
    // Not when the last one closes: short streams would each make a timer.
    if (this.#open.used === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    for (const sink of this.#open.leases as Iterable<StreamSink>) sink.beat()
  }
}

class StreamQueue extends QueuedReply {
  readonly #sink: StreamSink
  readonly #pipe: Pipe

  constructor(sink: StreamSink, pipe: Pipe) {
    super()
    this.#sink = sink
    this.#pipe = pipe
  }

  get waiting(): number { return this.#sink.waiting }
  /** Nothing is taken while the credential is checked, and the reader is not to blame. */
  get taken(): number { return this.#sink.isHeld ? NaN : this.#pipe.taken }
  drop(): void { this.#sink.drop() }
}

/** One stream, and its lease among all streams. */
export class StreamSink extends Lease implements Sink {
  readonly caller: string
  closed = false
  /** Nothing is sent until it is known whether the reader may read on. */
  isHeld = false
  readonly #streams: Streams
  readonly #pipe: Pipe
  readonly #isEvents: boolean
  /** Undefined after the end. */
  #check: ReaderCheck | undefined
  /** Only where the stream may be cut off. */
  #source: Source | undefined
  #expiry: NodeJS.Timeout | undefined
  /** Made when something waits. */
  #queue: StreamQueue | undefined
  #onOver: (() => void) | undefined
  #pending = ''
  #flushing = false
  #begun = false
  #ended = false
  #isSilent = false
  #waiters: (() => void)[] | undefined

  constructor(streams: Streams, pipe: Pipe, isEvents: boolean, { caller, readerCheck }: StreamOwner) {
    super()
    this.caller = caller
    this.#streams = streams
    this.#pipe = pipe
    this.#isEvents = isEvents
    this.#check = readerCheck
  }

  /** Bytes that wait for the reader, or for what is said of it. */
  get waiting(): number { return this.#pipe.waiting + (this.isHeld ? this.#pending.length : 0) }

  /** Bytes that wait for the reader, as last counted. */
  get #held(): number { return this.#queue?.amount ?? 0 }

  /**
   * Opens the source. If it writes nothing in this tick, the head is sent alone. `expiresAt`: when the stream
   * ends at the latest, in milliseconds since the epoch.
   */
  start(source: Source, expiresAt: number = Infinity): void {
    // Scheduled once it is known whether it has ended: then nothing more has to be waited for.
    this.#flushing = true
    if (this.#check !== undefined || expiresAt !== Infinity) this.#source = source
    const onOver = source.open(this)
    if (expiresAt !== Infinity) this.#endAt(expiresAt)
    this.#flushing = false
    if (this.closed) {
      onOver?.()
      return
    }
    this.#onOver = onOver
    this.#schedule()
  }

  write(text: string): boolean {
    if (this.closed || this.#ended) return false
    // The present write is not counted: one large message to a fast reader is fine.
    if (this.#held > 0 && this.#pipe.waiting + this.#pending.length > this.#streams.maxStreamBytes) {
      this.drop()
      return false
    }
    this.#isSilent = false
    this.#pending += text
    if (this.#pending.length > LARGE_LENGTH) markLoopBusy()
    if (this.isHeld) this.#account()
    else this.#schedule()
    return this.#held + this.#pending.length < HIGH_WATER
  }

  ready(): Promise<void> {
    if (this.closed || this.#ended || this.#held + this.#pending.length < HIGH_WATER) return Promise.resolve()
    return new Promise((resolve) => (this.#waiters ??= []).push(resolve))
  }

  end(text?: string): void {
    if (this.closed || this.#ended) return
    if (text !== undefined) this.#pending += text
    this.#ended = true
    this.#schedule()
  }

  drained(): void {
    if (this.closed) return
    this.#account()
    if (this.#held < HIGH_WATER) this.#wake()
  }

  /** The stream is over: its reader has left, or has everything. */
  gone(): void {
    if (this.closed) return
    this.closed = true
    clearTimeout(this.#expiry)
    this.#pending = ''
    this.#queue?.close()
    this.close()
    this.#wake()
    this.#over()
  }

  /** Ends a stream whose reader is too slow. */
  drop(): void {
    this.#pipe.destroy()
    this.gone()
  }

  /** Called twice per heartbeat interval. */
  beat(): void {
    this.drained()
    this.#beginCheck()
    if (this.isHeld) return this.#beatWhileHeld()
    if (!this.#isSilent) this.#isSilent = true
    else if (this.#isEvents && this.#held === 0) this.write(HEARTBEAT)
  }

  flushNow(): void {
    this.#flushing = false
    if (this.closed) return
    try {
      this.#flush()
    } catch (error) {
      this.#streams.log('error', 'A stream could not be written', { cause: error })
      this.drop()
    }
  }

  #flush(): void {
    this.#beginCheck()
    if (this.isHeld) return this.#account()
    const text = this.#pending
    this.#pending = ''
    const isDue = text !== '' || !this.#begun || this.#ended
    this.#begun = true
    if (this.#ended) this.#check = undefined
    if (isDue) this.#pipe.push(text, this.#ended)
    if (!this.closed) this.#account()
    if (this.#held < HIGH_WATER) this.#wake()
  }

  #account(): void {
    const { waiting } = this
    if (waiting === this.#held) return
    this.#queue ??= new StreamQueue(this, this.#pipe)
    this.#streams.backlog.account(this.#queue, waiting)
  }

  #schedule(): void {
    if (this.#flushing) return
    this.#flushing = true
    // What is ready leaves with the head, within this tick.
    if (this.#begun || this.#ended) process.nextTick(flush, this)
    else void settled.then(flushAtTick.bind(undefined, this))
  }

  #beginCheck(): void {
    const check = this.#check
    if (check === undefined || this.closed || check.dueAtMs > performance.now()) return
    this.isHeld = check.holds
    check.begin((why) => {
      const wasHeld = this.isHeld
      this.isHeld = false
      if (why !== undefined) this.#dismiss(why)
      else if (wasHeld && (this.#pending !== '' || this.#ended)) this.#schedule()
    })
  }

  /** Nothing but the protocol's own last text is sent any more; what runs for the reader is left. */
  #dismiss(why: Dismissal): void {
    if (this.closed || this.#check === undefined) return
    this.#pending = ''
    this.#ended = false
    this.#endWith(why)
    this.#over()
  }

  #endAt(expiresAt: number): void {
    if (this.closed) return
    const leftMs = expiresAt - Date.now()
    if (leftMs <= 0) return this.#endWith(EXPIRED)
    this.#expiry = setTimeout(() => this.#endAt(expiresAt), Math.min(leftMs, MAX_TIMER_MS)).unref()
  }

  /** Ends with the last text that the protocol has for it. */
  #endWith(why: Dismissal): void {
    let last: string | undefined
    try {
      last = this.#source?.dismissal?.(why)
    } catch (error) {
      this.#streams.log('error', 'A stream could not say why it ends', { cause: error })
    }
    this.end(last)
  }

  #over(): void {
    const onOver = this.#onOver
    this.#onOver = undefined
    try {
      onOver?.()
    } catch (error) {
      this.#streams.log('error', 'A stream could not be ended', { cause: error })
    }
  }

  #beatWhileHeld(): void {
    if (!this.#begun || !this.#isEvents || this.#pipe.waiting > 0) return
    this.#pipe.push(HEARTBEAT, false)
  }

  #wake(): void {
    const waiters = this.#waiters
    this.#waiters = undefined
    for (const resolve of waiters ?? []) resolve()
  }
}

const settled = Promise.resolve()

function flushAtTick(sink: StreamSink): void {
  process.nextTick(flush, sink)
}

function flush(sink: StreamSink): void {
  sink.flushNow()
}
