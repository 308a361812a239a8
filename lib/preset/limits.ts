/** All limits of a server with everything in one table: those of the kernel, and the options of its parts. */
import { stateLimits } from '../floors/questions/limits.ts'
import { kernelLimits, limitsIn } from '../kernel/define/limits.ts'
import { a2aLimits } from '../parts/a2a/model/limits.ts'
import { mcpLimits, sessionWithinServer } from '../parts/mcp/options.ts'
import { uiStreamLimits } from '../parts/ui-stream/limits.ts'
import type { StateLimits } from '../floors/questions/limits.ts'
import type { KernelLimits, LimitTable } from '../kernel/define/limits.ts'
import type { A2aLimits } from '../parts/a2a/model/limits.ts'
import type { McpLimits } from '../parts/mcp/options.ts'
import type { UiStreamLimits } from '../parts/ui-stream/limits.ts'

/** The limits of a server, all options of `createServer`. Bytes are bytes, `Ms` are milliseconds. */
export interface Limits extends
  McpLimits,
  A2aLimits,
  UiStreamLimits,
  StateLimits,
  KernelLimits {}

/** The limits of a server without options. */
export const defaults: Limits = Object.freeze({
  ...kernelLimits.defaults,
  ...stateLimits.defaults,
  ...mcpLimits.defaults,
  ...a2aLimits.defaults,
  ...uiStreamLimits.defaults,
})

const tables: readonly LimitTable<Partial<Limits>>[] = [
  kernelLimits,
  stateLimits,
  mcpLimits,
  a2aLimits,
  uiStreamLimits,
]

const all: LimitTable<Limits> = {
  defaults,
  mayBeZero: tables.flatMap(({ mayBeZero = [] }) => mayBeZero),
  ordered: [
    ...tables.flatMap(({ ordered = [] }) => ordered),
    sessionWithinServer,
  ],
}

/**
 * The limits of a server with these options. What it returns takes those of one table out of them. Throws
 * `RangeError` for what can be none, and for limits that contradict each other.
 */
export function serverLimits(options: Partial<Limits>): <T extends object>(table: LimitTable<T>) => T {
  const limits: object = limitsIn(all, options)
  return <T extends object>({ defaults: own }: LimitTable<T>) => (
    Object.fromEntries(Object.entries(limits).filter(([name]) => Object.hasOwn(own, name))) as T
  )
}
