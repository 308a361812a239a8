/** The paths of AG-UI. */
import { Later } from '../../util/later.ts'
import { runEndpoints } from '../native/routes.ts'
import type { Endpoint } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { Seal } from '../../wire/seal.ts'

const runs = new Later(() => import('./agui-run.ts'))

export function aguiEndpoints(service: Service, seal: Seal): readonly Endpoint[] {
  return runEndpoints(service, 'agui', runs.load, (agent, exchange) => (
    runs.loaded.answerRun(service, seal, agent, exchange)
  ))
}
