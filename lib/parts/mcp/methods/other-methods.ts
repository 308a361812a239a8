/** Methods beside those of tools: loaded when the first of these is called. */
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { requireScopes } from '../../../kernel/define/principal.ts'
import { locateResource } from '../../../kernel/run/located-resource.ts'
import { complete, getPrompt, readResource, unknownPrompt } from '../../../kernel/run/reading.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { isName, MAX_NAME_BYTES, sentenceWithin } from '../../../kernel/wire/bounded.ts'
import { formatJson, isStrings } from '../../../kernel/wire/json.ts'
import { normalAddress } from '../../../kernel/wire/uri.ts'
import { formatNotification, formatResult } from '../../../floors/jsonrpc/jsonrpc.ts'
import { openCall } from '../request/call-channel.ts'
import { cacheHints } from '../request/lists.ts'
import { nameParam } from '../request/request.ts'
import { META } from '../protocol/revisions.ts'
import { promptResult } from '../protocol/shape.ts'
import { MAX_ADDRESSES_BYTES, MAX_SUBSCRIPTIONS } from '../session/session.ts'
import type { Catalog } from '../../../kernel/define/catalog.ts'
import type { Prompt } from '../../../kernel/define/prompt.ts'
import type { Resource, ResourceTemplate } from '../../../kernel/define/resource.ts'
import type { McpRequest } from '../request/request.ts'
import type { ListName, Subscriber } from '../session/notifications.ts'
import type { Follow, Followed, McpResult } from './extension.ts'

/** `resources/read`. */
export function readMethod(request: McpRequest): McpResult {
  const uri = nameParam(request, 'uri')
  const { mcp, peer } = request
  const call = openCall(request, ['resources/read', uri])
  const cache = cacheHints(request)
  const missing = (error: unknown): never => {
    // A handler's own fault gets the address too.
    if (error instanceof Fault && error.kind === 'not-found') {
      const detail = { ...isRecord(error.detail) && error.detail, uri: sentenceWithin(uri) }
      throw new Fault('not-found', error.message, detail)
    }
    throw error
  }
  try {
    const contents = readResource(mcp.service, uri, call, peer.session?.workload)
    if (!isThenable(contents)) return { contents, ...cache }
    return contents.then((later) => ({ contents: later, ...cache }), missing)
  } catch (error) {
    return missing(error)
  }
}

/** `prompts/get`. */
export function promptMethod(request: McpRequest): McpResult {
  const name = nameParam(request, 'name')
  const { mcp, params: { arguments: args = {} }, peer: { revision, session } } = request
  const call = openCall(request, ['prompts/get', name, args])
  const result = getPrompt(mcp.service, name, args, call, session?.workload)
  return andThen(result, (prompt) => promptResult(prompt, revision))
}

/** `completion/complete`. */
export function completionMethod(request: McpRequest): McpResult {
  const { mcp: { service }, params: { ref, argument, context }, peer: { session } } = request
  const { name, value } = isRecord(argument) ? argument : {}
  if (!isName(name) || !isName(value)) {
    throw new Fault('invalid', `'argument' must be an object with the strings 'name' and 'value'`)
  }
  const settled = isRecord(context) ? context['arguments'] : context
  const thing = completable(service.catalog, ref)
  const result = complete(service, thing, name, value, settled, openCall(request), session?.workload)
  return andThen(result, (completion) => ({ completion }))
}

/** What a reference names: a prompt by its name, a template by its own text, or a fixed resource. */
function completable(catalog: Catalog, ref: unknown): Prompt | Resource | ResourceTemplate {
  const { type, name, uri } = isRecord(ref) ? ref : {}
  if (type === 'ref/prompt' && isName(name)) {
    const prompt = catalog.prompt(name)
    if (prompt === undefined) throw unknownPrompt(name)
    return prompt
  }
  if (type === 'ref/resource' && isName(uri)) {
    const thing = catalog.template(uri) ?? catalog.resource(uri)
    if (thing === undefined) throw new Fault('invalid', `Unknown resource template: ${uri}`)
    return thing
  }
  throw new Fault('invalid', `'ref' must be { type: 'ref/prompt', name } or { type: 'ref/resource', uri }`)
}

/**
 * `subscriptions/listen`: acknowledges what it will notify the client of, and goes on until the client leaves
 * or the server ends it; only then it is answered. Spec: MCP 2026-07-28, Subscriptions.
 */
export async function listen(follows: readonly Follow[], request: McpRequest): Promise<undefined> {
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
  const wanted = await Promise.all(follows.map((follow) => follow(request, notifications)))
  const followed = wanted.filter((one) => one !== undefined)
  for (const { member, ids } of followed) honoured[member] = ids
  subscribe(request, lists, new Set(uris?.map(normalAddress)), honoured, followed)
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
