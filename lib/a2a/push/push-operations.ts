/**
 * The operations on push configurations, and what a message does that carries one. A configuration is
 * reached through its task alone, which is looked up for the caller first: of what is not the caller's,
 * nothing is to be found out. Spec: A2A 1.0 §3.1.7 to §3.1.10.
 */
import { callerOf } from '../../define/call.ts'
import { A2aFault } from '../model/faults.ts'
import { checkPushConfig, pageOfPushConfigs, pushConfigOf, shownPushConfig } from './push-config.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Origin } from '../../define/call.ts'
import type { Task } from '../../tasks/task.ts'
import type { Dialect } from '../model/dialect.ts'
import type { PushConfig, PushCreateRequest, PushListRequest, PushPage, PushRequest } from '../model/model.ts'
import type { KeptPushConfig } from './push-config.ts'
import type { PushDeliveries } from './push-delivery.ts'

/** What these need to know of a request. */
export interface PushVisit {
  readonly dialect: Dialect
  /** Without `push` this server posts to no webhooks. */
  readonly push?: PushDeliveries | undefined
  readonly exchange: { readonly origin: Pick<Origin, 'caller' | 'principal'> }
}

/** The caller's task of that id. Throws, or rejects with, `TASK_NOT_FOUND`. */
export type TaskOf<Visit> = (visit: Visit, tenant: string | undefined, taskId: string) => MaybePromise<Task>

/** The four operations. */
export interface PushOperations<Visit> {
  'push-create'(visit: Visit, request: PushCreateRequest): Promise<PushConfig>
  'push-get'(visit: Visit, request: PushRequest): Promise<PushConfig>
  'push-list'(visit: Visit, request: PushListRequest): Promise<PushPage>
  'push-delete'(visit: Visit, request: PushRequest): Promise<undefined>
}

/** Makes them, with what finds the tasks of a caller. */
export function pushOperations<Visit extends PushVisit>(taskOf: TaskOf<Visit>): PushOperations<Visit> {
  const configsOf = async (
    visit: Visit, { tenant, taskId }: PushListRequest | PushRequest,
  ): Promise<readonly KeptPushConfig[]> => {
    const push = requirePush(visit)
    return push.configs.of(await taskOf(visit, tenant, taskId))
  }

  return {
    async 'push-create'(visit, { tenant, config }) {
      const push = requirePush(visit)
      const task = await taskOf(visit, tenant, config.taskId)
      checkPushConfig(config)
      await push.checkUrl(config.url, callerOf(visit.exchange.origin))
      return shownPushConfig(await push.register(task, config, visit.dialect.name))
    },
    async 'push-get'(visit, request) {
      return shownPushConfig(pushConfigOf(await configsOf(visit, request), request.id))
    },
    async 'push-list'(visit, request) {
      return pageOfPushConfigs(await configsOf(visit, request), request.pageSize, request.pageToken)
    },
    async 'push-delete'(visit, { tenant, taskId, id }) {
      const push = requirePush(visit)
      await push.remove(await taskOf(visit, tenant, taskId), id)
      return undefined
    },
  }
}

/** Registers what a message carried, for the task that came of it. */
export type RegisterPush = (task: Task) => MaybePromise<unknown>

/**
 * Checks the configuration that a message carries, before anything runs for it; `taskId`: the task that it
 * goes on with. Resolves to what registers it once there is a task; without an id it gets that of the task,
 * so that each message of a task may carry it. Rejects as `push-create` does.
 */
export async function preparePush(
  visit: PushVisit, config: PushConfig, taskId: string | undefined,
): Promise<RegisterPush> {
  const push = requirePush(visit)
  const { origin } = visit.exchange
  checkPushConfig(config)
  if (taskId !== undefined) {
    await push.configs.requireRoom({ owner: origin.principal.id, id: taskId }, config.id ?? taskId)
  }
  await push.checkUrl(config.url, callerOf(origin))
  return (task) => push.register(task, { ...config, id: config.id ?? task.id }, visit.dialect.name)
}

function requirePush({ push }: PushVisit): PushDeliveries {
  if (push !== undefined) return push
  throw new A2aFault('PUSH_NOTIFICATION_NOT_SUPPORTED',
    'This server posts to no webhooks; read the task, or subscribe to it')
}
