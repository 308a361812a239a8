/**
 * The operations on push configurations, and the one that a message carries. A configuration is reached
 * through its task alone: what is not the caller's does not exist. Spec: A2A 1.0 §3.1.7 to §3.1.10.
 */
import { callerOf } from '../../define/call.ts'
import { A2aFault } from '../model/faults.ts'
import { checkPushConfig, pageOfPushConfigs, pushConfigOf, shownPushConfig } from '../push/push-config.ts'
import { findTask } from './request.ts'
import type { Task } from '../../tasks/task.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { PushConfig } from '../model/model.ts'
import type { KeptPushConfig } from '../push/push-config.ts'
import type { PushDeliveries } from '../push/push-delivery.ts'
import type { A2aRequest, Operations } from './request.ts'

/** The four operations. */
export const pushOperations: Operations = {
  async 'push-create'(request, { tenant, config }) {
    const push = requirePush(request)
    const task = await findTask(request, tenant, config.taskId)
    checkPushConfig(config)
    await push.checkUrl(config.url, callerOf(request.exchange.origin))
    return shownPushConfig(await push.register(task, config, request.dialect.name))
  },
  async 'push-get'(request, { tenant, taskId, id }) {
    return shownPushConfig(pushConfigOf(await configsOf(request, tenant, taskId), id))
  },
  async 'push-list'(request, { tenant, taskId, pageSize, pageToken }) {
    return pageOfPushConfigs(await configsOf(request, tenant, taskId), pageSize, pageToken)
  },
  async 'push-delete'(request, { tenant, taskId, id }) {
    const push = requirePush(request)
    await push.remove(await findTask(request, tenant, taskId), id)
    return undefined
  },
}

async function configsOf(
  request: A2aRequest, tenant: string | undefined, taskId: string,
): Promise<readonly KeptPushConfig[]> {
  const push = requirePush(request)
  return push.configs.of(await findTask(request, tenant, taskId))
}

/**
 * Checks the configuration that a message carries, before anything runs for it; `taskId`: the task that it
 * goes on with. Resolves to what registers it once there is a task; without an id it gets that of the task,
 * so that each message of a task may carry it. Rejects as `push-create` does.
 */
export async function preparePush(
  request: A2aRequest, config: PushConfig, taskId: string | undefined,
): Promise<(task: Task) => MaybePromise<unknown>> {
  const push = requirePush(request)
  const { dialect, exchange: { origin } } = request
  checkPushConfig(config)
  if (taskId !== undefined) {
    await push.configs.requireRoom({ owner: origin.principal.id, id: taskId }, config.id ?? taskId)
  }
  await push.checkUrl(config.url, callerOf(origin))
  return (task) => push.register(task, { ...config, id: config.id ?? task.id }, dialect.name)
}

function requirePush({ push }: A2aRequest): PushDeliveries {
  if (push !== undefined) return push
  throw new A2aFault('PUSH_NOTIFICATION_NOT_SUPPORTED',
    'This server posts to no webhooks; read the task, or subscribe to it')
}
