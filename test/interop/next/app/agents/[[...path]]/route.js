import { createServer } from 'triport'

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

const server = createServer({
  agents: [agent], protocol: 'all', mountPath: '/agents', log: false, maxBodyBytes: 50_000,
})
const answer = (request) => server.fetch(request)

export { answer as GET, answer as POST, answer as DELETE, answer as OPTIONS }
