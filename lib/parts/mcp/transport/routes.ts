import { sharedOf } from '../../../floors/shared/shared-of.ts'
import { Later } from '../../../kernel/util/later.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { problemReply } from '../../../kernel/wire/problem.ts'
import { describer } from '../../../floors/openapi/describer.ts'
import { McpServer } from '../methods/methods.ts'
import { refuseHttp } from '../protocol/replies.ts'
import { get, post, remove, withSession } from './streamable-http.ts'
import { openLegacySse, postMessage, serveLegacySse } from './http-sse.ts'
import { handOver, serveResumes } from './resume.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { Endpoint } from '../../../kernel/http/message/exchange.ts'
import type { Seal } from '../../../kernel/wire/seal.ts'
import type { McpSetup } from '../request/context.ts'
import type { ServerCards } from '../request/server-card.ts'

export interface McpRoutes {
  readonly endpoints: readonly Endpoint[]
  /** All parts are open. Throws `TypeError` for tools that an extension cannot serve. */
  extend(): void
  status(): { readonly sessions: number; readonly subscribers: number; readonly replayBytes: number }
  /** Ends what only waits; may be called again. */
  closeIdle(): void
  /** Ends everything. Resolves when other processes can read what clients have not; never rejects. */
  close(): Promise<void>
}

const describedBy = describer(async () => (await import('../protocol/openapi-operations.ts')).mcpOperations)
const later = new Later(() => import('../request/server-card.ts'))

/** The server card, and the catalog that leads to it. Throws `TypeError` where it would describe nothing. */
function cardEndpoints(service: Service, options: McpSetup): readonly Endpoint[] {
  if (options.serverCard === undefined) return []
  if (service.description === '') {
    throw new TypeError(`mcp.serverCard needs a description of the server; write description: 'Sells tea.'`)
  }
  let made: ServerCards | undefined
  const cards = (): ServerCards => made ??= later.loaded.serverCards(service, options)
  const at = (path: string, outsideMount: boolean, handle: Endpoint['handle']): Endpoint => ({
    path, outsideMount, methods: ['GET'], open: 'public', refuse: problemReply, load: later.load, handle,
    describe: describedBy('GET', 'serverCard'),
  })
  return [
    at('/mcp/server-card', false, (exchange) => cards().card(exchange)),
    at('/.well-known/ai-catalog.json', true, (exchange) => cards().catalog(exchange)),
  ]
}

/** Makes the endpoints. Throws `TypeError` where two tools would have one name. */
export function mcpRoutes(service: Service, options: McpSetup, seal: Seal): McpRoutes {
  const mcp = new McpServer(service, options, seal)
  serveLegacySse(mcp)
  serveResumes(mcp)
  const writeUnread = handOver(mcp)
  const at = (
    method: 'POST' | 'GET' | 'DELETE', path: string, operation: Parameters<typeof describedBy>[1],
    handle: Endpoint['handle'], about?: Endpoint['about'],
  ): Endpoint => ({
    path, methods: [method], ...method === 'POST' && { accepts: [JSON_TYPE] }, refuse: refuseHttp,
    describe: describedBy(method, operation), about, handle,
  })
  const about = { title: 'MCP', text: 'tools, resources and prompts, over Streamable HTTP', rank: 1 }
  const endpoints: readonly Endpoint[] = [
    at('POST', '/mcp', 'call', post.bind(undefined, mcp), about),
    at('GET', '/mcp', 'stream', withSession.bind(undefined, mcp, get)),
    at('DELETE', '/mcp', 'end', withSession.bind(undefined, mcp, remove)),
    at('GET', '/sse', 'legacySse', openLegacySse.bind(undefined, mcp)),
    at('POST', '/messages', 'post', postMessage.bind(undefined, mcp)),
    ...cardEndpoints(service, options),
  ]
  return {
    endpoints,
    extend() {
      mcp.extend()
      if (sharedOf(service) !== undefined) for (const one of mcp.extensions) void one.takeOver?.()
    },
    status: () => ({
      sessions: mcp.sessions.count, subscribers: mcp.notifications.count, replayBytes: mcp.replay.bytes,
    }),
    closeIdle() {
      void writeUnread()
      mcp.closeIdle()
    },
    async close() {
      mcp.cancel()
      // What was cancelled is answered before the streams end that carry the answers.
      await new Promise((resolve) => { setImmediate(resolve) })
      const written = writeUnread()
      mcp.close()
      await written
    },
  }
}
