/**
 * The paths for clients of OpenAI: the agents and groups as models, and chat completions. Nothing is
 * remembered: such a client sends the whole conversation each time.
 * Spec: https://platform.openai.com/docs/api-reference/chat
 */
import { Fault } from '../../define/fault.ts'
import { allowed, requireScopes } from '../../define/principal.ts'
import { Later } from '../../util/later.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { listHandler } from '../reply/list-reply.ts'
import { caught, json } from '../reply/reply.ts'
import { openaiFault, openaiRefusal } from './openai-errors.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Origin } from '../../define/call.ts'
import type { Description, Endpoint } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'

const runs = new Later(() => import('./chat-run.ts'))

type Operations = typeof import('./chat-operations.ts')

/** What OpenAPI lists of one method. */
function describedBy(
  method: string, name: 'modelsOperation' | 'modelOperation' | 'completionOperation',
): () => Promise<Description> {
  return async () => {
    const operations: Operations = await import('./chat-operations.ts')
    return { operations: { [method]: operations[name] }, components: operations.chatComponents }
  }
}

export function chatEndpoints(service: Service): readonly Endpoint[] {
  const { catalog } = service
  const created = Math.floor(Date.now() / 1000)
  const modelOf = ({ id, name, description }: Agent | Group): object => (
    { id, object: 'model', created, owned_by: service.name, name, description }
  )
  const isOffered = (): boolean => catalog.root !== undefined
  return [
    {
      path: '/v1/models',
      methods: ['GET'],
      describe: describedBy('get', 'modelsOperation'),
      isOffered,
      refusesBelow: '/v1/',
      refuse: openaiRefusal,
      handle: listHandler(service, (principal) => (
        { object: 'list', data: allowed(principal, [...catalog.groups, ...catalog.agents]).map(modelOf) }
      )),
    },
    {
      path: '/v1/models/{agent}',
      methods: ['GET'],
      describe: describedBy('get', 'modelOperation'),
      refuse: openaiRefusal,
      handle: (exchange) => caught(service, exchange, () => (
        json(modelOf(requireModel(service, exchange.params.get('agent') ?? '', exchange.origin)))
      ), openaiFault),
    },
    {
      path: '/v1/chat/completions',
      methods: ['POST'],
      accepts: [JSON_TYPE],
      describe: describedBy('post', 'completionOperation'),
      isOffered,
      refuse: openaiRefusal,
      load: runs.load,
      handle: (exchange) => caught(service, exchange, () => (
        runs.loaded.answerCompletion(
          service, (model) => requireModel(service, model, exchange.origin), exchange,
        )
      ), openaiFault),
    },
  ]
}

/** The agent or group that is named as `model`. Throws `Fault('not-found')`, or `Fault('forbidden')`. */
export function requireModel({ catalog }: Service, id: string, { principal }: Origin): Agent | Group {
  const agent = catalog.runnable(id)
  if (agent !== undefined) {
    requireScopes(principal, agent.scopes)
    return agent
  }
  const remedy = 'GET /v1/models lists those there are'
  const detail = { param: 'model', code: 'model_not_found' }
  throw new Fault('not-found', `The model '${id.slice(0, 60)}' does not exist; ${remedy}`, detail)
}
