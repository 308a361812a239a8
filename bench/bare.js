/**
 * The server that triport is compared with: node:http as one would write it by hand for this one
 * request, and nothing else. `node bare.js CASE` serves that case of `cases.js`.
 *
 * It reads `request.headers` (which Node puts together when they are first read), checks the media type,
 * takes the body as one buffer, parses it, and hands it to the case, which sends the status, the header
 * lines and the bytes that triport sends. It has no limits, no guards and no memory of what was said.
 */
import { createServer } from 'node:http'
import { cases } from './cases.js'
import { report } from './child.js'

const { method, path, answer } = cases.find(({ name }) => name === process.argv[2])

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const { headers } = request
  if (request.method !== method || request.url !== path) return response.writeHead(404).end()
  if (method === 'GET') return answer(response, undefined, headers)
  if (headers['content-type'] !== 'application/json') return response.writeHead(415).end()
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    let message
    try {
      message = JSON.parse(Buffer.concat(chunks).toString())
    } catch {
      return response.writeHead(400).end()
    }
    answer(response, message, headers)
  })
})

server.listen(0, '127.0.0.1', () => report(server.address().port))
