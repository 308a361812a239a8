/**
 * The client of AG-UI, as front ends use it: whole and streamed answers, its thread, tools that it runs,
 * interrupts and their answers, an end before its time, errors.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shows } from './clients.mjs'
import { missing } from './start.mjs'
import { agent as forecaster, THOUGHT, tool } from './weather.mjs'

const skip = missing('@ag-ui/client')
if (skip) console.log(`agui: skipped: ${skip}`)
const { HttpAgent } = skip ? {} : await import('@ag-ui/client')
const { createServer } = await import('../../dist/index.js')

let aborted = 0

/** Agents, each of which does one thing that a front end shows. */
const agents = [
  forecaster,
  { name: 'Echo', run: (prompt, { history }) => `${history.length}: ${prompt}` },
  {
    name: 'Worker',
    async* run(_prompt, call) {
      call.event({ type: 'reasoning', text: 'Let me see.' })
      call.event({ type: 'tool-call', id: 'c1', name: 'search', args: { of: 'tea' } })
      call.event({ type: 'tool-result', id: 'c1', result: { found: 2 } })
      call.artifact({ name: 'state', parts: [{ type: 'data', data: { cups: 2 } }] })
      yield 'Two '
      yield 'cups.'
    },
  },
  {
    name: 'Asker',
    async run(_prompt, call) {
      const schema = { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] }
      const { action, content } = await call.elicit({ message: 'Which size?', schema })
      return action === 'accept' ? `Size ${content.size}.` : `${action}.`
    },
  },
  {
    name: 'Slow',
    async* run(_prompt, { signal }) {
      yield 'One'
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      aborted += 1
    },
  },
  { name: 'Broken', run: () => { throw new Error('secret') } },
]

const server = createServer({ agents, log: false })
const { url } = await server.listen(0)
test.after(() => server.close())

function agentFor(id, content = 'Hello') {
  const agent = new HttpAgent({ url: `${url}/agents/${id}/agui`, threadId: `thread-${id}` })
  agent.addMessage({ id: '1', role: 'user', content })
  return agent
}

async function run(agent, parameters) {
  const types = []
  const result = await agent.runAgent(parameters, { onEvent: ({ event }) => { types.push(event.type) } })
  return { ...result, types, text: result.newMessages.findLast(({ role }) => role === 'assistant')?.content }
}

test('an answer comes, and the thread goes on', { skip }, async () => {
  const agent = agentFor('echo')
  assert.equal((await run(agent)).text, '0: Hello')
  agent.addMessage({ id: '2', role: 'user', content: 'Again' })
  assert.equal((await run(agent)).text, '2: Again')
})

test('reasoning, tools and state come as events', { skip }, async () => {
  const agent = agentFor('worker')
  const { text, types } = await run(agent)
  assert.equal(text, 'Two cups.')
  assert.deepEqual(agent.state, { cups: 2 })
  for (const type of ['REASONING_MESSAGE_CONTENT', 'TOOL_CALL_START', 'TOOL_CALL_RESULT', 'STATE_SNAPSHOT']) {
    assert.ok(types.includes(type), type)
  }
})

test('two turns with a tool and reasoning, in pieces', { skip }, async (t) => {
  shows(t, 'ag-ui', 'two turns', 'tool', 'reasoning', 'stream')
  const agent = agentFor('forecaster', 'Rome')
  const { name, description, inputSchema: parameters } = tool
  /** Runs it until it calls no tool, and returns the pieces of its text. */
  const turn = async () => {
    const pieces = []
    let thought = ''
    const { newMessages } = await agent.runAgent({ tools: [{ name, description, parameters }] }, {
      onTextMessageContentEvent: ({ event }) => { pieces.push(event.delta) },
      onReasoningMessageContentEvent: ({ event }) => { thought += event.delta },
    })
    assert.equal(thought, THOUGHT)
    const called = newMessages.flatMap(({ toolCalls = [] }) => toolCalls)
    if (called.length === 0) return pieces
    for (const { id, function: { arguments: args } } of called) {
      agent.addMessage({ id: `of ${id}`, role: 'tool', toolCallId: id, content: tool.run(JSON.parse(args)) })
    }
    return turn()
  }
  assert.deepEqual(await turn(), ['0 before; ', 'sunny in Rome'])
  agent.addMessage({ id: 'second', role: 'user', content: 'Oslo' })
  assert.deepEqual(await turn(), ['1 before; ', 'sunny in Oslo'])
})

test('a question is an interrupt, and the answer goes on with the run', { skip }, async (t) => {
  shows(t, 'ag-ui', 'question')
  const agent = agentFor('asker')
  const { types } = await run(agent)
  assert.equal(types.at(-1), 'RUN_FINISHED')
  const [interrupt] = agent.pendingInterrupts
  assert.equal(interrupt.message, 'Which size?')
  const resume = [{ interruptId: interrupt.id, status: 'resolved', payload: { size: 'L' } }]
  assert.equal((await run(agent, { resume })).text, 'Size L.')
})

test('a run that the client ends stops the agent', { skip, timeout: 120_000 }, async () => {
  const agent = agentFor('slow')
  await agent.runAgent({}, { onTextMessageContentEvent: () => agent.abortRun() }).catch(() => {})
  const before = Date.now()
  while (aborted === 0 && Date.now() - before < 10_000) {
    await new Promise((resolve) => { setTimeout(resolve, 20) })
  }
  assert.equal(aborted, 1)
})

test('an error is an error, without its text', { skip }, async (t) => {
  shows(t, 'ag-ui', 'error')
  let error
  await agentFor('broken').runAgent({}, { onRunErrorEvent: ({ event }) => { error = event } }).catch(() => {})
  assert.equal(error.code, 'internal')
  assert.doesNotMatch(JSON.stringify(error), /secret/)
})

test('a run with a key that is sent again comes again, event by event', { skip }, async () => {
  const seen = []
  for (let time = 0; time < 2; time++) {
    const agent = agentFor('worker')
    agent.headers = { 'Idempotency-Key': 'run-1' }
    const { newMessages, types } = await run(agent, { runId: 'run-1' })
    seen.push({ newMessages, types, state: agent.state })
  }
  // The ids of the messages are made for each run.
  assert.deepEqual(seen[1], seen[0])
  assert.equal(seen[0].newMessages.at(-1).content, 'Two cups.')
})
