/**
 * The server that is measured: triport as it comes, with no option but the protocol. So every guard,
 * limit and duty is on: host check, request ids, conversations, bounded bodies, time limits.
 */
import { createServer } from 'triport'
import { add, run } from './author.js'
import { report } from './child.js'

const assistant = { name: 'Assistant', description: 'Repeats what it hears, or tells a story.', run }

/** With the agent's own there are fifty. */
const tools = Array.from({ length: 49 }, (_, index) => ({
  name: index === 0 ? 'add' : `add_${index + 1}`,
  description: 'Adds two numbers.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  run: add,
}))

const server = createServer({ agents: [assistant], tools, protocol: 'all' })
const { port } = await server.listen(0)
report(port)
