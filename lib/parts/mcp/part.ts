/** MCP: all revisions over HTTP and over lines, and the older transport with two paths. */
import { sharedOf } from '../../floors/shared/shared-of.ts'
import { describer } from '../../floors/openapi/describer.ts'
import { limitsIn } from '../../kernel/define/limits.ts'
import { checkValues, knownMembers } from '../../kernel/define/validate.ts'
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { Later } from '../../kernel/util/later.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { problemReply } from '../../kernel/wire/problem.ts'
import { McpServer } from './methods/methods.ts'
import { mcpChecks, mcpLimits } from './options.ts'
import { refuseHttp } from './protocol/replies.ts'
import { openLegacySse, postMessage, serveLegacySse } from './transport/http-sse.ts'
import { handOver, serveResumes } from './transport/resume.ts'
import { get, post, remove, withSession } from './transport/streamable-http.ts'
import type { Endpoint } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Kernel, Opened, Part } from '../../kernel/server/part.ts'
import type { McpLimits, McpOptions, McpSetup } from './options.ts'
import type { ServerCards } from './request/server-card.ts'

const describedBy = describer(async () => (await import('./protocol/openapi-operations.ts')).mcpOperations)
const later = new Later(() => import('./request/server-card.ts'))

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

function endpointsOf(mcp: McpServer): readonly Endpoint[] {
  const at = (
    method: 'POST' | 'GET' | 'DELETE', path: string, operation: Parameters<typeof describedBy>[1],
    handle: Endpoint['handle'], about?: Endpoint['about'],
  ): Endpoint => ({
    path, methods: [method], ...method === 'POST' && { accepts: [JSON_TYPE] }, refuse: refuseHttp,
    describe: describedBy(method, operation), about, handle,
  })
  const about = { title: 'MCP', text: 'tools, resources and prompts, over Streamable HTTP', rank: 1 }
  return [
    at('POST', '/mcp', 'call', post.bind(undefined, mcp), about),
    at('GET', '/mcp', 'stream', withSession.bind(undefined, mcp, get)),
    at('DELETE', '/mcp', 'end', withSession.bind(undefined, mcp, remove)),
    // Clients of this transport know the first of its paths alone, and refuse the metadata of another.
    ...[
      at('GET', '/sse', 'legacySse', openLegacySse.bind(undefined, mcp)),
      at('POST', '/messages', 'post', postMessage.bind(undefined, mcp)),
    ].map((endpoint) => ({ ...endpoint, resourcePath: '/sse' })),
    ...cardEndpoints(mcp.service, mcp.options),
  ]
}

/** MCP over HTTP. */
function openHttp(kernel: Kernel, setup: McpSetup): Opened {
  const mcp = new McpServer(kernel, { ...setup, takesKeys: kernel.credentials.takesKeys })
  serveLegacySse(mcp)
  serveResumes(mcp)
  const writeUnread = handOver(mcp)
  const status = (): Readonly<Record<'sessions' | 'subscribers' | 'replayBytes', number>> => ({
    sessions: mcp.sessions.count, subscribers: mcp.notifications.count, replayBytes: mcp.replay.bytes,
  })
  return {
    endpoints: endpointsOf(mcp),
    exposes: ['mcp-session-id'],
    ready() {
      mcp.extend()
      if (sharedOf(kernel) !== undefined) for (const one of mcp.extensions) void one.takeOver?.()
    },
    status: () => ({ mcp: status() }),
    gauges() {
      const { sessions, subscribers, replayBytes } = status()
      return [
        ['triport_mcp_sessions', 'MCP sessions.', sessions],
        ['triport_mcp_subscribers', 'Subscribers of MCP notifications.', subscribers],
        ['triport_mcp_replay_bytes', 'What is kept for MCP clients that come back.', replayBytes],
      ]
    },
    announce: (url, curl) => [
      `${url}/mcp and ${url}/sse`, curl('/messages/', { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    ],
    drain() {
      void writeUnread()
      mcp.closeIdle()
    },
    async cancel() {
      mcp.cancel()
      // What was cancelled is answered before the streams end that carry the answers.
      await new Promise((resolve) => { setImmediate(resolve) })
      const written = writeUnread()
      mcp.close()
      await written
    },
  }
}

const optionNames = [...Object.keys(mcpChecks), ...Object.keys(mcpLimits.defaults)]

/** Throws `TypeError` or `RangeError` for options that cannot be meant. */
export function mcp(options: McpOptions & Partial<McpLimits> = {}): Part {
  requirePartOptions('mcp', options, optionNames, arguments)
  checkValues('mcp', options, mcpChecks)
  const setup = { ...knownMembers(options, mcpChecks), limits: limitsIn(mcpLimits, options, 'mcp') }
  return {
    name: 'mcp',
    copy: kernelCopy,
    optionNames,
    protocol: 'mcp',
    port: 8080,
    open: (kernel) => openHttp(kernel, setup),
    lines: {
      open(kernel) {
        // The process is the session.
        const server = new McpServer(kernel, { ...setup, sessions: undefined })
        return {
          ready: () => server.extend(),
          serve: async (...streams) => (await import('./transport/stdio.ts')).serveMcp(server, ...streams),
        }
      },
    },
  }
}
