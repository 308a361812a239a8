/**
 * The official SDK of MCP, version 1: with sessions, without, and the HTTP+SSE pair; as its examples are
 * written, a server a session or a request, but for express: node:http is cheaper. The schemas are made once.
 */
import { randomUUID } from 'node:crypto'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { report } from '../child.js'
import { listen } from './http-server.js'
import { fiftyOfZod, info, resultOf } from './tools.js'

function makeServer() {
  const server = new McpServer(info)
  for (const { name, description, schema, run } of fiftyOfZod) {
    server.registerTool(name, { description, inputSchema: schema }, (args) => resultOf(run(args)))
  }
  return server
}

/** A door with sessions, each of which has a server. */
function withSessions(enableJsonResponse) {
  const transports = new Map()
  return listen(async (request, response) => {
    let transport = transports.get(request.headers['mcp-session-id'])
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        enableJsonResponse, sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => transports.set(id, transport),
      })
      transport.onclose = () => transports.delete(transport.sessionId)
      await makeServer().connect(transport)
    }
    await transport.handleRequest(request, response)
  })
}

/** A door without: each request has a server. */
function withoutSessions() {
  return listen(async (request, response) => {
    const transport = new StreamableHTTPServerTransport({
      enableJsonResponse: true, sessionIdGenerator: undefined,
    })
    const server = makeServer()
    response.on('close', () => void server.close())
    await server.connect(transport)
    await transport.handleRequest(request, response)
  })
}

function pairs() {
  const transports = new Map()
  return listen(async (request, response) => {
    if (request.method === 'GET') {
      const transport = new SSEServerTransport('/messages/', response)
      transports.set(transport.sessionId, transport)
      response.on('close', () => transports.delete(transport.sessionId))
      await makeServer().connect(transport)
      return
    }
    const id = new URL(request.url, 'http://localhost').searchParams.get('sessionId')
    await transports.get(id).handlePostMessage(request, response)
  })
}

report({
  open: await withSessions(true), sse: await withSessions(false), stateless: await withoutSessions(),
  pair: await pairs(),
})
