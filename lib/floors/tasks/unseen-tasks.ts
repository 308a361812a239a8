/**
 * Tasks that run, and that nobody has looked for yet: most of them are over before anybody does, and then
 * never were in the table. They are counted, and created when somebody looks.
 */
import { bytesOfMessage, TASK_BYTES } from './task-record.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { TaskSeed } from './task.ts'

interface UnseenTask {
  readonly owner: string
  readonly createdAt: string
  readonly bytes: number
  /** Creates the task. Must not throw. */
  readonly show: () => void
}

/** Which part of the bytes of all tasks they may take: those of the table do not make room for them. */
const PART = 1 / 8

export class UnseenTasks {
  readonly #byId = new Map<string, UnseenTask>()
  readonly #maxBytes: number
  #bytes = 0

  constructor({ maxTasksBytes }: Pick<KernelLimits, 'maxTasksBytes'>) {
    this.#maxBytes = maxTasksBytes * PART
  }

  get size(): number { return this.#byId.size }
  get bytes(): number { return this.#bytes }

  /** False, and it is not added, where there is no room. */
  add(seed: TaskSeed & { readonly id: string }, createdAt: string, show: () => void): boolean {
    const { id, owner, history = [] } = seed
    let bytes = TASK_BYTES
    for (const message of history) bytes += bytesOfMessage(message)
    if (this.#bytes + bytes > this.#maxBytes) return false
    this.#byId.set(id, { owner, createdAt, bytes, show })
    this.#bytes += bytes
    return true
  }

  /** It is created or recorded now. Returns when it began; undefined where it is none of these. */
  take(id: string | undefined): string | undefined {
    if (this.#byId.size === 0 || id === undefined) return undefined
    const unseen = this.#byId.get(id)
    if (unseen === undefined) return undefined
    this.#byId.delete(id)
    this.#bytes -= unseen.bytes
    return unseen.createdAt
  }

  show(id: string): void {
    this.#byId.get(id)?.show()
  }

  /** Shows all of one owner. */
  showAll(owner: string): void {
    for (const unseen of this.#byId.values()) if (unseen.owner === owner) unseen.show()
  }
}
