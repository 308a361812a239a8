/**
 * The HTTP+SSE pair by hand: a stream that carries the answers, and POSTs that carry the requests.
 */
import { resultOf, runTool } from './mcp.js'
import { randomId, requestId } from './reply.js'

/** The open streams, by session. */
const streams = new Map()

/** `GET /sse`. */
export function openLegacySse(response) {
  const id = randomId(24)
  streams.set(id, response)
  response.on('close', () => streams.delete(id))
  response.writeHead(200, {
    'Content-Type': 'text/event-stream', 'X-Request-Id': requestId(), 'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no',
  })
  response.write(`event: endpoint\ndata: /messages/?session_id=${id}\n\n`)
}

/** `POST /messages/?session_id=…`. */
export function postMessage(response, { id, params }, headers, url) {
  const stream = streams.get(url.slice(url.indexOf('=') + 1))
  if (stream === undefined) return response.writeHead(404).end()
  const body = resultOf(id, { content: [{ type: 'text', text: runTool(params) }] })
  stream.write(`event: message\ndata: ${body}\n\n`)
  response.writeHead(202, {
    'Content-Type': 'text/plain; charset=utf-8', 'X-Request-Id': requestId(),
    'X-Content-Type-Options': 'nosniff', 'Content-Length': 8,
  })
  response.end('Accepted')
}
