/**
 * What is taken and must come back: calls, bytes, streams, slots. A `Quota` is bounded, and knows every
 * `Lease` of it. A lease belongs to one lifetime (a request, a run, a stream, a session, a task) and ends
 * with it: closed, it holds nothing and takes nothing, so no late callback can take again or give back twice.
 *
 * A caller who is alone may use all of a quota. Once it is used up, only those who hold less than an equal
 * part of it still get something, up to half as much again in all: so one caller cannot lock the others out.
 */
import diagnostics from 'node:diagnostics_channel'
import { LinkedList } from './linked-list.ts'
import type { LinkedMember } from './linked-list.ts'

/** What there is beyond the bound of a quota, as a part of it. */
export const BEYOND: number = 1 / 2

/** Each quota that is made is published here; tests look whether all of it comes back. */
const made = diagnostics.channel('triport:quota')

/** Who asks for something. All that one caller holds is counted together: the text is always the same. */
export interface Asker { readonly caller: string }

/**
 * What one lifetime holds of one quota.
 *
 * Its members are written by its constructor: as fields of a class that so many extend, each of which has a
 * shape of its own, they would take the engine ten times as long.
 */
export abstract class Lease implements LinkedMember<Lease>, Asker {
  /** How much is held now; only the quota writes it, and the members below. */
  declare amount: number
  declare quota: Quota | undefined
  declare previous: Lease | undefined
  declare next: Lease | undefined
  /** Only the lease writes these. */
  declare users: number
  declare isEnded: boolean

  constructor() {
    this.amount = 0
    this.quota = undefined
    this.previous = undefined
    this.next = undefined
    this.users = 1
    this.isEnded = false
  }

  abstract readonly caller: string

  /** Whether nothing is held any more, and nothing can be taken. */
  get isClosed(): boolean { return this.users === 0 }

  /** Keeps it open after its end until `release`, once for each call: a run may outlive its request. */
  retain(): void {
    if (!this.isClosed) this.users++
  }

  release(): void {
    if (this.isClosed || --this.users > 0) return
    this.quota?.add(this, -this.amount)
  }

  /** Its lifetime has ended. Called again, it does nothing. */
  close(): void {
    if (this.isEnded) return
    this.isEnded = true
    this.release()
  }
}

/** A lease that is nothing else. */
export class PlainLease extends Lease {
  readonly caller: string

  constructor(caller: string) {
    super()
    this.caller = caller
  }
}

/** One bounded thing, and all that is leased of it. */
export class Quota {
  readonly name: string
  readonly max: number
  readonly #leases = new LinkedList<Lease>()
  #used = 0
  /** Kept from when the bound is reached until half of it is free again: until then it costs nothing. */
  #byCaller: Map<string, number> | undefined

  constructor(name: string, max: number) {
    this.name = name
    this.max = max
    if (made.hasSubscribers) made.publish(this)
  }

  /** How much is held in all. */
  get used(): number { return this.#used }

  get isFull(): boolean { return this.#used >= this.max }

  /** All leases that hold something, the oldest first. The one that was yielded last may close meanwhile. */
  get leases(): Iterable<Lease> { return this.#leases }

  /** Whether `asker` may have so much more, where all together may hold `max`. */
  hasRoom(asker: Asker, more: number, max: number = this.max): boolean {
    const used = this.#used + more
    if (more <= 0 || used <= max) return true
    return used <= max * (1 + BEYOND) && this.#isFairFor(asker.caller, more, max)
  }

  /** Takes so much more for a lease. False, and nothing is taken, where there is no room or it is closed. */
  take(lease: Lease, more: number, max: number = this.max): boolean {
    if (lease.isClosed || !this.hasRoom(lease, more, max)) return false
    this.add(lease, more)
    return true
  }

  /**
   * Counts so much more, or less, whether or not there is room: what is there already can only be counted.
   * Of a closed lease only what it gives back.
   */
  add(lease: Lease, more: number): void {
    if (more === 0 || (more > 0 && lease.isClosed)) return
    if (lease.amount === 0) {
      lease.quota = this
      this.#leases.add(lease)
    }
    lease.amount += more
    this.#used += more
    if (lease.amount === 0) this.#leases.remove(lease)
    if (this.#byCaller === undefined) return
    if (this.#used < this.max / 2) this.#byCaller = undefined
    else count(this.#byCaller, lease.caller, more)
  }

  #isFairFor(caller: string, more: number, max: number): boolean {
    const byCaller = this.#byCaller ??= this.#count()
    const own = byCaller.get(caller)
    const callers = own === undefined ? byCaller.size + 1 : byCaller.size
    return (own ?? 0) + more <= max / callers
  }

  #count(): Map<string, number> {
    const byCaller = new Map<string, number>()
    for (const { caller, amount } of this.#leases) count(byCaller, caller, amount)
    return byCaller
  }
}

function count(byCaller: Map<string, number>, caller: string, more: number): void {
  const amount = (byCaller.get(caller) ?? 0) + more
  if (amount === 0) byCaller.delete(caller)
  else byCaller.set(caller, amount)
}
