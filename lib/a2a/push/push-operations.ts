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
export interface PushRequestContext {
  readonly dialect: Dialect
  /** Without `push` this server posts to no webhooks. */
  readonly push?: PushDeliveries | undefined
  readonly exchange: { readonly origin: Pick<Origin, 'caller' | 'principal'> }
}

/** The caller's task of that id. Throws, or rejects with, `TASK_NOT_FOUND`. */
export type TaskOf<Context> = (
  context: Context, tenant: string | undefined, taskId: string,
) => MaybePromise<Task>

/** The four operations. */
export interface PushOperations<Context> {
  'push-create'(context: Context, request: PushCreateRequest): Promise<PushConfig>
  'push-get'(context: Context, request: PushRequest): Promise<PushConfig>
  'push-list'(context: Context, request: PushListRequest): Promise<PushPage>
  'push-delete'(context: Context, request: PushRequest): Promise<undefined>
}

/** Makes them, with what finds the tasks of a caller. */
export function pushOperations<Context extends PushRequestContext>(
  taskOf: TaskOf<Context>,
): PushOperations<Context> {
  const configsOf = async (
    context: Context, { tenant, taskId }: PushListRequest | PushRequest,
  ): Promise<readonly KeptPushConfig[]> => {
    const push = requirePush(context)
    return push.configs.of(await taskOf(context, tenant, taskId))
  }

  return {
    async 'push-create'(context, { tenant, config }) {
      const push = requirePush(context)
      const task = await taskOf(context, tenant, config.taskId)
      checkPushConfig(config)
      await push.checkUrl(config.url, callerOf(context.exchange.origin))
      return shownPushConfig(await push.register(task, config, context.dialect.name))
    },
    async 'push-get'(context, request) {
      return shownPushConfig(pushConfigOf(await configsOf(context, request), request.id))
    },
    async 'push-list'(context, request) {
      return pageOfPushConfigs(await configsOf(context, request), request.pageSize, request.pageToken)
    },
    async 'push-delete'(context, { tenant, taskId, id }) {
      const push = requirePush(context)
      await push.remove(await taskOf(context, tenant, taskId), id)
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
  context: PushRequestContext, config: PushConfig, taskId: string | undefined,
): Promise<RegisterPush> {
  const push = requirePush(context)
  const { origin } = context.exchange
  checkPushConfig(config)
  if (taskId !== undefined) {
    await push.configs.requireRoom({ owner: origin.principal.id, id: taskId }, config.id ?? taskId)
  }
  await push.checkUrl(config.url, callerOf(origin))
  return (task) => push.register(task, { ...config, id: config.id ?? task.id }, context.dialect.name)
}

function requirePush({ push }: PushRequestContext): PushDeliveries {
  if (push !== undefined) return push
  throw new A2aFault('PUSH_NOTIFICATION_NOT_SUPPORTED',
    'This server posts to no webhooks; read the task, or subscribe to it')
}
