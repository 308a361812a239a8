/**
 * A store that lies across a network, made of its commands: what is checked before anything is sent, and what
 * is said on topics in its order. The same for every engine.
 */
import { Fault } from '../../define/fault.ts'
import { total } from '../../util/memory.ts'
import { measure, requireKey } from './common.ts'
import type { Keep, Store } from '../../state/store.ts'
import type { FollowedTopics } from './followed-topics.ts'

/** Something to be said. */
export interface Saying { readonly text: string; readonly keep: Keep | undefined }

/** Says some things on a topic, in their order, all or none. */
type Say = (topic: string, batch: readonly Saying[]) => Promise<void>

interface Waiting extends Saying {
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** So much goes in one batch, or one event. */
const BATCH_EVENTS = 256
const BATCH_BYTES = 1024 * 1024
/** So much waits for its turn, in all. */
const MAX_WAITING_BYTES = total(256 * 1024 * 1024)

/** All that is being said. */
export class Publishing {
  readonly #say: Say
  /** What waits, by topic. There is one for each topic of which a batch is on its way. */
  readonly #waiting = new Map<string, Waiting[]>()
  #waitingBytes = 0

  constructor(say: Say) {
    this.#say = say
  }

  /** Says something of so many bytes. Rejects with `Fault('busy')` where too much waits. */
  publish(topic: string, text: string, keep: Keep | undefined, bytes: number): Promise<void> {
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      return Promise.reject(new Fault('busy', 'Too much waits to be said; try again later'))
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
      await this.#say(topic, batch)
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

/** Takes the next batch away from what waits. */
function cut(waiting: Waiting[]): readonly Waiting[] {
  let count = 0
  for (let bytes = 0; count < Math.min(waiting.length, BATCH_EVENTS); count++) {
    bytes += waiting[count]!.bytes
    if (count > 0 && bytes > BATCH_BYTES) break
  }
  return waiting.splice(0, count)
}

/** What one engine does. */
interface RemoteCommands extends Pick<Store, 'read' | 'write' | 'remove' | 'list'> {
  readonly followed: FollowedTopics
  readonly say: Say
  close(): Promise<void>
}

/**
 * Makes the store. `load` brings its commands, when the first of them is needed. Over `maxValueBytes` a value
 * or an event is `Fault('too-large')`.
 */
export function remoteStore(load: () => Promise<RemoteCommands>, maxValueBytes: number): Store {
  let loading: Promise<RemoteCommands> | undefined
  const loaded = (): Promise<RemoteCommands> => loading ??= load()
  const publishing = new Publishing(async (topic, batch) => (await loaded()).say(topic, batch))
  return {
    isShared: true,
    read: async (place) => (await loaded()).read(place),
    async write(place, value, keepMs, expected) {
      requireKey(place)
      measure(value, maxValueBytes)
      return (await loaded()).write(place, value, keepMs, expected)
    },
    remove: async (place, expected) => (await loaded()).remove(place, expected),
    list: async (collection, owner, limit, before) => (
      (await loaded()).list(collection, owner, limit, before)
    ),
    async publish(topic, text, keep) {
      await publishing.publish(topic, text, keep, measure(text, maxValueBytes))
    },
    follow: async (topic, from, listener, onLost) => (
      (await loaded()).followed.follow(topic, from, listener, onLost)
    ),
    close: async () => (await loaded()).close(),
  }
}
