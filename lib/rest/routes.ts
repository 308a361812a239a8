/**
 * The HTTP door: a query to one agent or to a group, the lists, and the streamed reply.
 */
import { Fault } from '../core/fault.ts'
import { parseJson } from '../wire/json.ts'
import { acceptance, JSON_TYPE } from '../wire/media.ts'
import { problemReply } from '../wire/problem.ts'
import { EVENT_STREAM } from '../wire/sse.ts'
import { describeOperation, listOperation, queryOperation } from './openapi-operations.ts'
import { decodeQuery } from './query.ts'
import { faultText, json, problemTextReply, problemText } from './reply.ts'
import { QueryRun } from './run.ts'
import type { Agent, Group } from '../core/agent.ts'
import type { Service } from '../core/service.ts'
import type { Endpoint, Exchange, Reply } from '../http/exchange.ts'

/**
 * The paths of this door. `path` is where the main query goes besides `/` and `/agents`.
 * Throws `TypeError` where that is an agent's path already.
 */
export function queryEndpoints(service: Service, path: string | undefined): readonly Endpoint[] {
  const id = /^\/agents\/([^/]+)$/.exec(path ?? '')?.[1]
  if (id === 'list' || service.catalog.runnable(id ?? '') !== undefined) {
    throw new TypeError(`path is '${path}', which is taken; write a path of its own, as in '/ask'`)
  }
  const paths = [...new Set(['/', '/agents', ...path === undefined ? [] : [path]])]
  const bases = paths.filter((one) => one !== '/')
  const root = (): Agent | Group => service.catalog.root ?? missing('agent')
  const list = listEndpoint(service)
  return [
    ...paths.map((at) => queryEndpoint(service, at, root)),
    { ...list, path: '/agents' },
    ...bases.map((base) => ({ ...list, path: `${base}/list` })),
    ...bases.flatMap((base) => agentEndpoints(service, `${base}/{agent}`)),
  ]
}

function listEndpoint(service: Service): Endpoint {
  return {
    path: '/agents',
    methods: ['GET'],
    operations: { get: listOperation },
    refuse: problemReply,
    handle: () => json({ agents: [...service.catalog.groups, ...service.catalog.agents].map(summary) }),
  }
}

function agentEndpoints(service: Service, path: string): readonly Endpoint[] {
  const named = (exchange: Exchange): Agent | Group => {
    const id = exchange.params.get('agent') ?? ''
    return service.catalog.runnable(id) ?? missing(`agent '${id}'`)
  }
  return [queryEndpoint(service, path, named), {
    path,
    methods: ['GET'],
    operations: { get: describeOperation },
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

function missing(what: string): never {
  throw new Fault('not-found', `There is no ${what} here; GET /agents lists those there are`)
}

function queryEndpoint(
  service: Service, path: string, whoOf: (exchange: Exchange) => Agent | Group,
): Endpoint {
  return {
    path,
    methods: ['POST'],
    accepts: [JSON_TYPE],
    operations: { post: queryOperation },
    refuse: problemReply,
    handle: (exchange) => caught(service, exchange, () => ask(service, whoOf(exchange), exchange)),
  }
}

/** The one catch of this door. */
function caught(
  service: Service, { origin }: Exchange, work: () => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
  const failed = (error: unknown): Reply => problemTextReply(faultText(service, error, origin.requestId))
  try {
    const reply = work()
    return reply instanceof Promise ? reply.catch(failed) : reply
  } catch (error) {
    return failed(error)
  }
}

function ask(service: Service, who: Agent | Group, exchange: Exchange): Reply | Promise<Reply> {
  const { requestId } = exchange.origin
  const parsed = parseJson(exchange.body, service.limits.maxDepth)
  if (!parsed.ok) return problemTextReply(problemText(400, parsed.why, requestId))
  const query = decodeQuery(parsed.value, exchange.head.sessionId)
  if (!('query' in query)) {
    const { items: errors, isCut } = query
    const sentences = errors.map(({ path, message }) => `${path === '' ? 'The body' : path} ${message}`)
    const detail = isCut ? [`More than ${errors.length} members are wrong`, ...sentences] : sentences
    return problemTextReply(problemText(422, detail.join('; '), requestId, { errors }))
  }
  const { accept } = exchange.head
  const wantsEvents = acceptance(accept, EVENT_STREAM)
  const wantsJson = acceptance(accept, JSON_TYPE)
  if (wantsEvents === 0 && wantsJson === 0) {
    return problemTextReply(problemText(406, `This path answers ${JSON_TYPE} or ${EVENT_STREAM}`, requestId))
  }
  const run = new QueryRun(service, who, query, exchange)
  if (query.stream ?? wantsEvents > wantsJson) {
    service.workload.check()
    const reply = { status: 200, type: EVENT_STREAM, body: run }
    const recalled = run.recall()
    return recalled instanceof Promise ? recalled.then(() => reply) : reply
  }
  return run.reply()
}
