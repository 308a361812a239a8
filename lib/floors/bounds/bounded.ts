/**
 * The one bounded map: entries of many owners within a number and a number of bytes. Where it is full, the
 * owner who holds most of what is short makes room with what it has not used for longest, so that nobody
 * pushes out another's entries by keeping more. An entry in use is leased, and never makes room.
 *
 * A slot is its own link in all lists, and nothing is sorted: owners are in lists by how much they hold, in
 * steps of less than a tenth, and entries in lists by how long they are kept. So every change takes the same
 * time among ten thousand as among ten.
 */
import { monotonic } from '../../kernel/util/clock.ts'
import { LinkedList } from '../../kernel/util/linked-list.ts'
import { BEYOND } from '../../kernel/util/quota.ts'
import { Generations } from './generations.ts'
import { Rank, Ranking } from './ranking.ts'
import { StringIndex } from './string-index.ts'
import type { LinkedMember } from '../../kernel/util/linked-list.ts'
import type { Aging } from './generations.ts'
import type { Indexed } from './string-index.ts'

/**
 * How firmly an entry is kept: of an owner's entries those that are `fleeting` make room first, then those
 * that are `kept`; those that are `leased` never do.
 */
export const FLEETING = 0
export const KEPT = 1
export const LEASED = 2
export type Hold = typeof FLEETING | typeof KEPT | typeof LEASED
const ALL: readonly Hold[] = [LEASED, KEPT, FLEETING]

/** What can be in a bounded map: it has a slot, which is made with it. */
export interface Slotted<T> { readonly slot: Slot<T> }

/**
 * Where something stands in a bounded map, which alone writes the members. It is no class to extend: the
 * engine takes ten times as long to make objects of many shapes in one place.
 */
export class Slot<T> implements Indexed, LinkedMember<Slot<T>>, Aging {
  readonly id: string
  readonly of: T
  bytes = 0
  hold: Hold = FLEETING
  /** In whole monotonic milliseconds. */
  usedAt = 0
  until = 0
  /** Undefined while it is in no map. */
  holder: Holder<T> | undefined = undefined
  previous: Slot<T> | undefined = undefined
  next: Slot<T> | undefined = undefined
  earlier: Aging = this
  later: Aging = this
  hash = 0
  number = 0

  /** `id`: what it is found by; '' for one that is not looked up. `of`: what has it. */
  constructor(id: string, of: T) {
    this.id = id
    this.of = of
  }

  /** Whether its time is over. */
  hasExpired(now: number): boolean { return this.until !== 0 && this.until <= now }
}

type SlotList<T> = LinkedList<Slot<T>>

/** What one owner holds; of each list the entry that was used longest ago is the first. */
export class Holder<T> implements Indexed {
  /** The owner. */
  readonly id: string
  hash = 0
  number = 0
  count = 0
  bytes = 0
  /** Rises with every change of any owner's. */
  changedAt = 0
  readonly byCount: Rank<Holder<T>> = new Rank(this)
  readonly byBytes: Rank<Holder<T>> = new Rank(this)
  readonly lists: readonly [fleeting: SlotList<T>, kept: SlotList<T>, leased: SlotList<T>]

  constructor(owner: string) {
    this.id = owner
    this.lists = [new LinkedList(), new LinkedList(), new LinkedList()]
  }

  /** The one that makes room first. */
  get oldest(): Slot<T> | undefined { return this.lists[FLEETING].first ?? this.lists[KEPT].first }
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

export class Bounded<T extends Slotted<T>> {
  readonly #bounds: Bounds
  readonly #events: BoundedEvents<T>
  readonly #byId = new StringIndex<Slot<T>>()
  readonly #holders = new StringIndex<Holder<T>>()
  readonly #byCount = new Ranking<Holder<T>>()
  readonly #byBytes = new Ranking<Holder<T>>()
  readonly #generations = new Generations<Slot<T>>()
  /** From the first time that there is too much. */
  #isRanked = false
  #changes = 0
  #count = 0
  #bytes = 0
  #leased = 0

  constructor(bounds: Bounds, events: BoundedEvents<T> = {}) {
    this.#bounds = bounds
    this.#events = events
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
    const found = this.#byId.get(id, holder)
    if (found === undefined) return undefined
    if (!found.hasExpired(monotonic())) return found.of
    this.#evict(found)
    return undefined
  }

  /** All, owner by owner, the first used first. The one that was given last may leave meanwhile. */
  * values(): Generator<T> {
    for (const { lists } of this.#holders) {
      for (const hold of ALL) for (const { of } of lists[hold]) yield of
    }
  }

  /**
   * An owner's entries that are held like that, or all of them: the leased ones, the kept ones, the fleeting
   * ones; each the last used first. The one that was given last may leave meanwhile.
   */
  * of(owner: string, ...holds: readonly Hold[]): Generator<T> {
    const lists = this.#holders.get(owner)?.lists
    if (lists === undefined) return
    for (const hold of holds.length > 0 ? holds : ALL) {
      for (let slot = lists[hold].last; slot !== undefined;) {
        const { previous } = slot
        yield slot.of
        slot = previous
      }
    }
  }

  /**
   * Adds an entry, under an id that is free, for so many milliseconds. What has expired goes, and others make
   * room. False, and it is not added, where there is none.
   */
  add(owner: string, { slot }: T, bytes: number, hold: Hold = KEPT, keepMs: number = Infinity): boolean {
    if (bytes > this.#bounds.maxBytes && this.#events.trim === undefined) return false
    const holder = this.#put(owner, slot, bytes, hold, keepMs)
    if (!this.#isOver || this.#fits(slot, holder)) return true
    this.#remove(slot)
    return false
  }

  /**
   * Adds an entry that is in use, and so is there whether or not there is room: it counts, and `isTooMuch`
   * tells.
   */
  lease(owner: string, { slot }: T, bytes: number): void {
    const holder = this.#put(owner, slot, bytes, LEASED, Infinity)
    if (this.#isOver) this.#fits(slot, holder)
  }

  #put(owner: string, slot: Slot<T>, bytes: number, hold: Hold, keepMs: number): Holder<T> {
    const now = monotonic()
    this.#expire(now)
    slot.bytes = bytes
    let holder = this.#holders.get(owner)
    if (holder === undefined) this.#holders.add(holder = new Holder<T>(owner))
    slot.holder = holder
    slot.hold = hold
    if (slot.id !== '') this.#byId.add(slot, this.#bounds.isByOwner === true ? holder : undefined)
    this.#enter(holder, slot)
    this.#age(slot, keepMs, now)
    this.#account(holder, 1, bytes)
    return holder
  }

  /**
   * An entry was used, and is held like that for so many milliseconds from now on: the owner's others of that
   * kind go before it.
   */
  use({ slot }: T, hold: Hold, keepMs: number = Infinity): void {
    const { holder } = slot
    if (holder === undefined) return
    this.#move(holder, slot, hold)
    this.#age(slot, keepMs, monotonic())
  }

  /**
   * An entry has so many bytes now; others make room where it has grown. False where there is not enough:
   * then it has its new size all the same, and has to be resized back.
   */
  resize({ slot }: T, bytes: number): boolean {
    const { holder, bytes: before } = slot
    if (holder === undefined) return true
    slot.bytes = bytes
    this.#account(holder, 0, bytes - before)
    return bytes <= before || !this.#isOver || this.#fits(slot, holder)
  }

  /** Whether no one can make room for what the owner of an entry holds, or it found none at all. */
  isTooMuch({ slot: { holder } }: T): boolean {
    return holder === undefined ? this.#isOver : this.#isTooMuchFor(holder)
  }

  /** Makes room again: more may go than before. */
  settle(): void {
    this.#makeRoom(undefined)
  }

  remove({ slot }: T): void {
    this.#remove(slot)
  }

  #remove(slot: Slot<T>): void {
    const { holder } = slot
    if (holder === undefined) return
    if (slot.id !== '') this.#byId.remove(slot)
    this.#leave(holder, slot)
    this.#generations.leave(slot)
    slot.holder = undefined
    this.#account(holder, -1, -slot.bytes)
    if (holder.count === 0) this.#holders.remove(holder)
  }

  /** Removes what has expired, as far as it is before all that was kept for about as long and has not. */
  expire(): void {
    this.#expire(monotonic())
  }

  #expire(now: number): void {
    let slot = this.#generations.expired(now)
    for (; slot !== undefined; slot = this.#generations.expired(now)) this.#evict(slot)
  }

  /** What goes first where bytes are short, or where the number is. */
  #next(isHeavy: boolean): Slot<T> | undefined {
    const ranking = isHeavy ? this.#byBytes : this.#byCount
    const { mayGo } = this.#events
    if (mayGo === undefined) return ranking.largest?.oldest
    for (const { lists: [fleeting, kept] } of ranking.largestFirst()) {
      for (const list of [fleeting, kept]) for (const slot of list) if (mayGo(slot.of)) return slot
    }
    return undefined
  }

  get #isHeavy(): boolean { return this.#bytes > this.#bounds.maxBytes }
  get #isOver(): boolean { return this.#count > this.#bounds.maxCount || this.#isHeavy }

  /** Makes room for what has come or grown, which is the one that was used last from now on. */
  #fits(slot: Slot<T>, holder: Holder<T>): boolean {
    const { hold } = slot
    this.#makeRoom(slot)
    if (slot.holder === undefined) return false
    if (holder.lists[hold].last === slot) this.#rank(holder)
    else this.#move(holder, slot, hold)
    return !this.#isTooMuchFor(holder)
  }

  /**
   * Where no one can make room, an owner of less than an equal part of the bytes still gets more, up to half
   * as much again in all.
   */
  #isTooMuchFor({ bytes }: Holder<T>): boolean {
    const { maxCount, maxBytes } = this.#bounds
    if (!this.#isOver) return false
    return this.#count > maxCount || this.#bytes > maxBytes * (1 + BEYOND)
      || bytes > maxBytes / this.#holders.size
  }

  /**
   * Who holds most of what is short gives up what it has not used for longest. `newest` goes last of all that
   * its owner has: a part of it, or not at all.
   */
  #makeRoom(newest: Slot<T> | undefined): void {
    if (!this.#isRanked && this.#isOver) this.#rankAll()
    const { trim } = this.#events
    let isLast = false
    while (this.#isOver) {
      const isHeavy = this.#isHeavy
      const next = this.#next(isHeavy)
      if (next === undefined) return
      if (next !== newest || (isLast && !isHeavy)) {
        this.#evict(next)
      } else if (isLast && next.bytes > 0) {
        const gone = trim!(next.of)
        next.bytes -= gone
        this.#account(next.holder!, 0, -gone)
      } else {
        this.#putOff(next, isLast || trim === undefined ? LEASED : KEPT)
        isLast = true
      }
    }
  }

  /** From now on others of its owner go first, and then those of other owners. */
  #putOff(slot: Slot<T>, hold: Hold): void {
    const holder = slot.holder!
    this.#relist(holder, slot, hold)
    if (holder.oldest === undefined) this.#rank(holder)
  }

  #evict(slot: Slot<T>): void {
    this.#remove(slot)
    this.#events.onEvict?.(slot.of)
  }

  #move(holder: Holder<T>, slot: Slot<T>, hold: Hold): void {
    this.#relist(holder, slot, hold)
    this.#rank(holder)
  }

  /** To the end of a list. */
  #relist(holder: Holder<T>, slot: Slot<T>, hold: Hold): void {
    this.#leave(holder, slot)
    slot.hold = hold
    this.#enter(holder, slot)
  }

  #enter({ lists }: Holder<T>, slot: Slot<T>): void {
    lists[slot.hold].add(slot)
    if (slot.hold === LEASED) this.#leased += 1
  }

  #leave({ lists }: Holder<T>, slot: Slot<T>): void {
    lists[slot.hold].remove(slot)
    if (slot.hold === LEASED) this.#leased -= 1
  }

  #account(holder: Holder<T>, count: number, bytes: number): void {
    holder.count += count
    holder.bytes += bytes
    this.#count += count
    this.#bytes += bytes
    this.#rank(holder)
  }

  /** Only who can make room is ranked. */
  #rank(holder: Holder<T>): void {
    holder.changedAt = ++this.#changes
    if (!this.#isRanked) return
    const { maxCount, maxBytes } = this.#bounds
    const { byCount, byBytes } = holder
    if (holder.oldest === undefined) {
      this.#byCount.leave(byCount)
      this.#byBytes.leave(byBytes)
      return
    }
    if (maxCount !== Infinity) this.#byCount.put(byCount, holder.count)
    if (maxBytes !== Infinity) this.#byBytes.put(byBytes, holder.bytes)
  }

  #rankAll(): void {
    this.#isRanked = true
    const holders = [...this.#holders].sort((one, other) => one.changedAt - other.changedAt)
    for (const holder of holders) this.#rank(holder)
  }

  /** Its time begins now. */
  #age(slot: Slot<T>, keepMs: number, now: number): void {
    slot.usedAt = now
    this.#generations.leave(slot)
    if (keepMs !== Infinity) this.#generations.add(slot, keepMs, now)
  }
}
