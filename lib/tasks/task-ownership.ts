/**
 * Which process has a task, where several share a store: how one is taken from another process, how it is
 * found out that another has taken one from here, and what is left to others when this one ends.
 *
 * A task has ended when its end is written and not before: another process may have ended it otherwise, and
 * watchers must never see two outcomes.
 */
import { Fault } from '../define/fault.ts'
import { withDeadline } from '../util/clock.ts'
import { isInterrupted } from './task.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { ClusterMembership } from '../state/cluster.ts'
import type { Limits } from '../define/limits.ts'
import type { StoredTasks } from './stored-tasks.ts'
import type { TaskRecord } from './task-record.ts'
import type { TaskTable } from './task-table.ts'
import type { Task } from './task.ts'

export type OnWriteFailed = (record: TaskRecord, cause: unknown) => void

const TAKEN = 'task-taken'

export class TaskOwnership {
  readonly stored: StoredTasks
  readonly #table: TaskTable
  readonly #limits: Limits
  readonly #onWriteFailed: OnWriteFailed
  readonly #cluster: ClusterMembership | undefined
  /** Tasks whose last change the store has not got. */
  readonly #pendingWrites = new Set<TaskRecord>()
  readonly #ending = new Set<Promise<void>>()

  constructor(
    stored: StoredTasks, table: TaskTable, limits: Limits, onWriteFailed: OnWriteFailed,
    cluster: ClusterMembership | undefined,
  ) {
    this.stored = stored
    this.#table = table
    this.#limits = limits
    this.#onWriteFailed = onWriteFailed
    this.#cluster = cluster
    cluster?.onBeat(() => {
      const pending = [...this.#pendingWrites]
      this.#pendingWrites.clear()
      for (const record of pending) {
        if (table.find(record.id) !== record || record.isTerminal) continue
        stored.write(record).catch((cause: unknown) => onWriteFailed(record, cause))
      }
    })
    cluster?.on(TAKEN, (id) => {
      const record = typeof id === 'string' ? table.find(id) : undefined
      if (record !== undefined) stored.refresh(record).catch(() => {})
    })
  }

  has(id: string): boolean { return this.#table.find(id) !== undefined }

  /** As `Tasks.take`. */
  async take(task: Task, next: Task): Promise<void> {
    let record = this.#table.find(task.id)
    const version = this.stored.versionOf(task)
    if (record === undefined && version !== undefined) {
      record = this.#table.add(next, undefined, version)
      // A working task makes no room for others: only its run ends it.
      if (isInterrupted(next.status.state)) this.#table.markIdle(record)
    } else if (record?.task === task && next !== task) {
      this.#table.change(record, next)
    }
    if (record?.task !== next) return
    try {
      await this.stored.begin(record)
    } catch (error) {
      this.#table.forget(record)
      if (!(error instanceof Fault && error.kind === 'conflict')) throw error
      return
    }
    const { id, node } = task
    if (node === undefined || node === this.#cluster?.id) return
    // Where the message is lost, that process finds out with its next write, if it lives.
    this.#cluster?.send(node, TAKEN, id).catch(() => {})
  }

  /** The task as it is in the store, unless it is this process's own. */
  read(owner: string, id: string): MaybePromise<Task | undefined> {
    const record = this.#table.find(id)
    return record === undefined ? this.stored.get(owner, id) : this.stored.refresh(record)
  }

  /** Resolves when it is known whether a task is still this process's. Undefined: it surely is. */
  confirm(id: string): Promise<unknown> | undefined {
    const record = this.#table.find(id)
    if (record === undefined || this.#cluster?.isLeased !== false) return undefined
    return this.stored.retryUntilWritten(() => this.stored.refresh(record))
  }

  /** Drops what runs here and was taken by other processes. Never rejects. */
  async recheck(): Promise<void> {
    for (const record of [...this.#table.working()]) await this.stored.refresh(record).catch(() => {})
  }

  /** Writes the task again with the next beat; ends are retried anyway. */
  retryLater(record: TaskRecord): void {
    this.#pendingWrites.add(record)
  }

  /** Writes the end of a task, then notifies its watchers. */
  finish(record: TaskRecord): void {
    const ended = this.stored.write(record).then(() => {
      record.notifyLast({ what: 'status', status: record.status })
      this.#table.forget(record)
    }, (cause: unknown) => this.#endFailed(record, cause))
    this.#ending.add(ended)
    void ended.finally(() => this.#ending.delete(ended))
  }

  /** A task whose end is being written, when it is. Rejects with `Fault('busy')` where that takes long. */
  async readEnd({ owner, id, task, waitingWrite, writing }: TaskRecord): Promise<Task | undefined> {
    const written = (waitingWrite ?? writing ?? Promise.resolve()).then(() => true, () => false)
    const late = (): Fault => (
      new Fault('busy', 'How this task has ended is not kept yet; try again later')
    )
    const isWritten = await withDeadline(written, this.#limits.storeTimeoutMs, late)
    return isWritten ? task : this.stored.get(owner, id)
  }

  /** Leaves to other processes what they can go on with: it stays announced, and runs no more here. */
  handOver(): void {
    for (const record of [...this.#table.working()]) {
      const { turn, status: { state } } = record.task
      if (turn !== undefined && (turn.isRerun === true || isInterrupted(state))) this.#abandon(record)
    }
  }

  /** Resolves when everything is written, in `storeTimeoutMs`. True: nothing is left to others. */
  written(): Promise<boolean> {
    const all = Promise.allSettled([...this.#ending]).then(() => this.stored.retracted())
    const late = (): Fault => new Fault('timeout', 'The store takes long')
    return withDeadline(all, this.#limits.storeTimeoutMs, late)
      .then(() => this.stored.announced === 0, () => false)
  }

  /** Awaited before the end of a task is written. It must not reject. */
  onBeforeEnd(listener: NonNullable<StoredTasks['beforeEnd']>): void {
    this.stored.beforeEnd = listener
  }

  /** The task is another process's, or too large, or this process is closing. */
  #endFailed(record: TaskRecord, cause: unknown): void {
    this.#onWriteFailed(record, cause)
    // Another process has it.
    if (record.slot === undefined) return
    const { task } = record
    const isTooLarge = cause instanceof Fault && cause.kind === 'too-large'
    if (!isTooLarge || task.fault?.message === cause.message) return this.#abandon(record)
    const { kind, message } = cause
    const parts = [{ type: 'text', text: message }] as const
    this.#table.change(record, {
      ...task, fault: { kind, message }, result: undefined, artifacts: [], history: [], turn: undefined,
      status: {
        state: 'failed', at: task.status.at, message: { id: `${task.id}-end`, role: 'agent', parts },
      },
    })
    this.finish(record)
  }

  #abandon(record: TaskRecord): void {
    this.stored.unconfirmedWrites.set(record.id, { owner: record.owner, version: record.version })
    this.#table.forget(record)
  }
}
