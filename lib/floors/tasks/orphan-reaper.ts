/**
 * Tasks that dead processes have left: announced under their names and not ended. The process that finds one
 * first runs it again, where its definition says so, or ends it: whether it took effect is not known then.
 *
 * Several processes may sweep at once: each task is changed by its version.
 */
import { CLOSED, LEASES, memberOf, MEMBERS } from '../shared/cluster.ts'
import { SYSTEM_OWNER } from '../../kernel/store/store.ts'
import { readStored } from '../shared/stored-value.ts'
import { isStrings } from '../../kernel/wire/json.ts'
import { readTask, RUNS, taskKeyOf } from './stored-tasks.ts'
import { isInterrupted, isTerminal } from './task.ts'
import { failedWith } from './task-recovery.ts'
import type { GuardedStore } from '../shared/guarded-store.ts'
import type { Entry } from '../../kernel/store/store.ts'
import type { Task } from './task.ts'
import type { TaskRecovery, TaskSurroundings } from './task-recovery.ts'

const LIST_LIMIT = 1_000
const CONCURRENCY = 16
/** A dead process that left nothing is remembered so long: a late write of its may still arrive. */
const GONE_MS = 24 * 60 * 60_000
const GONE = 'gone'
/** Every so many sweeps those are looked at too. */
const THOROUGH_EVERY = 24

/** Sweeps with each beat of the cluster. */
export function reapOrphans(
  { stored, cluster, log }: TaskSurroundings, recovery: TaskRecovery, store: GuardedStore,
): void {
  /** When each was found to be dead, in monotonic milliseconds. */
  const deadSince = new Map<string, number>()
  let isSweeping = false
  let sweeps = 0
  let lastHeirs = 0
  cluster.onBeat(() => void sweep())
  cluster.onLapse(() => void stored.recheck())

  async function sweep(): Promise<void> {
    if (isSweeping) return
    isSweeping = true
    try {
      for (const id of [...stored.unconfirmedWrites.keys()]) await confirmWrite(id)
      if (cluster.isLeased) await reapNodes()
    } catch {
      // The store's guard has logged why; the next sweep goes on.
    } finally {
      isSweeping = false
    }
  }

  async function reapNodes(): Promise<void> {
    const leases = new Set<string>()
    for await (const { key } of all(LEASES, SYSTEM_OWNER)) leases.add(key)
    for (const name of deadSince.keys()) if (leases.has(name)) deadSince.delete(name)
    sweeps += 1
    const { heirs } = cluster
    const isThorough = sweeps % THOROUGH_EVERY === 0 || heirs !== lastHeirs
    lastHeirs = heirs
    const members = new Set<string>()
    for await (const member of all(MEMBERS, SYSTEM_OWNER)) {
      const { key: node, value } = member
      members.add(node)
      if (value === GONE && !isThorough) continue
      if (value !== GONE && value !== CLOSED && !cluster.mayJudge) continue
      if (leases.has(node) || await cluster.isAlive(node)) continue
      if (!deadSince.has(node)) deadSince.set(node, performance.now())
      await reapNode(member)
    }
    for (const name of deadSince.keys()) if (!members.has(name)) deadSince.delete(name)
  }

  async function * all(collection: string, owner: string): AsyncGenerator<Entry> {
    for (let before: number | undefined; ;) {
      const page = await store.list(collection, owner, LIST_LIMIT, before)
      yield* page
      before = page.at(-1)?.version
      if (page.length < LIST_LIMIT) return
    }
  }

  async function reapNode({ key: node, value, version }: Entry): Promise<void> {
    // Before its tasks run again: what it has left is older than what they do then.
    const hasLeft = await cluster.takeOver(node)
    let count = 0
    let group: Promise<void>[] = []
    for await (const run of all(RUNS, SYSTEM_OWNER + node)) {
      count += 1
      group.push(reapRun(node, run))
      if (group.length < CONCURRENCY) continue
      await Promise.all(group)
      group = []
    }
    await Promise.all(group)
    if (hasLeft || count > 0 || value === GONE) return
    deadSince.delete(node)
    await store.write(memberOf(node), GONE, GONE_MS, version)
  }

  /** One task of a dead process. Where others change it meanwhile, the next sweep looks again. */
  async function reapRun(node: string, run: Entry): Promise<void> {
    // Where it cannot be read, nobody can ever find its task by it.
    const ended = readStored(RUNS, run, decodeRun, log)
    if (ended !== undefined && !await reapTask(node, ended)) return
    await store.remove({ collection: RUNS, owner: SYSTEM_OWNER + node, key: run.key }, run.version)
  }

  async function reapTask(node: string, [owner, id]: readonly [string, string]): Promise<boolean> {
    // As it is kept: one that was taken here names the process that had it before.
    const task = await stored.get(owner, id)
    if (task === undefined) return writeTombstone(owner, id, 0)
    return task.node !== node || recoverTask(task, node)
  }

  /** Finds out what became of a write of this process that got no answer. */
  async function confirmWrite(id: string): Promise<void> {
    const write = stored.unconfirmedWrites.get(id)
    // It may have come back here by another way.
    if (write === undefined || stored.has(id)) return
    const task = await stored.get(write.owner, id)
    const version = task && stored.versionOf(task)
    // Its client was refused: the task must never exist.
    if (write.version === 0 && (task === undefined || task.node === cluster.id)) {
      if (!await writeTombstone(write.owner, id, version ?? 0)) return
    } else if (task?.node === cluster.id) {
      if (!await recoverTask(task, cluster.id)) return
      // It is here now.
      if (stored.has(id)) return
    } else if (task !== undefined && version === write.version && !isTerminal(task.status.state)) {
      // The write may still arrive.
      return
    }
    await stored.settle(id)
  }

  /** Takes a task's place, so that a late write is refused. False: the task has just arrived. */
  async function writeTombstone(owner: string, id: string, version: number): Promise<boolean> {
    const key = taskKeyOf(owner, id)
    if (await store.write(key, 'null', GONE_MS, version) !== undefined) return true
    const entry = await store.read(key)
    if (entry === undefined) return false
    const task = readTask(entry, log)
    // What cannot be read would stay for ever: it is no task that anybody could end.
    return task === null
      || (task === undefined && await store.write(key, 'null', GONE_MS, entry.version) !== undefined)
  }

  /** False where it is not known yet what becomes of a task. */
  async function recoverTask(task: Task, node: string): Promise<boolean> {
    if (needsNoProcess(task)) return true
    // A run that began here now would end with this process.
    if (stored.isHandedOver) return false
    const since = deadSince.get(node) ?? Infinity
    const decision = recovery.decideRecovery(task, performance.now() - since)
    if (decision === 'later') return false
    if (decision === 'rerun') return recovery.rerun(task)
    if (!await recovery.end(task, 'failed', failedWith('failed', decision.why))) return false
    log('warning', 'The process of a task has ended, and the task with it', { task: task.id })
    return true
  }
}

function decodeRun(value: unknown): readonly [string, string] | undefined {
  const [owner, id]: readonly (string | undefined)[] = isStrings(value) ? value : []
  return owner === undefined || id === undefined ? undefined : [owner, id]
}

/** Whether a task goes on without its process: it has ended, or its client's next message begins it again. */
function needsNoProcess({ protocol, status: { state }, turn }: Task): boolean {
  return isTerminal(state) || (isInterrupted(state) && (protocol === 'a2a' || turn !== undefined))
}
