/**
 * All tasks of one server: where they are, who may see them, and who is told what happens to them.
 *
 * A task belongs to one principal; for every other it does not exist. Watchers of one task get the same
 * events in the same order, each at the moment it happens.
 *
 * Tasks live here, as the objects they are, within bounds; those that run never make room. Where other
 * processes share the store, each change is written there with the version before it, and what does not run
 * here is read from there.
 */
import { randomUUID } from 'node:crypto'
import { addArtifact } from './artifact.ts'
import { Fault } from './fault.ts'
import { StoredTasks } from './stored-tasks.ts'
import { isFinished, isWaiting, mayFollow } from './task.ts'
import { historyOf, historyWith } from './task-history.ts'
import { TaskPlaces } from './task-places.ts'
import { taskOf } from './task-seed.ts'
import { bytesOfParts } from './task-size.ts'
import type { Artifact, ArtifactChange } from './artifact.ts'
import type { Limits } from './defaults.ts'
import type { Log } from './log.ts'
import type { MaybePromise, Store } from './store.ts'
import type { TaskPlace } from './task-places.ts'
import type { TaskEnd, TaskSeed } from './task-seed.ts'
import type { RunningTask, Task, TaskEvent, TaskMessage, TaskState, Watcher } from './task.ts'

/** What may change together with a task's state. What is left out stays as it is. */
export interface TaskChange {
  /** What the agent says about the state. */
  readonly message?: TaskMessage['parts'] | undefined
  readonly questions?: Task['questions']
  readonly result?: unknown
  readonly fault?: Task['fault']
}

/** All tasks of one server. */
export class Tasks {
  readonly #limits: Limits
  /** Where they are too, if others share it. */
  readonly #stored: StoredTasks | undefined
  readonly #log: Log
  readonly #places: TaskPlaces
  #lastAt = 0

  constructor(limits: Limits, store: Store, log: Log) {
    this.#limits = limits
    this.#log = log
    this.#places = new TaskPlaces(limits, (place) => this.#forgotten(place))
    if (store.isShared) this.#stored = new StoredTasks(store, this.#places)
  }

  /** Tasks that run. */
  get running(): number { return this.#places.running }
  /** Tasks that are kept here though they do not run, and what all hold, in bytes. */
  get finished(): number { return this.#places.idle }
  get bytes(): number { return this.#places.bytes }
  /** Whether as many run as may. */
  get isFull(): boolean { return this.running >= this.#limits.maxTasks }

  /** Throws `Fault('busy')` where as many run as may. */
  check(): void {
    this.#places.check()
  }

  /**
   * Begins a task. Throws `Fault('busy')` when as many as allowed are running. Where processes share the
   * store it resolves when the task is kept there, and so may be promised to the client.
   */
  create(seed: TaskSeed, run?: RunningTask): MaybePromise<Task> {
    const at = this.#now()
    const task = taskOf(seed, at, { state: 'submitted', at })
    const place = this.#places.add(task, run, 0)
    if (this.#stored === undefined) return task
    return this.#stored.write(place).then(() => task, (error: unknown) => {
      this.#places.forget(place)
      throw error
    })
  }

  /** Keeps a task that is over already. Only where the store is not shared. Throws `Fault('busy')`. */
  record(seed: TaskSeed, { state, message, artifacts, fault }: TaskEnd): Task {
    const at = this.#now()
    const said: TaskMessage | undefined = message && { id: randomUUID(), role: 'agent', parts: message }
    const status = said === undefined ? { state, at } : { state, at, message: said }
    const task: Task = taskOf(seed, at, status, artifacts, fault)
    this.#places.rest(this.#places.add(task, undefined, 0))
    return task
  }

  /**
   * Takes a task to this process, as it was read, so that no other goes on with it. Nothing where it has
   * changed since, or another was quicker: `isCurrent` tells. Throws `Fault('busy')` where there is no room.
   */
  take(task: Task): MaybePromise<void> {
    if (this.#stored === undefined) return undefined
    let place = this.#places.find(task.id)
    const version = this.#stored.versionOf(task)
    if (place === undefined && version !== undefined) {
      place = this.#places.add(task, undefined, version)
      this.#places.rest(place)
    }
    if (place?.task !== task) return undefined
    return this.#stored.write(place).catch((error: unknown) => {
      this.#places.forget(place)
      if (!(error instanceof Fault && error.kind === 'conflict')) throw error
    })
  }

  /** Whether a task is here, and as it was read. */
  isCurrent(task: Task): boolean {
    return this.#places.find(task.id)?.task === task
  }

  /** Gives a task that waits here without a run to one. Nothing where it has one, or has ended. */
  resume(id: string, run: RunningTask): void {
    const place = this.#unfinished(id)
    if (place === undefined || place.run !== undefined) return
    this.#places.wake(place)
    place.run = run
  }

  /** The task waits without a run. Nothing where it has ended. */
  release(id: string, run: RunningTask): void {
    const place = this.#unfinished(id)
    if (place === undefined || place.run !== run) return
    place.run = undefined
    this.#places.rest(place)
  }

  /** Forgets a task, here and in the store, of which nobody has been told. */
  drop(id: string): Promise<void> | undefined {
    const place = this.#places.find(id)
    if (place === undefined) return undefined
    this.#places.forget(place)
    return this.#stored?.remove(place).catch((cause: unknown) => this.#unkept(place, cause))
  }

  /** Resolves when other processes can read what is here of a task. Undefined where there are none. */
  kept(id: string): Promise<void> | undefined {
    const place = this.#places.find(id)
    return (place?.waitingWrite ?? place?.writing)?.catch(() => {})
  }

  /** The owner's task of that id. At once where it runs here. */
  get(owner: string, id: string): MaybePromise<Task | undefined> {
    const place = this.#places.find(id)
    if (place === undefined) return this.#stored?.get(owner, id)
    const { task } = place
    if (task.owner !== owner) return undefined
    // Whoever waits for its client may have been answered elsewhere.
    if (this.#stored !== undefined && isWaiting(task.status.state)) return this.#stored.refresh(place)
    return task
  }

  /** The run behind a task, where it runs in this process. */
  runOf(id: string): RunningTask | undefined {
    return this.#places.find(id)?.run
  }

  /** Goes to another state. False where that cannot follow: what a finished task's agent says is dropped. */
  move(id: string, state: TaskState, change: TaskChange = {}): boolean {
    const place = this.#places.find(id)
    if (place === undefined || !mayFollow(place.task.status.state, state)) return false
    const { task } = place
    const { message, ...rest } = change
    const at = this.#now(task.status.at)
    const status = message === undefined ? { state, at }
      : { state, at, message: { id: randomUUID(), role: 'agent', parts: message } as const }
    const history = historyOf(task, this.#limits)
    const written = this.#change(place, { ...task, ...rest, history, status })
    this.#places.touch(place)
    this.#tell(place, { what: 'status', status })
    if (isFinished(state)) this.#finish(place, written)
    return true
  }

  /**
   * Adds an artifact, adds to one, or replaces it. False on a finished task. Throws `Fault('too-large')`
   * where all of them together are over `maxResultBytes`. A promise: those who watch are all behind, and
   * whoever can wait should.
   */
  addArtifact(id: string, artifact: Artifact, change: ArtifactChange = {}): boolean | Promise<boolean> {
    const { append = false, last = true, isJoined = false } = change
    const place = this.#unfinished(id)
    if (place === undefined) return false
    const { task } = place
    const isMore = append && task.artifacts.some((known) => known.id === artifact.id)
    const artifacts = addArtifact(task.artifacts, artifact, append, isJoined)
    // Of one that is streamed, only what is new is counted: it is looked at for each piece.
    const bytes = isJoined && isMore && place.slot !== undefined
      ? place.slot.bytes + bytesOfParts(artifact.parts) : undefined
    this.#places.change(place, { ...task, artifacts }, bytes)
    if (place.slot !== undefined && place.slot.bytes > this.#limits.maxResultBytes * 2) {
      this.#places.change(place, task)
      const { maxResultBytes } = this.#limits
      throw new Fault('too-large', `The artifacts of the task are larger than ${maxResultBytes} bytes`)
    }
    void this.#write(place)
    const pace = this.#tell(place, { what: 'artifact', artifact, append: isMore, last })
    return pace === undefined ? true : pace.then(() => true)
  }

  /** Adds to the history. False on a finished task. */
  addMessage(id: string, message: TaskMessage): boolean {
    const place = this.#unfinished(id)
    if (place === undefined) return false
    const { task } = place
    const spoken = { ...task, history: historyOf(task, this.#limits) }
    void this.#change(place, { ...task, history: historyWith(spoken, message, this.#limits) })
    return true
  }

  /** Keeps what is needed to run the present turn again. */
  keepTurn(id: string, turn: Task['turn']): void {
    const place = this.#unfinished(id)
    if (place !== undefined) void this.#change(place, { ...place.task, turn })
  }

  /**
   * The task as it stands and, in the same instant, a place among those who are told what follows: nothing
   * is lost between the two, nothing comes twice. Undefined where the owner has no such unfinished task here.
   */
  watch(owner: string, id: string, watcher: Watcher): { task: Task; stop: () => void } | undefined {
    const place = this.#unfinished(id)
    if (place === undefined || place.task.owner !== owner) return undefined
    const watchers = place.watchers ??= new Set()
    watchers.add(watcher)
    return { task: place.task, stop: () => watchers.delete(watcher) }
  }

  /** The owner's tasks, the one whose status changed last first. */
  list(owner: string): MaybePromise<readonly Task[]> {
    const here = [...this.#places.of(owner)]
    return this.#stored === undefined ? here : this.#stored.list(owner, here)
  }

  #unfinished(id: string): TaskPlace | undefined {
    const place = this.#places.find(id)
    return place === undefined || isFinished(place.task.status.state) ? undefined : place
  }

  #forgotten(place: TaskPlace): void {
    this.#tell(place, { what: 'forgotten' })
    place.watchers?.clear()
  }

  #change(place: TaskPlace, task: Task): Promise<void> | undefined {
    this.#places.change(place, task)
    return this.#write(place)
  }

  /** Resolves, where processes share the store, when it is written there, or could not be. */
  #write(place: TaskPlace): Promise<void> | undefined {
    return this.#stored?.write(place).catch((cause: unknown) => this.#unkept(place, cause))
  }

  #unkept({ task: { id: task } }: TaskPlace, cause: unknown): void {
    this.#log('warning', 'A task could not be kept', { task, cause })
  }

  #finish(place: TaskPlace, written: Promise<void> | undefined): void {
    place.watchers?.clear()
    place.run = undefined
    // It may have waited before, for another time.
    this.#places.wake(place)
    this.#places.rest(place)
    void written?.then(() => this.#places.forget(place))
  }

  /** A promise where every watcher is behind: it resolves when the first of them has caught up. */
  #tell({ watchers, task }: TaskPlace, event: TaskEvent): Promise<void> | undefined {
    if (watchers === undefined || watchers.size === 0) return undefined
    if (watchers.size === 1) {
      const [only] = watchers
      return only!(event, task) ?? undefined
    }
    const behind: Promise<void>[] = []
    const told = [...watchers]
    for (const watcher of told) {
      const pace = watcher(event, task)
      if (pace !== undefined) behind.push(pace)
    }
    return behind.length === told.length ? Promise.race(behind) : undefined
  }

  /** A time that no other has here, and that is behind another, which may be of another process. */
  #now(after?: string): string {
    const least = after === undefined ? 0 : Date.parse(after) + 1
    this.#lastAt = Math.max(Date.now(), this.#lastAt + 1)
    return new Date(Math.max(this.#lastAt, least)).toISOString()
  }
}
