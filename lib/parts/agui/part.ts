/** AG-UI: agents for user interfaces. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { replayHeaders } from '../../floors/reply/idempotent-reply.ts'
import { rejectUnknown } from '../../kernel/define/validate.ts'
import { aguiEndpoints } from './routes.ts'
import type { Part } from '../../kernel/server/part.ts'

/** It has no options. */
export function agui(options: Readonly<Record<string, never>> = {}): Part {
  rejectUnknown('agui', options, [])
  return {
    name: 'agui',
    copy: kernelCopy,
    protocol: 'http',
    open: (kernel) => ({ endpoints: aguiEndpoints(kernel, kernel.seal), exposes: replayHeaders }),
  }
}
