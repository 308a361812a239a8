/**
 * What is posted: an event of a task, or the task as it stands, as a dialect spells it.
 */
import { isFinished } from '../core/task.ts'
import type { Task, TaskEvent } from '../core/task.ts'
import type { Dialect } from './dialect.ts'
import type { StreamEvent, TaskView } from './model.ts'

/** What is told of a task while it is known. */
export type ToldEvent = Exclude<TaskEvent, { readonly what: 'forgotten' }>

/** The body for an event; without one, for the task. `task` is as it stands after the event. */
export function pushBodyOf(dialect: Dialect, task: Task, event: ToldEvent | undefined): string {
  const { id, contextId, status, artifacts, history } = task
  const view: TaskView = { id, contextId, status, artifacts, history, metadata: undefined }
  const said: StreamEvent = event === undefined ? { what: 'task', task: view } : eventOf(event, task)
  return JSON.stringify(dialect.encodePush(said, view))
}

function eventOf(event: ToldEvent, { id: taskId, contextId }: Task): StreamEvent {
  if (event.what === 'artifact') return { ...event, taskId, contextId }
  return { what: 'status', taskId, contextId, status: event.status, isLast: isFinished(event.status.state) }
}
