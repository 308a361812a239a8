/**
 * Token buckets, one for each caller, that fill at a steady rate.
 *
 * A bucket is one number, the time at which it is full again.
 */
import { BoundedMap } from './bounded-map.ts'
import type { MaybePromise } from './thenable.ts'

export interface Taken {
  readonly allowed: boolean
  /** Whole tokens that are left. */
  readonly remaining: number
  /** Until a token is there, where there was none; else until the bucket is full. */
  readonly resetMs: number
}

/** Where tokens are counted: in this process, or by several together. */
export interface Counter {
  /** Takes `cost` tokens from the bucket of `key`, or none where there are too few. */
  take(key: string, cost: number, nowMs: number): MaybePromise<Taken>
}

export interface BucketSize { readonly burst: number; readonly perMinute: number }

/** Makes what counts under a name. */
export type MakeCounter = (name: string, size: BucketSize) => Counter

/** Bytes of all keys; the one that was asked for longest ago goes first. */
export const MAX_KEYS_BYTES: number = 8 * 1024 * 1024
const ENTRY_BYTES = 128
/** Tolerance for the rounding of clocks. */
const ROUNDING_MS = 0.001

/** How a bucket fills. `owedMs`: how long it takes until it is full. */
export class Filling {
  readonly burst: number
  readonly burstMs: number
  readonly stepMs: number

  constructor({ burst, perMinute }: BucketSize) {
    this.burst = burst
    this.stepMs = 60_000 / perMinute
    this.burstMs = burst * this.stepMs
  }

  /** Whole tokens that are there. */
  free(owedMs: number): number {
    return Math.max(0, Math.floor((this.burstMs - owedMs + ROUNDING_MS) / this.stepMs))
  }

  /** Milliseconds until so many tokens are there; zero where they are. */
  lacking(owedMs: number, tokens: number): number {
    const lackingMs = owedMs + tokens * this.stepMs - this.burstMs
    return lackingMs > ROUNDING_MS ? lackingMs : 0
  }
}

export function keyBytes(_value: unknown, key: string): number {
  return key.length * 2 + ENTRY_BYTES
}

export class Buckets implements Counter {
  readonly #filling: Filling
  readonly #fullAt: BoundedMap<number>

  constructor(size: BucketSize, maxBytes: number = MAX_KEYS_BYTES) {
    this.#filling = new Filling(size)
    this.#fullAt = new BoundedMap<number>(maxBytes, keyBytes)
  }

  get size(): number { return this.#fullAt.size }

  take(key: string, cost: number, nowMs: number): Taken {
    const filling = this.#filling
    const owedMs = this.#owed(key, nowMs)
    // A cost above a whole bucket would never fit.
    const tokens = Math.min(cost, filling.burst)
    const lateMs = filling.lacking(owedMs, tokens)
    const allowed = lateMs === 0
    const heldMs = allowed ? owedMs + tokens * filling.stepMs : owedMs
    this.#fullAt.set(key, nowMs + heldMs)
    return { allowed, remaining: filling.free(heldMs), resetMs: allowed ? heldMs : lateMs }
  }

  /** Takes a missing token, up to `mostMs` of debt. Returns milliseconds until a token is there. */
  owe(key: string, nowMs: number, mostMs: number): number {
    const { burstMs, stepMs } = this.#filling
    this.#fullAt.set(key, nowMs + Math.min(this.#owed(key, nowMs) + stepMs, burstMs + mostMs))
    return this.lacking(key, nowMs)
  }

  /** Milliseconds until a token is there; zero where one is. Takes none. */
  lacking(key: string, nowMs: number): number {
    return this.#filling.lacking(this.#owed(key, nowMs), 1)
  }

  #owed(key: string, nowMs: number): number {
    return Math.max(0, (this.#fullAt.get(key) ?? nowMs) - nowMs)
  }
}
