/** All limits of a server with everything. */
import { kernelDefaults } from '../kernel/define/limits.ts'
import type { KernelLimits } from '../kernel/define/limits.ts'

/** The limits of a server, all options of `createServer`. Bytes are bytes, `Ms` are milliseconds. */
export interface Limits extends KernelLimits {}

/** The limits of a server without options. */
export const defaults: Limits = kernelDefaults
