/**
 * Tasks that dead processes have left: announced under their names and not ended. The process that finds one
 * first runs it again, where its definition says so, or ends it: whether it took effect is not known then.
 *
 * Several processes may sweep at once: each task is changed by its version.
 */
import { LEASES, memberOf, MEMBERS } from '../state/cluster.ts'
import { SYSTEM_OWNER } from '../state/store.ts'
import { runKeyOf, RUNS, taskKeyOf } from './stored-tasks.ts'
import { isInterrupted, isTerminal } from './task.ts'
import type { ClusterMembership } from '../state/cluster.ts'
import type { GuardedStore } from '../state/guarded-store.ts'
import type { Entry } from '../state/store.ts'
import type { Log } from '../define/log.ts'
import type { StoredTasks } from './stored-tasks.ts'
import type { Task } from './task.ts'
import type { TaskOwnership } from './task-ownership.ts'
import type { TaskRecovery } from './task-recovery.ts'
import type { Tasks } from './tasks.ts'

const LIST_LIMIT = 1_000
const CONCURRENCY = 16
/** A dead process that left nothing is remembered so long: a late write of its may still arrive. */
const GONE_MS = 24 * 60 * 60_000
const GONE = 'gone'
/** Every so many sweeps those are looked at too. */
const THOROUGH_EVERY = 24

/** Sweeps with each beat of the cluster. */
export class OrphanReaper {
  readonly #tasks: Tasks
  readonly #log: Log
  readonly #ownership: TaskOwnership
  readonly #stored: StoredTasks
  readonly #recovery: TaskRecovery
  readonly #store: GuardedStore
  readonly #cluster: ClusterMembership
  readonly #deadSince = new Map<string, number>()
  #isSweeping = false
  #sweeps = 0
  #heirs = 0

  constructor(
    tasks: Tasks, ownership: TaskOwnership, recovery: TaskRecovery, store: GuardedStore,
    cluster: ClusterMembership, log: Log,
  ) {
    this.#tasks = tasks
    this.#log = log
    this.#ownership = ownership
    this.#stored = ownership.stored
    this.#recovery = recovery
    this.#store = store
    this.#cluster = cluster
  }

  start(): void {
    this.#cluster.onBeat(() => void this.#sweep())
    this.#cluster.onLapse(() => void this.#ownership.recheck())
  }

  async #sweep(): Promise<void> {
    if (this.#isSweeping) return
    this.#isSweeping = true
    try {
      for (const id of [...this.#stored.unconfirmedWrites.keys()]) await this.#confirmWrite(id)
      if (this.#cluster.isLeased) await this.#reapNodes()
    } catch {
      // The store's guard has logged why; the next sweep goes on.
    } finally {
      this.#isSweeping = false
    }
  }

  async #reapNodes(): Promise<void> {
    const leases = new Set<string>()
    for await (const { key } of this.#all(LEASES, SYSTEM_OWNER)) leases.add(key)
    for (const name of this.#deadSince.keys()) if (leases.has(name)) this.#deadSince.delete(name)
    this.#sweeps += 1
    const { heirs } = this.#cluster
    const isThorough = this.#sweeps % THOROUGH_EVERY === 0 || this.#heirs !== heirs
    this.#heirs = heirs
    const members = new Set<string>()
    for await (const member of this.#all(MEMBERS, SYSTEM_OWNER)) {
      const { key: node, value } = member
      members.add(node)
      if (value === GONE && !isThorough) continue
      if (value === '' && !this.#cluster.mayJudge) continue
      if (leases.has(node) || await this.#cluster.isAlive(node)) continue
      if (!this.#deadSince.has(node)) this.#deadSince.set(node, performance.now())
      await this.#reapNode(member)
    }
    for (const name of this.#deadSince.keys()) if (!members.has(name)) this.#deadSince.delete(name)
  }

  async * #all(collection: string, owner: string): AsyncGenerator<Entry> {
    for (let before: number | undefined; ;) {
      const page = await this.#store.list(collection, owner, LIST_LIMIT, before)
      yield* page
      before = page.at(-1)?.version
      if (page.length < LIST_LIMIT) return
    }
  }

  async #reapNode({ key: node, value, version }: Entry): Promise<void> {
    // Before its tasks run again: what it has left is older than what they do then.
    const hasLeft = await this.#cluster.takeOver(node)
    let count = 0
    let group: Promise<void>[] = []
    for await (const run of this.#all(RUNS, SYSTEM_OWNER + node)) {
      count += 1
      group.push(this.#reapRun(node, run))
      if (group.length < CONCURRENCY) continue
      await Promise.all(group)
      group = []
    }
    await Promise.all(group)
    if (hasLeft || count > 0 || value === GONE) return
    this.#deadSince.delete(node)
    await this.#store.write(memberOf(node), GONE, GONE_MS, version)
  }

  /** One task of a dead process. Where others change it meanwhile, the next sweep looks again. */
  async #reapRun(node: string, { value, version }: Entry): Promise<void> {
    const [owner, id] = JSON.parse(value) as readonly [string, string]
    const task = await this.#ownership.read(owner, id)
    const isDone = task === undefined ? await this.#writeTombstone(owner, id, 0)
      : task.node !== node || await this.#recoverTask(task, node)
    if (isDone) await this.#store.remove(runKeyOf(node, { id }), version)
  }

  /** Finds out what became of a write of this process that got no answer. */
  async #confirmWrite(id: string): Promise<void> {
    const write = this.#stored.unconfirmedWrites.get(id)
    // It may have come back here by another way.
    if (write === undefined || this.#ownership.has(id)) return
    const task = await this.#ownership.read(write.owner, id)
    const version = task && this.#stored.versionOf(task)
    // Its client was refused: the task must never exist.
    if (write.version === 0 && (task === undefined || task.node === this.#cluster.id)) {
      if (!await this.#writeTombstone(write.owner, id, version ?? 0)) return
    } else if (task?.node === this.#cluster.id) {
      if (!await this.#recoverTask(task, this.#cluster.id)) return
      // It is here now.
      if (this.#ownership.has(id)) return
    } else if (task !== undefined && version === write.version && !isTerminal(task.status.state)) {
      // The write may still arrive.
      return
    }
    await this.#stored.settle(id)
  }

  /** Takes a task's place, so that a late write is refused. False: the task has just arrived. */
  async #writeTombstone(owner: string, id: string, version: number): Promise<boolean> {
    const key = taskKeyOf(owner, id)
    if (await this.#store.write(key, 'null', GONE_MS, version) !== undefined) return true
    return (await this.#store.read(key))?.value === 'null'
  }

  /** False where it is not known yet what becomes of a task. */
  async #recoverTask(task: Task, node: string): Promise<boolean> {
    if (needsNoProcess(task)) return true
    const since = this.#deadSince.get(node) ?? Infinity
    const decision = this.#recovery.decideRecovery(task, performance.now() - since)
    if (decision === 'later') return false
    if (decision === 'rerun') return this.#recovery.rerun(task)
    await this.#ownership.take(task, task, true)
    if (!this.#tasks.isCurrent(task)) return false
    await this.#recovery.taken(task)
    this.#log('warning', 'The process of a task has ended, and the task with it', { task: task.id })
    const { why: message } = decision
    this.#tasks.move(task.id, 'failed', {
      message: [{ type: 'text', text: message }], questions: [], fault: { kind: 'failed', message },
    })
    await this.#tasks.whenPersisted(task.id)
    return true
  }
}

/** Whether a task goes on without its process: it has ended, or its client's next message begins it again. */
function needsNoProcess({ protocol, status: { state }, turn }: Task): boolean {
  return isTerminal(state) || (isInterrupted(state) && (protocol === 'a2a' || turn !== undefined))
}
