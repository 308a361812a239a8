/** The methods that clients call, as one table: a message and its peer in, the answer to a channel. */
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { requireScopes } from '../../../kernel/define/principal.ts'
import { locateResource } from '../../../kernel/run/located-resource.ts'
import { Later } from '../../../kernel/util/later.ts'
import { isPromised } from '../../../kernel/util/thenable.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import {
  formatError, formatResult, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, rpcError,
} from '../../../floors/jsonrpc/jsonrpc.ts'
import { normalAddress } from '../../../kernel/wire/uri.ts'
import { McpContext } from '../request/context.ts'
import { cacheHints, listItems, page, toolPage } from '../request/lists.ts'
import { McpRequest, nameParam } from '../request/request.ts'
import { subscribed } from '../session/session-migration.ts'
import { pick } from '../protocol/shape.ts'
import { decodeAbilities, decodeClient, isSeverity } from '../protocol/client.ts'
import { newestNegotiated, revisionByName, revisions } from '../protocol/revisions.ts'
import { lateMethod, mcpExtensionsOf } from './extension.ts'
import { callToolMethod } from './tools-call.ts'
import type { Origin } from '../../../kernel/define/call.ts'
import type { Offering } from '../../../kernel/define/catalog.ts'
import type { ResponseChannel, Peer, Handshake, Session } from '../session/session.ts'
import type { Params, RequestMessage } from '../session/messages.ts'
import type { StateChange } from '../session/session-migration.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { McpMethod, McpResult, OpenExtension } from './extension.ts'

/** Whatever a server is asked for besides its tools. */
const others = new Later(() => import('./other-methods.ts'))

const empty = '{}'
const noParams: Params = Object.freeze({})

/** What all MCP requests of one server share, and the methods that they call. */
export class McpServer extends McpContext {
  /** Of each revision, by their names; all others are unknown. */
  methods: MethodTables = new Map()
  /** Those by which a client shows that it begins without `initialize`. */
  modernMethods: ReadonlySet<unknown> = new Set()
  extensions: readonly OpenExtension[] = []

  /**
   * Makes the tables, with the extensions that there are: called once, when all parts are open. Throws
   * `TypeError` for tools that cannot be served.
   */
  extend(): void {
    const extensions = mcpExtensionsOf(this.service)
    if (!extensions.has('mcp-tasks')) this.#refuseTasks()
    this.extensions = extensions.open(this)
    this.methods = methodTables(this)
    this.modernMethods = modernNames(this.methods)
  }

  /** Throws `TypeError` for a tool that runs only as a task, now and when one is added. */
  #refuseTasks(): void {
    const { service: { catalog } } = this
    const check = (): void => {
      const found = catalog.tools.find(({ task }) => task === 'required')
      if (found === undefined) return
      throw new TypeError(`The tool '${found.name}' has task 'required', which MCP serves with the part `
        + `'mcp-tasks'; add mcpTasks(), of import { mcpTasks } from 'triport/mcp-tasks', to parts`)
    }
    check()
    catalog.onCheck(check)
  }
}

type MethodTables = ReadonlyMap<Revision, ReadonlyMap<unknown, McpMethod>>

/** What a revision has of MCP's own methods, and of those of extensions. */
function methodTables(mcp: McpServer): MethodTables {
  const added = mcp.extensions.flatMap(({ methods = {} }) => Object.entries(methods))
  return new Map(revisions.map((revision) => [revision, new Map([
    ...Object.entries(ownMethods(mcp, revision)).filter(([name]) => revision.methods.has(name)),
    ...added.filter(([, { isIn }]) => isIn?.(revision) ?? revision.extensible),
  ])]))
}

/** The methods that only revisions without `initialize` have. */
function modernNames(tables: MethodTables): ReadonlySet<unknown> {
  const namesOf = (wanted: Revision['opening']): readonly unknown[] => (
    [...tables].flatMap(([{ opening }, methods]) => opening === wanted ? [...methods.keys()] : [])
  )
  const older = new Set(namesOf('initialize'))
  return new Set(namesOf('each-request').filter((name) => !older.has(name)))
}

function ownMethods(mcp: McpServer, revision: Revision): Readonly<Record<string, McpMethod>> {
  const { service: { catalog }, extensions, options } = mcp
  const views = extensions.flatMap(({ tools }) => tools ?? [])
  const runners = extensions.flatMap(({ calls }) => calls?.isIn?.(revision) === false ? [] : calls ?? [])
  const follows = extensions.flatMap(({ follow }) => follow ?? [])
  const isOffered = (what: Offering) => (): boolean => catalog.offers(what)
  const hasResources = isOffered('resource')
  const hasSubscriptions = (): boolean => hasResources() && options.sessions !== 'none'
  return {
    'ping': { run: () => empty },
    'server/discover': { run: discover.bind(undefined, mcp) },
    'tools/list': { run: toolPage.bind(undefined, views) },
    'tools/call': { run: callToolMethod.bind(undefined, runners), namedBy: 'name' },
    'resources/list': { run: list('resources') },
    'resources/templates/list': { run: list('resourceTemplates') },
    'resources/read': {
      run: lateMethod(others, ({ readMethod }) => readMethod), namedBy: 'uri', isOffered: hasResources,
    },
    'resources/subscribe': { run: subscribe, isOffered: hasSubscriptions },
    'resources/unsubscribe': { run: unsubscribe, isOffered: hasSubscriptions },
    'prompts/list': { run: list('prompts') },
    'prompts/get': {
      run: lateMethod(others, ({ promptMethod }) => promptMethod), namedBy: 'name',
      isOffered: isOffered('prompt'),
    },
    'completion/complete': {
      run: lateMethod(others, ({ completionMethod }) => completionMethod), isOffered: isOffered('completion'),
    },
    'logging/setLevel': { run: setLevel },
    'subscriptions/listen': {
      run: lateMethod(others, ({ listen }) => listen.bind(undefined, follows)), isStream: true,
    },
  }
}

function list(name: keyof typeof listItems): McpMethod['run'] {
  return (request) => page(request, name, listItems[name])
}

/** Answers one request, now or later. Never throws. The request is returned for a disconnect to cancel. */
export function dispatch(
  mcp: McpServer, message: RequestMessage, peer: Peer, origin: Origin, channel: ResponseChannel,
): McpRequest | undefined {
  const { id, method: name } = message
  const known = mcp.methods.get(peer.revision)?.get(name)
  const method = known?.isOffered?.() === false ? undefined : known
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
  const { params = noParams } = message
  const given = params['_meta'] ?? noParams
  const metadata = given !== noParams && isRecord(given) ? given : noParams
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

function subscribe(request: McpRequest): McpResult {
  const uri = normalAddress(nameParam(request, 'uri'))
  const { mcp, origin, peer: { session } } = request
  if (session === undefined) {
    throw new Fault('conflict', 'Subscriptions need a session; begin with initialize')
  }
  requireScopes(origin, locateResource(mcp.service.catalog, uri)?.scopes ?? [])
  const { scopes } = origin.principal
  session.subscribe(uri, scopes)
  return kept(request, subscribed(uri, scopes))
}

function unsubscribe(request: McpRequest): McpResult {
  const uri = normalAddress(nameParam(request, 'uri'))
  request.peer.session?.unsubscribe(uri)
  return kept(request, subscribed(uri, undefined))
}

/** Answers when other processes know what has changed in the session. */
function kept({ mcp: { migration }, peer: { session } }: McpRequest, change: StateChange): McpResult {
  if (migration === undefined || session === undefined) return empty
  return migration.keep(session, change).then(() => empty)
}

function setLevel(request: McpRequest): McpResult {
  const { level } = request.params
  if (!isSeverity(level)) {
    throw new Fault('invalid', 'params.level must be a severity, from debug to emergency')
  }
  if (request.peer.session !== undefined) request.peer.session.logLevel = level
  return kept(request, () => ({ logLevel: level }))
}

/** Reads the params of `initialize`; a sentence where they are wrong. An unknown revision is allowed. */
export function decodeInitialize(params: Params | undefined): Handshake | string {
  if (params === undefined) return 'params must be an object'
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
export function initialize(mcp: McpServer, { id, params }: RequestMessage, session?: Session): string {
  const handshake = decodeInitialize(params)
  if (typeof handshake === 'string') return formatError(id, rpcError(INVALID_PARAMS, handshake))
  session?.settle(handshake)
  return formatResult(id, initializeText(mcp, handshake.revision, session !== undefined))
}

/** The JSON text of the result of `initialize`. `hasStreams`: the client can be notified of changes. */
export function initializeText(mcp: McpServer, revision: Revision, hasStreams: boolean): string {
  const made = mcp.madeFor(revision)
  return hasStreams ? made.greeting ??= greeting(mcp, revision, true)
    : made.streamless ??= greeting(mcp, revision, false)
}

function greeting(mcp: McpServer, revision: Revision, hasStreams: boolean): string {
  return formatJson({
    protocolVersion: revision.name,
    capabilities: capabilitiesOf(mcp, revision, hasStreams),
    serverInfo: pick('implementation', mcp.implementation, revision),
    ...mcp.options.instructions !== undefined && { instructions: mcp.options.instructions },
  })
}

/** `server/discover`. */
function discover(mcp: McpServer, request: McpRequest): object {
  const { peer } = request
  return {
    supportedVersions: revisions.map(({ name }) => name),
    capabilities: capabilitiesOf(mcp, peer.revision, true),
    ...mcp.options.instructions !== undefined && { instructions: mcp.options.instructions },
    ...cacheHints(request),
  }
}

/** The server's capabilities for a revision. */
function capabilitiesOf(mcp: McpServer, revision: Revision, hasStreams: boolean): object {
  const { catalog } = mcp.service
  const listChanged = hasStreams ? { listChanged: true } : {}
  const resources = hasStreams ? { subscribe: true, listChanged: true } : {}
  const all: Readonly<Record<string, object | undefined>> = {
    tools: listChanged,
    resources: catalog.offers('resource') ? resources : undefined,
    prompts: catalog.offers('prompt') ? listChanged : undefined,
    logging: {},
    completions: catalog.offers('completion') ? {} : undefined,
    ...Object.assign({}, ...mcp.extensions.map((one) => one.capabilities?.())),
  }
  const offered = Object.entries(all).filter(([name, value]) => (
    value !== undefined && revision.capabilities.has(name)
  ))
  const extensions = {
    ...Object.assign({}, ...mcp.extensions.map((one) => one.settings?.(revision))),
    ...mcp.options.extensions,
  }
  return {
    ...Object.fromEntries(offered), ...Object.keys(extensions).length > 0 && { extensions },
  }
}
