/**
 * The end of a task that its client no longer wants: the handler's signal aborts, and whatever it still says
 * is dropped. The answer waits a little for the handler to come to its end.
 * Spec: A2A 1.0 §3.1.5.
 */
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { isTerminal } from '../../tasks/task.ts'
import { isThenable } from '../../util/thenable.ts'
import { A2aFault } from '../model/faults.ts'
import { findTask } from './find-task.ts'
import { viewOf } from '../model/task-view.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { RunningTask, Task } from '../../tasks/task.ts'
import type { TaskRequest, TaskView } from '../model/model.ts'
import type { A2aRequest } from './request.ts'

/** How often a task is read again that another process changes at the same time. */
const MAX_TRIES = 5

/** Cancels a task. One that is canceled stays so; any other that has ended cannot be canceled. */
export function requestCancel(visit: A2aRequest, request: TaskRequest): MaybePromise<TaskView> {
  return cancel(visit, request, MAX_TRIES)
}

function cancel(visit: A2aRequest, request: TaskRequest, tries: number): MaybePromise<TaskView> {
  const found = findTask(visit, request.tenant, request.id)
  return isThenable(found) ? found.then((task) => end(visit, request, task, tries))
    : end(visit, request, found, tries)
}

function end(visit: A2aRequest, request: TaskRequest, task: Task, tries: number): MaybePromise<TaskView> {
  const { service } = visit
  const { tasks, limits } = service
  const { id, status: { state } } = task
  if (state === 'canceled') return viewOf(task, undefined)
  if (isTerminal(state)) throw new A2aFault('TASK_NOT_CANCELABLE', `The task is ${state} already`)
  const run = tasks.runOf(id)
  if (run !== undefined) {
    run.cancel()
    return endOf(run, limits.cancelWaitMs).then(() => shown(visit, request))
  }
  const { remoteTasks, recovery } = service.shared ?? {}
  if (remoteTasks?.nodeOf(task) !== undefined) {
    // It may have ended before its process heard of this.
    return remoteTasks.cancel(task).then(() => cancelAgain(visit, request, tries))
  }
  const done = (): MaybePromise<TaskView> => {
    if (tasks.isCurrent(task)) tasks.move(id, 'canceled', { questions: [] })
    return cancelAgain(visit, request, tries)
  }
  const taken = tasks.take(task)
  return isThenable(taken) ? taken.then(() => recovery?.taken(task)).then(done) : done()
}

/** What came of it: one that another process has changed meanwhile is not canceled yet. */
function cancelAgain(visit: A2aRequest, request: TaskRequest, tries: number): MaybePromise<TaskView> {
  if (tries > 1) return cancel(visit, request, tries - 1)
  throw new A2aFault('UNSUPPORTED_OPERATION', 'The task changes all the time; cancel it again later')
}

function shown(visit: A2aRequest, { tenant, id }: TaskRequest): MaybePromise<TaskView> {
  const task = findTask(visit, tenant, id)
  return isThenable(task) ? task.then((one) => viewOf(one, undefined)) : viewOf(task, undefined)
}

/** Resolves when the handler has come to its end, or `waitMs` are over. */
function endOf(run: RunningTask, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = waitMs > MAX_TIMER_MS ? undefined : setTimeout(resolve, waitMs)
    run.onSettled(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
