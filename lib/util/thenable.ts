/**
 * What has to be waited for. Promises of other makes count: all that they have in common is `then`.
 *
 * What other people's code returns is asked for by `Promise.resolve` where it comes in: its `then` may throw,
 * and may call back twice.
 */

/** A value, or the promise of one. */
export type MaybePromise<T> = T | Promise<T>

/** Whether a value has to be waited for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (typeof value === 'object' || typeof value === 'function') && value !== null
    && 'then' in value && typeof value.then === 'function'
}

/** The same of a value of our own, which is waited for by nothing but promises of Node's. */
export function isPromised<T>(value: T | Promise<T>): value is Promise<T> {
  return isThenable(value)
}

/** What comes of a value that may be promised: at once where it is there. */
export function andThen<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return isThenable(value) ? value.then(next) : next(value)
}
