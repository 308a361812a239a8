/** One client on standard input and output, served by a server of parts, one of which serves lines. */
import { mustBeSwitch, show } from '../../kernel/define/validate.ts'
import { openedOf, requireKernelOptions } from '../../kernel/server/requirements.ts'
import { createService } from '../../kernel/server/service.ts'
import { claimStdout } from './claim-stdout.ts'
import { endOnSignals } from './end-on-signals.ts'
import type { Readable, Writable } from 'node:stream'
import type { Members } from '../../kernel/define/validate.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { KernelOptions } from '../../kernel/server/options.ts'
import type { Kernel, LineServer, Lines, Opened, OpenedLines, Part } from '../../kernel/server/part.ts'
import type { Seal } from '../../kernel/wire/seal.ts'

/** Where the client is, and how its server ends. */
export interface LineStreams {
  /** Left out: standard input. */
  readonly input?: Readable | undefined
  /** Left out: standard output; other writes to it then go to standard error. */
  readonly output?: Writable | undefined
  /** Closes in order on SIGINT and SIGTERM, then ends the process. Left out: true, on standard input. */
  readonly signals?: boolean | undefined
}

/** What the server of one client is made of. One of its parts has `lines`. */
export interface LineOptions<T extends readonly unknown[] = readonly unknown[]>
  extends KernelOptions<T>, LineStreams {}

const streamNames: Members<LineStreams> = { input: true, output: true, signals: true }

/** Options of the kernel that have no effect without a socket. */
export const kernelOfSockets: readonly (keyof KernelOptions)[] = [
  'apiKey', 'auth', 'insecure', 'publicUrl', 'trustProxy', 'mountPath', 'cors', 'allowedHosts',
  'allowedOrigins', 'rateLimit', 'accessLog', 'onRequest',
]

const NO_SOCKET = 'one client on standard input and output has no socket; leave it out'
const remedies: ReadonlyMap<string, string> = new Map([['port', NO_SOCKET], ['host', NO_SOCKET]])

/**
 * Serves one client until its input ends or its output closes. Running calls may then end within `graceMs`,
 * and are answered while the client reads. Rejects with a sentence for a wrong option, and where not exactly
 * one of the parts serves lines.
 */
export function servePartsOnStdio<const T extends readonly unknown[]>(options: LineOptions<T>): Promise<void>
export async function servePartsOnStdio(): Promise<void> {
  const options: LineOptions = requireKernelOptions(
    arguments, 'serveStdio', Object.keys(streamNames), remedies,
  )
  const silent = options.parts.filter(({ protocol, lines }) => protocol !== undefined && lines === undefined)
  await serveOverLines(options, [
    ...kernelOfSockets.filter((name) => options[name] !== undefined), ...silent.map(({ name }) => name),
  ])
}

/** The same for options that are known. `useless`: those that have no effect here. */
export async function serveOverLines(given: LineOptions, useless: readonly string[]): Promise<void> {
  const { input = process.stdin, output, signals = input === process.stdin, ...options } = given
  requireStream('input', input, 'on', 'a readable stream, as process.stdin is')
  requireStream('output', output ?? process.stdout, 'write', 'a writable stream, as process.stdout is')
  mustBeSwitch('', signals, 'signals')
  const lines = linesIn(options.parts)
  const { service, seal, floors } = createService(withDefaults(options, lines))
  const opened: Opened[] = []
  let server: LineServer
  try {
    const serving = openAll(options.parts, lines, kernelOfLines(service, seal), opened)
    if (useless.length > 0) {
      const names = useless.join(', ')
      service.log('warning', `One client on standard input and output needs no ${names}; leave that out`)
    }
    // Claimed before anything is waited for: the author may write at once.
    const claimed = output === undefined || output === process.stdout ? claimStdout() : output
    // Nor may a client that leaves meanwhile end the process.
    for (const stream of [input, claimed]) stream.on('error', () => {})
    server = await serving.serve(input, claimed)
  } catch (error) {
    await endAll(opened).catch(() => {})
    // Other processes that share its store would take it for alive.
    await Promise.resolve(service.sharing?.release?.()).catch(() => {})
    service.timers.close()
    throw error
  }
  const closed = server.over.then(async () => {
    await endAll(opened)
    await floors.release()
    await service.sharing?.release?.()
    await service.store?.close?.()
  }).finally(() => service.timers.close())
  const forget = signals ? endOnSignals({
    running: () => server.running,
    close() {
      server.end()
      return closed
    },
  }) : () => {}
  await closed.finally(forget)
}

/** The options, with the limits that clients of a protocol need where these do not say them. */
export function withDefaults<T extends object>(options: T, lines: Lines | undefined): T {
  const defaults = Object.entries(lines?.defaults ?? {})
  const missing = defaults.filter(([name]) => Reflect.get(options, name) === undefined)
  return { ...options, ...Object.fromEntries(missing) }
}

/** Throws `TypeError` where not exactly one of the parts serves lines. */
function linesIn(parts: readonly Part[]): Lines {
  const able = parts.filter(({ lines }) => lines !== undefined)
  const [lines, another] = able.flatMap((part) => part.lines ?? [])
  if (lines === undefined) {
    throw new TypeError(`None of the parts serves a client on standard input and output; add mcp(), of `
      + `triport/mcp, for hosts of tools, or acp(), of triport/acp, for editors`)
  }
  if (another === undefined) return lines
  const names = able.map(({ name }) => `'${name}'`).join(' and ')
  throw new TypeError(`One client on standard input and output has one protocol, and parts has ${names}; `
    + 'leave all but one out')
}

/** Opens all parts, in their order. `opened` gets those without lines. */
function openAll(
  parts: readonly Part[], lines: Lines, kernel: Kernel, opened: Opened[],
): OpenedLines {
  let serving: OpenedLines | undefined
  for (const part of parts) {
    if (part.lines === lines) serving = linesOf(lines, kernel)
    else opened.push(openedOf(part, kernel))
  }
  for (const one of opened) one.ready?.([])
  serving?.ready?.()
  return serving!
}

function linesOf(lines: Lines, kernel: Kernel): OpenedLines {
  const opened = lines.open(kernel)
  if (typeof opened === 'string') throw new TypeError(opened)
  return opened
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

async function endAll(opened: readonly Opened[]): Promise<void> {
  for (const one of opened) await one.cancel?.()
  for (const one of opened) await one.release?.()
}

function requireStream(name: string, stream: unknown, method: string, what: string): void {
  const isObject = typeof stream === 'object' && stream !== null
  if (isObject && typeof Reflect.get(stream, method) === 'function') return
  throw new TypeError(`${name} is ${show(stream)}; write ${what}`)
}
