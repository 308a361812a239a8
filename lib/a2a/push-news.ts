/**
 * What processes that share a store tell each other of push configurations: those of a task have changed.
 * Whoever runs the task reads them again. Anybody who can write to the store can say so, and no more.
 */
import { parseOwnedTask } from './push-config.ts'
import type { Log } from '../core/log.ts'
import type { Store } from '../core/store.ts'
import type { OwnedTask } from './push-config.ts'

const TOPIC = 'push-configs'

/** The news of one deployment. */
export class PushNews {
  readonly #store: Store
  readonly #log: Log
  #unfollow: Promise<() => void> | undefined

  constructor(store: Store, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** Hears of tasks whose configurations have changed. */
  hear(listener: (task: OwnedTask) => void): void {
    const heard = (text: string): void => {
      const task = parseOwnedTask(text)
      if (task !== undefined) listener(task)
    }
    this.#unfollow = (async () => this.#store.follow(TOPIC, 'now', heard))().catch((cause: unknown) => {
      this.#log('warning', 'Push configurations of other processes are not heard of', { cause })
      return () => {}
    })
  }

  /** Tells the others, where there are any. Never throws. */
  tell({ owner, id }: OwnedTask): void {
    if (!this.#store.isShared) return
    const told = (async () => this.#store.publish(TOPIC, JSON.stringify({ owner, id })))()
    told.catch((cause: unknown) => (
      this.#log('warning', 'Other processes were not told of a push configuration', { cause })
    ))
  }

  async close(): Promise<void> {
    const unfollow = await this.#unfollow
    unfollow?.()
  }
}
