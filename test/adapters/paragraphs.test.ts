import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { AgentOutput } from '../../lib/index.ts'

const agUi = (messageId: string, delta: string): object => (
  { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
)
const adk = (text: string, more: object = {}): object => (
  { invocationId: 'i', author: 'helper', content: { role: 'model', parts: [{ text }] }, ...more }
)
const claude = (type: string, more: object): object => ({ type, session_id: 's', ...more })
const claudeWhole = (id: string, text: string): object => (
  claude('assistant', { message: { id, content: [{ type: 'text', text }] } })
)
const claudeStart = (id: string): object => (
  claude('stream_event', { event: { type: 'message_start', message: { id } } })
)
const claudeDelta = (text: string): object => (
  claude('stream_event', { event: { type: 'content_block_delta', delta: { type: 'text_delta', text } } })
)
const genkit = (index: number, text: string): object => ({ role: 'model', index, content: [{ text }], text })
const openai = (delta: object, reason: string | null = null): object => (
  { object: 'chat.completion.chunk', id: 'c', choices: [{ index: 0, delta, finish_reason: reason }] }
)

/** An event of LlamaIndex. */
class WorkflowEvent {
  readonly data: object
  readonly [Symbol.toStringTag] = 'workflowEvent'

  constructor(data: object) {
    this.data = { currentAgentName: 'helper', ...data }
  }

  toJSON(): object { return {} }
}

const llamaIndex = (data: object): object => new WorkflowEvent(data)
const tool = { toolId: 't', toolName: 'clock', toolKwargs: {} }

/** Two messages of one run, the first of them before a tool is called, in pieces. */
const streams: Readonly<Record<string, readonly object[]>> = {
  'AG-UI': [agUi('a', 'I '), agUi('a', 'look.'), agUi('b', 'It is '), agUi('b', 'one.')],
  'the Agent Development Kit in pieces': [
    adk('I ', { partial: true }), adk('look.', { partial: true }), adk('I look.'),
    adk('It is ', { partial: true }), adk('one.', { partial: true }), adk('It is one.'),
  ],
  'the Agent Development Kit as wholes': [adk('I look.'), adk('It is one.')],
  'the Claude Agent SDK in pieces': [
    claudeStart('a'), claudeDelta('I '), claudeDelta('look.'), claudeWhole('a', 'I look.'),
    claudeStart('b'), claudeDelta('It is '), claudeDelta('one.'), claudeWhole('b', 'It is one.'),
  ],
  'the Claude Agent SDK as wholes': [
    claudeWhole('a', 'I '), claudeWhole('a', 'look.'), claudeWhole('b', 'It is one.'),
  ],
  'Genkit': [genkit(0, 'I '), genkit(0, 'look.'), genkit(2, 'It is '), genkit(2, 'one.')],
  'LlamaIndex': [
    llamaIndex({ delta: 'I ' }), llamaIndex({ delta: 'look.' }), llamaIndex(tool),
    llamaIndex({ ...tool, toolOutput: { result: '1' } }), llamaIndex({ delta: 'It is ' }),
    llamaIndex({ delta: 'one.' }),
  ],
  'OpenAI\'s chat completions': [
    openai({ content: 'I ' }), openai({ content: 'look.' }), openai({}, 'tool_calls'),
    openai({ content: 'It is ' }), openai({ content: 'one.' }), openai({}, 'stop'),
  ],
}

for (const [framework, values] of Object.entries(streams)) {
  test(`between two messages of one run of ${framework} stands a blank line`, async () => {
    const { service } = serviceOf()
    const run = async function* (): AsyncGenerator<object> { yield* values }
    const agent = defineAgent({ name: 'A', run: () => run() as AgentOutput })
    const { text } = await ask(service, agent, 'hi', callOf())
    assert.equal(text, 'I look.\n\nIt is one.')
  })
}
