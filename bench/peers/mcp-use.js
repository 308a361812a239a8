/**
 * mcp-use 1, whose version 2 does not run on Node 20.
 */
import { MCPServer } from 'mcp-use/server'
import { report } from '../child.js'
import { freePort } from './http-server.js'
import { fiftyOfZod, info, resultOf } from './tools.js'

// Else it wants what builds pages, and tells of every request.
process.env.NODE_ENV = 'production'
console.log = () => {}

async function start(stateless) {
  const server = new MCPServer({ ...info, host: '127.0.0.1', stateless })
  for (const { name, description, schema, run } of fiftyOfZod) {
    server.tool({ name, description, schema }, (args) => resultOf(run(args)))
  }
  const port = await freePort()
  await server.listen(port)
  return port
}

report({ open: await start(false), stateless: await start(true) })
