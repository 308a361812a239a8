/**
 * A store across a network, made of its commands: what is checked before anything is sent, and what is
 * published in its order. The same for every engine.
 */
import { Fault } from '../../define/fault.ts'
import { total } from '../../util/memory.ts'
import { measure, requireKey } from './common.ts'
import type { Keep, Store } from '../../state/store.ts'
import type { FollowedTopics } from './followed-topics.ts'

export interface Publication { readonly text: string; readonly keep: Keep | undefined }

/** Publishes a batch on a topic, in its order, all or none. */
type PublishBatch = (topic: string, batch: readonly Publication[]) => Promise<void>

interface RemoteCommands extends Pick<Store, 'read' | 'write' | 'remove' | 'list'> {
  readonly followed: FollowedTopics
  readonly publishBatch: PublishBatch
  close(): Promise<void>
}

/**
 * Makes the store. `load` brings its commands, when the first of them is needed. Over `maxValueBytes` a value
 * or an event is `Fault('too-large')`.
 */
export function remoteStore(load: () => Promise<RemoteCommands>, maxValueBytes: number): Store {
  let loading: Promise<RemoteCommands> | undefined
  const loaded = (): Promise<RemoteCommands> => loading ??= load()
  const publisher = new Publisher(async (topic, batch) => (await loaded()).publishBatch(topic, batch))
  return {
    isShared: true,
    read: async (id) => (await loaded()).read(id),
    async write(id, value, keepMs, expected) {
      requireKey(id)
      measure(value, maxValueBytes)
      return (await loaded()).write(id, value, keepMs, expected)
    },
    remove: async (...wanted) => (await loaded()).remove(...wanted),
    list: async (...wanted) => (await loaded()).list(...wanted),
    async publish(topic, text, keep) {
      await publisher.publish(topic, text, keep, measure(text, maxValueBytes))
    },
    follow: async (topic, from, listener, onLost) => (
      (await loaded()).followed.follow(topic, from, listener, onLost)
    ),
    close: async () => (await loaded()).close(),
  }
}

interface Waiting extends Publication {
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** So much goes in one batch, or one event. */
const BATCH_EVENTS = 256
const BATCH_BYTES = 1024 * 1024
/** So much may wait, in all. */
const MAX_WAITING_BYTES = total(256 * 1024 * 1024)

/** Sends one batch of each topic at a time, and what was published meanwhile in the next. */
export class Publisher {
  readonly #publishBatch: PublishBatch
  /** What waits, by topic. There is one for each topic of which a batch is being sent. */
  readonly #waiting = new Map<string, Waiting[]>()
  #waitingBytes = 0

  constructor(publishBatch: PublishBatch) {
    this.#publishBatch = publishBatch
  }

  /** Publishes something of so many bytes. Rejects with `Fault('busy')` where too much waits. */
  publish(topic: string, text: string, keep: Keep | undefined, bytes: number): Promise<void> {
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      return Promise.reject(new Fault('busy', 'Too many events wait to be published; try again later'))
    }
    this.#waitingBytes += bytes
    return new Promise((resolve, reject) => {
      const one = { text, keep, bytes, resolve, reject }
      const waiting = this.#waiting.get(topic)
      if (waiting !== undefined) return void waiting.push(one)
      this.#waiting.set(topic, [])
      void this.#send(topic, [one])
    })
  }

  async #send(topic: string, batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#publishBatch(topic, batch)
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    for (const { bytes } of batch) this.#waitingBytes -= bytes
    const waiting = this.#waiting.get(topic) ?? []
    if (waiting.length === 0) this.#waiting.delete(topic)
    else void this.#send(topic, cut(waiting))
  }
}

function cut(waiting: Waiting[]): readonly Waiting[] {
  let count = 0
  for (let bytes = 0; count < Math.min(waiting.length, BATCH_EVENTS); count++) {
    bytes += waiting[count]!.bytes
    if (count > 0 && bytes > BATCH_BYTES) break
  }
  return waiting.splice(0, count)
}
