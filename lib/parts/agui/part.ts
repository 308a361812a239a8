/** AG-UI: agents for user interfaces. */
import { limitsIn } from '../../kernel/define/limits.ts'
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { stateLimits } from '../../floors/questions/limits.ts'
import { replayHeaders } from '../../floors/reply/idempotent-reply.ts'
import { aguiEndpoints } from './routes.ts'
import type { StateLimits } from '../../floors/questions/limits.ts'
import type { Part } from '../../kernel/server/part.ts'

const optionNames = Object.keys(stateLimits.defaults)

/** Throws `TypeError` or `RangeError` for options that cannot be meant. */
export function agui(options: Partial<StateLimits> = {}): Part {
  requirePartOptions('agui', options, optionNames)
  const limits = limitsIn(stateLimits, options, 'agui')
  return {
    name: 'agui',
    copy: kernelCopy,
    optionNames,
    protocol: 'http',
    open: (kernel) => ({
      endpoints: aguiEndpoints(kernel, { seal: kernel.seal, ...limits }), exposes: replayHeaders,
    }),
  }
}
