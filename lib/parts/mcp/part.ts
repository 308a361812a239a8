/** MCP: all revisions over HTTP and over lines, and the older transport with two paths. */
import { limitsIn } from '../../kernel/define/limits.ts'
import { checkValues, knownMembers } from '../../kernel/define/validate.ts'
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { mcpLimits } from './limits.ts'
import { McpServer } from './methods/methods.ts'
import { mcpChecks } from './request/options.ts'
import { mcpRoutes } from './transport/routes.ts'
import type { Part } from '../../kernel/server/part.ts'
import type { McpLimits } from './limits.ts'
import type { McpOptions } from './request/context.ts'

const optionNames = [...Object.keys(mcpChecks), ...Object.keys(mcpLimits.defaults)]

/** Throws `TypeError` or `RangeError` for options that cannot be meant. */
export function mcp(options: McpOptions & Partial<McpLimits> = {}): Part {
  requirePartOptions('mcp', options, optionNames)
  checkValues('mcp', options, mcpChecks)
  const setup = { ...knownMembers(options, mcpChecks), limits: limitsIn(mcpLimits, options, 'mcp') }
  return {
    name: 'mcp',
    copy: kernelCopy,
    optionNames,
    protocol: 'mcp',
    port: 8080,
    open(kernel) {
      const { takesKeys } = kernel.credentials
      const { endpoints, extend, status, closeIdle, close } = mcpRoutes(
        kernel, { ...setup, takesKeys }, kernel.seal,
      )
      return {
        endpoints,
        exposes: ['mcp-session-id'],
        ready: extend,
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
        drain: closeIdle,
        cancel: close,
      }
    },
    lines: {
      open(kernel) {
        const server = new McpServer(kernel, setup, kernel.seal)
        return {
          ready: () => server.extend(),
          serve: async (...streams) => (await import('./transport/stdio.ts')).serveMcp(server, ...streams),
        }
      },
    },
  }
}
