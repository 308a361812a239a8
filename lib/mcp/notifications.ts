/**
 * Who is told when the catalog changes: sessions by their open stream, and those who listen
 * (`subscriptions/listen`). Several changes of one list in one request of the event loop are one notice.
 */
import { isRecord } from '../core/content.ts'
import { Fault } from '../core/fault.ts'
import { formatNotification, formatResult } from '../wire/jsonrpc.ts'
import { MAX_SUBSCRIPTIONS } from './session.ts'
import { follow, taskIdsIn } from './tasks.ts'
import { META } from './request.ts'
import type { CatalogChange } from '../core/catalog.ts'
import type { ServedKind } from '../core/define.ts'
import type { McpContext } from './context.ts'
import type { Following } from './tasks.ts'
import type { McpRequest } from './request.ts'

/** Lists that clients are told of. */
type List = 'tools' | 'prompts' | 'resources'

const listOf: Readonly<Record<ServedKind, List>> = {
  'agent': 'tools', 'group': 'tools', 'tool': 'tools', 'prompt': 'prompts',
  'resource': 'resources', 'resource-template': 'resources',
}

/** One who listens. */
interface Listener {
  readonly request: McpRequest
  readonly lists: ReadonlySet<List>
  readonly uris: ReadonlySet<string>
  readonly tasks: Following | undefined
}

/** Streams that one server keeps open for those who listen. */
const MAX_LISTENERS = 10_000

/** All who listen to one server. */
export class Notifications {
  readonly #mcp: McpContext
  readonly #listeners = new Set<Listener>()
  readonly #changed = new Set<List>()

  constructor(mcp: McpContext) {
    this.#mcp = mcp
    mcp.service.catalog.onChange((change) => this.#note(change))
  }

  add(listener: Listener): void {
    if (this.#listeners.size >= MAX_LISTENERS) {
      throw new Fault('busy', 'Too many clients are listening; try again later')
    }
    this.#listeners.add(listener)
  }

  remove(request: McpRequest): void {
    for (const listener of this.#listeners) {
      if (listener.request !== request) continue
      listener.tasks?.stop()
      this.#listeners.delete(listener)
    }
  }

  /** Ends all subscriptions in their own form. */
  close(): void {
    for (const { request, tasks } of this.#listeners) {
      tasks?.stop()
      request.channel.finish(formatResult(request.id, JSON.stringify({
        resultType: 'complete', _meta: { ...request.stamp, ...mark(request) },
      })))
      // Where no stream ends with it, as on stdio, the specification wants to hear it once more.
      const params = { requestId: request.id, _meta: mark(request) }
      request.channel.send(formatNotification('notifications/cancelled', JSON.stringify(params)))
    }
    this.#listeners.clear()
  }

  #note(change: CatalogChange): void {
    if (change.change === 'updated') return this.#updated(change.name)
    const list = listOf[change.kind]
    if (this.#changed.size === 0) setImmediate(() => this.#tell())
    this.#changed.add(list)
  }

  #tell(): void {
    const lists = [...this.#changed]
    this.#changed.clear()
    for (const list of lists) {
      const method = `notifications/${list}/list_changed`
      const plain = formatNotification(method)
      for (const session of this.#mcp.sessions.all) session.outlet?.(plain)
      for (const listener of this.#listeners) if (listener.lists.has(list)) notify(listener, method, {})
    }
  }

  #updated(uri: string): void {
    const method = 'notifications/resources/updated'
    const plain = formatNotification(method, JSON.stringify({ uri }))
    for (const session of this.#mcp.sessions.all) {
      if (isWatched(session.subscriptions, uri)) session.outlet?.(plain)
    }
    for (const listener of this.#listeners) {
      if (isWatched(listener.uris, uri)) notify(listener, method, { uri })
    }
  }
}

/** The address itself, or one below it. */
function isWatched(uris: ReadonlySet<string>, uri: string): boolean {
  if (uris.has(uri)) return true
  for (const watched of uris) if (uri.startsWith(watched.endsWith('/') ? watched : `${watched}/`)) return true
  return false
}

function notify({ request }: Listener, method: string, params: object): void {
  request.channel.send(formatNotification(method, JSON.stringify({ ...params, _meta: mark(request) })))
}

// The id keeps its type: clients compare it with the one they sent.
function mark(request: McpRequest): object {
  return { [`${META}subscriptionId`]: request.id }
}

/** `subscriptions/listen`: acknowledges what it will tell, and goes on telling until the client leaves. */
export function listen(request: McpRequest): undefined | Promise<undefined> {
  const { notifications } = request.params
  if (!isRecord(notifications)) throw new Fault('invalid', 'params.notifications must be an object')
  const honoured: Record<string, unknown> = {}
  const lists = new Set<List>()
  for (const list of ['tools', 'prompts', 'resources'] as const) {
    const wanted = notifications[`${list}ListChanged`]
    if (wanted !== undefined && typeof wanted !== 'boolean') {
      throw new Fault('invalid', `params.notifications.${list}ListChanged must be true or false`)
    }
    if (wanted !== true || !offers(request, list)) continue
    lists.add(list)
    honoured[`${list}ListChanged`] = true
  }
  const uris = urisIn(notifications['resourceSubscriptions'])
  if (uris !== undefined && offers(request, 'resources')) honoured['resourceSubscriptions'] = uris
  const taskIds = taskIdsIn(request, notifications['taskIds'])
  if (!request.channel.sends) {
    throw new Fault('unsupported', 'A subscription is an event stream; accept text/event-stream')
  }
  const begin = (tasks?: Following): undefined => {
    if (request.isGone) return void request.channel.abandon()
    const listener = { request, lists, uris: new Set(uris), tasks }
    request.mcp.notifications.add(listener)
    if (tasks !== undefined) honoured['taskIds'] = tasks.ids
    request.channel.send(formatNotification('notifications/subscriptions/acknowledged', JSON.stringify({
      notifications: honoured, _meta: mark(request),
    })))
    tasks?.begin((task) => notify(listener, 'notifications/tasks', task))
  }
  return taskIds === undefined ? begin() : follow(request, taskIds).then(begin)
}

function offers({ mcp }: McpRequest, list: List): boolean {
  return list === 'tools' || mcp.service.catalog.offers(list === 'prompts' ? 'prompt' : 'resource')
}

function urisIn(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined
  const isList = Array.isArray(value) && value.length <= MAX_SUBSCRIPTIONS
  if (isList && value.every((uri) => typeof uri === 'string')) return value
  const what = 'params.notifications.resourceSubscriptions'
  throw new Fault('invalid', `${what} must be at most ${MAX_SUBSCRIPTIONS} strings`)
}
