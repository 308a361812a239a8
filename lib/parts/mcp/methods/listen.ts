/**
 * `subscriptions/listen`: acknowledges what it will notify the client of, and goes on until the client leaves
 * or the server ends it. Spec: MCP 2026-07-28, Subscriptions.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { requireScopes } from '../../../kernel/define/principal.ts'
import { locateResource } from '../../../kernel/run/located-resource.ts'
import { isName, MAX_NAME_BYTES } from '../../../kernel/wire/bounded.ts'
import { isPromised } from '../../../kernel/util/thenable.ts'
import { formatJson, isStrings } from '../../../kernel/wire/json.ts'
import { formatNotification, formatResult } from '../../../floors/jsonrpc/jsonrpc.ts'
import { normalAddress } from '../../../kernel/wire/uri.ts'
import { META } from '../protocol/revisions.ts'
import { MAX_ADDRESSES_BYTES, MAX_SUBSCRIPTIONS } from '../session/session.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Subscriber, ListName } from '../session/notifications.ts'
import type { McpRequest } from '../request/request.ts'
import type { Follow, Followed } from './extension.ts'

/** The method. It sends its answer itself, at its end. */
export function listen(follows: readonly Follow[], request: McpRequest): MaybePromise<undefined> {
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
  const begin = (all: readonly (Followed | undefined)[]): undefined => {
    const followed = all.filter((one) => one !== undefined)
    for (const { member, ids } of followed) honoured[member] = ids
    subscribe(request, lists, new Set(uris?.map(normalAddress)), honoured, followed)
  }
  const wanted = follows.map((follow) => follow(request, notifications))
  const known = wanted.flatMap((one) => isPromised(one) ? [] : [one])
  return known.length === wanted.length ? begin(known) : Promise.all(wanted).then(begin)
}

/** `followed`: what the client listens to besides lists and resources. */
function subscribe(
  request: McpRequest, lists: Subscriber['lists'], uris: Subscriber['uris'],
  honoured: Readonly<Record<string, unknown>>, followed: readonly Followed[],
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
    followed: followed.flatMap(({ ids }) => ids),
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
  const notify: Subscriber['notify'] = (method, params) => {
    if (!isOver) subscriber.notify(method, params)
  }
  for (const { follow } of followed) stops.push(follow(notify))
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
