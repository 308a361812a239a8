/**
 * The paths for clients of OpenAI: the agents and groups as models, and a chat completion of one of them.
 *
 * Nothing is remembered: such a client sends the whole conversation each time.
 * Spec: https://platform.openai.com/docs/api-reference/chat
 */
import { Fault } from '../../define/fault.ts'
import { parseJson } from '../../wire/json.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import { caught, json } from '../reply/reply.ts'
import { decodeChat } from './chat-messages.ts'
import { ChatRun } from './chat-run.ts'
import { openaiFault, openaiRefusal } from './openai-errors.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Endpoint, Exchange, MethodOperations, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'

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

/** Answers a chat with its completion. Throws, or rejects with, a `Fault`. */
export function answerCompletion(service: Service, { body, origin }: Exchange): Reply | Promise<Reply> {
  const parsed = parseJson(body, service.limits.maxDepth, service.limits.maxObjects)
  if (!parsed.ok) throw new Fault('invalid', parsed.why)
  const request = decodeChat(parsed.value)
  const run = new ChatRun(service, requireModel(service, request.model), request, origin)
  if (!request.isStream) return run.reply()
  service.workload.check(origin)
  return { status: 200, type: EVENT_STREAM, body: run }
}

/** Whom a client means by `model`. Throws `Fault('not-found')` where there is nobody. */
export function requireModel({ catalog }: Service, id: string): Agent | Group {
  const who = catalog.runnable(id)
  if (who !== undefined) return who
  const remedy = 'GET /v1/models lists those there are'
  const detail = { param: 'model', code: 'model_not_found' }
  throw new Fault('not-found', `The model '${id.slice(0, 60)}' does not exist; ${remedy}`, detail)
}
