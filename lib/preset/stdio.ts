/** `serveStdio`: MCP or ACP on standard input and output, for programs that start a process. */
import { frameworks } from '../adapters/frameworks.ts'
import { knownMembers, show } from '../kernel/define/validate.ts'
import { mcpLimits } from '../parts/mcp/limits.ts'
import { McpServer } from '../parts/mcp/methods/methods.ts'
import { mcpChecks } from '../parts/mcp/request/options.ts'
import { extensionsOf, kernelOptionsOf } from './create-server.ts'
import { claimStdout } from '../floors/lines/claim-stdout.ts'
import { endOnSignals } from './launch.ts'
import { serverLimits } from './limits.ts'
import { requireSecondOptions, serverOptions } from './options.ts'
import { normalizeDefinitions } from './subject.ts'
import { createService } from '../kernel/server/service.ts'
import type { Readable, Writable } from 'node:stream'
import type { LoneTool, Offer } from '../kernel/define/normalize-definitions.ts'
import type { Members } from '../kernel/define/validate.ts'
import type { Service } from '../kernel/run/service.ts'
import type { Kernel } from '../kernel/server/part.ts'
import type { Seal } from '../kernel/wire/seal.ts'
import type { LineServer } from '../floors/lines/line-server.ts'
import type { ServerOptions } from './options.ts'
import type { ForeignSubject, Subject, Things } from './subject.ts'

/** What `serveStdio` takes besides what is served. */
export interface StdioOptions extends Omit<ServerOptions, keyof Offer | 'protocol'> {
  /** `mcp` for hosts of tools, `acp` (Agent Client Protocol) for editors. Left out: `mcp`. */
  readonly protocol?: 'mcp' | 'acp' | undefined
  /** Left out: standard input. */
  readonly input?: Readable | undefined
  /** Left out: standard output; other writes to it then go to standard error. */
  readonly output?: Writable | undefined
  /** Closes in order on SIGINT and SIGTERM, then ends the process. Left out: true, on standard input. */
  readonly signals?: boolean | undefined
}

/** Options that have no effect without a socket. */
export const ofSockets: readonly string[] = [
  'apiKey', 'auth', 'insecure', 'publicUrl', 'trustProxy', 'mountPath', 'path', 'cors', 'allowedHosts',
  'allowedOrigins', 'rateLimit', 'accessLog', 'onRequest', 'metrics', 'a2a',
]

/** Options of MCP alone. */
const ofMcp: readonly string[] = ['instructions', 'mcp']

/** Serves one client over lines. */
type ServeLines = (service: Service, input: Readable, output: Writable) => Promise<LineServer>

/** Protocols besides MCP. */
const others: ReadonlyMap<string, ServeLines> = new Map<string, ServeLines>([
  ['acp', async (...given) => (await import('../parts/acp/acp-lines.ts')).serveAcp(...given)],
])

/** An editor stays open for days: its threads are not forgotten meanwhile. */
const ACP_IDLE_MS = 30 * 86_400_000

const names: Members<Omit<StdioOptions, keyof ServerOptions>> = { input: true, output: true, signals: true }

/**
 * Serves one client until its input ends or its output closes. Running calls may then end within `graceMs`,
 * and are answered while the client reads. Rejects with a sentence for a wrong subject or option.
 */
export function serveStdio<const T extends readonly unknown[]>(
  subject: Things<T>, options?: StdioOptions,
): Promise<void>
export function serveStdio<const S>(subject: LoneTool<S>, options?: StdioOptions): Promise<void>
export function serveStdio(subject: ForeignSubject, options?: StdioOptions): Promise<void>
export function serveStdio<const T extends readonly unknown[]>(
  subject: Subject<T>, options?: StdioOptions,
): Promise<void>
export async function serveStdio(
  subject: Subject | ForeignSubject, options: StdioOptions = {},
): Promise<void> {
  requireSecondOptions('serveStdio', arguments, options, [...Object.keys(names), ...serverOptions])
  const {
    protocol = 'mcp', input = process.stdin, output, signals = input === process.stdin, ...rest
  } = options
  if (protocol !== 'mcp' && !others.has(protocol)) {
    throw new TypeError(`protocol is ${show(protocol)}; over stdio write 'mcp' or 'acp'`)
  }
  requireStream('input', input, 'on', 'a readable stream, as process.stdin is')
  requireStream('output', output ?? process.stdout, 'write', 'a writable stream, as process.stdout is')
  const definitions = normalizeDefinitions(subject as Subject, options.name ?? 'triport', frameworks)
  const isAcp = protocol === 'acp'
  const extensions = extensionsOf(rest, !isAcp)
  const { service, seal, floors } = createService(kernelOptionsOf({
    ...isAcp && { conversationIdleMs: ACP_IDLE_MS }, ...rest, ...definitions,
  }, extensions))
  for (const part of extensions) part.open?.(kernelOfLines(service, seal))
  const given: Readonly<Record<string, unknown>> = { ...options }
  const useless = [...ofSockets, ...isAcp ? ofMcp : []].filter((name) => given[name] !== undefined)
  if (useless.length > 0) {
    const names = useless.join(', ')
    service.log('warning', `One client on standard input and output needs no ${names}; leave that out`)
  }
  const serve = others.get(protocol) ?? mcpLines(service, seal, options)
  // Claimed before anything is waited for: the author may write at once.
  const claimed = output === undefined || output === process.stdout ? claimStdout() : output
  // Nor may a client that leaves meanwhile end the process.
  for (const stream of [input, claimed]) stream.on('error', () => {})
  const lines = await serve(service, input, claimed)
  const closed = lines.over.then(async () => {
    await floors.release()
    await service.sharing?.release?.()
    await service.store?.close?.()
  }).finally(() => service.timers.close())
  const forget = signals ? endOnSignals({
    running: () => lines.running,
    close() {
      lines.end()
      return closed
    },
  }) : () => {}
  await closed.finally(forget)
}

/** What parts get of a server without a socket. */
function kernelOfLines(service: Service, seal: Seal): Kernel {
  return {
    ...service, seal, endpoints: () => [], gauges: () => [], isDraining: () => false,
    credentials: {
      isNeeded: () => false, takesKeys: () => false, auth: undefined, resourceAt: () => undefined,
    },
  }
}

function mcpLines(service: Service, seal: Seal, options: StdioOptions): ServeLines {
  const { instructions, mcp = {} } = options
  const setup = { instructions, ...knownMembers(mcp, mcpChecks), limits: serverLimits(options)(mcpLimits) }
  const server = new McpServer(service, setup, seal)
  server.extend()
  return async (_service, input, output) => (
    (await import('../parts/mcp/transport/stdio.ts')).serveMcp(server, input, output)
  )
}

function requireStream(name: string, stream: unknown, method: string, what: string): void {
  const isObject = typeof stream === 'object' && stream !== null
  if (isObject && typeof Reflect.get(stream, method) === 'function') return
  throw new TypeError(`${name} is ${show(stream)}; write ${what}`)
}
