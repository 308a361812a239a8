/** The limits of requests of A2A. */
import type { LimitTable } from '../../../kernel/define/limits.ts'

/** Options of `a2a`. */
export interface A2aLimits {
  /** A client that waits for a task gets it as it is after this long. */
  readonly blockingWaitMs: number
  /** A client that cancels a task waits this long for the handler to end. */
  readonly cancelWaitMs: number
}

export const a2aLimits: LimitTable<A2aLimits> = {
  defaults: {
    // Longer than any agent may take, so that a client that waits gets the result.
    blockingWaitMs: 10 * 60_000,
    cancelWaitMs: 1_000,
  },
}
