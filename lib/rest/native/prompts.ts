/**
 * Prompts over plain HTTP: what there is, and where one is got.
 */
import { JSON_TYPE } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { listEndpoint, shownPrompt } from '../reply/listing.ts'
import { answerPrompt } from './prompt-answer.ts'
import { caught } from '../reply/reply.ts'
import type { Service } from '../../run/service.ts'
import type { Endpoint } from '../../http/message/exchange.ts'

const said = (): Promise<typeof import('../openapi/openapi-catalog.ts')> => {
  return import('../openapi/openapi-catalog.ts')
}

/** Their paths. */
export function promptEndpoints(service: Service): readonly Endpoint[] {
  const { catalog } = service
  const isOffered = (): boolean => catalog.prompts.length > 0
  const list = (): object => ({ prompts: catalog.prompts.map(shownPrompt) })
  return [
    listEndpoint(catalog, '/prompts', async () => (await said()).promptsOperation, isOffered, list),
    {
      path: '/prompts/{prompt}',
      methods: ['POST'],
      accepts: [JSON_TYPE],
      describe: async () => (await said()).describePrompts(catalog.prompts),
      refuse: problemReply,
      handle: (exchange) => caught(service, exchange, () => answerPrompt(service, exchange)),
    },
  ]
}
