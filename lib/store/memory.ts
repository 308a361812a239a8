/**
 * The bounded memory home: a map with an expiry, a number of entries and a number of bytes. What has
 * expired goes first, then the oldest entry of the owner that holds most. Answers at once.
 */
import type { Entry, Store } from '../core/store.ts'

/** What one memory home may hold. */
export interface MemoryLimits {
  readonly maxEntries: number
  readonly maxBytes: number
}

interface MemoryEntry extends Entry { readonly shelf: string; readonly key: string; readonly bytes: number }

/** What one owner holds, the entry that was written last being the last. */
interface Holding { readonly entries: Set<MemoryEntry>; bytes: number }

/** How often a full home looks through all it has for what has expired. */
const SWEEP_MS = 1_000

/** Makes a memory home. Its state is gone with the process. */
export function memoryStore(limits: MemoryLimits): Store {
  const entries = new Map<string, MemoryEntry>()
  const owners = new Map<string, Holding>()
  let bytes = 0
  let sweptAt = 0

  function forget(entry: MemoryEntry): void {
    entries.delete(place(entry.shelf, entry.key))
    const holding = owners.get(entry.owner)!
    holding.entries.delete(entry)
    holding.bytes -= entry.bytes
    if (holding.entries.size === 0) owners.delete(entry.owner)
    bytes -= entry.bytes
  }

  function keep(entry: MemoryEntry): void {
    entries.set(place(entry.shelf, entry.key), entry)
    let holding = owners.get(entry.owner)
    if (holding === undefined) owners.set(entry.owner, holding = { entries: new Set(), bytes: 0 })
    holding.entries.add(entry)
    holding.bytes += entry.bytes
    bytes += entry.bytes
  }

  function find(shelf: string, key: string, owner: string): MemoryEntry | undefined {
    const entry = entries.get(place(shelf, key))
    if (entry === undefined || entry.owner !== owner) return undefined
    if (entry.expiresAt > Date.now()) return entry
    forget(entry)
    return undefined
  }

  function makeRoom(): void {
    if (entries.size <= limits.maxEntries && bytes <= limits.maxBytes) return
    const now = Date.now()
    if (now - sweptAt >= SWEEP_MS) {
      sweptAt = now
      for (const entry of entries.values()) if (entry.expiresAt <= now) forget(entry)
    }
    for (;;) {
      const isHeavy = bytes > limits.maxBytes
      if (!isHeavy && entries.size <= limits.maxEntries) return
      const [oldest] = largest(isHeavy)
      if (oldest === undefined) return
      forget(oldest)
    }
  }

  /** What the owner holds that holds most: most bytes, or most entries. */
  function largest(isHeavy: boolean): Iterable<MemoryEntry> {
    let most = -1
    let found: Iterable<MemoryEntry> = []
    for (const holding of owners.values()) {
      const held = isHeavy ? holding.bytes : holding.entries.size
      if (held <= most) continue
      most = held
      found = holding.entries
    }
    return found
  }

  return {
    read: find,
    write(shelf, key, { owner, value, expiresAt }) {
      const before = entries.get(place(shelf, key))
      if (before !== undefined) forget(before)
      const entry = { owner, value, expiresAt, shelf, key, bytes: Buffer.byteLength(value) }
      // What can never fit must not push out everything else.
      if (entry.bytes > limits.maxBytes) return
      keep(entry)
      makeRoom()
    },
    remove(shelf, key, owner) {
      const entry = find(shelf, key, owner)
      if (entry !== undefined) forget(entry)
    },
    list(shelf, owner) {
      const now = Date.now()
      return [...owners.get(owner)?.entries ?? []].reverse()
        .filter((entry) => entry.shelf === shelf && entry.expiresAt > now)
        .map((entry) => entry.key)
    },
  }
}

// A shelf's name is the house's own and has no line break in it.
function place(shelf: string, key: string): string {
  return `${shelf}\n${key}`
}
