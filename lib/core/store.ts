/**
 * What a store must be able to do: the one interface to state that outlives a call. Which store keeps it is
 * the operator's choice.
 */

/** A value, or the promise of one. A store that can answer at once does, so that nobody waits for nothing. */
export type MaybePromise<T> = T | Promise<T>

/** Where a value is kept. Two owners may use one key and never meet. */
export interface StoreKey { readonly collection: string; readonly owner: string; readonly key: string }

/** One kept value. `value` is text, usually JSON: a store never looks inside. */
export interface Entry { readonly key: string; readonly value: string; readonly version: number }

/** Keeps state. */
export interface Store {
  /** Whether other processes, or this one after a restart, see the same. Where not, the house keeps live objects. */
  readonly isShared: boolean
  /** One value. Sees every write that has resolved. */
  read(key: StoreKey): MaybePromise<Entry | undefined>
  /**
   * Keeps a value if its version is `expected`: 0 = there is none, 'any' = whatever there is. Resolves to the
   * new version, or to undefined on a conflict, and then nothing has changed.
   */
  write(key: StoreKey, value: string, keepMs: number, expected: number | 'any'): MaybePromise<number | undefined>
  /** Forgets. False where there is none or it has another version. */
  remove(key: StoreKey, expected: number | 'any'): MaybePromise<boolean>
  /** An owner's entries in one collection, the last written first, from before the version `before`. */
  list(collection: string, owner: string, limit: number, before?: number): MaybePromise<readonly Entry[]>
  /** Says something to all who follow the topic. */
  publish(topic: string, text: string, keep?: { readonly events: number; readonly ms: number }): MaybePromise<void>
  /** Hears a topic. */
  follow(
    topic: string, from: 'kept' | 'now', listener: (text: string) => void, onLost?: () => void,
  ): MaybePromise<() => void>
  close?(): MaybePromise<void>
}
