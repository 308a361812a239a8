/**
 * A store across a network, made of its commands: what is checked before anything is sent, and what is
 * published in its order. The same for every engine.
 */
import { Fault } from '../../kernel/define/fault.ts'
import { total } from '../../kernel/util/memory.ts'
import { measure, requireKey } from '../../floors/memory/common.ts'
import { lazily } from '../engine.ts'
import type { Keep, Store } from '../../kernel/store/store.ts'
import type { FollowedTopics } from './followed-topics.ts'

export interface Publication { readonly text: string; readonly keep: Keep | undefined }

/** Publishes a batch on a topic, in its order, all or none. */
type PublishBatch = (topic: string, batch: readonly Publication[]) => Promise<void>

/** What one engine does. */
export interface RemoteCommands extends Pick<Store, 'read' | 'write' | 'remove' | 'list'> {
  readonly followed: FollowedTopics
  readonly publishBatch: PublishBatch
  close(): Promise<void>
}

/**
 * Makes the store. `load` brings its commands, when the first of them is needed. Over `maxValueBytes` a value
 * or an event is `Fault('too-large')`.
 */
export function remoteStore(load: () => Promise<RemoteCommands>, maxValueBytes: number): Store {
  const loaded = lazily(load)
  const publish = publisher(async (topic, batch) => (await loaded()).publishBatch(topic, batch))
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
      await publish(topic, text, keep, measure(text, maxValueBytes))
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

/**
 * Makes the function that publishes something of so many bytes. One batch of each topic is sent at a time,
 * and what was published meanwhile in the next. It rejects with `Fault('busy')` where too much waits.
 */
export function publisher(
  publishBatch: PublishBatch,
): (topic: string, text: string, keep: Keep | undefined, bytes: number) => Promise<void> {
  /** What waits, by topic. There is one for each topic of which a batch is being sent. */
  const waiting = new Map<string, Waiting[]>()
  let waitingBytes = 0
  const send = async (topic: string, batch: readonly Waiting[]): Promise<void> => {
    try {
      await publishBatch(topic, batch)
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    for (const { bytes } of batch) waitingBytes -= bytes
    const next = waiting.get(topic) ?? []
    if (next.length === 0) waiting.delete(topic)
    else void send(topic, cut(next))
  }
  return (topic, text, keep, bytes) => {
    if (waitingBytes + bytes > MAX_WAITING_BYTES) {
      return Promise.reject(new Fault('busy', 'Too many events wait to be published; try again later'))
    }
    waitingBytes += bytes
    return new Promise((resolve, reject) => {
      const one = { text, keep, bytes, resolve, reject }
      const next = waiting.get(topic)
      if (next !== undefined) return void next.push(one)
      waiting.set(topic, [])
      void send(topic, [one])
    })
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
