/**
 * Tasks in a store that other processes share: each change is written with the version before it, so that a
 * task which another process has taken over is noticed and never overwritten.
 */
import { andThen } from '../util/thenable.ts'
import { ListedWholeTask } from './task-table.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../define/fault.ts'
import { keyOf, SYSTEM_OWNER } from '../state/store.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { ClusterMembership } from '../state/cluster.ts'
import type { Entry, Store, StoreKey } from '../state/store.ts'
import type { TaskRecord } from './task-record.ts'
import type { TaskTable } from './task-table.ts'
import type { ListedTask, Task } from './task.ts'

const COLLECTION = 'tasks'
/** Entries that one list reads at most. */
const LIST_LIMIT = 10_000
/** What a task's artifacts grow by is written so often at most. */
const SOON_MS = 250

/** A task that may have been written here, though no answer came. */
export interface Doubt {
  readonly owner: string
  /** Of what it was written in the place of; 0: of nothing. */
  readonly version: number
}

/** All tasks of a shared store. */
export class StoredTasks {
  readonly #store: Store
  readonly #places: TaskTable
  readonly #nodes: ClusterMembership | undefined
  /** The version of each task that was read. */
  readonly #versions = new WeakMap<Task, number>()
  /** By their ids. They stay announced, and are looked at again. */
  readonly doubts: Map<string, Doubt> = new Map<string, Doubt>()
  /** Awaited before the end of a task is written. It must not reject. */
  beforeEnd: ((task: Pick<Task, 'owner' | 'id'>) => Promise<void> | undefined) | undefined
  /** When it was written last, and what is to be written soon. */
  readonly #writtenAt = new WeakMap<TaskRecord, number>()
  readonly #soon = new Map<TaskRecord, NodeJS.Timeout>()
  readonly #announced = new Set<string>()
  readonly #unannounced = new WeakSet<TaskRecord>()
  /** Announcements that are being taken back. */
  readonly #leaving = new Map<string, Promise<void>>()

  /** `places` are those of this process; one that has lost its task goes. */
  constructor(store: Store, places: TaskTable, nodes: ClusterMembership | undefined) {
    this.#store = store
    this.#places = places
    this.#nodes = nodes
  }

  /**
   * Writes a task that is to run here, after it is announced: if this process dies now, others know what it
   * has left. Rejects where it cannot be promised.
   */
  async begin(place: TaskRecord): Promise<void> {
    const nodes = this.#nodes
    if (nodes === undefined) return this.write(place)
    const { id, owner, version } = place
    await nodes.ready()
    try {
      await this.#announce(place)
      await this.write(place)
      // Whoever has been silent for too long may have been swept already.
      if (version === 0 && !nodes.isLeased) throw silent()
    } catch (error) {
      const isTaken = error instanceof Fault && error.kind === 'conflict'
      if (!isTaken) this.doubts.set(id, { owner, version })
      this.left(place)
      throw isTaken && version === 0 ? silent() : error
    }
  }

  /** Tasks that are announced under this process's name. */
  get announced(): number { return this.#announced.size }

  async #announce(place: TaskRecord): Promise<void> {
    // A store may do in another order what it is asked at one time.
    await this.#leaving.get(place.id)
    this.#announced.add(place.id)
    await this.#store.write(runPlace(this.#nodes!.id, place), formatRun(place), Infinity, 'any')
  }

  /** The task is here no more, or has ended. */
  left(place: TaskRecord): void {
    this.#cancelSoon(place)
    // What is in doubt stays announced, and so does what is left to others.
    if (this.doubts.has(place.id)) return
    // What stays announced is looked at when this process has ended.
    const settled = this.settle(place.id).catch(() => {})
    this.#leaving.set(place.id, settled)
    void settled.then(() => {
      if (this.#leaving.get(place.id) === settled) this.#leaving.delete(place.id)
    })
  }

  /** It is known what became of a task: nothing of it is announced any more. */
  async settle(id: string): Promise<void> {
    this.doubts.delete(id)
    if (this.#nodes === undefined) return
    await this.#store.remove(runPlace(this.#nodes.id, { id }), 'any')
    this.#announced.delete(id)
  }

  /** Resolves when everything that is on its way has come to its end. */
  async idle(): Promise<void> {
    await Promise.all(this.#leaving.values())
  }

  /** The task waited for its client, and may not be announced any more. */
  announceAgain(place: TaskRecord): void {
    if (this.#nodes !== undefined) this.#unannounced.add(place)
  }

  /** The owner's task of that id. */
  get(owner: string, id: string): MaybePromise<Task | undefined> {
    const entry = this.#store.read(taskKeyOf(owner, id))
    const read = (kept: Entry | undefined): Task | undefined => {
      const task = kept && this.#decode(kept)
      // A store that mixes up owners must not show one to another.
      return task?.owner === owner ? task : undefined
    }
    return andThen(entry, read)
  }

  /** The owner's, the one whose status changed last first, with those that are `here` as they are here. */
  list(owner: string, here: readonly Task[]): MaybePromise<readonly ListedTask[]> {
    const entries = this.#store.list(COLLECTION, keyOf(owner), LIST_LIMIT)
    const merged = (kept: readonly Entry[]): readonly ListedTask[] => {
      const byId = new Map(here.map((task) => [task.id, task]))
      for (const entry of kept) {
        const task = this.#decode(entry)
        if (task === undefined) continue
        const known = byId.get(task.id)
        // What is newer there was taken by another process.
        const isNewer = known === undefined || known.status.at < task.status.at
        if (task.owner === owner && isNewer) byId.set(task.id, task)
      }
      return [...byId.values()].sort(byStatus).map((task) => new ListedWholeTask(task))
    }
    return andThen(entries, merged)
  }

  /** The version at which a task was read here; undefined where it was not. */
  versionOf(task: Task): number | undefined {
    return this.#versions.get(task)
  }

  /**
   * The task of a place, which lives here until another process takes it. Undefined where it was taken and
   * is gone there too.
   */
  async refresh(place: TaskRecord): Promise<Task | undefined> {
    const { owner, id, version: before } = place
    const task = await this.get(owner, id)
    // It is being begun here: its first write finds out whether it may be.
    if (task === undefined && before === 0) return place.task
    // What was read may be what is being written here.
    await place.writing?.catch(() => {})
    const version = task && this.versionOf(task)
    if (version !== undefined && (version <= place.version || this.#isOwn(place, task))) {
      place.version = Math.max(place.version, version)
      return place.task
    }
    this.#lose(place)
    return task
  }

  /** Whether what was read is what was written here: an answer that never came may have been a good one. */
  #isOwn(place: TaskRecord, task: Task | undefined): boolean {
    const node = this.#nodes?.id
    return node !== undefined && task?.node === node && this.#places.find(place.id) === place
  }

  /**
   * Writes the task as it stands then, one write after the other and at most one that waits. Rejects with
   * `Fault('conflict')` where another process has taken it; then its run is cancelled here.
   */
  write(place: TaskRecord): Promise<void> {
    if (place.waitingWrite !== undefined) return place.waitingWrite
    const write = async (): Promise<void> => {
      place.waitingWrite = undefined
      this.#cancelSoon(place)
      this.#writtenAt.set(place, performance.now())
      if (this.#unannounced.has(place)) {
        await this.#announce(place)
        this.#unannounced.delete(place)
      }
      // How a task has ended is not given up: until it is kept, or another process has the task.
      place.version = await (place.isTerminal ? this.insist(() => this.#write(place)) : this.#write(place))
    }
    if (place.writing === undefined) return place.writing = write()
    return place.writing = place.waitingWrite = place.writing.then(write, write)
  }

  /**
   * Calls `write` so late that it is not called more than four times a second, unless the task is written
   * before.
   */
  writeSoon(place: TaskRecord, write: () => void): void {
    if (this.#soon.has(place) || place.waitingWrite !== undefined) return
    const waitMs = (this.#writtenAt.get(place) ?? -Infinity) + SOON_MS - performance.now()
    if (waitMs <= 0) return write()
    this.#soon.set(place, setTimeout(write, waitMs).unref())
  }

  /** Whether something of it is still to be written. */
  isDue(place: TaskRecord): boolean { return this.#soon.has(place) }

  #cancelSoon(place: TaskRecord): void {
    const timer = this.#soon.get(place)
    if (timer === undefined) return
    clearTimeout(timer)
    this.#soon.delete(place)
  }

  /**
   * The same as `write`, however long it takes. Rejects where another process has the task, where the store
   * does not take it, and where this process ends.
   */
  async writeSurely(place: TaskRecord): Promise<void> {
    await this.insist(() => this.write(place))
  }

  /** Does something until the store answers, or this process ends. */
  async insist<T>(act: () => MaybePromise<T>): Promise<T> {
    for (;;) {
      try {
        return await act()
      } catch (error) {
        const isUnreached = error instanceof Fault && error.kind === 'busy'
        if (this.#nodes?.isOpen !== true || !isUnreached) throw error
        await sleep(this.#nodes.beatMs, undefined, { ref: false })
      }
    }
  }

  /** Removes a task, if no other process has taken it. */
  async remove(place: TaskRecord): Promise<void> {
    await (place.waitingWrite ?? place.writing)?.catch(() => {})
    const { owner, id } = place
    await this.#store.remove(taskKeyOf(owner, id), place.version)
  }

  /** Another process has the task: its run here says nothing more of it. */
  #lose(place: TaskRecord): void {
    const { run } = place
    this.#places.forget(place)
    run?.lose(silent())
  }

  /** The version of what was written. Rejects with `Fault('conflict')` where another process has the task. */
  async #write(place: TaskRecord): Promise<number> {
    const { owner, id } = place
    for (;;) {
      if (place.isTerminal) await this.beforeEnd?.(place)
      const { task } = place
      const json = JSON.stringify(this.#nodes === undefined ? task : { ...task, node: this.#nodes.id })
      const keepMs = this.#places.keepMs(task)
      const version = await this.#store.write(taskKeyOf(owner, id), json, keepMs, place.version)
      if (version !== undefined) return version
      const now = this.#nodes && await this.get(owner, id)
      if (now === undefined || !this.#isOwn(place, now)) break
      place.version = this.versionOf(now) ?? place.version
    }
    this.#lose(place)
    throw new Fault('conflict', 'This task belongs to another process')
  }

  /** Undefined: there was none, and no process may make one of that id any more. */
  #decode({ value, version }: Entry): Task | undefined {
    const task = JSON.parse(value) as Task | null
    if (task === null) return undefined
    this.#versions.set(task, version)
    return task
  }
}

/** Where a task is kept. */
export function taskKeyOf(owner: string, id: string): StoreKey {
  return { collection: COLLECTION, owner: keyOf(owner), key: keyOf(id) }
}

/** The newest status first, and of equals the greater id. */
function byStatus(one: Task, other: Task): number {
  if (one.status.at !== other.status.at) return one.status.at < other.status.at ? 1 : -1
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0
}

function silent(): Fault {
  return new Fault('busy', 'This process was silent for too long; try again')
}

/** The collection. */
export const RUNS = 'runs'

/** Where the run of a task is announced. */
export function runPlace(node: string, { id }: { readonly id: string }): StoreKey {
  return { collection: RUNS, owner: SYSTEM_OWNER + node, key: keyOf(id) }
}

/** What is announced. */
export function formatRun({ owner, id }: Pick<Task, 'owner' | 'id'>): string {
  return JSON.stringify([owner, id])
}
