/**
 * Tasks in a store that other processes share: each change is written with the version before it, so that a
 * task which another process has taken over is noticed and never overwritten.
 */
import { Fault } from './fault.ts'
import { keyOf } from './store.ts'
import { isFinished } from './task.ts'
import type { Entry, MaybePromise, Store, StoreKey } from './store.ts'
import type { TaskPlace, TaskPlaces } from './task-places.ts'
import type { Task } from './task.ts'

const COLLECTION = 'tasks'
/** Entries that one list reads at most. */
const LIST_LIMIT = 10_000

/** All tasks of a shared store. */
export class StoredTasks {
  readonly #store: Store
  readonly #places: TaskPlaces

  /** `places` are those of this process; one that has lost its task goes. */
  constructor(store: Store, places: TaskPlaces) {
    this.#store = store
    this.#places = places
  }

  /** The owner's task of that id. */
  get(owner: string, id: string): MaybePromise<Task | undefined> {
    const entry = this.#store.read(placeOf(owner, id))
    const read = (kept: Entry | undefined): Task | undefined => {
      const task = kept && decode(kept)
      // A store that mixes up owners must not show one to another.
      return task?.owner === owner ? task : undefined
    }
    return entry instanceof Promise ? entry.then(read) : read(entry)
  }

  /** The owner's, in no order. */
  list(owner: string): MaybePromise<readonly Task[]> {
    const entries = this.#store.list(COLLECTION, keyOf(owner), LIST_LIMIT)
    const read = (kept: readonly Entry[]): readonly Task[] => (
      kept.map(decode).filter((task) => task.owner === owner)
    )
    return entries instanceof Promise ? entries.then(read) : read(entries)
  }

  /**
   * Writes the task as it stands then, one write after the other and at most one that waits. Rejects where
   * another process owns it; then its run is cancelled here.
   */
  write(place: TaskPlace): Promise<void> {
    if (place.waitingWrite !== undefined) return place.waitingWrite
    const write = async (): Promise<void> => {
      place.waitingWrite = undefined
      const { task } = place
      const keepMs = isFinished(task.status.state) ? this.#places.keepMs(task) : Infinity
      const key = placeOf(task.owner, task.id)
      const version = await this.#store.write(key, JSON.stringify(task), keepMs, place.version)
      if (version !== undefined) return void (place.version = version)
      place.run?.cancel()
      this.#places.forget(place)
      throw new Fault('conflict', 'This task belongs to another process')
    }
    if (place.writing === undefined) return place.writing = write()
    return place.writing = place.waitingWrite = place.writing.then(write, write)
  }
}

function placeOf(owner: string, id: string): StoreKey {
  return { collection: COLLECTION, owner: keyOf(owner), key: keyOf(id) }
}

function decode({ value }: Entry): Task {
  return JSON.parse(value) as Task
}
