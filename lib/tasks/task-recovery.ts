/**
 * Tasks that are run again in this process, from the top: because the process that ran one has died and
 * its definition says `recover: 'rerun'`, or because a question of one whose run is gone has been answered.
 * Each is taken by its version first, so that one process alone does it.
 *
 * How a task is run again is its door's business.
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

/** What is needed of a server to go on with what others have left. */
export interface Helping {
  readonly tasks: Tasks
  /** The calls that run here: whether there is room for one more. */
  readonly workload: { readonly isFull: boolean }
  readonly limits: Limits
  readonly log: Log
}

/** How one door runs its tasks again. */
export interface TaskRunner {
  /** Whether what the task runs is served here, and where the task works: whether it may be run again. */
  serves(task: Task): boolean
  /** Begins its run. The task is this process's already. */
  run(task: Task): void
}

/** What becomes of a task whose process has died: it runs again here, or perhaps elsewhere, or has failed. */
export type RecoveryDecision = 'rerun' | 'later' | { readonly why: string }

/** How often a task is read again that other processes change at the same time. */
const MAX_TRIES = 5

/** All that this process runs again. */
export class TaskRecovery {
  readonly #service: Helping
  readonly #ownership: TaskOwnership
  readonly #nodes: ClusterMembership
  readonly #runners = new Map<Protocol, TaskRunner>()
  readonly #onTaken: ((task: Task) => Promise<void>)[] = []

  constructor(service: Helping, ownership: TaskOwnership, nodes: ClusterMembership) {
    this.#service = service
    this.#ownership = ownership
    this.#nodes = nodes
  }

  /** What a door does to run one of its tasks again. */
  register(protocol: Protocol, runner: TaskRunner): void { this.#runners.set(protocol, runner) }

  /** Calls for each task that was taken here, and waits for it before anything else happens to the task. */
  onTaken(listener: (task: Task) => Promise<void>): void { this.#onTaken.push(listener) }

  /** Tells all who have to know that a task is this process's from now on. Never rejects. */
  async taken(task: Task): Promise<void> {
    for (const listener of this.#onTaken) {
      await listener(task).catch((cause: unknown) => (
        this.#service.log('warning', 'Not everybody heard that a task was taken', { task: task.id, cause })
      ))
    }
  }

  /** What becomes of a task whose process has died; `sinceMs`: for how long that is known. */
  decideRecovery(task: Task, sinceMs: number): RecoveryDecision {
    const { turn, isReserved } = task
    const { tasks, workload, limits: { maxRuns, rerunWaitMs } } = this.#service
    const ended = 'The process that ran it has ended'
    // Of what nobody has been told nobody wants the end.
    if (turn?.isRerun !== true || isReserved === true) {
      return { why: `${ended}; whether it took effect is not known` }
    }
    const { run = 1 } = turn
    if (run >= maxRuns) {
      return { why: `${ended} in each of its ${run} runs; what took effect is not known` }
    }
    const isServed = this.#runners.get(task.protocol)?.serves(task) === true
    if (!isServed && sinceMs >= rerunWaitMs) {
      return { why: `${ended}, and no other serves it; whether it took effect is not known` }
    }
    return !isServed || tasks.isFull || workload.isFull ? 'later' : 'rerun'
  }

  /** Runs a task again that a dead process has left. False where it was another's by then. */
  async rerun(task: Task): Promise<boolean> {
    const { turn } = task
    if (turn === undefined) return false
    const { run = 1, earlier = [] } = turn
    const artifacts = task.artifacts.filter(({ id }) => earlier.includes(id))
    // The count is kept before anything runs: what kills its process must not kill them all.
    return this.#begin(task, { ...task, artifacts, turn: { ...turn, run: run + 1 } }, true)
  }

  /**
   * Answers questions of a task that nobody asks any more: it is run again with all answers that it has.
   * False where it does not wait, or is not served here.
   */
  async answer({ owner, id }: Task, answers: ReadonlyMap<string, unknown>): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const task = await this.#ownership.read(owner, id)
      if (task?.turn === undefined || !isInterrupted(task.status.state)) return false
      if (this.#runners.get(task.protocol)?.serves(task) !== true) return false
      const given = [...answers].filter(([key]) => task.questions.some((one) => one.key === key))
      const turn = { ...task.turn, answers: { ...task.turn.answers, ...Object.fromEntries(given) } }
      if (await this.#begin(task, { ...task, turn }, false)) return true
    }
    return false
  }

  async #begin(task: Task, next: Task, isDead: boolean): Promise<boolean> {
    const { tasks } = this.#service
    await this.#ownership.take(task, next, isDead)
    if (!tasks.isCurrent(next)) return false
    await this.taken(next)
    void this.#run(next)
    return true
  }

  /** Waits for room among the calls, then runs. Never rejects. */
  async #run(task: Task): Promise<void> {
    const { tasks, workload, log } = this.#service
    while (workload.isFull && this.#nodes.isOpen) await pause(this.#nodes.beatMs, undefined, { ref: false })
    if (!tasks.isCurrent(task)) return
    try {
      this.#runners.get(task.protocol)?.run(task)
    } catch (error) {
      const { kind, message } = asFault(error)
      log('error', 'A task could not be run again', { task: task.id, cause: error })
      tasks.move(task.id, 'failed', {
        message: [{ type: 'text', text: message }], questions: [], fault: { kind, message },
      })
    }
  }
}
