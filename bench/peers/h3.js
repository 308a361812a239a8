/**
 * h3 on its server for Node.
 */
import { randomUUID } from 'node:crypto'
import { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import { run, tools } from '../author.js'
import { report } from '../child.js'
import { healthOf, replyTo } from './http-replies.js'
import { listen } from './http-server.js'

const app = new H3()
const [add] = tools

app.post('/', async (event) => {
  const { query } = await event.req.json()
  const id = randomUUID()
  event.res.headers.set('X-Request-Id', id)
  return replyTo(query, await run(query), id)
})

app.post('/tools/add', async (event) => {
  const id = randomUUID()
  event.res.headers.set('X-Request-Id', id)
  return { tool: add.name, result: add.run(await event.req.json()), request_id: id }
})

app.get('/health', (event) => {
  event.res.headers.set('X-Request-Id', randomUUID())
  return healthOf()
})

report({ open: await listen(toNodeHandler(app)) })
