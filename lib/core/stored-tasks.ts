/**
 * Tasks in a store that other processes share: each change is written with the version before it, so that a
 * task which another process has taken over is noticed and never overwritten.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { formatRun, runPlace } from './announced-runs.ts'
import { Fault } from './fault.ts'
import { keyOf } from './store.ts'
import type { Nodes } from './nodes.ts'
import type { Entry, MaybePromise, Store, StoreKey } from './store.ts'
import type { TaskPlace } from './task-place.ts'
import type { TaskPlaces } from './task-places.ts'
import type { Task } from './task.ts'

const COLLECTION = 'tasks'
/** Entries that one list reads at most. */
const LIST_LIMIT = 10_000

/** All tasks of a shared store. */
export class StoredTasks {
  readonly #store: Store
  readonly #places: TaskPlaces
  readonly #nodes: Nodes | undefined
  /** The version of each task that was read. */
  readonly #versions = new WeakMap<Task, number>()

  /** `places` are those of this process; one that has lost its task goes. */
  constructor(store: Store, places: TaskPlaces, nodes: Nodes | undefined) {
    this.#store = store
    this.#places = places
    this.#nodes = nodes
  }

  /**
   * Writes a task that is to run here, after it is announced: if this process dies now, others know what it
   * has left. Rejects where it cannot be promised.
   */
  async begin(place: TaskPlace): Promise<void> {
    const nodes = this.#nodes
    if (nodes === undefined) return this.write(place)
    await nodes.ready()
    await this.#store.write(runPlace(nodes.id, place), formatRun(place), Infinity, 'any')
    const isNew = place.version === 0
    try {
      await this.write(place)
      // Whoever has been silent for too long may have been swept already.
      if (isNew && !nodes.isLeased) throw new Fault('busy', 'This process was silent for too long; try again')
    } catch (error) {
      this.left(place)
      if (isNew && error instanceof Fault && error.kind === 'conflict') {
        throw new Fault('busy', 'This process was silent for too long; try again')
      }
      throw error
    }
  }

  /** The task is here no more, or has ended. */
  left(place: TaskPlace): void {
    if (this.#nodes === undefined) return
    // What stays announced is looked at when this process has ended.
    void Promise.resolve(this.#store.remove(runPlace(this.#nodes.id, place), 'any')).catch(() => {})
  }

  /** The owner's task of that id. */
  get(owner: string, id: string): MaybePromise<Task | undefined> {
    const entry = this.#store.read(placeOf(owner, id))
    const read = (kept: Entry | undefined): Task | undefined => {
      const task = kept && this.#decode(kept)
      // A store that mixes up owners must not show one to another.
      return task?.owner === owner ? task : undefined
    }
    return entry instanceof Promise ? entry.then(read) : read(entry)
  }

  /** The owner's, the one whose status changed last first, with those that are `here` as they are here. */
  list(owner: string, here: readonly Task[]): MaybePromise<readonly Task[]> {
    const entries = this.#store.list(COLLECTION, keyOf(owner), LIST_LIMIT)
    const merged = (kept: readonly Entry[]): readonly Task[] => {
      const byId = new Map(here.map((task) => [task.id, task]))
      for (const entry of kept) {
        const task = this.#decode(entry)
        if (task === undefined) continue
        const known = byId.get(task.id)
        // What is newer there was taken by another process.
        const isNewer = known === undefined || known.status.at < task.status.at
        if (task.owner === owner && isNewer) byId.set(task.id, task)
      }
      return [...byId.values()].sort(byStatus)
    }
    return entries instanceof Promise ? entries.then(merged) : merged(entries)
  }

  /** The version at which a task was read here; undefined where it was not. */
  versionOf(task: Task): number | undefined {
    return this.#versions.get(task)
  }

  /**
   * The task of a place, which lives here until another process takes it. Undefined where it was taken and
   * is gone there too.
   */
  async refresh(place: TaskPlace): Promise<Task | undefined> {
    const { owner, id } = place
    const task = await this.get(owner, id)
    // What was read may be what is being written here.
    await place.writing?.catch(() => {})
    const version = task && this.versionOf(task)
    if (version !== undefined && version <= place.version) return place.task
    this.#lose(place)
    return task
  }

  /**
   * Writes the task as it stands then, one write after the other and at most one that waits. Rejects with
   * `Fault('conflict')` where another process has taken it; then its run is cancelled here.
   */
  write(place: TaskPlace): Promise<void> {
    if (place.waitingWrite !== undefined) return place.waitingWrite
    const write = async (): Promise<void> => {
      place.waitingWrite = undefined
      const { task } = place
      const key = placeOf(task.owner, task.id)
      const json = JSON.stringify(this.#nodes === undefined ? task : { ...task, node: this.#nodes.id })
      const version = await this.#insist(place, () => (
        this.#store.write(key, json, this.#places.keepMs(task), place.version)
      ))
      if (version !== undefined) return void (place.version = version)
      this.#lose(place)
      throw new Fault('conflict', 'This task belongs to another process')
    }
    if (place.writing === undefined) return place.writing = write()
    return place.writing = place.waitingWrite = place.writing.then(write, write)
  }

  /** Removes a task, if no other process has taken it. */
  async remove(place: TaskPlace): Promise<void> {
    await (place.waitingWrite ?? place.writing)?.catch(() => {})
    const { owner, id } = place
    await this.#store.remove(placeOf(owner, id), place.version)
  }

  /** Another process has the task: its run here says nothing more of it. */
  #lose(place: TaskPlace): void {
    const { run } = place
    this.#places.forget(place)
    run?.cancel()
  }

  /** How a task has ended is not given up: until it is kept, or another process has the task. */
  async #insist<T>(place: TaskPlace, write: () => MaybePromise<T>): Promise<T> {
    for (;;) {
      try {
        return await write()
      } catch (error) {
        const isUnreached = error instanceof Fault && error.kind === 'busy'
        if (this.#nodes?.isOpen !== true || !place.isFinished || !isUnreached) throw error
        await sleep(this.#nodes.beatMs, undefined, { ref: false })
      }
    }
  }

  /** Undefined: there was none, and no process may make one of that id any more. */
  #decode({ value, version }: Entry): Task | undefined {
    const task = JSON.parse(value) as Task | null
    if (task === null) return undefined
    this.#versions.set(task, version)
    return task
  }
}

function placeOf(owner: string, id: string): StoreKey {
  return { collection: COLLECTION, owner: keyOf(owner), key: keyOf(id) }
}

/** The newest status first, and of equals the greater id. */
function byStatus(one: Task, other: Task): number {
  if (one.status.at !== other.status.at) return one.status.at < other.status.at ? 1 : -1
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0
}
