/**
 * `subscriptions/listen`: acknowledges what it will notify the client of, and goes on until the client leaves
 * or the server ends it. Spec: MCP 2026-07-28, Subscriptions; SEP-2663, `notifications/tasks`.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { requireScopes } from '../../../kernel/define/principal.ts'
import { locateResource } from '../../../kernel/run/located-resource.ts'
import { isName, MAX_NAME_BYTES } from '../../../kernel/wire/bounded.ts'
import { formatJson, isStrings } from '../../../kernel/wire/json.ts'
import { formatNotification, formatResult } from '../../../kernel/wire/jsonrpc.ts'
import { normalAddress } from '../../../kernel/wire/uri.ts'
import { META } from '../protocol/revisions.ts'
import { MAX_ADDRESSES_BYTES, MAX_SUBSCRIPTIONS } from '../session/session.ts'
import { shapeOf } from '../../mcp-tasks/task-extension.ts'
import { isOurs, observeTask } from '../../mcp-tasks/mcp-task.ts'
import { requireTasks } from '../../mcp-tasks/wanted-task.ts'
import type { Subscriber, ListName } from '../session/notifications.ts'
import type { McpRequest } from '../request/request.ts'
import type { Task } from '../../../floors/tasks/task.ts'

/** The method. It sends its answer itself, at its end. */
export function listen(request: McpRequest): undefined | Promise<undefined> {
  const { notifications } = request.params
  if (!isRecord(notifications)) throw new Fault('invalid', 'params.notifications must be an object')
  const honoured: Record<string, unknown> = {}
  const lists = new Set<ListName>()
  for (const list of ['tools', 'prompts', 'resources'] as const) {
    const wanted = notifications[`${list}ListChanged`]
    if (wanted !== undefined && typeof wanted !== 'boolean') {
      throw new Fault('invalid', `params.notifications.${list}ListChanged must be true or false`)
    }
    if (wanted !== true || !offers(request, list)) continue
    lists.add(list)
    honoured[`${list}ListChanged`] = true
  }
  const uris = urisIn(request, notifications['resourceSubscriptions'])
  if (uris !== undefined && offers(request, 'resources')) honoured['resourceSubscriptions'] = uris
  const taskIds = taskIdsIn(request, notifications['taskIds'])
  const begin = (tasks?: readonly Task[]): undefined => {
    if (tasks !== undefined) honoured['taskIds'] = tasks.map(({ id }) => id)
    subscribe(request, lists, new Set(uris?.map(normalAddress)), honoured, tasks ?? [])
  }
  return taskIds === undefined ? begin() : tasksOf(request, taskIds).then(begin)
}

/** `tasks`: those whose changes the client listens to. */
function subscribe(
  request: McpRequest, lists: Subscriber['lists'], uris: Subscriber['uris'],
  honoured: Readonly<Record<string, unknown>>, tasks: readonly Task[],
): void {
  const { mcp, channel, id, origin, stamp } = request
  if (request.isGone) return channel.abandon()
  // The id keeps its type: clients compare it with the one they sent.
  const mark = { [`${META}subscriptionId`]: id }
  const stops: (() => void)[] = []
  let isOver = false
  const stop = (): void => {
    isOver = true
    for (const end of stops) end()
  }
  const subscriber: Subscriber = {
    lists,
    uris,
    taskIds: tasks.map((task) => task.id),
    owner: origin.principal.id,
    // They may change while it listens.
    get scopes() { return origin.principal.scopes },
    notify(method, params) {
      channel.send(formatNotification(method, formatJson({ ...params, _meta: mark })))
    },
    end() {
      stop()
      const result = { resultType: 'complete', _meta: { ...stamp, ...mark } }
      channel.finish(formatResult(id, formatJson(result)))
      // Where no stream ends with it, as on stdio, the specification wants a notification too.
      const params = formatJson({ requestId: id, _meta: mark })
      channel.send(formatNotification('notifications/cancelled', params))
    },
  }
  const remove = mcp.notifications.add(subscriber)
  request.onLeave = () => {
    stop()
    remove()
    channel.abandon()
  }
  subscriber.notify('notifications/subscriptions/acknowledged', { notifications: honoured })
  const notifyTask = (task: Task, isGone: boolean): void => {
    if (isGone || isOver) return
    let shape
    try {
      shape = shapeOf(request, task)
    } catch {
      // Its question is one that this client cannot be asked; the client that began it can.
      return
    }
    subscriber.notify('notifications/tasks', shape)
  }
  for (const task of tasks) stops.push(observeTask(mcp.service, task, notifyTask))
}

/** The wanted tasks that are the client's own, in whichever process they run. */
async function tasksOf(request: McpRequest, wanted: readonly string[]): Promise<readonly Task[]> {
  const { mcp: { service: { tasks } }, origin: { principal } } = request
  return (await Promise.all(wanted.map((id) => tasks.get(principal.id, id)))).filter(isOurs)
}

function offers({ mcp }: McpRequest, list: ListName): boolean {
  return list === 'tools' || mcp.service.catalog.offers(list === 'prompts' ? 'prompt' : 'resource')
}

/** The resources to watch. Throws where they are too many, or the client may not read one. */
function urisIn({ mcp, origin }: McpRequest, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined
  const what = 'params.notifications.resourceSubscriptions'
  if (!isStrings(value) || value.length > MAX_SUBSCRIPTIONS) {
    throw new Fault('invalid', `${what} must be at most ${MAX_SUBSCRIPTIONS} strings`)
  }
  let bytes = 0
  for (const uri of value) {
    bytes += Buffer.byteLength(uri)
    if (!isName(uri) || bytes > MAX_ADDRESSES_BYTES) {
      throw new Fault('too-large', `${what}: an address may have ${MAX_NAME_BYTES} bytes, `
        + `all together ${MAX_ADDRESSES_BYTES}`)
    }
    requireScopes(origin, locateResource(mcp.service.catalog, uri)?.scopes ?? [])
  }
  return value
}

/** The ids in `notifications.taskIds`; undefined where there are none. */
function taskIdsIn(request: McpRequest, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined
  requireTasks(request)
  if (!Array.isArray(value) || value.length > MAX_SUBSCRIPTIONS || !value.every(isName)) {
    const rule = `must be at most ${MAX_SUBSCRIPTIONS} strings of ${MAX_NAME_BYTES} bytes`
    throw new Fault('invalid', `params.notifications.taskIds ${rule}`)
  }
  return [...new Set(value)]
}
