/**
 * fastify, with schemas for what it reads and what it writes.
 */
import { randomUUID } from 'node:crypto'
import fastify from 'fastify'
import { run, tools } from '../author.js'
import { report } from '../child.js'
import { healthOf, replyTo } from './http-replies.js'

const app = fastify({ keepAliveTimeout: 65_000 })
const [add] = tools
const string = { type: 'string' }

app.post('/', {
  schema: {
    body: { type: 'object', properties: { query: string }, required: ['query'] },
    response: {
      200: {
        type: 'object',
        properties: {
          response: string, agent: string, query: string, session_id: string, request_id: string,
        },
      },
    },
  },
}, async (request, reply) => {
  const id = randomUUID()
  reply.header('X-Request-Id', id)
  return replyTo(request.body.query, await run(request.body.query), id)
})

app.post('/tools/add', { schema: { body: add.inputSchema } }, async (request, reply) => {
  const id = randomUUID()
  reply.header('X-Request-Id', id)
  return { tool: add.name, result: add.run(request.body), request_id: id }
})

app.get('/health', async (request, reply) => {
  reply.header('X-Request-Id', randomUUID())
  return healthOf()
})

await app.listen({ port: 0, host: '127.0.0.1' })
report({ open: app.server.address().port })
