/** Endpoints that are those of an agent or a group: one that the path names, else the main one. */
import { Fault } from '../../kernel/define/fault.ts'
import { requireScopes } from '../../kernel/define/principal.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { endpoint } from './reply.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Endpoint, Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'

/**
 * The paths of a protocol that runs one agent: that of the main agent, and of each. `name` is their last
 * part. `load` is done before `answer`, and `about` is of the path of the main agent.
 */
export function agentEndpoints(
  service: Service, name: string, { about, ...rest }: Pick<Endpoint, 'about' | 'describe' | 'load'>,
  answer: (agent: Agent | Group, exchange: Exchange) => MaybePromise<Reply>,
): readonly Endpoint[] {
  return [`/${name}`, `/agents/{agent}/${name}`].map((path) => endpoint(service, {
    method: 'POST', path, accepts: [JSON_TYPE], ...rest, isOffered: hasAgents(service),
    about: path.includes('{') ? undefined : about,
    work: (exchange) => answer(requireAgent(service, exchange), exchange),
  }))
}

/** Whether there is an agent that paths are announced for. */
export function hasAgents({ catalog }: Service): () => boolean {
  return () => catalog.root !== undefined
}

/**
 * The agent or group of a path, the main one where it names none. Throws `Fault('not-found')`, and
 * `Fault('forbidden')` where the caller lacks a scope.
 */
export function requireAgent({ catalog }: Service, { params, origin, basePath }: Exchange): Agent | Group {
  const id = params.get('agent')
  const agent = id === undefined ? catalog.root : catalog.runnable(id)
  if (agent === undefined) {
    const named = `There is no agent '${id}' here; GET ${basePath}/agents lists those there are`
    const tools = `${basePath}/tools`
    const unnamed = catalog.tools.length === 0
      ? `There is no agent here; GET ${basePath}/ lists what there is`
      : `There is no agent here, but tools: GET ${tools} lists them, and POST ${tools}/<name> calls one`
    throw new Fault('not-found', id === undefined ? unnamed : named)
  }
  requireScopes(origin, agent.scopes)
  return agent
}
