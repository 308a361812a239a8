/**
 * What the workers of a cluster and their primary say to each other of a store, as plain values. JSON has no
 * `Infinity`: null stands in its place.
 */
import type { Keep, StoreKey } from '../../state/store.ts'

/** A number that may be `Infinity`. */
type Bound = number | null

/** What a worker asks for. */
export type StoreQuestion =
  | { readonly method: 'read'; readonly place: StoreKey }
  | {
    readonly method: 'write'; readonly place: StoreKey; readonly value: string; readonly keepMs: Bound
    readonly expected: number | 'any'
  }
  | { readonly method: 'remove'; readonly place: StoreKey; readonly expected: number | 'any' }
  | {
    readonly method: 'list'; readonly collection: string; readonly owner: string; readonly limit: Bound
    readonly before: Bound
  }
  | {
    readonly method: 'publish'; readonly topic: string; readonly text: string
    readonly keep: { readonly events: Bound; readonly ms: Bound } | null
  }
  | { readonly method: 'follow'; readonly topic: string; readonly from: 'kept' | 'now' }
  /** Ends the follower that the question of this number has begun. */
  | { readonly method: 'leave'; readonly follower: number }

/** What comes back: the answer to a question, its failure, or what a follower hears. */
export type StoreReply =
  | { readonly value: unknown }
  | { readonly fault: StoreFault }
  | { readonly text: string }
  | { readonly isLost: true }

/** How a store has failed. `cause`: what kept it from being reached, in words for a log. */
export interface StoreFault { readonly kind: string; readonly message: string; readonly cause?: string }

/** A message in one of the two directions: of which store in the worker, and of which question of it. */
export interface Envelope<Content> { readonly of: string; readonly id: number; readonly content: Content }

/** Tells these messages from all others on the same channel. */
const NAME = 'triport:store'

/** A message as it is sent. */
export function encodeEnvelope<Content>(envelope: Envelope<Content>): object {
  return { [NAME]: envelope }
}

/** The message that something received is; undefined where it is somebody else's. */
export function decodeEnvelope<Content>(message: unknown): Envelope<Content> | undefined {
  const isOurs = typeof message === 'object' && message !== null && Object.hasOwn(message, NAME)
  return isOurs ? (message as Record<string, Envelope<Content>>)[NAME] : undefined
}

/** A number that may be `Infinity`, as it is sent. */
export function encodeBound(bound: number): Bound {
  return bound === Infinity ? null : bound
}

/** The number that was sent. */
export function decodeBound(bound: Bound): number {
  return bound ?? Infinity
}

/** How long to keep something, as it was sent. */
export function decodeKeep(keep: { readonly events: Bound; readonly ms: Bound } | null): Keep | undefined {
  return keep === null ? undefined : { events: decodeBound(keep.events), ms: decodeBound(keep.ms) }
}
