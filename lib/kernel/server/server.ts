/** `createServer`: options in; a server that listens, answers and closes out. It puts all rooms together. */
import { randomBytes } from 'node:crypto'
import { frameworks } from '../../adapters/frameworks.ts'
import { requireTenantPaths } from '../../parts/a2a/model/options.ts'
import { rootOf } from '../../parts/a2a/model/tool-agent.ts'
import { a2aRoutes, requireAnswerer } from '../../parts/a2a/transport/routes.ts'
import { Catalog } from '../define/catalog.ts'
import { Fault } from '../define/fault.ts'
import { anonymous } from '../define/principal.ts'
import { createAuthenticate } from '../http/access/auth.ts'
import { createGuard, isLoopback } from '../http/access/guard.ts'
import { createRateLimits } from '../http/access/rate.ts'
import { createRouteTable } from '../http/message/router.ts'
import { BodyBudget } from '../http/server/body.ts'
import { createGate } from '../http/server/gate.ts'
import { closedError, createListener } from '../http/server/listener.ts'
import { createObserver } from '../http/server/observer.ts'
import { Streams } from '../http/stream/sink.ts'
import { mcpRoutes } from '../../parts/mcp/transport/routes.ts'
import { catalogEndpoints } from '../../parts/http/catalog.ts'
import { aguiEndpoints } from '../../parts/agui/routes.ts'
import { conversationEndpoints, queryEndpoints } from '../../parts/http/routes.ts'
import { skillEndpoints } from '../../parts/http/skills.ts'
import { chatEndpoints } from '../../parts/openai/chat-completions.ts'
import { responseEndpoints } from '../../parts/openai/responses/routes.ts'
import { uiRoutes } from '../../parts/ui-stream/routes.ts'
import { serviceEndpoints } from '../../parts/docs/service-endpoints.ts'
import { startDeadline } from '../util/clock.ts'
import { Metrics } from '../../parts/metrics/metrics.ts'
import {
  absentPaths, checkAddress, defaultPort, isRequest, noCallback, noRequest, pathOf, protocolsOf, proxiesOf,
  requireOptions, serverOptions, urlOf,
} from './options.ts'
import { createService } from './service.ts'
import { oauthEndpoints } from '../../parts/oauth/oauth-proxy.ts'
import type { ForeignOffer } from '../define/normalize-definitions.ts'
import type { AddressInfo } from 'node:net'
import type { Endpoint } from '../http/message/exchange.ts'
import type { Means, ServerState } from '../http/server/gate.ts'
import type { Handler } from '../http/server/listener.ts'
import type { ServerStatus } from '../../parts/metrics/metrics.ts'
import type { ProtocolName, ServerOptions } from './options.ts'
import type { MadeService } from './service.ts'

/** Where a server listens. */
export interface Address {
  /** Where it is reached from this machine, the mount path included. */
  readonly url: string
  /** As given. */
  readonly host: string
  /** The open one, where any free one was asked for. */
  readonly port: number
}

/** A server, made and not yet listening. */
export interface TriportServer {
  /** What clients see, with the version. */
  readonly name: string
  readonly version: string
  /** What is served. */
  readonly protocols: readonly ProtocolName[]
  /** The key that was made because one was needed and none given. */
  readonly generatedKey: string | undefined
  /** The definitions; they may change while the server runs. */
  readonly catalog: Catalog
  /**
   * Opens a socket, once. `port` 0 takes any free one. Left out: the default of the protocols, on 127.0.0.1.
   * Rejects with a sentence where it cannot be opened, and after `close`.
   */
  listen(port?: number, host?: string): Promise<Address>
  /** What it does and holds now. */
  status(): ServerStatus
  /**
   * For a server of your own: `http.createServer(server.handler)`. In Express and Connect
   * `app.use('/agents', server.handler)` mounts it; `next` gets what is outside of the mount path.
   */
  readonly handler: Handler
  /** The same without a socket. Rejects only with a `TypeError` for what is no `Request`. */
  fetch(request: Request): Promise<Response>
  /** Drains, ends streams, closes sockets, within `graceMs` and two seconds. Idempotent. */
  close(): Promise<void>
}

/** The variable of the key that servers use where they have to make one: the same in all processes. */
export const GENERATED_KEY = 'TRIPORT_GENERATED_KEY'

/** How long cancelled runs may take to answer. */
const FAREWELL_MS = 1_000

/** How often a closing server looks for idle sessions. */
const SWEEP_MS = 50

/** Makes a server. Throws `TypeError` or `RangeError` with a sentence for every mistake in the options. */
export function createServer(options: Omit<ServerOptions, 'tools'> & ForeignOffer): TriportServer
export function createServer<const T extends readonly unknown[]>(options: ServerOptions<T>): TriportServer
export function createServer(given: object): TriportServer {
  requireOptions('createServer', arguments, serverOptions)
  const options: ServerOptions = given
  const metrics = options.metrics === true ? new Metrics() : undefined
  const onCall = metrics === undefined ? options.onCall : metrics.countCalls(options.onCall)
  const made = createService({ ...options, onCall }, frameworks)
  try {
    return assemble(options, made, metrics)
  } catch (error) {
    // Other processes that share its store would take it for alive.
    made.service.shared?.cluster.close(true).catch(() => {})
    throw error
  }
}

function assemble(
  options: ServerOptions, { service, seal }: MadeService, metrics: Metrics | undefined,
): TriportServer {
  const { catalog, limits, log, name } = service
  const protocols = protocolsOf(options.protocol, catalog.root === undefined, rootOf(service) !== undefined)
  const mountPath = pathOf('mountPath', options.mountPath) ?? ''
  const publicUrl = urlOf(options.publicUrl)
  if (protocols.includes('a2a')) requireAnswerer(service)

  const { apiKey, auth } = options
  const isOpen = apiKey === undefined && auth === undefined
  const state: ServerState = {
    authenticate: isOpen ? undefined : createAuthenticate({ apiKey, auth, limits }),
    isDraining: false,
  }
  let generatedKey: string | undefined
  const isKeyed = (): boolean => state.authenticate !== undefined
  const takesKeys = (): boolean => apiKey !== undefined || generatedKey !== undefined

  const mcp = protocols.includes('mcp') ? mcpRoutes(service, {
    instructions: options.instructions, ...options.mcp, auth, takesKeys,
  }, seal) : undefined
  const a2a = protocols.includes('a2a')
    ? a2aRoutes(service, { ...options.a2a, auth, takesKeys }, seal) : undefined
  const push = a2a?.push
  const ui = uiRoutes(service)
  const endpoints: readonly Endpoint[] = [
    ...serviceEndpoints(service, {
      endpoints: () => endpoints, isKeyed, takesKeys, isDraining: () => state.isDraining,
      authorizationServers: auth?.authorizationServers ?? [],
    }),
    ...metrics === undefined ? [] : [metrics.endpoint({ name, version: service.version, status })],
    ...protocols.includes('http') ? queryEndpoints(service, pathOf('path', options.path)) : [],
    ...protocols.includes('http') ? [
      ...catalogEndpoints(service), ...skillEndpoints(service),
      ...conversationEndpoints(service, isKeyed), ...chatEndpoints(service),
      ...responseEndpoints(service, seal), ...aguiEndpoints(service, seal),
      ...ui.endpoints,
    ] : [],
    ...mcp?.endpoints ?? [],
    ...a2a?.endpoints ?? [],
    ...oauthEndpoints(auth, service, seal),
  ]
  if (protocols.includes('a2a')) {
    requireTenantPaths(options.a2a?.tenants ?? [], endpoints.map(({ path }) => path))
  }
  const streams = new Streams(limits, log)
  const budget = new BodyBudget(limits.maxBodiesBytes)
  const { allowedHosts, allowedOrigins, cors, rateLimit } = options
  const gate = createGate({
    name, limits, budget, streams, log, anonymous, mountPath, publicUrl, state,
    tokensOnly: auth !== undefined && apiKey === undefined,
    absent: absentPaths(protocols, mountPath),
    router: createRouteTable(endpoints, mountPath),
    guard: createGuard({ allowedHosts, allowedOrigins, cors, publicUrl }),
    proxies: proxiesOf(options.trustProxy),
    rateLimits: rateLimit === undefined ? undefined : createRateLimits(rateLimit, service.shared?.store),
  })
  const listening = createObserver(options.onRequest, options.accessLog ?? false, log)
  const observer = metrics?.countRequests(listening) ?? listening
  const means: Means = { gate, streams, budget, limits, observer, log }
  const listener = createListener(means, mountPath)

  async function listen(port = defaultPort(protocols), host = '127.0.0.1'): Promise<Address> {
    checkAddress(arguments, port, host)
    if (state.isDraining) throw closedError()
    if (!isKeyed() && !isLoopback(host) && options.insecure !== true) {
      generatedKey = process.env[GENERATED_KEY] || randomBytes(24).toString('base64url')
      state.authenticate = createAuthenticate({ apiKey: generatedKey, limits })
      process.stderr.write(`${name} listens beyond this machine, so it asks for a key: ${generatedKey}\n`)
    }
    // Its clients may need other processes to reach this one. Without its store it serves all the same.
    await service.shared?.cluster.ready()?.catch(() => {})
    const bound = await listener.listen(port, host)
    return { url: `http://${reachableHost(bound)}:${bound.port}${mountPath}`, host, port: bound.port }
  }

  function status(): ServerStatus {
    const { conversations, tasks, workload } = service
    return {
      calls: { running: workload.running, abandoned: workload.abandoned, bytes: workload.bytes },
      streams: { open: streams.count, queuedBytes: streams.queued },
      bodies: { bytes: budget.used },
      conversations: { count: conversations.count, bytes: conversations.bytes },
      tasks: { running: tasks.running, finished: tasks.finished, bytes: tasks.bytes },
      store: service.shared && (service.shared.store.isUnavailable ? 'away' : 'reached'),
      webhooks: push?.status,
      mcp: mcp?.status(),
      chats: protocols.includes('http') ? ui.status() : undefined,
    }
  }

  let closing: Promise<void> | undefined

  async function shut(): Promise<void> {
    state.isDraining = true
    listener.drain()
    mcp?.closeIdle()
    // A session ends as soon as its last call does.
    const sweep = setInterval(() => mcp?.closeIdle(), SWEEP_MS)
    await Promise.all([listener.idle(limits.graceMs), service.workload.idle(limits.graceMs)])
    clearInterval(sweep)
    service.tasks.stored?.handOver()
    service.workload.cancelAll(new Fault('cancelled', 'The server is closing down'))
    await mcp?.close()
    ui.close()
    // Cancelled runs have answered. What other processes run, or none, continues without this one.
    await new Promise((resolve) => { setImmediate(resolve) })
    service.tasks.stopWatchers()
    service.shared?.remoteTasks.stopWatchers()
    await Promise.all([listener.idle(FAREWELL_MS), push?.idle(FAREWELL_MS)])
    await push?.close()
    listener.destroy()
    await service.shared?.cluster.close(await service.tasks.stored?.written() ?? true)
    // A store of the operator's may never close.
    await new Promise<void>((resolve, reject) => {
      const stop = startDeadline(FAREWELL_MS, resolve)
      Promise.resolve(service.store.close?.()).then(resolve, reject).finally(stop)
    })
    service.timers.close()
    metrics?.close()
  }

  function close(): Promise<void> {
    if (typeof arguments[0] !== 'function') return closing ??= shut()
    return Promise.reject(noCallback('server.close', 'await server.close()'))
  }

  return {
    name,
    version: service.version,
    protocols,
    get generatedKey() { return generatedKey },
    catalog,
    listen,
    handler: listener.handler,
    status,
    fetch: lateFetch(means),
    close,
  }
}

/** Answers without a socket. Loaded when it is first used, as servers with a socket hardly ever need it. */
function lateFetch(means: Means): TriportServer['fetch'] {
  let respond: TriportServer['fetch'] | undefined
  const first = async (request: Request): Promise<Response> => {
    const { createFetch } = await import('../http/server/fetch.ts')
    return (respond ??= createFetch(means))(request)
  }
  return (request) => (
    isRequest(request) ? (respond ?? first)(request) : Promise.reject(noRequest(request))
  )
}

/** The host of a URL by which this machine reaches a socket. */
function reachableHost({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1'
  return family === 'IPv6' ? `[${address}]` : address
}
