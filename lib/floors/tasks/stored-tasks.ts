/**
 * Tasks in a store that processes share. Each change is written with the version before it, so that a task
 * which another process has taken over is noticed and never overwritten. A task is announced under its
 * process's name before it is written: when that process dies, the others find what it has left.
 *
 * A task has ended when its end is written and not before: another process may have ended it otherwise, and
 * watchers must never see two outcomes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../kernel/define/fault.ts'
import { keyOf, SYSTEM_OWNER } from '../../kernel/store/store.ts'
import { readStored } from '../shared/stored-value.ts'
import { withDeadline } from '../../kernel/util/clock.ts'
import { andThen } from '../../kernel/util/thenable.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { decodeTask } from './stored-task.ts'
import { isInterrupted } from './task.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { Log } from '../../kernel/define/log.ts'
import type { ClusterMembership } from '../shared/cluster.ts'
import type { Entry, Store, StoreKey } from '../../kernel/store/store.ts'
import type { TaskRecord } from './task-record.ts'
import type { TaskTable } from './task-table.ts'
import type { Task } from './task.ts'

const COLLECTION = 'tasks'
export const RUNS = 'runs'
const LIST_LIMIT = 10_000
const TAKEN = 'task-taken'
/** While a task's artifacts grow, it is written at most this often. */
const SOON_MS = 250

/** A write that got no answer: it may have happened. */
export interface UnconfirmedWrite {
  readonly owner: string
  /** The version that it was to replace; 0: none. */
  readonly version: number
}

export class StoredTasks {
  readonly #store: Store
  readonly #cluster: ClusterMembership
  readonly #table: TaskTable
  readonly #limits: KernelLimits
  readonly #log: Log
  readonly #versions = new WeakMap<Task, number>()
  /** By the ids of the tasks. They stay announced, and are looked at again. */
  readonly unconfirmedWrites: Map<string, UnconfirmedWrite> = new Map<string, UnconfirmedWrite>()
  #beforeEnd: ((task: Pick<Task, 'owner' | 'id'>) => Promise<void> | undefined) | undefined
  readonly #soon = new Map<TaskRecord, NodeJS.Timeout>()
  /** Tasks whose last change the store has not got: they are written again with the next beat. */
  readonly #pendingWrites = new Set<TaskRecord>()
  readonly #ending = new Set<Promise<void>>()
  readonly #announced = new Set<string>()
  readonly #unannounced = new WeakSet<TaskRecord>()
  /** Announcements that are being removed, by the ids of their tasks. */
  readonly #retracting = new Map<string, Promise<void>>()
  /** This process closes: what has no end is left to others. Only written here. */
  isHandedOver = false

  constructor(store: Store, cluster: ClusterMembership, table: TaskTable, limits: KernelLimits, log: Log) {
    this.#store = store
    this.#cluster = cluster
    this.#table = table
    this.#limits = limits
    this.#log = log
    cluster.onBeat(() => {
      const pending = [...this.#pendingWrites]
      this.#pendingWrites.clear()
      for (const record of pending) {
        if (table.get(record.id) === record && !record.isTerminal) void this.save(record)
      }
    })
    cluster.on(TAKEN, (id) => {
      const record = typeof id === 'string' ? table.get(id) : undefined
      if (record !== undefined) this.refresh(record).catch(() => {})
    })
  }

  /** Announces and writes a task that is to run here. Rejects where it cannot be promised. */
  async begin(record: TaskRecord): Promise<void> {
    const { id, owner, writes: { version } } = record
    await this.#cluster.ready()
    try {
      await this.#announce(record)
      await this.write(record)
      // Without a lease it may have been taken for dead already, and the task with it.
      if (version === 0 && !this.#cluster.isLeased) throw leaseLost()
    } catch (error) {
      const isTaken = error instanceof Fault && error.kind === 'conflict'
      if (!isTaken) this.unconfirmedWrites.set(id, { owner, version })
      this.retract(record)
      throw isTaken && version === 0 ? leaseLost() : error
    }
  }

  async #announce(record: TaskRecord): Promise<void> {
    // A store may reorder what it is asked at the same time.
    await this.#retracting.get(record.id)
    this.#announced.add(record.id)
    await this.#store.write(runKeyOf(this.#cluster.id, record), formatRun(record), Infinity, 'any')
  }

  /** The task is not here any more, or has ended: its announcement goes, unless a write is unconfirmed. */
  retract(record: TaskRecord): void {
    this.#cancelSoon(record)
    if (!this.unconfirmedWrites.has(record.id)) void this.settle(record.id)
  }

  /** It is known what became of a task: its announcement goes. Never rejects. */
  settle(id: string): Promise<void> {
    this.unconfirmedWrites.delete(id)
    const done = this.#removeAnnouncement(id).finally(() => {
      if (this.#retracting.get(id) === done) this.#retracting.delete(id)
    })
    this.#retracting.set(id, done)
    return done
  }

  async #removeAnnouncement(id: string): Promise<void> {
    try {
      await this.#store.remove(runKeyOf(this.#cluster.id, { id }), 'any')
      this.#announced.delete(id)
    } catch {
      // It stays, and is looked at after this process has ended.
    }
  }

  /** The task waited for its client, and may have lost its announcement: the next write renews it. */
  announceAgain(record: TaskRecord): void {
    this.#unannounced.add(record)
  }

  get(owner: string, id: string): MaybePromise<Task | undefined> {
    return andThen(this.#store.read(taskKeyOf(owner, id)), (entry) => this.#decode(owner, entry))
  }

  /** The owner's, the one whose status changed last first, with those that are `here` as they are here. */
  list(owner: string, here: readonly Task[]): MaybePromise<readonly Task[]> {
    return andThen(this.#store.list(COLLECTION, keyOf(owner), LIST_LIMIT), (entries) => {
      const byId = new Map(here.map((task) => [task.id, task]))
      for (const entry of entries) {
        const task = this.#decode(owner, entry)
        if (task === undefined) continue
        const known = byId.get(task.id)
        // What is newer in the store was taken by another process.
        if (known === undefined || known.status.at < task.status.at) byId.set(task.id, task)
      }
      return [...byId.values()].sort(byStatus)
    })
  }

  /** The version at which a task was read here; undefined where it was not. */
  versionOf(task: Task): number | undefined {
    return this.#versions.get(task)
  }

  /**
   * The task of a record, unless another process has taken it: then the record goes, and the task is as that
   * process wrote it.
   */
  async refresh(record: TaskRecord): Promise<Task | undefined> {
    const { owner, id, writes } = record
    const before = writes.version
    const entry = await this.#store.read(taskKeyOf(owner, id))
    const task = this.#decode(owner, entry)
    // It is being begun here: its first write finds out whether it may be.
    if (task === undefined && before === 0) return record.task
    // What was read may be what is being written here.
    await writes.now?.catch(() => {})
    const version = entry?.version
    // What was written here may have been damaged: the next write mends it.
    if (version !== undefined && (version <= writes.version || this.#isOwn(record, task))) {
      writes.version = Math.max(writes.version, version)
      return record.task
    }
    this.#lose(record)
    return task
  }

  /** Whether what was read was written here: a write may have happened though its answer never came. */
  #isOwn(record: TaskRecord, task: Task | undefined): boolean {
    return task?.node === this.#cluster.id && this.#table.get(record.id) === record
  }

  /**
   * Writes the task as it stands then, one write after the other and at most one that waits. Rejects with
   * `Fault('conflict')` where another process has taken it; then its run is cancelled here.
   */
  write(record: TaskRecord): Promise<void> {
    const { writes } = record
    if (writes.waiting !== undefined) return writes.waiting
    const write = async (): Promise<void> => {
      writes.waiting = undefined
      this.#cancelSoon(record)
      writes.begunAt = performance.now()
      if (this.#unannounced.has(record)) {
        await this.#announce(record)
        this.#unannounced.delete(record)
      }
      // An end is retried until it is written, or another process has the task.
      writes.version = await (record.isTerminal
        ? this.retryUntilWritten(() => this.#write(record)) : this.#write(record))
    }
    if (writes.now === undefined) return writes.now = write()
    return writes.now = writes.waiting = writes.now.then(write, write)
  }

  /** The same, but it never rejects: a failure is logged, and tried again where the store was not reached. */
  save(record: TaskRecord): Promise<void> {
    return this.write(record).catch((cause: unknown) => this.#failed(record, cause))
  }

  /** The same soon, at most four times a second; not at all where the task is written before. */
  saveSoon(record: TaskRecord): void {
    const { waiting, begunAt } = record.writes
    if (this.#soon.has(record) || waiting !== undefined) return
    const waitMs = begunAt + SOON_MS - performance.now()
    if (waitMs <= 0) return void this.save(record)
    this.#soon.set(record, setTimeout(() => void this.save(record), waitMs).unref())
  }

  /** Resolves when other processes can read the task as it is here, or it could not be written. */
  whenPersisted(record: TaskRecord): Promise<void> | undefined {
    if (this.#soon.has(record)) void this.save(record)
    return record.writes.last?.catch(() => {})
  }

  #failed(record: TaskRecord, cause: unknown): void {
    const { id: task } = record
    if (cause instanceof Fault && cause.kind === 'conflict') {
      return this.#log('info', 'A task belongs to another process by now', { task })
    }
    // Ends are retried anyway.
    if (cause instanceof Fault && cause.kind === 'busy') this.#pendingWrites.add(record)
    this.#log('warning', 'A task could not be kept', { task, cause })
  }

  #cancelSoon(record: TaskRecord): void {
    clearTimeout(this.#soon.get(record))
    this.#soon.delete(record)
  }

  /** Tries again while the store cannot be reached, until this process closes. */
  async retryUntilWritten<T>(act: () => MaybePromise<T>): Promise<T> {
    for (;;) {
      try {
        return await act()
      } catch (error) {
        const isUnreached = error instanceof Fault && error.kind === 'busy'
        if (!this.#cluster.isOpen || !isUnreached) throw error
        await sleep(this.#cluster.beatMs, undefined, { ref: false })
      }
    }
  }

  /** Removes a task, if no other process has taken it. Never rejects: a failure is logged. */
  async remove(record: TaskRecord): Promise<void> {
    try {
      await record.writes.last?.catch(() => {})
      await this.#store.remove(taskKeyOf(record.owner, record.id), record.writes.version)
    } catch (cause) {
      this.#failed(record, cause)
    }
  }

  /** Another process has the task: its run here writes nothing more. */
  #lose(record: TaskRecord): void {
    const { run } = record
    this.#table.forget(record)
    run?.lose(leaseLost())
  }

  /** The version of what was written. Rejects with `Fault('conflict')` where another process has the task. */
  async #write(record: TaskRecord): Promise<number> {
    const { owner, id } = record
    for (;;) {
      if (record.isTerminal) await this.#beforeEnd?.(record)
      const { task } = record
      const json = formatJson({ ...task, node: this.#cluster.id })
      const keepMs = this.#table.keepMs(task)
      const version = await this.#store.write(taskKeyOf(owner, id), json, keepMs, record.writes.version)
      if (version !== undefined) return version
      const now = await this.get(owner, id)
      if (now === undefined || !this.#isOwn(record, now)) break
      record.writes.version = this.versionOf(now) ?? record.writes.version
    }
    this.#lose(record)
    throw new Fault('conflict', 'This task belongs to another process')
  }

  has(id: string): boolean { return this.#table.get(id) !== undefined }

  /** As `Tasks.take`. */
  async take(task: Task, next: Task): Promise<void> {
    let record = this.#table.get(task.id)
    const version = this.versionOf(task)
    if (record === undefined && version !== undefined) {
      record = this.#table.begin(next)
      record.writes.version = version
      // A working task makes no room for others: only its run ends it.
      if (isInterrupted(next.status.state)) this.#table.markIdle(record)
    } else if (record?.task === task && next !== task) {
      this.#table.change(record, next)
    }
    if (record?.task !== next) return
    try {
      await this.begin(record)
    } catch (error) {
      // A run that waits here goes on waiting.
      if (record.run === undefined) this.#table.forget(record)
      if (!(error instanceof Fault && error.kind === 'conflict')) throw error
      return
    }
    const { id, node } = task
    if (node === undefined || node === this.#cluster.id) return
    // Where the message is lost, that process finds out with its next write, if it lives.
    this.#cluster.send(node, TAKEN, id).catch(() => {})
  }

  /** Resolves when it is known whether a task is still this process's. Undefined: it surely is. */
  confirm(id: string): Promise<unknown> | undefined {
    const record = this.#table.get(id)
    if (record === undefined || this.#cluster.isLeased) return undefined
    return this.retryUntilWritten(() => this.refresh(record))
  }

  /** Drops what runs here and was taken by other processes. Never rejects. */
  async recheck(): Promise<void> {
    for (const record of [...this.#table.working()]) await this.refresh(record).catch(() => {})
  }

  /** Writes the end of a task, then notifies its watchers. */
  finish(record: TaskRecord): void {
    const ended = this.write(record).then(() => {
      record.notifyLast({ what: 'status', status: record.status })
      this.#table.forget(record)
    }, (cause: unknown) => this.#endFailed(record, cause))
    this.#ending.add(ended)
    void ended.finally(() => this.#ending.delete(ended))
  }

  /** A task as it is now, when that is written, or as another process has it. */
  async kept({ owner, id, task, writes }: TaskRecord): Promise<Task | undefined> {
    const isWritten = await (writes.last ?? Promise.resolve()).then(() => true, () => false)
    return isWritten ? task : this.get(owner, id)
  }

  /** The same of one that has ended. Rejects with `Fault('busy')` where that takes long. */
  readEnd(record: TaskRecord): Promise<Task | undefined> {
    const late = (): Fault => (
      new Fault('busy', 'How this task has ended is not kept yet; try again later')
    )
    return withDeadline(this.kept(record), this.#limits.storeTimeoutMs, late)
  }

  /** Leaves to other processes what they can go on with: it stays announced, and runs no more here. */
  handOver(): void {
    this.isHandedOver = true
    for (const record of [...this.#table.working()]) {
      const { turn, status: { state } } = record.task
      if (turn !== undefined && (turn.isRerun === true || isInterrupted(state))) this.#abandon(record)
    }
  }

  /** Resolves when everything is written, in `storeTimeoutMs`. True: nothing is left to others. */
  written(): Promise<boolean> {
    const all = Promise.allSettled([...this.#ending]).then(() => Promise.all(this.#retracting.values()))
    const late = (): Fault => new Fault('timeout', 'The store takes long')
    return withDeadline(all, this.#limits.storeTimeoutMs, late)
      .then(() => this.#announced.size === 0, () => false)
  }

  /** Awaited before the end of a task is written. It must not reject. */
  onBeforeEnd(listener: (task: Pick<Task, 'owner' | 'id'>) => Promise<void> | undefined): void {
    this.#beforeEnd = listener
  }

  /** The task is another process's, or too large, or this process is closing. */
  #endFailed(record: TaskRecord, cause: unknown): void {
    this.#failed(record, cause)
    // Another process has it.
    if (!record.isHere) return
    const { task } = record
    const isTooLarge = cause instanceof Fault && cause.kind === 'too-large'
    if (!isTooLarge || task.fault?.message === cause.message) return this.#abandon(record)
    const { kind, message } = cause
    const parts = [{ type: 'text', text: message }] as const
    this.#table.change(record, {
      ...task, fault: { kind, message }, result: undefined, artifacts: [], history: [], turn: undefined,
      status: {
        state: 'failed', at: task.status.at, message: { id: `${task.id}-end`, role: 'agent', parts },
      },
    })
    this.finish(record)
  }

  #abandon(record: TaskRecord): void {
    this.unconfirmedWrites.set(record.id, { owner: record.owner, version: record.writes.version })
    this.#table.forget(record)
  }

  /** Undefined for a tombstone, too: no process may write a task of that id any more. */
  #decode(owner: string, entry: Entry | undefined): Task | undefined {
    const task = readTask(entry, this.#log)
    // A store that mixes up owners must not show one to another.
    if (entry === undefined || task?.owner !== owner) return undefined
    this.#versions.set(task, entry.version)
    return task
  }
}

export function taskKeyOf(owner: string, id: string): StoreKey {
  return { collection: COLLECTION, owner: keyOf(owner), key: keyOf(id) }
}

/** A kept task; null for a tombstone, undefined for none, and for what cannot be read. */
export function readTask(entry: Entry | undefined, log: Log): Task | null | undefined {
  return readStored(COLLECTION, entry, decodeTask, log)
}

/** Where the run of a task is announced. */
export function runKeyOf(node: string, { id }: { readonly id: string }): StoreKey {
  return { collection: RUNS, owner: SYSTEM_OWNER + node, key: keyOf(id) }
}

export function formatRun({ owner, id }: Pick<Task, 'owner' | 'id'>): string {
  return formatJson([owner, id])
}

/** The newest status first, and of equals the greater id. */
function byStatus(one: Task, other: Task): number {
  if (one.status.at !== other.status.at) return one.status.at < other.status.at ? 1 : -1
  return one.id < other.id ? 1 : -1
}

function leaseLost(): Fault {
  return new Fault('busy', 'This process was silent for too long; try again')
}
