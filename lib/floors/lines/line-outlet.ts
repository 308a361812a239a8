/** Lines for one client: they leave as fast as it reads, and what waits for it is bounded. */
import { MAX_TIMER_MS } from '../../kernel/util/clock.ts'
import { Lease, Quota } from '../../kernel/util/quota.ts'
import type { Writable } from 'node:stream'

/** Bytes that may wait before no more should be read from the client. */
export const HIGH_WATER: number = 64 * 1024

const CLOSED = 'The client has closed its end'

class Waiting extends Lease {
  readonly caller = ''
  readonly text: string

  constructor(text: string) {
    super()
    this.text = text
  }
}

/** What a slow client can do without; what it needs, but not twice; and all else. */
export type LineKind = 'losable' | 'lasting' | 'other'

export interface OutletListener {
  onRoom(): void
  /** Called once when the client is gone: its end is closed, which may have a cause, or it does not read. */
  onDisconnect(why: string, cause?: unknown): void
}

/**
 * What is sent during a write waits, and leaves as one piece. What waits is bounded: what is losable is
 * dropped first; where that is not enough, the client counts as gone.
 */
export class LineOutlet {
  isGone = false
  readonly #output: Writable
  readonly #listener: OutletListener
  readonly #kindOf: (text: string) => LineKind
  readonly #waiting = new Set<Waiting>()
  readonly #losable = new Set<Waiting>()
  /** The texts that are lasting. One that waits already is not sent twice. */
  readonly #lasting = new Set<string>()
  /** Bytes that wait: those of notifications, and all others. */
  readonly #notifications: Quota
  readonly #others: Quota
  #leavingBytes = 0
  #flushTimer: NodeJS.Timeout | undefined
  #onProgress: (() => void) | undefined

  /** `maxStreamBytes`: of what is losable or lasting; `maxQueuedBytes`: of everything. */
  constructor(
    output: Writable, limits: { readonly maxStreamBytes: number; readonly maxQueuedBytes: number },
    listener: OutletListener, kindOf: (text: string) => LineKind = () => 'other',
  ) {
    this.#output = output
    this.#listener = listener
    this.#kindOf = kindOf
    this.#notifications = new Quota('bytes of notifications', limits.maxStreamBytes)
    this.#others = new Quota('bytes of lines', limits.maxQueuedBytes)
    output.on('error', (cause) => this.#end(CLOSED, cause))
    output.on('close', () => this.#end(CLOSED))
  }

  /** The client has not taken enough for more to be read from it. */
  get isFull(): boolean { return this.#waitingBytes + this.#leavingBytes > HIGH_WATER }

  get #waitingBytes(): number { return this.#notifications.used + this.#others.used }

  send(text: string): void {
    if (this.isGone) return
    if (this.#leavingBytes === 0) return this.#write(`${text}\n`)
    const kind = this.#kindOf(text)
    if (kind === 'lasting') {
      if (this.#lasting.has(text)) return
      this.#lasting.add(text)
    }
    const waiting = new Waiting(text)
    this.#waiting.add(waiting)
    if (kind === 'losable') this.#losable.add(waiting)
    const quota = kind === 'other' ? this.#others : this.#notifications
    quota.add(waiting, Buffer.byteLength(text) + 1)
    this.#makeRoom()
  }

  /**
   * Resolves when everything was taken, and when the client is gone: which it is after `quietMs` in which it
   * took nothing. A second call replaces the first.
   */
  flushed(quietMs: number): Promise<void> {
    clearTimeout(this.#flushTimer)
    this.#onProgress = undefined
    if (this.isGone || this.#leavingBytes === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const giveUp = (): void => this.#end('The client does not read what it is sent')
      const timer = this.#flushTimer = setTimeout(giveUp, Math.min(quietMs, MAX_TIMER_MS))
      this.#onProgress = () => {
        if (!this.isGone && this.#leavingBytes > 0) return void timer.refresh()
        clearTimeout(timer)
        this.#onProgress = undefined
        resolve()
      }
    })
  }

  #makeRoom(): void {
    for (const oldest of this.#losable) {
      if (!this.#isOver) return
      this.#forget(oldest)
    }
    if (this.#isOver) this.#end(`The client does not read: ${this.#waitingBytes} bytes wait for it`)
  }

  get #isOver(): boolean {
    return this.#notifications.used > this.#notifications.max || this.#waitingBytes > this.#others.max
  }

  #forget(waiting: Waiting): void {
    this.#waiting.delete(waiting)
    this.#losable.delete(waiting)
    this.#lasting.delete(waiting.text)
    waiting.close()
  }

  #write(piece: string): void {
    this.#leavingBytes = Buffer.byteLength(piece)
    this.#output.write(piece, this.#onWritten)
  }

  readonly #onWritten = (error?: Error | null): void => {
    // A stream that was destroyed before reports it nowhere else.
    if (error !== undefined && error !== null) return this.#end(CLOSED, error)
    if (this.isGone) return
    const wasFull = this.isFull
    this.#leavingBytes = 0
    let piece = ''
    for (const waiting of this.#waiting) {
      if (piece.length > HIGH_WATER) break
      piece += `${waiting.text}\n`
      this.#forget(waiting)
    }
    if (piece !== '') this.#write(piece)
    this.#onProgress?.()
    if (wasFull && !this.isFull) this.#listener.onRoom()
  }

  #end(why: string, cause?: unknown): void {
    if (this.isGone) return
    this.isGone = true
    for (const waiting of this.#waiting) this.#forget(waiting)
    this.#listener.onDisconnect(why, cause)
    this.#onProgress?.()
  }
}
