/**
 * Rate limits: a token bucket per caller, in this process or for several together; and wrong credentials,
 * counted per network. Headers: draft-ietf-httpapi-ratelimit-headers; RFC 9110 §10.2.3.
 */
import { minutely } from '../../util/clock.ts'
import { andThen } from '../../util/thenable.ts'
import { Buckets } from '../../util/buckets.ts'
import { Unavailable } from './auth.ts'
import type { Log } from '../../define/log.ts'
import type { Overuse } from '../message/exchange.ts'
import type { Counter, MakeCounter, Taken } from '../../util/buckets.ts'
import type { MaybePromise } from '../../util/thenable.ts'

/** The rate of one caller: one principal, or one address without keys. */
export interface RateLimit {
  /** Calls (POST requests) per minute in the long run. Left out: any number. */
  readonly perMinute?: number | undefined
  /** Calls at once after a pause. Left out: those of a minute. */
  readonly burst?: number | undefined
  /** Handshakes per minute, each of which can begin a session. Left out: any number. */
  readonly initializePerMinute?: number | undefined
}

export type Counted = 'call' | 'initialize'

interface Limit {
  readonly name: string
  readonly policy: string
  readonly sentence: string
  readonly counter: Counter
}

/** What a reply says of a limit, and whether it is used up. */
export interface Count { readonly headers: readonly string[]; readonly overuse: Overuse | undefined }

/** Counts for one caller; undefined without such a limit. A promise only where processes share it. */
export type RateLimits = (what: Counted, caller: string, cost: number) => MaybePromise<Count> | undefined

/**
 * Makes the limits. `makeCounter`: for what several processes count together. Throws `TypeError` for options
 * that limit nothing, and for bad numbers.
 */
export function createRateLimits(
  options: RateLimit, makeCounter: MakeCounter = (_name, size) => new Buckets(size),
): RateLimits {
  const { perMinute, burst, initializePerMinute } = requireRateLimit(options)
  const limits: Readonly<Record<Counted, Limit | undefined>> = {
    call: limitOf('calls', 'Too many calls', perMinute, burst),
    initialize: limitOf('initialize', 'Too many handshakes', initializePerMinute),
  }

  return (what, caller, cost) => {
    const limit = limits[what]
    const taken = limit?.counter.take(caller, cost, performance.now())
    return taken && andThen(taken, (known) => countOf(limit!, known))
  }

  function limitOf(name: string, sentence: string, perMinute?: number, burst = perMinute): Limit | undefined {
    if (perMinute === undefined || burst === undefined) return undefined
    const policy = `"${name}";q=${burst};w=${Math.ceil(60 * burst / perMinute)}`
    return { name, sentence, policy, counter: makeCounter(name, { burst, perMinute }) }
  }
}

function countOf({ name, policy, sentence }: Limit, { allowed, remaining, resetMs }: Taken): Count {
  const seconds = Math.ceil(resetMs / 1_000)
  const headers = ['RateLimit-Policy', policy, 'RateLimit', `"${name}";r=${remaining};t=${seconds}`]
  if (allowed) return { headers, overuse: undefined }
  const detail = `${sentence}; try again in ${seconds} s`
  return { headers, overuse: { detail, headers: ['Retry-After', String(seconds), ...headers] } }
}

function requireRateLimit(options: RateLimit): RateLimit {
  for (const [member, value] of Object.entries(options)) {
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue
    const shown = typeof value === 'string' ? `"${value}"` : String(value)
    throw new TypeError(`rateLimit.${member} is ${shown}; write a whole number above zero`)
  }
  const { perMinute, burst, initializePerMinute } = options
  if (perMinute === undefined && initializePerMinute === undefined) {
    const why = burst === undefined ? 'rateLimit limits nothing' : 'rateLimit.burst alone limits nothing'
    throw new TypeError(`${why}; write { perMinute: 60 }`)
  }
  return options
}

/** Guesses at once, in minutes of the rate. */
const BURST_MINUTES = 2
/** The longest lock-out after many guesses at once. */
const MAX_DEBT_MS = 10 * 60_000

/**
 * Wrong keys and tokens per network, so that guessing is slow and costs the operator's functions nothing. In
 * this process's memory, bounded. Requests without a known network, as of `fetch`, are not counted: one
 * guesser would lock out everybody.
 */
export class FailedIdentifications {
  readonly #buckets: Buckets | undefined
  readonly #log: Log
  readonly #seldom = minutely()

  /** `perMinute`: `Infinity` counts nothing. */
  constructor(perMinute: number, log: Log) {
    this.#buckets = perMinute === Infinity ? undefined
      : new Buckets({ burst: perMinute * BURST_MINUTES, perMinute })
    this.#log = log
  }

  /** Throws `Unavailable` where one more is too many. */
  check(network: string | undefined): void {
    const resetMs = network === undefined ? 0 : this.#buckets?.lacking(network, performance.now()) ?? 0
    if (resetMs > 0) throw this.#over(resetMs, network)
  }

  /** Counts one; returns why it is one too many. */
  count(network: string | undefined): Unavailable | undefined {
    if (network === undefined) return undefined
    const now = performance.now()
    const isAllowed = this.#buckets?.take(network, 1, now).allowed ?? true
    return isAllowed ? undefined : this.#over(this.#buckets!.owe(network, now, MAX_DEBT_MS), network)
  }

  #over(resetMs: number, network: string | undefined): Unavailable {
    const sentence = 'Wrong keys or tokens are refused unasked: too many came from one address'
    this.#seldom(() => this.#log('warning', sentence, { network }))
    const seconds = Math.max(1, Math.ceil(resetMs / 1_000))
    const why = `Too many keys or tokens from this address were wrong; try again in ${seconds} s`
    return new Unavailable(why, seconds, undefined, 429)
  }
}
