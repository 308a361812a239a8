/**
 * The methods that clients call, as one table: a message and its peer in, the answer to a channel.
 * Spec of skills: https://modelcontextprotocol.io/seps/2640-skills-extension.
 */
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { skillEntry, uriOf } from '../../define/files/skill.ts'
import { isSeverity } from '../../define/log.ts'
import { allowed, hasScopes, requireScopes } from '../../define/principal.ts'
import { complete, getPrompt, locateResource, readResource } from '../../run/reading.ts'
import { andThen, isPromised, isThenable } from '../../util/thenable.ts'
import { sentenceWithin } from '../../wire/bounded.ts'
import {
  formatError, formatResult, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, rpcError,
} from '../../wire/jsonrpc.ts'
import { normalUri } from '../../wire/uri.ts'
import { openCall } from '../request/call-channel.ts'
import { listen } from './listen.ts'
import { cacheHints, page, pageOf } from '../request/lists.ts'
import { McpRequest, stringParam } from '../request/request.ts'
import { subscribed } from '../session/session-migration.ts'
import { promptResult, pick } from '../protocol/shape.ts'
import {
  cancelAugmented, getAugmented, listAugmented, resultOfAugmented,
} from '../tasks/task-augmentation.ts'
import { cancelTask, getTask, updateTask, TASKS } from '../tasks/task-extension.ts'
import { callToolMethod } from './tools-call.ts'
import { APPS, decodeAbilities, decodeClient, hasMeta } from '../protocol/client.ts'
import { META, newestNegotiated, revisionByName, revisions } from '../protocol/revisions.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Origin } from '../../define/call.ts'
import type { Offering } from '../../define/catalog.ts'
import type { ResponseChannel, Peer, Handshake, Session } from '../session/session.ts'
import type { McpContext } from '../request/context.ts'
import type { Item } from '../request/lists.ts'
import type { RequestMessage } from '../session/messages.ts'
import type { StateChange } from '../session/session-migration.ts'
import type { Revision } from '../protocol/revisions.ts'

/** A result, its JSON text, or nothing where the method answers by itself. */
type Result = MaybePromise<object | string | undefined>

interface Method {
  run(request: McpRequest): Result
  /** The member of the params that the Mcp-Name header repeats. */
  readonly namedBy?: string
  /** What the server must offer, so that what is advertised and what works agree. Left out: nothing. */
  readonly feature?: Offering | 'tasks' | 'skills'
  /** It answers with a stream only. */
  readonly isStream?: boolean
}

const SKILLS = `${META}skills`
const FOLDER_TYPE = 'inode/directory'

const empty = '{}'
const noParams: Readonly<Record<string, unknown>> = Object.freeze({})

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['ping', { run: () => empty }],
  ['server/discover', { run: discover }],
  ['tools/list', { run: (request) => page(request, 'tools') }],
  ['tools/call', { run: callToolMethod, namedBy: 'name' }],
  ['resources/list', { run: (request) => page(request, 'resources'), feature: 'resource' }],
  ['resources/templates/list', { run: (request) => page(request, 'resourceTemplates'), feature: 'resource' }],
  ['resources/read', { run: read, namedBy: 'uri', feature: 'resource' }],
  ['resources/subscribe', { run: subscribe, feature: 'resource' }],
  ['resources/unsubscribe', { run: unsubscribe, feature: 'resource' }],
  ['resources/directory/read', { run: readDirectory, feature: 'skills' }],
  ['skills/list', { run: (request) => page(request, 'skills'), feature: 'skills' }],
  ['skills/get', { run: getSkill, feature: 'skills' }],
  ['prompts/list', { run: (request) => page(request, 'prompts'), feature: 'prompt' }],
  ['prompts/get', { run: prompt, namedBy: 'name', feature: 'prompt' }],
  ['completion/complete', { run: completion, feature: 'completion' }],
  ['logging/setLevel', { run: setLevel }],
  ['subscriptions/listen', { run: listen, isStream: true }],
  ['tasks/get', { run: byGeneration(getAugmented, getTask), namedBy: 'taskId', feature: 'tasks' }],
  ['tasks/result', { run: resultOfAugmented, feature: 'tasks' }],
  ['tasks/list', { run: listAugmented, feature: 'tasks' }],
  ['tasks/update', { run: updateTask, namedBy: 'taskId', feature: 'tasks' }],
  ['tasks/cancel', { run: byGeneration(cancelAugmented, cancelTask), namedBy: 'taskId', feature: 'tasks' }],
])

function byGeneration(augmentation: Method['run'], extension: Method['run']): Method['run'] {
  return (request) => request.peer.revision.tasks === 'extension' ? extension(request) : augmentation(request)
}

export function namedBy(method: string): string | undefined {
  return methods.get(method)?.namedBy
}

export function isStreamed(method: string): boolean {
  return methods.get(method)?.isStream === true
}

/** Answers one request, now or later. Never throws. The request is returned for a disconnect to cancel. */
export function dispatch(
  mcp: McpContext, message: RequestMessage, peer: Peer, origin: Origin, channel: ResponseChannel,
): McpRequest | undefined {
  const { id, method: name } = message
  const known = peer.revision.methods.has(name) ? methods.get(name) : undefined
  const isOffered = known?.feature === undefined || mcp.offers(known.feature)
  const method = isOffered ? known : undefined
  if (method === undefined) {
    const error = rpcError(METHOD_NOT_FOUND, `There is no method '${name}' in ${peer.revision.name} here`)
    channel.finish(formatError(id, error), peer.revision.unknownMethodStatus)
    return undefined
  }
  if (method.isStream === true && !channel.sends) {
    const error = rpcError(INVALID_REQUEST, `${name} answers with a stream; accept text/event-stream`)
    channel.finish(formatError(id, error), 406)
    return undefined
  }
  const params = isRecord(message.params) ? message.params : noParams
  // Some clients send null for what is not there.
  const given = params['_meta'] ?? noParams
  const metadata = isRecord(given) ? given : noParams
  const request = new McpRequest(mcp, peer, origin, channel, id, params, metadata)
  try {
    if (given !== noParams) checkMetadata(given, mcp.service.limits.maxNameBytes)
    const result = method.run(request)
    if (isPromised(result)) {
      request.wait()
      result.then(request.succeed.bind(request), request.fail.bind(request))
    } else {
      request.succeed(result)
    }
  } catch (error) {
    request.fail(error)
  }
  return request
}

function checkMetadata(metadata: unknown, maxBytes: number): void {
  if (!isRecord(metadata)) throw new Fault('invalid', 'params._meta must be an object')
  const { progressToken: token } = metadata
  if (token === undefined || Number.isInteger(token)) return
  // It comes back in every notification.
  if (typeof token === 'string' && Buffer.byteLength(token) <= maxBytes) return
  const rule = `must be an integer, or a string of at most ${maxBytes} bytes`
  throw new Fault('invalid', `params._meta.progressToken ${rule}`)
}

function read(request: McpRequest): Result {
  const uri = stringParam(request, 'uri')
  const { mcp, peer } = request
  const call = openCall(request, ['resources/read', uri])
  const cache = peer.revision.stamps ? cacheHints(request) : {}
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

function subscribe(request: McpRequest): Result {
  const uri = stringParam(request, 'uri')
  const { mcp, origin: { principal }, peer: { session } } = request
  if (session === undefined) {
    throw new Fault('conflict', 'Subscriptions need a session; begin with initialize')
  }
  requireScopes(principal, locateResource(mcp.service.catalog, uri)?.scopes ?? [])
  session.subscribe(uri, principal.scopes)
  return kept(request, subscribed(uri, principal.scopes))
}

function unsubscribe(request: McpRequest): Result {
  const uri = stringParam(request, 'uri')
  request.peer.session?.unsubscribe(uri)
  return kept(request, subscribed(uri, undefined))
}

/** Answers when other processes know what has changed in the session. */
function kept({ mcp: { migration }, peer: { session } }: McpRequest, change: StateChange): Result {
  if (migration === undefined || session === undefined) return empty
  return migration.keep(session, change).then(() => empty)
}

/** `skills/get` */
function getSkill(request: McpRequest): Result {
  const uri = stringParam(request, 'uri')
  const { mcp: { service: { skillSet } }, origin: { principal }, peer: { revision } } = request
  const skill = allowed(principal, skillSet.skills).find((one) => normalUri(one.uri) === normalUri(uri))
  if (skill === undefined) {
    throw new Fault('invalid', `No skill is served at ${sentenceWithin(uri)}; skills/list has those that are`)
  }
  return { skill: skillEntry(skill), ...revision.stamps ? cacheHints(request) : {} }
}

/** `resources/directory/read`: what lies directly in a folder. */
function readDirectory(request: McpRequest): Result {
  const uri = stringParam(request, 'uri')
  const { mcp: { service: { skillSet } }, origin: { principal }, peer: { revision } } = request
  const { files, folders } = skillSet
  const isAllowed = (path: string): boolean => {
    const file = files.get(path)
    if (file !== undefined) return hasScopes(principal, file.scopes)
    const inside = folders.get(normalUri(uriOf(path)))
    return inside?.size === 0 || [...inside ?? []].some(isAllowed)
  }
  const folder = folders.get(normalUri(uri))
  const items = [...folder ?? []].filter(isAllowed).map((path): Item => {
    const shown = files.get(path) ?? { uri: uriOf(path), name: nameOf(path), mimeType: FOLDER_TYPE }
    return { name: shown.uri, shown: pick('resource', { ...shown }, revision) }
  })
  if (items.length > 0 || folder?.size === 0) return pageOf(request, 'resources', items)
  throw new Fault('invalid', `${sentenceWithin(uri)} is no folder of a skill here`)
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function prompt(request: McpRequest): Result {
  const name = stringParam(request, 'name')
  const { mcp, params: { arguments: args = {} }, peer: { revision, session } } = request
  const call = openCall(request, ['prompts/get', name, args])
  const result = getPrompt(mcp.service, name, args, call, session?.workload)
  return andThen(result, (prompt) => promptResult(prompt, revision))
}

function completion(request: McpRequest): Result {
  const { mcp, params: { ref, argument, context }, peer: { session } } = request
  const result = complete(mcp.service, ref, argument, context, openCall(request), session?.workload)
  return andThen(result, (completion) => ({ completion }))
}

function setLevel(request: McpRequest): Result {
  const { level } = request.params
  if (!isSeverity(level)) {
    throw new Fault('invalid', 'params.level must be a severity, from debug to emergency')
  }
  if (request.peer.session !== undefined) request.peer.session.logLevel = level
  return kept(request, () => ({ logLevel: level }))
}

/** Reads the params of `initialize`; a sentence where they are wrong. An unknown revision is allowed. */
export function decodeInitialize(params: unknown): Handshake | string {
  if (!isRecord(params)) return 'params must be an object'
  const { protocolVersion, capabilities, clientInfo } = params
  if (protocolVersion === 1) {
    return 'params.protocolVersion must be a string; for an editor with ACP, start triport serve --acp'
  }
  if (typeof protocolVersion !== 'string') return 'params.protocolVersion must be a string'
  if (capabilities !== undefined && !isRecord(capabilities)) return 'params.capabilities must be an object'
  if (clientInfo !== undefined && !isRecord(clientInfo)) return 'params.clientInfo must be an object'
  const asked = revisionByName.get(protocolVersion)
  const abilities = decodeAbilities(capabilities)
  return {
    revision: asked?.opening === 'initialize' ? asked : newestNegotiated,
    abilities,
    client: decodeClient(clientInfo, abilities),
  }
}

/** Answers `initialize` where a connection is the session, or where there is none, and so no stream. */
export function initialize(mcp: McpContext, { id, params }: RequestMessage, session?: Session): string {
  const handshake = decodeInitialize(params)
  if (typeof handshake === 'string') return formatError(id, rpcError(INVALID_PARAMS, handshake))
  session?.settle(handshake)
  return formatResult(id, initializeText(mcp, handshake.revision, session !== undefined))
}

/** The JSON text of the result of `initialize`, made once until the catalog changes. */
export function initializeText(mcp: McpContext, revision: Revision, hasStreams: boolean): string {
  const key = hasStreams ? `initialize ${revision.name}` : `initialize ${revision.name} without streams`
  let text = mcp.texts.get(key)
  if (text === undefined) {
    text = JSON.stringify({
      protocolVersion: revision.name,
      capabilities: capabilitiesOf(mcp, revision, hasStreams),
      serverInfo: pick('implementation', mcp.implementation, revision),
      ...mcp.options.instructions !== undefined && { instructions: mcp.options.instructions },
    })
    mcp.texts.set(key, text)
  }
  return text
}

/** `server/discover`. */
export function discover(request: McpRequest): object {
  const { mcp, peer } = request
  return {
    supportedVersions: revisions.map(({ name }) => name),
    capabilities: capabilitiesOf(mcp, peer.revision, true),
    ...mcp.options.instructions !== undefined && { instructions: mcp.options.instructions },
    ...cacheHints(request),
  }
}

/** The server's capabilities for a revision. `hasStreams`: the client can be notified of changes. */
function capabilitiesOf(mcp: McpContext, revision: Revision, hasStreams: boolean): object {
  const { catalog } = mcp.service
  const listChanged = hasStreams ? { listChanged: true } : {}
  const resources = hasStreams ? { subscribe: true, listChanged: true } : {}
  const all: Readonly<Record<string, object | undefined>> = {
    tools: listChanged,
    resources: catalog.offers('resource') ? resources : undefined,
    prompts: catalog.offers('prompt') ? listChanged : undefined,
    logging: {},
    completions: catalog.offers('completion') ? {} : undefined,
    tasks: mcp.offersTasks ? { list: {}, cancel: {}, requests: { tools: { call: {} } } } : undefined,
  }
  const offered = Object.entries(all).filter(([name, value]) => (
    value !== undefined && revision.capabilities.has(name)
  ))
  const extensions = {
    ...mcp.offersApps && hasMeta(revision) && { [APPS]: {} },
    ...mcp.offers('skills') && revision.methods.has('skills/list') && { [SKILLS]: { directoryRead: true } },
    ...mcp.options.extensions, ...revision.tasks === 'extension' && mcp.offersTasks && { [TASKS]: {} },
  }
  return {
    ...Object.fromEntries(offered), ...Object.keys(extensions).length > 0 && { extensions },
  }
}
