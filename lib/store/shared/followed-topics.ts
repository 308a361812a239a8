/**
 * One topic of a store that lies across a network, as it is heard here: notices as they arrive, in the order
 * in which the store numbered them, and readings of what is kept for those who join and where notices are
 * missing. Knows no store: how a topic is read is given.
 *
 * Each event names the one before it, so that a missing one is noticed at the next.
 */
import { Fault } from '../../define/fault.ts'
import { tell, tellAll } from './common.ts'
import type { NumberedFollower, TopicListener } from './common.ts'

/** An event as it arrives. Without a text it is too large to arrive: it has to be read. */
export interface Notice {
  readonly number: number
  /** The number of the event before it; 0 where the store knows of none. */
  readonly previous: number
  readonly text: string | undefined
}

/** An event as it is read. */
export interface Said extends Notice { readonly text: string }

/** A part of what a store keeps of a topic, as it is at one moment. */
export interface Page {
  /** The number of the last event that was said, kept or not; 0 where the store knows of none. */
  readonly last: number
  readonly events: readonly Said[]
  /** Where there is more: the number after which it is. */
  readonly next: number | undefined
}

/**
 * Reads what follows the event of a number. `'late'`: what those hear who follow from what is kept on.
 * `'missed'`: whatever is there. `'nothing'`: only the number of the last event.
 */
export type ReadPage = (topic: string, after: number, what: 'late' | 'missed' | 'nothing') => Promise<Page>

/** How long to wait before reading again what could not be read. */
const RETRY_MS = 200

/** One topic that is followed. */
export class FollowedTopic {
  /** How many follow it or are about to. */
  count = 0
  readonly #name: string
  readonly #readPage: ReadPage
  readonly #followers = new Set<NumberedFollower>()
  /** What has to be done in turn: joining, and notices that came meanwhile. */
  readonly #jobs: (() => Promise<void>)[] = []
  #isWorking = false
  #isClosed = false
  /** The number of the last event that was passed on; undefined before the first look. */
  #heard: number | undefined

  constructor(name: string, readPage: ReadPage) {
    this.#name = name
    this.#readPage = readPage
  }

  /** Lets somebody hear. Whatever is said from now on has to arrive by `hear`. */
  join(from: 'kept' | 'now', listener: TopicListener, onLost: (() => void) | undefined): Promise<() => void> {
    const follower: NumberedFollower = { listener, onLost, heard: 0 }
    return new Promise((resolve, reject) => this.#do(async () => {
      try {
        await this.#begin(follower, from)
        resolve(() => { this.#followers.delete(follower) })
      } catch (error) {
        reject(error)
      }
    }))
  }

  /** Passes on what has arrived. */
  hear(notice: Notice): void {
    if (!this.#isWorking && this.#isNext(notice)) return this.#tell(notice)
    this.#do(async () => {
      if (this.#heard === undefined || notice.number <= this.#heard) return
      if (notice.text === undefined) return this.#catchUp(notice.number)
      if (notice.previous > this.#heard) await this.#catchUp(notice.previous)
      if (this.#isNext(notice)) this.#tell(notice)
    })
  }

  /** Something may have been missed: looks. */
  resume(): void {
    this.#do(async () => this.#catchUp(Infinity))
  }

  /** Nobody hears anything any more. */
  close(): void {
    this.#isClosed = true
    this.#jobs.length = 0
    this.#followers.clear()
  }

  #do(job: () => Promise<void>): void {
    this.#jobs.push(job)
    if (!this.#isWorking) void this.#work()
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) await job()
    this.#isWorking = false
  }

  async #begin(follower: NumberedFollower, from: 'kept' | 'now'): Promise<void> {
    const what = from === 'kept' ? 'late' : 'nothing'
    for (let after: number | undefined = 0; after !== undefined;) {
      const { last, events, next }: Page = await this.#readPage(this.#name, after, what)
      for (const { text } of events) {
        if (!this.#isClosed) tell(follower, text)
      }
      after = next
      follower.heard = last
    }
    this.#heard ??= follower.heard
    if (!this.#isClosed) this.#followers.add(follower)
  }

  /** Passes on what is still there up to an event, and tells where something is not. */
  async #catchUp(upTo: number): Promise<void> {
    if (this.#heard === undefined) return
    for (let after: number | undefined = this.#heard; after !== undefined && after < upTo;) {
      const page: Page | undefined = await this.#untilRead(after)
      if (page === undefined) return
      const events = page.events.filter(({ number }) => number <= upTo)
      for (const event of events) {
        this.#lose(event.previous)
        this.#tell(event)
      }
      // What comes behind is told by notices of its own.
      after = events.length < page.events.length ? undefined : page.next
      if (after === undefined) this.#lose(upTo === Infinity ? page.last : upTo)
    }
  }

  /** What was missed has to be known before anything else is heard. Undefined where nobody hears any more. */
  async #untilRead(after: number): Promise<Page | undefined> {
    while (!this.#isClosed) {
      try {
        return await this.#readPage(this.#name, after, 'missed')
      } catch {
        await new Promise<void>((resolve) => { setTimeout(resolve, RETRY_MS).unref() })
      }
    }
    return undefined
  }

  #isNext(notice: Notice): notice is Said {
    const heard = this.#heard ?? -1
    return heard >= 0 && notice.text !== undefined && notice.previous <= heard && notice.number > heard
  }

  #tell({ number, text }: Said): void {
    this.#heard = number
    tellAll(this.#followers, number, text)
  }

  /** What lies between the last event that was passed on and the one of this number is gone. */
  #lose(number: number): void {
    if (this.#heard === undefined || number <= this.#heard) return
    this.#heard = number
    tellAll(this.#followers, number, undefined)
  }
}

/** What a store does for those who follow. */
interface Subscription {
  /** Resolves when whatever is said from then on arrives. */
  subscribe(topic: string): Promise<void>
  /** Nobody follows the topic any more. Never throws. */
  unsubscribe(topic: string): void
  readonly readPage: ReadPage
}

/** All topics that are followed on one connection. */
export class FollowedTopics {
  readonly #subscription: Subscription
  readonly #topics = new Map<string, FollowedTopic>()
  #isClosed = false

  constructor(subscription: Subscription) {
    this.#subscription = subscription
  }

  /** As `Store.follow`. */
  async follow(
    name: string, from: 'kept' | 'now', listener: TopicListener, onLost: (() => void) | undefined,
  ): Promise<() => void> {
    if (this.#isClosed) throw new Fault('busy', 'The store is closed')
    const topic = this.#topics.get(name) ?? new FollowedTopic(name, this.#subscription.readPage)
    this.#topics.set(name, topic)
    topic.count++
    try {
      await this.#subscription.subscribe(name)
      const leave = await topic.join(from, listener, onLost)
      let hasLeft = false
      return () => {
        leave()
        if (!hasLeft) this.#release(name, topic)
        hasLeft = true
      }
    } catch (error) {
      this.#release(name, topic)
      throw error
    }
  }

  /** Something was said. */
  hear(name: string, notice: Notice): void {
    this.#topics.get(name)?.hear(notice)
  }

  /** The connection was lost and is there again. */
  resume(): void {
    for (const topic of this.#topics.values()) topic.resume()
  }

  /** No listener is called any more. */
  close(): void {
    this.#isClosed = true
    for (const topic of this.#topics.values()) topic.close()
    this.#topics.clear()
  }

  #release(name: string, topic: FollowedTopic): void {
    if (--topic.count > 0 || this.#topics.get(name) !== topic) return
    this.#topics.delete(name)
    topic.close()
    this.#subscription.unsubscribe(name)
  }
}
