import type { MaybePromise } from '../../util/thenable.ts'
/**
 * Buckets of tokens, one for each caller, that fill at a steady rate.
 *
 * A bucket is one number, the time at which it is full again; a full one is not kept at all.
 */

/** What came of counting. */
export interface Taken {
  readonly allowed: boolean
  /** Whole tokens that are left. */
  readonly remaining: number
  /** Until there is room again where there was none; until all is there again where there was. */
  readonly resetMs: number
}

/** Where tokens are counted: in this process's memory, or in a store that processes share. */
export interface Counter {
  /** Takes `cost` tokens from the bucket of `key`, or none where so many are not there. */
  take(key: string, cost: number, nowMs: number): MaybePromise<Taken>
}

/** What one bucket holds, and how fast it fills. */
export interface BucketSize { readonly burst: number; readonly perMinute: number }

/** What the keys of all buckets may take. The one that was not asked for longest goes first. */
export const MAX_BYTES: number = 8 * 1024 * 1024
const ENTRY_BYTES = 128
/** For the roundings of the clock. */
export const ROUNDING_MS: number = 0.001

/** Buckets in this process's memory. */
export class Buckets implements Counter {
  readonly #burstMs: number
  readonly #stepMs: number
  readonly #maxBytes: number
  readonly #fullAt = new Map<string, number>()
  #bytes = 0

  constructor({ burst, perMinute }: BucketSize, maxBytes: number = MAX_BYTES) {
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
    const allowed = wantedMs <= this.#burstMs + ROUNDING_MS
    const heldMs = allowed ? wantedMs : owedMs
    this.#keep(key, nowMs + heldMs)
    return {
      allowed,
      remaining: Math.max(0, Math.floor((this.#burstMs - heldMs + ROUNDING_MS) / this.#stepMs)),
      resetMs: allowed ? heldMs : wantedMs - this.#burstMs,
    }
  }

  /** Takes a token that is not there, `mostMs` of debt at most: milliseconds until one is there again. */
  owe(key: string, nowMs: number, mostMs: number): number {
    const owedMs = Math.max(0, (this.#fullAt.get(key) ?? nowMs) - nowMs)
    this.#keep(key, nowMs + Math.min(owedMs + this.#stepMs, this.#burstMs + mostMs))
    return this.lacking(key, nowMs)
  }

  /** Milliseconds until a token is there; zero where one is. Takes none. */
  lacking(key: string, nowMs: number): number {
    const owedMs = Math.max(0, (this.#fullAt.get(key) ?? nowMs) - nowMs)
    const lackingMs = owedMs + this.#stepMs - this.#burstMs
    return lackingMs > ROUNDING_MS ? lackingMs : 0
  }

  /** The last that was asked for stands last. */
  #keep(key: string, fullAt: number): void {
    if (!this.#fullAt.delete(key)) this.#bytes += keyBytes(key)
    this.#fullAt.set(key, fullAt)
    if (this.#bytes <= this.#maxBytes) return
    for (const oldest of this.#fullAt.keys()) {
      if (this.#bytes <= this.#maxBytes || oldest === key) return
      this.#fullAt.delete(oldest)
      this.#bytes -= keyBytes(oldest)
    }
  }
}

/** What the bucket of a key takes. */
export function keyBytes(key: string): number {
  return key.length * 2 + ENTRY_BYTES
}
