/**
 * Topics in bounded memory: subscribers are notified at once, and what is kept is there for those who come
 * later. Where too much is kept, the oldest event of the topic that holds most goes.
 *
 * What is published while subscribers are being notified waits, so that all receive one order.
 */
import { Fault } from '../../define/fault.ts'
import { Heap, NOT_IN_HEAP } from '../../util/heap.ts'
import { LinkedList } from '../../util/linked-list.ts'
import { Share, Shares } from '../../util/shares.ts'
import { measure, notify, notifyAll } from '../shared/common.ts'
import type { Keep } from '../../state/store.ts'
import type { Order } from '../../util/heap.ts'
import type { LinkedMember } from '../../util/linked-list.ts'
import type { NumberedSubscriber } from '../shared/common.ts'

/** What expires: when, in monotonic milliseconds, and its index in the heap. */
export interface Expiring { readonly expiresAt: number; expiryIndex: number }

export const byExpiry: Order<Expiring> = {
  isBefore: (one, other) => one.expiresAt < other.expiresAt,
  placeOf: (one) => one.expiryIndex,
  place(one, at) { one.expiryIndex = at },
}

interface TopicLimits {
  readonly maxValueBytes: number
  readonly maxTopics: number
  readonly maxEvents: number
  readonly maxEventsBytes: number
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

/** All topics of one memory store; the methods are those of `Store`. */
export class MemoryTopics {
  readonly #limits: TopicLimits
  readonly #topics = new Map<string, Topic>()
  readonly #shares: Shares<Topic>
  readonly #expiring = new Heap<Topic>(byExpiry)
  /** Those without subscribers of which something is kept, the one of the oldest last event first. */
  readonly #quiet = new LinkedList<Topic>()

  constructor(limits: TopicLimits) {
    this.#limits = limits
    this.#shares = new Shares(limits.maxEvents, limits.maxEventsBytes)
  }

  get size(): number { return this.#topics.size }

  publish(name: string, text: string, keep: Keep | undefined): void {
    const { maxValueBytes, maxEventsBytes } = this.#limits
    const bytes = measure(text, keep === undefined ? maxValueBytes : Math.min(maxValueBytes, maxEventsBytes))
    const now = this.#forgetExpired()
    let topic = this.#topics.get(name)
    if (topic === undefined) {
      if (keep === undefined) return
      topic = this.#open(name)
    }
    const number = ++topic.lastNumber
    if (keep !== undefined) {
      const expiresAt = now + keep.ms
      this.#keep(topic, { number, text, bytes, expiresAt, previous: undefined, next: undefined }, keep.events)
    }
    if (topic.subscribers.size > 0) {
      topic.pending.push({ number, text })
      this.#notify(topic)
    }
  }

  follow(name: string, from: 'kept' | 'now', listener: (text: string) => void): () => void {
    this.#forgetExpired()
    const topic = this.#topics.get(name) ?? this.#open(name)
    const subscriber = { listener, onLost: undefined, lastNumber: topic.lastNumber }
    topic.subscribers.add(subscriber)
    this.#settle(topic)
    if (from === 'kept') this.#replay(topic, subscriber)
    return () => {
      if (topic.subscribers.delete(subscriber)) this.#settle(topic)
    }
  }

  /** Throws `Fault('busy')` where all others are followed. */
  #open(name: string): Topic {
    if (this.#topics.size >= this.#limits.maxTopics) {
      const { first } = this.#quiet
      if (first === undefined) {
        throw new Fault('busy', `${this.#topics.size} topics are followed already; try again later`)
      }
      while (first.kept.first !== undefined) this.#drop(first)
    }
    const topic = new Topic(name)
    this.#topics.set(name, topic)
    return topic
  }

  #keep(topic: Topic, event: KeptEvent, events: number): void {
    topic.kept.add(event)
    this.#shares.change(topic.share, 1, event.bytes)
    this.#age(topic)
    while (topic.share.count > events) this.#drop(topic)
    while (this.#shares.isOver) {
      const largest = this.#shares.largest!
      // The newest event stays: it is the only one of its topic, or not the oldest.
      this.#drop(largest === topic && topic.share.count === 1 ? this.#shares.next! : largest)
    }
    this.#settle(topic)
  }

  #drop(topic: Topic): void {
    const first = topic.kept.first!
    topic.kept.remove(first)
    this.#shares.change(topic.share, -1, -first.bytes)
    this.#age(topic)
    if (topic.share.count === 0) this.#settle(topic)
  }

  /** Answers the time, in monotonic milliseconds. */
  #forgetExpired(): number {
    const now = performance.now()
    for (;;) {
      const { first } = this.#expiring
      if (first === undefined || first.expiresAt > now) return now
      this.#drop(first)
    }
  }

  /** The oldest event of the topic is another one now, or there is none. */
  #age(topic: Topic): void {
    topic.expiresAt = topic.kept.first?.expiresAt ?? Infinity
    if (topic.expiryIndex === NOT_IN_HEAP) this.#expiring.add(topic)
    else if (topic.share.count > 0) this.#expiring.moved(topic)
    else this.#expiring.remove(topic)
  }

  /** A topic without subscribers is a quiet one; one of which nothing is left is forgotten. */
  #settle(topic: Topic): void {
    if (topic.isQuiet) this.#quiet.remove(topic)
    topic.isQuiet = topic.subscribers.size === 0 && topic.share.count > 0
    if (topic.isQuiet) this.#quiet.add(topic)
    else if (topic.subscribers.size === 0 && !topic.isNotifying) this.#topics.delete(topic.name)
  }

  /** What is published while one receives what is kept comes after it. */
  #replay(topic: Topic, subscriber: NumberedSubscriber): void {
    const { isNotifying } = topic
    topic.isNotifying = true
    const now = performance.now()
    const kept: string[] = []
    for (let event = topic.kept.first; event !== undefined; event = event.next) {
      if (event.expiresAt > now) kept.push(event.text)
    }
    for (const text of kept) notify(subscriber, text)
    topic.isNotifying = isNotifying
    this.#notify(topic)
  }

  /** Passes on what is pending, unless that is being done. */
  #notify(topic: Topic): void {
    if (topic.isNotifying) return
    topic.isNotifying = true
    const { pending, subscribers } = topic
    for (let at = 0; at < pending.length; at++) {
      const { number, text } = pending[at]!
      notifyAll(subscribers, number, text)
    }
    pending.length = 0
    topic.isNotifying = false
    this.#settle(topic)
  }
}
