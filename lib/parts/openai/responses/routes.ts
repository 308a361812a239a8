/** The paths of Responses, beside those of chat completions. */
import { Later } from '../../../kernel/util/later.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { describer } from '../../../floors/openapi/describer.ts'
import { openaiErrors } from '../openai-errors.ts'
import { hasAgents } from '../../../floors/reply/agent-endpoints.ts'
import { endpoint } from '../../../floors/reply/reply.ts'
import type { Endpoint } from '../../../kernel/http/message/exchange.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { Seal } from '../../../kernel/wire/seal.ts'

const responses = new Later(() => import('./responses.ts'))
const describedBy = describer(async () => (await import('../openapi-operations.ts')).openaiOperations)

/** Other names are those of operations that are not known here. */
const RESPONSE_ID = /^resp_\w+$/

export function responseEndpoints(service: Service, seal: Seal): readonly Endpoint[] {
  const at = (
    method: 'GET' | 'POST' | 'DELETE', path: string, name: Parameters<typeof describedBy>[1],
    work: Endpoint['handle'], more: Partial<Endpoint> = {},
  ): Endpoint => endpoint(service, {
    method, path, describe: describedBy(method, name), isOffered: hasAgents(service),
    load: responses.load, work, ...more,
    mayName: (params) => !path.includes('{') || RESPONSE_ID.test(params.get('response') ?? ''),
  }, openaiErrors)
  const accepts = [JSON_TYPE]
  const about = { title: 'OpenAI Responses', text: 'responses, the agents are the models', rank: 4 }
  return [
    at('POST', '/v1/responses', 'createResponse', (exchange) => (
      responses.loaded.createResponse(service, seal, exchange)
    ), { accepts, about }),
    at('POST', '/v1/responses/compact', 'compactResponse', (exchange) => (
      responses.loaded.compactResponse(service, seal, exchange)
    ), { accepts }),
    at('GET', '/v1/responses/{response}', 'getResponse', (exchange) => (
      responses.loaded.getResponse(service, exchange)
    )),
    at('DELETE', '/v1/responses/{response}', 'deleteResponse', (exchange) => (
      responses.loaded.deleteResponse(service, exchange)
    )),
    at('POST', '/v1/responses/{response}/cancel', 'cancelResponse', (exchange) => (
      responses.loaded.cancelResponse(service, exchange)
    )),
    at('GET', '/v1/responses/{response}/input_items', 'inputItems', (exchange) => (
      responses.loaded.listInputItems(service, exchange)
    )),
  ]
}
