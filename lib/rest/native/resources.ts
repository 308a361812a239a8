/**
 * Resources over plain HTTP: what there is, and where one is read.
 */
import { problemReply } from '../../wire/problem.ts'
import { listEndpoint, shownResource, shownTemplate } from '../reply/listing.ts'
import { caught } from '../reply/reply.ts'
import { answerResource } from './resource-answer.ts'
import type { Service } from '../../run/service.ts'
import type { Endpoint } from '../../http/message/exchange.ts'

const said = (): Promise<typeof import('../openapi/openapi-catalog.ts')> => {
  return import('../openapi/openapi-catalog.ts')
}

/** Their paths. */
export function resourceEndpoints(service: Service): readonly Endpoint[] {
  const { catalog } = service
  const isOffered = (): boolean => catalog.resources.length > 0 || catalog.templates.length > 0
  const list = (): object => ({
    resources: catalog.resources.map(shownResource), resourceTemplates: catalog.templates.map(shownTemplate),
  })
  return [
    listEndpoint(catalog, '/resources', async () => (await said()).resourcesOperation, isOffered, list),
    {
      path: '/resources/read',
      methods: ['GET'],
      describe: async () => ({ operations: { get: (await said()).readOperation } }),
      isOffered,
      refuse: problemReply,
      handle: (exchange) => caught(service, exchange, () => answerResource(service, exchange)),
    },
  ]
}
