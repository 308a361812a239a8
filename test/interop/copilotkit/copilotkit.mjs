/** The runtime of CopilotKit runs agents over AG-UI: its front end reads what comes through. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { shows } from '../clients.mjs'
import { agent as forecaster, QUESTION, SECRET, THOUGHT, tool } from '../weather.mjs'

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
  forecaster,
  {
    name: 'Worker',
    async* run(prompt, call) {
      call.event({ type: 'tool-call', id: 'c1', name: 'search', args: { of: prompt } })
      call.event({ type: 'tool-result', id: 'c1', result: 'found' })
      yield 'You said '
      yield prompt
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

const deltas = (events, kind) => events.flatMap(({ type, delta }) => type === kind ? [delta] : [])

test('text and the agent\'s tools come through', { skip }, async () => {
  const events = await run('worker', { messages: [{ id: '1', role: 'user', content: 'Hello' }] })
  assert.equal(deltas(events, 'TEXT_MESSAGE_CONTENT').join(''), 'You said Hello')
  assert.equal(events.find(({ type }) => type === 'TOOL_CALL_RESULT').content, 'found')
  assert.equal(events.at(-1).type, 'RUN_FINISHED')
})

test('two turns with a tool and reasoning, in pieces', { skip }, async (t) => {
  shows(t, 'copilotkit', 'two turns', 'tool', 'reasoning', 'stream')
  const { name, description, inputSchema: parameters } = tool
  const messages = []
  let runs = 0
  /** What its front end does: it keeps the messages, runs the tool, and runs the agent again. */
  const turn = async (message) => {
    messages.push(message)
    const events = await run('forecaster', {
      runId: `run-${++runs}`, tools: [{ name, description, parameters }], messages,
    })
    assert.equal(deltas(events, 'REASONING_MESSAGE_CONTENT').join(''), THOUGHT)
    const pieces = deltas(events, 'TEXT_MESSAGE_CONTENT')
    const called = events.find(({ type }) => type === 'TOOL_CALL_START')
    if (called === undefined) {
      messages.push({ id: `answer ${runs}`, role: 'assistant', content: pieces.join('') })
      return pieces
    }
    const { toolCallId: id } = called
    const args = deltas(events, 'TOOL_CALL_ARGS').join('')
    const toolCalls = [{ id, type: 'function', function: { name, arguments: args } }]
    messages.push({ id: `call ${id}`, role: 'assistant', content: '', toolCalls })
    const content = tool.run(JSON.parse(args))
    return turn({ id: `result ${id}`, role: 'tool', toolCallId: id, content })
  }
  assert.deepEqual(await turn({ id: '1', role: 'user', content: 'Rome' }), ['0 before; ', 'sunny in Rome'])
  assert.deepEqual(await turn({ id: '2', role: 'user', content: 'Oslo' }), ['1 before; ', 'sunny in Oslo'])
})

test('a question is an interrupt, and its answer goes on with the run', { skip }, async (t) => {
  shows(t, 'copilotkit', 'question')
  const messages = [{ id: '1', role: 'user', content: 'ask' }]
  const asked = await run('forecaster', { messages, threadId: 'thread-of-question' })
  const { type, outcome } = asked.at(-1)
  assert.deepEqual([type, outcome.type], ['RUN_FINISHED', 'interrupt'])
  const [{ id, message }] = outcome.interrupts
  assert.equal(message, QUESTION)
  const resume = [{ interruptId: id, status: 'resolved', payload: { city: 'Rome' } }]
  const events = await run('forecaster', {
    runId: 'run-2', messages, resume, threadId: 'thread-of-question',
  })
  assert.deepEqual(deltas(events, 'TEXT_MESSAGE_CONTENT'), ['0 before; ', 'sunny in Rome'])
})

test('an error comes through without its text', { skip }, async (t) => {
  shows(t, 'copilotkit', 'error')
  const messages = [{ id: '1', role: 'user', content: 'break' }]
  const events = await run('forecaster', { messages, threadId: 'thread-of-error' })
  assert.equal(events.at(-1).type, 'RUN_ERROR')
  assert.match(events.at(-1).message, /Internal error/)
  assert.ok(!JSON.stringify(events).includes(SECRET))
})
