/**
 * The paths for clients of OpenAI: the agents and groups as models, and chat completions. Nothing is
 * remembered: such a client sends the whole conversation each time.
 * Spec: https://platform.openai.com/docs/api-reference/chat
 */
import { allowed } from '../../kernel/define/principal.ts'
import { Later } from '../../kernel/util/later.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { describer } from '../../floors/openapi/describer.ts'
import { hasAgents } from '../../floors/reply/agent-endpoints.ts'
import { endpoint, json, listHandler } from '../../floors/reply/reply.ts'
import { openaiErrors, requireModel } from './openai-errors.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Endpoint } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'

const runs = new Later(() => import('./chat-run.ts'))
const describedBy = describer(async () => (await import('./openapi-operations.ts')).openaiOperations)

export function chatEndpoints(service: Service): readonly Endpoint[] {
  const { catalog } = service
  const created = Math.floor(Date.now() / 1000)
  const modelOf = ({ id, name, description }: Agent | Group): object => (
    { id, object: 'model', created, owned_by: service.name, name, description }
  )
  const isOffered = hasAgents(service)
  return [
    endpoint(service, {
      method: 'GET', path: '/v1/models', describe: describedBy('GET', 'models'), isOffered,
      refusesBelow: '/v1/',
      work: listHandler(service, (principal) => (
        { object: 'list', data: allowed(principal, [...catalog.groups, ...catalog.agents]).map(modelOf) }
      )),
    }, openaiErrors),
    endpoint(service, {
      method: 'GET', path: '/v1/models/{agent}', describe: describedBy('GET', 'model'), isOffered,
      work: ({ params, origin }) => json(modelOf(requireModel(service, params.get('agent') ?? '', origin))),
    }, openaiErrors),
    endpoint(service, {
      method: 'POST', path: '/v1/chat/completions', accepts: [JSON_TYPE],
      describe: describedBy('POST', 'completion'), isOffered, load: runs.load,
      about: { title: 'OpenAI', text: 'chat completions, the agents are the models', rank: 3 },
      work: (exchange) => runs.loaded.answerCompletion(service, exchange),
    }, openaiErrors),
  ]
}
