/**
 * The HTTP door: the paths of queries to one agent or to a group, and the lists.
 */
import { Fault } from '../../define/fault.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { promptEndpoints } from './catalog.ts'
import { answerQuery } from './query-run.ts'
import { caught, json } from '../reply/reply.ts'
import { resourceEndpoints } from './catalog.ts'
import { toolEndpoints } from './catalog.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Service } from '../../run/service.ts'
import type { Endpoint, Exchange } from '../../http/message/exchange.ts'

const said = (): Promise<typeof import('../openapi/openapi-operations.ts')> => {
  return import('../openapi/openapi-operations.ts')
}

/**
 * The paths of this door. `path` is where the main query goes besides `/` and `/agents`.
 * Throws `TypeError` where that is an agent's path already.
 */
export function queryEndpoints(service: Service, path: string | undefined): readonly Endpoint[] {
  const id = /^\/agents\/([^/]+)$/.exec(path ?? '')?.[1]
  if (id === 'list' || service.catalog.runnable(id ?? '') !== undefined) {
    throw new TypeError(`path is '${path}', which is taken; write a path of its own, as in '/ask'`)
  }
  const isOffered = (): boolean => service.catalog.root !== undefined
  const paths = [...new Set(['/', '/agents', ...path === undefined ? [] : [path]])]
  const bases = paths.filter((one) => one !== '/')
  const root = (): Agent | Group => service.catalog.root ?? nobody()
  const list = agentList(service)
  return [
    ...paths.map((at) => queryEndpoint(service, at, root)),
    { ...list, path: '/agents' },
    ...bases.map((base) => ({ ...list, path: `${base}/list` })),
    ...bases.flatMap((base) => agentEndpoints(service, `${base}/{agent}`)),
  ].map((endpoint) => ({ ...endpoint, isOffered }))
}

/** The paths of tools, resources and prompts. */
export function catalogEndpoints(service: Service): readonly Endpoint[] {
  return [...toolEndpoints(service), ...resourceEndpoints(service), ...promptEndpoints(service)]
}

function agentList(service: Service): Endpoint {
  return {
    path: '/agents',
    methods: ['GET'],
    describe: async () => ({ operations: { get: (await said()).httpOperations.agents } }),
    refuse: problemReply,
    handle: () => json({ agents: [...service.catalog.groups, ...service.catalog.agents].map(summary) }),
  }
}

function agentEndpoints(service: Service, path: string): readonly Endpoint[] {
  const named = (exchange: Exchange): Agent | Group => {
    const id = exchange.params.get('agent') ?? ''
    return service.catalog.runnable(id) ?? missing(id)
  }
  return [queryEndpoint(service, path, named), {
    path,
    methods: ['GET'],
    describe: async () => ({ operations: { get: (await said()).httpOperations.agent } }),
    refuse: problemReply,
    handle: (exchange) => caught(service, exchange, () => {
      const who = named(exchange)
      const skills = who.kind === 'agent' ? who.skills : undefined
      return json({ ...summary(who), ...skills !== undefined && { skills } })
    }),
  }]
}

function summary({ id, name, description }: Agent | Group): object {
  return { id, name, description }
}

function missing(id: string): never {
  throw new Fault('not-found', `There is no agent '${id}' here; GET /agents lists those there are`)
}

function nobody(): never {
  throw new Fault('not-found', 'There is no agent here; GET / lists what there is')
}

function queryEndpoint(
  service: Service, path: string, resolveAgent: (exchange: Exchange) => Agent | Group,
): Endpoint {
  return {
    path,
    methods: ['POST'],
    accepts: [JSON_TYPE],
    describe: async () => ({ operations: { post: (await said()).httpOperations.query } }),
    refuse: problemReply,
    handle: (exchange) => (
      caught(service, exchange, () => answerQuery(service, resolveAgent(exchange), exchange))
    ),
  }
}
