/**
 * What comes piece by piece: which values are read so, and how they are read. Knows nothing of what a piece
 * means.
 */
import { isThenable } from '../util/thenable.ts'
import { isRecord } from './content.ts'
import { Fault } from './fault.ts'
import type { LiveCall } from './live-call.ts'

/** So many pieces are taken in one turn of the event loop. */
const IN_A_ROW = 1_024

/** Whether a value is read piece by piece, waiting for each. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Whether a value is read piece by piece. A list is one piece, and so is what has a JSON form of its own. */
export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    && Symbol.iterator in value && !('toJSON' in value)
}

/** Takes pieces, one after the other. The last one is what was returned, and `isEnd` says so. */
export interface PieceTaker {
  /** A promise: whoever reads waits for it before the next. */
  take(piece: unknown, isEnd: boolean): void | Promise<void>
}

/**
 * Reads to the end. Each piece is taken before the next is asked for. Rejects with what was thrown, or with
 * the reason of the call where that is over; then the generator gets the chance to clean up, and is not
 * waited for.
 */
export async function readPieces(
  iterator: Iterator<unknown> | AsyncIterator<unknown>, call: LiveCall, taker: PieceTaker,
): Promise<void> {
  let thrown: unknown
  let count = 0
  try {
    for (;;) {
      const next: unknown = await iterator.next()
      if (!isRecord(next)) throw new TypeError('What is read piece by piece gives no object')
      const { value, done } = next
      const piece: unknown = isThenable(value) ? await value : value
      if (call.over) break
      const wait = taker.take(piece, done === true)
      if (wait !== undefined) await wait
      if (done === true) return
      // One that never waits would keep timers, and everybody else, from their turn.
      if (++count % IN_A_ROW === 0) await new Promise((resolve) => { setImmediate(resolve) })
      if (call.over) break
    }
  } catch (error) {
    thrown = error
  }
  const reason = call.over ? call.reason ?? new Fault('cancelled', 'Cancelled') : thrown
  new Promise((resolve) => resolve(iterator.return?.())).catch(() => {})
  throw reason
}
