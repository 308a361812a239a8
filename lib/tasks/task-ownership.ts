/**
 * Which process has a task, where several share a store: how one is taken from another process, how it is
 * found out that another has taken one from here, and what is left to others when this one ends.
 */
import { Fault } from '../define/fault.ts'
import { isInterrupted } from './task.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { ClusterMembership } from '../state/cluster.ts'
import type { Doubt, StoredTasks } from './stored-tasks.ts'
import type { OnUnkept, TaskFinalizer } from './task-finalizer.ts'
import type { TaskRecord } from './task-record.ts'
import type { TaskTable } from './task-table.ts'
import type { Task } from './task.ts'

const TAKEN = 'task-taken'

/** The tasks of one process among all. */
export class TaskOwnership {
  readonly #stored: StoredTasks
  readonly #places: TaskTable
  readonly #ends: TaskFinalizer
  readonly #nodes: ClusterMembership | undefined
  /** Those of which the store does not know how they stand. */
  readonly #owed = new Set<TaskRecord>()

  /** `onUnkept` hears of what could not be written. */
  constructor(
    stored: StoredTasks, places: TaskTable, ends: TaskFinalizer, onUnkept: OnUnkept,
    nodes: ClusterMembership | undefined,
  ) {
    this.#stored = stored
    this.#places = places
    this.#ends = ends
    this.#nodes = nodes
    nodes?.onBeat(() => {
      const owed = [...this.#owed]
      this.#owed.clear()
      for (const place of owed) {
        if (places.find(place.id) !== place || place.isTerminal) continue
        stored.write(place).catch((cause: unknown) => onUnkept(place, cause))
      }
    })
    nodes?.on(TAKEN, (id) => {
      const place = typeof id === 'string' ? places.find(id) : undefined
      if (place !== undefined) stored.refresh(place).catch(() => {})
    })
  }

  /** What may have been written here though no answer came, by the ids of the tasks. */
  get doubts(): ReadonlyMap<string, Doubt> { return this.#stored.doubts }

  /** It is known what became of it, and nothing of it is announced any more. */
  settle(id: string): Promise<void> { return this.#stored.settle(id) }

  /** Whether a task is here. */
  has(id: string): boolean { return this.#places.find(id) !== undefined }

  /** The version at which a task was read here; undefined where it was not. */
  versionOf(task: Task): number | undefined { return this.#stored.versionOf(task) }

  /** As `Tasks.take`. `isDead`: so is the process that it is taken from, which need not hear of it. */
  async take(task: Task, next: Task, isDead = false): Promise<void> {
    let place = this.#places.find(task.id)
    const version = this.#stored.versionOf(task)
    if (place === undefined && version !== undefined) {
      place = this.#places.add(next, undefined, version)
      // What works makes no room: nobody else would end it.
      if (isInterrupted(next.status.state)) this.#places.rest(place)
    } else if (place?.task === task && next !== task) {
      this.#places.change(place, next)
    }
    if (place?.task !== next) return
    try {
      await this.#stored.begin(place)
    } catch (error) {
      this.#places.forget(place)
      if (!(error instanceof Fault && error.kind === 'conflict')) throw error
      return
    }
    const { id, node } = task
    if (isDead || node === undefined || node === this.#nodes?.id) return
    // Where it is not heard, it is found out with the next that is written there.
    this.#nodes?.send(node, TAKEN, id).catch(() => {})
  }

  /** The task as it is in the store, unless it is this process's own. */
  read(owner: string, id: string): MaybePromise<Task | undefined> {
    const place = this.#places.find(id)
    return place === undefined ? this.#stored.get(owner, id) : this.#stored.refresh(place)
  }

  /** Resolves when it is known whether a task is still this process's. Undefined: nobody doubts it. */
  confirm(id: string): Promise<unknown> | undefined {
    const place = this.#places.find(id)
    if (place === undefined || this.#nodes?.isLeased !== false) return undefined
    return this.#stored.insist(() => this.#stored.refresh(place))
  }

  /** Looks whether other processes have taken what runs here, and lets that go. Never rejects. */
  async recheck(): Promise<void> {
    for (const place of [...this.#places.working()]) await this.#stored.refresh(place).catch(() => {})
  }

  /**
   * The store was not reached with how a task stands: it is told with the next sign of life. How one has
   * ended is not given up anyway.
   */
  owe(place: TaskRecord): void {
    this.#owed.add(place)
  }

  /** Leaves to other processes what they can go on with: from now on it does not run here. */
  handOver(): void {
    for (const place of [...this.#places.working()]) this.#ends.handOver(place)
  }

  /** Resolves when everything is written, in `storeTimeoutMs`. True: nothing is left to others. */
  written(): Promise<boolean> { return this.#ends.written() }

  /** Awaited before the end of a task is written. It must not reject. */
  onBeforeEnd(listener: NonNullable<StoredTasks['beforeEnd']>): void {
    this.#stored.beforeEnd = listener
  }
}
