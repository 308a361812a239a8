/**
 * The server that triport is compared with: node:http as one would write it by hand for these requests, and
 * nothing else. It reads `request.headers`, checks the media type, takes a body of at most 4 MB as one
 * buffer, parses it, looks whether what it needs of a chat is there, and sends the status, the header lines
 * and the bytes that triport sends, ids included, framed alike. An agent can see that its client has left,
 * and one that answers in pieces is stopped then, and waits for a client that reads slowly.
 *
 * It has no other limits, no guards and no memory of what was said; it asks nobody for a key, and knows no
 * session but the HTTP+SSE pairs that are open. What triport may send the same every time (health) is kept
 * here too; what it has to put together is put together.
 */
import { createServer } from 'node:http'
import { a2a } from './bare/a2a.js'
import { agui, chat, responses, ui } from './bare/faces.js'
import { health, query, tool } from './bare/http.js'
import { end, mcp } from './bare/mcp.js'
import { openLegacySse, postMessage } from './bare/pair.js'
import { report } from './child.js'

const MAX_BODY_BYTES = 4 * 1024 * 1024

const routes = new Map([
  ['GET /health', health],
  ['GET /sse', openLegacySse],
  ['DELETE /mcp', end],
  ['POST /', query],
  ['POST /tools/add', tool],
  ['POST /mcp', mcp],
  ['POST /a2a', a2a],
  ['POST /messages/', postMessage],
  ['POST /v1/chat/completions', chat],
  ['POST /v1/responses', responses],
  ['POST /agui', agui],
  ['POST /ui-stream', ui],
])

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const { headers, method, url } = request
  const mark = url.indexOf('?')
  const route = routes.get(`${method} ${mark < 0 ? url : url.slice(0, mark)}`)
  if (route === undefined) return response.writeHead(404).end()
  if (method !== 'POST') return route(response, undefined, headers, url)
  if (headers['content-type'] !== 'application/json') return response.writeHead(415).end()
  const chunks = []
  let length = 0
  request.on('data', (chunk) => {
    length += chunk.length
    if (length <= MAX_BODY_BYTES) chunks.push(chunk)
    else if (!response.headersSent) response.writeHead(413, { 'Connection': 'close' }).end()
  })
  request.on('end', () => {
    if (response.headersSent) return
    let message
    try {
      const [first] = chunks
      message = JSON.parse(chunks.length === 1 ? first.toString() : Buffer.concat(chunks).toString())
    } catch {
      return response.writeHead(400).end()
    }
    route(response, message, headers, url)
  })
})

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address()
  report({ open: port, keyed: port, full: port })
})
