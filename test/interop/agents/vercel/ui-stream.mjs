/** The chat of the AI SDK, versions 5 to 7, over two turns with a tool of the page. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { shows } from '../../clients.mjs'
import { agent, SECRET, THOUGHT, tool } from '../../weather.mjs'
import { missing, versionOf } from '../matrix.mjs'

const { createServer } = await import('../../../../dist/index.js')

let server
let api
before(async () => {
  server = createServer({ agents: [agent], log: false, graceMs: 0 })
  api = `${(await server.listen(0)).url}/ui-stream`
})
after(() => server.close())

for (const name of ['ai5', 'ai', 'ai7']) {
  const skip = missing(import.meta.url, name)
  const what = `AI SDK ${skip ? name : versionOf(import.meta.url, name)}:`

  /** A chat, its state kept in the simplest way, and the texts that were seen while they came. */
  async function open(body) {
    const {
      AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls: isComplete,
    } = await import(name)
    const seen = new Set()
    const textOf = (message, kind = 'text') => (
      message.parts.filter(({ type }) => type === kind).map(({ text }) => text).join('')
    )
    const state = {
      status: 'ready', error: undefined, messages: [],
      pushMessage: (message) => { state.messages.push(message) },
      popMessage: () => { state.messages.pop() },
      replaceMessage(at, message) {
        state.messages[at] = message
        if (state.status === 'streaming') seen.add(textOf(message))
      },
      snapshot: (value) => structuredClone(value),
    }
    class Chat extends AbstractChat {}
    const chat = new Chat({
      id: `chat-of-${name}`, state, transport: new DefaultChatTransport({ api, body }),
      sendAutomaticallyWhen: isComplete,
      onToolCall({ toolCall: { toolCallId, toolName, input, dynamic } }) {
        if (!dynamic) chat.addToolResult({ tool: toolName, toolCallId, output: tool.run(input) })
      },
    })
    const say = async (text) => {
      await chat.sendMessage({ text })
      // A result sends the chat again, after `sendMessage` has ended.
      const end = Date.now() + 10_000
      while (Date.now() < end && chat.status !== 'error' && !(
        chat.status === 'ready' && textOf(chat.lastMessage) !== ''
      )) await new Promise((resolve) => { setTimeout(resolve, 10) })
      return textOf(chat.lastMessage)
    }
    return { chat, say, seen, thought: () => textOf(chat.lastMessage, 'reasoning') }
  }

  test(`${what} two turns with a tool, reasoning, in pieces`, { skip, timeout: 120_000 }, async (t) => {
    shows(t, name, 'two turns', 'tool', 'reasoning', 'stream')
    const { name: called, description, inputSchema: parameters } = tool
    const { say, seen, thought } = await open({ tools: [{ name: called, description, parameters }] })
    assert.equal(await say('Rome'), '0 before; sunny in Rome')
    // Once before the tool was called, and once after.
    assert.equal(thought(), THOUGHT + THOUGHT)
    assert.ok(seen.has('0 before; '), [...seen].join('|'))
    assert.equal(await say('Oslo'), '1 before; sunny in Oslo')
  })

  test(`${what} an error is told without its text`, { skip, timeout: 120_000 }, async (t) => {
    shows(t, name, 'error')
    const { chat, say } = await open()
    await say('break')
    assert.equal(chat.status, 'error')
    assert.match(chat.error.message, /Internal error/)
    assert.doesNotMatch(chat.error.message, new RegExp(SECRET))
  })
}
