/**
 * What dead processes have left: tasks that were announced under their names and have not ended. Each is
 * ended by whichever process finds it first; whether it took effect is not known, so none is begun again.
 *
 * Several processes may sweep at once: each task is changed by its version.
 */
import { HOUSE, RUNS } from './announced-runs.ts'
import { keyOf } from './store.ts'
import { isFinished, isWaiting } from './task.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { Log } from './log.ts'
import type { Nodes } from './nodes.ts'
import type { Entry } from './store.ts'
import type { Task } from './task.ts'
import type { Tasks } from './tasks.ts'

/** Entries that one look reads at most; the next look goes on. */
const LIST_LIMIT = 1_000
/** A process that is gone is remembered for as long as something of it may still come. */
const GONE_MS = 24 * 60 * 60_000
const GONE = 'gone'

/** Ends what dead processes have left, each time that this one says that it lives. */
export class RunSweep {
  readonly #tasks: Tasks
  readonly #store: GuardedStore
  readonly #nodes: Nodes
  readonly #log: Log
  #isSweeping = false

  constructor(tasks: Tasks, store: GuardedStore, nodes: Nodes, log: Log) {
    this.#tasks = tasks
    this.#store = store
    this.#nodes = nodes
    this.#log = log
  }

  /** From now on. */
  begin(): void {
    this.#nodes.onBeat(() => void this.#sweep())
  }

  async #sweep(): Promise<void> {
    if (this.#isSweeping || !this.#nodes.mayJudge) return
    this.#isSweeping = true
    try {
      const members = await this.#store.list('members', HOUSE, LIST_LIMIT)
      const leases = new Set((await this.#store.list('leases', HOUSE, LIST_LIMIT)).map(({ key }) => key))
      for (const member of members) {
        if (!leases.has(member.key) && !await this.#nodes.isAlive(member.key)) await this.#bury(member)
      }
    } catch {
      // The guard of the store has said why; the next look goes on.
    } finally {
      this.#isSweeping = false
    }
  }

  async #bury({ key: node, value, version }: Entry): Promise<void> {
    const runs = await this.#store.list(RUNS, HOUSE + node, LIST_LIMIT)
    for (const run of runs) await this.#settle(node, run)
    if (runs.length > 0 || value === GONE) return
    const place = { collection: 'members', owner: HOUSE, key: node }
    await this.#store.write(place, GONE, GONE_MS, version)
  }

  async #settle(node: string, { key, value, version }: Entry): Promise<void> {
    const [owner, id] = JSON.parse(value) as readonly [string, string]
    const task = await this.#tasks.get(owner, id)
    if (task === undefined) {
      // What its process may still write comes too late.
      const tomb = { collection: 'tasks', owner: keyOf(owner), key: keyOf(id) }
      await this.#store.write(tomb, 'null', GONE_MS, 0)
    } else if (task.node === node && !mayWait(task)) {
      await this.#tasks.take(task)
      if (!this.#tasks.isCurrent(task)) return
      this.#log('warning', 'The process of a task has ended, and the task with it', { task: id })
      const why = 'The process that ran it has ended; whether it took effect is not known'
      this.#tasks.move(id, 'failed', {
        message: [{ type: 'text', text: why }], questions: [], fault: { kind: 'failed', message: why },
      })
      await this.#tasks.kept(id)
    }
    await this.#store.remove({ collection: RUNS, owner: HOUSE + node, key }, version)
  }
}

/** Whether a task goes on without its process: it has ended, or its client's next message begins it again. */
function mayWait({ protocol, status: { state } }: Task): boolean {
  return isFinished(state) || (protocol === 'a2a' && isWaiting(state))
}
