/** AG-UI: agents for user interfaces. */
import { Later } from '../../kernel/util/later.ts'
import { limitsIn } from '../../kernel/define/limits.ts'
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { stateLimits } from '../../floors/questions/limits.ts'
import { replayHeaders } from '../../floors/reply/idempotent-reply.ts'
import { agentEndpoints } from '../../floors/reply/agent-endpoints.ts'
import { describer } from '../../floors/openapi/describer.ts'
import type { StateLimits } from '../../floors/questions/limits.ts'
import type { Part } from '../../kernel/server/part.ts'

const runs = new Later(() => import('./agui-run.ts'))
const describedBy = describer(async () => (await import('./openapi-operations.ts')).aguiOperations)
const optionNames = Object.keys(stateLimits.defaults)

/** Throws `TypeError` or `RangeError` for options that cannot be meant. */
export function agui(options: Partial<StateLimits> = {}): Part {
  requirePartOptions('agui', options, optionNames, arguments)
  const limits = limitsIn(stateLimits, options, 'agui')
  return {
    name: 'agui',
    copy: kernelCopy,
    optionNames,
    protocol: 'http',
    open(kernel) {
      const sealing = { seal: kernel.seal, ...limits }
      const endpoints = agentEndpoints(kernel, 'agui', {
        about: { title: 'AG-UI', text: 'runs of the main agent', rank: 5 },
        describe: describedBy('POST', 'run'), load: runs.load,
      }, (agent, exchange) => runs.loaded.answerRun(kernel, sealing, agent, exchange))
      return { endpoints, exposes: replayHeaders }
    },
  }
}
