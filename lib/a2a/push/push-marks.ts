/**
 * Ends of tasks that are to be told to webhooks, as they are kept before the task has ended: a process that
 * dies between the two has not told it, and another does.
 */
import type { StoreKey } from '../../state/store.ts'
import type { KeptPushConfig, OwnedTask } from './push-config.ts'
import type { PushOutbox } from './push-outbox.ts'

/** Those of one process. */
export class PushMarks {
  readonly #outbox: PushOutbox
  /** By the ids of the tasks. */
  readonly #marks = new Map<string, readonly (Promise<StoreKey | undefined> | undefined)[]>()

  constructor(outbox: PushOutbox) {
    this.#outbox = outbox
  }

  /** A task is about to end, of which so many are told. Resolves when that is kept; never rejects. */
  set({ owner, id: taskId }: OwnedTask, configs: readonly KeptPushConfig[]): Promise<void> | undefined {
    if (configs.length === 0) return undefined
    const marks = this.#marks.get(taskId) ?? configs.map(({ id: configId }) => (
      // The task as it stands by then.
      this.#outbox.keep({ owner, taskId, configId, body: undefined })
    ))
    this.#marks.set(taskId, marks)
    return Promise.all(marks).then(() => {})
  }

  /** Its end is among what waits to be posted, or is another process's to tell. */
  release(id: string): void {
    const marks = this.#marks.get(id)
    if (marks === undefined) return
    this.#marks.delete(id)
    void this.#outbox.written().then(() => { for (const mark of marks) this.#outbox.forget(mark) })
  }
}
