/**
 * The interface of stores, which keep the state that outlives a call.
 *
 * A store may answer at once or by a promise, and throws or rejects to match. The memory store answers at
 * once, so that it costs no promises. `checkStore` checks whether an object keeps this contract.
 */
import { createHash } from 'node:crypto'
import type { MaybePromise } from '../util/thenable.ts'

/** Where a value is kept. The three are compared one by one, and not as one text. */
export interface StoreKey {
  /** What kind of thing it is, and of which deployment: at most 64 characters of `[A-Za-z0-9/_.~-]`. */
  readonly collection: string
  /** Whose it is: 1 to 512 bytes of any text. Those that begin with `~` are reserved for this library. */
  readonly owner: string
  /** 1 to 512 bytes of any text. */
  readonly key: string
}

/** One kept value. */
export interface Entry {
  readonly key: string
  readonly value: string
  /** A whole number above zero. A later write of the same owner and collection has a higher one. */
  readonly version: number
}

/** How long a topic keeps an event for those who follow it later. */
export interface Keep {
  /** At most so many of the last events. At least 1. */
  readonly events: number
  /** Each of them for so many milliseconds. */
  readonly ms: number
}

/**
 * Entries, which are read and written one at a time, and topics, which carry events.
 *
 * Times are durations in milliseconds above zero, `Infinity` for ever, counted by the store's own clock.
 * Texts are well-formed Unicode without NUL; owners and keys may hold NUL. No operation spans two keys.
 */
export interface Store {
  /**
   * Whether other processes, or this one after a restart, see the same. Where they do not, the library keeps
   * live state in its own objects, and does not use `list` and what follows.
   */
  readonly isShared: boolean

  /** The entry of a key. Sees every write that has been answered, from whichever process. */
  read(key: StoreKey): MaybePromise<Entry | undefined>

  /**
   * Keeps a value for `keepMs` if the entry's version is `expected`: 0 = none, `'any'` = any or none.
   * Answers the new version, or undefined on a conflict, and then nothing has changed.
   *
   * Versions rise and never come back, not even after the entry was removed or has expired: an old version
   * can never overwrite what came after it.
   *
   * `Fault('too-large')`: a value over the store's bound (16 MiB by default), an owner or a key over 512
   * bytes. `Fault('busy')`: there is no room, or the store cannot be reached; in the second case it is not
   * known whether it was written.
   */
  write(
    key: StoreKey, value: string, keepMs: number, expected: number | 'any',
  ): MaybePromise<number | undefined>

  /** Removes the entry if its version is `expected`. False where there is none, or another version. */
  remove(key: StoreKey, expected: number | 'any'): MaybePromise<boolean>

  /**
   * At most `limit` of an owner's entries in one collection, the last written first, from before the
   * version `before`. Removed and expired entries are not among them. The next page begins with the version
   * of the last one; each entry that is not written meanwhile is in exactly one page.
   */
  list(collection: string, owner: string, limit: number, before?: number): MaybePromise<readonly Entry[]>

  /**
   * Sends an event to all who follow the topic, which is spelled like a collection. The events of one process
   * on a topic arrive in the order in which they were published, whether or not the answers were awaited, and
   * in the same order for all. With `keep`, those who follow later get it too. `Fault('too-large')`: over the
   * bound of a value. `Fault('busy')`: no room, or not reached.
   */
  publish(topic: string, text: string, keep?: Keep): MaybePromise<void>

  /**
   * Follows a topic: first the events that it still keeps, or only those from `'now'` on; each event once, in
   * order. Answers when no event from then on can be missed, with the function that ends it: after that the
   * listener is not called any more.
   *
   * A store that lost its connection catches up from what is kept; where an event is lost for good, it calls
   * `onLost` instead. What a listener throws affects neither the publisher nor other listeners. What a
   * listener publishes on the same topic arrives after the event that it was called for.
   */
  follow(
    topic: string, from: 'kept' | 'now', listener: (text: string) => void, onLost?: () => void,
  ): MaybePromise<() => void>

  /**
   * Closes what the store itself has opened: no listener is called any more. What it was given, such as a
   * connected client, stays open. Idempotent. Left out: nothing is open.
   */
  close?(): MaybePromise<void>
}

/** The longest owner and key, in bytes. */
export const MAX_KEY_BYTES = 512

/** The largest value and event by default, in bytes. */
export const MAX_VALUE_BYTES: number = 16 * 1024 * 1024

/** The owner of this library's own entries; followed by a name, of those of one process. */
export const SYSTEM_OWNER = '~'

/**
 * An owner or a key as every store takes it, of any text from outside. Short texts stay as they are. A text
 * that is empty, too long or not well-formed, or begins with `~` or `#`, becomes a digest with `#` before it.
 */
export function keyOf(text: string): string {
  const isFit = text !== '' && !/^[~#]|\p{Surrogate}/u.test(text) && Buffer.byteLength(text) <= MAX_KEY_BYTES
  // JSON writes a lone surrogate as an escape, so that two different texts stay different.
  return isFit ? text : `#${createHash('sha256').update(JSON.stringify(text)).digest('base64url')}`
}
