/**
 * All tasks of one server: where they are, who may see them, and who is told what happens to them.
 *
 * A task belongs to one principal; for every other it does not exist. Watchers of one task get the same
 * events in the same order, each at the moment it happens.
 *
 * Tasks live here, as the objects they are, within bounds; those that run never make room. Where others share
 * the store, each change is written there with the version before it; what does not run here is read there.
 */
import { Fault } from '../define/fault.ts'
import { StoredTasks } from './stored-tasks.ts'
import { isTerminal, isInterrupted, mayFollow, taskOf } from './task.ts'
import { TaskOwnership } from './task-ownership.ts'
import { tellEnd, tellForgotten, TaskFinalizer } from './task-finalizer.ts'
import { TaskTable } from './task-table.ts'
import { randomUuid } from '../wire/random.ts'
import { bytesOfMessage, bytesOfParts } from './task-record.ts'
import { addArtifact } from '../define/artifact.ts'
import { isPlainText } from '../define/content.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { Artifact, ArtifactChange } from '../define/artifact.ts'
import type { Limits } from '../define/limits.ts'
import type { Log } from '../define/log.ts'
import type { ClusterMembership } from '../state/cluster.ts'
import type { Store } from '../state/store.ts'
import type { TaskRecord } from './task-record.ts'
import type {
  TaskChange, TaskEnd, TaskSeed, ListedTask, RunningTask, Task, TaskMessage, TaskState, Watched,
  Watcher,
} from './task.ts'

/** All tasks of one server. */
export class Tasks {
  readonly #limits: Limits
  /** Where they are too, if others share it. */
  readonly #stored: StoredTasks | undefined
  readonly #ends: TaskFinalizer | undefined
  /** Which process has which task; undefined where there is only this one. */
  readonly ownership: TaskOwnership | undefined
  readonly #log: Log
  readonly #places: TaskTable
  readonly #artifacts: TaskArtifacts
  readonly #times = new Timeline()

  constructor(limits: Limits, store: Store, log: Log, nodes?: ClusterMembership) {
    this.#limits = limits
    this.#log = log
    this.#places = new TaskTable(limits, (place) => this.#forgotten(place))
    this.#artifacts = new TaskArtifacts(limits, this.#places)
    if (!store.isShared) return
    this.#stored = new StoredTasks(store, this.#places, nodes)
    const onUnkept = (place: TaskRecord, cause: unknown): void => this.#unkept(place, cause)
    this.#ends = new TaskFinalizer(this.#stored, this.#places, limits, onUnkept)
    this.ownership = new TaskOwnership(this.#stored, this.#places, this.#ends, onUnkept, nodes)
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
    const at = this.#times.next()
    const task = taskOf(seed, at, { state: 'submitted', at })
    const place = this.#places.add(task, run, 0)
    if (this.#stored === undefined) return task
    return this.#stored.begin(place).then(() => task, (error: unknown) => {
      this.#places.forget(place)
      throw error
    })
  }

  /** Keeps a task that is over already. Only where the store is not shared. Throws `Fault('busy')`. */
  record(seed: TaskSeed, { state, message, artifacts, fault }: TaskEnd): Task {
    const at = this.#times.next()
    const said: TaskMessage | undefined = message && { id: randomUuid(), role: 'agent', parts: message }
    const status = said === undefined ? { state, at } : { state, at, message: said }
    const task: Task = taskOf(seed, at, status, artifacts, fault)
    this.#places.keep(task)
    return task
  }

  /**
   * Takes a task to this process, as it was read or as it shall be from now on, so that no other goes on with
   * it. Nothing where it has changed since, or another was quicker: `isCurrent` tells. Throws `Fault('busy')`
   * where there is no room.
   */
  take(task: Task, next: Task = task): MaybePromise<void> {
    return this.ownership?.take(task, next)
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
  whenPersisted(id: string): Promise<void> | undefined {
    if (this.#stored === undefined) return undefined
    const place = this.#places.find(id)
    if (place !== undefined && this.#stored.isDue(place)) void this.#write(place)
    return (place?.waitingWrite ?? place?.writing)?.catch(() => {})
  }

  /** The owner's task of that id. At once where it runs here. */
  get(owner: string, id: string): MaybePromise<Task | undefined> {
    const place = this.#places.find(id)
    if (place === undefined) return this.#stored?.get(owner, id)
    const { task } = place
    if (task.owner !== owner) return undefined
    if (this.#stored === undefined) return task
    // Whoever waits for its client may have been answered elsewhere.
    if (isInterrupted(task.status.state)) return this.#stored.refresh(place)
    return place.isTerminal ? this.#ends!.read(place) : task
  }

  /** The run behind a task, where it runs in this process. */
  runOf(id: string): RunningTask | undefined {
    return this.#places.find(id)?.run
  }

  /** Goes to another state. False where that cannot follow: what a finished task's agent says is dropped. */
  move(id: string, state: TaskState, change: TaskChange = {}): boolean {
    const place = this.#places.find(id)
    if (place === undefined || !mayFollow(place.status.state, state)) return false
    const { task } = place
    const { message, questions = task.questions, result = task.result, fault = task.fault } = change
    const at = this.#times.next(task.status.at)
    const status = message === undefined ? { state, at }
      : { state, at, message: { id: randomUuid(), role: 'agent', parts: message } as const }
    const history = historyOf(task, this.#limits)
    this.#places.change(place, { ...task, history, status, questions, result, fault })
    this.#places.touch(place)
    if (isTerminal(state)) {
      this.#finish(place)
      return true
    }
    if (isInterrupted(task.status.state) && !isInterrupted(state)) this.#stored?.announceAgain(place)
    // How it goes is read soon enough; where it stands is read at once.
    if (state === task.status.state && questions === task.questions) this.#writeSoon(place)
    else void this.#write(place)
    place.tell({ what: 'status', status })
    return true
  }

  /**
   * Adds an artifact, adds to one, or replaces it. False on a finished task. Throws `Fault('too-large')`
   * where all of them together are over `maxResultBytes`. A promise: those who watch are all behind, and
   * whoever can wait should.
   */
  addArtifact(id: string, artifact: Artifact, change: ArtifactChange = {}): boolean | Promise<boolean> {
    const { append = false, last = true } = change
    const place = this.#unfinished(id)
    if (place === undefined) return false
    const isMore = this.#artifacts.add(place, artifact, append)
    this.#writeSoon(place)
    const pace = place.tell({ what: 'artifact', artifact, append: isMore, last })
    return pace === undefined ? true : pace.then(() => true)
  }

  /**
   * Adds the one part of a piece to the artifact of its id: text goes on with the text before it. Nothing on
   * a finished task. Throws, and gives a promise, as `addArtifact` does.
   */
  addPiece(id: string, piece: Artifact, append: boolean, last: boolean): void | Promise<void> {
    const place = this.#unfinished(id)
    if (place === undefined) return undefined
    const isMore = this.#artifacts.addPiece(place, piece, append)
    this.#writeSoon(place)
    return place.tell({ what: 'artifact', artifact: piece, append: isMore, last })
  }

  /** Adds to the history. False on a finished task. Throws `Fault('busy')` where there is no room for it. */
  addMessage(id: string, message: TaskMessage): boolean {
    const place = this.#unfinished(id)
    if (place === undefined) return false
    const { task } = place
    const spoken = { ...task, history: historyOf(task, this.#limits) }
    const history = historyWith(spoken, message, this.#limits)
    if (!this.#places.change(place, { ...task, history })) {
      this.#places.change(place, task)
      throw this.#places.noRoom()
    }
    void this.#write(place)
    return true
  }

  /** Keeps what its watchers are not told of. */
  update(id: string, more: Partial<Pick<Task, 'turn' | 'isReserved'>>): void {
    const place = this.#unfinished(id)
    if (place !== undefined) void this.#change(place, { ...place.task, ...more })
  }

  /** The same. Resolves when it is kept, however long that takes; rejects where it is another's to keep. */
  async updateDurably(id: string, more: Partial<Pick<Task, 'turn'>>): Promise<void> {
    const place = this.#unfinished(id)
    if (place === undefined) return
    this.#places.change(place, { ...place.task, ...more })
    await this.#stored?.writeSurely(place)
  }

  /**
   * The task as it stands and, in the same instant, a place among those who are told what follows: nothing
   * is lost between the two, nothing comes twice. Undefined where the owner has no such unfinished task here.
   */
  watch(owner: string, id: string, watcher: Watcher): Watched | undefined {
    const place = this.#unfinished(id)
    if (place === undefined || place.owner !== owner) return undefined
    place.watchers = [...place.watchers, watcher]
    const stop = (): void => { place.watchers = place.watchers.filter((one) => one !== watcher) }
    return { task: place.task, stop }
  }

  /** Nothing more is heard here of tasks that have not ended: whoever watches one is told so. */
  stopWatchers(): void {
    for (const place of this.#places.unfinished()) tellForgotten(place)
  }

  /** The owner's tasks, the one whose status changed last first. */
  list(owner: string): MaybePromise<readonly ListedTask[]> {
    const here = this.#places.of(owner)
    if (this.#stored === undefined) return here
    const running = here.filter(({ status }) => !isTerminal(status.state)).map(({ task }) => task)
    return this.#stored.list(owner, running)
  }

  #unfinished(id: string): TaskRecord | undefined {
    const place = this.#places.find(id)
    return place === undefined || place.isTerminal ? undefined : place
  }

  #forgotten(place: TaskRecord): void {
    this.#stored?.left(place)
    tellForgotten(place)
  }

  #change(place: TaskRecord, task: Task): Promise<void> | undefined {
    this.#places.change(place, task)
    return this.#write(place)
  }

  /** Resolves, where processes share the store, when it is written there, or could not be. */
  #write(place: TaskRecord): Promise<void> | undefined {
    return this.#stored?.write(place).catch((cause: unknown) => this.#unkept(place, cause))
  }

  #writeSoon(place: TaskRecord): void {
    this.#stored?.writeSoon(place, () => void this.#write(place))
  }

  #unkept(place: TaskRecord, cause: unknown): void {
    const { id: task } = place
    if (cause instanceof Fault && cause.kind === 'conflict') {
      return this.#log('info', 'A task belongs to another process by now', { task })
    }
    if (cause instanceof Fault && cause.kind === 'busy') this.ownership?.owe(place)
    this.#log('warning', 'A task could not be kept', { task, cause })
  }

  #finish(place: TaskRecord): void {
    place.run = undefined
    // It may have waited before, for another time.
    this.#places.wake(place)
    this.#places.rest(place)
    if (this.#ends !== undefined) return this.#ends.begin(place)
    tellEnd(place)
    this.#places.settle(place)
  }
}

/** The history of a task, with what its agent says of the present state. */
export function historyOf(task: Task, limits: Limits): readonly TaskMessage[] {
  const { history, status: { message } } = task
  const isThere = message === undefined || history.some(({ id }) => id === message.id)
  return isThere ? history : historyWith(task, message, limits)
}

/** A history with one more message. The oldest make room, but not the one that began the present turn. */
export function historyWith(
  { history, turn }: Task, message: TaskMessage, { conversationMessages, maxResultBytes }: Limits,
): readonly TaskMessage[] {
  const longer = [...history, message]
  let bytes = 0
  for (const one of longer) bytes += bytesOfMessage(one)
  let at = 0
  while (at < longer.length - 1 && (longer.length > conversationMessages || bytes > maxResultBytes)) {
    if (longer[at]!.id === turn?.messageId) at += 1
    else bytes -= bytesOfMessage(longer.splice(at, 1)[0]!)
  }
  return longer
}

/** The artifacts of all tasks of one server. */
export class TaskArtifacts {
  readonly #limits: Limits
  readonly #places: TaskTable

  constructor(limits: Limits, places: TaskTable) {
    this.#limits = limits
    this.#places = places
  }

  /**
   * Adds an artifact, adds to one, or replaces it. Whether it goes on with one that was there. Throws
   * `Fault('too-large')`, or `Fault('busy')` where all tasks together leave no room for it, and then nothing
   * has changed.
   */
  add(place: TaskRecord, artifact: Artifact, append: boolean): boolean {
    const { task } = place
    const isMore = append && place.holds(artifact.id)
    const hasRoom = this.#places.change(
      place, { ...task, artifacts: addArtifact(task.artifacts, artifact, append) },
    )
    const isTooLarge = place.slot !== undefined && this.#isTooLarge(place.slot.bytes)
    if (hasRoom && !isTooLarge) return isMore
    this.#places.change(place, task)
    throw isTooLarge ? this.#tooLarge() : this.#places.noRoom()
  }

  /** Adds the one part of a piece to the artifact of its id, in the same way. */
  addPiece(place: TaskRecord, piece: Artifact, append: boolean): boolean {
    const isMore = append && place.holds(piece.id)
    // Only what is new is counted: a task is looked at for each piece.
    const before = place.slot?.bytes ?? 0
    const bytes = before + bytesOfParts(piece.parts)
    if (this.#isTooLarge(bytes)) throw this.#tooLarge()
    if (!this.#places.resize(place, bytes)) {
      this.#places.resize(place, before)
      throw this.#places.noRoom()
    }
    const part = piece.parts[0]
    if (isMore && part !== undefined && isPlainText(part)) {
      place.grow(piece.id, part.text)
    } else {
      const { task } = place
      place.task = { ...task, artifacts: addArtifact(task.artifacts, piece, append, true) }
    }
    return isMore
  }

  #isTooLarge(bytes: number): boolean {
    return bytes > this.#limits.maxResultBytes * 2
  }

  #tooLarge(): Fault {
    const { maxResultBytes } = this.#limits
    return new Fault('too-large', `The artifacts of the task are larger than ${maxResultBytes} bytes`)
  }
}

/** A line of moments, all of one process. */
export class Timeline {
  #lastAt = 0
  /** The second of the last moment, and what it says: most moments are of the same as the one before. */
  #second = 0
  #begin = ''

  /**
   * This moment, or as soon behind it as no other is, as ISO 8601 in UTC with milliseconds. It is behind
   * `after` too, which may be of another process.
   */
  next(after?: string): string {
    this.#lastAt = Math.max(Date.now(), this.#lastAt + 1)
    const at = this.#format(this.#lastAt)
    return after === undefined || at > after ? at : this.#format(Date.parse(after) + 1)
  }

  #format(ms: number): string {
    const second = Math.floor(ms / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#begin = new Date(ms).toISOString().slice(0, -'.000Z'.length)
    }
    const rest = ms - second * 1_000
    return this.#begin + (ends[rest] ??= `.${String(rest).padStart(3, '0')}Z`)
  }
}

/** How the milliseconds of a second are written, behind what it says itself: each made when first needed. */
const ends: string[] = []
