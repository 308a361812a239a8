/**
 * The tasks of this process, within bounds in number and in bytes. Those that do not run are kept for a
 * while, and make room; those that run never do.
 */
import { Fault } from '../../kernel/define/fault.ts'
import { Bounded, KEPT, LEASED } from '../bounds/bounded.ts'
import { isInterrupted, isTerminal } from './task.ts'
import { bytesOf, TaskRecord } from './task-record.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { RunningTask, Task } from './task.ts'

/** A finished task is kept at least so long, so that a client that polls can see its end. */
export const LEAST_KEEP_MS = 60_000

/** A task that runs, or may be about to, is leased. */
export class TaskTable extends Bounded<TaskRecord> {
  readonly #limits: KernelLimits
  readonly #onForget: (record: TaskRecord) => void

  /** `onForget` is called for each task that is not here any more. */
  constructor(limits: KernelLimits, onForget: (record: TaskRecord) => void) {
    super({ maxCount: limits.maxTasks, maxBytes: limits.maxTasksBytes }, { onEvict: onForget })
    this.#limits = limits
    this.#onForget = onForget
  }

  get idle(): number { return this.count - this.leased }

  /** Adds a task that runs, or is about to. Throws `Fault('busy')` where there is no room. */
  begin(task: Task, run?: RunningTask): TaskRecord {
    const record = new TaskRecord(task, run)
    if (!this.add(task.owner, record, bytesOf(task), LEASED)) throw this.#full()
    return record
  }

  /** Adds a task that is over. Throws `Fault('busy')` where there is no room. */
  addEnded(task: Task): void {
    const record = new TaskRecord(task)
    if (!this.add(task.owner, record, bytesOf(task), KEPT, this.keepMs(task))) throw this.#full()
  }

  /** The owner's, the one that changed its state last first. */
  tasksOf(owner: string): readonly Task[] {
    this.expire()
    const all = Array.from(this.of(owner), ({ task }) => task)
    return all.sort((one, other) => one.status.at < other.status.at ? 1 : -1)
  }

  /** Those that run, or wait with their run. */
  * working(): Generator<TaskRecord> {
    for (const record of this.values()) if (record.run !== undefined) yield record
  }

  /** Those that run or wait. */
  * unfinished(): Generator<TaskRecord> {
    for (const record of this.values()) if (!record.isTerminal) yield record
  }

  /** Replaces the task. False where the others leave no room for it. */
  change(record: TaskRecord, task: Task): boolean {
    record.task = task
    return this.resize(record, bytesOf(task))
  }

  touch(record: TaskRecord): void {
    if (this.isIdle(record)) this.markIdle(record)
    else this.use(record, LEASED)
  }

  /** Whether it does not run, and may have to make room. */
  isIdle(record: TaskRecord): boolean { return this.holdOf(record) !== LEASED }

  /** It does not run: from now on it may have to make room, and expires. */
  markIdle(record: TaskRecord): void {
    this.use(record, KEPT, this.keepMs(record.task))
  }

  markActive(record: TaskRecord): void {
    if (this.isIdle(record)) this.use(record, LEASED)
  }

  forget(record: TaskRecord): void {
    if (!record.isHere) return
    this.remove(record)
    this.#onForget(record)
  }

  /** How long a task that does not run is kept, in milliseconds; `Infinity` for one that is working. */
  keepMs({ ttlMs, createdAt, status }: Task): number {
    const { taskKeepMs, waitingTaskKeepMs } = this.#limits
    if (isInterrupted(status.state)) return waitingTaskKeepMs
    if (!isTerminal(status.state)) return Infinity
    if (ttlMs === undefined) return taskKeepMs
    const left = ttlMs - (Date.parse(status.at) - Date.parse(createdAt))
    return Math.min(taskKeepMs, Math.max(left, LEAST_KEEP_MS))
  }

  /** Why one more found no room. */
  #full(): Fault {
    return this.leased < this.#limits.maxTasks ? this.noRoom() : this.busy()
  }

  noRoom(): Fault {
    const { maxTasksBytes } = this.#limits
    return new Fault('busy', `The tasks of this server hold ${maxTasksBytes} bytes together already`)
  }

  busy(): Fault {
    return new Fault('busy', `${this.#limits.maxTasks} tasks are running already; try again later`)
  }
}
