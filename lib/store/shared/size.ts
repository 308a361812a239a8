/**
 * The sizes that every store refuses in the same words: of owners and keys, and of values and events.
 */
import { Fault } from '../../define/fault.ts'
import { MAX_KEY_BYTES } from '../../state/store.ts'
import type { StoreKey } from '../../state/store.ts'

/** How many bytes a value or an event has. Throws `Fault('too-large')` where that is over `maxBytes`. */
export function measure(text: string, maxBytes: number): number {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return bytes
  throw new Fault('too-large', `The store takes ${maxBytes} bytes at most in one value, not ${bytes}`)
}

/** Throws `Fault('too-large')` where the owner or the key is longer than a store takes. */
export function requireKey({ owner, key }: StoreKey): void {
  if (isFit(owner) && isFit(key)) return
  throw new Fault('too-large', `An owner and a key have 1 to ${MAX_KEY_BYTES} bytes`)
}

function isFit(text: string): boolean {
  if (text.length * 3 <= MAX_KEY_BYTES) return text !== ''
  return Buffer.byteLength(text) <= MAX_KEY_BYTES
}

/** Throws `RangeError` for what is no size of a value. */
export function requireValueBytes(maxValueBytes: number): void {
  if (Number.isSafeInteger(maxValueBytes) && maxValueBytes > 0) return
  throw new RangeError(`maxValueBytes is ${String(maxValueBytes)}; write a whole number above zero`)
}
