/**
 * The paths of plain HTTP for queries to an agent or a group, the lists of them, and the conversations with
 * them.
 */
import { allowed } from '../../define/principal.ts'
import { Later } from '../../util/later.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { listHandler } from '../reply/list-reply.ts'
import { caught, json } from '../reply/reply.ts'
import { describedBy } from './catalog.ts'
import { requireAgent } from './run-endpoints.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Endpoint } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'

const queries = new Later(() => import('./query-run.ts'))
const conversations = new Later(() => import('./conversations.ts'))

/**
 * `path` is where queries to the main agent go besides `/` and `/agents`. Throws `TypeError` where that is an
 * agent's path already.
 */
export function queryEndpoints(service: Service, path: string | undefined): readonly Endpoint[] {
  const { catalog } = service
  const id = /^\/agents\/([^/]+)$/.exec(path ?? '')?.[1]
  if (id === 'list' || catalog.runnable(id ?? '') !== undefined) {
    throw new TypeError(`path is '${path}', which is taken; write a path of its own, as in '/ask'`)
  }
  const isOffered = (): boolean => catalog.root !== undefined
  const paths = [...new Set(['/', '/agents', ...path === undefined ? [] : [path]])]
  const bases = paths.filter((one) => one !== '/')
  const list: Endpoint = {
    path: '/agents',
    methods: ['GET'],
    describe: describedBy('get', 'agents'),
    refuse: problemReply,
    handle: listHandler(service, (principal) => (
      { agents: allowed(principal, [...catalog.groups, ...catalog.agents]).map(summary) }
    )),
  }
  return [
    ...paths.map((at) => queryEndpoint(service, at)),
    list,
    ...bases.map((base) => ({ ...list, path: `${base}/list` })),
    ...bases.flatMap((base) => agentEndpoints(service, `${base}/{agent}`)),
  ].map((endpoint) => ({ ...endpoint, isOffered }))
}

/** The paths of the caller's conversations. Where no credential is asked for, they are not announced. */
export function conversationEndpoints(service: Service, isKeyed: () => boolean): readonly Endpoint[] {
  const { catalog } = service
  type Module = typeof import('./conversations.ts')
  const endpoint = (
    path: string, method: string, name: Parameters<typeof describedBy>[1], verb: keyof Module,
  ): Endpoint => ({
    path,
    methods: [method],
    describe: describedBy(method.toLowerCase(), name),
    isOffered: () => catalog.root !== undefined && isKeyed(),
    refuse: problemReply,
    load: conversations.load,
    handle: (exchange) => caught(service, exchange, () => conversations.loaded[verb](service, exchange)),
  })
  return [
    endpoint('/conversations', 'GET', 'conversations', 'listConversations'),
    endpoint('/conversations/{conversation}', 'GET', 'conversation', 'readConversation'),
    endpoint('/conversations/{conversation}', 'DELETE', 'removeConversation', 'removeConversation'),
  ]
}

function agentEndpoints(service: Service, path: string): readonly Endpoint[] {
  return [queryEndpoint(service, path), {
    path,
    methods: ['GET'],
    describe: describedBy('get', 'agent'),
    refuse: problemReply,
    handle: (exchange) => caught(service, exchange, () => {
      const agent = requireAgent(service, exchange)
      const skills = agent.kind === 'agent' ? agent.skills : undefined
      return json({ ...summary(agent), skills })
    }),
  }]
}

function queryEndpoint(service: Service, path: string): Endpoint {
  return {
    path,
    methods: ['POST'],
    accepts: [JSON_TYPE],
    describe: describedBy('post', 'query'),
    refuse: problemReply,
    load: queries.load,
    handle: (exchange) => caught(service, exchange, () => (
      queries.loaded.answerQuery(service, requireAgent(service, exchange), exchange)
    )),
  }
}

function summary({ id, name, description }: Agent | Group): object {
  return { id, name, description }
}
