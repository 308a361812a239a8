/** The official clients of MCP, each as it comes, over two turns with a tool, a question and an error. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { shows } from './clients.mjs'
import { missing } from './start.mjs'
import { agent, QUESTION, SECRET, tool } from './weather.mjs'

const skip = missing('@modelcontextprotocol/sdk', '@modelcontextprotocol/client')
if (skip) console.log(`mcp-turns: skipped: ${skip}`)
const { createServer } = await import('../../dist/index.js')

let server
let url
before(async () => {
  server = createServer({ agents: [agent], tools: [tool], protocol: 'mcp', log: false, graceMs: 0 })
  url = new URL('/mcp', (await server.listen(0)).url)
})
after(() => server.close())

const about = { name: 'interop', version: '1.0.0' }
const capabilities = { elicitation: {} }
const asked = []
const answer = ({ params }) => {
  asked.push(params.message)
  return { action: 'accept', content: { city: 'Bern' } }
}

/** Each makes a client; and what calls with it, which hands out the texts of the progress. */
const clients = {
  async 'mcp-1'() {
    const load = (path) => import(`@modelcontextprotocol/sdk/${path}.js`)
    const { Client } = await load('client/index')
    const { StreamableHTTPClientTransport } = await load('client/streamableHttp')
    const { ElicitRequestSchema } = await load('types')
    const client = new Client(about, { capabilities })
    client.setRequestHandler(ElicitRequestSchema, answer)
    await client.connect(new StreamableHTTPClientTransport(url))
    return { client, call: (params, options) => client.callTool(params, undefined, options) }
  },
  'mcp-2-session': () => second({}, '2025-11-25'),
  'mcp-2': () => second({ versionNegotiation: { mode: 'auto' } }, '2026-07-28'),
}

async function second(options, revision) {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client(about, { capabilities, ...options })
  client.setRequestHandler('elicitation/create', answer)
  await client.connect(new StreamableHTTPClientTransport(url))
  assert.equal(client.getNegotiatedProtocolVersion(), revision)
  return { client, call: (params, more) => client.callTool(params, more) }
}

const textOf = ({ content }) => content.map(({ text }) => text).join('')

for (const [row, connect] of Object.entries(clients)) {
  test(`${row}: two turns with a tool, a question and an error`, { skip, timeout: 120_000 }, async (t) => {
    shows(t, row, 'two turns', 'tool', 'stream', 'question', 'error')
    const { client, call } = await connect()
    t.after(() => client.close())
    const names = (await client.listTools()).tools.map(({ name }) => name)
    assert.deepEqual(names, ['execute_forecaster_task', tool.name])
    for (const [city, before] of [['Rome', 0], ['Oslo', 1]]) {
      assert.equal(textOf(await call({ name: tool.name, arguments: { city } })), `sunny in ${city}`)
      const pieces = []
      const params = { name: 'ask_forecaster', arguments: { message: city, session_id: `turns-of-${row}` } }
      const said = await call(params, { onprogress: ({ message }) => pieces.push(message) })
      assert.equal(textOf(said), `${before} before; sunny in ${city}`)
      // A client may pass over a last piece that comes with the result.
      const owed = [`Calls ${tool.name}…`, `${tool.name} is done`, `${before} before; `]
      assert.deepEqual(pieces.slice(0, 3), owed)
    }
    asked.length = 0
    const run = (prompt) => call({ name: 'execute_forecaster_task', arguments: { prompt } })
    assert.equal(textOf(await run('ask')), '0 before; sunny in Bern')
    assert.deepEqual(asked, [QUESTION])
    const broken = await run('break')
    assert.equal(broken.isError, true)
    assert.match(textOf(broken), /Internal error/)
    assert.ok(!textOf(broken).includes(SECRET))
  })
}
