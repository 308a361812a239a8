/** The runtime of CopilotKit runs agents over AG-UI: its front end reads what comes through. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'

process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true'
const isThere = existsSync(new URL('node_modules/@copilotkit/runtime', import.meta.url))
const skip = isThere ? false : '@copilotkit/runtime is not installed'
if (skip) console.log(`copilotkit: skipped: ${skip}`)
const { CopilotRuntime, createCopilotRuntimeHandler, InMemoryAgentRunner } = (
  skip ? {} : await import('@copilotkit/runtime/v2')
)
const { HttpAgent } = skip ? {} : await import('@ag-ui/client')
const { createServer } = await import('../../../dist/index.js')

const agents = [
  {
    name: 'Worker',
    async* run(prompt, call) {
      call.event({ type: 'tool-call', id: 'c1', name: 'search', args: { of: prompt } })
      call.event({ type: 'tool-result', id: 'c1', result: 'found' })
      yield 'You said '
      yield prompt
    },
  },
  {
    name: 'Painter',
    run(_prompt, { clientTools: [tool], clientToolResults: [done] }) {
      if (done !== undefined) return `Painted: ${done.result}`
      return { toolCalls: [{ id: 'c2', name: tool.name, args: { colour: 'green' } }] }
    },
  },
]

const server = createServer({ agents, log: false })
const { url } = await server.listen(0)
test.after(() => server.close())

async function run(agent, more) {
  const runtime = new CopilotRuntime({
    agents: { [agent]: new HttpAgent({ url: `${url}/agents/${agent}/agui` }) },
    runner: new InMemoryAgentRunner(),
  })
  const handle = createCopilotRuntimeHandler({ runtime, basePath: '/api' })
  const input = {
    threadId: `thread-${agent}`, runId: 'run-1', state: {}, tools: [], context: [], forwardedProps: {},
    ...more,
  }
  const response = await handle(new Request(`http://localhost/api/agent/${agent}/run`, {
    method: 'POST', headers: { 'content-type': 'application/json', 'accept': 'text/event-stream' },
    body: JSON.stringify(input),
  }))
  assert.equal(response.status, 200)
  const text = await response.text()
  const parts = text.split('\n\n').filter((part) => part.startsWith('data: '))
  return parts.map((part) => JSON.parse(part.slice('data: '.length)))
}

const hello = { id: '1', role: 'user', content: 'Hello' }

test('text and the agent\'s tools come through', { skip }, async () => {
  const events = await run('worker', { messages: [hello] })
  assert.equal(events.map(({ type, delta = '' }) => type === 'TEXT_MESSAGE_CONTENT' ? delta : '').join(''),
    'You said Hello')
  assert.equal(events.find(({ type }) => type === 'TOOL_CALL_RESULT').content, 'found')
  assert.equal(events.at(-1).type, 'RUN_FINISHED')
})

test('an action of the front end is called there', { skip }, async () => {
  const tools = [{ name: 'paint', description: 'Paints.', parameters: { type: 'object', properties: {} } }]
  const events = await run('painter', { tools, messages: [hello] })
  assert.equal(events.find(({ type }) => type === 'TOOL_CALL_START').toolCallName, 'paint')
  const call = { id: 'c2', type: 'function', function: { name: 'paint', arguments: '{"colour":"green"}' } }
  const later = await run('painter', { runId: 'run-2', tools, messages: [
    hello, { id: '2', role: 'assistant', content: '', toolCalls: [call] },
    { id: '3', role: 'tool', toolCallId: 'c2', content: 'done' },
  ] })
  const text = later.map(({ type, delta = '' }) => type === 'TEXT_MESSAGE_CONTENT' ? delta : '').join('')
  assert.equal(text, 'Painted: done')
})
