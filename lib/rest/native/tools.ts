/**
 * Tools over plain HTTP: what there is, one of them, and a call with the arguments as the body. Agents have
 * paths of their own and are no tools here.
 */
import { Fault } from '../../define/fault.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { listEndpoint, shownTool, underscored } from '../reply/listing.ts'
import { caught, json } from '../reply/reply.ts'
import { answerTool } from './tool-answer.ts'
import type { Service } from '../../run/service.ts'
import type { Tool } from '../../define/tool.ts'
import type { Endpoint, Exchange } from '../../http/message/exchange.ts'

const said = (): Promise<typeof import('../openapi/openapi-catalog.ts')> => {
  return import('../openapi/openapi-catalog.ts')
}

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
      handle: (exchange) => caught(service, exchange, () => (
        answerTool(service, toolOf(service, exchange), exchange)
      )),
    },
  ]
}

function toolOf({ catalog }: Service, { params }: Exchange): Tool {
  const name = params.get('tool') ?? ''
  const tool = catalog.tool(name) ?? underscored(catalog.tools, name)
  if (tool !== undefined) return tool
  throw new Fault('not-found', `There is no tool '${name}' here; GET /tools lists those there are`)
}
