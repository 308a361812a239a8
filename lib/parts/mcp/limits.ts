/** The limits of MCP: its sessions, its batches, and what is kept for clients that come back. */
import { keptStreamLimits } from '../../floors/kept-streams/limits.ts'
import { stateLimits } from '../../floors/questions/limits.ts'
import type { KeptStreamLimits } from '../../floors/kept-streams/limits.ts'
import type { StateLimits } from '../../floors/questions/limits.ts'
import type { LimitTable } from '../../kernel/define/limits.ts'

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
