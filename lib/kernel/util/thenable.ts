/**
 * Values that may be promised. Promises of other libraries count: all that they have in common is `then`.
 * What other people's code returns goes through `Promise.resolve`: its `then` may throw, and call back twice.
 */

/** A value, or the promise of one. */
export type MaybePromise<T> = T | Promise<T>

/** Whether a value has to be waited for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (typeof value === 'object' || typeof value === 'function') && value !== null
    && 'then' in value && typeof value.then === 'function'
}

/** The same of a value of our own code, which has no promises but Node's. */
export function isPromised<T>(value: T | Promise<T>): value is Promise<T> {
  return isThenable(value)
}

/** Lets other people's code end something. It is not waited for, and how it fails harms nobody. */
export function letEnd(end: () => unknown): void {
  new Promise((resolve) => resolve(end())).catch(() => {})
}

/** What other people's code has thrown where nobody calls it is a warning of the process. */
export function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}

/** What `next` makes of a value, at once where it is there. */
export function andThen<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return isThenable(value) ? value.then(next) : next(value)
}

/** The same of what other people's code has returned. */
export function whenSettled<T, R>(
  value: T | PromiseLike<T>, next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value)
}

/** What `work` gives, or what `failed` makes of what it fails with, now or later. */
export function caught<T>(
  work: () => MaybePromise<T>, failed: (cause: unknown) => MaybePromise<T>,
): MaybePromise<T> {
  try {
    const done = work()
    return isThenable(done) ? Promise.resolve(done).catch(failed) : done
  } catch (cause) {
    return failed(cause)
  }
}
