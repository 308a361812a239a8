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

/**
 * Does something with a client. Whatever that fails with is that the store could not do it now: the words
 * of a client are for the log, as the cause.
 */
export async function reach<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Fault('busy', 'The store cannot be reached; try again later', undefined, { cause })
  }
}

/** An owner or a key as a column of text takes it, which cannot hold NUL. */
export function encodeNul(text: string): string {
  return text.replace(/[\0\\]/g, (one) => one === '\0' ? '\\0' : '\\\\')
}

/** The owner or key that was so written. */
export function decodeNul(text: string): string {
  return text.replace(/\\(.)/g, (_, one) => one === '0' ? '\0' : '\\')
}

/** What hears the events of a topic. */
export type TopicListener = (text: string) => void

/** One who follows a topic. */
export interface Follower {
  readonly listener: TopicListener
  readonly onLost: (() => void) | undefined
}

/** One who follows a topic whose events have numbers that rise. */
export interface NumberedFollower extends Follower {
  /** The number of the last event that is no news to it. */
  heard: number
}

/** Tells all to whom it is news what the event of a number says; with `undefined`, that it is gone. */
export function tellAll(
  followers: ReadonlySet<NumberedFollower>, number: number, text: string | undefined,
): void {
  for (const follower of followers) {
    if (follower.heard >= number) continue
    follower.heard = number
    tell(follower, text)
  }
}

/** Tells one an event, or with `undefined` that something is gone for good. What it throws is a warning. */
export function tell({ listener, onLost }: Follower, text: string | undefined): void {
  try {
    if (text === undefined) onLost?.()
    else listener(text)
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}

/** The SQLSTATE of an error. */
export function stateOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
