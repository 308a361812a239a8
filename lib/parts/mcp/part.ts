/** MCP over HTTP: all revisions, and the older transport with two paths. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { checkMcpOptions, mcpOptionNames } from './request/options.ts'
import { mcpRoutes } from './transport/routes.ts'
import type { Part } from '../../kernel/server/part.ts'
import type { McpExtension } from './methods/extension.ts'
import type { McpOptions } from './request/context.ts'

/** Throws `TypeError` for options that cannot be meant. */
export function mcp(options: McpOptions = {}, extensions: readonly McpExtension[] = []): Part {
  checkMcpOptions('', options, 'mcp')
  return {
    name: 'mcp',
    copy: kernelCopy,
    optionNames: mcpOptionNames,
    protocol: 'mcp',
    port: 8080,
    open(kernel) {
      const { auth, takesKeys } = kernel.credentials
      const setup = { ...options, auth, takesKeys }
      const { endpoints, status, closeIdle, close } = mcpRoutes(kernel, setup, kernel.seal, extensions)
      return {
        endpoints,
        exposes: ['mcp-session-id'],
        status: () => ({ mcp: status() }),
        gauges() {
          const { sessions, subscribers, replayBytes } = status()
          return [
            ['triport_mcp_sessions', 'MCP sessions.', sessions],
            ['triport_mcp_subscribers', 'Subscribers of MCP notifications.', subscribers],
            ['triport_mcp_replay_bytes', 'What is kept for MCP clients that come back.', replayBytes],
          ]
        },
        drain: closeIdle,
        cancel: close,
      }
    },
  }
}
