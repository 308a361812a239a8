/**
 * What has to be waited for. Promises of other makes count: all that they have in common is `then`.
 */

/** Whether a value has to be waited for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
