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
import { isFinished, mayFollow } from './task.ts'
import { TaskPlaces } from './task-places.ts'
import { bytesOfMessage, bytesOfParts } from './task-size.ts'
import type { Artifact } from './artifact.ts'
import type { Limits } from './defaults.ts'
import type { Log } from './log.ts'
import type { MaybePromise, Store } from './store.ts'
import type { TaskPlace } from './task-places.ts'
import type { RunningTask, Task, TaskEvent, TaskMessage, TaskState, Watcher } from './task.ts'

/** What a task begins with. */
export type TaskSeed =
  & Pick<Task, 'owner' | 'protocol' | 'runnable' | 'contextId' | 'sessionId' | 'ttlMs'>
  & Partial<Pick<Task, 'id' | 'tenant' | 'history' | 'turn'>>

/** What may change together with a task's state. What is left out stays as it is. */
export interface TaskChange {
  /** What the agent says about the state. */
  readonly message?: TaskMessage['parts'] | undefined
  readonly questions?: Task['questions']
  readonly result?: unknown
  readonly fault?: Task['fault']
}

/** How a task ends that was over before anybody could see it. */
export interface TaskEnd {
  readonly state: TaskState
  readonly message: TaskMessage['parts'] | undefined
  readonly artifacts: readonly Artifact[]
  readonly fault: Task['fault']
}

/** How an artifact changes a task. */
export interface ArtifactChange {
  /** Adds to the artifact of that id instead of replacing it. Left out: false. */
  readonly append?: boolean
  /** Nothing more will be added to it. Left out: true. */
  readonly last?: boolean
  /** Text that is added goes on with the text before it, and is no part of its own. Left out: false. */
  readonly isJoined?: boolean
}

const none: readonly never[] = Object.freeze([])
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
  get isFull(): boolean { return this.running >= this.#limits.maxTasks }

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
   * Gives a task that waits to a run of its own. False where it is not here, has a run already, or has ended.
   */
  resume(id: string, run: RunningTask): boolean {
    const place = this.#unfinished(id)
    if (place === undefined || place.run !== undefined) return false
    this.#places.wake(place)
    place.run = run
    return true
  }

  /** The task waits without a run. Nothing where it has ended. */
  release(id: string, run: RunningTask): void {
    const place = this.#unfinished(id)
    if (place === undefined || place.run !== run) return
    place.run = undefined
    this.#places.rest(place)
  }

  /** The owner's task of that id. */
  get(owner: string, id: string): MaybePromise<Task | undefined> {
    const known = this.#places.find(id)?.task
    if (known !== undefined) return known.owner === owner ? known : undefined
    return this.#stored?.get(owner, id)
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
    const at = this.#now()
    const status = message === undefined ? { state, at }
      : { state, at, message: { id: randomUUID(), role: 'agent', parts: message } as const }
    const history = this.#spoken(task)
    this.#change(place, { ...task, ...rest, history, status })
    this.#places.touch(place)
    this.#tell(place, { what: 'status', status })
    if (isFinished(state)) this.#finish(place)
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
    this.#change(place, { ...task, artifacts }, bytes)
    if (place.slot !== undefined && place.slot.bytes > this.#limits.maxResultBytes * 2) {
      this.#places.change(place, task)
      const { maxResultBytes } = this.#limits
      throw new Fault('too-large', `The artifacts of the task are larger than ${maxResultBytes} bytes`)
    }
    const pace = this.#tell(place, { what: 'artifact', artifact, append: isMore, last })
    return pace === undefined ? true : pace.then(() => true)
  }

  /** Adds to the history. False on a finished task. */
  addMessage(id: string, message: TaskMessage): boolean {
    const place = this.#unfinished(id)
    if (place === undefined) return false
    this.#change(place, { ...place.task, history: this.#longer(this.#spoken(place.task), message) })
    return true
  }

  /** Keeps what is needed to run the present turn again. */
  keepTurn(id: string, turn: Task['turn']): void {
    const place = this.#unfinished(id)
    if (place !== undefined) this.#change(place, { ...place.task, turn })
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
    if (this.#stored === undefined) return here
    const known = new Set(here.map(({ id }) => id))
    const merged = (stored: readonly Task[]): readonly Task[] => (
      [...here, ...stored.filter(({ id }) => !known.has(id))].sort(byStatus)
    )
    const stored = this.#stored.list(owner)
    return stored instanceof Promise ? stored.then(merged) : merged(stored)
  }

  #unfinished(id: string): TaskPlace | undefined {
    const place = this.#places.find(id)
    return place === undefined || isFinished(place.task.status.state) ? undefined : place
  }

  #forgotten(place: TaskPlace): void {
    this.#tell(place, { what: 'forgotten' })
    place.watchers?.clear()
  }

  #change(place: TaskPlace, task: Task, bytes?: number): void {
    this.#places.change(place, task, bytes)
    this.#stored?.write(place).catch((cause: unknown) => {
      this.#log('warning', 'A task could not be kept', { task: task.id, cause })
    })
  }

  #finish(place: TaskPlace): void {
    place.watchers?.clear()
    place.run = undefined
    this.#places.rest(place)
    if (this.#stored === undefined) return
    const done = (): void => this.#places.forget(place)
    this.#stored.write(place).then(done, done)
  }

  /** The history, with what the agent says about the present state. */
  #spoken({ history, status: { message } }: Task): readonly TaskMessage[] {
    const isThere = message === undefined || history.some(({ id }) => id === message.id)
    return isThere ? history : this.#longer(history, message)
  }

  /** A history with one more message, the oldest making room. */
  #longer(history: readonly TaskMessage[], message: TaskMessage): readonly TaskMessage[] {
    const { conversationMessages, maxResultBytes } = this.#limits
    const longer = [...history, message]
    let bytes = 0
    for (const one of longer) bytes += bytesOfMessage(one)
    while (longer.length > 1 && (longer.length > conversationMessages || bytes > maxResultBytes)) {
      bytes -= bytesOfMessage(longer.shift()!)
    }
    return longer
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

  #now(): string {
    this.#lastAt = Math.max(Date.now(), this.#lastAt + 1)
    return new Date(this.#lastAt).toISOString()
  }
}

function taskOf(
  seed: TaskSeed, createdAt: string, status: Task['status'], artifacts: readonly Artifact[] = none,
  fault: Task['fault'] = undefined,
): Task {
  return {
    id: seed.id ?? randomUUID(), owner: seed.owner, protocol: seed.protocol, runnable: seed.runnable,
    tenant: seed.tenant, contextId: seed.contextId, sessionId: seed.sessionId, createdAt, ttlMs: seed.ttlMs,
    status, artifacts, history: seed.history ?? none, questions: none, turn: seed.turn, result: undefined,
    fault,
  }
}

/** The newest status first, and of equals the greater id. */
function byStatus(one: Task, other: Task): number {
  if (one.status.at !== other.status.at) return one.status.at < other.status.at ? 1 : -1
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0
}
