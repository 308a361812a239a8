/**
 * mcp-handler, which has a server for each request, on the adapter of Remix for node:http.
 */
import { createRequestListener } from '@remix-run/node-fetch-server'
import { createMcpHandler } from 'mcp-handler'
import { report } from '../child.js'
import { listen } from './http-server.js'
import { fiftyOfZod, info, resultOf } from './tools.js'

const handler = createMcpHandler((server) => {
  for (const { name, description, schema, run } of fiftyOfZod) {
    server.registerTool(name, { description, inputSchema: schema }, (args) => resultOf(run(args)))
  }
}, { serverInfo: info })

report({ open: await listen(createRequestListener(handler)) })
