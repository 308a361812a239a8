/**
 * What keeps state that outlives a call must be able to do. The house keeps its own state behind this
 * interface; which store it lives in is the operator's choice.
 *
 * A store may answer at once or by a promise, and throws or rejects to match. The bounded memory store
 * answers at once, so that those who need no other pay for none. `checkStore` tells whether an object
 * keeps all that is promised here.
 */
import { createHash } from 'node:crypto'
import type { MaybePromise } from '../util/thenable.ts'

/**
 * Where a value is kept. Two that differ in any of the three never meet, not even where they read the same
 * when written one after the other.
 */
export interface StoreKey {
  /** What kind of thing it is, and of which deployment: at most 64 characters of `[A-Za-z0-9/_.~-]`. */
  readonly collection: string
  /** Whose it is: 1 to 512 bytes of any text. Those that begin with `~` are the house's own. */
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

/** How long a topic keeps what is said, for those who follow it later. */
export interface Keep {
  /** At most so many of the last events. At least 1. */
  readonly events: number
  /** Each of them for so many milliseconds. */
  readonly ms: number
}

/**
 * Keeps state: entries, which are read and written one at a time, and topics, on which events are heard.
 *
 * Times are durations in milliseconds above zero, `Infinity` for ever, counted by the store's own clock.
 * Texts are well-formed Unicode without NUL; owners and keys may hold NUL. Nothing spans two keys: whatever
 * has to be right together stands in one value.
 */
export interface Store {
  /**
   * Whether other processes, or this one after a restart, see the same. Where they do not, the house keeps
   * what is alive in objects of its own and uses nothing below `list`.
   */
  readonly isShared: boolean

  /** The entry of a key. Sees every write that has been answered, from whichever process. */
  read(key: StoreKey): MaybePromise<Entry | undefined>

  /**
   * Keeps a value for `keepMs` if the entry's version is `expected`: 0 = there is none, `'any'` = whatever
   * there is. Answers the new version, or undefined on a conflict, and then nothing has changed.
   *
   * Versions rise and never come back, not even after the entry was removed or has expired; so whoever
   * holds an old one cannot write in the place of what came after it.
   *
   * `Fault('too-large')`: a value over the store's bound (16 MiB unless it was told another), an owner or
   * a key over 512 bytes. `Fault('busy')`: there is no room, or the store cannot be reached; for the
   * second, whether it was written is not known.
   */
  write(
    key: StoreKey, value: string, keepMs: number, expected: number | 'any',
  ): MaybePromise<number | undefined>

  /** Forgets the entry if its version is `expected`. False where there is none, or another version. */
  remove(key: StoreKey, expected: number | 'any'): MaybePromise<boolean>

  /**
   * At most `limit` of an owner's entries in one collection, the last written first, from before the
   * version `before`. Nothing that was removed or has expired is among them. Going on with the version of
   * the last one shows each entry that nobody wrote meanwhile exactly once.
   */
  list(collection: string, owner: string, limit: number, before?: number): MaybePromise<readonly Entry[]>

  /**
   * Says something to all who follow the topic, which is spelled like a collection. What one process says on
   * a topic is heard in the order in which it was said, whether or not the answers were waited for, and all
   * hear the same order. With `keep`, it is heard by those who follow later too. `Fault('too-large')`: over
   * the bound of a value. `Fault('busy')`: no room, or not reached.
   */
  publish(topic: string, text: string, keep?: Keep): MaybePromise<void>

  /**
   * Hears a topic: first what is still kept of it, or only what is said from `'now'` on; each event once,
   * in order. Answers when nothing that is said from then on can be missed, with the function that ends it:
   * after that the listener is not called any more.
   *
   * A store that loses its connection makes up for it from what is kept; where something is gone for good
   * it calls `onLost` in its place. What a listener throws hurts neither the one who said it nor the other
   * listeners. What a listener says on the same topic is heard after what it was called for.
   */
  follow(
    topic: string, from: 'kept' | 'now', listener: (text: string) => void, onLost?: () => void,
  ): MaybePromise<() => void>

  /**
   * Lets go of what the store itself has opened: no listener is called any more. What it was given, such as
   * a client that is connected already, stays open. Again, it changes nothing. Left out: nothing is open.
   */
  close?(): MaybePromise<void>
}

/** The longest owner and key, in bytes. */
export const MAX_KEY_BYTES = 512

/** The largest value and event where nothing else is said, in bytes. */
export const MAX_VALUE_BYTES: number = 16 * 1024 * 1024

/** The owner of what the house keeps for itself; with a name behind it, of what it keeps of a process. */
export const SYSTEM_OWNER = '~'

/**
 * An owner or a key as every store takes it, of a text that a stranger may have chosen. Short texts stay
 * what they are. Of what is too long or not well-formed, of what is empty, and of what begins with `~` or
 * `#`, which mark the house's own and what was made here, it is a digest.
 */
export function keyOf(text: string): string {
  const isFit = text !== '' && !/^[~#]|\p{Surrogate}/u.test(text) && Buffer.byteLength(text) <= MAX_KEY_BYTES
  // JSON writes a lone surrogate as an escape, so that two different texts stay different.
  return isFit ? text : `#${createHash('sha256').update(JSON.stringify(text)).digest('base64url')}`
}
