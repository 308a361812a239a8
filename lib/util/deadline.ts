/**
 * How long an answer of another process is waited for. Knows nothing of who is asked.
 */
import { MAX_TIMER_MS, monotonic } from './clock.ts'

/**
 * Calls `giveUp` when nothing has come in `ms`. A time in which this process was held up, suspended or busy
 * with something else, tells nothing of the other: the answer may be there, and be read in the next turn. So
 * it is waited for once more, for as long as the timer was late. `Infinity` never gives up. The returned
 * function ends the wait.
 */
export function startDeadline(ms: number, giveUp: () => void): () => void {
  if (ms > MAX_TIMER_MS) return () => {}
  const began = monotonic()
  let timer = setTimeout(() => {
    timer = setTimeout(giveUp, Math.min(monotonic() - began - ms, ms))
  }, ms)
  return () => clearTimeout(timer)
}

/** The promise's outcome; where it has none in `ms`, it rejects with what `makeFault` returns. */
export function withDeadline<T>(promise: PromiseLike<T>, ms: number, makeFault: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = startDeadline(ms, () => reject(makeFault()))
    promise.then((value) => {
      stop()
      resolve(value)
    }, (error: unknown) => {
      stop()
      reject(error)
    })
  })
}
