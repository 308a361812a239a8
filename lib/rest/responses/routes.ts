/** The paths of Responses, beside those of chat completions. */
import { Later } from '../../util/later.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { requireModel } from '../openai/chat-completions.ts'
import { openaiFault, openaiRefusal } from '../openai/openai-errors.ts'
import { caught } from '../reply/reply.ts'
import type { Description, Endpoint, Exchange, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { MaybePromise } from '../../util/thenable.ts'

const responses = new Later(() => import('./responses.ts'))

type Operations = typeof import('./response-operations.ts')
type OperationName = Exclude<keyof Operations, 'responseComponents'>

/** What OpenAPI lists of one method. */
function describedBy(method: string, name: OperationName): () => Promise<Description> {
  return async () => {
    const operations: Operations = await import('./response-operations.ts')
    return { operations: { [method]: operations[name] }, components: operations.responseComponents }
  }
}

export function responseEndpoints(service: Service): readonly Endpoint[] {
  const isOffered = (): boolean => service.catalog.root !== undefined
  const at = (
    method: 'GET' | 'POST' | 'DELETE', path: string, name: OperationName,
    handle: (exchange: Exchange) => MaybePromise<Reply>,
  ): Endpoint => ({
    path, methods: [method], isOffered, refuse: openaiRefusal, load: responses.load,
    describe: describedBy(method.toLowerCase(), name),
    handle: (exchange) => caught(service, exchange, () => handle(exchange), openaiFault),
  })
  return [
    {
      ...at('POST', '/v1/responses', 'createOperation', (exchange) => (
        responses.loaded.createResponse(
          service, (model) => requireModel(service, model, exchange.origin), exchange,
        )
      )),
      accepts: [JSON_TYPE],
    },
    at('GET', '/v1/responses/{response}', 'getOperation', (exchange) => (
      responses.loaded.getResponse(service, exchange)
    )),
    at('DELETE', '/v1/responses/{response}', 'deleteOperation', (exchange) => (
      responses.loaded.deleteResponse(service, exchange)
    )),
    at('POST', '/v1/responses/{response}/cancel', 'cancelOperation', (exchange) => (
      responses.loaded.cancelResponse(service, exchange)
    )),
    at('GET', '/v1/responses/{response}/input_items', 'itemsOperation', (exchange) => (
      responses.loaded.listInputItems(service, exchange)
    )),
  ]
}
