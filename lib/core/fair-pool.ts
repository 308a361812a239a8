/**
 * Values of many owners within one bound, in number and in bytes. When there is no room, the owner that holds
 * most makes it, its oldest value first: nobody can push out what another keeps by keeping more themselves.
 *
 * Beside values a pool may keep texts, in slots, which count alike and of each owner make room first.
 */
import { Queue } from './queue.ts'
import { Share, Shares } from './shares.ts'
import { NO_SLOT, TextSlots } from './text-slots.ts'
import type { Queued } from './queue.ts'
import type { SlotHolder } from './text-slots.ts'

/** What a pool may hold. */
export interface PoolLimits { readonly maxCount: number; readonly maxBytes: number }

/** A value in its place. Only the pool writes its members. */
export interface Slot<T> extends Queued<Slot<T>> {
  readonly value: T
  readonly holding: Holding<T>
  bytes: number
}

/** Texts that were kept: under which id, whose, and since when. */
export interface KeptTexts {
  readonly id: string
  readonly owner: string
  readonly texts: readonly string[]
  readonly at: number
}

/** What one owner holds, the value that was used longest ago first. */
class Holding<T> implements SlotHolder {
  readonly owner: string
  firstSlot: number = NO_SLOT
  lastSlot: number = NO_SLOT
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
  readonly #texts: TextSlots<Holding<T>>

  /**
   * `onEvict` is told of each value that had to make room; `mayEvict` says whether a value can. Under each id
   * there are so many `texts`, with room for short ones in `cellBytes`.
   */
  constructor(
    limits: PoolLimits, onEvict: (value: T) => void, mayEvict: (value: T) => boolean = () => true,
    texts: number = 0, cellBytes: number = 0,
  ) {
    this.#limits = limits
    // They are there before others make room.
    this.#texts = new TextSlots(limits.maxCount + 1, texts, cellBytes)
    this.#shares = new Shares(limits.maxCount, limits.maxBytes)
    this.#onEvict = onEvict
    this.#mayEvict = mayEvict
  }

  get count(): number { return this.#shares.count }
  get bytes(): number { return this.#shares.bytes }
  /** How many are texts. */
  get textCount(): number { return this.#texts.count }

  /**
   * Adds a value of an owner and makes room for it. A value for which there is no room is not kept:
   * undefined.
   */
  add(owner: string, value: T, bytes: number): Slot<T> | undefined {
    if (bytes > this.#limits.maxBytes) return undefined
    const holding = this.#holdingOf(owner)
    const slot: Slot<T> = { value, holding, bytes, previous: undefined, next: undefined }
    holding.slots.add(slot)
    this.#shares.change(holding.share, 1, bytes)
    this.#makeRoom(slot, NO_SLOT)
    if (!this.#shares.isOver) return slot
    this.remove(slot)
    return undefined
  }

  /**
   * Adds texts of an owner, under an id of ours, and makes room for them. `moreBytes` count beside the texts;
   * `at` is when, and never before what was added last. False where there is no room.
   */
  addTexts(owner: string, id: string, texts: readonly string[], moreBytes: number, at: number): boolean {
    const holding = this.#holdingOf(owner)
    const slot = this.#texts.add(holding, id, texts, moreBytes, at)
    const bytes = this.#texts.bytesOf(slot)
    this.#shares.change(holding.share, 1, bytes)
    // What can never fit makes nobody else leave.
    if (bytes <= this.#limits.maxBytes) this.#makeRoom(undefined, slot)
    if (!this.#shares.isOver) return true
    this.#drop(slot)
    return false
  }

  /** The texts of an id, which are taken out. */
  takeTexts(id: string): KeptTexts | undefined {
    const slot = this.#texts.find(id)
    if (slot === NO_SLOT) return undefined
    const kept = this.#keptIn(slot)
    this.#drop(slot)
    return kept
  }

  /** An owner's texts, those that were added last first. */
  * textsOf(owner: string): Generator<KeptTexts> {
    const holding = this.#holdings.get(owner)
    if (holding === undefined) return
    for (const slot of this.#texts.of(holding)) yield this.#keptIn(slot)
  }

  /** Takes out all texts that were added at that time or before. */
  dropTexts(at: number): void {
    for (const holding of this.#holdings.values()) {
      while (holding.firstSlot !== NO_SLOT && this.#texts.begunAt(holding.firstSlot) <= at) {
        this.#drop(holding.firstSlot)
      }
    }
  }

  /** A value's size has changed; others make room where it has grown. */
  resize(slot: Slot<T>, bytes: number): void {
    this.#shares.change(slot.holding.share, 0, bytes - slot.bytes)
    slot.bytes = bytes
    this.#makeRoom(slot, NO_SLOT)
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
    this.#released(holding, slot.bytes)
  }

  /** An owner's values, the one that was used last first. */
  * of(owner: string): Generator<T> {
    let slot = this.#holdings.get(owner)?.slots.last
    for (; slot !== undefined; slot = slot.previous) yield slot.value
  }

  /** Takes out the oldest value of an owner that holds most bytes. False where there is none that may go. */
  evict(): boolean {
    return this.#evict(true, undefined, NO_SLOT)
  }

  #holdingOf(owner: string): Holding<T> {
    let holding = this.#holdings.get(owner)
    if (holding === undefined) this.#holdings.set(owner, holding = new Holding(owner))
    return holding
  }

  #keptIn(slot: number): KeptTexts {
    const texts = this.#texts
    const { owner } = texts.holderOf(slot)
    return { id: texts.idOf(slot), owner, texts: texts.textsOf(slot), at: texts.begunAt(slot) }
  }

  #drop(slot: number): void {
    const holding = this.#texts.holderOf(slot)
    const bytes = this.#texts.bytesOf(slot)
    this.#texts.remove(slot)
    this.#released(holding, bytes)
  }

  #released(holding: Holding<T>, bytes: number): void {
    this.#shares.change(holding.share, -1, -bytes)
    if (holding.share.count === 0) this.#holdings.delete(holding.owner)
  }

  /** All but what is in use: a value, or texts, which are the last of their owner's. */
  #makeRoom(keep: Slot<T> | undefined, kept: number): void {
    while (this.#shares.isOver) if (!this.#evict(this.#shares.isHeavy, keep, kept)) return
  }

  #evict(isByBytes: boolean, keep: Slot<T> | undefined, kept: number): boolean {
    for (const { slots, firstSlot } of this.#shares.largestFirst(isByBytes)) {
      if (firstSlot !== NO_SLOT && firstSlot !== kept) {
        this.#drop(firstSlot)
        return true
      }
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
