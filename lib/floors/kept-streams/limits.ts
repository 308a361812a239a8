/** What a part keeps of its streams for clients that come back: options of each part that does. */
import { total } from '../../kernel/util/memory.ts'
import type { LimitTable } from '../../kernel/define/limits.ts'

export interface KeptStreamLimits {
  /** Bytes kept of one stream for a client that comes back. */
  readonly replayBytes: number
  /** Bytes kept for clients that come back, in all: of MCP, and as many of the AI SDK's chats. */
  readonly maxReplayBytes: number
}

const MiB = 1024 * 1024

export const keptStreamLimits: LimitTable<KeptStreamLimits> = {
  defaults: { replayBytes: MiB, maxReplayBytes: total(64 * MiB) },
  ordered: [['replayBytes', 'maxReplayBytes']],
}
