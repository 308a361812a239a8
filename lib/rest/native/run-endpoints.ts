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
import type { MaybePromise } from '../../util/thenable.ts'

/** `name` is the last part of its paths, and of what OpenAPI lists. `load` is done before `answer`. */
export function runEndpoints(
  service: Service, name: 'agui' | 'ui-stream', load: NonNullable<Endpoint['load']>,
  answer: (agent: Agent | Group, exchange: Exchange) => MaybePromise<Reply>,
): readonly Endpoint[] {
  const { catalog } = service
  return [`/${name}`, `/agents/{agent}/${name}`].map((path) => ({
    path,
    methods: ['POST'],
    accepts: [JSON_TYPE],
    describe: describedBy('post', name),
    isOffered: () => catalog.root !== undefined,
    refuse: problemReply,
    load,
    handle: (exchange) => caught(service, exchange, () => answer(requireAgent(service, exchange), exchange)),
  }))
}

/**
 * The agent or group of a path, the main one where it names none. Throws `Fault('not-found')`, and
 * `Fault('forbidden')` where the caller lacks a scope.
 */
export function requireAgent({ catalog }: Service, { params, origin }: Exchange): Agent | Group {
  const id = params.get('agent')
  const agent = id === undefined ? catalog.root : catalog.runnable(id)
  if (agent === undefined) {
    const named = `There is no agent '${id}' here; GET /agents lists those there are`
    const unnamed = catalog.tools.length === 0 ? 'There is no agent here; GET / lists what there is'
      : 'There is no agent here, but tools: GET /tools lists them, and POST /tools/<name> calls one'
    throw new Fault('not-found', id === undefined ? unnamed : named)
  }
  requireScopes(origin.principal, agent.scopes)
  return agent
}
