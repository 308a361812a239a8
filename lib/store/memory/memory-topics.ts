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

/** All topics of one memory store. */
interface MemoryTopics {
  publish(name: string, text: string, keep?: Keep): void
  follow(name: string, from: 'kept' | 'now', listener: (text: string) => void): () => void
  readonly size: number
}

export function memoryTopics(
  { maxValueBytes, maxTopics, maxEvents, maxEventsBytes }: TopicLimits,
): MemoryTopics {
  const topics = new Map<string, Topic>()
  const shares = new Shares<Topic>(maxEvents, maxEventsBytes)
  const expiring = new Heap<Topic>(byExpiry)
  /** Those without subscribers of which something is kept, the one of the oldest last event first. */
  const quiet = new LinkedList<Topic>()
  return { publish, follow, get size() { return topics.size } }

  function publish(name: string, text: string, keep: Keep | undefined): void {
    const bytes = measure(text, keep === undefined ? maxValueBytes : Math.min(maxValueBytes, maxEventsBytes))
    const now = forgetExpired()
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
    forgetExpired()
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

  /** Answers the time, in monotonic milliseconds. */
  function forgetExpired(): number {
    const now = performance.now()
    for (;;) {
      const { first } = expiring
      if (first === undefined || first.expiresAt > now) return now
      drop(first)
    }
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
