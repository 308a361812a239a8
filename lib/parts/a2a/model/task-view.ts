/**
 * A task as clients and webhooks see it: what of it is shown, and which event its streams get for a change.
 */
import { isTerminal, isInterrupted } from '../../../floors/tasks/task.ts'
import type { Task, TaskEvent, TaskMessage, TaskState } from '../../../floors/tasks/task.ts'
import type { Dialect } from './dialect.ts'
import type { StreamEvent, TaskView } from './model.ts'

/** Whether the task has ended or waits for the client. */
export function isSettled(state: TaskState): boolean {
  return isInterrupted(state) || isTerminal(state)
}

/** A task with so much of its history; undefined: all of it. */
export function viewOf(task: Task, historyLength: number | undefined, withArtifacts = true): TaskView {
  return {
    id: task.id, contextId: task.contextId, status: task.status,
    artifacts: withArtifacts ? task.artifacts : undefined,
    history: historyOf(task.history, historyLength),
    metadata: task.status.metadata,
  }
}

function historyOf(history: readonly TaskMessage[], length: number | undefined): TaskView['history'] {
  if (length === 0) return undefined
  return length === undefined || length >= history.length ? history : history.slice(-length)
}

/** A change of a task that is not forgotten. */
export type TaskUpdate = Exclude<TaskEvent, { readonly what: 'forgotten' }>

/** The event for a change of a task. */
export function eventOf(
  event: TaskUpdate, { id: taskId, contextId }: Pick<Task, 'id' | 'contextId'>,
): StreamEvent {
  if (event.what === 'status') {
    const { status } = event
    return { what: 'status', taskId, contextId, status, isLast: isSettled(status.state) }
  }
  const { artifact, append, last } = event
  return { what: 'artifact', taskId, contextId, artifact, append, last }
}

/** The body of a webhook for a change, or without one for the task. `task` is the task after the change. */
export function pushBodyOf(dialect: Dialect, task: Task, event?: TaskUpdate): string {
  const view = viewOf(task, undefined)
  const posted = event === undefined ? { what: 'task', task: view } as const : eventOf(event, task)
  return dialect.formatPush(posted, view)
}
