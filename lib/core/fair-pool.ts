/**
 * Values of many owners within one bound, in number and in bytes. When there is no room, the owner that holds
 * most makes it, its oldest value first: nobody can push out what another keeps by keeping more themselves.
 *
 * Owners are sorted into classes of twice the size each, so that finding one that holds most takes constant
 * time; within a class the difference is less than half.
 */
import { Queue } from './queue.ts'
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
interface Holding<T> {
  readonly owner: string
  readonly slots: Queue<Slot<T>>
  count: number
  bytes: number
  byCount: number
  byBytes: number
}

/** All values of one pool. */
export class FairPool<T> {
  readonly #limits: PoolLimits
  readonly #onEvict: (value: T) => void
  readonly #mayEvict: (value: T) => boolean
  readonly #holdings = new Map<string, Holding<T>>()
  readonly #byCount = new SizeClasses<Holding<T>>()
  readonly #byBytes = new SizeClasses<Holding<T>>()
  #count = 0
  #bytes = 0

  /** `onEvict` is told of each value that had to make room; `mayEvict` says whether a value can. */
  constructor(limits: PoolLimits, onEvict: (value: T) => void, mayEvict: (value: T) => boolean = () => true) {
    this.#limits = limits
    this.#onEvict = onEvict
    this.#mayEvict = mayEvict
  }

  get count(): number { return this.#count }
  get bytes(): number { return this.#bytes }

  /** Adds a value of an owner and makes room for it. A value for which there is no room is not kept: undefined. */
  add(owner: string, value: T, bytes: number): Slot<T> | undefined {
    if (bytes > this.#limits.maxBytes) return undefined
    let holding = this.#holdings.get(owner)
    if (holding === undefined) {
      holding = { owner, slots: new Queue(), count: 0, bytes: 0, byCount: -1, byBytes: -1 }
      this.#holdings.set(owner, holding)
    }
    const slot: Slot<T> = { value, holding, bytes: 0, previous: undefined, next: undefined }
    holding.slots.add(slot)
    holding.count++
    this.#count++
    this.resize(slot, bytes)
    if (!this.#isOver) return slot
    this.remove(slot)
    return undefined
  }

  /** A value's size has changed; others make room where it has grown. */
  resize(slot: Slot<T>, bytes: number): void {
    slot.holding.bytes += bytes - slot.bytes
    this.#bytes += bytes - slot.bytes
    slot.bytes = bytes
    this.#sort(slot.holding)
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
    holding.count--
    holding.bytes -= slot.bytes
    this.#count--
    this.#bytes -= slot.bytes
    this.#sort(holding)
    if (holding.count === 0) this.#holdings.delete(holding.owner)
  }

  /** An owner's values, the one that was used last first. */
  * of(owner: string): Generator<T> {
    let slot = this.#holdings.get(owner)?.slots.last
    for (; slot !== undefined; slot = slot.previous) yield slot.value
  }

  #sort(holding: Holding<T>): void {
    holding.byCount = this.#byCount.put(holding, holding.byCount, holding.count)
    holding.byBytes = this.#byBytes.put(holding, holding.byBytes, holding.bytes)
  }

  /** Takes out the oldest value of an owner that holds most bytes. False where there is none that may go. */
  evict(): boolean {
    return this.#evictFrom(this.#byBytes, undefined)
  }

  get #isOver(): boolean {
    return this.#count > this.#limits.maxCount || this.#bytes > this.#limits.maxBytes
  }

  #makeRoom(keep: Slot<T>): void {
    while (this.#isOver) {
      const isHeavy = this.#bytes > this.#limits.maxBytes
      if (!this.#evictFrom(isHeavy ? this.#byBytes : this.#byCount, keep)) return
    }
  }

  #evictFrom(classes: SizeClasses<Holding<T>>, keep: Slot<T> | undefined): boolean {
    for (const { slots } of classes.largestFirst()) {
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

/** Things sorted by the power of two that their size lies under. */
class SizeClasses<T> {
  readonly #classes: Set<T>[] = []

  /** Puts a thing where its size belongs, out of the class that it was in (-1: none). Returns its class. */
  put(thing: T, before: number, size: number): number {
    const now = size === 0 ? -1 : Math.ceil(Math.log2(size + 1))
    if (now === before) return now
    this.#classes[before]?.delete(thing)
    if (now < 0) return now
    while (this.#classes.length <= now) this.#classes.push(new Set())
    this.#classes[now]!.add(thing)
    return now
  }

  * largestFirst(): Generator<T> {
    for (let at = this.#classes.length - 1; at >= 0; at--) yield* this.#classes[at]!
  }
}
