/**
 * What a home for state that outlives a call must be able to do. The house keeps its own state behind
 * this interface; which home it lives in is the operator's choice.
 *
 * A home may answer at once or by a promise; the bounded memory home answers at once, so that those who
 * need no other home pay for none.
 */

/** A value, or the promise of one. */
export type MaybePromise<T> = T | Promise<T>

/** One kept value. `value` is JSON text: a home never looks inside. */
export interface Entry {
  readonly owner: string
  readonly value: string
  /** Milliseconds since the epoch after which it is gone. */
  readonly expiresAt: number
}

/** A home. Keys are unique within a shelf; nothing of one owner is ever shown to another. */
export interface Store {
  /** What is kept under the key for this owner, unless it has expired. */
  read(shelf: string, key: string, owner: string): MaybePromise<Entry | undefined>
  /** Keeps a value, in the place of the one before. Rejects with `Fault('busy')` where there is no room. */
  write(shelf: string, key: string, kept: Entry): MaybePromise<void>
  /** Forgets a value. Nothing happens where there is none, or where it is another owner's. */
  remove(shelf: string, key: string, owner: string): MaybePromise<void>
  /** The keys of an owner, the last written first. */
  list(shelf: string, owner: string): MaybePromise<readonly string[]>
  close?(): MaybePromise<void>
}
