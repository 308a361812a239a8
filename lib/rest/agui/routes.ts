/** The paths of AG-UI: a run of the main agent, and of each. */
import { Fault } from '../../define/fault.ts'
import { requireScopes } from '../../define/principal.ts'
import { Later } from '../../util/later.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { describedBy } from '../native/catalog.ts'
import { caught } from '../reply/reply.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Endpoint } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { Seal } from '../../wire/seal.ts'

const runs = new Later(() => import('./agui-run.ts'))

export function aguiEndpoints(service: Service, seal: Seal): readonly Endpoint[] {
  const { catalog } = service
  const endpoint = (path: string, agentOf: (id: string) => Agent | Group | undefined): Endpoint => ({
    path,
    methods: ['POST'],
    accepts: [JSON_TYPE],
    describe: describedBy('post', 'agui'),
    isOffered: () => catalog.root !== undefined,
    refuse: problemReply,
    load: runs.load,
    handle: (exchange) => caught(service, exchange, () => {
      const id = exchange.params.get('agent') ?? ''
      const agent = agentOf(id)
      if (agent === undefined) {
        throw new Fault('not-found', `There is no agent '${id}' here; GET /agents lists those there are`)
      }
      requireScopes(exchange.origin.principal, agent.scopes)
      return runs.loaded.answerRun(service, seal, agent, exchange)
    }),
  })
  return [
    endpoint('/agui', () => catalog.root), endpoint('/agents/{agent}/agui', (id) => catalog.runnable(id)),
  ]
}
