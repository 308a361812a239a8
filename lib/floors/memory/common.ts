/**
 * What all stores have in common: the sizes that they refuse, and how they notify those who follow a topic.
 */
import { Fault } from '../../kernel/define/fault.ts'
import { warn } from '../../kernel/util/thenable.ts'
import { MAX_KEY_BYTES } from '../../kernel/store/store.ts'
import type { StoreKey } from '../../kernel/store/store.ts'

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
