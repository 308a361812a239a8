/**
 * fastmcp, with sessions and without.
 */
import { FastMCP } from 'fastmcp'
import { report } from '../child.js'
import { freePort } from './http-server.js'
import { fiftyOfZod, info } from './tools.js'

const quiet = { debug() {}, error() {}, info() {}, log() {}, warn() {} }

async function start(stateless) {
  const server = new FastMCP({ ...info, health: { enabled: false }, logger: quiet })
  for (const { name, description, schema, run } of fiftyOfZod) {
    server.addTool({ name, description, parameters: schema, execute: async (args) => run(args) })
  }
  const port = await freePort()
  await server.start({
    transportType: 'httpStream',
    httpStream: { port, host: '127.0.0.1', stateless, enableJsonResponse: true },
  })
  return port
}

report({ open: await start(false), stateless: await start(true) })
