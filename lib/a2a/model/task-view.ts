/**
 * A task as clients and webhooks see it: what of it is shown, and what of its life is told as an event.
 * Whose it is was asked before.
 */
import { isTerminal, isInterrupted } from '../../tasks/task.ts'
import type { Task, TaskEvent, TaskMessage, TaskState } from '../../tasks/task.ts'
import type { Dialect } from './dialect.ts'
import type { StreamEvent, TaskView } from './model.ts'

/** Whether nothing more happens before the client does something: the task has ended, or waits for it. */
export function isSettled(state: TaskState): boolean {
  return isInterrupted(state) || isTerminal(state)
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

/** What is told of a task while it is known. */
export type ToldEvent = Exclude<TaskEvent, { readonly what: 'forgotten' }>

/** An event of a task, as its streams and webhooks tell it. */
export function eventOf(
  event: ToldEvent, { id: taskId, contextId }: Pick<Task, 'id' | 'contextId'>,
): StreamEvent {
  if (event.what === 'status') {
    const { status } = event
    return { what: 'status', taskId, contextId, status, isLast: isSettled(status.state) }
  }
  const { artifact, append, last } = event
  return { what: 'artifact', taskId, contextId, artifact, append, last }
}

/** What a webhook is posted for an event, or without one for the task. `task` is as it stands after it. */
export function pushBodyOf(dialect: Dialect, task: Task, event?: ToldEvent): string {
  const view = viewOf(task, undefined)
  const said = event === undefined ? { what: 'task', task: view } as const : eventOf(event, task)
  return JSON.stringify(dialect.encodePush(said, view))
}
