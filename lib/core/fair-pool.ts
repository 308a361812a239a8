/**
 * Values of many owners within one bound, in number and in bytes. When there is no room, the owner that holds
 * most makes it, its oldest value first: nobody can push out what another keeps by keeping more themselves.
 */
import { Queue } from './queue.ts'
import { Share, Shares } from './shares.ts'
import type { Queued } from './queue.ts'

/** What a pool may hold. */
export interface PoolLimits { readonly maxCount: number; readonly maxBytes: number }

/** A value in its place. Only the pool writes its members. */
export interface Slot<T> extends Queued<Slot<T>> {
  readonly value: T
  readonly holding: Holding<T>
  bytes: number
}

/** What one owner holds, the value that was used longest ago first. */
class Holding<T> {
  readonly owner: string
  readonly slots: Queue<Slot<T>> = new Queue()
  readonly share: Share<Holding<T>> = new Share<Holding<T>>(this)

  constructor(owner: string) {
    this.owner = owner
  }
}

/** All values of one pool. */
export class FairPool<T> {
  readonly #limits: PoolLimits
  readonly #onEvict: (value: T) => void
  readonly #mayEvict: (value: T) => boolean
  readonly #holdings = new Map<string, Holding<T>>()
  readonly #shares: Shares<Holding<T>>

  /** `onEvict` is told of each value that had to make room; `mayEvict` says whether a value can. */
  constructor(limits: PoolLimits, onEvict: (value: T) => void, mayEvict: (value: T) => boolean = () => true) {
    this.#limits = limits
    this.#shares = new Shares(limits.maxCount, limits.maxBytes)
    this.#onEvict = onEvict
    this.#mayEvict = mayEvict
  }

  get count(): number { return this.#shares.count }
  get bytes(): number { return this.#shares.bytes }

  /**
   * Adds a value of an owner and makes room for it. A value for which there is no room is not kept:
   * undefined.
   */
  add(owner: string, value: T, bytes: number): Slot<T> | undefined {
    if (bytes > this.#limits.maxBytes) return undefined
    let holding = this.#holdings.get(owner)
    if (holding === undefined) this.#holdings.set(owner, holding = new Holding(owner))
    const slot: Slot<T> = { value, holding, bytes, previous: undefined, next: undefined }
    holding.slots.add(slot)
    this.#shares.change(holding.share, 1, bytes)
    this.#makeRoom(slot)
    if (!this.#shares.isOver) return slot
    this.remove(slot)
    return undefined
  }

  /** A value's size has changed; others make room where it has grown. */
  resize(slot: Slot<T>, bytes: number): void {
    this.#shares.change(slot.holding.share, 0, bytes - slot.bytes)
    slot.bytes = bytes
    this.#makeRoom(slot)
  }

  /** A value was used: the owner's others make room before it. */
  touch(slot: Slot<T>): void {
    slot.holding.slots.remove(slot)
    slot.holding.slots.add(slot)
  }

  /** Takes a value out. */
  remove(slot: Slot<T>): void {
    const { holding } = slot
    holding.slots.remove(slot)
    this.#shares.change(holding.share, -1, -slot.bytes)
    if (holding.share.count === 0) this.#holdings.delete(holding.owner)
  }

  /** An owner's values, the one that was used last first. */
  * of(owner: string): Generator<T> {
    let slot = this.#holdings.get(owner)?.slots.last
    for (; slot !== undefined; slot = slot.previous) yield slot.value
  }

  /** Takes out the oldest value of an owner that holds most bytes. False where there is none that may go. */
  evict(): boolean {
    return this.#evict(true, undefined)
  }

  #makeRoom(keep: Slot<T>): void {
    while (this.#shares.isOver) if (!this.#evict(this.#shares.isHeavy, keep)) return
  }

  #evict(isByBytes: boolean, keep: Slot<T> | undefined): boolean {
    for (const { slots } of this.#shares.largestFirst(isByBytes)) {
      for (let slot = slots.first; slot !== undefined; slot = slot.next) {
        if (slot === keep || !this.#mayEvict(slot.value)) continue
        this.remove(slot)
        this.#onEvict(slot.value)
        return true
      }
    }
    return false
  }
}
