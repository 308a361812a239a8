/**
 * Tools over plain HTTP: what there is, one of them, and a call with the arguments as the body. Agents have
 * paths of their own and are no tools here.
 */
import { Fault } from '../core/fault.ts'
import { requireScopes } from '../core/principal.ts'
import { parseJson } from '../wire/json.ts'
import { JSON_TYPE } from '../wire/media.ts'
import { problemReply } from '../wire/problem.ts'
import { EVENT_STREAM } from '../wire/sse.ts'
import { replyOnce } from './idempotent-reply.ts'
import { listEndpoint, shownTool, underscored } from './listing.ts'
import { caught, json, notAcceptable, problemText, problemTextReply, wholeOrEvents } from './reply.ts'
import { replayedResult, streamedResult, wholeResult } from './tool-run.ts'
import type { Service } from '../core/service.ts'
import type { Tool } from '../core/tool.ts'
import type { Endpoint, Exchange, Reply } from '../http/exchange.ts'

const said = (): Promise<typeof import('./openapi-catalog.ts')> => import('./openapi-catalog.ts')

/** Their paths. */
export function toolEndpoints(service: Service): readonly Endpoint[] {
  const { catalog } = service
  const isOffered = (): boolean => catalog.tools.length > 0
  const list = (): object => ({ tools: catalog.tools.map(shownTool) })
  return [
    listEndpoint(catalog, '/tools', async () => (await said()).toolsOperation, isOffered, list),
    {
      path: '/tools/{tool}',
      methods: ['GET'],
      refuse: problemReply,
      handle: (exchange) => caught(service, exchange, () => json(shownTool(toolOf(service, exchange)))),
    },
    {
      path: '/tools/{tool}',
      methods: ['POST'],
      accepts: [JSON_TYPE],
      describe: async () => (await said()).describeTools(catalog.tools),
      refuse: problemReply,
      handle: (exchange) => caught(service, exchange, () => use(service, exchange)),
    },
  ]
}

function toolOf({ catalog }: Service, { params }: Exchange): Tool {
  const name = params.get('tool') ?? ''
  const tool = catalog.tool(name) ?? underscored(catalog.tools, name)
  if (tool !== undefined) return tool
  throw new Fault('not-found', `There is no tool '${name}' here; GET /tools lists those there are`)
}

function use(service: Service, exchange: Exchange): Reply | Promise<Reply> {
  const { body, head, origin } = exchange
  const tool = toolOf(service, exchange)
  // No body is no arguments, as in MCP.
  const parsed = parseJson(body === '' ? '{}' : body, service.limits.maxDepth, service.limits.maxObjects)
  if (!parsed.ok) return problemTextReply(problemText(400, parsed.why, origin.requestId))
  const wanted = wholeOrEvents(head.accept)
  if (wanted === undefined) return notAcceptable(origin.requestId)
  const run = wanted === EVENT_STREAM ? streamedResult : wholeResult
  const { idempotencyKey: key } = head
  if (key === undefined) return run(service, tool, parsed.value, origin)
  // Who may not use the tool any more does not hear what it said either.
  requireScopes(origin.principal, tool.scopes)
  return replyOnce(service, key, origin, {
    identity: JSON.stringify({ tool: tool.name, body }),
    timeoutMs: tool.timeoutMs ?? service.limits.toolTimeoutMs,
    isStream: wanted === EVENT_STREAM,
    begin: (hold) => run(service, tool, parsed.value, origin, hold),
    replay: replayedResult,
  })
}
