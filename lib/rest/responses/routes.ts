/** The paths of Responses, beside those of chat completions. */
import { Later } from '../../util/later.ts'
import { Quota } from '../../util/quota.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { requireModel } from '../openai/chat-completions.ts'
import { openaiFault, openaiRefusal } from '../openai/openai-errors.ts'
import { caught } from '../reply/reply.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Description, Endpoint, Exchange, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Seal } from '../../wire/seal.ts'

const responses = new Later(() => import('./responses.ts'))
const sockets = new Later(() => import('./response-socket.ts'))

type Operations = typeof import('./response-operations.ts')
type OperationName = Exclude<keyof Operations, 'responseComponents'>

/** What OpenAPI lists of one method. */
function describedBy(method: string, name: OperationName): () => Promise<Description> {
  return async () => {
    const operations: Operations = await import('./response-operations.ts')
    return { operations: { [method]: operations[name] }, components: operations.responseComponents }
  }
}

/** A GET that opens no WebSocket. */
function noWebSocket(exchange: Exchange): Reply {
  const wantsOne = exchange.header('sec-websocket-key') !== undefined
  const detail = wantsOne ? 'Within another server, or without one, no WebSocket is opened: POST instead'
    : 'POST a response, or open a WebSocket'
  const { requestId } = exchange.origin
  return openaiRefusal({ status: 405, detail, requestId, headers: ['Allow', 'POST'] })
}

export function responseEndpoints(service: Service, seal: Seal): readonly Endpoint[] {
  const kept = new Quota('bytes of open responses', service.limits.maxConversationsBytes)
  const resolveFor = ({ origin }: Exchange) => (model: string): Agent | Group => (
    requireModel(service, model, origin)
  )
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
        responses.loaded.createResponse(service, seal, resolveFor(exchange), exchange)
      )),
      accepts: [JSON_TYPE],
    },
    {
      ...at('GET', '/v1/responses', 'connectOperation', noWebSocket),
      load: sockets.load,
      connect: (exchange) => (
        new sockets.loaded.ResponseSocket(service, seal, resolveFor(exchange), kept, exchange)
      ),
    },
    {
      ...at('POST', '/v1/responses/compact', 'compactOperation', (exchange) => (
        responses.loaded.compactResponse(service, seal, resolveFor(exchange), exchange)
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
