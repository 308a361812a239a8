/** `serveStdio`: MCP or ACP on standard input and output, for programs that start a process. */
import { frameworks } from '../adapters/frameworks.ts'
import { kernelOfSockets, serveOverLines, withDefaults } from '../floors/lines/stdio-server.ts'
import { knownMembers, show } from '../kernel/define/validate.ts'
import { acp } from '../parts/acp/part.ts'
import { mcpChecks, mcpLimits } from '../parts/mcp/options.ts'
import { mcp } from '../parts/mcp/part.ts'
import { besides, optionsWith } from './create-server.ts'
import { serverLimits } from './limits.ts'
import { checkOptions, requireSecondOptions, serverOptions } from './options.ts'
import { normalizeDefinitions } from './subject.ts'
import type { LineStreams } from '../floors/lines/stdio-server.ts'
import type { LoneTool, Offer } from '../kernel/define/normalize-definitions.ts'
import type { Members } from '../kernel/define/validate.ts'
import type { Part } from '../kernel/server/part.ts'
import type { ServerOptions } from './options.ts'
import type { ForeignSubject, Subject, Things } from './subject.ts'

/** What `serveStdio` takes besides what is served. */
export interface StdioOptions extends Omit<ServerOptions, keyof Offer | 'protocol'>, LineStreams {
  /** `mcp` for hosts of tools, `acp` (Agent Client Protocol) for editors. Left out: `mcp`. */
  readonly protocol?: 'mcp' | 'acp' | undefined
}

/** Options that have no effect without a socket. */
export const ofSockets: readonly string[] = [...kernelOfSockets, 'path', 'metrics', 'a2a']

/** Options of MCP alone. */
const ofMcp: readonly string[] = ['instructions', 'mcp']

type MakePart = (options: ServerOptions) => Part

/** The parts that serve lines, by what `protocol` calls them. */
const protocols: ReadonlyMap<string, MakePart> = new Map<string, MakePart>([
  ['mcp', (all) => mcp({ instructions: all.instructions, ...membersOfMcp(all), ...limitsOfMcp(all) })],
  ['acp', () => acp()],
])

const membersOfMcp = (options: ServerOptions): object => knownMembers(options.mcp ?? {}, mcpChecks)
const limitsOfMcp = (options: ServerOptions): object => serverLimits(options)(mcpLimits)

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
  const { protocol = 'mcp', input, output, signals, ...rest } = options
  const makePart = protocols.get(protocol)
  if (makePart === undefined) {
    throw new TypeError(`protocol is ${show(protocol)}; over stdio write 'mcp' or 'acp'`)
  }
  const definitions = normalizeDefinitions(subject as Subject, options.name ?? 'triport', frameworks)
  checkOptions({ ...rest })
  const part = makePart(rest)
  const isMcp = protocol === 'mcp'
  const given: Readonly<Record<string, unknown>> = { ...rest }
  const useless = [...ofSockets, ...isMcp ? [] : ofMcp].filter((name) => given[name] !== undefined)
  const known = withDefaults({ ...rest, ...definitions }, part.lines)
  const made = optionsWith(known, [part, ...besides(rest, isMcp)])
  await serveOverLines({ ...made, input, output, signals }, useless)
}
