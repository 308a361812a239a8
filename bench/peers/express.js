/**
 * express with its own reader of JSON.
 */
import { randomUUID } from 'node:crypto'
import express from 'express'
import { run, tools } from '../author.js'
import { report } from '../child.js'
import { healthOf, replyTo } from './http-replies.js'

const app = express()
const [add] = tools
app.use(express.json())

app.post('/', async (request, response) => {
  const { query } = request.body
  const id = randomUUID()
  response.set('X-Request-Id', id).json(replyTo(query, await run(query), id))
})

app.post('/tools/add', (request, response) => {
  const id = randomUUID()
  response.set('X-Request-Id', id).json({ tool: add.name, result: add.run(request.body), request_id: id })
})

app.get('/health', (request, response) => {
  response.set('X-Request-Id', randomUUID()).json(healthOf())
})

const server = app.listen(0, '127.0.0.1', () => {
  server.keepAliveTimeout = 65_000
  report({ open: server.address().port })
})
