/**
 * How often one caller may ask: a bucket of tokens for each, that fills at a steady rate. Who the caller
 * is, and what is counted, is its callers' word.
 *
 * A bucket is one number, the time at which it is full again; a full one is not kept at all.
 * Headers: draft-ietf-httpapi-ratelimit-headers; RFC 9110 §10.2.3.
 */
import type { Overuse } from './exchange.ts'

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

/** What came of counting. */
export interface Taken {
  readonly allowed: boolean
  /** Whole tokens that are left. */
  readonly remaining: number
  /** Until there is room again where there was none; until all is there again where there was. */
  readonly resetMs: number
}

/** Where tokens are counted: in this process's memory, or in a place that replicas share. */
export interface Counter {
  /** Takes `cost` tokens from the bucket of `key`, or none where so many are not there. */
  take(key: string, cost: number, nowMs: number): Taken
}

/** What one bucket holds, and how fast it fills. */
export interface Quota { readonly burst: number; readonly perMinute: number }

/** What the keys of all buckets may take. The one that was not asked for longest goes first. */
const MAX_BYTES = 8 * 1024 * 1024
const ENTRY_BYTES = 128

/** Buckets in this process's memory. */
export class Buckets implements Counter {
  readonly #burstMs: number
  readonly #stepMs: number
  readonly #maxBytes: number
  readonly #fullAt = new Map<string, number>()
  #bytes = 0

  constructor({ burst, perMinute }: Quota, maxBytes: number = MAX_BYTES) {
    this.#stepMs = 60_000 / perMinute
    this.#burstMs = burst * this.#stepMs
    this.#maxBytes = maxBytes
  }

  /** Buckets that are not known to be full. */
  get size(): number { return this.#fullAt.size }

  take(key: string, cost: number, nowMs: number): Taken {
    const owedMs = Math.max(0, (this.#fullAt.get(key) ?? nowMs) - nowMs)
    // What is more than a whole bucket would never fit.
    const wantedMs = Math.min(owedMs + cost * this.#stepMs, owedMs + this.#burstMs)
    // A thousandth of a millisecond for the roundings of the clock.
    const allowed = wantedMs <= this.#burstMs + 0.001
    const heldMs = allowed ? wantedMs : owedMs
    this.#keep(key, nowMs + heldMs)
    return {
      allowed,
      remaining: Math.max(0, Math.floor((this.#burstMs - heldMs + 0.001) / this.#stepMs)),
      resetMs: allowed ? heldMs : wantedMs - this.#burstMs,
    }
  }

  /** The last that was asked for stands last. */
  #keep(key: string, fullAt: number): void {
    if (!this.#fullAt.delete(key)) this.#bytes += bytesOf(key)
    this.#fullAt.set(key, fullAt)
    if (this.#bytes <= this.#maxBytes) return
    for (const oldest of this.#fullAt.keys()) {
      if (this.#bytes <= this.#maxBytes || oldest === key) return
      this.#fullAt.delete(oldest)
      this.#bytes -= bytesOf(oldest)
    }
  }
}

function bytesOf(key: string): number {
  return key.length * 2 + ENTRY_BYTES
}

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
  /** Counts for one caller; undefined where there is no such limit. */
  take(what: Counted, caller: string, cost: number): Count | undefined
}

/**
 * Makes the limits. Throws `TypeError` for what limits nothing, and for numbers that cannot be.
 * `now` is a monotonic clock in milliseconds.
 */
export function createRateLimits(
  options: RateLimit, now: () => number = () => performance.now(),
): RateLimits {
  const { perMinute, burst, initializePerMinute } = requireRateLimit(options)
  const call = limitOf('calls', 'Too many calls', perMinute, burst)
  const initialize = limitOf('initialize', 'Too many handshakes', initializePerMinute)

  return {
    take(what, caller, cost) {
      const limit = what === 'call' ? call : initialize
      return limit === undefined ? undefined : countOf(limit, limit.counter.take(caller, cost, now()))
    },
  }
}

function limitOf(name: string, sentence: string, perMinute?: number, burst = perMinute): Limit | undefined {
  if (perMinute === undefined || burst === undefined) return undefined
  const policy = `"${name}";q=${burst};w=${Math.ceil(60 * burst / perMinute)}`
  return { name, sentence, policy, counter: new Buckets({ burst, perMinute }) }
}

function countOf({ name, policy, sentence }: Limit, { allowed, remaining, resetMs }: Taken): Count {
  const seconds = Math.ceil(resetMs / 1_000)
  const headers = ['RateLimit-Policy', policy, 'RateLimit', `"${name}";r=${remaining};t=${seconds}`]
  if (allowed) return { headers, overuse: undefined }
  const detail = `${sentence}; try again in ${seconds} s`
  return { headers, overuse: { detail, headers: ['Retry-After', String(seconds), ...headers] } }
}

const members: readonly string[] = ['perMinute', 'burst', 'initializePerMinute']

function requireRateLimit(options: RateLimit): RateLimit {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('rateLimit is no object; write { perMinute: 60 }')
  }
  for (const [member, value] of Object.entries(options)) {
    if (!members.includes(member)) {
      throw new TypeError(`rateLimit has '${member}'; it takes ${members.join(', ')}`)
    }
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
