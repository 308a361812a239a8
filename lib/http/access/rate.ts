/**
 * How often one caller may ask: a bucket of tokens for each, that fills at a steady rate, in this process or
 * for all that share a store. Who the caller is, and what is counted, is its callers' word.
 *
 * Headers: draft-ietf-httpapi-ratelimit-headers; RFC 9110 §10.2.3.
 */
import { isThenable } from '../../util/thenable.ts'
import { Buckets } from './buckets.ts'
import { SharedBuckets } from './shared-buckets.ts'
import type { Counter, Taken } from './buckets.ts'
import type { Overuse } from '../message/exchange.ts'
import type { SharedPlace } from './shared-buckets.ts'

/** How often one caller may ask: one principal, or one address where nobody needs a key. */
export interface RateLimit {
  /** Calls a minute, in the long run: requests by POST. Left out: any number. */
  readonly perMinute?: number | undefined
  /** Calls that may come all at once after a pause. Left out: those of a minute. */
  readonly burst?: number | undefined
  /** MCP handshakes a minute, each of which can begin a session. Left out: any number. */
  readonly initializePerMinute?: number | undefined
}

/** What is counted. */
export type Counted = 'call' | 'initialize'

/** One limit as it is told: its name, its quota, where it is counted. */
interface Limit {
  readonly name: string
  readonly policy: string
  readonly sentence: string
  readonly counter: Counter
}

/** What a reply is told of a limit, and whether it is used up. */
export interface Count { readonly headers: readonly string[]; readonly overuse: Overuse | undefined }

/** The limits of one server. */
export interface RateLimits {
  /** Counts for one caller; undefined where there is no such limit. A promise only with a shared store. */
  take(what: Counted, caller: string, cost: number): Count | Promise<Count> | undefined
}

/** Milliseconds that only rise, and those since the epoch. */
export interface Clocks { monotonic(): number; wall(): number }

const clocks: Clocks = { monotonic: () => performance.now(), wall: () => Date.now() }

/**
 * Makes the limits: of this process, or with `shared` of all that share that store. Throws `TypeError` for
 * what limits nothing, and for numbers that cannot be.
 */
export function createRateLimits(
  options: RateLimit, shared?: SharedPlace, { monotonic, wall }: Clocks = clocks,
): RateLimits {
  const { perMinute, burst, initializePerMinute } = requireRateLimit(options)
  const call = limitOf('calls', 'Too many calls', perMinute, burst)
  const initialize = limitOf('initialize', 'Too many handshakes', initializePerMinute)

  return {
    take(what, caller, cost) {
      const limit = what === 'call' ? call : initialize
      if (limit === undefined) return undefined
      const taken = limit.counter.take(caller, cost, monotonic())
      return isThenable(taken) ? taken.then((later) => countOf(limit, later)) : countOf(limit, taken)
    },
  }

  function limitOf(name: string, sentence: string, perMinute?: number, burst = perMinute): Limit | undefined {
    if (perMinute === undefined || burst === undefined) return undefined
    const policy = `"${name}";q=${burst};w=${Math.ceil(60 * burst / perMinute)}`
    const quota = { burst, perMinute }
    const counter = shared === undefined ? new Buckets(quota) : new SharedBuckets(name, quota, shared, wall)
    return { name, sentence, policy, counter }
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
    throw new TypeError(`rateLimit.${member} is ${String(value)}; write a whole number above zero`)
  }
  const { perMinute, burst, initializePerMinute } = options
  if (perMinute === undefined && initializePerMinute === undefined) {
    const why = burst === undefined ? 'rateLimit limits nothing' : 'rateLimit.burst alone limits nothing'
    throw new TypeError(`${why}; write { perMinute: 60 }`)
  }
  return options
}
