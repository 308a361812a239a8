/**
 * The server that is measured: triport as it comes, with no option but the protocol. So every guard,
 * limit and duty is on: host check, request ids, conversations, bounded bodies, time limits.
 *
 * One process, three doors: `open`; `keyed`, which asks for a key; and `full`, which is for `initialize` with
 * a full table of sessions.
 */
import { createServer } from 'triport'
import { agent, tools } from './author.js'
import { KEY } from './cases/case.js'
import { report } from './child.js'

const doors = { open: {}, keyed: { apiKey: KEY }, full: {} }

const ports = {}
for (const [door, options] of Object.entries(doors)) {
  const server = createServer({ agents: [agent], tools, protocol: 'all', ...options })
  ports[door] = (await server.listen(0)).port
}
report(ports)
