/** The paths for the chat of the AI SDK. */
import { Later } from '../../kernel/util/later.ts'
import { describer } from '../../floors/openapi/describer.ts'
import { agentEndpoints, hasAgents, requireAgent } from '../../floors/reply/agent-endpoints.ts'
import { endpoint } from '../../floors/reply/reply.ts'
import type { Endpoint } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Chats } from './chats.ts'
import type { UiStreamLimits } from './limits.ts'

const module = new Later(() => import('./chats.ts'))
const describedBy = describer(async () => (await import('./openapi-operations.ts')).uiOperations)

export interface UiRoutes {
  readonly endpoints: readonly Endpoint[]
  status(): Chats['status']
  /** For a server that has closed. */
  close(): void
}

export function uiRoutes(service: Service, limits: UiStreamLimits): UiRoutes {
  let made: Chats | undefined
  const chats = (): Chats => made ??= new module.loaded.Chats(service, limits)
  const about = { title: 'AI SDK', text: 'the chat of the main agent, for useChat', rank: 6 }
  const own = { about, describe: describedBy('POST', 'chat'), load: module.load }
  const posts = agentEndpoints(service, 'ui-stream', own, (agent, exchange) => (
    chats().answer(agent, exchange)
  ))
  const streams = posts.flatMap(({ path }) => (['GET', 'DELETE'] as const).map((method) => endpoint(service, {
    method,
    path: `${path}/{chat}/stream`,
    describe: describedBy(method, method === 'GET' ? 'resume' : 'stop'),
    isOffered: hasAgents(service),
    load: module.load,
    work: (exchange) => (
      chats()[method === 'GET' ? 'resume' : 'stop'](requireAgent(service, exchange), exchange)
    ),
  })))
  return {
    endpoints: [...posts, ...streams],
    status: () => made?.status ?? { count: 0, bytes: 0 },
    close: () => made?.close(),
  }
}
