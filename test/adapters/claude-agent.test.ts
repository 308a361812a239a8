import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { AgentOutput } from '../../lib/index.ts'

const message = (type: string, more: object): object => ({ type, session_id: 's', uuid: 'u', ...more })
const delta = (text: string): object => (
  message('stream_event', { event: { type: 'content_block_delta', delta: { type: 'text_delta', text } } })
)
const usage = { input_tokens: 3, output_tokens: 2 }
const result = (more: object): object => (
  message('result', { subtype: 'success', is_error: false, result: 'Said.', usage, cost: 1, ...more })
)

const before = [
  message('system', { subtype: 'init', cwd: '/secret', tools: ['Bash'] }),
  message('assistant', {
    message: { content: [{ type: 'tool_use', id: 't1', name: 'search', input: { of: 'tea' } }] },
  }),
  message('user', { message: { content: [{ type: 'tool_result', tool_use_id: 't1', content: 'found' }] } }),
]

async function* streamOf(messages: readonly object[]): AsyncGenerator<object> {
  yield* messages
}

test('of the messages of query() the text comes once, in pieces where it comes so', async () => {
  const { service } = serviceOf()
  const whole = message('assistant', {
    message: { content: [{ type: 'thinking', thinking: 'Hm.' }, { type: 'text', text: 'Said.' }] },
  })
  for (const messages of [[whole], [delta('Sa'), delta('id.'), whole]]) {
    const events: string[] = []
    const agent = defineAgent({
      name: 'A', run: () => streamOf([...before, ...messages, result({})]) as AgentOutput,
    })
    const call = callOf({ event: (event) => events.push(JSON.stringify(event)) })
    assert.equal((await ask(service, agent, 'hi', call)).text, 'Said.')
    assert.deepEqual(events.map((one) => JSON.parse(one) as object), [
      { type: 'tool-call', id: 't1', name: 'search', args: { of: 'tea' } },
      { type: 'tool-result', id: 't1', name: 'search', result: 'found', isError: false },
      { type: 'reasoning', text: 'Hm.' },
      { type: 'usage', inputTokens: 3, outputTokens: 2 },
    ])
  }
})

test('the result of a query() alone is its text, or its data', async () => {
  const { service } = serviceOf()
  for (const [given, text, data] of [
    [result({}), 'Said.', undefined], [result({ structured_output: { a: 1 } }), '{"a":1}', { a: 1 }],
  ] as const) {
    const agent = defineAgent({ name: 'A', run: () => given as AgentOutput })
    const answer = await ask(service, agent, 'hi', callOf())
    assert.deepEqual([answer.text, answer.data], [text, data])
  }
})

test('a query() that ends in an error is one, and its data is the answer\'s', async () => {
  const { service } = serviceOf()
  const agentOf = (last: object): ReturnType<typeof defineAgent> => (
    defineAgent({ name: 'A', run: () => streamOf([...before, last]) as AgentOutput })
  )
  const { data } = await ask(service, agentOf(result({ structured_output: { a: 1 } })), 'hi', callOf())
  assert.deepEqual(data, { a: 1 })
  for (const last of [result({ subtype: 'error_max_turns' }), result({ is_error: true })]) {
    await assert.rejects(async () => ask(service, agentOf(last), 'hi', callOf()), { kind: 'internal' })
  }
})
