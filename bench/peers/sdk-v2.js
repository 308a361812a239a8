/**
 * The official SDK of MCP, version 2: a server a request, as it is made for, for 2026-07-28 and before.
 */
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { report } from '../child.js'
import { listen } from './http-server.js'
import { fiftyOfZod, info, resultOf } from './tools.js'

const handler = createMcpHandler(() => {
  const server = new McpServer(info)
  for (const { name, description, schema, run } of fiftyOfZod) {
    server.registerTool(name, { description, inputSchema: schema }, (args) => resultOf(run(args)))
  }
  return server
})

report({ open: await listen(toNodeHandler(handler)) })
