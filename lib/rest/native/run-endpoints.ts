/** The paths of a face that runs one agent: that of the main agent, and of each. */
import { Fault } from '../../define/fault.ts'
import { requireScopes } from '../../define/principal.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { caught } from '../reply/reply.ts'
import { describedBy } from './catalog.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Endpoint, Exchange, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'

/** `name` is the last part of its paths, and of what OpenAPI lists. `load` is done before `answer`. */
export function runEndpoints(
  service: Service, name: 'agui' | 'ui-stream', load: NonNullable<Endpoint['load']>,
  answer: (agent: Agent | Group, exchange: Exchange) => Reply,
): readonly Endpoint[] {
  const { catalog } = service
  const endpoint = (path: string, agentOf: (id: string) => Agent | Group | undefined): Endpoint => ({
    path,
    methods: ['POST'],
    accepts: [JSON_TYPE],
    describe: describedBy('post', name),
    isOffered: () => catalog.root !== undefined,
    refuse: problemReply,
    load,
    handle: (exchange) => caught(service, exchange, () => {
      const id = exchange.params.get('agent') ?? ''
      const agent = agentOf(id)
      if (agent === undefined) {
        throw new Fault('not-found', `There is no agent '${id}' here; GET /agents lists those there are`)
      }
      requireScopes(exchange.origin.principal, agent.scopes)
      return answer(agent, exchange)
    }),
  })
  return [
    endpoint(`/${name}`, () => catalog.root),
    endpoint(`/agents/{agent}/${name}`, (id) => catalog.runnable(id)),
  ]
}
