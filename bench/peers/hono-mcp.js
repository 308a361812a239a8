/**
 * @hono/mcp, the transport of hono for the official SDK, on hono and its server for Node: with sessions, each
 * of which has a server, and without, where each request has one. The schemas are made once.
 */
import { randomUUID } from 'node:crypto'
import { StreamableHTTPTransport } from '@hono/mcp'
import { serve } from '@hono/node-server'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { Hono } from 'hono'
import { report } from '../child.js'
import { fiftyOfZod, info, resultOf } from './tools.js'

function makeServer() {
  const server = new McpServer(info)
  for (const { name, description, schema, run } of fiftyOfZod) {
    server.registerTool(name, { description, inputSchema: schema }, (args) => resultOf(run(args)))
  }
  return server
}

const sessions = new Map()

async function inSession(context) {
  let transport = sessions.get(context.req.header('mcp-session-id'))
  if (transport === undefined) {
    transport = new StreamableHTTPTransport({
      enableJsonResponse: true, sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    })
    await makeServer().connect(transport)
  }
  return transport.handleRequest(context)
}

async function alone(context) {
  const transport = new StreamableHTTPTransport({ enableJsonResponse: true })
  await makeServer().connect(transport)
  return transport.handleRequest(context)
}

function start(handle) {
  const app = new Hono()
  app.all('/mcp', handle)
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve(port))
  })
}

report({ open: await start(inSession), stateless: await start(alone) })
