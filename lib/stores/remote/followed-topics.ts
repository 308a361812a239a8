/**
 * The topics that are followed on one connection to a store across a network: events as they arrive in; each
 * event once, in the order in which the store numbered them, out. Missing ones are read from the store. Each
 * event names the one before it, so that a missing one is noticed at the next.
 */
import { Fault } from '../../kernel/define/fault.ts'
import { notify, notifyAll } from '../../floors/memory/common.ts'
import { retry } from '../engine.ts'
import type { NumberedSubscriber } from '../../floors/memory/common.ts'

/** An event as it arrives. Without a text it was too large to be sent: it has to be read. */
export interface TopicEvent {
  readonly number: number
  /** The number of the event before it; 0 where the store knows of none. */
  readonly previous: number
  readonly text: string | undefined
}

export interface ReadEvent extends TopicEvent { readonly text: string }

/** A part of what a store keeps of a topic, as it is at one moment. */
export interface Page {
  /** The number of the last event that was published, kept or not; 0 where the store knows of none. */
  readonly last: number
  readonly events: readonly ReadEvent[]
  /** Where there is more: the number after which it is. */
  readonly next: number | undefined
}

/**
 * Reads what follows the event of a number. `'late'`: what is for those who follow from what is kept on.
 * `'missed'`: whatever is there. `'nothing'`: only the number of the last event.
 */
export type ReadPage = (topic: string, after: number, what: 'late' | 'missed' | 'nothing') => Promise<Page>

/** What a store does for those who follow. */
interface Subscription {
  /** Resolves when whatever is published from then on arrives. */
  subscribe(topic: string): Promise<void>
  /** Never throws. */
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

  async follow(
    name: string, from: 'kept' | 'now', listener: (text: string) => void, onLost: (() => void) | undefined,
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

  receive(name: string, event: TopicEvent): void {
    this.#topics.get(name)?.receive(event)
  }

  /** The connection was lost and is there again. */
  resume(): void {
    for (const topic of this.#topics.values()) topic.resume()
  }

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

export class FollowedTopic {
  /** How many follow it or are about to. */
  count = 0
  readonly #name: string
  readonly #readPage: ReadPage
  readonly #subscribers = new Set<NumberedSubscriber>()
  /** What has to be done one after the other: joining, and events that arrived meanwhile. */
  #jobs = 0
  #lastJob: Promise<unknown> = Promise.resolve()
  #isClosed = false
  /** The number of the last event that was passed on; undefined before the first look. */
  #lastNumber: number | undefined

  constructor(name: string, readPage: ReadPage) {
    this.#name = name
    this.#readPage = readPage
  }

  /** Whatever is published from now on has to arrive by `receive`. */
  join(
    from: 'kept' | 'now', listener: (text: string) => void, onLost: (() => void) | undefined,
  ): Promise<() => void> {
    const subscriber: NumberedSubscriber = { listener, onLost, lastNumber: 0 }
    return this.#do(async () => {
      await this.#begin(subscriber, from)
      return () => { this.#subscribers.delete(subscriber) }
    })
  }

  receive(event: TopicEvent): void {
    if (this.#jobs === 0 && this.#isNext(event)) return this.#pass(event)
    void this.#do(async () => {
      if (this.#lastNumber === undefined || event.number <= this.#lastNumber) return
      if (event.text === undefined) return this.#catchUp(event.number)
      if (event.previous > this.#lastNumber) await this.#catchUp(event.previous)
      if (this.#isNext(event)) this.#pass(event)
    })
  }

  resume(): void {
    void this.#do(() => this.#catchUp(Infinity))
  }

  close(): void {
    this.#isClosed = true
    this.#subscribers.clear()
  }

  #do<T>(job: () => Promise<T>): Promise<T> {
    this.#jobs++
    const done = this.#lastJob.then(job).finally(() => { this.#jobs-- })
    this.#lastJob = done.catch(() => {})
    return done
  }

  async #begin(subscriber: NumberedSubscriber, from: 'kept' | 'now'): Promise<void> {
    const what = from === 'kept' ? 'late' : 'nothing'
    for (let after: number | undefined = 0; after !== undefined;) {
      const { last, events, next }: Page = await this.#readPage(this.#name, after, what)
      for (const { text } of events) {
        if (!this.#isClosed) notify(subscriber, text)
      }
      after = next
      subscriber.lastNumber = last
    }
    this.#lastNumber ??= subscriber.lastNumber
    if (!this.#isClosed) this.#subscribers.add(subscriber)
  }

  /** Passes on what is still there up to an event, and reports what is gone. */
  async #catchUp(upTo: number): Promise<void> {
    if (this.#lastNumber === undefined) return
    for (let after: number | undefined = this.#lastNumber; after !== undefined && after < upTo;) {
      const from: number = after
      // What was missed has to be known before anything else is passed on.
      const page = await retry(() => this.#readPage(this.#name, from, 'missed'), () => this.#isClosed)
      if (page === undefined) return
      const events = page.events.filter(({ number }) => number <= upTo)
      for (const event of events) {
        this.#lose(event.previous)
        this.#pass(event)
      }
      // What comes behind arrives by itself.
      after = events.length < page.events.length ? undefined : page.next
      if (after === undefined) this.#lose(upTo === Infinity ? page.last : upTo)
    }
  }

  #isNext({ number, previous, text }: TopicEvent): boolean {
    const last = this.#lastNumber ?? -1
    return last >= 0 && text !== undefined && previous <= last && number > last
  }

  #pass({ number, text }: TopicEvent): void {
    this.#lastNumber = number
    notifyAll(this.#subscribers, number, text)
  }

  /** What lies between the last event that was passed on and this number is gone. */
  #lose(number: number): void {
    if (this.#lastNumber === undefined || number <= this.#lastNumber) return
    this.#pass({ number, previous: 0, text: undefined })
  }
}
