/** What a call carries that ends with a question: an option of each part whose clients carry it. */
import type { LimitTable } from '../../kernel/define/limits.ts'

export interface StateLimits {
  /** The sealed state that a client carries between two rounds of one call. */
  readonly maxStateBytes: number
}

export const stateLimits: LimitTable<StateLimits> = { defaults: { maxStateBytes: 16 * 1024 } }
