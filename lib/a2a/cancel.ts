/**
 * The end of a task that its client no longer wants: the handler's signal aborts, and whatever it still says
 * is dropped. The answer waits a little for the handler to come to its end.
 * Spec: A2A 1.0 §3.1.5.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isFinished } from '../core/task.ts'
import { A2aFault } from './faults.ts'
import { findTask, viewOf } from './task-view.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Task } from '../core/task.ts'
import type { TaskRequest, TaskView } from './model.ts'
import type { Visit } from './visit.ts'

/** Cancels a task. One that is canceled stays so; any other that has ended cannot be canceled. */
export function requestCancel(visit: Visit, { tenant, id }: TaskRequest): MaybePromise<TaskView> {
  const found = findTask(visit, tenant, id)
  return found instanceof Promise ? found.then((task) => end(visit, task)) : end(visit, found)
}

function end(visit: Visit, { owner, id, status: { state } }: Task): MaybePromise<TaskView> {
  const { service: { tasks, limits } } = visit
  if (isFinished(state) && state !== 'canceled') {
    throw new A2aFault('TASK_NOT_CANCELABLE', `The task is ${state} already`)
  }
  const run = tasks.runOf(id)
  if (run === undefined) tasks.move(id, 'canceled', { questions: [] })
  else run.cancel()
  const shown = (): MaybePromise<TaskView> => {
    const task = tasks.get(owner, id)
    return task instanceof Promise ? task.then((one) => viewOf(one!, undefined)) : viewOf(task!, undefined)
  }
  const settled = run?.settled
  if (settled === undefined) return shown()
  return Promise.race([settled, sleep(limits.cancelWaitMs, undefined, { ref: false })]).then(shown)
}
