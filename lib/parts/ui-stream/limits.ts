/** The limits of chats that can be read again. */
import { keptStreamLimits } from '../../floors/kept-streams/limits.ts'
import type { KeptStreamLimits } from '../../floors/kept-streams/limits.ts'
import type { LimitTable } from '../../kernel/define/limits.ts'

/** Options of `uiStream`. */
export interface UiStreamLimits extends KeptStreamLimits {
  /**
   * A run of the AI SDK's chat goes on for so long without a client that reads it, and its end can be read
   * for so long. 0: neither.
   */
  readonly resumeMs: number
}

export const uiStreamLimits: LimitTable<UiStreamLimits> = {
  defaults: { ...keptStreamLimits.defaults, resumeMs: 0 },
  mayBeZero: ['resumeMs'],
  ordered: keptStreamLimits.ordered!,
}
