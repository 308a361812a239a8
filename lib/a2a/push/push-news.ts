/**
 * What processes that share a store tell each other of push configurations: those of a task have changed.
 * Whoever runs the task reads them again. Anybody who can write to the store can say so, and no more.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { parseOwnedTask } from './push-config.ts'
import type { Log } from '../../define/log.ts'
import type { Store } from '../../state/store.ts'
import type { OwnedTask } from './push-config.ts'

const TOPIC = 'push-configs'
/** How soon a store that did not answer is asked again. */
const AGAIN_MS = 1_000

/** The news of one deployment. */
export class PushNews {
  readonly #store: Store
  readonly #log: Log
  readonly #closing = new AbortController()
  #following: Promise<(() => void) | undefined> | undefined

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
    this.#following = this.#follow(heard)
  }

  /** Follows the topic as soon as the store answers. Undefined where it is closed before. Never rejects. */
  async #follow(heard: (text: string) => void): Promise<(() => void) | undefined> {
    const { signal } = this.#closing
    for (let hasFailed = false; !signal.aborted; hasFailed = true) {
      try {
        return await this.#store.follow(TOPIC, 'now', heard)
      } catch (cause) {
        if (!hasFailed) {
          this.#log('warning', 'Push configurations of other processes are not heard of for now', { cause })
        }
      }
      await pause(AGAIN_MS, undefined, { ref: false, signal }).catch(() => {})
    }
    return undefined
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
    this.#closing.abort()
    const unfollow = await this.#following
    unfollow?.()
  }
}
