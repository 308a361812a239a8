/**
 * The server that is attacked: triport with every door open and every limit as it comes, but for the few that
 * a case shortens so that a measurement does not take minutes. It tells its parent the memory that it holds.
 */
import { createServer } from 'triport'

const never = new Promise(() => {})
const big = 'x'.repeat(6 * 1024 * 1024)

const server = createServer({
  protocol: 'all',
  log: false,
  agents: [{ name: 'Assistant', run: (query) => query === 'hang' ? never : query === 'big' ? big : query }],
  tools: [{ name: 'echo', inputSchema: { type: 'object' }, run: (args) => JSON.stringify(args).length }],
  ...JSON.parse(process.argv[2] ?? '{}'),
  ...process.argv[3] === 'hanging-key' && { apiKey: () => never },
})
const { port } = await server.listen(0)
process.on('message', () => {
  if (process.connected) process.send({ rss: process.memoryUsage().rss, status: server.status() })
})
process.on('disconnect', () => process.exit(0))
process.send({ port })
