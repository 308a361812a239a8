/** The memory of streams that are kept for clients that come back. */
import { FairPool } from '../bounds/fair-pool.ts'
import { Lease, Quota } from '../../kernel/util/quota.ts'
import type { Slot } from '../bounds/fair-pool.ts'

/** A stream that outlives its connection, and the lease of the bytes that are kept of it. */
export abstract class KeptStream extends Lease {
  /** Where it is among those that have ended; the budget's own. */
  slot: Slot<KeptStream> | undefined = undefined
  /** Keeps nothing any more. */
  abstract forget(): void
}

/** What all streams of one protocol keep together. */
export class ReplayBudget {
  readonly #bytes: Quota
  /** Streams that have ended make room first, those of the owner with most bytes before others'. */
  readonly #ended = new FairPool<KeptStream>({ maxCount: Infinity, maxBytes: Infinity }, (stream) => {
    stream.slot = undefined
    stream.forget()
  })

  constructor(maxBytes: number) {
    this.#bytes = new Quota('bytes of kept events', maxBytes)
  }

  get held(): number { return this.#bytes.used }

  take(stream: KeptStream, bytes: number): void {
    this.#bytes.add(stream, bytes)
    while (this.held > this.#bytes.max && this.#ended.evict()) continue
  }

  give(stream: KeptStream, bytes: number): void { this.#bytes.add(stream, -bytes) }

  /** Whether the owner of a stream that goes on holds so much that its events must be dropped. */
  isTooMuch(stream: KeptStream): boolean { return !this.#bytes.hasRoom(stream, 1) }

  ended(stream: KeptStream): void {
    // One without events has nothing to give, and would stay for ever.
    if (stream.amount > 0) stream.slot ??= this.#ended.add(stream.caller, stream, stream.amount)
  }

  forgotten(stream: KeptStream): void {
    this.give(stream, stream.amount)
    if (stream.slot !== undefined) this.#ended.remove(stream.slot)
    stream.slot = undefined
  }
}
