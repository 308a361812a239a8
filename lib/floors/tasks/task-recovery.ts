/**
 * Tasks that are run again in this process, from the top: because the process that ran one has died and its
 * definition has `recover: 'rerun'`, or because a question of one without a run has been answered. Each is
 * taken by its version first, so that only one process does it. How a task is run again is its protocol's
 * matter.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { asFault } from '../../kernel/define/fault.ts'
import { withAnswers } from './question-answer.ts'
import { isInterrupted } from './task.ts'
import type { Protocol } from '../../kernel/define/call.ts'
import type { FaultKind } from '../../kernel/define/fault.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { Log } from '../../kernel/define/log.ts'
import type { ClusterMembership } from '../shared/cluster.ts'
import type { StoredTasks } from './stored-tasks.ts'
import type { Task, TaskChange } from './task.ts'
import type { Tasks } from './tasks.ts'

export interface TaskRunner {
  /** Whether what the task runs is served here, and where the task works: whether it may be run again. */
  serves(task: Task): boolean
  /** Begins its run. The task is this process's already. */
  run(task: Task): void
}

/** What becomes of a task whose process has died: it runs here, or somewhere later, or fails. */
export type RecoveryDecision = 'rerun' | 'later' | { readonly why: string }

/** The tasks of this process, which is one of several. */
export interface TaskSurroundings {
  readonly tasks: Tasks
  readonly stored: StoredTasks
  readonly cluster: ClusterMembership
  /** Whether there is room here for one more call. */
  readonly workload: { readonly isFull: boolean }
  readonly limits: KernelLimits
  readonly log: Log
}

export class TaskRecovery {
  readonly #at: TaskSurroundings
  readonly #runners = new Map<Protocol, TaskRunner>()
  readonly #onTaken: ((task: Task) => Promise<void>)[] = []

  constructor(at: TaskSurroundings) {
    this.#at = at
  }

  register(protocol: Protocol, runner: TaskRunner): void { this.#runners.set(protocol, runner) }

  /** Calls for each task that was taken here, and waits for it before anything else happens to the task. */
  onTaken(listener: (task: Task) => Promise<void>): void { this.#onTaken.push(listener) }

  async taken(task: Task): Promise<void> {
    for (const listener of this.#onTaken) {
      await listener(task).catch((cause: unknown) => (
        this.#at.log('warning', 'A listener to taken tasks failed', { task: task.id, cause })
      ))
    }
  }

  /** What becomes of a task whose process has died; `sinceMs`: for how long that is known. */
  decideRecovery(task: Task, sinceMs: number): RecoveryDecision {
    const { turn, isReserved } = task
    const { maxRuns, rerunWaitMs } = this.#at.limits
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
    return !isServed || this.#at.tasks.isFull || this.#at.workload.isFull ? 'later' : 'rerun'
  }

  /** Runs a task again that a dead process has left. False where it was another's by then. */
  async rerun(task: Task): Promise<boolean> {
    const { turn } = task
    if (turn === undefined) return false
    const { run = 1, earlier = [] } = turn
    const artifacts = task.artifacts.filter(({ id }) => earlier.includes(id))
    // The count is kept before anything runs: a task that kills its process must not kill them all.
    return this.#begin(task, { ...task, artifacts, turn: { ...turn, run: run + 1 } })
  }

  /**
   * Answers questions of a task without a run, as it was read: it is run again with all answers that it has.
   * False where it does not ask them any more, is not served here, or another process goes on with it by now.
   */
  async answer(task: Task, answers: ReadonlyMap<string, unknown>): Promise<boolean> {
    const { turn, questions, status: { state } } = task
    const given = new Map([...answers].filter(([key]) => questions.some((one) => one.key === key)))
    if (turn === undefined || given.size === 0 || !isInterrupted(state) || !this.#serves(task)) return false
    const known = { ...turn, ...withAnswers(turn, given, questions) }
    return this.#begin(task, this.#at.tasks.answered(task, known))
  }

  #serves(task: Task): boolean {
    return this.#runners.get(task.protocol)?.serves(task) === true
  }

  /** Takes a task and ends it here. False where another process was quicker. */
  async end(task: Task, state: 'canceled' | 'failed', change?: TaskChange): Promise<boolean> {
    if (!await this.#take(task, task)) return false
    this.#at.tasks.move(task.id, state, { questions: [], ...change })
    await this.#at.tasks.whenPersisted(task.id)
    return true
  }

  async #begin(task: Task, next: Task): Promise<boolean> {
    const isTaken = await this.#take(task, next)
    if (isTaken) void this.#run(next)
    return isTaken
  }

  async #take(task: Task, next: Task): Promise<boolean> {
    await this.#at.stored.take(task, next)
    if (!this.#at.tasks.isCurrent(next)) return false
    await this.taken(next)
    return true
  }

  /** Waits for room among the calls, then runs. Never rejects. */
  async #run(task: Task): Promise<void> {
    while (this.#at.workload.isFull && this.#at.cluster.isOpen) {
      await pause(this.#at.cluster.beatMs, undefined, { ref: false })
    }
    // Of a process that closes another takes it over.
    if (!this.#at.cluster.isOpen || !this.#at.tasks.isCurrent(task)) return
    try {
      this.#runners.get(task.protocol)?.run(task)
    } catch (error) {
      const { kind, message } = asFault(error)
      this.#at.log('error', 'A task could not be run again', { task: task.id, cause: error })
      this.#at.tasks.move(task.id, 'failed', { questions: [], ...failedWith(kind, message) })
    }
  }
}

/** How a task fails without a run of its own that could say it. */
export function failedWith(kind: FaultKind, message: string): TaskChange {
  return { message: [{ type: 'text', text: message }], fault: { kind, message } }
}
