/**
 * The life of a task: which state may follow which, what happened in order, and who is told.
 *
 * A task that runs lives here; one that is finished is kept by a `Store` until its time is over. It
 * belongs to one principal; for every other it does not exist. Watchers of one task get the same events
 * in the same order, each at the moment it happens: a slow one is its own sink's trouble.
 */
import { randomUUID } from 'node:crypto'
import { Fault } from './fault.ts'
import { keyOf } from './store.ts'
import type { Content } from './content.ts'
import type { Limits } from './defaults.ts'
import type { Entry, MaybePromise, Store, StoreKey } from './store.ts'

/** Where a task stands. */
export type TaskState =
  | 'submitted' | 'working' | 'input-required' | 'auth-required'
  | 'completed' | 'failed' | 'canceled' | 'rejected'

/** A state that nothing follows. */
const ends: readonly TaskState[] = ['completed', 'failed', 'canceled', 'rejected']

/** What may follow a state. A finished task never changes again. */
const follows: ReadonlyMap<TaskState, ReadonlySet<TaskState>> = new Map<TaskState, ReadonlySet<TaskState>>([
  ['submitted', new Set<TaskState>(['working', 'input-required', 'auth-required', ...ends])],
  ['working', new Set<TaskState>(['working', 'input-required', 'auth-required', ...ends])],
  ['input-required', new Set<TaskState>(['submitted', 'working', 'input-required', ...ends])],
  ['auth-required', new Set<TaskState>(['working', 'input-required', 'auth-required', ...ends])],
  ...ends.map((state): [TaskState, ReadonlySet<TaskState>] => [state, new Set()]),
])

/** A state, since when, and what the agent says about it. */
export interface TaskStatus {
  readonly state: TaskState
  /** ISO 8601, UTC, milliseconds; rises strictly within a process. */
  readonly at: string
  readonly message?: readonly Content[]
}

/** A named piece of a task's output. */
export interface Artifact {
  readonly id: string
  readonly name?: string
  readonly description?: string
  readonly parts: readonly Content[]
}

/** One message of a task's history. */
export interface TaskMessage {
  readonly id: string
  readonly role: 'user' | 'agent'
  readonly parts: readonly Content[]
}

/** What happened to a task. */
export type TaskEvent =
  | { readonly what: 'status'; readonly status: TaskStatus }
  | {
    readonly what: 'artifact'
    readonly artifact: Artifact
    readonly append: boolean
    readonly last: boolean
  }

/** A task as it stands; a snapshot, to be replaced and never changed. */
export interface Task {
  readonly id: string
  readonly owner: string
  readonly contextId: string
  readonly createdAt: string
  readonly status: TaskStatus
  readonly artifacts: readonly Artifact[]
  readonly history: readonly TaskMessage[]
  /** What a door keeps with it: any JSON. */
  readonly extra: Readonly<Record<string, unknown>>
}

/** Told of one event, with the task as it stands after it. */
export type Watcher = (event: TaskEvent, task: Task) => void

interface Live { task: Task; readonly watchers: Set<Watcher> }

const COLLECTION = 'tasks'

/** Whether nothing can follow. */
export function isFinished(state: TaskState): boolean {
  return ends.includes(state)
}

/** All tasks of one server. */
export class Tasks {
  readonly #limits: Limits
  readonly #store: Store
  readonly #live = new Map<string, Live>()
  #lastAt = 0

  constructor(limits: Limits, store: Store) {
    this.#limits = limits
    this.#store = store
  }

  /** Tasks that are not finished. */
  get live(): number { return this.#live.size }

  /** Begins a task. Throws `Fault('busy')` when as many as allowed are running. */
  create(
    owner: string, contextId: string, history: readonly TaskMessage[] = [], extra: Task['extra'] = {},
  ): Task {
    if (this.#live.size >= this.#limits.maxTasks) {
      throw new Fault('busy', `${this.#limits.maxTasks} tasks are running already; try again later`)
    }
    const at = this.#now()
    const task = {
      id: randomUUID(), owner, contextId, createdAt: at,
      status: { state: 'submitted' as const, at }, artifacts: [], history, extra,
    }
    this.#live.set(task.id, { task, watchers: new Set() })
    return task
  }

  /** The owner's task of that id, running or finished. */
  get(owner: string, id: string): MaybePromise<Task | undefined> {
    const live = this.#live.get(id)
    if (live !== undefined) return live.task.owner === owner ? live.task : undefined
    const kept = this.#store.read(placeOf(owner, id))
    return kept instanceof Promise ? kept.then(read) : read(kept)
  }

  /** Goes to another state. False where that cannot follow: what a finished task's agent says is dropped. */
  move(id: string, state: TaskState, message?: readonly Content[]): boolean {
    const live = this.#live.get(id)
    if (live === undefined || follows.get(live.task.status.state)?.has(state) !== true) return false
    const status = { state, at: this.#now(), ...message !== undefined && { message } }
    live.task = { ...live.task, status }
    this.#tell(live, { what: 'status', status })
    if (isFinished(state)) this.#finish(live)
    return true
  }

  /** Adds an artifact, adds to one (`append`), or replaces it. False on a finished task. */
  addArtifact(id: string, artifact: Artifact, append = false, last = true): boolean {
    const live = this.#running(id)
    if (live === undefined) return false
    const { artifacts } = live.task
    const at = artifacts.findIndex((known) => known.id === artifact.id)
    const known = artifacts[at]
    const merged = known !== undefined && append
      ? { ...known, ...artifact, parts: [...known.parts, ...artifact.parts] }
      : artifact
    live.task = { ...live.task, artifacts: at < 0 ? [...artifacts, merged] : artifacts.with(at, merged) }
    this.#tell(live, { what: 'artifact', artifact, append: known !== undefined && append, last })
    return true
  }

  /** Adds to the history. False on a finished task. */
  addMessage(id: string, message: TaskMessage): boolean {
    const live = this.#running(id)
    if (live === undefined) return false
    live.task = { ...live.task, history: [...live.task.history, message] }
    return true
  }

  /** Replaces what the door keeps with the task. */
  keep(id: string, extra: Task['extra']): boolean {
    const live = this.#running(id)
    if (live === undefined) return false
    live.task = { ...live.task, extra }
    return true
  }

  /**
   * The task as it stands and, in the same instant, a place among those who are told what follows: nothing
   * is lost between the two, nothing comes twice. Undefined where the owner has no such running task.
   */
  watch(owner: string, id: string, watcher: Watcher): { task: Task; stop: () => void } | undefined {
    const live = this.#running(id)
    if (live === undefined || live.task.owner !== owner) return undefined
    live.watchers.add(watcher)
    return { task: live.task, stop: () => live.watchers.delete(watcher) }
  }

  /** The ids of the owner's tasks, the newest first, running ones before finished ones. */
  list(owner: string): MaybePromise<readonly string[]> {
    const owned = [...this.#live.values()].filter(({ task }) => task.owner === owner)
    const running = owned.map(({ task }) => task.id).reverse()
    const kept = this.#store.list(COLLECTION, keyOf(owner), this.#limits.maxTasks)
    // One that a remote home is just being given is in both.
    const all = (entries: readonly Entry[]): readonly string[] =>
      [...new Set([...running, ...entries.map(({ key }) => key)])]
    return kept instanceof Promise ? kept.then(all) : all(kept)
  }

  /** A task that is not finished. One that is stays among the live ones until its home has it. */
  #running(id: string): Live | undefined {
    const live = this.#live.get(id)
    return live === undefined || isFinished(live.task.status.state) ? undefined : live
  }

  #finish(live: Live): void {
    const { task } = live
    live.watchers.clear()
    const done = (): void => { this.#live.delete(task.id) }
    try {
      const place = placeOf(task.owner, task.id)
      const written = this.#store.write(place, JSON.stringify(task), this.#limits.taskKeepMs, 'any')
      // Until a remote home has it, it can be read here.
      if (written instanceof Promise) written.then(done, done)
      else done()
    } catch {
      // What an author put into it is not JSON, or there is no room: it was told, and cannot be kept.
      done()
    }
  }

  #tell(live: Live, event: TaskEvent): void {
    for (const watcher of [...live.watchers]) watcher(event, live.task)
  }

  #now(): string {
    this.#lastAt = Math.max(Date.now(), this.#lastAt + 1)
    return new Date(this.#lastAt).toISOString()
  }
}

function placeOf(owner: string, id: string): StoreKey {
  return { collection: COLLECTION, owner: keyOf(owner), key: keyOf(id) }
}

function read(kept: { readonly value: string } | undefined): Task | undefined {
  return kept === undefined ? undefined : JSON.parse(kept.value) as Task
}
