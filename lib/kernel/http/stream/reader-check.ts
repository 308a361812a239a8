/**
 * Whether the reader of a stream may still read it: the credential that opened the stream is asked about
 * again where an event or a heartbeat is due and the last answer is older than a minute.
 *
 * A check that fails says nothing of the reader. The stream goes on and does not wait for the next checks,
 * which follow each other quickly, and ends where all of them fail for some minutes.
 */
import { andThen, caught } from '../../util/thenable.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Dismissal } from '../message/exchange.ts'

/** How long an answer counts. */
const GOOD_MS = 60_000
const RETRY_MS = 5_000
/** A stream ends where nothing was learned for so long. */
const MAX_UNKNOWN_MS = 5 * 60_000

const LOST: Dismissal = { kind: 'unauthenticated', message: 'The key or token could not be checked again' }

/** Undefined: the reader may go on. Throws, or rejects, where that cannot be known at the moment. */
export type AskReader = () => MaybePromise<Dismissal | undefined>

export class ReaderCheck {
  /** Monotonic milliseconds. */
  dueAtMs: number
  readonly #ask: AskReader
  #knownAtMs: number
  #isFailing = false

  /** `knownAtMs`: when the credential was found to be good. */
  constructor(ask: AskReader, knownAtMs: number) {
    this.#ask = ask
    this.#knownAtMs = knownAtMs
    this.dueAtMs = knownAtMs + GOOD_MS
  }

  /** Whether nothing may be sent while it is asked. */
  get holds(): boolean { return !this.#isFailing }

  /** Asks. `settled` is called once, at once or later, with why the stream must end. */
  begin(settled: (why: Dismissal | undefined) => void): void {
    const beganAtMs = performance.now()
    // Not due again while it is asked.
    this.dueAtMs = Infinity
    const known = (why: Dismissal | undefined): void => {
      this.#isFailing = false
      this.#knownAtMs = beganAtMs
      this.dueAtMs = beganAtMs + GOOD_MS
      settled(why)
    }
    const failed = (): void => {
      const now = performance.now()
      this.#isFailing = true
      this.dueAtMs = now + RETRY_MS
      const isLost = now - this.#knownAtMs >= MAX_UNKNOWN_MS
      settled(isLost ? LOST : undefined)
    }
    void caught(() => andThen(this.#ask(), known), failed)
  }
}
