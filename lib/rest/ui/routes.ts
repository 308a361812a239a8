/** The paths for the chat of the AI SDK. */
import { Later } from '../../util/later.ts'
import { problemReply } from '../../wire/problem.ts'
import { requireAgent, runEndpoints } from '../native/run-endpoints.ts'
import { caught } from '../reply/reply.ts'
import type { Endpoint } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { UiChats } from './ui-run.ts'

const runs = new Later(() => import('./ui-run.ts'))

/** Endpoints, and what to do when the server has closed. */
export function uiRoutes(service: Service): { readonly endpoints: readonly Endpoint[]; close(): void } {
  let chats: UiChats | undefined
  const posts = runEndpoints(service, 'ui-stream', runs.load, (agent, exchange) => (
    (chats ??= new runs.loaded.UiChats(service)).answer(agent, exchange)
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
    handle: (exchange) => caught(service, exchange, () => {
      const agent = requireAgent(service, exchange)
      const verb = exchange.method === 'DELETE' ? 'stop' : 'resume'
      return chats?.[verb](agent, exchange) ?? { status: 204 }
    }),
  }))
  return { endpoints: [...posts, ...streams], close: () => chats?.close() }
}
