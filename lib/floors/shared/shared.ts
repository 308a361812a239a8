/** Several processes on one store: their membership, the way between them, and a store that may be away. */
import { ClusterMembership } from './cluster.ts'
import { deploymentStore } from './deployment.ts'
import { guardedStore } from './guarded-store.ts'
import { PeerChannels } from './peer-channels.ts'
import { SharedBuckets } from './shared-buckets.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Sharing, SharingSetup } from '../../kernel/store/sharing.ts'
import type { MakeCounter } from '../../kernel/util/buckets.ts'
import type { GuardedStore } from './guarded-store.ts'

export class SharedProcesses implements Sharing {
  readonly store: GuardedStore
  readonly cluster: ClusterMembership
  readonly channels: PeerChannels
  /** Whether nothing is left to other processes. */
  isSettled = true
  readonly makeCounter: MakeCounter = (name, size) => new SharedBuckets(name, size, this.store)

  constructor({ store, secret, deployment, limits, log, seal }: SharingSetup) {
    const own = deploymentStore(store, secret, deployment, limits.storeTimeoutMs)
    this.store = guardedStore(own, limits, log)
    this.cluster = new ClusterMembership(this.store, seal, limits, log)
    this.cluster.onForgotten(() => own.confirm().catch(() => {}))
    this.channels = new PeerChannels(this.cluster)
  }

  ready(): Promise<void> | undefined {
    return this.cluster.ready()
  }

  release(): Promise<void> {
    return this.cluster.close(this.isSettled)
  }
}

/** Takes a store that processes share. */
export function shareStore(setup: SharingSetup): SharedProcesses {
  return new SharedProcesses(setup)
}

/** The process of a server among those that share its store; undefined where none do. */
export function sharedOf({ sharing }: Service): SharedProcesses | undefined {
  return sharing instanceof SharedProcesses ? sharing : undefined
}
