/**
 * The paths of plain HTTP for queries to an agent or a group, the lists of them, and the conversations with
 * them.
 */
import { allowed } from '../../kernel/define/principal.ts'
import { Later } from '../../kernel/util/later.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { hasAgents, requireAgent } from '../../floors/reply/agent-endpoints.ts'
import { endpoint, json, listHandler } from '../../floors/reply/reply.ts'
import { describedBy } from './catalog.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Endpoint } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'

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
  const isOffered = hasAgents(service)
  const paths = [...new Set(['/', '/agents', ...path === undefined ? [] : [path]])]
  const bases = paths.filter((one) => one !== '/')
  const query = (at: string): Endpoint => endpoint(service, {
    method: 'POST', path: at, accepts: [JSON_TYPE], describe: describedBy('POST', 'query'), isOffered,
    load: queries.load,
    work: (exchange) => queries.loaded.answerQuery(service, requireAgent(service, exchange), exchange),
  })
  const list = endpoint(service, {
    method: 'GET', path: '/agents', describe: describedBy('GET', 'agents'), isOffered,
    work: listHandler(service, (principal) => (
      { agents: allowed(principal, [...catalog.groups, ...catalog.agents]).map(summary) }
    )),
  })
  return [
    ...paths.map(query),
    list,
    ...bases.map((base) => ({ ...list, path: `${base}/list` })),
    ...bases.flatMap((base) => [query(`${base}/{agent}`), endpoint(service, {
      method: 'GET', path: `${base}/{agent}`, describe: describedBy('GET', 'agent'), isOffered,
      about: { text: 'POST `{"query": "…"}` to an agent asks it.', rank: 1 },
      work(exchange) {
        const agent = requireAgent(service, exchange)
        const skills = agent.kind === 'agent' ? agent.skills : undefined
        return json({ ...summary(agent), skills })
      },
    })]),
  ]
}

/** The paths of the caller's conversations. Where no credential is asked for, they are not announced. */
export function conversationEndpoints(service: Service, isKeyed: () => boolean): readonly Endpoint[] {
  const isOffered = hasAgents(service)
  const at = (
    path: string, method: string, name: Parameters<typeof describedBy>[1],
    verb: keyof typeof import('./conversations.ts'),
  ): Endpoint => endpoint(service, {
    method, path, describe: describedBy(method, name), isOffered: () => isOffered() && isKeyed(),
    load: conversations.load,
    work: (exchange) => conversations.loaded[verb](service, exchange),
  })
  return [
    at('/conversations', 'GET', 'conversations', 'listConversations'),
    at('/conversations/{conversation}', 'GET', 'conversation', 'readConversation'),
    at('/conversations/{conversation}', 'DELETE', 'removeConversation', 'removeConversation'),
  ]
}

function summary({ id, name, description }: Agent | Group): object {
  return { id, name, description }
}
