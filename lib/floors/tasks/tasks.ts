/**
 * All tasks of one server: where they are, who may see them, and who is notified of what happens to them.
 *
 * A task belongs to one principal; for every other it does not exist. The watchers of a task get the same
 * events in the same order, each at the moment it happens.
 *
 * Tasks are objects in memory, within bounds; those that run never make room. Where processes share the
 * store, each change is written there with the version before it; what does not run here is read there.
 */
import { addArtifact } from '../../kernel/define/artifact.ts'
import { isPlainText } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { LEASED } from '../bounds/bounded.ts'
import { isInterrupted, isTerminal, mayFollow, taskOf, turnMessage } from './task.ts'
import { bytesOfMessage, bytesOfParts } from './task-record.ts'
import { TaskTable } from './task-table.ts'
import { Timeline } from './timeline.ts'
import type { Artifact, ArtifactChange } from '../../kernel/define/artifact.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { StoredTasks } from './stored-tasks.ts'
import type { TaskRecord } from './task-record.ts'
import type {
  RunningTask, Task, TaskChange, TaskEnd, TaskMessage, TaskSeed, TaskState, TaskStatus, TaskTurn,
  Watched, Watcher,
} from './task.ts'

export class Tasks {
  readonly #limits: KernelLimits
  /** Where processes share a store; else undefined. */
  readonly stored: StoredTasks | undefined
  readonly #table: TaskTable
  readonly #times = new Timeline()

  /** `store`: where those of a table are kept, where processes share that. */
  constructor(limits: KernelLimits, store?: (table: TaskTable) => StoredTasks) {
    this.#limits = limits
    this.#table = new TaskTable(limits, (record) => {
      this.stored?.retract(record)
      record.notifyLast({ what: 'forgotten' })
    })
    this.stored = store?.(this.#table)
  }

  get running(): number { return this.#table.leased }
  /** Tasks that are kept here though they do not run. */
  get finished(): number { return this.#table.idle }
  get bytes(): number { return this.#table.bytes }
  get isFull(): boolean { return this.running >= this.#limits.maxTasks }

  /** Throws `Fault('busy')` where as many run as may. */
  check(): void {
    if (this.isFull) throw this.#table.busy()
  }

  /**
   * Takes a place for a task that works, and leaves it to `show` to begin it when somebody looks, and else to
   * `record`: most are over before anybody does. `show` must not throw. Throws `Fault('busy')` without room.
   * Only where no store is shared.
   */
  runUnseen(seed: TaskSeed & { readonly id: string }, show: () => void): void {
    const at = this.#times.next()
    this.#table.begin(taskOf(seed, at, { state: 'working', at })).show = show
  }

  /** Whoever asks for a task comes by here, and makes it one that is there. */
  #find(id: string): TaskRecord | undefined {
    const record = this.#table.get(id)
    record?.show?.()
    return record
  }

  /** The place of a task that nobody has looked for, which is seen from now on. */
  #takeUnseen(id: string | undefined): TaskRecord | undefined {
    const record = id === undefined || this.stored !== undefined ? undefined : this.#table.get(id)
    if (record?.show === undefined) return undefined
    record.show = undefined
    return record
  }

  /**
   * Begins a task; with a run it is working, and `message` says on what. Throws `Fault('busy')` when as many
   * as allowed are running. Where processes share the store it resolves when the task is written there, and
   * so may be promised to the client.
   */
  create(seed: TaskSeed, run?: RunningTask, message?: TaskChange['message']): MaybePromise<Task> {
    const unseen = this.#takeUnseen(seed.id)
    if (unseen !== undefined) {
      const { createdAt } = unseen.task
      unseen.run = run
      this.#table.change(unseen, taskOf(seed, createdAt, statusOf('working', createdAt, message, undefined)))
      return unseen.task
    }
    const at = this.#times.next()
    this.check()
    const state = run === undefined ? 'submitted' : 'working'
    const task = taskOf(seed, at, statusOf(state, at, message, undefined))
    const record = this.#table.begin(task, run)
    if (this.stored === undefined) return task
    return this.stored.begin(record).then(() => task, (error: unknown) => {
      this.#table.forget(record)
      throw error
    })
  }

  /**
   * Adds a task that is over already. `isUnseen`: it has the place that `runUnseen` took. Only where no store
   * is shared. Throws `Fault('busy')`.
   */
  record(
    seed: TaskSeed, { state, message, metadata, artifacts, fault }: TaskEnd, isUnseen: boolean = false,
  ): Task {
    const unseen = isUnseen ? this.#takeUnseen(seed.id) : undefined
    const at = this.#times.next()
    const createdAt = unseen?.task.createdAt ?? at
    const task = taskOf(seed, createdAt, statusOf(state, at, message, metadata), artifacts, fault)
    if (unseen === undefined) {
      this.#table.addEnded(task)
    } else {
      this.#table.change(unseen, task)
      this.#finish(unseen)
    }
    return task
  }

  /**
   * Takes a task to this process, as it was read or as `next`, so that no other goes on with it. Nothing
   * where it has changed since, or another was quicker: see `isCurrent`. Throws `Fault('busy')` without room.
   */
  take(task: Task, next: Task = task): MaybePromise<void> {
    return this.stored?.take(task, next)
  }

  /** A task that waits, as it works on with that turn: nothing is asked any more. */
  answered(task: Task, turn: TaskTurn): Task {
    const at = this.#times.next(task.status.at)
    return { ...task, turn, questions: [], status: { state: 'working', at } }
  }

  /** Whether a task is here, and as it was read. */
  isCurrent(task: Task): boolean {
    return this.#find(task.id)?.task === task
  }

  /** Gives a run to a task that waits here without one. Nothing where it has one, or has ended. */
  resume(id: string, run: RunningTask): void {
    const record = this.#unfinished(id)
    if (record === undefined || record.run !== undefined) return
    this.#table.markActive(record)
    record.run = run
  }

  /** The task waits without a run. Nothing where it has ended. */
  release(id: string, run: RunningTask): void {
    const record = this.#unfinished(id)
    if (record === undefined || record.run !== run) return
    record.run = undefined
    this.#table.markIdle(record)
  }

  /** Removes a task, here and in the store, that no client knows of. */
  drop(id: string): Promise<void> | undefined {
    const record = this.#find(id)
    if (record === undefined) return undefined
    this.#table.forget(record)
    return this.stored?.remove(record)
  }

  /** Resolves when other processes can read the task as it is here. Undefined where there are none. */
  whenPersisted(id: string): Promise<void> | undefined {
    const record = this.stored && this.#find(id)
    return record && this.stored?.whenPersisted(record)
  }

  /**
   * A task as it is here now, when that is written, or as another process has it. Undefined where it is not
   * here, or need not be written.
   */
  whenKept(id: string): Promise<Task | undefined> | undefined {
    const record = this.stored && this.#find(id)
    return record && this.stored?.kept(record)
  }

  /** The owner's task of that id. At once where it runs here. */
  get(owner: string, id: string): MaybePromise<Task | undefined> {
    const record = this.#find(id)
    if (record === undefined) return this.stored?.get(owner, id)
    const { task } = record
    if (task.owner !== owner) return undefined
    if (this.stored === undefined) return task
    // One that waits for its client may have been answered at another process.
    if (isInterrupted(task.status.state)) return this.stored.refresh(record)
    return record.isTerminal ? this.stored.readEnd(record) : task
  }

  runOf(id: string): RunningTask | undefined {
    return this.#find(id)?.run
  }

  /**
   * Goes to another state, and returns the task in that state. Undefined, and nothing changes, where that
   * cannot follow. An artifact that comes with it is an event of its own for those who watch. Throws, and
   * nothing changes, where that finds no room, as `addArtifact` does.
   */
  move(id: string, state: TaskState, change: TaskChange = {}): Task | undefined {
    const record = this.#find(id)
    if (record === undefined || !mayFollow(record.status.state, state)) return undefined
    const { artifact } = change
    const isAlone = artifact === undefined || record.watchers.length === 0
    if (!isAlone) void this.addArtifact(id, artifact)
    const { task } = record
    const { questions = task.questions, result = task.result, fault = task.fault } = change
    const status = statusOf(state, this.#times.next(task.status.at), change.message, change.metadata)
    const history = historyOf(task, this.#limits)
    const next: Task = { ...task, history, status, questions, result, fault }
    if (artifact === undefined || !isAlone) this.#table.change(record, next)
    else this.#grow(record, task, { ...next, artifacts: addArtifact(task.artifacts, artifact, false) })
    const { task: moved } = record
    if (isTerminal(state)) {
      this.#finish(record)
      return moved
    }
    this.#table.touch(record)
    if (isInterrupted(task.status.state) && !isInterrupted(state)) this.stored?.announceAgain(record)
    // A new message in the same state can wait; a new state or question is needed at once.
    if (state === task.status.state && questions === task.questions) this.stored?.saveSoon(record)
    else void this.stored?.save(record)
    void record.notify({ what: 'status', status })
    return moved
  }

  /**
   * Adds an artifact, appends to one, or replaces it. False on a finished task. Throws `Fault('too-large')`
   * where all artifacts together are over `maxResultBytes`, and `Fault('busy')` where all tasks together
   * leave no room; then nothing has changed. A promise: all watchers are behind, and the caller should wait.
   */
  addArtifact(id: string, artifact: Artifact, change: ArtifactChange = {}): boolean | Promise<boolean> {
    const { append = false, last = true } = change
    const record = this.#unfinished(id)
    if (record === undefined) return false
    const isMore = append && record.hasArtifact(artifact.id)
    const { task } = record
    this.#grow(record, task, { ...task, artifacts: addArtifact(task.artifacts, artifact, append) })
    this.stored?.saveSoon(record)
    const pace = record.notify({ what: 'artifact', artifact, append: isMore, last })
    return pace === undefined ? true : pace.then(() => true)
  }

  /**
   * Adds the one part of a piece to the artifact of its id: text is appended to the text before it. Nothing
   * on a finished task. Throws, and gives a promise, as `addArtifact` does.
   */
  addPiece(id: string, piece: Artifact, append: boolean, last: boolean): void | Promise<void> {
    const record = this.#unfinished(id)
    if (record === undefined) return undefined
    const isMore = append && record.hasArtifact(piece.id)
    // Only what is new is counted: the whole task would be walked for each piece.
    const before = this.#table.bytesOf(record)
    const bytes = before + bytesOfParts(piece.parts)
    if (this.#isTooLarge(bytes)) throw this.#tooLarge()
    if (!this.#table.resize(record, bytes)) {
      this.#table.resize(record, before)
      throw this.#table.noRoom()
    }
    const part = piece.parts[0]
    if (isMore && part !== undefined && isPlainText(part)) {
      record.appendText(piece.id, part.text)
    } else {
      const { task } = record
      record.task = { ...task, artifacts: addArtifact(task.artifacts, piece, append, true) }
    }
    this.stored?.saveSoon(record)
    return record.notify({ what: 'artifact', artifact: piece, append: isMore, last })
  }

  /** Adds to the history. False on a finished task. Throws `Fault('busy')` where there is no room for it. */
  addMessage(id: string, message: TaskMessage): boolean {
    const record = this.#unfinished(id)
    if (record === undefined) return false
    const { task } = record
    const history = historyWith({ ...task, history: historyOf(task, this.#limits) }, message, this.#limits)
    if (!this.#table.change(record, { ...task, history })) {
      this.#table.change(record, task)
      throw this.#table.noRoom()
    }
    void this.stored?.save(record)
    return true
  }

  update(id: string, more: Partial<Pick<Task, 'turn' | 'isReserved'>>): void {
    const record = this.#unfinished(id)
    if (record === undefined) return
    this.#table.change(record, { ...record.task, ...more })
    void this.stored?.save(record)
  }

  /** The same. Resolves when it is written, however long that takes; rejects where another process has it. */
  async updateDurably(id: string, more: Partial<Pick<Task, 'turn'>>): Promise<void> {
    const record = this.#unfinished(id)
    if (record === undefined) return
    this.#table.change(record, { ...record.task, ...more })
    await this.stored?.retryUntilWritten(() => this.stored!.write(record))
  }

  /**
   * Returns the task as it stands and, from the same instant, calls `watcher` with what follows: nothing is
   * lost between the two, nothing comes twice. Undefined where the owner has no such unfinished task here.
   */
  watch(owner: string, id: string, watcher: Watcher): Watched | undefined {
    const record = this.#unfinished(id)
    if (record === undefined || record.owner !== owner) return undefined
    return { task: record.task, stop: record.watch(watcher) }
  }

  /** Notifies the watchers of unfinished tasks that no more events come from here. */
  stopWatchers(): void {
    for (const record of this.#table.unfinished()) record.notifyLast({ what: 'forgotten' })
  }

  /** The owner's tasks, the one whose status changed last first. */
  list(owner: string): MaybePromise<readonly Task[]> {
    for (const record of [...this.#table.of(owner, LEASED)]) record.show?.()
    const here = this.#table.tasksOf(owner)
    if (this.stored === undefined) return here
    return this.stored.list(owner, here.filter(({ status }) => !isTerminal(status.state)))
  }

  /** Replaces a task by one with more artifacts. Throws, and nothing has changed, where they have no room. */
  #grow(record: TaskRecord, before: Task, next: Task): void {
    const hasRoom = this.#table.change(record, next)
    const isTooLarge = this.#isTooLarge(this.#table.bytesOf(record))
    if (hasRoom && !isTooLarge) return
    this.#table.change(record, before)
    throw isTooLarge ? this.#tooLarge() : this.#table.noRoom()
  }

  #unfinished(id: string): TaskRecord | undefined {
    const record = this.#find(id)
    return record === undefined || record.isTerminal ? undefined : record
  }

  #finish(record: TaskRecord): void {
    record.run = undefined
    this.#table.markIdle(record)
    if (this.stored !== undefined) return this.stored.finish(record)
    record.notifyLast({ what: 'status', status: record.status })
    // It may have grown while it ran, and now those that do not run make room, of which it is one.
    this.#table.settle()
  }

  #isTooLarge(bytes: number): boolean {
    return bytes > this.#limits.maxResultBytes * 2
  }

  #tooLarge(): Fault {
    const { maxResultBytes } = this.#limits
    return new Fault('too-large', `The artifacts of the task are larger than ${maxResultBytes} bytes`)
  }
}

function statusOf(
  state: TaskState, at: string, parts: TaskChange['message'], metadata: TaskChange['metadata'],
): TaskStatus {
  const status = parts === undefined ? { state, at }
    : { state, at, message: { id: randomUuid(), role: 'agent', parts } as const }
  return metadata === undefined ? status : { ...status, metadata }
}

/** The history of a task, with what its agent says of the present state. */
export function historyOf(task: Task, limits: KernelLimits): readonly TaskMessage[] {
  const { history, status: { message } } = task
  const isThere = message === undefined || history.some(({ id }) => id === message.id)
  return isThere ? history : historyWith(task, message, limits)
}

/** A history with one more message. The oldest make room, but not the one that began the present turn. */
export function historyWith(
  task: Task, message: TaskMessage, { conversationMessages, maxResultBytes }: KernelLimits,
): readonly TaskMessage[] {
  const { history } = task
  const begun = turnMessage(task)
  const longer = [...history, message]
  let bytes = 0
  for (const one of longer) bytes += bytesOfMessage(one)
  let at = 0
  while (at < longer.length - 1 && (longer.length > conversationMessages || bytes > maxResultBytes)) {
    if (longer[at] === begun) at += 1
    else bytes -= bytesOfMessage(longer.splice(at, 1)[0]!)
  }
  return longer
}
