/**
 * hono on its server for Node.
 */
import { randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { run, tools } from '../author.js'
import { report } from '../child.js'
import { healthOf, replyTo } from './http-replies.js'

const app = new Hono()
const [add] = tools

app.post('/', async (context) => {
  const { query } = await context.req.json()
  const id = randomUUID()
  return context.json(replyTo(query, await run(query), id), 200, { 'X-Request-Id': id })
})

app.post('/tools/add', async (context) => {
  const id = randomUUID()
  const result = add.run(await context.req.json())
  return context.json({ tool: add.name, result, request_id: id }, 200, { 'X-Request-Id': id })
})

app.get('/health', (context) => context.json(healthOf(), 200, { 'X-Request-Id': randomUUID() }))

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => report({ open: port }))
