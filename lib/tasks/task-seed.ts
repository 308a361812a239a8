/**
 * A task at its beginning: what its door says of it goes in, a task without anything in it comes out.
 * And what is said of it later.
 */
import { randomUuid } from '../wire/random.ts'
import type { Artifact } from '../define/artifact.ts'
import type { Task, TaskMessage, TaskState } from './task.ts'

/** What a task begins with. */
export type TaskSeed =
  & Pick<Task, 'owner' | 'protocol' | 'runnable' | 'contextId' | 'sessionId' | 'ttlMs'>
  & Partial<Pick<Task, 'id' | 'isReserved' | 'tenant' | 'history' | 'turn'>>

/** How a task ends that was over before anybody could see it. */
export interface TaskEnd {
  readonly state: TaskState
  readonly message: TaskMessage['parts'] | undefined
  readonly artifacts: readonly Artifact[]
  readonly fault: Task['fault']
}

/** What may change together with a task's state. What is left out stays as it is. */
export interface TaskChange {
  /** What the agent says about the state. */
  readonly message?: TaskMessage['parts'] | undefined
  readonly questions?: Task['questions']
  readonly result?: unknown
  readonly fault?: Task['fault']
}

const none: readonly never[] = Object.freeze([])

/** The task of a seed, as it stands at its beginning, or at its end where that is the same. */
export function taskOf(
  seed: TaskSeed, createdAt: string, status: Task['status'], artifacts: readonly Artifact[] = none,
  fault: Task['fault'] = undefined,
): Task {
  return {
    id: seed.id ?? randomUuid(), owner: seed.owner, protocol: seed.protocol, runnable: seed.runnable,
    isReserved: seed.isReserved ?? false, tenant: seed.tenant, contextId: seed.contextId,
    sessionId: seed.sessionId, createdAt, ttlMs: seed.ttlMs, status, artifacts,
    history: seed.history ?? none, questions: none, turn: seed.turn, result: undefined,
    fault,
  }
}
