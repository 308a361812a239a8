/**
 * The bounded memory store: entries and topics in maps, within a number and a number of bytes. Answers at
 * once. Its state is gone with the process.
 */
import { MemoryEntries } from './memory-entries.ts'
import { memoryLimits } from './memory-limits.ts'
import { MemoryTopics } from './memory-topics.ts'
import type { Entry, Store } from '../../state/store.ts'
import type { MemoryStoreOptions } from './memory-limits.ts'

/** A store that answers at once. */
export interface MemoryStore extends Store {
  read(...place: Parameters<Store['read']>): Entry | undefined
  write(...kept: Parameters<Store['write']>): number | undefined
  remove(...place: Parameters<Store['remove']>): boolean
  list(...wanted: Parameters<Store['list']>): readonly Entry[]
  publish(...said: Parameters<Store['publish']>): void
  follow(...heard: Parameters<Store['follow']>): () => void
}

/**
 * Makes a memory store. Where there is no room, what has expired goes first, then the oldest of the owner
 * that holds most, never what was just written. What the house keeps for itself (owners that begin with `~`)
 * never goes; where nothing else is left, `write` throws `Fault('busy')`. Of topics the oldest kept event
 * of the topic that holds most goes; nobody who follows loses anything.
 *
 * Throws `TypeError` for an option that there is not, `RangeError` for a limit that is none.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const limits = memoryLimits(options)
  const entries = new MemoryEntries(limits)
  const topics = new MemoryTopics(limits)
  return {
    isShared: limits.isShared,
    read: (key) => entries.read(key),
    write: (key, value, keepMs, expected) => entries.write(key, value, keepMs, expected),
    remove: (key, expected) => entries.remove(key, expected),
    list: (collection, owner, limit, before) => entries.list(collection, owner, limit, before),
    publish(topic, text, keep) { topics.publish(topic, text, keep) },
    follow: (topic, from, listener) => topics.follow(topic, from, listener),
  }
}
