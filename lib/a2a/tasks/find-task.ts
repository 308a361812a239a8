/**
 * Whose a task is: a principal's, a tenant's and an agent's. For everybody else it does not exist.
 */
import { andThen } from '../../util/thenable.ts'
import { A2aFault } from '../model/faults.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Task } from '../../tasks/task.ts'
import type { A2aRequest } from './request.ts'

type Visible = Pick<Task, 'protocol' | 'runnable' | 'tenant' | 'isReserved'>

/** Whether a task is the visitor's to see. */
export function isVisible({ agent }: A2aRequest, tenant: string | undefined, task: Visible): boolean {
  return task.protocol === 'a2a' && task.runnable.name === agent.id && task.tenant === tenant
    && task.isReserved !== true
}

/** The visitor's task. Throws, or rejects with, `TASK_NOT_FOUND` where there is none. */
export function findTask(visit: A2aRequest, tenant: string | undefined, id: string): MaybePromise<Task> {
  const owned = (task: Task | undefined): Task => {
    if (task !== undefined && isVisible(visit, tenant, task)) return task
    const remedy = 'send a message without a taskId to begin one'
    throw new A2aFault('TASK_NOT_FOUND', `There is no such task; ${remedy}`)
  }
  const { service: { tasks }, exchange: { origin: { principal } } } = visit
  const found = tasks.get(principal.id, id)
  return andThen(found, owned)
}
