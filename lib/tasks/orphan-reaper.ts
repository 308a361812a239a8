/**
 * What dead processes have left: tasks that were announced under their names and have not ended. Whichever
 * process finds one first runs it again, where its definition says so, or ends it: whether it took effect is
 * not known then.
 *
 * Several processes may sweep at once: each task is changed by its version.
 */
import { runPlace, RUNS, taskKeyOf } from './stored-tasks.ts'
import { LEASES, memberOf, MEMBERS } from '../state/cluster.ts'
import { SYSTEM_OWNER } from '../state/store.ts'
import { isTerminal, isInterrupted } from './task.ts'
import type { GuardedStore } from '../state/guarded-store.ts'
import type { ClusterMembership } from '../state/cluster.ts'
import type { Entry } from '../state/store.ts'
import type { Task } from './task.ts'
import type { TaskOwnership } from './task-ownership.ts'
import type { Helping, TaskRecovery } from './task-recovery.ts'

/** Entries that one page has. */
const LIST_LIMIT = 1_000
/** Tasks that are looked at at one time. */
const ABREAST = 16
/** A process that is gone is remembered for as long as something of it may still come. */
const GONE_MS = 24 * 60 * 60_000
const GONE = 'gone'
/** So often are those looked at that are gone. */
const LOOKS_FOR_ONE = 24

/** Goes on with what dead processes have left, each time that this one says that it lives. */
export class OrphanReaper {
  readonly #service: Helping
  readonly #ownership: TaskOwnership
  readonly #recovery: TaskRecovery
  readonly #store: GuardedStore
  readonly #nodes: ClusterMembership
  /** When it was found out that a process is dead, by its name. */
  readonly #deadSince = new Map<string, number>()
  #isSweeping = false
  #looks = 0
  #heirs = 0

  constructor(
    service: Helping, ownership: TaskOwnership, recovery: TaskRecovery, store: GuardedStore,
    nodes: ClusterMembership,
  ) {
    this.#service = service
    this.#ownership = ownership
    this.#recovery = recovery
    this.#store = store
    this.#nodes = nodes
  }

  /** From now on. */
  begin(): void {
    this.#nodes.onBeat(() => void this.#sweep())
    this.#nodes.onLapse(() => void this.#ownership.recheck())
  }

  async #sweep(): Promise<void> {
    if (this.#isSweeping) return
    this.#isSweeping = true
    try {
      for (const id of [...this.#ownership.doubts.keys()]) await this.#clear(id)
      if (this.#nodes.isLeased) await this.#look()
    } catch {
      // The guard of the store has said why; the next look goes on.
    } finally {
      this.#isSweeping = false
    }
  }

  async #look(): Promise<void> {
    const leases = new Set<string>()
    for await (const { key } of this.#all(LEASES, SYSTEM_OWNER)) leases.add(key)
    for (const name of this.#deadSince.keys()) if (leases.has(name)) this.#deadSince.delete(name)
    this.#looks += 1
    const { heirs } = this.#nodes
    const isThorough = this.#looks % LOOKS_FOR_ONE === 0 || this.#heirs !== heirs
    this.#heirs = heirs
    const members = new Set<string>()
    for await (const member of this.#all(MEMBERS, SYSTEM_OWNER)) {
      const { key: node, value } = member
      members.add(node)
      // Of one that has left nothing, something comes late if at all.
      if (value === GONE && !isThorough) continue
      if (value === '' && !this.#nodes.mayJudge) continue
      if (leases.has(node) || await this.#nodes.isAlive(node)) continue
      if (!this.#deadSince.has(node)) this.#deadSince.set(node, performance.now())
      await this.#bury(member)
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

  async #bury({ key: node, value, version }: Entry): Promise<void> {
    let count = 0
    let group: Promise<void>[] = []
    for await (const run of this.#all(RUNS, SYSTEM_OWNER + node)) {
      count += 1
      group.push(this.#settle(node, run))
      if (group.length < ABREAST) continue
      await Promise.all(group)
      group = []
    }
    await Promise.all(group)
    if (await this.#nodes.takeOver(node) || count > 0 || value === GONE) return
    this.#deadSince.delete(node)
    await this.#store.write(memberOf(node), GONE, GONE_MS, version)
  }

  /** One task of a dead process. What others have changed meanwhile is looked at again the next time. */
  async #settle(node: string, { value, version }: Entry): Promise<void> {
    const [owner, id] = JSON.parse(value) as readonly [string, string]
    const task = await this.#ownership.read(owner, id)
    const isOver = task === undefined ? await this.#bar(owner, id, 0)
      : task.node !== node || await this.#goOn(task, node)
    if (!isOver) return
    await this.#store.remove(runPlace(node, { id }), version)
  }

  /** What this process may have written though no answer came. */
  async #clear(id: string): Promise<void> {
    const doubt = this.#ownership.doubts.get(id)
    if (doubt === undefined) return
    // It came back here by another way.
    if (this.#ownership.has(id)) return
    const task = await this.#ownership.read(doubt.owner, id)
    const version = task && this.#ownership.versionOf(task)
    // Its client was refused: it never was, and never comes to be.
    if (doubt.version === 0 && (task === undefined || task.node === this.#nodes.id)) {
      if (!await this.#bar(doubt.owner, id, version ?? 0)) return
    } else if (task?.node === this.#nodes.id) {
      if (!await this.#goOn(task, this.#nodes.id)) return
      // It is here now.
      if (this.#ownership.has(id)) return
    } else if (task !== undefined && version === doubt.version && !isTerminal(task.status.state)) {
      // What was written may still arrive.
      return
    }
    await this.#ownership.settle(id)
  }

  /** Puts something in the place of a task: what is written there later is refused. False: it just came. */
  async #bar(owner: string, id: string, version: number): Promise<boolean> {
    const place = taskKeyOf(owner, id)
    if (await this.#store.write(place, 'null', GONE_MS, version) !== undefined) return true
    return (await this.#store.read(place))?.value === 'null'
  }

  /** False where it is not known yet what becomes of a task. */
  async #goOn(task: Task, node: string): Promise<boolean> {
    if (mayWait(task)) return true
    const { tasks, log } = this.#service
    const since = this.#deadSince.get(node) ?? Infinity
    const fate = this.#recovery.decideRecovery(task, performance.now() - since)
    if (fate === 'later') return false
    if (fate === 'rerun') return this.#recovery.rerun(task)
    await this.#ownership.take(task, task, true)
    if (!tasks.isCurrent(task)) return false
    await this.#recovery.taken(task)
    log('warning', 'The process of a task has ended, and the task with it', { task: task.id })
    const { why: message } = fate
    tasks.move(task.id, 'failed', {
      message: [{ type: 'text', text: message }], questions: [], fault: { kind: 'failed', message },
    })
    await tasks.whenPersisted(task.id)
    return true
  }
}

/** Whether a task goes on without its process: it has ended, or its client's next message begins it again. */
function mayWait({ protocol, status: { state }, turn }: Task): boolean {
  return isTerminal(state) || (isInterrupted(state) && (protocol === 'a2a' || turn !== undefined))
}
