/** What the agent says of its work: the model's reasoning, the tools that it calls, the tokens. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { frameworks } from '../../../lib/adapters/frameworks.ts'
import { defineTool } from '../../../lib/preset/define.ts'
import { openaiAgent } from '../../../lib/agents/openai/openai.ts'
import { answerOf } from '../../../lib/floors/answers/answer.ts'
import { callOf, wordOf } from '../../fixtures/house.ts'
import {
  ask, calls, data, delta, DONE, endpoint, faultOf, inTurn, reply, stream,
} from './endpoint.ts'
import type { OpenaiOptions } from '../../../lib/agents/openai/openai.ts'
import type { CallEvent, ToolChoice } from '../../../lib/index.ts'

const counts = (prompt: number, completion: number, more: object = {}): string => data({
  choices: [], usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: 0, ...more },
})
const thought = (member: string, text: string): string => data({ choices: [{ delta: { [member]: text } }] })

const weather = defineTool({
  name: 'weather',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  async run({ city }, call) {
    call.event({ type: 'usage', inputTokens: 1, outputTokens: 1 })
    if (city === 'Nowhere') throw new Error('The password is 1234')
    return city === 'Bonn' ? { rain: true } : `Rain in ${city}`
  },
})

/** The events of one answer, in order, with its pieces. */
async function eventsOf(options: OpenaiOptions): Promise<readonly (CallEvent | string)[]> {
  const all: (CallEvent | string)[] = []
  const call = callOf({ event: (event) => { all.push(event) } })
  const output = openaiAgent({ log: false, ...options }).run('hi', call)
  await answerOf(output, call, 1e7, frameworks, (piece) => { all.push(wordOf(piece)) })
  return all
}

test('reasoning, tools and tokens are events, in the order in which they happen', async (t) => {
  const { baseUrl } = await endpoint(t, inTurn(
    stream(thought('reasoning_content', 'Hm.') + delta('Let me look.')
      + calls(['weather', '{"city":"Bonn"}'], ['weather', '{"city":"Nowhere"}'], ['wether', '{}'])
      + counts(10, 2, { prompt_tokens_details: { cached_tokens: 4 } }) + DONE),
    stream(thought('reasoning', 'So.') + calls(['weather', '{"city":"Rome"}']) + DONE),
    stream(delta('It rains.', 'stop') + counts(1, 1) + counts(30, 3) + DONE),
  ))
  const tokens = { type: 'usage', inputTokens: 1, outputTokens: 1 }
  assert.deepEqual(await eventsOf({ baseUrl, tools: [weather] }), [
    { type: 'reasoning', text: 'Hm.' },
    'Let me look.',
    { type: 'usage', inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 },
    { type: 'tool-call', id: 'call-weather-0', name: 'weather', args: { city: 'Bonn' } },
    tokens,
    { type: 'tool-call', id: 'call-weather-1', name: 'weather', args: { city: 'Nowhere' } },
    tokens,
    { type: 'tool-call', id: 'call-wether-2', name: 'wether', args: {} },
    {
      type: 'tool-result', id: 'call-wether-2', name: 'wether', isError: true,
      result: 'There is no tool "wether"; use weather',
    },
    { type: 'tool-result', id: 'call-weather-0', name: 'weather', result: { rain: true }, isError: false },
    {
      type: 'tool-result', id: 'call-weather-1', name: 'weather', result: 'The tool failed', isError: true,
    },
    { type: 'reasoning', text: 'So.' },
    { type: 'tool-call', id: 'call-weather-0-2', name: 'weather', args: { city: 'Rome' } },
    tokens,
    {
      type: 'tool-result', id: 'call-weather-0-2', name: 'weather', result: 'Rain in Rome', isError: false,
    },
    '\n\nIt rains.',
    { type: 'usage', inputTokens: 30, outputTokens: 3 },
  ])
})

test('the tokens of an answer that comes whole are taken too, and what is no count is not', async (t) => {
  const table: readonly (readonly [usage: unknown, events: readonly unknown[]])[] = [
    [{ prompt_tokens: 3, completion_tokens: 4, completion_tokens_details: { reasoning_tokens: 2 } },
      [{ type: 'usage', inputTokens: 3, outputTokens: 4, reasoningTokens: 2 }]],
    [{ prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: -1 } },
      [{ type: 'usage', inputTokens: 3, outputTokens: 4 }]],
    [{ prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: null },
      [{ type: 'usage', inputTokens: 3, outputTokens: 4 }]],
    [{ prompt_tokens: '3', completion_tokens: 4 }, []],
    [{ prompt_tokens: 3 }, []],
    [null, []],
    ['many', []],
  ]
  for (const [usage, expected] of table) {
    const { baseUrl } = await endpoint(t, reply(200, JSON.stringify({
      choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }], usage,
    })))
    assert.deepEqual(await eventsOf({ baseUrl }), ['ok', ...expected], JSON.stringify(usage))
  }
})

test('tokens are asked for, unless the author asks in another way', async (t) => {
  const { baseUrl, received } = await endpoint(t, stream(delta('ok', 'stop') + DONE))
  const bodies = [{}, { stream_options: undefined }, { stream_options: { a: 1 } }, { stream: false }]
  for (const body of bodies) await ask({ baseUrl, body })
  assert.deepEqual(received.map(({ body }) => body['stream_options']), [
    { include_usage: true }, undefined, { a: 1 }, undefined,
  ])
})

test('an endpoint that refuses to be asked for tokens is asked once', async (t) => {
  for (const status of [400, 422]) {
    const { baseUrl, received } = await endpoint(t, (response, { body }) => {
      const isStrict = 'stream_options' in body
      const respond = isStrict ? reply(status, '{"detail":"Extra inputs: body.stream_options"}')
        : stream(delta('ok', 'stop') + DONE)
      respond(response, { body } as never)
    })
    const agent = openaiAgent({ baseUrl, log: false })
    for (let n = 0; n < 2; n++) {
      const call = callOf()
      const { text } = await answerOf(agent.run('hi', call), call, 1e7, frameworks)
      assert.equal(text, 'ok')
    }
    assert.deepEqual(received.map(({ body }) => 'stream_options' in body), [true, false, false])
  }
})

test('any other refusal is one, and so is that of what the author asked for', async (t) => {
  const other = await endpoint(t, reply(400, '{"error":{"message":"No such model"}}'))
  assert.equal((await faultOf({ baseUrl: other.baseUrl })).message, 'The model refused the request (400)')
  assert.equal(other.received.length, 1)
  const strict = await endpoint(t, reply(400, '{"error":{"message":"No stream_options"}}'))
  const body = { stream_options: { include_usage: true } }
  assert.equal((await faultOf({ baseUrl: strict.baseUrl, body })).message,
    'The model refused the request (400)')
  assert.equal(strict.received.length, 1)
  await faultOf({ baseUrl: strict.baseUrl })
  assert.equal(strict.received.length, 3)
})

test('a tool of the client is called by the client, and the model gets what came of it', async (t) => {
  const { baseUrl, received } = await endpoint(t, inTurn(
    stream(calls(['paint', '{"colour":"red"}'], ['weather', '{"city":"Bonn"}']) + DONE),
    stream(delta('Painted.', 'stop') + DONE),
  ))
  const inputSchema = { type: 'object' }
  const clientTools = [{ name: 'paint', inputSchema }, { name: 'weather', inputSchema }]
  const agent = openaiAgent({ log: false, baseUrl, tools: [weather] })
  const first = callOf({ clientTools })
  const asked = await answerOf(agent.run('hi', first), first, 1e7, frameworks)
  const call = { id: 'call-paint-0', name: 'paint', args: { colour: 'red' } }
  assert.deepEqual(asked.toolCalls, [call])
  const second = callOf({ clientTools, clientToolResults: [{ ...call, result: 'Done' }] })
  const answered = await answerOf(agent.run('hi', second), second, 1e7, frameworks)
  assert.deepEqual([answered.text, answered.toolCalls], ['Painted.', undefined])
  const [one, other] = received.map(({ body }) => body as Record<string, readonly Record<string, unknown>[]>)
  const names = one?.['tools']?.map((tool) => (tool['function'] as { name: string }).name)
  assert.deepEqual(names, ['weather', 'paint'])
  assert.deepEqual(other?.['messages']?.slice(1), [
    {
      role: 'assistant', content: null, tool_calls: [{
        id: 'call-paint-0', type: 'function', function: { name: 'paint', arguments: '{"colour":"red"}' },
      }],
    },
    { role: 'tool', tool_call_id: 'call-paint-0', content: 'Done' },
  ])
})

test('the model is asked for the call that the client asks for, until it is there', async (t) => {
  const inputSchema = { type: 'object' }
  const clientTools = [{ name: 'paint', inputSchema }]
  const work = stream(calls(['weather', '{"city":"Bonn"}']) + DONE)
  const done = stream(calls(['paint', '{}']) + DONE)
  const paint = { type: 'function', function: { name: 'paint' } }
  const cases: readonly (readonly [choice: ToolChoice, more: object, asked: readonly unknown[]])[] = [
    ['auto', {}, [undefined, undefined]], ['required', {}, ['required', 'required']],
    // In its last round it can call nothing else.
    ['required', { maxSteps: 1 }, ['required', 'required']], [{ name: 'paint' }, {}, [paint, paint]],
    ['auto', { maxSteps: 1 }, [undefined, 'none']],
    // What the author asks for, and a tool of the agent with that name, come first.
    ['required', { body: { tool_choice: 'auto' } }, ['auto', 'auto']],
    [{ name: 'weather' }, {}, [undefined, undefined]],
  ]
  for (const [toolChoice, more, asked] of cases) {
    const { baseUrl, received } = await endpoint(t, inTurn(work, done))
    const agent = openaiAgent({ log: false, baseUrl, tools: [weather], ...more })
    const call = callOf({ clientTools, toolChoice })
    const answer = await answerOf(agent.run('hi', call), call, 1e7, frameworks)
    assert.deepEqual(answer.toolCalls?.map(({ name }) => name), ['paint'])
    const bodies = received.map(({ body }) => body as { tool_choice?: unknown; tools: readonly object[] })
    assert.deepEqual(bodies.map((body) => body.tool_choice), asked)
    const isLast = 'maxSteps' in more && toolChoice === 'required'
    assert.deepEqual(bodies.map(({ tools }) => tools.length), [2, isLast ? 1 : 2])
  }
})

test('what the answer is to be the model is told, unless the author asks for something', async (t) => {
  const { baseUrl, received } = await endpoint(t, stream(delta('{}', 'stop') + DONE))
  const outputSchema = { type: 'object' }
  for (const body of [undefined, { response_format: { type: 'text' } }]) {
    await ask({ baseUrl, ...body !== undefined && { body } }, 'hi', callOf({ outputSchema }))
  }
  assert.deepEqual(received.map((one) => (one.body as Record<string, unknown>)['response_format']), [
    { type: 'json_schema', json_schema: { name: 'answer', schema: outputSchema } }, { type: 'text' },
  ])
})
