/**
 * Values of many owners within one bound, in number and in bytes. Where there is no room, the owner that
 * holds most loses its oldest value, so no one can push out another's values by keeping more themselves.
 * Beside values a pool may keep texts, which count alike and of each owner go first.
 */
import { LinkedList } from '../../kernel/util/linked-list.ts'
import { Share, Shares } from './shares.ts'
import { NO_SLOT, TextSlots } from './text-slots.ts'
import type { LinkedMember } from '../../kernel/util/linked-list.ts'
import type { SlotHolder } from './text-slots.ts'

export interface PoolLimits { readonly maxCount: number; readonly maxBytes: number }

/** A value in a pool, which alone writes its members. */
export interface Slot<T> extends LinkedMember<Slot<T>> {
  readonly value: T
  readonly holding: Holding<T>
  bytes: number
}

/**
 * Kept texts: under which id, since when, and of which kind. Read on demand, as long as nothing is added or
 * removed.
 */
export class KeptTexts<Tag> {
  readonly #slots: TextSlots<SlotHolder, Tag>
  readonly #slot: number

  constructor(slots: TextSlots<SlotHolder, Tag>, slot: number) {
    this.#slots = slots
    this.#slot = slot
  }

  get id(): string { return this.#slots.idOf(this.#slot) }
  get at(): number { return this.#slots.begunAt(this.#slot) }
  get tag(): Tag { return this.#slots.tagOf(this.#slot) }
  get texts(): readonly string[] { return this.#slots.textsOf(this.#slot) }
  text(which: number): string { return this.#slots.textOf(this.#slot, which) }
}

/** What one owner holds; the least recently used value is the first. */
class Holding<T> implements SlotHolder {
  readonly owner: string
  firstSlot: number = NO_SLOT
  lastSlot: number = NO_SLOT
  readonly slots: LinkedList<Slot<T>> = new LinkedList()
  readonly share: Share<Holding<T>> = new Share<Holding<T>>(this)

  constructor(owner: string) {
    this.owner = owner
  }
}

/** All values of one pool, and its texts, which have a `Tag` each. */
export class FairPool<T, Tag = undefined> {
  readonly #limits: PoolLimits
  readonly #onEvict: (value: T) => void
  readonly #mayEvict: (value: T) => boolean
  readonly #holdings = new Map<string, Holding<T>>()
  readonly #shares: Shares<Holding<T>>
  readonly #texts: TextSlots<Holding<T>, Tag>

  /**
   * `onEvict` gets each value that was removed to make room; `mayEvict`: whether a value may be. Under each
   * id there are so many `texts`, with room for short ones in `cellBytes`.
   */
  constructor(
    limits: PoolLimits, onEvict: (value: T) => void, mayEvict: (value: T) => boolean = () => true,
    texts: number = 0, cellBytes: number = 0,
  ) {
    this.#limits = limits
    // One more: texts are added before others make room.
    this.#texts = new TextSlots(limits.maxCount + 1, texts, cellBytes)
    this.#shares = new Shares(limits.maxCount, limits.maxBytes)
    this.#onEvict = onEvict
    this.#mayEvict = mayEvict
  }

  get count(): number { return this.#shares.count }
  get bytes(): number { return this.#shares.bytes }
  get textCount(): number { return this.#texts.count }

  /** Adds a value of an owner and makes room for it. Undefined where there is none. */
  add(owner: string, value: T, bytes: number): Slot<T> | undefined {
    if (bytes > this.#limits.maxBytes) return undefined
    const holding = this.#holdingOf(owner)
    const slot: Slot<T> = { value, holding, bytes, previous: undefined, next: undefined }
    holding.slots.add(slot)
    this.#shares.change(holding.share, 1, bytes)
    this.#makeRoom(slot, NO_SLOT)
    if (!this.#isTooMuch(holding)) return slot
    this.remove(slot)
    return undefined
  }

  /**
   * Adds texts of an owner, under an id of `randomUuid`, and makes room for them. `moreBytes` count beside
   * the texts; `at` never falls. False where there is no room.
   */
  addTexts(
    owner: string, id: string, texts: readonly string[], moreBytes: number, at: number, tag?: Tag,
  ): boolean {
    const holding = this.#holdingOf(owner)
    const slot = this.#texts.add(holding, id, texts, moreBytes, at, tag)
    const bytes = this.#texts.bytesOf(slot)
    this.#shares.change(holding.share, 1, bytes)
    // What can never fit pushes nothing out.
    if (bytes <= this.#limits.maxBytes) this.#makeRoom(undefined, slot)
    if (!this.#isTooMuch(holding)) return true
    this.#drop(slot)
    return false
  }

  /** Removes the texts of an id; returns them, and their owner. */
  takeTexts(id: string): Omit<KeptTexts<Tag>, 'text'> & { readonly owner: string } | undefined {
    const slots = this.#texts
    const slot = slots.find(id)
    if (slot === NO_SLOT) return undefined
    const { owner } = slots.holderOf(slot)
    const kept = { owner, id, at: slots.begunAt(slot), tag: slots.tagOf(slot), texts: slots.textsOf(slot) }
    this.#drop(slot)
    return kept
  }

  /** An owner's texts, the newest first. They are read before anything changes. */
  * textsOf(owner: string): Generator<KeptTexts<Tag>> {
    const holding = this.#holdings.get(owner)
    if (holding === undefined) return
    for (const slot of this.#texts.of(holding)) yield new KeptTexts(this.#texts, slot)
  }

  /** Removes all texts that were added at that time or before. */
  dropTexts(at: number): void {
    for (const holding of this.#holdings.values()) {
      while (holding.firstSlot !== NO_SLOT && this.#texts.begunAt(holding.firstSlot) <= at) {
        this.#drop(holding.firstSlot)
      }
    }
  }

  /**
   * A value's size has changed; others make room where it has grown. False where there is not enough: then it
   * has its new size all the same, and has to be resized back.
   */
  resize(slot: Slot<T>, bytes: number): boolean {
    this.#shares.change(slot.holding.share, 0, bytes - slot.bytes)
    const hasGrown = bytes > slot.bytes
    slot.bytes = bytes
    this.#makeRoom(slot, NO_SLOT)
    return !hasGrown || !this.#isTooMuch(slot.holding)
  }

  /** Makes room again: more values may be evicted than before. */
  settle(): void {
    this.#makeRoom(undefined, NO_SLOT)
  }

  /** A value was used: the owner's others are evicted before it. */
  touch(slot: Slot<T>): void {
    slot.holding.slots.remove(slot)
    slot.holding.slots.add(slot)
  }

  remove(slot: Slot<T>): void {
    const { holding } = slot
    holding.slots.remove(slot)
    this.#released(holding, slot.bytes)
  }

  /** An owner's values, the most recently used first. */
  * of(owner: string): Generator<T> {
    let slot = this.#holdings.get(owner)?.slots.last
    for (; slot !== undefined; slot = slot.previous) yield slot.value
  }

  /** Evicts the oldest value of the owner that holds most bytes. False where none may be evicted. */
  evict(): boolean {
    return this.#evict(true, undefined, NO_SLOT)
  }

  #holdingOf(owner: string): Holding<T> {
    let holding = this.#holdings.get(owner)
    if (holding === undefined) this.#holdings.set(owner, holding = new Holding(owner))
    return holding
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

  #isTooMuch({ share }: Holding<T>): boolean {
    return this.#shares.isTooMuchFor(share, this.#holdings.size)
  }

  /** Evicts, but not what is in use: a value, or texts, which are the newest of their owner. */
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
