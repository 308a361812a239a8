/**
 * mcp-lite on hono and its server for Node, with sessions and without.
 */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from 'mcp-lite'
import { report } from '../child.js'
import { fifty, info, resultOf } from './tools.js'

function start(options) {
  const server = new McpServer(info)
  for (const { name, description, inputSchema, run } of fifty) {
    server.tool(name, { description, inputSchema, handler: (args) => resultOf(run(args)) })
  }
  const handle = new StreamableHttpTransport(options).bind(server)
  const app = new Hono()
  app.all('/mcp', (context) => handle(context.req.raw))
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve(port))
  })
}

report({
  open: await start({ sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }) }),
  stateless: await start({}),
})
