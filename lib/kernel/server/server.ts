/** Makes servers of parts: options in; a server that listens, answers and closes out. */
import { randomBytes } from 'node:crypto'
import { Fault } from '../define/fault.ts'
import { anonymous } from '../define/principal.ts'
import { pathOf } from '../define/validate.ts'
import { createAuthenticator } from '../http/access/auth.ts'
import { createGuard, isLoopback } from '../http/access/guard.ts'
import { createProtectedResource } from '../http/access/protected-resource.ts'
import { createRateLimits } from '../http/access/rate.ts'
import { createRouter } from '../http/message/router.ts'
import { BodyBudget } from '../http/server/body.ts'
import { createGate } from '../http/server/gate.ts'
import { closedError, createListener } from '../http/server/listener.ts'
import { createObserver } from '../http/server/observer.ts'
import { Streams } from '../http/stream/sink.ts'
import { startDeadline } from '../util/clock.ts'
import { healthEndpoints, storeState } from './health.ts'
import { checkAddress, isRequest, noCallback, noRequest, urlOf } from './options.ts'
import { openedOf, requireKernelOptions, requireServing } from './requirements.ts'
import { createService } from './service.ts'
import type { AddressInfo } from 'node:net'
import type { Catalog } from '../define/catalog.ts'
import type { GateOptions, Means, ServerState } from '../http/server/gate.ts'
import type { Handler } from '../http/server/listener.ts'
import type { KernelOptions } from './options.ts'
import type { Gauge } from '../util/gauge.ts'
import type { Floor } from './floors.ts'
import type { Curl, Kernel, Opened, Part } from './part.ts'
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
export interface KernelServer {
  /** What clients see, with the version. */
  readonly name: string
  readonly version: string
  /** What is served. */
  readonly protocols: readonly string[]
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
  status(): KernelStatus
  /** Lines for people about each protocol at a URL of the server, with commands that `curl` makes. */
  announce(url: string, curl: Curl): readonly (readonly [protocol: string, lines: readonly string[]])[]
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

/** What a server does and holds at one moment. Bytes are bytes; counts are of what is open or kept now. */
export interface KernelStatus {
  /**
   * `abandoned`: calls that still run long after their time limit, and no longer count as running. `bytes`:
   * what running calls have yielded so far.
   */
  readonly calls: { readonly running: number; readonly abandoned: number; readonly bytes: number }
  /** Response streams, and what their readers have not taken yet. */
  readonly streams: { readonly open: number; readonly queuedBytes: number }
  /** Request bodies that are being read. */
  readonly bodies: { readonly bytes: number }
  /** Whether the shared store answers; undefined where none is shared. */
  readonly store: 'reached' | 'away' | undefined
}

/** The variable of the key that servers use where they have to make one: the same in all processes. */
export const GENERATED_KEY = 'TRIPORT_GENERATED_KEY'

/** How long cancelled runs may take to answer. */
const FAREWELL_MS = 1_000

/** How often a closing server ends what only waits. */
const SWEEP_MS = 50

const DEFAULT_PORT = 8000

/** The port of a server with these parts: of its only protocol, or the usual one. */
export function defaultPort(parts: readonly Part[]): number {
  const ports = new Map(parts.flatMap(({ protocol, port }) => (
    protocol === undefined ? [] : [[protocol, port] as const]
  )))
  const [only] = ports.values()
  return ports.size === 1 && only !== undefined ? only : DEFAULT_PORT
}

/** Makes a server of parts. Throws `TypeError` or `RangeError` with a sentence for a mistaken option. */
export function kernelServer<const T extends readonly unknown[]>(given: KernelOptions<T>): KernelServer
export function kernelServer(): KernelServer {
  const options = requireKernelOptions(arguments)
  const made = createService(options)
  const opened: Opened[] = []
  try {
    return assemble(options, made, opened)
  } catch (error) {
    for (const one of opened) release(one).catch(() => {})
    // Other processes that share its store would take it for alive.
    Promise.resolve(made.service.sharing?.release?.()).catch(() => {})
    throw error
  }
}

async function release(one: Opened): Promise<void> {
  await one.release?.()
}

/** `opened` gets the parts as they open. */
function assemble(
  options: KernelOptions, { service, seal, floors }: MadeService, opened: Opened[],
): KernelServer {
  const { limits, log, name } = service
  const { apiKey, auth, parts } = options
  const mountPath = pathOf('mountPath', options.mountPath) ?? ''
  const publicUrl = urlOf(options.publicUrl)
  const isOpen = apiKey === undefined && auth === undefined
  const state: ServerState = {
    authenticator: isOpen ? undefined : createAuthenticator({ apiKey, auth, limits }),
    isDraining: false,
  }
  let generatedKey: string | undefined
  const isKeyed = (): boolean => state.authenticator !== undefined

  const kernel: Kernel = {
    ...service,
    seal,
    credentials: {
      isNeeded: isKeyed, takesKeys: () => state.authenticator?.takesKeys === true, auth,
      resourceAt: (address) => resource?.resourceAt(address),
    },
    endpoints: () => endpoints,
    gauges,
    isDraining: () => state.isDraining,
  }
  if (auth?.part !== undefined && !parts.some(({ name }) => name === auth.part)) {
    throw new TypeError(`auth needs the part '${auth.part}', where its users log in; add that to parts`)
  }
  for (const part of parts) opened.push(openedOf(part, kernel))
  const ofParts = opened.map((one) => one.endpoints ?? [])
  const resource = auth && createProtectedResource(auth, ofParts, mountPath, () => router)
  requireServing(parts, ofParts, service)
  const isServed = (asked: string): boolean => ofParts.flat().some(({ path, methods }) => (
    path === asked && methods.includes('GET')
  ))
  const endpoints = [
    ...ofParts.flat(), ...healthEndpoints(kernel).filter(({ path }) => !isServed(path)),
    ...resource?.endpoints ?? [],
  ]
  for (const one of opened) one.ready?.(endpoints)
  const served = parts.filter((_, at) => opened[at]?.endpoints !== undefined)
  const protocols = [...new Set(served.flatMap(({ protocol }) => protocol ?? []))]

  const streams = new Streams(limits, log)
  const budget = new BodyBudget(limits)
  const { allowedHosts, allowedOrigins, cors, rateLimit } = options
  const router = createRouter(endpoints, mountPath)
  const shared: GateOptions = {
    name, resource, router, limits, budget, streams, log, anonymous, mountPath, publicUrl, state,
    listing: isServed('/') ? '/' : '/health',
    absent: options.absent?.(protocols) ?? new Map(),
    guard: createGuard({
      allowedHosts, allowedOrigins, cors, publicUrl, exposes: opened.flatMap(({ exposes }) => exposes ?? []),
    }),
    proxies: Number(options.trustProxy ?? 0),
    rateLimits: rateLimit && createRateLimits(rateLimit, service.sharing?.makeCounter),
  }
  const observer = parts.reduce((next, part) => part.observe?.(next) ?? next,
    createObserver(options.onRequest, options.accessLog ?? false, log))
  const means: Means = { ...shared, gate: createGate(shared), observer }
  const listener = createListener(means)

  async function listen(port = defaultPort(served), host = '127.0.0.1'): Promise<Address> {
    checkAddress(arguments, port, host)
    if (state.isDraining) throw closedError()
    if (!isKeyed() && !isLoopback(host) && options.insecure !== true) {
      generatedKey = process.env[GENERATED_KEY] || randomBytes(24).toString('base64url')
      state.authenticator = createAuthenticator({ apiKey: generatedKey, limits })
      process.stderr.write(`${name} listens beyond this machine, so it asks for a key: ${generatedKey}\n`)
    }
    // Its clients may need other processes to reach this one. Without its store it serves all the same.
    await service.sharing?.ready()?.catch(() => {})
    const bound = await listener.listen(port, host)
    return { url: `http://${reachableHost(bound)}:${bound.port}${mountPath}`, host, port: bound.port }
  }

  function ownStatus(): KernelStatus {
    const { workload } = service
    return {
      calls: { running: workload.running, abandoned: workload.abandoned, bytes: workload.bytes },
      streams: { open: streams.count, queuedBytes: streams.queued },
      bodies: { bytes: budget.used },
      store: storeState(service),
    }
  }

  function status(): KernelStatus {
    const all: KernelStatus & object = ownStatus()
    for (const floor of floors.all) addStatus(all, floor, 'a floor')
    for (const [at, one] of opened.entries()) addStatus(all, one, `the part '${parts[at]!.name}'`)
    return all
  }

  function gauges(): readonly Gauge[] {
    const { calls, streams: open, bodies, store } = ownStatus()
    return [
      ['triport_calls_running', 'Calls that run now.', calls.running],
      ['triport_calls_abandoned', 'Calls that still run, long after their time was over.', calls.abandoned],
      ['triport_call_bytes', 'What running calls have yielded so far.', calls.bytes],
      ['triport_streams_open', 'Response streams that are open.', open.open],
      ['triport_queued_bytes', 'What readers of replies and streams have not taken yet.', open.queuedBytes],
      ['triport_body_bytes', 'Request bodies that are being read.', bodies.bytes],
      ...store === undefined ? [] : [
        ['triport_store_up', 'Whether the shared store answers.', store === 'reached' ? 1 : 0] as const,
      ],
      ...[...floors.all, ...opened].flatMap((one) => one.gauges?.() ?? []),
    ]
  }

  // Two that are told under one name are a mistake, of which its author hears at once.
  status()
  const announce: KernelServer['announce'] = (url, curl) => parts.flatMap(({ protocol }, at) => {
    const lines = opened[at]?.announce?.(url, curl)
    return protocol === undefined || lines === undefined ? [] : [[protocol, lines]]
  })

  let closing: Promise<void> | undefined

  async function shut(): Promise<void> {
    state.isDraining = true
    listener.drain()
    const drain = (): void => { for (const one of opened) one.drain?.() }
    drain()
    // What waits for a call ends as soon as that does.
    const sweep = setInterval(drain, SWEEP_MS)
    await Promise.all([listener.idle(limits.graceMs), service.workload.idle(limits.graceMs)])
    clearInterval(sweep)
    floors.handOver()
    service.workload.cancelAll(new Fault('cancelled', 'The server is closing down'))
    // All at once: what waits for a cancelled run hears of the end, not of what has become of the run.
    await Promise.all(opened.map((one) => one.cancel?.()))
    // Cancelled runs have answered. What other processes run, or none, continues without this one.
    await new Promise((resolve) => { setImmediate(resolve) })
    await floors.cancel()
    await Promise.all([listener.idle(FAREWELL_MS), ...opened.map((one) => one.flush?.(FAREWELL_MS))])
    for (const one of opened) await release(one)
    listener.destroy()
    await floors.release()
    await service.sharing?.release?.()
    // A store of the operator's may never close.
    await new Promise<void>((resolve, reject) => {
      const stop = startDeadline(FAREWELL_MS, resolve)
      Promise.resolve(service.store?.close?.()).then(resolve, reject).finally(stop)
    })
    service.timers.close()
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
    catalog: service.catalog,
    listen,
    handler: listener.handler,
    status,
    announce,
    fetch: lateFetch(means),
    close,
  }
}

/** Adds what a floor or a part tells of itself. Throws `TypeError` for a member that is there already. */
function addStatus(all: object, floor: Floor, owner: string): void {
  const more = floor.status?.() ?? {}
  const taken = Object.keys(more).find((name) => Object.hasOwn(all, name))
  if (taken !== undefined) {
    throw new TypeError(`server.status() has '${taken}' already, and ${owner} tells it again; let its `
      + 'status() return a member of another name')
  }
  Object.assign(all, more)
}

/** Answers without a socket. Loaded when it is first used, as servers with a socket hardly ever need it. */
function lateFetch(means: Means): KernelServer['fetch'] {
  let respond: KernelServer['fetch'] | undefined
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
