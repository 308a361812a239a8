/** The paths of AG-UI. */
import { Later } from '../../kernel/util/later.ts'
import { runEndpoints } from '../http/routes.ts'
import type { Endpoint } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Seal } from '../../kernel/wire/seal.ts'

const runs = new Later(() => import('./agui-run.ts'))

export function aguiEndpoints(service: Service, seal: Seal): readonly Endpoint[] {
  return runEndpoints(service, 'agui', runs.load, (agent, exchange) => (
    runs.loaded.answerRun(service, seal, agent, exchange)
  ))
}
