/** The chat of the AI SDK, as `useChat` drives it: text, reasoning, tools, data, files, its end, errors. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missing } from './start.mjs'

const skip = missing('ai')
if (skip) console.log(`ui-stream: skipped: ${skip}`)
const { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } = (
  skip ? { AbstractChat: Object } : await import('ai')
)
const { createServer } = await import('../../dist/index.js')

let aborted = 0
const agents = [
  { name: 'Echo', run: (prompt, { history }) => `${history.length}: ${prompt}` },
  {
    name: 'Worker',
    async* run(_prompt, call) {
      call.event({ type: 'reasoning', text: 'Let me see.' })
      call.event({ type: 'tool-call', id: 'c1', name: 'search', args: { of: 'tea' } })
      call.event({ type: 'tool-result', id: 'c1', result: { found: 2 } })
      call.artifact({ name: 'cups', parts: [{ type: 'data', data: 2 }] })
      yield 'Two '
      yield { type: 'image', data: 'AAAA', mimeType: 'image/png' }
      yield 'cups.'
    },
  },
  {
    name: 'Caller',
    run(_prompt, { clientTools: [tool], clientToolResults: [done] }) {
      if (done !== undefined) return `It is ${done.result} now.`
      return { toolCalls: [{ name: tool.name, args: { colour: 'green' } }] }
    },
  },
  {
    name: 'Slow',
    async* run(_prompt, { signal }) {
      yield 'One'
      await new Promise((resolve) => { signal.addEventListener('abort', resolve) })
      aborted += 1
    },
  },
  { name: 'Broken', run: () => { throw new Error('secret') } },
]

const server = createServer({ agents, log: false })
const { url } = await server.listen(0)
test.after(() => server.close())

/** The state of a chat, as each front end keeps it in its own way. */
class State {
  status = 'ready'
  error = undefined
  messages = []
  pushMessage = (message) => { this.messages = [...this.messages, message] }
  popMessage = () => { this.messages = this.messages.slice(0, -1) }
  replaceMessage = (at, message) => { this.messages = this.messages.with(at, message) }
  snapshot = (value) => structuredClone(value)
}

class Chat extends AbstractChat {
  constructor(agent, more = {}) {
    const { body, ...options } = more
    const transport = new DefaultChatTransport({ api: `${url}/agents/${agent}/ui-stream`, body })
    super({ id: `chat-${agent}`, state: new State(), transport, ...options })
  }
}

const partsOf = (chat) => chat.messages.at(-1).parts.filter(({ type }) => type !== 'step-start')
const textOf = (chat) => partsOf(chat).map(({ text = '' }) => text).join('')

async function until(isSo) {
  const before = Date.now()
  while (!isSo() && Date.now() - before < 10_000) await new Promise((resolve) => { setTimeout(resolve, 10) })
}

test('an answer comes, and the chat goes on', { skip }, async () => {
  const chat = new Chat('echo')
  await chat.sendMessage({ text: 'Hello' })
  assert.deepEqual([chat.status, textOf(chat)], ['ready', '0: Hello'])
  await chat.sendMessage({ text: 'Again' })
  assert.equal(textOf(chat), '2: Again')
})

test('reasoning, tools, data and files are parts', { skip }, async () => {
  const chat = new Chat('worker')
  await chat.sendMessage({ text: 'Go' })
  assert.equal(chat.error, undefined)
  const types = partsOf(chat).map(({ type, state }) => [type, state].filter(Boolean).join(' '))
  assert.deepEqual(types, [
    'reasoning done', 'dynamic-tool output-available', 'data-cups', 'text done', 'file', 'text done',
  ])
})

test('a tool of the chat runs there, and the agent goes on with its result', { skip }, async () => {
  const tools = [{ name: 'paint', parameters: { type: 'object', properties: {} } }]
  const chat = new Chat('caller', {
    body: { tools },
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall({ toolCall: { toolCallId, toolName, input } }) {
      chat.addToolOutput({ tool: toolName, toolCallId, output: input.colour })
    },
  })
  await chat.sendMessage({ text: 'Paint it' })
  await until(() => textOf(chat).includes('now'))
  assert.equal(textOf(chat), 'It is green now.')
})

test('a chat that stops ends the run', { skip }, async () => {
  const chat = new Chat('slow')
  const sending = chat.sendMessage({ text: 'Go' })
  await until(() => chat.status === 'streaming')
  await chat.stop()
  await sending
  await until(() => aborted > 0)
  assert.equal(aborted, 1)
})

test('an error is shown without its text, and a chat that comes back finds no stream', { skip }, async () => {
  const chat = new Chat('broken')
  await chat.sendMessage({ text: 'Go' })
  assert.equal(chat.status, 'error')
  assert.match(chat.error.message, /Internal error/)
  const other = new Chat('echo')
  await other.resumeStream()
  assert.deepEqual([other.status, other.messages], ['ready', []])
})

test('a message with a key that is sent again gets the same stream', { skip }, async () => {
  const transport = new DefaultChatTransport({
    api: `${url}/agents/worker/ui-stream`, headers: { 'Idempotency-Key': 'message-1' },
  })
  const messages = [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Go' }] }]
  const streams = []
  for (let time = 0; time < 2; time++) {
    const chunks = []
    const stream = await transport.sendMessages({ chatId: 'chat-again', trigger: 'submit-message', messages })
    for await (const chunk of stream) chunks.push(chunk)
    streams.push(chunks)
  }
  // The ids of the parts are made for each run.
  assert.deepEqual(streams[1], streams[0])
  assert.ok(streams[0].some(({ type, delta }) => type === 'text-delta' && delta === 'Two '))
})
