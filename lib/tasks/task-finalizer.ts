/**
 * The ends of tasks in a store that processes share. A task has ended when that is written and not before:
 * another process may have ended it otherwise, and nobody hears of two ends.
 */
import { Fault } from '../define/fault.ts'
import { startDeadline } from '../util/clock.ts'
import { isInterrupted } from './task.ts'
import type { Limits } from '../define/limits.ts'
import type { StoredTasks } from './stored-tasks.ts'
import type { TaskRecord } from './task-record.ts'
import type { TaskTable } from './task-table.ts'
import type { Task } from './task.ts'

/** Tells those who watch a task how it has ended, which is the last that they hear. */
export function tellEnd(place: TaskRecord): void {
  place.tell({ what: 'status', status: place.status })
  place.stopTelling()
}

/** Tells them that nothing more of it is heard here. */
export function tellForgotten(place: TaskRecord): void {
  place.tell({ what: 'forgotten' })
  place.stopTelling()
}

/** Hears of a task that could not be written. */
export type OnUnkept = (place: TaskRecord, cause: unknown) => void

/** All ends of one process. */
export class TaskFinalizer {
  readonly #stored: StoredTasks
  readonly #places: TaskTable
  readonly #limits: Limits
  readonly #onUnkept: OnUnkept
  readonly #writing = new Set<Promise<void>>()

  /** `onUnkept` hears of what could not be written. */
  constructor(stored: StoredTasks, places: TaskTable, limits: Limits, onUnkept: OnUnkept) {
    this.#stored = stored
    this.#places = places
    this.#limits = limits
    this.#onUnkept = onUnkept
  }

  /** Writes the end of a task, then tells of it. */
  begin(place: TaskRecord): void {
    const ended = this.#stored.write(place).then(() => {
      tellEnd(place)
      this.#places.forget(place)
    }, (cause: unknown) => this.#failed(place, cause))
    this.#writing.add(ended)
    void ended.finally(() => this.#writing.delete(ended))
  }

  /** A task whose end is being written, when it is. Rejects with `Fault('busy')` where that takes long. */
  async read(place: TaskRecord): Promise<Task | undefined> {
    const { owner, id, task } = place
    const written = (place.waitingWrite ?? place.writing)?.then(() => true, () => false)
    const isKept = await this.#inTime(written)
    if (isKept === true) return task
    if (isKept === false) return this.#stored.get(owner, id)
    throw new Fault('busy', 'How this task has ended is not kept yet; try again later')
  }

  /** Leaves a task to other processes, if they can go on with it: it stays as it is, and announced. */
  handOver(place: TaskRecord): void {
    const { task: { turn, status: { state } } } = place
    if (turn === undefined || !(turn.isRerun === true || isInterrupted(state))) return
    this.#abandon(place)
  }

  /** Resolves when everything is written, in `storeTimeoutMs`. True: nothing is left to others. */
  async written(): Promise<boolean> {
    const all = Promise.allSettled([...this.#writing]).then(() => this.#stored.idle()).then(() => true)
    return await this.#inTime(all) === true && this.#stored.announced === 0
  }

  /** Undefined where it takes longer than a store may. It keeps the process: nothing else may. */
  async #inTime<T>(work: Promise<T> | undefined): Promise<T | undefined> {
    let stop = (): void => {}
    const late = new Promise<undefined>((resolve) => {
      stop = startDeadline(this.#limits.storeTimeoutMs, () => resolve(undefined))
    })
    try {
      return await Promise.race([work, late])
    } finally {
      stop()
    }
  }

  /** It is another process's, too large, or this process is closing. */
  #failed(place: TaskRecord, cause: unknown): void {
    this.#onUnkept(place, cause)
    // Another process has it.
    if (place.slot === undefined) return
    const { task } = place
    const isTooLarge = cause instanceof Fault && cause.kind === 'too-large'
    if (!isTooLarge || task.fault?.message === cause.message) return this.#abandon(place)
    const { kind, message } = cause
    const said = { id: `${task.id}-end`, role: 'agent', parts: [{ type: 'text', text: message }] } as const
    this.#places.change(place, {
      ...task, status: { state: 'failed', at: task.status.at, message: said }, fault: { kind, message },
      result: undefined, artifacts: [], history: [], turn: undefined,
    })
    this.begin(place)
  }

  #abandon(place: TaskRecord): void {
    this.#stored.doubts.set(place.id, { owner: place.owner, version: place.version })
    this.#places.forget(place)
  }
}
