/**
 * A balancer without memory: each request goes to the next of the processes, whoever sent it and whatever
 * came before. What was cut off at a process is cut off at its client. No test itself.
 */
import { once } from 'node:events'
import { Agent, createServer, request as send } from 'node:http'

/**
 * Starts one. `ports()` are those of the processes now. `onAnswer(headers, body, status)` is told of each
 * POST that has been answered, `onCut(headers, body)` of each that was not, or not wholly. `halfCloses`: of
 * every second stream one half is closed as soon as it says something: that to the 'client', of which the
 * process is not told, or that to the 'process'. `keepsAlive`: connections to processes are used again.
 */
export async function startBalancer(ports, { onAnswer, onCut, halfCloses, keepsAlive = true } = {}) {
  const agent = new Agent({ keepAlive: keepsAlive })
  let turn = 0
  let streams = 0
  // The processes tell clients how long a connection is kept for them, and it must not end before that.
  const balancer = createServer({ keepAliveTimeout: 600_000 }, async (incoming, response) => {
    const chunks = []
    for await (const chunk of incoming) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const { method, url: path, headers } = incoming
    const isPost = method === 'POST'
    let isGone = false
    let isHalfClosed = false
    const forward = (tries) => {
      const all = ports()
      const port = all[turn++ % all.length]
      const outgoing = send({ port, agent, host: '127.0.0.1', method, path, headers }, (answer) => {
        if (isPost) onAnswer?.(headers, body, answer.statusCode)
        response.writeHead(answer.statusCode, answer.headers)
        response.flushHeaders()
        const isStream = answer.headers['content-type']?.startsWith('text/event-stream')
        if (halfCloses !== undefined && isStream && ++streams % 2 === 0) {
          answer.once('data', () => setImmediate(() => {
            isHalfClosed = halfCloses === 'client'
            if (isHalfClosed) response.destroy()
            else outgoing.socket.end()
          }))
        }
        answer.pipe(response)
        answer.on('close', () => {
          if (answer.complete) return
          if (isPost && !isGone) onCut?.(headers, body)
          response.destroy()
        })
      })
      outgoing.on('error', (error) => {
        // Nobody has heard the request where nobody listens.
        if (error.code === 'ECONNREFUSED' && tries > 0) return forward(tries - 1)
        if (isPost && !isGone) onCut?.(headers, body)
        response.destroy()
      })
      response.on('close', () => {
        isGone = true
        if (!isHalfClosed) outgoing.destroy()
      })
      outgoing.end(body)
    }
    forward(ports().length)
  })
  balancer.listen(0, '127.0.0.1')
  await once(balancer, 'listening')
  return {
    url: `http://127.0.0.1:${balancer.address().port}`,
    close() {
      agent.destroy()
      balancer.closeAllConnections()
      balancer.close()
    },
  }
}
