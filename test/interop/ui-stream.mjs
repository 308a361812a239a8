/**
 * The chat of the AI SDK, as `useChat` drives it: text, reasoning, tools, data, files, its end, errors, and
 * pages that are loaded again while it answers.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missing } from './start.mjs'

const skip = missing('ai', '@ai-sdk/react', 'react', 'react-test-renderer')
if (skip) console.log(`ui-stream: skipped: ${skip}`)
const { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } = (
  skip ? { AbstractChat: Object } : await import('ai')
)
const { useChat } = skip ? {} : await import('@ai-sdk/react')
const { act, createElement } = skip ? {} : await import('react')
const { create } = skip ? {} : (await import('react-test-renderer')).default
const { createServer } = await import('../../dist/index.js')
globalThis.IS_REACT_ACT_ENVIRONMENT = true

let aborted = 0
let tellings = 0
let abortedTellings = 0
/** What the teller waits for. */
let tell = gate()

function gate() {
  let open
  return { promise: new Promise((resolve) => { open = resolve }), open }
}
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
  {
    name: 'Teller',
    async* run(_prompt, { signal }) {
      tellings += 1
      yield 'One '
      const isAborted = new Promise((resolve) => { signal.addEventListener('abort', resolve) })
      await Promise.race([tell.promise, isAborted])
      if (signal.aborted) abortedTellings += 1
      else yield 'two.'
    },
  },
  { name: 'Broken', run: () => { throw new Error('secret') } },
]

const server = createServer({ agents, log: false })
const { url } = await server.listen(0)
const patient = createServer({ agents, log: false, resumeMs: 30_000 })
const { url: patientUrl } = await patient.listen(0)
test.after(() => Promise.all([server.close(), patient.close()]))

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

const partsOf = (chat) => (chat.messages.at(-1)?.parts ?? []).filter(({ type }) => type !== 'step-start')
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
    onToolCall({ toolCall: { toolCallId, toolName, input, dynamic } }) {
      // What a chat is told to do with tools that it does not know.
      if (dynamic) return
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

test('the transport reads a stream that goes on from its begin, or null', { skip }, async () => {
  tell = gate()
  const chat = new Chat('teller')
  const sending = chat.sendMessage({ text: 'Go' })
  await until(() => textOf(chat) === 'One ')
  const transport = new DefaultChatTransport({ api: `${url}/agents/teller/ui-stream` })
  const stream = await transport.reconnectToStream({ chatId: chat.id })
  assert.equal(await transport.reconnectToStream({ chatId: 'chat-of-nobody' }), null)
  tell.open()
  let text = ''
  const types = []
  for await (const { type, delta = '' } of stream) {
    types.push(type)
    text += delta
  }
  await sending
  assert.equal(text, 'One two.')
  assert.deepEqual([types[0], types.at(-1), textOf(chat)], ['start', 'finish', 'One two.'])
  assert.equal(await transport.reconnectToStream({ chatId: chat.id }), null)
})

/** A page with a chat of React. It is shown until it is closed, and what it has asked for is then aborted. */
class Page {
  static async open(options) {
    const page = new Page()
    const leaving = new AbortController()
    page.leaving = leaving
    const transport = new DefaultChatTransport({
      api: `${patientUrl}/agents/teller/ui-stream`,
      fetch: (address, init) => fetch(address, {
        ...init, signal: AbortSignal.any([leaving.signal, ...init.signal ? [init.signal] : []]),
      }),
    })
    const Shown = () => {
      page.chat = useChat({ transport, ...options })
      return null
    }
    await act(async () => { page.root = create(createElement(Shown)) })
    return page
  }

  get texts() {
    return this.chat.messages.map(({ role, parts }) => (
      `${role}: ${parts.map(({ text = '' }) => text).join('')}`
    ))
  }

  async shows(...texts) {
    await act(() => until(() => this.texts.join() === texts.join()))
    assert.deepEqual(this.texts, texts)
  }

  async is(status) {
    await act(() => until(() => this.chat.status === status))
    assert.equal(this.chat.status, status)
  }

  /** What a browser does when the page is loaded again. Returns the messages, as a page keeps them. */
  async close() {
    const messages = structuredClone(this.chat.messages)
    await act(async () => {
      this.leaving.abort()
      this.root.unmount()
    })
    return messages
  }
}

test('a page that is loaded again shows the answer that goes on, once', { skip }, async () => {
  tell = gate()
  const before = tellings
  const first = await Page.open({ id: 'page-0001' })
  await act(async () => { void first.chat.sendMessage({ text: 'Go' }) })
  await first.shows('user: Go', 'assistant: One ')
  const messages = await first.close()
  const second = await Page.open({ id: 'page-0001', messages, resume: true })
  await second.is('streaming')
  tell.open()
  await second.shows('user: Go', 'assistant: One two.')
  await second.is('ready')
  await second.close()
  assert.equal(tellings, before + 1)
})

test('a page that is loaded when the answer has ended shows it, too', { skip }, async () => {
  tell = gate()
  const first = await Page.open({ id: 'page-0002' })
  await act(async () => { void first.chat.sendMessage({ text: 'Go' }) })
  await first.shows('user: Go', 'assistant: One ')
  const messages = await first.close()
  tell.open()
  await until(() => patient.status().calls.running === 0)
  const second = await Page.open({ id: 'page-0002', messages, resume: true })
  await second.shows('user: Go', 'assistant: One two.')
  await second.is('ready')
  // The next has it already.
  const third = await Page.open({ id: 'page-0002', messages: await second.close(), resume: true })
  await third.is('ready')
  await third.shows('user: Go', 'assistant: One two.')
  await third.close()
})

test('a chat that only stops lets the run go on, and DELETE ends it', { skip }, async () => {
  tell = gate()
  const before = abortedTellings
  const page = await Page.open({ id: 'page-0003' })
  await act(async () => { void page.chat.sendMessage({ text: 'Go' }) })
  await page.shows('user: Go', 'assistant: One ')
  await act(async () => { await page.chat.stop() })
  await page.is('ready')
  assert.equal(abortedTellings, before)
  const address = `${patientUrl}/agents/teller/ui-stream/page-0003/stream`
  assert.equal((await fetch(address, { method: 'DELETE' })).status, 204)
  await until(() => abortedTellings > before)
  assert.equal(abortedTellings, before + 1)
  assert.equal((await fetch(address)).status, 204)
  await page.close()
})
