/** The paths of AG-UI. */
import { Later } from '../../kernel/util/later.ts'
import { describer } from '../../floors/openapi/describer.ts'
import { agentEndpoints } from '../../floors/reply/agent-endpoints.ts'
import type { Endpoint } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { StateSeal } from './questions.ts'

const runs = new Later(() => import('./agui-run.ts'))
const describedBy = describer(async () => (await import('./openapi-operations.ts')).aguiOperations)

export function aguiEndpoints(service: Service, sealing: StateSeal): readonly Endpoint[] {
  const about = { title: 'AG-UI', text: 'runs of the main agent', rank: 5 }
  const own = { about, describe: describedBy('POST', 'run'), load: runs.load }
  return agentEndpoints(service, 'agui', own, (agent, exchange) => (
    runs.loaded.answerRun(service, sealing, agent, exchange)
  ))
}
