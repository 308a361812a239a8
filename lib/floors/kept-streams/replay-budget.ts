/** The memory of streams that are kept for clients that come back. */
import { Bounded, KEPT } from '../bounds/bounded.ts'
import type { Slotted } from '../bounds/slots.ts'

/** A stream that outlives its connection; its bytes are those of what is kept of it. */
export interface KeptStream extends Slotted {
  readonly caller: string
  /** Keeps nothing any more. */
  forget(): void
}

/** What all streams of one protocol keep together. Those that have ended make room; the others do not. */
export class ReplayBudget extends Bounded<KeptStream> {
  constructor(maxBytes: number) {
    super({ maxCount: Infinity, maxBytes }, { onEvict(stream) { stream.forget() } })
  }

  /** A stream that goes on keeps so many bytes, for which others make room as far as they can. */
  hold(stream: KeptStream, bytes: number): void {
    if (stream.slot === 0) this.lease(stream.caller, stream, bytes)
    else this.resize(stream, bytes)
  }

  ended(stream: KeptStream): void {
    // One without events has nothing to give, and would stay for ever.
    if (this.bytesOf(stream) > 0) this.use(stream, KEPT)
    else this.remove(stream)
  }
}
