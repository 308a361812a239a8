/**
 * The one bounded map: entries of many owners within a number and a number of bytes. Where it is full, the
 * owner who holds most of what is short makes room with what it has not used for longest, so that nobody
 * pushes out another's entries by keeping more. An entry in use is leased, and never makes room.
 *
 * Nothing is sorted: owners are in lists by how much they hold, in steps of less than a tenth, and entries in
 * lists by how long they are kept. So every change takes the same time among ten thousand as among ten.
 */
import { monotonic } from '../../kernel/util/clock.ts'
import { BEYOND } from '../../kernel/util/quota.ts'
import { Generations } from './generations.ts'
import { Ranking } from './ranking.ts'
import { Rings } from './rings.ts'
import { grown, Slots } from './slots.ts'
import type { Slotted } from './slots.ts'

/**
 * How firmly an entry is kept: of an owner's entries those that are `fleeting` make room first, then those
 * that are `kept`; those that are `leased` never do.
 */
export const FLEETING = 0
export const KEPT = 1
export const LEASED = 2
export type Hold = typeof FLEETING | typeof KEPT | typeof LEASED
const ALL: readonly Hold[] = [LEASED, KEPT, FLEETING]

/** How many figures an entry has, of which the first are its bytes; and where the others are. */
const FIGURES = 3
const HOLD = 1
const USED_AT = 2

/** What one owner holds. */
class Holder implements Slotted {
  /** The owner. */
  readonly id: string
  slot = 0
  count = 0
  bytes = 0
  /** Rises with every change of any owner's. */
  changedAt = 0
  /** The ends of its lists; in each the entry that was used longest ago is the first. */
  readonly lists: readonly [fleeting: number, kept: number, leased: number]

  constructor(owner: string, lists: Holder['lists']) {
    this.id = owner
    this.lists = lists
  }
}

export interface Bounds {
  readonly maxCount: number
  readonly maxBytes: number
  /** Whether each owner has ids of its own. */
  readonly isByOwner?: boolean
}

/** What the author of a map adds. `T` is its entry. */
export interface BoundedEvents<T> {
  /** An entry was removed, to make room or because its time is over. */
  readonly onEvict?: (entry: T) => void
  /**
   * The owner of an entry that has come or grown holds most bytes, and has nothing else that could make room:
   * takes a part out of the entry and returns how many bytes that was, more than none. Left out: others make
   * room all the same, and where they cannot, the entry finds none.
   */
  readonly trim?: (entry: T) => number
  /** Whether an entry may make room, where only a look at it tells. Left out: each that is not leased. */
  readonly mayGo?: (entry: T) => boolean
}

export class Bounded<T extends Slotted> {
  readonly #bounds: Bounds
  readonly #events: BoundedEvents<T>
  readonly #slots: Slots<T>
  readonly #lists: Rings<T>
  readonly #generations: Generations<T>
  readonly #holders = new Slots<Holder>()
  readonly #byCount = new Ranking(this.#holders)
  readonly #byBytes = new Ranking(this.#holders)
  /** By slot: bytes, the hold, and when it was last used. */
  #figures = new Float64Array(0)
  /** From the first time that there is too much. */
  #isRanked = false
  #changes = 0
  #count = 0
  #bytes = 0
  #leased = 0

  constructor(bounds: Bounds, events: BoundedEvents<T> = {}) {
    this.#bounds = bounds
    this.#events = events
    this.#slots = new Slots(bounds.isByOwner)
    this.#lists = new Rings(this.#slots)
    this.#generations = new Generations(this.#slots)
  }

  get count(): number { return this.#count }
  get bytes(): number { return this.#bytes }
  /** How many are leased. */
  get leased(): number { return this.#leased }

  /**
   * The entry of an id, and of an owner where each has ids of its own. Nothing counts as use of it but `use`
   * and `resize`.
   */
  get(id: string, owner = ''): T | undefined {
    const isByOwner = this.#bounds.isByOwner === true
    const holder = isByOwner ? this.#holders.get(owner) : undefined
    if (isByOwner && holder === undefined) return undefined
    const found = this.#slots.get(id, holder?.slot)
    if (found === undefined || !this.hasExpired(found)) return found
    this.#evict(found)
    return undefined
  }

  /** The bytes of an entry; 0 while it is not here. */
  bytesOf({ slot }: T): number { return slot === 0 ? 0 : this.#figures[slot * FIGURES]! }

  /** How an entry is held that is here. */
  holdOf({ slot }: T): Hold { return this.#figures[slot * FIGURES + HOLD] as Hold }

  /** When an entry that is here was last used, in whole monotonic milliseconds. */
  usedAt({ slot }: T): number { return this.#figures[slot * FIGURES + USED_AT]! }

  /** Whether the time of an entry is over. */
  hasExpired({ slot }: T): boolean { return this.#generations.hasExpired(slot) }

  /** All, owner by owner, the first used first. The one that was given last may leave meanwhile. */
  * values(): Generator<T> {
    for (const { lists } of this.#holders) for (const hold of ALL) yield * this.#lists.all(lists[hold])
  }

  /**
   * An owner's entries that are held like that, or all of them: the leased ones, the kept ones, the fleeting
   * ones; each the last used first. The one that was given last may leave meanwhile.
   */
  * of(owner: string, ...holds: readonly Hold[]): Generator<T> {
    const lists = this.#holders.get(owner)?.lists
    if (lists === undefined) return
    for (const hold of holds.length > 0 ? holds : ALL) yield * this.#lists.backward(lists[hold])
  }

  /** The one of an owner's that makes room first. */
  oldest(owner: string): T | undefined {
    const holder = this.#holders.get(owner)
    return holder && this.#oldestOf(holder)
  }

  /**
   * Adds an entry, under an id that is free (or '': it is not looked up), for so many milliseconds. What has
   * expired goes, and others make room. False, and it is not added, where there is none.
   */
  add(owner: string, entry: T, bytes: number, hold: Hold = KEPT, keepMs: number = Infinity): boolean {
    if (bytes > this.#bounds.maxBytes && this.#events.trim === undefined) return false
    const holder = this.#put(owner, entry, bytes, hold, keepMs)
    if (!this.#isOver || this.#fits(entry, holder)) return true
    this.remove(entry)
    return false
  }

  /**
   * Adds an entry that is in use, and so is there whether or not there is room: it counts, and `isTooMuch`
   * tells.
   */
  lease(owner: string, entry: T, bytes: number): void {
    const holder = this.#put(owner, entry, bytes, LEASED, Infinity)
    if (this.#isOver) this.#fits(entry, holder)
  }

  #put(owner: string, entry: T, bytes: number, hold: Hold, keepMs: number): Holder {
    const now = monotonic()
    this.#expire(now)
    const holder = this.#holders.get(owner) ?? this.#addHolder(owner)
    const slot = this.#slots.add(entry, holder.slot, entry.id !== '')
    this.#figures = grown(this.#figures, slot * FIGURES + USED_AT)
    this.#figures[slot * FIGURES] = bytes
    this.#enter(holder, slot, hold)
    this.#age(slot, keepMs, now)
    this.#account(holder, 1, bytes)
    return holder
  }

  #addHolder(owner: string): Holder {
    const lists = this.#lists
    const holder = new Holder(owner, [lists.open(), lists.open(), lists.open()])
    this.#holders.add(holder)
    return holder
  }

  #holderOf(slot: number): Holder { return this.#holders.at(this.#slots.holderOf(slot))! }

  /**
   * An entry was used, and is held like that for so many milliseconds from now on: the owner's others of that
   * kind go before it.
   */
  use({ slot }: T, hold: Hold, keepMs: number = Infinity): void {
    if (slot === 0) return
    this.#move(this.#holderOf(slot), slot, hold)
    this.#age(slot, keepMs, monotonic())
  }

  /** An entry is used now, and goes no later for that. */
  renew({ slot }: T): void {
    this.#figures[slot * FIGURES + USED_AT] = monotonic()
  }

  /**
   * An entry has so many bytes now; others make room where it has grown. False where there is not enough:
   * then it has its new size all the same, and has to be resized back.
   */
  resize(entry: T, bytes: number): boolean {
    const { slot } = entry
    if (slot === 0) return true
    const holder = this.#holderOf(slot)
    const before = this.#figures[slot * FIGURES]!
    this.#figures[slot * FIGURES] = bytes
    this.#account(holder, 0, bytes - before)
    return bytes <= before || !this.#isOver || this.#fits(entry, holder)
  }

  /** Whether no one can make room for what the owner of an entry holds, or it found none at all. */
  isTooMuch({ slot }: T): boolean {
    return slot === 0 ? this.#isOver : this.#isTooMuchFor(this.#holderOf(slot))
  }

  /** Makes room again: more may go than before. */
  settle(): void {
    this.#makeRoom(undefined)
  }

  remove(entry: T): void {
    const { slot } = entry
    if (slot === 0) return
    const holder = this.#holderOf(slot)
    this.#leave(slot)
    this.#generations.leave(slot)
    this.#slots.remove(entry)
    this.#account(holder, -1, -this.#figures[slot * FIGURES]!)
    if (holder.count > 0) return
    for (const list of holder.lists) this.#lists.close(list)
    this.#holders.remove(holder)
  }

  /** Removes what has expired, as far as it is before all that was kept for about as long and has not. */
  expire(): void {
    this.#expire(monotonic())
  }

  #expire(now: number): void {
    let entry = this.#generations.expired(now)
    for (; entry !== undefined; entry = this.#generations.expired(now)) this.#evict(entry)
  }

  /** What goes first where bytes are short, or where the number is. */
  #next(isHeavy: boolean): T | undefined {
    const ranking = isHeavy ? this.#byBytes : this.#byCount
    const { mayGo } = this.#events
    if (mayGo === undefined) return ranking.largest && this.#oldestOf(ranking.largest)
    for (const { lists: [fleeting, kept] } of ranking.largestFirst()) {
      for (const list of [fleeting, kept]) {
        for (const entry of this.#lists.all(list)) if (mayGo(entry)) return entry
      }
    }
    return undefined
  }

  #oldestOf({ lists: [fleeting, kept] }: Holder): T | undefined {
    return this.#lists.first(fleeting) ?? this.#lists.first(kept)
  }

  get #isHeavy(): boolean { return this.#bytes > this.#bounds.maxBytes }
  get #isOver(): boolean { return this.#count > this.#bounds.maxCount || this.#isHeavy }

  /** Makes room for what has come or grown, which is the one that was used last from now on. */
  #fits(entry: T, holder: Holder): boolean {
    const hold = this.holdOf(entry)
    this.#makeRoom(entry)
    if (entry.slot === 0) return false
    if (this.#lists.last(holder.lists[hold]) === entry) this.#rank(holder)
    else this.#move(holder, entry.slot, hold)
    return !this.#isTooMuchFor(holder)
  }

  /**
   * Where no one can make room, an owner of less than an equal part of the bytes still gets more, up to half
   * as much again in all.
   */
  #isTooMuchFor({ bytes }: Holder): boolean {
    const { maxCount, maxBytes } = this.#bounds
    if (!this.#isOver) return false
    return this.#count > maxCount || this.#bytes > maxBytes * (1 + BEYOND)
      || bytes > maxBytes / this.#holders.size
  }

  /**
   * Who holds most of what is short gives up what it has not used for longest. `newest` goes last of all that
   * its owner has: a part of it, or not at all.
   */
  #makeRoom(newest: T | undefined): void {
    if (!this.#isRanked && this.#isOver) this.#rankAll()
    const { trim } = this.#events
    let isLast = false
    while (this.#isOver) {
      const isHeavy = this.#isHeavy
      const next = this.#next(isHeavy)
      if (next === undefined) return
      if (next !== newest || (isLast && !isHeavy)) {
        this.#evict(next)
      } else if (isLast && this.bytesOf(next) > 0) {
        const gone = trim!(next)
        this.#figures[next.slot * FIGURES]! -= gone
        this.#account(this.#holderOf(next.slot), 0, -gone)
      } else {
        this.#putOff(next, isLast || trim === undefined ? LEASED : KEPT)
        isLast = true
      }
    }
  }

  /** From now on others of its owner go first, and then those of other owners. */
  #putOff({ slot }: T, hold: Hold): void {
    const holder = this.#holderOf(slot)
    this.#relist(holder, slot, hold)
    if (this.#oldestOf(holder) === undefined) this.#rank(holder)
  }

  #evict(entry: T): void {
    this.remove(entry)
    this.#events.onEvict?.(entry)
  }

  #move(holder: Holder, slot: number, hold: Hold): void {
    this.#relist(holder, slot, hold)
    this.#rank(holder)
  }

  /** To the end of a list. */
  #relist(holder: Holder, slot: number, hold: Hold): void {
    this.#leave(slot)
    this.#enter(holder, slot, hold)
  }

  #enter({ lists }: Holder, slot: number, hold: Hold): void {
    this.#figures[slot * FIGURES + HOLD] = hold
    this.#lists.add(lists[hold], slot)
    if (hold === LEASED) this.#leased += 1
  }

  #leave(slot: number): void {
    this.#lists.remove(slot)
    if (this.#figures[slot * FIGURES + HOLD] === LEASED) this.#leased -= 1
  }

  #account(holder: Holder, count: number, bytes: number): void {
    holder.count += count
    holder.bytes += bytes
    this.#count += count
    this.#bytes += bytes
    this.#rank(holder)
  }

  /** Only who can make room is ranked. */
  #rank(holder: Holder): void {
    holder.changedAt = ++this.#changes
    if (!this.#isRanked) return
    const { maxCount, maxBytes } = this.#bounds
    if (this.#oldestOf(holder) === undefined) {
      this.#byCount.leave(holder)
      this.#byBytes.leave(holder)
      return
    }
    if (maxCount !== Infinity) this.#byCount.put(holder, holder.count)
    if (maxBytes !== Infinity) this.#byBytes.put(holder, holder.bytes)
  }

  #rankAll(): void {
    this.#isRanked = true
    const holders = [...this.#holders].sort((one, other) => one.changedAt - other.changedAt)
    for (const holder of holders) this.#rank(holder)
  }

  /** Its time begins now. */
  #age(slot: number, keepMs: number, now: number): void {
    this.#figures[slot * FIGURES + USED_AT] = now
    this.#generations.leave(slot)
    if (keepMs !== Infinity) this.#generations.add(slot, keepMs, now)
  }
}
