/**
 * The bounded memory home: a map with an expiry, a number of entries and a number of bytes. What has
 * expired goes first, then the oldest entry of the owner that holds most. Answers at once.
 */
import type { Kept, Store } from '../core/store.ts'

/** What one memory home may hold. */
export interface MemoryLimits {
  readonly maxEntries: number
  readonly maxBytes: number
}

interface Entry extends Kept { readonly shelf: string; readonly key: string; readonly bytes: number }

/** Makes a memory home. Its state is gone with the process. */
export function memoryStore(limits: MemoryLimits): Store {
  const entries = new Map<string, Entry>()
  const owners = new Map<string, Set<Entry>>()
  let bytes = 0

  function forget(entry: Entry): void {
    entries.delete(place(entry.shelf, entry.key))
    const owned = owners.get(entry.owner)
    owned?.delete(entry)
    if (owned?.size === 0) owners.delete(entry.owner)
    bytes -= entry.bytes
  }

  function find(shelf: string, key: string, owner: string): Entry | undefined {
    const entry = entries.get(place(shelf, key))
    if (entry === undefined || entry.owner !== owner) return undefined
    if (entry.expiresAt > Date.now()) return entry
    forget(entry)
    return undefined
  }

  function makeRoom(): void {
    if (entries.size <= limits.maxEntries && bytes <= limits.maxBytes) return
    const now = Date.now()
    for (const entry of entries.values()) if (entry.expiresAt <= now) forget(entry)
    while (entries.size > limits.maxEntries || bytes > limits.maxBytes) {
      let largest: Set<Entry> | undefined
      for (const owned of owners.values()) if (owned.size > (largest?.size ?? 0)) largest = owned
      const [oldest] = largest ?? []
      if (oldest === undefined) return
      forget(oldest)
    }
  }

  return {
    read: find,
    write(shelf, key, kept) {
      const before = entries.get(place(shelf, key))
      if (before !== undefined) forget(before)
      const entry = { ...kept, shelf, key, bytes: Buffer.byteLength(kept.value) }
      entries.set(place(shelf, key), entry)
      let owned = owners.get(kept.owner)
      if (owned === undefined) owners.set(kept.owner, owned = new Set())
      owned.add(entry)
      bytes += entry.bytes
      makeRoom()
    },
    remove(shelf, key, owner) {
      const entry = find(shelf, key, owner)
      if (entry !== undefined) forget(entry)
    },
    list(shelf, owner) {
      const now = Date.now()
      return [...owners.get(owner) ?? []].reverse()
        .filter((entry) => entry.shelf === shelf && entry.expiresAt > now)
        .map((entry) => entry.key)
    },
  }
}

// A shelf's name is the house's own and has no line break in it.
function place(shelf: string, key: string): string {
  return `${shelf}\n${key}`
}
