/**
 * What is posted: an event of a task, or the task as it stands, as a dialect spells it.
 */
import { eventOf, viewOf } from './task-view.ts'
import type { Task } from '../core/task.ts'
import type { Dialect } from './dialect.ts'
import type { ToldEvent } from './task-view.ts'

/** The body for an event; without one, for the task. `task` is as it stands after the event. */
export function pushBodyOf(dialect: Dialect, task: Task, event: ToldEvent | undefined): string {
  const view = viewOf(task, undefined)
  const said = event === undefined ? { what: 'task', task: view } as const : eventOf(event, task)
  return JSON.stringify(dialect.encodePush(said, view))
}
