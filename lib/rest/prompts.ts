/**
 * Prompts over plain HTTP: what there is, and one with its arguments as the body.
 */
import { PlainChannel } from '../core/converse.ts'
import { Fault } from '../core/fault.ts'
import { LiveCall } from '../core/live-call.ts'
import { getPrompt } from '../core/reading.ts'
import { parseJson } from '../wire/json.ts'
import { JSON_TYPE } from '../wire/media.ts'
import { problemReply } from '../wire/problem.ts'
import { listEndpoint, shownPrompt, underscored } from './listing.ts'
import { boundedJson, caught, problemText, problemTextReply } from './reply.ts'
import type { PromptResult } from '../core/prompt.ts'
import type { Service } from '../core/service.ts'
import type { Endpoint, Exchange, Reply } from '../http/exchange.ts'

const said = (): Promise<typeof import('./openapi-catalog.ts')> => import('./openapi-catalog.ts')

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
      handle: (exchange) => caught(service, exchange, () => get(service, exchange)),
    },
  ]
}

function get(service: Service, { body, params, origin }: Exchange): Reply | Promise<Reply> {
  const { catalog, limits } = service
  const name = params.get('prompt') ?? ''
  const prompt = catalog.prompt(name) ?? underscored(catalog.prompts, name)
  if (prompt === undefined) {
    throw new Fault('not-found', `There is no prompt '${name}' here; GET /prompts lists those there are`)
  }
  // No body is no arguments, as in MCP.
  const parsed = parseJson(body === '' ? '{}' : body, limits.maxDepth, limits.maxObjects)
  if (!parsed.ok) return problemTextReply(problemText(400, parsed.why, origin.requestId))
  const channel = new PlainChannel(service, origin, 'http')
  const call = new LiveCall(origin, channel, channel)
  const reply = ({ description, messages }: PromptResult): Reply => (
    boundedJson({ description, messages }, limits)
  )
  const result = getPrompt(service, prompt.name, parsed.value, call)
  if (!(result instanceof Promise)) return reply(result)
  call.cancelWhenGone()
  return result.then(reply)
}
