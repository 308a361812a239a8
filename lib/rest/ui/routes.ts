/** The paths for the chat of the AI SDK. */
import { Later } from '../../util/later.ts'
import { problemReply } from '../../wire/problem.ts'
import { describedBy } from '../native/catalog.ts'
import { requireAgent, runEndpoints } from '../native/run-endpoints.ts'
import { caught } from '../reply/reply.ts'
import type { Endpoint } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'

const runs = new Later(() => import('./ui-run.ts'))

export function uiEndpoints(service: Service): readonly Endpoint[] {
  const posts = runEndpoints(service, 'ui-stream', runs.load, (agent, exchange) => (
    runs.loaded.answerChat(service, agent, exchange)
  ))
  // A run ends when its client leaves, so a chat that comes back finds none.
  const resumed = posts.map((post): Endpoint => ({
    path: `${post.path}/{chat}/stream`,
    methods: ['GET'],
    describe: describedBy('get', 'resumeUiStream'),
    isOffered: () => service.catalog.root !== undefined,
    refuse: problemReply,
    handle: (exchange) => caught(service, exchange, () => {
      requireAgent(service, exchange)
      return { status: 204 }
    }),
  }))
  return [...posts, ...resumed]
}
