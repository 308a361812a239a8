/**
 * Keys and tokens that turned out wrong, counted for each network that they came from, so that guessing is
 * slow and costs the operator's functions nothing. In this process's memory, at a bounded size. What comes
 * from nowhere that is known, by `fetch` for one, is not counted: one guesser would shut out everybody.
 */
import { Buckets } from './buckets.ts'
import type { Log } from '../../define/log.ts'

/** Guesses that may come at once, by those of a minute. */
const BURST_MINUTES = 2
/** Guesses that came at once, before the first was known to be wrong, shut out for so long at most. */
const MAX_DEBT_MS = 10 * 60_000
const LOG_MS = 60_000

/** A network has guessed too often: 429. The message is for the caller. */
export class Overused extends Error {
  readonly headers: readonly string[]

  constructor(resetMs: number) {
    const seconds = Math.max(1, Math.ceil(resetMs / 1_000))
    super(`Too many keys or tokens from this address were wrong; try again in ${seconds} s`)
    this.name = 'Overused'
    this.headers = ['Retry-After', String(seconds)]
  }
}

/** What has failed of late. */
export class FailedIdentifications {
  readonly #buckets: Buckets | undefined
  readonly #log: Log
  readonly #now: () => number
  #loggedAt = -Infinity

  /** `perMinute`: `Infinity` counts nothing. */
  constructor(perMinute: number, log: Log, now: () => number = () => performance.now()) {
    this.#buckets = perMinute === Infinity ? undefined
      : new Buckets({ burst: perMinute * BURST_MINUTES, perMinute })
    this.#log = log
    this.#now = now
  }

  /** Throws `Overused` where one more would be too many. */
  check(network: string | undefined): void {
    const resetMs = network === undefined ? 0 : this.#buckets?.lacking(network, this.#now()) ?? 0
    if (resetMs > 0) throw this.#over(resetMs, network)
  }

  /** Counts one; why it is one too many, if it is. */
  count(network: string | undefined): Overused | undefined {
    if (network === undefined) return undefined
    const now = this.#now()
    const isAllowed = this.#buckets?.take(network, 1, now).allowed ?? true
    return isAllowed ? undefined : this.#over(this.#buckets!.owe(network, now, MAX_DEBT_MS), network)
  }

  #over(resetMs: number, network: string | undefined): Overused {
    const now = this.#now()
    if (now - this.#loggedAt >= LOG_MS) {
      this.#loggedAt = now
      const sentence = 'Wrong keys or tokens are refused unasked: too many came from one address'
      this.#log('warning', sentence, { network })
    }
    return new Overused(resetMs)
  }
}
