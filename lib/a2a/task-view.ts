/**
 * A task as its client may see it: whose it is, what of it is shown, and what of its life is told as an
 * event. A task belongs to a principal, a tenant and an agent; for everybody else it does not exist.
 */
import { isFinished, isWaiting } from '../core/task.ts'
import { A2aFault } from './faults.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Task, TaskEvent, TaskMessage, TaskState } from '../core/task.ts'
import type { StreamEvent, TaskView } from './model.ts'
import type { Visit } from './visit.ts'

/** Whether nothing more happens before the client does something: the task has ended, or waits for it. */
export function isSettled(state: TaskState): boolean {
  return isWaiting(state) || isFinished(state)
}

/** Whether a task is the visitor's to see. */
export function isVisible({ who }: Visit, tenant: string | undefined, task: Task): boolean {
  return task.protocol === 'a2a' && task.runnable.name === who.id && task.tenant === tenant
}

/** The visitor's task. Throws, or rejects with, `TASK_NOT_FOUND` where there is none. */
export function findTask(visit: Visit, tenant: string | undefined, id: string): MaybePromise<Task> {
  const owned = (task: Task | undefined): Task => {
    if (task !== undefined && isVisible(visit, tenant, task)) return task
    const remedy = 'send a message without a taskId to begin one'
    throw new A2aFault('TASK_NOT_FOUND', `There is no such task; ${remedy}`)
  }
  const { service: { tasks }, exchange: { origin: { principal } } } = visit
  const found = tasks.get(principal.id, id)
  return found instanceof Promise ? found.then(owned) : owned(found)
}

/** What a client sees of a task: so much of its history, and its artifacts. */
export function viewOf(task: Task, historyLength: number | undefined, withArtifacts = true): TaskView {
  return {
    id: task.id, contextId: task.contextId, status: task.status,
    artifacts: withArtifacts ? task.artifacts : undefined,
    history: historyOf(task.history, historyLength),
    metadata: undefined,
  }
}

function historyOf(history: readonly TaskMessage[], length: number | undefined): TaskView['history'] {
  if (length === 0) return undefined
  return length === undefined || length >= history.length ? history : history.slice(-length)
}

/** An event of a task, as its stream tells it. Undefined: the stream has nothing to say of it. */
export function eventOf(event: TaskEvent, { id: taskId, contextId }: Task): StreamEvent | undefined {
  if (event.what === 'forgotten') return undefined
  if (event.what === 'status') {
    const { status } = event
    return { what: 'status', taskId, contextId, status, isLast: isSettled(status.state) }
  }
  const { artifact, append, last } = event
  return { what: 'artifact', taskId, contextId, artifact, append, last }
}

