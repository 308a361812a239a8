/** How a store is taken that several processes share: what has to be done before anything is kept in it. */
import type { KernelLimits } from '../define/limits.ts'
import type { Log } from '../define/log.ts'
import type { MakeCounter } from '../util/buckets.ts'
import type { Lifetime } from '../util/lifetime.ts'
import type { Seal } from '../wire/seal.ts'
import type { Store } from './store.ts'

/** A process among those that share a store. */
export interface Sharing extends Lifetime {
  /** The store as this process uses it. */
  readonly store: Store & { readonly isUnavailable: boolean }
  /** Resolves when the others can reach this one; undefined where they can. Rejects without the store. */
  ready(): Promise<void> | undefined
  /** What all of them count together. */
  readonly makeCounter: MakeCounter
}

/** What is known of the server when its store is taken. */
export interface SharingSetup {
  readonly store: Store
  /** Of all its processes. */
  readonly secret: string | readonly string[]
  /** Whose state the store keeps; undefined: those with a secret in common share it. */
  readonly deployment: string | undefined
  readonly limits: KernelLimits
  readonly log: Log
  readonly seal: Seal
}

/** Takes a store that is shared. */
export type ShareStore = (setup: SharingSetup) => Sharing
