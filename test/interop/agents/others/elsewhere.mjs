/** Agents behind a server of their own, which clients of AG-UI and A2A ask: no test itself. */
import { existsSync } from 'node:fs'
import { after } from 'node:test'
import { data } from '../matrix.mjs'

const dist = new URL('../../../../dist/index.js', import.meta.url)
const { createServer, defineTool, openaiAgent } = existsSync(dist) ? await import(dist) : {}

export let bookings = 0

const servers = []
after(() => Promise.all(servers.map((server) => server.close())))

/** Serves them, with a model at this URL, until the tests end; resolves to their address. */
export async function serveAgents(model) {
  const weather = defineTool({
    name: 'weather', description: 'The weather.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    run: ({ city }) => `sunny in ${city}`,
  })
  const agentWith = (name, tools) => openaiAgent({
    name, description: `The ${name} one.`, baseUrl: model, model: 'gpt-4o', tools, log: false,
  })
  const server = createServer({
    agents: [
      agentWith('plain', []),
      agentWith('tools', [weather]),
      { name: 'data', description: 'Gives data.', run: () => ({ data }) },
      {
        name: 'approval', description: 'Books.',
        async run(_prompt, call) {
          // What a model is asked for before.
          await call.once('model', () => ask(model))
          const properties = { approve: { type: 'boolean' } }
          const schema = { type: 'object', properties, required: ['approve'] }
          const { action, content } = await call.elicit({ key: 'book', message: 'May book run?', schema })
          await call.once('model-2', () => ask(model))
          if (action !== 'accept' || !content.approve) return 'It was not booked.'
          bookings++
          return 'booked Paris'
        },
      },
    ],
    protocol: 'all', log: false, graceMs: 0,
  })
  const { url } = await server.listen(0)
  servers.push(server)
  return url
}

async function ask(model) {
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Book' }] })
  const response = await fetch(`${model}/chat/completions`, { method: 'POST', body })
  return (await response.json()).model
}
