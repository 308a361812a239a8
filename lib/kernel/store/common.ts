/**
 * What the stores have in common: the sizes that they refuse, how they notify those who follow a topic, and
 * how they fail and try again.
 */
import { Fault } from '../define/fault.ts'
import { MAX_KEY_BYTES } from './store.ts'
import { warn } from '../util/thenable.ts'
import type { StoreKey } from './store.ts'

/** How many bytes a value or an event has. Throws `Fault('too-large')` over `maxBytes`. */
export function measure(text: string, maxBytes: number): number {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return bytes
  throw new Fault('too-large', `The store takes ${maxBytes} bytes at most in one value, not ${bytes}`)
}

/** Throws `Fault('too-large')` for an owner or a key that is empty or too long. */
export function requireKey({ owner, key }: StoreKey): void {
  if (isFit(owner) && isFit(key)) return
  throw new Fault('too-large', `An owner and a key have 1 to ${MAX_KEY_BYTES} bytes`)
}

function isFit(text: string): boolean {
  if (text.length * 3 <= MAX_KEY_BYTES) return text !== ''
  return Buffer.byteLength(text) <= MAX_KEY_BYTES
}

export function requireValueBytes(maxValueBytes: number): void {
  if (Number.isSafeInteger(maxValueBytes) && maxValueBytes > 0) return
  throw new RangeError(`maxValueBytes is ${String(maxValueBytes)}; write a whole number above zero`)
}

/** An owner or a key as a column of text takes it, which cannot hold NUL. */
export function encodeNul(text: string): string {
  return text.replace(/[\0\\]/g, (one) => one === '\0' ? '\\0' : '\\\\')
}

export function decodeNul(text: string): string {
  return text.replace(/\\(.)/g, (_, one) => one === '0' ? '\0' : '\\')
}

export interface TopicSubscriber {
  readonly listener: (text: string) => void
  readonly onLost: (() => void) | undefined
}

/** One who follows a topic whose events have numbers that rise. */
export interface NumberedSubscriber extends TopicSubscriber {
  /** Events up to this number are not for it, or it has received them. */
  lastNumber: number
}

/** Passes an event on to all that lack it, once; `undefined`: it is gone for good. */
export function notifyAll(
  subscribers: ReadonlySet<NumberedSubscriber>, number: number, text: string | undefined,
): void {
  for (const subscriber of subscribers) {
    if (subscriber.lastNumber >= number) continue
    subscriber.lastNumber = number
    notify(subscriber, text)
  }
}

/** Passes an event on to one. What a listener throws is a warning of the process and stops no one else. */
export function notify({ listener, onLost }: TopicSubscriber, text: string | undefined): void {
  try {
    if (text === undefined) onLost?.()
    else listener(text)
  } catch (error) {
    warn(error)
  }
}

/** What a client fails with is for the log, as the cause. */
export function unreachable(cause: unknown): Fault {
  return new Fault('busy', 'The store cannot be reached; try again later', undefined, { cause })
}

/** Does something with a client. Rejects with `Fault('busy')`, whatever that fails with. */
export async function reach<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw unreachable(cause)
  }
}

const RETRY_MS = 100

/** Does something that fails again until it succeeds. Undefined where it is over before. */
export async function retry<T>(work: () => Promise<T>, isOver: () => boolean): Promise<T | undefined> {
  while (!isOver()) {
    try {
      return await work()
    } catch {
      await new Promise<void>((resolve) => { setTimeout(resolve, RETRY_MS).unref() })
    }
  }
  return undefined
}

/** Makes something when it is first needed; what could not be made is made again. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    if (made !== undefined) return made
    const making = made = make()
    making.catch(() => { made = undefined })
    return making
  }
}

/** Whether a client has these methods: packages differ in their classes, and not in those. */
export function has(client: unknown, ...methods: readonly string[]): client is object {
  const isObject = (typeof client === 'object' || typeof client === 'function') && client !== null
  return isObject && methods.every((method) => typeof Reflect.get(client, method) === 'function')
}

/** The SQLSTATE of an error. */
export function stateOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
