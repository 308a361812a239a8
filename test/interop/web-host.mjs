/**
 * The server as hosts of web requests take it: its `fetch` under Bun, Deno, a workers' runtime, Hono. No test
 * itself; run by Bun or Deno it listens, and prints its port.
 */
import { createServer } from '../../dist/index.js'

let left = 0

const agent = {
  name: 'Echo',
  description: 'Says what was said, and how many have left it.',
  async *run(prompt, call) {
    if (prompt === 'left?') return yield String(left)
    yield `You said ${prompt}`
    if (prompt !== 'stay') return
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
    left++
  },
}

/** Made when a first request comes: workers' runtimes let nothing random happen before. */
let server

/** Answers a web request. */
export function answer(request) {
  server ??= createServer({ agents: [agent], protocol: 'all', log: false, maxBodyBytes: 2_000_000 })
  return server.fetch(request)
}

const { Bun, Deno } = globalThis

// What a workers' runtime calls. Bun would start a second server with it.
export default Bun === undefined ? { fetch: (request) => answer(request) } : undefined

const where = { port: 0, hostname: '127.0.0.1' }
if (Bun !== undefined) console.log(Bun.serve({ ...where, fetch: answer }).port)
else if (Deno !== undefined) Deno.serve({ ...where, onListen: ({ port }) => console.log(port) }, answer)
