/** What is set of MCP: its options, and its limits. */
import { keptStreamLimits } from '../../floors/kept-streams/limits.ts'
import { isRegistryName } from '../../floors/hosts/mcp-registry.ts'
import { stateLimits } from '../../floors/questions/limits.ts'
import { isRecord } from '../../kernel/define/content.ts'
import { mustBe, mustBeIcons, mustBeOptions, requireJson } from '../../kernel/define/validate.ts'
import type { KeptStreamLimits } from '../../floors/kept-streams/limits.ts'
import type { StateLimits } from '../../floors/questions/limits.ts'
import type { LimitTable } from '../../kernel/define/limits.ts'
import type { Checks, Icon } from '../../kernel/define/validate.ts'

/** Options of MCP. */
export interface McpOptions {
  /** `optional` (default): calls are served without one too. `required`: 400 without. `none`: never made. */
  readonly sessions?: 'optional' | 'required' | 'none' | undefined
  /** How a model should use this server. */
  readonly instructions?: string | undefined
  /** The server's name, for people. Left out: clients show `name`. */
  readonly title?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly websiteUrl?: string | undefined
  /**
   * The name of this server in reverse-DNS form, `com.example/shop`: with it a server card is served, which
   * is a draft (SEP-2127), and an AI catalog that leads to it. Over HTTP only.
   */
  readonly serverCard?: string | undefined
  /** Extensions of MCP that this server has, by name, with their settings. */
  readonly extensions?: Readonly<Record<string, object>> | undefined
  /** Items on one page of a list. Left out: 1000. */
  readonly pageSize?: number | undefined
  /**
   * How long clients may keep lists and resources, in milliseconds, and whether for everybody (2026-07-28).
   * Left out: 0 and `private`.
   */
  readonly cache?: { readonly ttlMs: number; readonly scope?: 'public' | 'private' | undefined } | undefined
}

export interface McpSetup extends McpOptions {
  readonly limits: McpLimits
  /** Whether callers may show a key: it may be made when the server listens. */
  readonly takesKeys?: () => boolean
}

const isString = (value: unknown): boolean => typeof value === 'string'
const string = mustBe(isString, 'write a string')
const address = mustBe((value) => isString(value) && URL.canParse(String(value)),
  `write a whole address, as in 'https://example.com'`)

/** The name of an extension, `com.example/search`, as clients know it. */
const EXTENSION = /^[a-z][a-z\d.-]*\/[\w.-]+$/i

const mustBeExtensions = mustBe(areExtensions,
  `write names with a prefix, as in { 'com.example/search': {} }`)

function areExtensions(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).every((name) => EXTENSION.test(name) && isRecord(value[name]))
}

const cacheChecks: Checks<NonNullable<McpOptions['cache']>> = {
  ttlMs: mustBe((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'write whole milliseconds'),
  scope: mustBe((value) => value === 'public' || value === 'private', `write 'public' or 'private'`),
}

export const mcpChecks: Checks<McpOptions> = {
  sessions: mustBe((value) => ['optional', 'required', 'none'].some((one) => one === value),
    `write 'optional', 'required' or 'none'`),
  instructions: string, title: string, websiteUrl: address, icons: mustBeIcons,
  serverCard: mustBe(isRegistryName, `write a name in reverse-DNS form, as in 'com.example/shop'`),
  extensions(owner, value, member) {
    mustBeExtensions(owner, value, member)
    requireJson(`${owner}.${member} has settings`, value)
  },
  pageSize: mustBe((value) => Number.isSafeInteger(value) && Number(value) > 0,
    'write a whole number above zero'),
  cache: mustBeOptions(`write { ttlMs: 60_000, scope: 'public' }`, cacheChecks),
}

/** Options of `mcp`. Bytes are bytes, `Ms` are milliseconds. */
export interface McpLimits extends KeptStreamLimits, StateLimits {
  /** Messages in one JSON-RPC batch. */
  readonly maxBatch: number
  /** Calls that run at one time in one session; never more than `maxCalls`. */
  readonly maxCallsPerSession: number
  /** MCP sessions; over it the one idle for longest ends. */
  readonly maxSessions: number
  /** An MCP session without a call, a stream or a request ends after this. */
  readonly sessionIdleMs: number
  /** Events kept of one stream for a client that comes back. */
  readonly replayEvents: number
  /** How long an event is kept for a client that comes back. */
  readonly replayMs: number
}

export const mcpLimits: LimitTable<McpLimits> = {
  defaults: {
    ...keptStreamLimits.defaults,
    ...stateLimits.defaults,
    maxBatch: 100,
    maxCallsPerSession: 64,
    maxSessions: 10_000,
    sessionIdleMs: 30 * 60_000,
    replayEvents: 256,
    replayMs: 5 * 60_000,
  },
  ordered: keptStreamLimits.ordered!,
}

/** A session has no more calls than the kernel lets run. */
export const sessionWithinServer: readonly ['maxCallsPerSession', 'maxCalls'] = (
  ['maxCallsPerSession', 'maxCalls']
)
