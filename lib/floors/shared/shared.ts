/** Several processes on one store: their membership, the way between them, and a store that may be away. */
import { ClusterMembership } from './cluster.ts'
import { deploymentStore } from './deployment.ts'
import { guardedStore } from './guarded-store.ts'
import { PeerChannels } from './peer-channels.ts'
import { SharedBuckets } from './shared-buckets.ts'
import type { Sharing, SharingSetup } from '../../kernel/store/sharing.ts'
import type { MakeCounter } from '../../kernel/util/buckets.ts'
import type { GuardedStore } from './guarded-store.ts'

/** What a floor does where processes share the store, as `shareStore` brings it along. */
export interface SharedForm<T> {
  readonly name: string
  /** Never there: it says of which type the form is. */
  readonly form?: T
}

export class SharedProcesses implements Sharing {
  readonly store: GuardedStore
  readonly cluster: ClusterMembership
  readonly channels: PeerChannels
  /** Whether nothing is left to other processes. */
  isSettled = true
  readonly makeCounter: MakeCounter = (name, size) => new SharedBuckets(name, size, this.store)

  readonly #forms: ReadonlyMap<string, unknown>

  /** `forms`: what floors do then, by the names of their `SharedForm`. */
  constructor(
    { store, secret, deployment, limits, log, seal }: SharingSetup, forms: ReadonlyMap<string, unknown>,
  ) {
    this.#forms = forms
    const own = deploymentStore(store, secret, deployment, limits.storeTimeoutMs)
    this.store = guardedStore(own, limits, log)
    this.cluster = new ClusterMembership(this.store, seal, limits, log)
    this.cluster.onForgotten(() => own.confirm().catch(() => {}))
    this.channels = new PeerChannels(this.cluster)
  }

  form<T>({ name }: SharedForm<T>): T {
    return this.#forms.get(name) as T
  }

  ready(): Promise<void> | undefined {
    return this.cluster.ready()
  }

  release(): Promise<void> {
    return this.cluster.close(this.isSettled)
  }
}
