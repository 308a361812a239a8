import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { Answer } from '../../lib/floors/answers/answer.ts'
import type { AgentOutput, CallEvent } from '../../lib/index.ts'

async function* streamOf(pieces: readonly object[]): AsyncGenerator<object> { yield* pieces }

async function answerTo(output: () => unknown): Promise<{ answer: Answer; events: CallEvent[] }> {
  const events: CallEvent[] = []
  const { service } = serviceOf()
  const agent = defineAgent({ name: 'A', run: () => output() as AgentOutput })
  const answer = await ask(service, agent, 'hi', callOf({ event: (event) => events.push(event) }))
  return { answer, events }
}

const tokens = [{ type: 'usage', inputTokens: 3, outputTokens: 2, cachedInputTokens: 1, reasoningTokens: 1 }]
const thought = { type: 'reasoning', text: 'Hm.' }
const chatUsage = {
  prompt_tokens: 3, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 },
  completion_tokens_details: { reasoning_tokens: 1 },
}
const usage = {
  input_tokens: 3, output_tokens: 2, input_tokens_details: { cached_tokens: 1 },
  output_tokens_details: { reasoning_tokens: 1 },
}
const chat = (message: object): object => ({
  object: 'chat.completion', choices: [{ index: 0, message }], usage: chatUsage,
})
const chunk = (delta?: object, more: object = {}): object => ({
  object: 'chat.completion.chunk', choices: delta ? [{ index: 0, delta }] : [], ...more,
})
const event = (type: string, more: object): object => ({ type, sequence_number: 1, ...more })
const text = { type: 'message', content: [{ type: 'output_text', text: 'Said.' }] }
const hm = {
  type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }],
  content: [{ type: 'reasoning_text', text: 'Hm.' }],
}
const search = { type: 'web_search_call', id: 's', action: { query: 'q' }, status: 'completed' }
const image = { type: 'image_generation_call', id: 'i', result: 'AAAA', output_format: 'webp' }
const searched = [
  { type: 'tool-call', id: 's', name: 'web_search', args: { query: 'q' } },
  { type: 'tool-result', id: 's', name: 'web_search', result: undefined, isError: false },
]

type Reading = readonly [what: string, output: () => unknown, text: string, events: readonly object[]]

const readings: readonly Reading[] = [
  ['a completion', () => chat({ content: 'Said.', reasoning_content: 'Hm.' }), 'Said.', [...tokens, thought]],
  ['a refusal', () => chat({ content: null, refusal: 'No.' }), 'No.', tokens],
  ['chunks', () => streamOf([chunk({ role: 'assistant', content: '' }), chunk({ reasoning_content: 'Hm.' }),
    chunk({ content: 'Sa' }), chunk({ content: 'id.' }), chunk(undefined, { usage: chatUsage })]),
  'Said.', [thought, ...tokens]],
  ['a runner', () => ({ finalContent() {}, finalChatCompletion: async () => chat({ content: 'Said.' }) }),
    'Said.', tokens],
  ['a response', () => ({ object: 'response', status: 'completed', output: [hm, search, text], usage }),
    'Said.', [...tokens, thought]],
  ['events of one', () => streamOf([
    event('response.created', { response: { object: 'response', output: [], instructions: 'secret' } }),
    // What comes as a text and as a summary is one thought.
    event('response.reasoning_summary_text.delta', { item_id: 'r', delta: 'H' }),
    event('response.reasoning_text.delta', { item_id: 'r', delta: 'H' }),
    event('response.reasoning_summary_text.delta', { item_id: 'r', delta: 'm.' }),
    event('response.reasoning_text.delta', { item_id: 'r', delta: 'm.' }),
    event('response.reasoning_text.delta', { item_id: 's', delta: 'Ah.' }),
    event('response.output_item.added', { item: search }),
    event('response.output_item.done', { item: search }),
    event('response.output_text.delta', { item_id: 'm', delta: 'Sa' }),
    event('response.output_text.delta', { item_id: 'm', delta: 'id.' }),
    event('response.output_item.done', { item: text }), event('response.completed', { response: { usage } }),
  ]), 'Said.', [...['H', 'm.', 'Ah.'].map((of) => ({ ...thought, text: of })), ...searched, ...tokens]],
]

test('of what OpenAI\'s client returns the text comes once, and all that led to it', async () => {
  for (const [what, output, said, expected] of readings) {
    const { answer, events } = await answerTo(output)
    assert.equal(answer.text, said, what)
    assert.deepEqual(events.map((one) => ({ ...one })), expected, what)
  }
})

test('what OpenAI\'s client has parsed is data, and a picture is one', async () => {
  const data = { city: 'Paris' }
  const json = JSON.stringify(data)
  const part = { content: [{ type: 'output_text', text: json }] }
  for (const output of [
    chat({ content: json, parsed: data }), { object: 'response', output: [part], output_parsed: data },
  ]) {
    const { answer } = await answerTo(() => output)
    assert.deepEqual([answer.text, answer.data], [json, data])
  }
  const block = { type: 'image', data: 'AAAA', mimeType: 'image/webp' }
  for (const output of [
    () => ({ object: 'response', output: [image] }),
    () => streamOf([event('response.output_item.done', { item: image })]),
  ]) assert.deepEqual((await answerTo(output)).answer.content, [block])
})

test('what has failed at OpenAI\'s is an error, and so is a call of a tool that nobody runs', async () => {
  const busy = { code: 'rate_limit_exceeded', message: 'secret' }
  const broken = { code: 'server_error', message: 'secret' }
  for (const [output, kind] of [
    [() => ({ object: 'response', output: [], status: 'failed', error: busy }), 'busy'],
    [() => streamOf([event('response.failed', { response: { error: broken } })]), 'upstream'],
    [() => streamOf([event('error', broken)]), 'upstream'],
    [() => streamOf([chunk({ content: 'Sa' }), { type: 'error', ...busy }]), 'busy'],
    [() => streamOf([chunk(undefined, { error: broken })]), 'upstream'],
  ] as const) await assert.rejects(answerTo(output), { kind })
  const name = 'search'
  for (const output of [
    chat({ content: null, tool_calls: [{ function: { name } }] }),
    { object: 'response', output: [{ type: 'function_call', name }] },
  ]) {
    await assert.rejects(answerTo(() => output),
      (error: Error) => /'search', and nothing/.test(String(error.cause)))
  }
})

const message = (...content: readonly object[]): object => ({
  type: 'message', role: 'assistant', stop_reason: 'end_turn', content,
  usage: { input_tokens: 2, output_tokens: 2, cache_read_input_tokens: 1, cache_creation_input_tokens: null },
})
const readByAnthropic = { type: 'usage', inputTokens: 3, outputTokens: 2, cachedInputTokens: 1 }
const tool = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } }
const toolResult = { type: 'web_search_tool_result', tool_use_id: 's', content: [] }

test('of what Anthropic\'s client returns the text comes once, and all that led to it', async () => {
  const blocks = [{ type: 'thinking', thinking: 'Hm.' }, tool, toolResult]
  const work = [thought, { type: 'tool-call', id: 's', name: 'web_search', args: { query: 'q' } },
    { type: 'tool-result', id: 's', name: 'web_search', result: undefined, isError: false }]
  const texts = ['Sa', 'id.'].map((one) => ({ type: 'text', text: one }))
  const whole = await answerTo(() => message(...blocks, ...texts))
  assert.equal(whole.answer.text, 'Said.')
  assert.deepEqual(whole.events.map((one) => ({ ...one })), [readByAnthropic, ...work])
  const { answer, events } = await answerTo(() => streamOf([
    { type: 'message_start', message: { usage: { input_tokens: 2, cache_read_input_tokens: 1 } } },
    { type: 'content_block_start', content_block: { type: 'thinking', thinking: '' } }, { type: 'ping' },
    { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'Hm.' } },
    { type: 'content_block_start', content_block: tool },
    { type: 'content_block_start', content_block: toolResult },
    { type: 'content_block_start', content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Sa' } },
    { type: 'content_block_delta', delta: { type: 'text_delta', text: 'id.' } },
    { type: 'content_block_stop' },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]))
  assert.equal(answer.text, 'Said.')
  assert.deepEqual(events.map((one) => ({ ...one })), [...work, readByAnthropic])
  const data = { city: 'Paris' }
  const parsed = { ...message({ type: 'text', text: '{}' }), parsed_output: data }
  assert.deepEqual((await answerTo(() => parsed)).answer.data, data)
  await assert.rejects(answerTo(() => streamOf([
    { type: 'message_start', message: {} },
    { type: 'error', error: { type: 'overloaded_error', message: 'secret' } },
  ])), { kind: 'upstream' })
})

test('what a model has counted wrongly or left empty does not fail the answer', async () => {
  const odd = { ...chat({ content: 'Said.' }), usage: { prompt_tokens: -1, completion_tokens: 'many' } }
  const { answer, events } = await answerTo(() => odd)
  assert.deepEqual([answer.text, events], ['Said.', []])
  const half = { ...chat({ content: 'Said.' }), usage: { prompt_tokens: 1.5, completion_tokens: 2 } }
  assert.deepEqual((await answerTo(() => half)).events, [{ type: 'usage', inputTokens: 0, outputTokens: 2 }])
  const said = { type: 'text', text: 'Said.' }
  const nameless = await answerTo(() => message({ ...tool, id: '', name: '' }, said))
  assert.equal(nameless.answer.text, 'Said.')
  assert.deepEqual({ ...nameless.events.at(-1) },
    { type: 'tool-call', id: 'call', name: 'tool', args: tool.input })
})
