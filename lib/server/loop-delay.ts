/**
 * How late the event loop is: when a timer ran is compared with when it was due. Node's own monitor forgets
 * with each reset when it looked last, so it does not see a loop that is held up right after a reset.
 */
import { createHistogram } from 'node:perf_hooks'

/** How often it looks, in milliseconds. */
const PERIOD_MS = 20
const NANOSECONDS = 1e9

/** In seconds, over all looks since the summary before. All are 0 where there was none. */
export interface LoopDelaySummary {
  readonly mean: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Looks from its making on, until it is closed. It does not keep a process alive. */
export class LoopDelay {
  readonly #delays = createHistogram()
  readonly #timer = setInterval(() => { this.#look() }, PERIOD_MS).unref()
  #lookedAt = performance.now()

  /** What was seen since this was asked before. */
  take(): LoopDelaySummary {
    const delays = this.#delays
    const seconds = (nanoseconds: number): number => delays.count === 0 ? 0 : nanoseconds / NANOSECONDS
    const summary = {
      mean: seconds(delays.mean),
      p50: seconds(delays.percentile(50)),
      p99: seconds(delays.percentile(99)),
      max: seconds(delays.max),
    }
    delays.reset()
    return summary
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = performance.now()
    const lateMs = now - this.#lookedAt - PERIOD_MS
    this.#lookedAt = now
    // A histogram begins at 1.
    this.#delays.record(Math.max(1, Math.round(lateMs * 1e6)))
  }
}
