/**
 * The paths for clients of OpenAI: the agents and groups as models, and a chat completion of one of them.
 *
 * Nothing is remembered: such a client sends the whole conversation each time.
 * Spec: https://platform.openai.com/docs/api-reference/chat
 */
import { JSON_TYPE } from '../../wire/media.ts'
import { requireModel } from './chat-model.ts'
import { answerCompletion } from './completion-answer.ts'
import { openaiFault, openaiRefusal } from './openai-errors.ts'
import { caught, json } from '../reply/reply.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Service } from '../../run/service.ts'
import type { Endpoint, Exchange, MethodOperations, Reply } from '../../http/message/exchange.ts'

/** What OpenAPI says, of what the file about that has. */
function said(
  operations: (all: typeof import('./chat-operations.ts')) => MethodOperations,
): NonNullable<Endpoint['describe']> {
  return async () => {
    const all = await import('./chat-operations.ts')
    return { operations: operations(all), components: all.chatComponents }
  }
}

/** Makes them. */
export function chatEndpoints(service: Service): readonly Endpoint[] {
  const { catalog } = service
  const created = Math.floor(Date.now() / 1000)
  const modelOf = ({ id, name, description }: Agent | Group): object => (
    { id, object: 'model', created, owned_by: service.name, name, description }
  )
  const one = ({ params }: Exchange): Reply => json(modelOf(requireModel(service, params.get('agent') ?? '')))
  const refuse = openaiRefusal
  const isOffered = (): boolean => catalog.root !== undefined
  return [
    {
      path: '/v1/models',
      methods: ['GET'],
      describe: said(({ modelsOperation: get }) => ({ get })),
      isOffered,
      refusesBelow: '/v1/',
      refuse,
      handle: () => json({ object: 'list', data: [...catalog.groups, ...catalog.agents].map(modelOf) }),
    },
    {
      path: '/v1/models/{agent}',
      methods: ['GET'],
      describe: said(({ modelOperation: get }) => ({ get })),
      refuse,
      handle: (exchange) => caught(service, exchange, () => one(exchange), openaiFault),
    },
    {
      path: '/v1/chat/completions',
      methods: ['POST'],
      accepts: [JSON_TYPE],
      describe: said(({ completionOperation: post }) => ({ post })),
      isOffered,
      refuse,
      handle: (exchange) => caught(service, exchange, () => answerCompletion(service, exchange), openaiFault),
    },
  ]
}
