/**
 * The bounded memory store: entries and topics within a number and a number of bytes. Answers at once. Its
 * state is gone with the process.
 *
 * What is published while subscribers are being notified waits, so that all receive one order.
 */
import { Fault } from '../../kernel/define/fault.ts'
import { checkOptionsOf, mustBe } from '../../kernel/define/validate.ts'
import { MAX_VALUE_BYTES } from '../../kernel/store/store.ts'
import { total } from '../../kernel/util/memory.ts'
import { Bounded, KEPT, LEASED } from '../bounds/bounded.ts'
import { measure, notify, notifyAll, requireKey } from './common.ts'
import type { Checks } from '../../kernel/define/validate.ts'
import type { Entry, Keep, Store, StoreKey } from '../../kernel/store/store.ts'
import type { Slotted } from '../bounds/slots.ts'
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

const limit = mustBe((value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) > 0),
  'write a whole number above zero, or Infinity', RangeError)

const checks: Checks<MemoryStoreOptions> = {
  maxEntries: limit, maxBytes: limit, maxValueBytes: limit, maxTopics: limit, maxEvents: limit,
  maxEventsBytes: limit,
  isShared: mustBe((value) => typeof value === 'boolean', 'write true or false'),
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
  checkOptionsOf('memoryStore', options, checks)
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(given) }
}

/** The server's own, and what is kept for ever where others share the memory, is leased: it never goes. */
class KeptEntry implements Entry, Slotted {
  readonly id: string
  slot = 0
  readonly collection: string
  readonly key: string
  readonly value: string
  readonly version: number
  /** Its bytes where it is leased, otherwise 0. */
  readonly leasedBytes: number

  constructor(
    id: string, { collection, key }: StoreKey, value: string, version: number, leasedBytes: number,
  ) {
    this.id = id
    this.collection = collection
    this.key = key
    this.value = value
    this.version = version
    this.leasedBytes = leasedBytes
  }
}

/**
 * All entries of one memory store. What has expired is forgotten before anything else is done; where there is
 * no room then, the oldest entry of the owner that holds most goes, never the one that is being written.
 */
function memoryEntries(
  { maxEntries, maxBytes, maxValueBytes, isShared }: MemoryLimits,
): Pick<MemoryStore, 'read' | 'write' | 'remove' | 'list'> {
  const entries = new Bounded<KeptEntry>({ maxCount: maxEntries, maxBytes }, { onEvict: gone })
  let leasedBytes = 0
  let lastVersion = 0
  return { read, write, remove, list }

  function read(id: StoreKey): Entry | undefined {
    entries.expire()
    const found = entries.get(idOf(id))
    return found && shown(found)
  }

  function write(key: StoreKey, value: string, keepMs: number, expected: number | 'any'): number | undefined {
    requireKey(key)
    const bytes = measure(value, Math.min(maxValueBytes, maxBytes)) + Buffer.byteLength(key.key)
    entries.expire()
    const id = idOf(key)
    const before = entries.get(id)
    if (!isExpected(before, expected)) return undefined
    requireRoom(bytes, before)
    if (before !== undefined) forget(before)
    const isLeased = key.owner.startsWith('~') || (isShared && keepMs === Infinity)
    const kept = new KeptEntry(id, key, value, ++lastVersion, isLeased ? bytes : 0)
    leasedBytes += kept.leasedBytes
    // There is room: what is leased and what is being written have it together.
    entries.add(key.owner, kept, bytes, isLeased ? LEASED : KEPT, keepMs)
    return kept.version
  }

  function remove(id: StoreKey, expected: number | 'any'): boolean {
    entries.expire()
    const found = entries.get(idOf(id))
    if (found === undefined || !isExpected(found, expected)) return false
    forget(found)
    return true
  }

  function list(
    collection: string, owner: string, limit: number, before: number = Infinity,
  ): readonly Entry[] {
    entries.expire()
    const found: Entry[] = []
    if (limit <= 0) return found
    for (const entry of newestFirst(entries.of(owner, KEPT), entries.of(owner, LEASED))) {
      if (entry.collection !== collection || entry.version >= before || entries.hasExpired(entry)) continue
      if (found.push(shown(entry)) >= limit) break
    }
    return found
  }

  /** Throws `Fault('busy')` where there would be no room even if all went that can. */
  function requireRoom(bytes: number, before: KeptEntry | undefined): void {
    const replaced = before?.leasedBytes ?? 0
    const count = entries.leased - (replaced > 0 ? 1 : 0) + 1
    const sum = leasedBytes - replaced + bytes
    if (count <= maxEntries && sum <= maxBytes) return
    throw new Fault('busy', 'The store is full of what may not go; try again later')
  }

  function forget(entry: KeptEntry): void {
    entries.remove(entry)
    gone(entry)
  }

  function gone(entry: KeptEntry): void {
    leasedBytes -= entry.leasedBytes
  }
}

/** One text for the three, whatever is in them. */
function idOf({ collection, owner, key }: StoreKey): string {
  return `${collection.length}:${owner.length}:${collection}${owner}${key}`
}

/** Two lists in one, each of which has the newest first. */
function * newestFirst(ones: Iterator<KeptEntry>, others: Iterator<KeptEntry>): Generator<KeptEntry> {
  let one = ones.next()
  let other = others.next()
  for (;;) {
    if (other.done !== true && (one.done === true || other.value.version > one.value.version)) {
      yield other.value
      other = others.next()
    } else if (one.done !== true) {
      yield one.value
      one = ones.next()
    } else {
      return
    }
  }
}

function isExpected(found: KeptEntry | undefined, expected: number | 'any'): boolean {
  return expected === 'any' || expected === (found?.version ?? 0)
}

function shown({ key, value, version }: KeptEntry): Entry {
  return { key, value, version }
}

/** Numbers rise within a topic. */
interface TopicEvent { readonly number: number; readonly text: string }

class KeptEvent implements TopicEvent, Slotted {
  slot = 0
  readonly topic: Topic
  readonly number: number
  readonly text: string

  constructor(topic: Topic, number: number, text: string) {
    this.topic = topic
    this.number = number
    this.text = text
  }

  get id(): string { return '' }
}

/** One topic; it is leased while it is followed. */
class Topic implements Slotted {
  readonly id: string
  slot = 0
  readonly subscribers = new Set<NumberedSubscriber>()
  /** What not all subscribers have received. */
  readonly pending: TopicEvent[] = []
  lastNumber = 0
  keptEvents = 0
  isNotifying = false

  constructor(name: string) {
    this.id = name
  }
}

/**
 * All topics of one memory store. Where too much is kept, the oldest event of the topic that holds most goes.
 */
export function memoryTopics(
  { maxValueBytes, maxTopics, maxEvents, maxEventsBytes }: MemoryLimits,
): Pick<MemoryStore, 'publish' | 'follow'> & { readonly size: number } {
  const events = new Bounded<KeptEvent>({ maxCount: maxEvents, maxBytes: maxEventsBytes }, { onEvict: gone })
  const topics = new Bounded<Topic>({ maxCount: maxTopics, maxBytes: Infinity }, {
    onEvict: ({ id }) => { for (const event of events.of(id)) drop(event) },
  })
  return { publish, follow, get size() { return topics.count } }

  function publish(name: string, text: string, keep: Keep | undefined): void {
    const bytes = measure(text, keep === undefined ? maxValueBytes : Math.min(maxValueBytes, maxEventsBytes))
    events.expire()
    let topic = topics.get(name)
    if (topic === undefined) {
      if (keep === undefined) return
      topic = open(name)
    }
    const number = ++topic.lastNumber
    if (keep !== undefined) {
      const event = new KeptEvent(topic, number, text)
      topic.keptEvents += 1
      events.add(name, event, bytes, KEPT, keep.ms)
      while (event.slot !== 0 && topic.keptEvents > keep.events) drop(events.oldest(name)!)
      settle(topic)
    }
    if (topic.subscribers.size > 0) {
      topic.pending.push({ number, text })
      deliver(topic)
    }
  }

  function follow(name: string, from: 'kept' | 'now', listener: (text: string) => void): () => void {
    events.expire()
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
    const topic = new Topic(name)
    if (topics.add('', topic, 0, LEASED)) return topic
    throw new Fault('busy', `${topics.count} topics are followed already; try again later`)
  }

  function drop(event: KeptEvent): void {
    events.remove(event)
    gone(event)
  }

  function gone({ topic }: KeptEvent): void {
    topic.keptEvents -= 1
    if (topic.keptEvents === 0) settle(topic)
  }

  /** A topic without subscribers may have to go, and one of which nothing is left does. */
  function settle(topic: Topic): void {
    if (topic.subscribers.size > 0) topics.use(topic, LEASED)
    else if (topic.keptEvents > 0) topics.use(topic, KEPT)
    else if (!topic.isNotifying) topics.remove(topic)
  }

  /** What is published while one receives what is kept comes after it. */
  function replay(topic: Topic, subscriber: NumberedSubscriber): void {
    const { isNotifying } = topic
    topic.isNotifying = true
    const kept = [...events.of(topic.id)].reverse()
    for (const event of kept) if (!events.hasExpired(event)) notify(subscriber, event.text)
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
