/**
 * Options in, rooms assembled, something that listens and closes out. The one place that knows every room.
 */
import { randomBytes } from 'node:crypto'
import { Catalog } from './core/catalog.ts'
import { Conversations } from './core/conversation.ts'
import { defaults, limitsOf } from './core/defaults.ts'
import { Fault } from './core/fault.ts'
import { logOf, quietly, stderrLog, verboseStderrLog } from './core/log.ts'
import { anonymous } from './core/principal.ts'
import { define } from './core/subject.ts'
import { Tasks } from './core/tasks.ts'
import { warnOfSilence } from './core/warn-once.ts'
import { Workload } from './core/workload.ts'
import { createAuthenticate } from './http/auth.ts'
import { BodyBudget } from './http/body.ts'
import { createFetch } from './http/fetch.ts'
import { createGate } from './http/gate.ts'
import { createGuard, isLoopback } from './http/guard.ts'
import { createListener } from './http/listener.ts'
import { createRateLimits } from './http/rate.ts'
import { createObserver } from './http/observer.ts'
import { createRouteTable } from './http/router.ts'
import { Streams } from './http/sink.ts'
import { a2aEndpoints, requireAgent } from './a2a/door.ts'
import { mcpDoor } from './mcp/door.ts'
import { checkAddress, checkOptions, isRequest, noRequest, requireOptions } from './options.ts'
import { queryEndpoints } from './rest/routes.ts'
import { serviceEndpoints } from './rest/service-endpoints.ts'
import { memoryStore } from './store/memory.ts'
import { createSeal } from './wire/seal.ts'
import { defaultPort, pathOf, protocolsOf, proxiesOf, urlOf } from './settings.ts'
import type { OnCall } from './core/call-observer.ts'
import type { Limits } from './core/defaults.ts'
import type { Members } from './core/define.ts'
import type { Log, Logger } from './core/log.ts'
import type { Service } from './core/service.ts'
import type { Store } from './core/store.ts'
import type { Offer } from './core/subject.ts'
import type { ApiKey, Authenticate, Authorization } from './http/auth.ts'
import type { Endpoint } from './http/exchange.ts'
import type { Handler } from './http/listener.ts'
import type { RateLimit } from './http/rate.ts'
import type { RequestSummary } from './http/observer.ts'
import type { Means } from './http/transaction.ts'
import type { McpOptions } from './mcp/context.ts'
import type { ProtocolChoice, ProtocolName } from './settings.ts'
import type { Seal } from './wire/seal.ts'

/** What `createServer` takes, besides every limit of `Limits`. */
export interface ServerOptions extends Offer, Partial<Limits> {
  /** Left out: the first agent's name, else `triport`. */
  readonly name?: string | undefined
  /** Left out: `1.0.0`. */
  readonly version?: string | undefined
  readonly description?: string | undefined
  /** Left out: `http`, or `mcp` where only tools are given. */
  readonly protocol?: ProtocolChoice | undefined
  /** A key, several, or a function that knows them. Left out: nobody needs a key on a loopback address. */
  readonly apiKey?: ApiKey | undefined
  /** OAuth tokens, besides or in place of keys: the MCP door becomes an OAuth resource server (RFC 9728). */
  readonly auth?: Authorization | undefined
  /** Serves without a key on any address. */
  readonly insecure?: boolean | undefined
  /** Where clients reach this server, when that is not where it listens. */
  readonly publicUrl?: string | URL | undefined
  /**
   * How many proxies stand before this server; `true` is one. That many are believed in `X-Forwarded-Host`,
   * `X-Forwarded-Proto` and `X-Forwarded-For`, counted from the end, where each adds what it saw. Only
   * behind proxies that set all three: otherwise clients do.
   */
  readonly trustProxy?: boolean | number | undefined
  /** Prefix of every path: `/assistant`. */
  readonly mountPath?: string | undefined
  /** A further path for queries: `/ask`. */
  readonly path?: string | undefined
  /**
   * Origins of pages that may call and read, or `*`. Left out: pages of this machine may, where the server
   * is on a loopback address; elsewhere none may read.
   */
  readonly cors?: string | readonly string[] | undefined
  /** Names that this server is reached by; others get 403. `*` lifts the check. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Origins of pages that may call. */
  readonly allowedOrigins?: readonly string[] | undefined
  /**
   * How often one principal, or one address where nobody needs a key, may call. Counted in this process.
   * Behind a proxy set `trustProxy`, or all callers are one. Left out: no limit.
   */
  readonly rateLimit?: RateLimit | undefined
  /** Takes the log; `console` can. Left out: warnings and errors go to standard error. `false`: none. */
  readonly log?: Log | Logger | false | undefined
  /** Told once per call of an agent, a tool, a resource or a prompt, at its end. It must not throw. */
  readonly onCall?: OnCall | undefined
  /** Logs one line for each request, at level info, which standard error then shows. */
  readonly accessLog?: boolean | undefined
  /** Is told of each request when it is over. For metrics: `route` has few values, `path` has any. */
  readonly onRequest?: ((request: RequestSummary) => void) | undefined
  /** Shows the messages of unexpected errors to callers. For development. */
  readonly exposeErrors?: boolean | undefined
  /** What only the MCP door needs to know. */
  readonly mcp?: McpOptions | undefined
  /**
   * Seals what clients carry: states between two rounds, cursors. The first of several seals, all open. At
   * least 16 characters; replicas share it. Left out: `TRIPORT_SECRET`, else random for this process.
   */
  readonly secret?: string | readonly string[] | undefined
  /** Where finished tasks are kept and, where it is shared, conversations. Left out: bounded memory. */
  readonly store?: Store | undefined
}

const names: Members<Omit<ServerOptions, keyof Limits>> = {
  agents: true, groups: true, tools: true, resources: true, resourceTemplates: true, prompts: true,
  name: true, version: true, description: true, protocol: true, apiKey: true, auth: true, insecure: true,
  publicUrl: true, trustProxy: true, mountPath: true, path: true, cors: true, allowedHosts: true,
  allowedOrigins: true, rateLimit: true, log: true, onCall: true, accessLog: true, onRequest: true,
  exposeErrors: true, mcp: true, secret: true, store: true,
}

/** The names of all options of `createServer`, the limits last. */
export const serverOptions: readonly string[] = [...Object.keys(names), ...Object.keys(defaults)]

/** Where a server listens. */
export interface Address { readonly url: string; readonly host: string; readonly port: number }

/** What a server is doing and holding at one moment. Bytes are bytes; what is counted is open or kept now. */
export interface ServerStatus {
  /** `abandoned` ones have lost their place: their time was over long ago, and they have not ended. */
  readonly calls: { readonly running: number; readonly abandoned: number }
  /** Response streams, and what their readers have not taken yet. */
  readonly streams: { readonly open: number; readonly queuedBytes: number }
  /** Request bodies that are being read. */
  readonly bodies: { readonly bytes: number }
  readonly conversations: { readonly count: number; readonly bytes: number }
  readonly tasks: { readonly running: number; readonly finished: number; readonly bytes: number }
  /** Sessions, subscribers, and what is kept for clients that come back; undefined without the MCP door. */
  readonly mcp: { readonly sessions: number; readonly subscribers: number; readonly replayBytes: number } | undefined
}

/** A server, made and not yet listening. */
export interface TriportServer {
  readonly name: string
  readonly version: string
  readonly protocols: readonly ProtocolName[]
  /** The key that was made because none was given; undefined where none had to be. */
  readonly generatedKey: string | undefined
  /** What is served; it may change while the server runs. */
  readonly catalog: Catalog
  /** Opens a socket. `port` 0 takes any free one. Left out: the protocols' default, on 127.0.0.1. */
  listen(port?: number, host?: string): Promise<Address>
  /** What it is doing and holding now. */
  status(): ServerStatus
  /**
   * For a server of your own: `http.createServer(server.handler)`. In Express and Connect it is mounted by
   * `app.use('/agents', server.handler)`, and `next` gets what is outside of the mount path.
   */
  readonly handler: Handler
  /** The same without a socket. */
  fetch(request: Request): Promise<Response>
  /** Drains, ends streams, closes sockets, within `graceMs` and a second. Again, it changes nothing. */
  close(): Promise<void>
}

/** What cancelled runs get to say good-bye. */
const FAREWELL_MS = 1_000

/** How often a closing server looks for what has come to its end. */
const SWEEP_MS = 50

/**
 * What is served and what all doors share, without any door. Throws `TypeError` or `RangeError` for
 * mistakes in the definitions and limits.
 */
export function createService(options: ServerOptions): { readonly service: Service; readonly seal: Seal } {
  checkOptions({ ...options })
  const limits = limitsOf(options)
  const { groups, agents, tools, resources, resourceTemplates, prompts } = define(options)
  const name = options.name ?? (groups[0] ?? agents[0])?.name ?? 'triport'
  const catalog = new Catalog(name)
  const things = [...groups, ...agents, ...tools, ...resources, ...resourceTemplates, ...prompts]
  for (const thing of things) catalog.add(thing)
  if (things.length === 0) {
    throw new TypeError('There is nothing to serve; write { agents: [agent] } or { tools: [tool] }')
  }
  const usualLog = options.accessLog === true ? verboseStderrLog : stderrLog
  const log = quietly(logOf(options.log ?? usualLog))
  warnOfSilence(log, catalog)
  const store = options.store ?? memoryStore()
  const service: Service = {
    name,
    version: options.version ?? '1.0.0',
    description: options.description ?? catalog.root?.description ?? '',
    catalog,
    limits,
    log,
    exposeErrors: options.exposeErrors ?? false,
    workload: new Workload(limits.maxCalls, 'here'),
    onCall: options.onCall,
    conversations: new Conversations(limits, store, log),
    tasks: new Tasks(limits, store, log),
    store,
  }
  return { service, seal: createSeal(options.secret ?? (process.env['TRIPORT_SECRET'] || undefined), name) }
}

/** Makes a server. Throws `TypeError` or `RangeError` with a sentence for every mistake in the options. */
export function createServer(options: ServerOptions): TriportServer {
  requireOptions('createServer', options, serverOptions)
  const { service, seal } = createService(options)
  const { catalog, limits, log, name } = service
  const protocols = protocolsOf(options.protocol, catalog.root === undefined)
  const mountPath = pathOf('mountPath', options.mountPath) ?? ''
  const publicUrl = urlOf(options.publicUrl)
  if (protocols.includes('a2a')) requireAgent(catalog)

  const { apiKey, auth } = options
  let authenticate: Authenticate | undefined = apiKey === undefined && auth === undefined
    ? undefined : createAuthenticate({ apiKey, auth, limits })
  let generatedKey: string | undefined
  let isDraining = false
  const isKeyed = (): boolean => authenticate !== undefined

  const mcp = protocols.includes('mcp') ? mcpDoor(service, { ...options.mcp, auth }, seal) : undefined
  const endpoints: readonly Endpoint[] = [
    ...serviceEndpoints(service, { endpoints: () => endpoints, isKeyed, isDraining: () => isDraining }),
    ...protocols.includes('http') ? queryEndpoints(service, pathOf('path', options.path)) : [],
    ...mcp?.endpoints ?? [],
    ...protocols.includes('a2a') ? a2aEndpoints(service, { isKeyed }) : [],
  ]
  const streams = new Streams(limits, log)
  const budget = new BodyBudget(limits.maxBodiesBytes)
  const { allowedHosts, allowedOrigins, cors, rateLimit } = options
  const gate = createGate({
    name, limits, budget, log, anonymous, mountPath, publicUrl,
    router: createRouteTable(endpoints, mountPath),
    guard: createGuard({ allowedHosts, allowedOrigins, cors, publicUrl, isKeyed }),
    authenticate: () => authenticate,
    proxies: proxiesOf(options.trustProxy),
    rateLimits: rateLimit === undefined ? undefined : createRateLimits(rateLimit),
    isDraining: () => isDraining,
  })
  const observer = createObserver(options.onRequest, options.accessLog ?? false, log)
  const means: Means = { gate, streams, budget, limits, observer, log }
  const respond = createFetch(means)
  const listener = createListener({ ...means, mountPath })

  async function listen(port = defaultPort(protocols), host = '127.0.0.1'): Promise<Address> {
    checkAddress(port, host)
    if (isDraining) throw new Error('This server is closed; make a new one')
    if (authenticate === undefined && !isLoopback(host) && options.insecure !== true) {
      generatedKey = randomBytes(24).toString('base64url')
      authenticate = createAuthenticate({ apiKey: generatedKey, limits })
      process.stderr.write(`${name} listens beyond this machine, so it asks for a key: ${generatedKey}\n`)
    }
    const bound = await listener.listen(port, host)
    const shown = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
    const reachable = bound.address === '0.0.0.0' || bound.address === '::' ? '127.0.0.1' : shown
    return { url: `http://${reachable}:${bound.port}${mountPath}`, host, port: bound.port }
  }

  function status(): ServerStatus {
    const { conversations, tasks, workload } = service
    return {
      calls: { running: workload.running, abandoned: workload.abandoned },
      streams: { open: streams.count, queuedBytes: streams.queued },
      bodies: { bytes: budget.held },
      conversations: { count: conversations.count, bytes: conversations.bytes },
      tasks: { running: tasks.running, finished: tasks.finished, bytes: tasks.bytes },
      mcp: mcp?.status(),
    }
  }

  let closing: Promise<void> | undefined

  async function shut(): Promise<void> {
    isDraining = true
    listener.drain()
    mcp?.closeIdle()
    // A session whose last call ends during the grace has nothing more to wait for.
    const sweep = setInterval(() => mcp?.closeIdle(), SWEEP_MS)
    await Promise.all([listener.idle(limits.graceMs), service.workload.idle(limits.graceMs)])
    clearInterval(sweep)
    service.workload.cancelAll(new Fault('cancelled', 'The server is closing down'))
    mcp?.close()
    await listener.idle(FAREWELL_MS)
    await listener.destroy()
    await service.store.close?.()
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
    fetch: (request) => isRequest(request) ? respond(request) : Promise.reject(noRequest(request)),
    close: () => closing ??= shut(),
  }
}
