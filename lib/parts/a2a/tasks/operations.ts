/**
 * The table of operations. A request and its decoded params go in, a result or a stream of events comes out,
 * in no dialect and no binding. Each throws, or rejects with, a `Fault`. Spec: A2A 1.0 §3.1.
 */
import { isTerminal } from '../../../floors/tasks/task.ts'
import { cancelTaskRun } from '../../../floors/tasks/task-run.ts'
import { timer } from '../../../kernel/util/clock.ts'
import { andThen } from '../../../kernel/util/thenable.ts'
import { signedExtendedCard } from '../card/card-replies.ts'
import { A2aFault } from '../model/faults.ts'
import { wrongField } from '../model/fields.ts'
import { viewOf } from '../model/task-view.ts'
import { pageOfPushConfigs, pushConfigOf, shownPushConfig } from '../push/push-config.ts'
import { checkPush, findTask, isVisible, requirePush } from './request.ts'
import { sendMessage, streamMessage } from './send.ts'
import { subscribe } from './stream.ts'
import type { RunningTask, Task } from '../../../floors/tasks/task.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { ListRequest, TaskPage, TaskRequest, TaskView } from '../model/model.ts'
import type { Push } from '../push/push.ts'
import type { A2aRequest, Operations } from './request.ts'

/** Configurations are reached through their task, and shown without secrets (§3.1.7 to §3.1.10). */
export const operations: Operations = {
  'send': sendMessage,
  'stream': streamMessage,
  'get': (request, { tenant, id, historyLength }) => (
    andThen(findTask(request, tenant, id), (task) => viewOf(task, historyLength))
  ),
  'list': listTasks,
  'cancel': cancelTask,
  'subscribe': subscribe,
  async 'push-create'(request, { tenant, config }) {
    const { push, task } = await hooked(request, tenant, config.taskId)
    const { exchange: { origin }, dialect } = request
    await checkPush(request, push, config, dialect.pushAt.create)
    return shownPushConfig(await push.register(task, config, dialect.name, origin.header('traceparent')))
  },
  async 'push-get'(request, { tenant, taskId, id }) {
    const { push, task } = await hooked(request, tenant, taskId)
    return shownPushConfig(pushConfigOf(await push.configs.of(task), id))
  },
  async 'push-list'(request, { tenant, taskId, pageSize, pageToken }) {
    const { push, task } = await hooked(request, tenant, taskId)
    return pageOfPushConfigs(await push.configs.of(task), pageSize, pageToken)
  },
  async 'push-delete'(request, { tenant, taskId, id }) {
    const { push, task } = await hooked(request, tenant, taskId)
    await push.remove(task, id)
    return undefined
  },
  'extended-card': signedExtendedCard,
}

/** What posts to webhooks, and the task that one is about. Rejects where either is missing. */
async function hooked(
  request: A2aRequest, tenant: string | undefined, taskId: string,
): Promise<{ readonly push: Push; readonly task: Task }> {
  return { push: requirePush(request), task: await findTask(request, tenant, taskId) }
}

/** How long a page may be followed by the next, in milliseconds. */
const CURSOR_MS = 24 * 60 * 60_000

/** Where a page ended. The next begins behind its time and id, so that it may be gone by then. */
interface Cursor { readonly at: string; readonly id: string }

/** One page of the caller's tasks, the one whose status changed last first. Spec: A2A 1.0 §3.1.4. */
function listTasks(request: A2aRequest, params: ListRequest): MaybePromise<TaskPage> {
  const { context: { tasks }, exchange: { origin: { principal } } } = request
  const after = params.pageToken === '' ? undefined : openCursor(request, params.pageToken)
  return andThen(tasks.list(principal.id), (all) => page(request, params, all, after))
}

function page(
  request: A2aRequest, params: ListRequest, all: readonly Task[], after: Cursor | undefined,
): TaskPage {
  const { pageSize, historyLength, withArtifacts } = params
  const shown: Task[] = []
  let totalSize = 0
  let isMore = false
  let isPast = after === undefined
  for (const listed of all) {
    if (!isWanted(request, params, listed)) continue
    totalSize += 1
    if (isMore) continue
    isPast ||= after !== undefined && isBehind(listed, after)
    if (!isPast) continue
    if (shown.length < pageSize) shown.push(listed)
    else isMore = true
  }
  const last = shown.at(-1)
  return {
    tasks: shown.map((task) => viewOf(task, historyLength, withArtifacts)),
    nextPageToken: isMore && last !== undefined ? sealCursor(request, last) : '',
    pageSize,
    totalSize,
  }
}

function isWanted(request: A2aRequest, params: ListRequest, task: Task): boolean {
  const { tenant, contextId, state, changedSince } = params
  return isVisible(request, tenant, task)
    && (contextId === undefined || task.contextId === contextId)
    && (state === undefined || task.status.state === state)
    && (changedSince === undefined || task.status.at >= changedSince)
}

function isBehind({ id, status: { at } }: Task, cursor: Cursor): boolean {
  return at === cursor.at ? id < cursor.id : at < cursor.at
}

function sealCursor({ context, exchange: { origin } }: A2aRequest, { id, status: { at } }: Task): string {
  return context.seal.seal('a2a-tasks', [origin.principal.id, at, id], Date.now() + CURSOR_MS)
}

function openCursor({ context, exchange: { origin } }: A2aRequest, token: string): Cursor {
  const opened = context.seal.open('a2a-tasks', token)
  const [owner, at, id]: readonly unknown[] = Array.isArray(opened) ? opened : []
  if (owner === origin.principal.id && typeof at === 'string' && typeof id === 'string') return { at, id }
  throw wrongField('params', 'pageToken', 'must be the nextPageToken of a page before it')
}

/**
 * Cancels a task, and waits a little for its handler to end. A task that is canceled stays so; any other that
 * has ended cannot be canceled. Spec: A2A 1.0 §3.1.5.
 */
async function cancelTask(request: A2aRequest, { tenant, id }: TaskRequest): Promise<TaskView> {
  const { service, tasks, limits } = request.context
  const task = await findTask(request, tenant, id)
  checkNoOtherEnd(task)
  if (task.status.state === 'canceled') return viewOf(task, undefined)
  const run = tasks.runOf(id)
  await cancelTaskRun(service, task)
  if (run !== undefined) await endOf(run, limits.cancelWaitMs)
  const now = await findTask(request, tenant, id)
  // It may have ended before its process got this.
  if (run === undefined) checkNoOtherEnd(now)
  return viewOf(now, undefined)
}

/** Throws where the task has ended, and was not canceled. */
function checkNoOtherEnd({ status: { state } }: Task): void {
  if (state === 'canceled' || !isTerminal(state)) return
  throw new A2aFault('TASK_NOT_CANCELABLE', `The task is ${state} already`)
}

/** Resolves when the handler has come to its end, or `waitMs` are over. */
function endOf(run: RunningTask, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const running = timer(waitMs, resolve)
    run.onSettled(() => {
      clearTimeout(running)
      resolve()
    })
  })
}
