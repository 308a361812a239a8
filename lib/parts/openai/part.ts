/** OpenAI's API: the agents and groups as models, chat completions and Responses. */
import { allowed } from '../../kernel/define/principal.ts'
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { Later } from '../../kernel/util/later.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { describer } from '../../floors/openapi/describer.ts'
import { hasAgents } from '../../floors/reply/agent-endpoints.ts'
import { replayHeaders } from '../../floors/reply/idempotent-reply.ts'
import { endpoint, json, listHandler } from '../../floors/reply/reply.ts'
import { openaiErrors, requireModel } from './openai-errors.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Endpoint } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Part } from '../../kernel/server/part.ts'
import type { Seal } from '../../kernel/wire/seal.ts'

const chats = new Later(() => import('./chat-run.ts'))
const responses = new Later(() => import('./responses/responses.ts'))
const describedBy = describer(async () => (await import('./openapi-operations.ts')).openaiOperations)

/** It has no options. */
export function openai(options: Readonly<Record<string, never>> = {}): Part {
  requirePartOptions('openai', options, [], arguments)
  return {
    name: 'openai',
    copy: kernelCopy,
    protocol: 'http',
    open: (kernel) => ({
      endpoints: [...chatEndpoints(kernel), ...responseEndpoints(kernel, kernel.seal)],
      exposes: [...replayHeaders, 'x-should-retry'],
    }),
  }
}

/**
 * Nothing is remembered: such a client sends the whole conversation each time.
 * Spec: https://platform.openai.com/docs/api-reference/chat
 */
function chatEndpoints(service: Service): readonly Endpoint[] {
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
      work: (exchange) => (
        json(modelOf(requireModel(service, exchange.params.get('agent') ?? '', exchange)))
      ),
    }, openaiErrors),
    endpoint(service, {
      method: 'POST', path: '/v1/chat/completions', accepts: [JSON_TYPE],
      describe: describedBy('POST', 'completion'), isOffered, load: chats.load,
      about: { title: 'OpenAI', text: 'chat completions, the agents are the models', rank: 3 },
      work: (exchange) => chats.loaded.answerCompletion(service, exchange),
    }, openaiErrors),
  ]
}

/** Other names are those of operations that are not known here. */
const RESPONSE_ID = /^resp_\w+$/

function responseEndpoints(service: Service, seal: Seal): readonly Endpoint[] {
  const at = (
    method: 'GET' | 'POST' | 'DELETE', below: string, name: keyof typeof import('./responses/responses.ts'),
    more: Partial<Endpoint> = {},
  ): Endpoint => endpoint(service, {
    method, path: `/v1/responses${below}`, describe: describedBy(method, name), ...more,
    isOffered: hasAgents(service), load: responses.load,
    mayName: (params) => !below.startsWith('/{') || RESPONSE_ID.test(params.get('response') ?? ''),
    work: (exchange) => responses.loaded[name](service, exchange, seal),
  }, openaiErrors)
  const accepts = [JSON_TYPE]
  const about = { title: 'OpenAI Responses', text: 'responses, the agents are the models', rank: 4 }
  return [
    at('POST', '', 'createResponse', { accepts, about }),
    at('POST', '/compact', 'compactResponse', { accepts }),
    at('GET', '/{response}', 'getResponse'),
    at('DELETE', '/{response}', 'deleteResponse'),
    at('POST', '/{response}/cancel', 'cancelResponse'),
    at('GET', '/{response}/input_items', 'inputItems'),
  ]
}
