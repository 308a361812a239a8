/**
 * Topics in bounded memory: who follows is told at once, and what is kept is there for those who come
 * later. Where too much is kept, the oldest event of the topic that holds most goes.
 *
 * What is said while others are still being told waits for its turn, so that all hear one order.
 */
import { Fault } from '../../define/fault.ts'
import { Heap, NOT_IN_HEAP } from '../../util/heap.ts'
import { LinkedList } from '../../util/linked-list.ts'
import { Share, Shares } from '../../util/shares.ts'
import { measure, tell, tellAll } from '../shared/common.ts'
import type { Keep } from '../../state/store.ts'
import type { Order } from '../../util/heap.ts'
import type { LinkedMember } from '../../util/linked-list.ts'
import type { Follower, NumberedFollower, TopicListener } from '../shared/common.ts'

/** What topics may hold. */
interface TopicLimits {
  readonly maxValueBytes: number
  readonly maxTopics: number
  readonly maxEvents: number
  readonly maxEventsBytes: number
}

/** Something that was said; numbers rise within a topic. */
interface Said { readonly number: number; readonly text: string }

interface KeptEvent extends Said, LinkedMember<KeptEvent> {
  readonly bytes: number
  /** Monotonic milliseconds. */
  readonly expiresAt: number
}

/** One topic. Its share counts the events that are kept. */
class Topic implements LinkedMember<Topic> {
  readonly name: string
  readonly share: Share<Topic> = new Share<Topic>(this)
  readonly followers = new Set<NumberedFollower>()
  readonly kept = new LinkedList<KeptEvent>()
  /** What has not been heard by all. */
  readonly pending: Said[] = []
  lastNumber = 0
  isTelling = false
  /** Whether it stands among those that nobody follows. */
  isQuiet = false
  /** When the first of the kept events expires. */
  expiresAt = Infinity
  expiryPlace: number = NOT_IN_HEAP
  previous: Topic | undefined = undefined
  next: Topic | undefined = undefined

  constructor(name: string) {
    this.name = name
  }
}

const byExpiry: Order<Topic> = {
  isBefore: (one, other) => one.expiresAt < other.expiresAt,
  placeOf: (topic) => topic.expiryPlace,
  place(topic, at) { topic.expiryPlace = at },
}

/** All topics of one memory store; the methods are those of `Store`. */
export class MemoryTopics {
  readonly #limits: TopicLimits
  readonly #topics = new Map<string, Topic>()
  readonly #shares: Shares<Topic>
  readonly #expiring = new Heap<Topic>(byExpiry)
  /** Those that nobody follows and of which something is kept, the one of the oldest last event first. */
  readonly #quiet = new LinkedList<Topic>()

  constructor(limits: TopicLimits) {
    this.#limits = limits
    this.#shares = new Shares(limits.maxEvents, limits.maxEventsBytes)
  }

  /** How many topics take room. */
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
    if (topic.followers.size > 0) {
      topic.pending.push({ number, text })
      this.#tell(topic)
    }
  }

  follow(name: string, from: 'kept' | 'now', listener: TopicListener): () => void {
    this.#forgetExpired()
    const topic = this.#topics.get(name) ?? this.#open(name)
    const follower = { listener, onLost: undefined, heard: topic.lastNumber }
    topic.followers.add(follower)
    this.#settle(topic)
    if (from === 'kept') this.#retell(topic, follower)
    return () => {
      if (topic.followers.delete(follower)) this.#settle(topic)
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
      // What was said just now stays: it is the only one of its topic, or not the oldest.
      this.#drop(largest === topic && topic.share.count === 1 ? this.#shares.next! : largest)
    }
    this.#settle(topic)
  }

  /** Forgets the oldest kept event of a topic. */
  #drop(topic: Topic): void {
    const first = topic.kept.first!
    topic.kept.remove(first)
    this.#shares.change(topic.share, -1, -first.bytes)
    this.#age(topic)
    if (topic.share.count === 0) this.#settle(topic)
  }

  /** Answers the time that it is, in monotonic milliseconds. */
  #forgetExpired(): number {
    const now = performance.now()
    for (;;) {
      const { first } = this.#expiring
      if (first === undefined || first.expiresAt > now) return now
      this.#drop(first)
    }
  }

  /** Another event of the topic is the oldest now, or there is none any more. */
  #age(topic: Topic): void {
    topic.expiresAt = topic.kept.first?.expiresAt ?? Infinity
    if (topic.expiryPlace === NOT_IN_HEAP) this.#expiring.add(topic)
    else if (topic.share.count > 0) this.#expiring.moved(topic)
    else this.#expiring.remove(topic)
  }

  /** A topic that nobody follows waits among the quiet ones; one of which nothing is left is forgotten. */
  #settle(topic: Topic): void {
    if (topic.isQuiet) this.#quiet.remove(topic)
    topic.isQuiet = topic.followers.size === 0 && topic.share.count > 0
    if (topic.isQuiet) this.#quiet.add(topic)
    else if (topic.followers.size === 0 && !topic.isTelling) this.#topics.delete(topic.name)
  }

  /** Tells a new follower what is kept. What is said meanwhile comes after it. */
  #retell(topic: Topic, follower: Follower): void {
    const { isTelling } = topic
    topic.isTelling = true
    const now = performance.now()
    const kept: string[] = []
    for (let event = topic.kept.first; event !== undefined; event = event.next) {
      if (event.expiresAt > now) kept.push(event.text)
    }
    for (const text of kept) tell(follower, text)
    topic.isTelling = isTelling
    this.#tell(topic)
  }

  /** Tells what is pending, unless somebody is being told already: then it has its turn there. */
  #tell(topic: Topic): void {
    if (topic.isTelling) return
    topic.isTelling = true
    const { pending, followers } = topic
    for (let at = 0; at < pending.length; at++) {
      const { number, text } = pending[at]!
      tellAll(followers, number, text)
    }
    pending.length = 0
    topic.isTelling = false
    this.#settle(topic)
  }
}
