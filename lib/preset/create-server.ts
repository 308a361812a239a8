/** `createServer` with everything: options of the kernel and of all parts in, a server of those parts out. */
import { frameworks } from '../adapters/frameworks.ts'
import { stateLimits } from '../floors/questions/limits.ts'
import { conversationsOf } from '../floors/conversations/conversation.ts'
import { shareStore } from '../floors/sharing/share-store.ts'
import { tasksOf } from '../floors/tasks/tasks-floor.ts'
import { kernelLimits } from '../kernel/define/limits.ts'
import { knownMembers } from '../kernel/define/validate.ts'
import { requireOptions } from '../kernel/server/requirements.ts'
import { kernelServer } from '../kernel/server/server.ts'
import { a2aLimits } from '../parts/a2a/model/limits.ts'
import { a2aChecks } from '../parts/a2a/model/options.ts'
import { a2a, notServed } from '../parts/a2a/part.ts'
import { agui } from '../parts/agui/part.ts'
import { apps } from '../parts/apps/part.ts'
import { docs } from '../parts/docs/part.ts'
import { http } from '../parts/http/part.ts'
import { mcpChecks, mcpLimits } from '../parts/mcp/options.ts'
import { mcp } from '../parts/mcp/part.ts'
import { mcpTasks } from '../parts/mcp-tasks/part.ts'
import { metrics } from '../parts/metrics/part.ts'
import { oauth } from '../parts/oauth/part.ts'
import { openai } from '../parts/openai/part.ts'
import { skills } from '../parts/skills/part.ts'
import { telemetry } from '../parts/telemetry/part.ts'
import { uiStreamLimits } from '../parts/ui-stream/limits.ts'
import { uiStream } from '../parts/ui-stream/part.ts'
import { serverLimits } from './limits.ts'
import { absentPaths, checkOptions, protocolsOf, serverKnown, settingsOf } from './options.ts'
import type { KernelOptions } from '../kernel/server/options.ts'
import type { Opened, Part } from '../kernel/server/part.ts'
import type { KernelServer, KernelStatus } from '../kernel/server/server.ts'
import type { PushStatus } from '../parts/a2a/push/push.ts'
import type { ProtocolName, ServerOptions } from './options.ts'
import type { ForeignOffer } from './subject.ts'

/** What a server does and holds at one moment. Bytes are bytes; counts are of what is open or kept now. */
export interface ServerStatus extends KernelStatus {
  /** Those in this process. */
  readonly conversations: { readonly count: number; readonly bytes: number }
  /** Those in this process. `finished`: all that do not run, those that wait for a client too. */
  readonly tasks: { readonly running: number; readonly finished: number; readonly bytes: number }
  /** Webhooks of A2A; undefined without them. */
  readonly webhooks: PushStatus | undefined
  /** Sessions, subscribers, and what is kept for clients that come back; undefined without MCP. */
  readonly mcp: {
    readonly sessions: number
    readonly subscribers: number
    readonly replayBytes: number
  } | undefined
  /** Chats of the AI SDK that can be read again, with the bytes of the long ones; undefined without HTTP. */
  readonly chats: { readonly count: number; readonly bytes: number } | undefined
}

/** A server, made and not yet listening. */
export interface TriportServer extends KernelServer {
  readonly protocols: readonly ProtocolName[]
  status(): ServerStatus
}

/** Makes a server. Throws `TypeError` or `RangeError` with a sentence for every mistake in the options. */
export function createServer(options: Omit<ServerOptions, 'tools'> & ForeignOffer): TriportServer
export function createServer<const T extends readonly unknown[]>(options: ServerOptions<T>): TriportServer
export function createServer(options: object): TriportServer {
  requireOptions('createServer', arguments, serverKnown)
  return kernelServer(kernelOptionsOf(options)) as TriportServer
}

/** What stands beside each protocol: measures, what MCP has besides itself, and skills. */
export function besides(options: ServerOptions, isMcp: boolean): readonly (Part | false)[] {
  return [
    options.openTelemetry !== undefined && telemetry(options.openTelemetry, options.version ?? '1.0.0'),
    isMcp && apps(),
    isMcp && mcpTasks(),
    options.skills !== undefined && skills(options.skills),
  ]
}

/** The options of the kernel among those of a server of these parts, with what every server has. */
export function optionsWith(options: ServerOptions, parts: readonly (Part | false)[]): KernelOptions {
  return {
    ...settingsOf(options), ...serverLimits(options)(kernelLimits), adapters: frameworks, share: shareStore,
    parts: parts.filter((part) => part !== false),
  }
}

/** The options of the kernel, with the parts that these name. Throws `TypeError` for a mistake in them. */
export function kernelOptionsOf(options: ServerOptions): KernelOptions {
  checkOptions({ ...options })
  const { protocol, instructions, path, metrics: isMeasured } = options
  const hasOnlyTools = [options.agents, options.groups].every((list) => (list?.length ?? 0) === 0)
  const protocols = protocolsOf(protocol, hasOnlyTools)
  const isHttp = protocols.includes('http')
  const isMcp = protocols.includes('mcp')
  const isA2a = protocols.includes('a2a')
  const isAll = protocol === 'all'
  const limits = serverLimits(options)
  const ofMcp = knownMembers(options.mcp ?? {}, mcpChecks)
  const ofA2a = knownMembers(options.a2a ?? {}, a2aChecks)
  const parts: readonly (Part | false)[] = [
    everyFloor,
    docs(),
    isMeasured === true && metrics(),
    isHttp && http({ path }),
    isHttp && openai(),
    isHttp && agui(limits(stateLimits)),
    isHttp && uiStream(limits(uiStreamLimits)),
    isMcp && mcp({ instructions, ...ofMcp, ...limits(mcpLimits) }),
    isA2a && whereItCan(a2a({ ...ofA2a, ...limits(a2aLimits) }), isAll ? notServed : NO_ANSWERER),
    oauth(),
    ...besides(options, isMcp),
  ]
  return { ...optionsWith(options, parts), absent: absentPaths }
}

/** What `status()` always tells of. */
const everyFloor: Part = {
  name: 'floors',
  open(kernel) {
    tasksOf(kernel)
    conversationsOf(kernel)
    return {}
  },
}

const NO_ANSWERER = `protocol 'a2a' needs an agent or a tool: A2A clients send messages; add agents: [agent] `
  + `or tools: [tool], or serve resources and prompts with protocol: 'mcp'`

/** A part, or `instead` of it where it cannot serve what there is; a text: why there is no server then. */
function whereItCan(part: Part, instead: Opened | string): Part {
  return {
    ...part,
    open(kernel) {
      const opened = part.open?.(kernel) ?? {}
      return typeof opened === 'string' ? instead : opened
    },
  }
}
