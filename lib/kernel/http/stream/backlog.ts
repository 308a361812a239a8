/**
 * Bytes of all replies that were written and not taken yet, streams and whole replies alike. Over the bound
 * the largest reply is dropped; so is one whose reader takes nothing for a while. Replies that do not wait
 * cost nothing.
 */
import { Lease, Quota } from '../../util/quota.ts'
import type { KernelLimits } from '../../define/limits.ts'

/** A reply with waiting bytes, and their lease. */
export abstract class QueuedReply extends Lease {
  /** `taken` at its last change, and when that was. */
  seen = 0
  seenAtMs = 0
  abstract readonly waiting: number
  /** Changes whenever the reader has taken something. */
  abstract readonly taken: number
  /** Ends the reply, and its reader with it. */
  abstract drop(): void

  /** The largest reply makes room, whoever its caller is. */
  get caller(): string { return '' }
}

/** The longest time between two looks. */
const SWEEP_MS = 5_000

export class Backlog {
  readonly #queued: Quota
  readonly #writeTimeoutMs: number
  #timer: NodeJS.Timeout | undefined

  constructor({ maxQueuedBytes, writeTimeoutMs }: Pick<KernelLimits, 'maxQueuedBytes' | 'writeTimeoutMs'>) {
    this.#queued = new Quota('queued bytes', maxQueuedBytes)
    this.#writeTimeoutMs = writeTimeoutMs
  }

  get bytes(): number { return this.#queued.used }

  /** Counts how much of a reply waits now; of a closed one nothing. Over the bound, drops the largest. */
  account(reply: QueuedReply, bytes: number): void {
    const isNew = reply.amount === 0 && bytes > 0
    this.#queued.add(reply, bytes - reply.amount)
    if (isNew) this.#watch(reply)
    while (this.#queued.used > this.#queued.max) {
      let largest = reply
      for (const other of this.#replies) if (other.amount > largest.amount) largest = other
      this.#drop(largest)
    }
    if (this.#queued.used === 0) this.#rest()
  }

  get #replies(): Iterable<QueuedReply> { return this.#queued.leases as Iterable<QueuedReply> }

  #watch(reply: QueuedReply): void {
    reply.seen = reply.taken
    reply.seenAtMs = performance.now()
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => this.#sweep(), Math.min(this.#writeTimeoutMs / 4, SWEEP_MS))
    this.#timer.unref()
  }

  #drop(reply: QueuedReply): void {
    reply.drop()
    reply.close()
  }

  #rest(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #sweep(): void {
    const now = performance.now()
    for (const reply of this.#replies) {
      const { taken, waiting } = reply
      if (taken !== reply.seen) {
        reply.seen = taken
        reply.seenAtMs = now
      } else if (waiting > 0 && now - reply.seenAtMs >= this.#writeTimeoutMs) {
        this.#drop(reply)
        continue
      }
      if (waiting !== reply.amount) this.account(reply, waiting)
    }
    if (this.#queued.used === 0) this.#rest()
  }
}
