/** One process of a deployment, on the store that it is told. No test itself. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, defineTool } from '../../../dist/index.js'
import { postgresClients, redisClients } from './servers.mjs'

const [client, url] = process.argv.slice(2)
if (client !== undefined) {
  const { store } = await { ...redisClients, ...postgresClients }[client](url)
  const inputSchema = { type: 'object', properties: { a: { type: 'number' } } }
  const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const server = createServer({
    name: 'Fleet', protocol: 'all', store, secret: 'the secret of the whole fleet', leaseMs: 3_000, log: false,
    tools: [
      defineTool({ name: 'double', description: 'Doubles.', inputSchema, run: ({ a }) => String(2 * a) }),
      defineTool({
        name: 'greet', description: 'Asks.', inputSchema,
        async run(_args, call) {
          const { content } = await call.elicit({ message: 'Name?', schema: form })
          return `Hello ${content?.name}`
        },
      }),
      defineTool({
        name: 'count', description: 'Counts.', inputSchema,
        async run(_args, call) {
          for (let done = 1; done <= 3; done++) {
            await sleep(5)
            call.progress(done, 3)
          }
          // Official clients drop progress that comes in one piece with the result.
          await sleep(20)
          return 'counted'
        },
      }),
    ],
  })
  const { port } = await server.listen(0)
  process.send({ port })
  process.on('SIGTERM', () => server.close().then(() => process.exit(0)))
}
