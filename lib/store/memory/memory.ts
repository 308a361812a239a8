/**
 * The bounded memory store: entries and topics within a number and a number of bytes. Answers at once. Its
 * state is gone with the process.
 */
import { Fault } from '../../define/fault.ts'
import { rejectUnknown } from '../../schema/options.ts'
import { MAX_VALUE_BYTES } from '../../state/store.ts'
import { Heap, NOT_IN_HEAP } from '../../util/heap.ts'
import { LinkedList } from '../../util/linked-list.ts'
import { total } from '../../util/memory.ts'
import { Share, Shares } from '../../util/shares.ts'
import { measure, requireKey } from '../shared/common.ts'
import { byExpiry, memoryTopics } from './memory-topics.ts'
import type { Entry, Store, StoreKey } from '../../state/store.ts'
import type { LinkedMember } from '../../util/linked-list.ts'
import type { Expiring } from './memory-topics.ts'

/** A store that answers at once. */
export interface MemoryStore extends Store {
  read(...id: Parameters<Store['read']>): Entry | undefined
  write(...kept: Parameters<Store['write']>): number | undefined
  remove(...id: Parameters<Store['remove']>): boolean
  list(...wanted: Parameters<Store['list']>): readonly Entry[]
  publish(...event: Parameters<Store['publish']>): void
  follow(...subscriber: Parameters<Store['follow']>): () => void
}

/** What a memory store may hold. `Infinity` lifts a limit. */
export interface MemoryStoreOptions {
  /** Entries, in all. Left out: 10,000. */
  readonly maxEntries?: number | undefined
  /**
   * Bytes of all entries together, their keys and values. Left out: 256 MiB, but at most a quarter of the
   * memory that the process may have.
   */
  readonly maxBytes?: number | undefined
  /** Bytes of one value or event; over it `Fault('too-large')`. Left out: 16 MiB. */
  readonly maxValueBytes?: number | undefined
  /** Topics that are followed, or of which something is kept. Left out: 10,000. */
  readonly maxTopics?: number | undefined
  /** Events that are kept for those who follow later, in all. Left out: 100,000. */
  readonly maxEvents?: number | undefined
  /** Bytes of all kept events together. Left out: 64 MiB, within the same bound. */
  readonly maxEventsBytes?: number | undefined
  /**
   * Whether others see the same: the workers of a cluster, through the process that holds this store, or
   * several servers in one process. Then what is kept for ever is a promise to them and never makes room
   * for anything else. Left out: false.
   */
  readonly isShared?: boolean | undefined
}

/** The same, with nothing left out. */
type MemoryLimits = {
  readonly [name in keyof MemoryStoreOptions]-?: NonNullable<MemoryStoreOptions[name]>
}

const MiB = 1024 * 1024

const defaults: MemoryLimits = {
  maxEntries: 10_000,
  maxBytes: total(256 * MiB),
  maxValueBytes: MAX_VALUE_BYTES,
  maxTopics: 10_000,
  maxEvents: 100_000,
  maxEventsBytes: total(64 * MiB),
  isShared: false,
}

/**
 * Makes a memory store. Where there is no room, what has expired goes first, then the oldest of the owner
 * that holds most, never what was just written. What the server keeps for itself (owners that begin with `~`)
 * never goes; where nothing else is left, `write` throws `Fault('busy')`. Of topics the oldest kept event
 * of the topic that holds most goes; subscribers lose nothing.
 *
 * Throws `TypeError` for an option that there is not, `RangeError` for a limit that is none.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const limits = memoryLimits(options)
  const { publish, follow } = memoryTopics(limits)
  return { isShared: limits.isShared, ...memoryEntries(limits), publish, follow }
}

/** The limits that options mean. Throws `TypeError` for an unknown one, `RangeError` for one that is none. */
export function memoryLimits(options: MemoryStoreOptions): MemoryLimits {
  rejectUnknown('memoryStore', options, Object.keys(defaults))
  const limits = { ...defaults }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (name === 'isShared') {
      if (typeof value !== 'boolean') throw new TypeError(`isShared is ${String(value)}; write true or false`)
    } else if ((value !== Infinity && !Number.isSafeInteger(value)) || Number(value) < 1) {
      throw new RangeError(`${name} is ${String(value)}; write a whole number above zero, or Infinity`)
    }
    Object.assign(limits, { [name]: value })
  }
  return limits
}

interface Kept extends Entry, LinkedMember<Kept>, Expiring {
  readonly shelf: Shelf
  readonly bytes: number
  /**
   * The server's own entries and, where others share the memory, what is kept for ever: they take room and
   * never give it.
   */
  readonly isPinned: boolean
}

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

/**
 * All entries of one memory store. What has expired is forgotten before anything else is done; where there is
 * no room then, the oldest entry of the owner that holds most goes, never the one that is being written.
 */
function memoryEntries(
  { maxEntries, maxBytes, maxValueBytes, isShared }: MemoryLimits,
): Pick<MemoryStore, 'read' | 'write' | 'remove' | 'list'> {
  const holdings = new Map<string, Holding>()
  const shares = new Shares<Holding>(maxEntries, maxBytes)
  const expiring = new Heap<Kept>(byExpiry)
  let pinnedCount = 0
  let pinnedBytes = 0
  let lastVersion = 0
  return { read, write, remove, list }

  function read(id: StoreKey): Entry | undefined {
    forgetExpired()
    const found = find(id)
    return found && shown(found)
  }

  function write(id: StoreKey, value: string, keepMs: number, expected: number | 'any'): number | undefined {
    requireKey(id)
    const bytes = measure(value, Math.min(maxValueBytes, maxBytes)) + Buffer.byteLength(id.key)
    const now = forgetExpired()
    const before = find(id)
    if (!isExpected(before, expected)) return undefined
    requireRoom(bytes, before)
    if (before !== undefined) forget(before)
    const kept: Kept = {
      key: id.key, value, version: ++lastVersion, shelf: shelfOf(id), bytes,
      expiresAt: now + keepMs,
      isPinned: id.owner.startsWith('~') || (isShared && keepMs === Infinity),
      expiryIndex: NOT_IN_HEAP, previous: undefined, next: undefined,
    }
    keep(kept)
    while (shares.isOver) forget(nextToGo(kept))
    return kept.version
  }

  function remove(id: StoreKey, expected: number | 'any'): boolean {
    forgetExpired()
    const found = find(id)
    if (found === undefined || !isExpected(found, expected)) return false
    forget(found)
    return true
  }

  function list(
    collection: string, owner: string, limit: number, before: number = Infinity,
  ): readonly Entry[] {
    forgetExpired()
    const shelf = holdings.get(owner)?.shelves.get(collection)
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

  function find({ collection, owner, key }: StoreKey): Kept | undefined {
    return holdings.get(owner)?.shelves.get(collection)?.entries.get(key)
  }

  function shelfOf({ collection, owner }: StoreKey): Shelf {
    let holding = holdings.get(owner)
    if (holding === undefined) holdings.set(owner, holding = new Holding(owner))
    let shelf = holding.shelves.get(collection)
    if (shelf === undefined) {
      shelf = { collection, holding, entries: new Map(), loose: new LinkedList(), pinned: new LinkedList() }
      holding.shelves.set(collection, shelf)
    }
    return shelf
  }

  /** Throws `Fault('busy')` where there would be no room even if all went that can. */
  function requireRoom(bytes: number, before: Kept | undefined): void {
    const isReplaced = before?.isPinned === true
    const count = pinnedCount - (isReplaced ? 1 : 0) + 1
    const sum = pinnedBytes - (isReplaced ? before.bytes : 0) + bytes
    if (count <= maxEntries && sum <= maxBytes) return
    throw new Fault('busy', 'The store is full of what may not go; try again later')
  }

  function keep(kept: Kept): void {
    const { shelf, key, bytes, isPinned } = kept
    shelf.entries.set(key, kept)
    if (kept.expiresAt !== Infinity) expiring.add(kept)
    if (isPinned) {
      shelf.pinned.add(kept)
      setAside(1, bytes)
    } else {
      shelf.loose.add(kept)
      shares.change(shelf.holding.share, 1, bytes)
    }
  }

  function forget(kept: Kept): void {
    const { shelf, key, bytes, isPinned } = kept
    const { holding, collection } = shelf
    shelf.entries.delete(key)
    if (kept.expiryIndex !== NOT_IN_HEAP) expiring.remove(kept)
    if (isPinned) {
      shelf.pinned.remove(kept)
      setAside(-1, -bytes)
    } else {
      shelf.loose.remove(kept)
      shares.change(holding.share, -1, -bytes)
    }
    if (shelf.entries.size > 0) return
    holding.shelves.delete(collection)
    if (holding.shelves.size === 0) holdings.delete(holding.owner)
  }

  function setAside(count: number, bytes: number): void {
    pinnedCount += count
    pinnedBytes += bytes
    shares.setAside(count, bytes)
  }

  function forgetExpired(): number {
    const now = performance.now()
    for (;;) {
      const { first } = expiring
      if (first === undefined || first.expiresAt > now) return now
      forget(first)
    }
  }

  /** There is one: what is pinned and what is being written have room together. */
  function nextToGo(written: Kept): Kept {
    const oldest = oldestOf(shares.largest!)
    return oldest === written ? oldestOf(shares.next!) : oldest
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
