/** Token buckets that several processes count in one store. */
import { createHash } from 'node:crypto'
import { BoundedMap } from '../../kernel/util/bounded-map.ts'
import { Buckets, Filling, keyBytes, MAX_KEYS_BYTES } from '../../kernel/util/buckets.ts'
import type { Store, StoreKey } from '../../kernel/store/store.ts'
import type { BucketSize, Counter, Taken } from '../../kernel/util/buckets.ts'

/** A shared store, and whether it can be reached. */
export interface SharedPlace extends Pick<Store, 'read' | 'write'> { readonly isUnavailable: boolean }

/** The part of a bucket that a process reserves at a time is 1/8. */
const SHARES = 8
/** A process that loses so many races gives up. */
const MAX_TRIES = 8
/** A clock with more skew cannot be used. */
const MAX_SKEW_MS = 60_000

/** One caller in this process. */
interface Share {
  /** Reserved tokens, and the time of the last reservation. */
  tokens: number
  reservedAt: number
  /** The store's entry when last seen: others can only have made it later. */
  fullAt: number
  version: number
  pending: Promise<void> | undefined
}

/**
 * Buckets in a shared store: each process reserves 1/8 of a bucket at a time by compare-and-set, and spends
 * it without asking the store. Over any time all processes together allow what the limit says, give or take
 * an eighth of the burst each.
 *
 * One entry per caller holds the time at which its bucket is full, by the clocks of the hosts: a skew of a
 * second shifts the limit by what a second refills. While the store cannot be reached, each process counts
 * alone.
 */
export class SharedBuckets implements Counter {
  readonly #name: string
  readonly #filling: Filling
  readonly #store: SharedPlace
  readonly #wall: () => number
  readonly #shares: BoundedMap<Share>
  /** What this process has allowed, for the time without the store. */
  readonly #own: Buckets

  constructor(
    name: string, quota: BucketSize, store: SharedPlace, wall: () => number = () => Date.now(),
    maxBytes: number = MAX_KEYS_BYTES,
  ) {
    this.#name = name
    this.#filling = new Filling(quota)
    this.#store = store
    this.#wall = wall
    this.#shares = new BoundedMap<Share>(maxBytes, keyBytes)
    this.#own = new Buckets(quota, maxBytes)
  }

  get size(): number { return this.#shares.size }

  take(key: string, cost: number, nowMs: number): Taken | Promise<Taken> {
    if (this.#store.isUnavailable) return this.#own.take(key, cost, nowMs)
    const share = this.#shareOf(key)
    return this.#settle(share, key, cost, nowMs) ?? this.#wait(share, key, cost, nowMs)
  }

  /** The result without the store; undefined where it must be asked. */
  #settle(share: Share, key: string, cost: number, nowMs: number): Taken | undefined {
    const filling = this.#filling
    const wallMs = this.#wall()
    const owedMs = Math.max(0, share.fullAt - wallMs)
    // By now they would be refilled: they are not saved up.
    if (wallMs - share.reservedAt >= filling.burstMs) share.tokens = 0
    const missing = Math.min(cost, filling.burst) - share.tokens
    const isThere = missing <= 0
    const lateMs = filling.lacking(owedMs, missing)
    if (!isThere && lateMs === 0) return undefined
    if (isThere) {
      share.tokens = -missing
      this.#own.take(key, cost, nowMs)
    }
    return {
      allowed: isThere,
      remaining: share.tokens + filling.free(owedMs),
      resetMs: isThere ? Math.max(0, owedMs - share.tokens * filling.stepMs) : lateMs,
    }
  }

  async #wait(share: Share, key: string, cost: number, nowMs: number): Promise<Taken> {
    const wanted = Math.min(cost, this.#filling.burst)
    for (;;) {
      try {
        await (share.pending ??= this.#reserve(share, this.#placeOf(key), wanted - share.tokens))
      } catch {
        return this.#own.take(key, cost, nowMs)
      }
      const taken = this.#settle(share, key, cost, nowMs)
      if (taken !== undefined) return taken
    }
  }

  #reserve(share: Share, place: StoreKey, missing: number): Promise<void> {
    return this.#setAside(share, place, missing).finally(() => { share.pending = undefined })
  }

  /** Reserves at least so many tokens, or learns that they are missing. */
  async #setAside(share: Share, place: StoreKey, missing: number): Promise<void> {
    const filling = this.#filling
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const wallMs = this.#wall()
      const owedMs = Math.max(0, share.fullAt - wallMs)
      if (filling.lacking(owedMs, missing) > 0) return
      const part = Math.floor(filling.burst / SHARES)
      const count = Math.max(missing, Math.min(filling.free(owedMs), part))
      const fullAt = wallMs + owedMs + count * filling.stepMs
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
      // What is no number is written over.
      const known = Number(entry?.value ?? 0) || 0
      if (known - wallMs > filling.burstMs + MAX_SKEW_MS) throw new RangeError('The clock of a host is off')
      share.version = entry?.version ?? 0
      share.fullAt = known
    }
    throw new RangeError('Others were always faster')
  }

  #placeOf(key: string): StoreKey {
    // No principal has this name: where the store is full, entries of callers replace each other only.
    const digest = createHash('sha256').update(key).digest('base64url')
    return { collection: 'rate', owner: '#rate', key: `${this.#name} ${digest}` }
  }

  #shareOf(key: string): Share {
    const share = this.#shares.get(key)
      ?? { tokens: 0, reservedAt: 0, fullAt: 0, version: 0, pending: undefined }
    this.#shares.set(key, share)
    return share
  }
}
