/**
 * The store of one process: bounded memory, gone with it.
 */
import type { Entry, Store, StoreKey } from '../core/store.ts'

/** What one memory store may hold. */
export interface MemoryLimits {
  readonly maxEntries: number
  readonly maxBytes: number
}

/** Makes a memory store. */
export function memoryStore(_limits: MemoryLimits): Store {
  const entries = new Map<string, Entry>()
  const place = ({ collection, owner, key }: StoreKey): string => JSON.stringify([collection, owner, key])
  let version = 0
  return {
    isShared: false,
    read: (key) => entries.get(place(key)),
    write(key, value, _keepMs, expected) {
      const known = entries.get(place(key))?.version ?? 0
      if (expected !== 'any' && expected !== known) return undefined
      entries.set(place(key), { key: key.key, value, version: ++version })
      return version
    },
    remove: (key) => entries.delete(place(key)),
    list: () => [],
    publish() {},
    follow: () => () => {},
  }
}
