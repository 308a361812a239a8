/** The paths for the chat of the AI SDK. */
import { Later } from '../../util/later.ts'
import { problemReply } from '../../wire/problem.ts'
import { requireAgent, runEndpoints } from '../native/run-endpoints.ts'
import { caught } from '../reply/reply.ts'
import type { Endpoint } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { Chats } from './chats.ts'

const module = new Later(() => import('./chats.ts'))

export interface UiRoutes {
  readonly endpoints: readonly Endpoint[]
  status(): Chats['status']
  /** For a server that has closed. */
  close(): void
}

export function uiRoutes(service: Service): UiRoutes {
  let made: Chats | undefined
  const chats = (): Chats => made ??= new module.loaded.Chats(service)
  const posts = runEndpoints(service, 'ui-stream', module.load, (agent, exchange) => (
    chats().answer(agent, exchange)
  ))
  const streams = posts.map((post): Endpoint => ({
    path: `${post.path}/{chat}/stream`,
    methods: ['GET', 'DELETE'],
    describe: async () => {
      const { httpOperations } = await import('../openapi/openapi-operations.ts')
      return { operations: { get: httpOperations.resumeUiStream, delete: httpOperations.stopUiStream } }
    },
    isOffered: () => service.catalog.root !== undefined,
    refuse: problemReply,
    load: module.load,
    handle: (exchange) => caught(service, exchange, () => {
      const verb = exchange.method === 'DELETE' ? 'stop' : 'resume'
      return chats()[verb](requireAgent(service, exchange), exchange)
    }),
  }))
  return {
    endpoints: [...posts, ...streams],
    status: () => made?.status ?? { count: 0, bytes: 0 },
    close: () => made?.close(),
  }
}
