/**
 * How many may do something at one time, in all and for one owner, so that receivers and name servers that do
 * not answer delay only their own owner. Owners who wait get slots in rotation; for one owner, the one that
 * asked first.
 */
import { PlainLease, Quota } from '../../kernel/util/quota.ts'

/** For how many there is room, and how many more may wait; left out, any number. */
export interface SlotLimits {
  readonly max: number
  readonly maxPerOwner: number
  readonly maxWaiting?: number
  readonly maxWaitingPerOwner?: number
}

/** Gives a slot back, once. */
export type Leave = () => void

type Waiters = Set<() => void>

export class FairSlots {
  readonly #limits: SlotLimits
  readonly #quota: Quota
  /** Owners who wait; the one who got a slot last is the last. */
  readonly #waiting = new Map<string, Waiters>()

  constructor(name: string, limits: SlotLimits) {
    this.#limits = limits
    this.#quota = new Quota(name, limits.max)
  }

  get taken(): number { return this.#quota.used }

  get waiting(): number {
    let count = 0
    for (const waiters of this.#waiting.values()) count += waiters.size
    return count
  }

  /**
   * Resolves when there is a slot, to what gives it back. Undefined, and nothing is taken, where `signal`
   * aborts before, and where too many wait already.
   */
  async enter(owner: string, signal: AbortSignal): Promise<Leave | undefined> {
    if (signal.aborted) return undefined
    const { maxWaiting = Infinity, maxWaitingPerOwner = Infinity } = this.#limits
    if (this.#hasRoom(owner)) return this.#take(owner)
    const waiters: Waiters = this.#waiting.get(owner) ?? new Set()
    if (waiters.size >= maxWaitingPerOwner || this.waiting >= maxWaiting) return undefined
    this.#waiting.set(owner, waiters)
    return new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end)
        waiters.delete(come)
        if (waiters.size === 0) this.#waiting.delete(owner)
        resolve(undefined)
      }
      const come = (): void => {
        resolve(this.#take(owner))
        end()
      }
      signal.addEventListener('abort', end)
      waiters.add(come)
    })
  }

  #hasRoom(owner: string): boolean {
    if (this.#quota.isFull) return false
    let own = 0
    for (const { caller } of this.#quota.leases) if (caller === owner) own++
    return own < this.#limits.maxPerOwner
  }

  #take(owner: string): Leave {
    const lease = new PlainLease(owner)
    this.#quota.add(lease, 1)
    return () => {
      lease.close()
      this.#admit()
    }
  }

  #admit(): void {
    for (const [owner, waiters] of [...this.#waiting]) {
      if (this.#quota.isFull) return
      if (!this.#hasRoom(owner)) continue
      const [first] = waiters
      this.#waiting.delete(owner)
      this.#waiting.set(owner, waiters)
      first?.()
    }
  }
}
