/**
 * The topics of a store that lies across a network, as they are followed here. Knows no store: how one
 * subscribes and reads is given.
 */
import { Fault } from '../../define/fault.ts'
import { FollowedTopic } from './followed-topic.ts'
import type { Notice, ReadPage } from './followed-topic.ts'
import type { TopicListener } from '../shared/listener.ts'

/** What a store does for those who follow. */
export interface Subscription {
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
