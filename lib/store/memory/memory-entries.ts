/**
 * Entries in bounded memory. What has expired is forgotten before anything else is done; where there is no
 * room then, the oldest entry of the owner that holds most goes, never the one that is being written.
 *
 * Pinned are the house's own entries and, where others share the memory, what is kept for ever: they take
 * room and never give it.
 */
import { Fault } from '../../define/fault.ts'
import { LinkedList } from '../../util/linked-list.ts'
import { NOT_IN_HEAP, Heap } from '../../util/heap.ts'
import { Share, Shares } from '../../util/shares.ts'
import { measure, requireKey } from '../shared/size.ts'
import type { LinkedMember } from '../../util/linked-list.ts'
import type { Order } from '../../util/heap.ts'
import type { Entry, StoreKey } from '../../state/store.ts'
import type { MemoryLimits } from './memory-limits.ts'

interface Kept extends Entry, LinkedMember<Kept> {
  readonly shelf: Shelf
  readonly bytes: number
  /** Monotonic milliseconds. */
  readonly expiresAt: number
  readonly isPinned: boolean
  expiryPlace: number
}

/** One owner's entries in one collection. */
interface Shelf {
  readonly collection: string
  readonly holding: Holding
  readonly entries: Map<string, Kept>
  /** What may have to go, and what never has to: in both the last written is the last. */
  readonly loose: LinkedList<Kept>
  readonly pinned: LinkedList<Kept>
}

/** What one owner holds. Its share counts what may have to go. */
class Holding {
  readonly owner: string
  readonly share: Share<Holding> = new Share<Holding>(this)
  readonly shelves = new Map<string, Shelf>()

  constructor(owner: string) {
    this.owner = owner
  }
}

const byExpiry: Order<Kept> = {
  isBefore: (one, other) => one.expiresAt < other.expiresAt,
  placeOf: (kept) => kept.expiryPlace,
  place(kept, at) { kept.expiryPlace = at },
}

/** All entries of one memory store; the methods are those of `Store`. */
export class MemoryEntries {
  readonly #limits: MemoryLimits
  readonly #holdings = new Map<string, Holding>()
  readonly #shares: Shares<Holding>
  readonly #expiring = new Heap<Kept>(byExpiry)
  #pinnedCount = 0
  #pinnedBytes = 0
  #lastVersion = 0

  constructor(limits: MemoryLimits) {
    this.#limits = limits
    this.#shares = new Shares(limits.maxEntries, limits.maxBytes)
  }

  read(place: StoreKey): Entry | undefined {
    this.#forgetExpired()
    const found = this.#find(place)
    return found && shown(found)
  }

  write(place: StoreKey, value: string, keepMs: number, expected: number | 'any'): number | undefined {
    requireKey(place)
    const { maxBytes, maxValueBytes, isShared } = this.#limits
    const bytes = measure(value, Math.min(maxValueBytes, maxBytes)) + Buffer.byteLength(place.key)
    const now = this.#forgetExpired()
    const before = this.#find(place)
    if (!isExpected(before, expected)) return undefined
    this.#requireRoom(bytes, before)
    if (before !== undefined) this.#forget(before)
    const kept: Kept = {
      key: place.key, value, version: ++this.#lastVersion, shelf: this.#shelf(place), bytes,
      expiresAt: now + keepMs,
      isPinned: place.owner.startsWith('~') || (isShared && keepMs === Infinity),
      expiryPlace: NOT_IN_HEAP, previous: undefined, next: undefined,
    }
    this.#keep(kept)
    while (this.#shares.isOver) this.#forget(this.#nextToGo(kept))
    return kept.version
  }

  remove(place: StoreKey, expected: number | 'any'): boolean {
    this.#forgetExpired()
    const found = this.#find(place)
    if (found === undefined || !isExpected(found, expected)) return false
    this.#forget(found)
    return true
  }

  list(collection: string, owner: string, limit: number, before: number = Infinity): readonly Entry[] {
    this.#forgetExpired()
    const shelf = this.#holdings.get(owner)?.shelves.get(collection)
    const found: Entry[] = []
    let loose = shelf?.loose.last
    let pinned = shelf?.pinned.last
    while (found.length < limit) {
      const isPinned = pinned !== undefined && (loose === undefined || pinned.version > loose.version)
      const last = isPinned ? pinned : loose
      if (last === undefined) break
      if (last.version < before) found.push(shown(last))
      if (isPinned) pinned = last.previous
      else loose = last.previous
    }
    return found
  }

  #find({ collection, owner, key }: StoreKey): Kept | undefined {
    return this.#holdings.get(owner)?.shelves.get(collection)?.entries.get(key)
  }

  #shelf({ collection, owner }: StoreKey): Shelf {
    let holding = this.#holdings.get(owner)
    if (holding === undefined) this.#holdings.set(owner, holding = new Holding(owner))
    let shelf = holding.shelves.get(collection)
    if (shelf === undefined) {
      shelf = { collection, holding, entries: new Map(), loose: new LinkedList(), pinned: new LinkedList() }
      holding.shelves.set(collection, shelf)
    }
    return shelf
  }

  /** Throws `Fault('busy')` where there would be no room even if all went that can. */
  #requireRoom(bytes: number, before: Kept | undefined): void {
    const { maxEntries, maxBytes } = this.#limits
    const isReplaced = before?.isPinned === true
    const count = this.#pinnedCount - (isReplaced ? 1 : 0) + 1
    const sum = this.#pinnedBytes - (isReplaced ? before.bytes : 0) + bytes
    if (count <= maxEntries && sum <= maxBytes) return
    throw new Fault('busy', 'The store is full of what may not go; try again later')
  }

  #keep(kept: Kept): void {
    const { shelf, key, bytes, isPinned } = kept
    shelf.entries.set(key, kept)
    if (kept.expiresAt !== Infinity) this.#expiring.add(kept)
    if (isPinned) {
      shelf.pinned.add(kept)
      this.#setAside(1, bytes)
    } else {
      shelf.loose.add(kept)
      this.#shares.change(shelf.holding.share, 1, bytes)
    }
  }

  #forget(kept: Kept): void {
    const { shelf, key, bytes, isPinned } = kept
    const { holding, collection } = shelf
    shelf.entries.delete(key)
    if (kept.expiryPlace !== NOT_IN_HEAP) this.#expiring.remove(kept)
    if (isPinned) {
      shelf.pinned.remove(kept)
      this.#setAside(-1, -bytes)
    } else {
      shelf.loose.remove(kept)
      this.#shares.change(holding.share, -1, -bytes)
    }
    if (shelf.entries.size > 0) return
    holding.shelves.delete(collection)
    if (holding.shelves.size === 0) this.#holdings.delete(holding.owner)
  }

  #setAside(count: number, bytes: number): void {
    this.#pinnedCount += count
    this.#pinnedBytes += bytes
    this.#shares.setAside(count, bytes)
  }

  /** Answers the time that it is, in monotonic milliseconds. */
  #forgetExpired(): number {
    const now = performance.now()
    for (;;) {
      const { first } = this.#expiring
      if (first === undefined || first.expiresAt > now) return now
      this.#forget(first)
    }
  }

  /** There is one: what is pinned and what is being written have room together. */
  #nextToGo(written: Kept): Kept {
    const oldest = oldestOf(this.#shares.largest!)
    return oldest === written ? oldestOf(this.#shares.next!) : oldest
  }
}

/** The oldest of what may have to go. There is one wherever the share counts any. */
function oldestOf({ shelves }: Holding): Kept {
  let oldest: Kept | undefined
  for (const { loose: { first } } of shelves.values()) {
    if (first !== undefined && (oldest === undefined || first.version < oldest.version)) oldest = first
  }
  return oldest!
}

function isExpected(found: Kept | undefined, expected: number | 'any'): boolean {
  return expected === 'any' || expected === (found?.version ?? 0)
}

function shown({ key, value, version }: Kept): Entry {
  return { key, value, version }
}
