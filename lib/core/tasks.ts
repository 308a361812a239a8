/**
 * All tasks of one server: where they are, who may see them, and who is told what happens to them.
 *
 * A task belongs to one principal; for every other it does not exist. Watchers of one task get the same
 * events in the same order, each at the moment it happens: a slow one is its own sink's trouble.
 *
 * A task that runs lives here. A finished one stays here, as the object it is, within bounds; where other
 * processes share the store, each change is written there with the version before it, and a finished one is
 * read from there.
 */
import { randomUUID } from 'node:crypto'
import { addArtifact } from './artifact.ts'
import { FairPool } from './fair-pool.ts'
import { Fault } from './fault.ts'
import { keyOf } from './store.ts'
import { isFinished, mayFollow } from './task.ts'
import type { Artifact } from './artifact.ts'
import type { Limits } from './defaults.ts'
import type { Slot } from './fair-pool.ts'
import type { Log } from './log.ts'
import type { Entry, MaybePromise, Store, StoreKey } from './store.ts'
import type { RunningTask, Task, TaskEvent, TaskMessage, TaskState, Watcher } from './task.ts'

/** What a task begins with. */
export type TaskSeed =
  & Pick<Task, 'owner' | 'protocol' | 'runnable' | 'contextId' | 'sessionId' | 'ttlMs'>
  & { readonly history?: readonly TaskMessage[] }

/** What may change together with a task's state. What is left out stays as it is. */
export interface TaskChange {
  /** What the agent says about the state. */
  readonly message?: TaskMessage['parts'] | undefined
  readonly questions?: Task['questions']
  readonly result?: unknown
  readonly fault?: Task['fault']
}

interface Live {
  task: Task
  readonly watchers: Set<Watcher>
  run: RunningTask | undefined
  /** Its version in a shared store, and the writes that are on their way there. */
  version: number
  writing: Promise<void> | undefined
}

interface Finished { readonly task: Task; readonly until: number }

const COLLECTION = 'tasks'
const none: readonly never[] = Object.freeze([])
/** The least that a finished task is kept, so that a client that polls can see its end. */
const LEAST_KEEP_MS = 60_000
/** Entries of a shared store that one list reads at most. */
const LIST_LIMIT = 10_000

/** All tasks of one server. */
export class Tasks {
  readonly #limits: Limits
  readonly #store: Store
  readonly #log: Log
  readonly #live = new Map<string, Live>()
  readonly #finished = new Map<string, Slot<Finished>>()
  readonly #kept: FairPool<Finished>
  #lastAt = 0

  constructor(limits: Limits, store: Store, log: Log) {
    this.#limits = limits
    this.#store = store
    this.#log = log
    const bounds = { maxCount: limits.maxTasks, maxBytes: limits.maxTasksBytes }
    this.#kept = new FairPool(bounds, ({ task }) => this.#finished.delete(task.id))
  }

  /** Tasks that are not finished. */
  get running(): number { return this.#live.size }
  /** Finished tasks that are kept here, and what they hold, in bytes. */
  get finished(): number { return this.#finished.size }
  get bytes(): number { return this.#kept.bytes }
  get isFull(): boolean { return this.#live.size >= this.#limits.maxTasks }

  /**
   * Begins a task. Throws `Fault('busy')` when as many as allowed are running. Where processes share the
   * store it resolves when the task is kept there, and so may be promised to the client.
   */
  create(seed: TaskSeed, run?: RunningTask): MaybePromise<Task> {
    if (this.isFull) {
      throw new Fault('busy', `${this.#limits.maxTasks} tasks are running already; try again later`)
    }
    const at = this.#now()
    const task: Task = {
      id: randomUUID(), owner: seed.owner, protocol: seed.protocol, runnable: seed.runnable,
      contextId: seed.contextId, sessionId: seed.sessionId, createdAt: at, ttlMs: seed.ttlMs,
      status: { state: 'submitted', at }, artifacts: none, history: seed.history ?? none, questions: none,
      result: undefined, fault: undefined,
    }
    const live: Live = { task, watchers: new Set(), run, version: 0, writing: undefined }
    this.#live.set(task.id, live)
    if (!this.#store.isShared) return task
    return this.#write(live).then(() => task, (error: unknown) => {
      this.#live.delete(task.id)
      throw error
    })
  }

  /** The owner's task of that id, running or finished. */
  get(owner: string, id: string): MaybePromise<Task | undefined> {
    const known = this.#live.get(id)?.task ?? this.#finishedTask(id)
    if (known !== undefined) return known.owner === owner ? known : undefined
    if (!this.#store.isShared) return undefined
    const entry = this.#store.read(placeOf(owner, id))
    const read = (kept: Entry | undefined): Task | undefined => {
      const task = kept && decode(kept.value)
      // A store that mixes up owners must not show one to another.
      return task?.owner === owner ? task : undefined
    }
    return entry instanceof Promise ? entry.then(read) : read(entry)
  }

  /** The run behind a task, where it runs in this process. */
  runOf(id: string): RunningTask | undefined {
    return this.#live.get(id)?.run
  }

  /** Goes to another state. False where that cannot follow: what a finished task's agent says is dropped. */
  move(id: string, state: TaskState, change: TaskChange = {}): boolean {
    const live = this.#live.get(id)
    if (live === undefined || !mayFollow(live.task.status.state, state)) return false
    const { message, ...rest } = change
    const said: TaskMessage | undefined = message && { id: randomUUID(), role: 'agent', parts: message }
    const status = { state, at: this.#now(), ...said !== undefined && { message: said } }
    this.#change(live, { ...live.task, ...rest, status })
    this.#tell(live, { what: 'status', status })
    if (isFinished(state)) this.#finish(live)
    return true
  }

  /** Adds an artifact, adds to one (`append`), or replaces it. False on a finished task. */
  addArtifact(id: string, artifact: Artifact, append = false, last = true): boolean {
    const live = this.#unfinished(id)
    if (live === undefined) return false
    const isMore = append && live.task.artifacts.some((known) => known.id === artifact.id)
    this.#change(live, { ...live.task, artifacts: addArtifact(live.task.artifacts, artifact, append) })
    this.#tell(live, { what: 'artifact', artifact, append: isMore, last })
    return true
  }

  /** Adds to the history. False on a finished task. */
  addMessage(id: string, message: TaskMessage): boolean {
    const live = this.#unfinished(id)
    if (live === undefined) return false
    this.#change(live, { ...live.task, history: [...live.task.history, message] })
    return true
  }

  /**
   * The task as it stands and, in the same instant, a place among those who are told what follows: nothing
   * is lost between the two, nothing comes twice. Undefined where the owner has no such running task here.
   */
  watch(owner: string, id: string, watcher: Watcher): { task: Task; stop: () => void } | undefined {
    const live = this.#unfinished(id)
    if (live === undefined || live.task.owner !== owner) return undefined
    live.watchers.add(watcher)
    return { task: live.task, stop: () => live.watchers.delete(watcher) }
  }

  /** The owner's tasks, the one that was created last first. */
  list(owner: string): MaybePromise<readonly Task[]> {
    const here = new Map<string, Task>()
    for (const { task } of this.#live.values()) if (task.owner === owner) here.set(task.id, task)
    for (const { task, until } of this.#kept.of(owner)) if (until > performance.now()) here.set(task.id, task)
    if (!this.#store.isShared) return sorted([...here.values()])
    const entries = this.#store.list(COLLECTION, keyOf(owner), LIST_LIMIT)
    const merged = (kept: readonly { readonly value: string }[]): readonly Task[] => {
      const others = kept.map(({ value }) => decode(value))
        .filter((task) => task.owner === owner && !here.has(task.id))
      return sorted([...here.values(), ...others])
    }
    return entries instanceof Promise ? entries.then(merged) : merged(entries)
  }

  /** A task that is not finished; one that is may still be on its way into the store. */
  #unfinished(id: string): Live | undefined {
    const live = this.#live.get(id)
    return live === undefined || isFinished(live.task.status.state) ? undefined : live
  }

  #finishedTask(id: string): Task | undefined {
    const slot = this.#finished.get(id)
    if (slot === undefined || slot.value.until > performance.now()) return slot?.value.task
    this.#kept.remove(slot)
    this.#finished.delete(id)
    return undefined
  }

  /** Forgets what is past its time, as far as it stands before all that is not. */
  #forgetExpired(): void {
    const now = performance.now()
    for (const [id, slot] of this.#finished) {
      if (slot.value.until > now) return
      this.#kept.remove(slot)
      this.#finished.delete(id)
    }
  }

  #change(live: Live, task: Task): void {
    live.task = task
    if (!this.#store.isShared) return
    this.#write(live).catch((cause: unknown) => {
      this.#log('warning', 'A task could not be kept', { task: task.id, cause })
    })
  }

  #finish(live: Live): void {
    const { task } = live
    live.watchers.clear()
    live.run = undefined
    const done = (): void => { this.#live.delete(task.id) }
    if (live.writing !== undefined) return void live.writing.then(done, done)
    done()
    this.#forgetExpired()
    const until = performance.now() + this.#keepMs(task)
    const slot = this.#kept.add(task.owner, { task, until }, sizeOf(task))
    if (slot !== undefined) this.#finished.set(task.id, slot)
  }

  /** Writes the task as it stands then, one write after the other. Rejects where another process owns it. */
  #write(live: Live): Promise<void> {
    const write = async (): Promise<void> => {
      const { task } = live
      const keepMs = isFinished(task.status.state) ? this.#keepMs(task) : Infinity
      const place = placeOf(task.owner, task.id)
      const version = await this.#store.write(place, JSON.stringify(task), keepMs, live.version)
      if (version !== undefined) return void (live.version = version)
      live.run?.cancel()
      this.#live.delete(task.id)
      throw new Fault('conflict', 'This task belongs to another process')
    }
    return live.writing = (live.writing ?? Promise.resolve()).then(write, write)
  }

  /** How long a finished task is kept. */
  #keepMs({ ttlMs, createdAt, status }: Task): number {
    const { taskKeepMs } = this.#limits
    if (ttlMs === undefined) return taskKeepMs
    const left = ttlMs - (Date.parse(status.at) - Date.parse(createdAt))
    return Math.min(taskKeepMs, Math.max(left, LEAST_KEEP_MS))
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

function decode(value: string): Task {
  return JSON.parse(value) as Task
}

function sorted(tasks: readonly Task[]): readonly Task[] {
  return tasks.toSorted((a, b) => a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0)
}

/** What a value holds in memory, roughly, in bytes: two for each character, and some for each member. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 24 + value.length * 2
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 32
  for (const name in value) bytes += 16 + sizeOf(Reflect.get(value, name))
  return bytes
}
