/**
 * The bounded memory store: entries and topics within a number and a number of bytes. Answers at once. Its
 * state is gone with the process.
 *
 * What is published while subscribers are being notified waits, so that all receive one order.
 */
import { Fault } from '../../kernel/define/fault.ts'
import { rejectUnknown } from '../../kernel/define/validate.ts'
import { MAX_VALUE_BYTES } from '../../kernel/store/store.ts'
import { Heap, NOT_IN_HEAP } from '../bounds/heap.ts'
import { LinkedList } from '../../kernel/util/linked-list.ts'
import { total } from '../../kernel/util/memory.ts'
import { Share, Shares } from '../bounds/shares.ts'
import { measure, notify, notifyAll, requireKey } from './common.ts'
import type { Entry, Keep, Store, StoreKey } from '../../kernel/store/store.ts'
import type { Order } from '../bounds/heap.ts'
import type { LinkedMember } from '../../kernel/util/linked-list.ts'
import type { NumberedSubscriber } from './common.ts'

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

/** What expires: when, in monotonic milliseconds, and its index in the heap. */
interface Expiring { readonly expiresAt: number; expiryIndex: number }

const byExpiry: Order<Expiring> = {
  isBefore: (one, other) => one.expiresAt < other.expiresAt,
  placeOf: (one) => one.expiryIndex,
  place(one, at) { one.expiryIndex = at },
}

/** Drops what expires first until nothing has expired. Answers the time, in monotonic milliseconds. */
function dropExpired<T extends Expiring>(expiring: Heap<T>, drop: (one: T) => void): number {
  const now = performance.now()
  for (;;) {
    const { first } = expiring
    if (first === undefined || first.expiresAt > now) return now
    drop(first)
  }
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
    dropExpired(expiring, forget)
    const found = find(id)
    return found && shown(found)
  }

  function write(id: StoreKey, value: string, keepMs: number, expected: number | 'any'): number | undefined {
    requireKey(id)
    const bytes = measure(value, Math.min(maxValueBytes, maxBytes)) + Buffer.byteLength(id.key)
    const now = dropExpired(expiring, forget)
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
    dropExpired(expiring, forget)
    const found = find(id)
    if (found === undefined || !isExpected(found, expected)) return false
    forget(found)
    return true
  }

  function list(
    collection: string, owner: string, limit: number, before: number = Infinity,
  ): readonly Entry[] {
    dropExpired(expiring, forget)
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
    const { shelf, key, isPinned } = kept
    shelf.entries.set(key, kept)
    shelf[isPinned ? 'pinned' : 'loose'].add(kept)
    if (kept.expiresAt !== Infinity) expiring.add(kept)
    account(kept, 1)
  }

  function forget(kept: Kept): void {
    const { shelf, key, isPinned } = kept
    const { holding, collection } = shelf
    shelf.entries.delete(key)
    shelf[isPinned ? 'pinned' : 'loose'].remove(kept)
    if (kept.expiryIndex !== NOT_IN_HEAP) expiring.remove(kept)
    account(kept, -1)
    if (shelf.entries.size > 0) return
    holding.shelves.delete(collection)
    if (holding.shelves.size === 0) holdings.delete(holding.owner)
  }

  function account({ shelf, bytes, isPinned }: Kept, more: 1 | -1): void {
    if (!isPinned) return shares.change(shelf.holding.share, more, more * bytes)
    pinnedCount += more
    pinnedBytes += more * bytes
    shares.setAside(more, more * bytes)
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

/** Numbers rise within a topic. */
interface TopicEvent { readonly number: number; readonly text: string }

interface KeptEvent extends TopicEvent, LinkedMember<KeptEvent> {
  readonly bytes: number
  readonly expiresAt: number
}

/** One topic. Its share counts the events that are kept. */
class Topic implements LinkedMember<Topic>, Expiring {
  readonly name: string
  readonly share: Share<Topic> = new Share<Topic>(this)
  readonly subscribers = new Set<NumberedSubscriber>()
  readonly kept = new LinkedList<KeptEvent>()
  /** What not all subscribers have received. */
  readonly pending: TopicEvent[] = []
  lastNumber = 0
  isNotifying = false
  isQuiet = false
  expiresAt = Infinity
  expiryIndex: number = NOT_IN_HEAP
  previous: Topic | undefined = undefined
  next: Topic | undefined = undefined

  constructor(name: string) {
    this.name = name
  }
}

/**
 * All topics of one memory store. Where too much is kept, the oldest event of the topic that holds most goes.
 */
export function memoryTopics(
  { maxValueBytes, maxTopics, maxEvents, maxEventsBytes }: MemoryLimits,
): Pick<MemoryStore, 'publish' | 'follow'> & { readonly size: number } {
  const topics = new Map<string, Topic>()
  const shares = new Shares<Topic>(maxEvents, maxEventsBytes)
  const expiring = new Heap<Topic>(byExpiry)
  /** Those without subscribers of which something is kept, the one of the oldest last event first. */
  const quiet = new LinkedList<Topic>()
  return { publish, follow, get size() { return topics.size } }

  function publish(name: string, text: string, keep: Keep | undefined): void {
    const bytes = measure(text, keep === undefined ? maxValueBytes : Math.min(maxValueBytes, maxEventsBytes))
    const now = dropExpired(expiring, drop)
    let topic = topics.get(name)
    if (topic === undefined) {
      if (keep === undefined) return
      topic = open(name)
    }
    const number = ++topic.lastNumber
    if (keep !== undefined) {
      const expiresAt = now + keep.ms
      keepEvent(topic, { number, text, bytes, expiresAt, previous: undefined, next: undefined }, keep.events)
    }
    if (topic.subscribers.size > 0) {
      topic.pending.push({ number, text })
      deliver(topic)
    }
  }

  function follow(name: string, from: 'kept' | 'now', listener: (text: string) => void): () => void {
    dropExpired(expiring, drop)
    const topic = topics.get(name) ?? open(name)
    const subscriber = { listener, onLost: undefined, lastNumber: topic.lastNumber }
    topic.subscribers.add(subscriber)
    settle(topic)
    if (from === 'kept') replay(topic, subscriber)
    return () => {
      if (topic.subscribers.delete(subscriber)) settle(topic)
    }
  }

  /** Throws `Fault('busy')` where all others are followed. */
  function open(name: string): Topic {
    if (topics.size >= maxTopics) {
      const { first } = quiet
      if (first === undefined) {
        throw new Fault('busy', `${topics.size} topics are followed already; try again later`)
      }
      while (first.kept.first !== undefined) drop(first)
    }
    const topic = new Topic(name)
    topics.set(name, topic)
    return topic
  }

  function keepEvent(topic: Topic, event: KeptEvent, events: number): void {
    topic.kept.add(event)
    shares.change(topic.share, 1, event.bytes)
    age(topic)
    while (topic.share.count > events) drop(topic)
    while (shares.isOver) {
      const largest = shares.largest!
      // The newest event stays: it is the only one of its topic, or not the oldest.
      drop(largest === topic && topic.share.count === 1 ? shares.next! : largest)
    }
    settle(topic)
  }

  function drop(topic: Topic): void {
    const first = topic.kept.first!
    topic.kept.remove(first)
    shares.change(topic.share, -1, -first.bytes)
    age(topic)
    if (topic.share.count === 0) settle(topic)
  }

  /** The oldest event of the topic is another one now, or there is none. */
  function age(topic: Topic): void {
    topic.expiresAt = topic.kept.first?.expiresAt ?? Infinity
    if (topic.expiryIndex === NOT_IN_HEAP) expiring.add(topic)
    else if (topic.share.count > 0) expiring.moved(topic)
    else expiring.remove(topic)
  }

  /** A topic without subscribers is a quiet one; one of which nothing is left is forgotten. */
  function settle(topic: Topic): void {
    if (topic.isQuiet) quiet.remove(topic)
    topic.isQuiet = topic.subscribers.size === 0 && topic.share.count > 0
    if (topic.isQuiet) quiet.add(topic)
    else if (topic.subscribers.size === 0 && !topic.isNotifying) topics.delete(topic.name)
  }

  /** What is published while one receives what is kept comes after it. */
  function replay(topic: Topic, subscriber: NumberedSubscriber): void {
    const { isNotifying } = topic
    topic.isNotifying = true
    const now = performance.now()
    const kept: string[] = []
    for (let event = topic.kept.first; event !== undefined; event = event.next) {
      if (event.expiresAt > now) kept.push(event.text)
    }
    for (const text of kept) notify(subscriber, text)
    topic.isNotifying = isNotifying
    deliver(topic)
  }

  /** Passes on what is pending, unless that is being done. */
  function deliver(topic: Topic): void {
    if (topic.isNotifying) return
    topic.isNotifying = true
    const { pending, subscribers } = topic
    for (let at = 0; at < pending.length; at++) {
      const { number, text } = pending[at]!
      notifyAll(subscribers, number, text)
    }
    pending.length = 0
    topic.isNotifying = false
    settle(topic)
  }
}
