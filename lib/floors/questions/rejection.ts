/** The end of a handler that waits for answers. */

/**
 * Lets a handler that waits for answers clean up: one question per iteration of the event loop, in order, and
 * none once its own code has ended. Rejecting all at once would be an unhandled rejection for each that is
 * not awaited yet.
 */
export function rejectOneByOne(
  [next, ...rest]: readonly { readonly reject: (reason: Error) => void }[], why: string,
  isSettled: () => boolean,
): void {
  if (next === undefined || isSettled()) return
  setImmediate(() => {
    if (isSettled()) return
    next.reject(new DOMException(why, 'AbortError'))
    rejectOneByOne(rest, why, isSettled)
  })
}
