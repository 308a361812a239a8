/**
 * tmcp with the server that its examples have, and schemas of valibot.
 */
import { createRequestListener } from '@remix-run/node-fetch-server'
import { ValibotJsonSchemaAdapter } from '@tmcp/adapter-valibot'
import { HttpTransport } from '@tmcp/transport-http'
import { SseTransport } from '@tmcp/transport-sse'
import { McpServer } from 'tmcp'
import * as v from 'valibot'
import { report } from '../child.js'
import { listen } from './http-server.js'
import { fifty, info, resultOf } from './tools.js'

const server = new McpServer(info, {
  adapter: new ValibotJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } },
})
for (const { name, description, inputSchema, run } of fifty) {
  server.tool({ name, description, schema: schemaOf(inputSchema) }, (args) => resultOf(run(args)))
}

/** A schema of valibot with the meaning of a JSON Schema, as far as the tools of the benchmark go. */
function schemaOf({ type, properties, items }) {
  switch (type) {
    case 'string': return v.string()
    case 'number': return v.number()
    case 'integer': return v.pipe(v.number(), v.integer())
    case 'array': return v.array(schemaOf(items))
    default: return v.object(Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, schemaOf(schema)]),
    ))
  }
}

function start(transport) {
  return listen(createRequestListener(async (request) => (
    await transport.respond(request) ?? new Response(null, { status: 404 })
  )))
}

report({
  open: await start(new HttpTransport(server, { path: '/mcp' })),
  pair: await start(new SseTransport(server, { path: '/sse', endpoint: '/messages/' })),
})
