/**
 * Asks a server for /health every 20 ms on one connection, in a thread of its own, until it is told to end;
 * then tells how many milliseconds each answer took. An answer that does not come is over when its
 * connection is.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData as port } from 'node:worker_threads'

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const times = []
let isOver = false
parentPort.once('message', () => { isOver = true })
while (!isOver) {
  const begun = performance.now()
  await new Promise((resolve) => {
    const sent = request({ agent, port, path: '/health' }, (response) => {
      response.resume().on('close', resolve)
    })
    sent.on('error', resolve)
    sent.end()
  })
  times.push(performance.now() - begun)
  await sleep(20)
}
agent.destroy()
parentPort.postMessage(times)
