import { createHash } from 'node:crypto'
import type { Store, StoreKey } from '../../state/store.ts'
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

/** A store that is shared, and whether it can be reached. */
export interface SharedPlace extends Pick<Store, 'read' | 'write'> { readonly isUnavailable: boolean }

/** What of a bucket this process sets aside at one time. */
const SHARES = 8
/** Whoever loses a race so often leaves it. */
const MAX_TRIES = 8
/** A clock that is further off than this is no clock to count by. */
const MAX_SKEW_MS = 60_000

/** One caller, as this process sees it. */
interface Share {
  /** Tokens set aside, and when the last of them were. */
  tokens: number
  reservedAt: number
  /** The entry of the store when it was last seen: others can only have made it later since. */
  fullAt: number
  version: number
  /** While more tokens are being set aside. */
  pending: Promise<void> | undefined
}

/** Buckets in a store. Which of several limits they are of is told by a name. */
export class SharedBuckets implements Counter {
  readonly #name: string
  readonly #burst: number
  readonly #burstMs: number
  readonly #stepMs: number
  readonly #store: SharedPlace
  readonly #wall: () => number
  readonly #maxBytes: number
  readonly #shares = new Map<string, Share>()
  /** What this process has let through, for the time in which it is alone. */
  readonly #own: Buckets
  #bytes = 0

  constructor(
    name: string, quota: BucketSize, store: SharedPlace, wall: () => number, maxBytes: number = MAX_BYTES,
  ) {
    this.#name = name
    this.#burst = quota.burst
    this.#stepMs = 60_000 / quota.perMinute
    this.#burstMs = quota.burst * this.#stepMs
    this.#store = store
    this.#wall = wall
    this.#maxBytes = maxBytes
    this.#own = new Buckets(quota, maxBytes)
  }

  /** Callers that are remembered here. */
  get size(): number { return this.#shares.size }

  take(key: string, cost: number, nowMs: number): Taken | Promise<Taken> {
    if (this.#store.isUnavailable) return this.#own.take(key, cost, nowMs)
    const share = this.#shareOf(key)
    return this.#settle(share, key, cost, nowMs) ?? this.#wait(share, key, cost, nowMs)
  }

  /** What can be told without the store; undefined where it has to be asked. */
  #settle(share: Share, key: string, cost: number, nowMs: number): Taken | undefined {
    const wallMs = this.#wall()
    const owedMs = Math.max(0, share.fullAt - wallMs)
    // By then they would have flowed in again: they are not saved up.
    if (wallMs - share.reservedAt >= this.#burstMs) share.tokens = 0
    // What is more than a whole bucket would never fit.
    const missing = Math.min(cost, this.#burst) - share.tokens
    const isThere = missing <= 0
    const lateMs = owedMs + missing * this.#stepMs - this.#burstMs
    if (!isThere && lateMs <= ROUNDING_MS) return undefined
    if (isThere) {
      share.tokens = -missing
      this.#own.take(key, cost, nowMs)
    }
    const free = Math.max(0, Math.floor((this.#burstMs - owedMs + ROUNDING_MS) / this.#stepMs))
    return {
      allowed: isThere,
      remaining: share.tokens + free,
      resetMs: isThere ? Math.max(0, owedMs - share.tokens * this.#stepMs) : lateMs,
    }
  }

  async #wait(share: Share, key: string, cost: number, nowMs: number): Promise<Taken> {
    for (;;) {
      try {
        await (share.pending ??= this.#reserve(share, key, Math.min(cost, this.#burst) - share.tokens))
      } catch {
        return this.#own.take(key, cost, nowMs)
      }
      const taken = this.#settle(share, key, cost, nowMs)
      if (taken !== undefined) return taken
    }
  }

  async #reserve(share: Share, key: string, missing: number): Promise<void> {
    try {
      await this.#setAside(share, this.#placeOf(key), missing)
    } finally {
      share.pending = undefined
    }
  }

  /** Sets aside so many tokens at least, or learns that they are not there. */
  async #setAside(share: Share, place: StoreKey, missing: number): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const wallMs = this.#wall()
      const owedMs = Math.max(0, share.fullAt - wallMs)
      if (owedMs + missing * this.#stepMs - this.#burstMs > ROUNDING_MS) return
      const free = Math.floor((this.#burstMs - owedMs + ROUNDING_MS) / this.#stepMs)
      const count = Math.max(missing, Math.min(free, Math.floor(this.#burst / SHARES)))
      const fullAt = wallMs + owedMs + count * this.#stepMs
      const keepMs = Math.ceil(fullAt - wallMs)
      const version = await this.#store.write(place, String(fullAt), keepMs, share.version)
      if (version !== undefined) {
        share.version = version
        share.fullAt = fullAt
        share.tokens += count
        share.reservedAt = wallMs
        return
      }
      const entry = await this.#store.read(place)
      const known = Number(entry?.value ?? 0)
      if (known - wallMs > this.#burstMs + MAX_SKEW_MS) throw new RangeError('The clock of a host is off')
      share.version = entry?.version ?? 0
      share.fullAt = known
    }
    throw new RangeError('Others were always faster')
  }

  #placeOf(key: string): StoreKey {
    // No principal is called so: where there is no room, callers make room for each other, never others.
    const digest = createHash('sha256').update(key).digest('base64url')
    return { collection: 'rate', owner: '#rate', key: `${this.#name} ${digest}` }
  }

  /** The last that was asked for stands last. */
  #shareOf(key: string): Share {
    const known = this.#shares.get(key)
    const share = known ?? { tokens: 0, reservedAt: 0, fullAt: 0, version: 0, pending: undefined }
    if (known === undefined) this.#bytes += keyBytes(key)
    else this.#shares.delete(key)
    this.#shares.set(key, share)
    for (const oldest of this.#shares.keys()) {
      if (this.#bytes <= this.#maxBytes || oldest === key) break
      this.#shares.delete(oldest)
      this.#bytes -= keyBytes(oldest)
    }
    return share
  }
}
