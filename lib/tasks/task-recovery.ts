/**
 * Tasks that are run again in this process, from the top: because the process that ran one has died and its
 * definition has `recover: 'rerun'`, or because a question of one without a run has been answered. Each is
 * taken by its version first, so that only one process does it. How a task is run again is its protocol's
 * matter.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { asFault } from '../define/fault.ts'
import { isInterrupted } from './task.ts'
import type { Protocol } from '../define/call.ts'
import type { Limits } from '../define/limits.ts'
import type { Log } from '../define/log.ts'
import type { ClusterMembership } from '../state/cluster.ts'
import type { TaskOwnership } from './task-ownership.ts'
import type { Task } from './task.ts'
import type { Tasks } from './tasks.ts'

export interface TaskRunner {
  /** Whether what the task runs is served here, and where the task works: whether it may be run again. */
  serves(task: Task): boolean
  /** Begins its run. The task is this process's already. */
  run(task: Task): void
}

/** What becomes of a task whose process has died: it runs here, or somewhere later, or fails. */
export type RecoveryDecision = 'rerun' | 'later' | { readonly why: string }

/** How often a task is read again that other processes change at the same time. */
const MAX_TRIES = 5

export class TaskRecovery {
  readonly #tasks: Tasks
  readonly #ownership: TaskOwnership
  readonly #cluster: ClusterMembership
  readonly #workload: { readonly isFull: boolean }
  readonly #limits: Limits
  readonly #log: Log
  readonly #runners = new Map<Protocol, TaskRunner>()
  readonly #onTaken: ((task: Task) => Promise<void>)[] = []

  /** `workload`: whether there is room here for one more call. */
  constructor(
    tasks: Tasks, ownership: TaskOwnership, cluster: ClusterMembership,
    workload: { readonly isFull: boolean }, limits: Limits, log: Log,
  ) {
    this.#tasks = tasks
    this.#ownership = ownership
    this.#cluster = cluster
    this.#workload = workload
    this.#limits = limits
    this.#log = log
  }

  register(protocol: Protocol, runner: TaskRunner): void { this.#runners.set(protocol, runner) }

  /** Calls for each task that was taken here, and waits for it before anything else happens to the task. */
  onTaken(listener: (task: Task) => Promise<void>): void { this.#onTaken.push(listener) }

  async taken(task: Task): Promise<void> {
    for (const listener of this.#onTaken) {
      await listener(task).catch((cause: unknown) => (
        this.#log('warning', 'A listener to taken tasks failed', { task: task.id, cause })
      ))
    }
  }

  /** What becomes of a task whose process has died; `sinceMs`: for how long that is known. */
  decideRecovery(task: Task, sinceMs: number): RecoveryDecision {
    const { turn, isReserved } = task
    const { maxRuns, rerunWaitMs } = this.#limits
    const ended = 'The process that ran it has ended'
    // Of a reserved task no client waits for the end.
    if (turn?.isRerun !== true || isReserved === true) {
      return { why: `${ended}; whether it took effect is not known` }
    }
    const { run = 1 } = turn
    if (run >= maxRuns) {
      return { why: `${ended} in each of its ${run} runs; what took effect is not known` }
    }
    const isServed = this.#serves(task)
    if (!isServed && sinceMs >= rerunWaitMs) {
      return { why: `${ended}, and no other serves it; whether it took effect is not known` }
    }
    return !isServed || this.#tasks.isFull || this.#workload.isFull ? 'later' : 'rerun'
  }

  /** Runs a task again that a dead process has left. False where it was another's by then. */
  async rerun(task: Task): Promise<boolean> {
    const { turn } = task
    if (turn === undefined) return false
    const { run = 1, earlier = [] } = turn
    const artifacts = task.artifacts.filter(({ id }) => earlier.includes(id))
    // The count is kept before anything runs: a task that kills its process must not kill them all.
    return this.#begin(task, { ...task, artifacts, turn: { ...turn, run: run + 1 } }, true)
  }

  /**
   * Answers questions of a task without a run: it is run again with all answers that it has. False where it
   * does not wait, or is not served here.
   */
  async answer({ owner, id }: Task, answers: ReadonlyMap<string, unknown>): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const task = await this.#ownership.read(owner, id)
      if (task?.turn === undefined || !isInterrupted(task.status.state) || !this.#serves(task)) return false
      const given = [...answers].filter(([key]) => task.questions.some((one) => one.key === key))
      const turn = { ...task.turn, answers: { ...task.turn.answers, ...Object.fromEntries(given) } }
      if (await this.#begin(task, { ...task, turn }, false)) return true
    }
    return false
  }

  #serves(task: Task): boolean {
    return this.#runners.get(task.protocol)?.serves(task) === true
  }

  async #begin(task: Task, next: Task, isDead: boolean): Promise<boolean> {
    await this.#ownership.take(task, next, isDead)
    if (!this.#tasks.isCurrent(next)) return false
    await this.taken(next)
    void this.#run(next)
    return true
  }

  /** Waits for room among the calls, then runs. Never rejects. */
  async #run(task: Task): Promise<void> {
    while (this.#workload.isFull && this.#cluster.isOpen) {
      await pause(this.#cluster.beatMs, undefined, { ref: false })
    }
    if (!this.#tasks.isCurrent(task)) return
    try {
      this.#runners.get(task.protocol)?.run(task)
    } catch (error) {
      const { kind, message } = asFault(error)
      this.#log('error', 'A task could not be run again', { task: task.id, cause: error })
      this.#tasks.move(task.id, 'failed', {
        message: [{ type: 'text', text: message }], questions: [], fault: { kind, message },
      })
    }
  }
}
