/**
 * The official client of OpenAI, and the AI SDK with its provider for what is compatible with OpenAI, against
 * the agents of a server as models. Skips itself, and says so, where they are not installed.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { shows } from './clients.mjs'
import { missing } from './start.mjs'
import { agent as forecaster, THOUGHT, tool as weather } from './weather.mjs'

const skip = missing('openai', 'ai', '@ai-sdk/openai-compatible')
if (skip) console.log(`openai: skipped: ${skip}`)

const load = (path) => (skip ? {} : import(path))
const {
  OpenAI, NotFoundError, AuthenticationError, BadRequestError, InternalServerError, UnprocessableEntityError,
} = await load('openai')
const { generateText, streamText } = await load('ai')
const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible')
const { createServer } = await load('../../dist/index.js')

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAA'
  + 'AABJRU5ErkJggg=='
const picture = `data:image/png;base64,${pixel}`

/** How often the agent that fails was run, and whether the one that waits still does. */
let failures = 0
let waiting = 0
/** How often the one that takes its time was run. */
let turns = 0

const agents = [
  {
    name: 'Echo',
    description: 'Says what it is told, word by word.',
    async *run(prompt, call) {
      for (const { role, content } of call.history) yield `${role}: ${content}\n`
      for (const { type, mimeType } of call.message) if (type !== 'text') yield `${type} ${mimeType}\n`
      for (const word of prompt.split(' ')) yield `${word} `
    },
  },
  {
    name: 'Painter',
    run(_prompt, { clientTools: [tool], clientToolResults: [done], outputSchema }) {
      if (outputSchema !== undefined) return { colour: 'green' }
      if (done !== undefined) return `Painted: ${done.result}`
      return { toolCalls: [{ name: tool.name, args: { colour: 'green' } }] }
    },
  },
  {
    name: 'Broken',
    run() {
      failures++
      return { text: 'No ink.', state: 'failed' }
    },
  },
  {
    name: 'Clerk',
    async *run(_prompt, call) {
      call.event({ type: 'reasoning', text: 'The list ' })
      call.event({ type: 'reasoning', text: 'says it.' })
      call.event({ type: 'tool-call', id: '1', name: 'price', args: {} })
      call.event({ type: 'tool-result', id: '1', result: 6 })
      yield 'Six'
      call.event({ type: 'usage', inputTokens: 30, outputTokens: 5, reasoningTokens: 2 })
    },
  },
  {
    name: 'Turtle',
    async *run() {
      turns++
      yield 'begun '
      await new Promise((resolve) => setTimeout(resolve, 600))
      yield `turn ${turns}`
    },
  },
  {
    name: 'Slow',
    async *run(_prompt, call) {
      waiting++
      yield 'begun'
      await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
      waiting--
    },
  },
  forecaster,
]

let server
let baseURL
let client
before(async () => {
  if (skip) return
  server = createServer({ agents, apiKey: 'sk-1', log: false, graceMs: 0 })
  baseURL = `${(await server.listen(0)).url}/v1`
  client = new OpenAI({ baseURL, apiKey: 'sk-1' })
})
after(() => server?.close())

const ask = (model, content, more = {}) => (
  client.chat.completions.create({ model, messages: [{ role: 'user', content }], ...more })
)

const options = { skip, timeout: 120_000 }

test('openai: models are listed and looked at', options, async () => {
  const models = []
  for await (const model of client.models.list()) models.push(model.id)
  assert.deepEqual(models, ['echo', 'painter', 'broken', 'clerk', 'turtle', 'slow', 'forecaster'])
  assert.equal((await client.models.retrieve('echo')).owned_by, 'Echo')
  await assert.rejects(client.models.retrieve('nobody'), (error) => (
    error instanceof NotFoundError && error.code === 'model_not_found' && error.param === 'model'
  ))
})

test('openai: a completion comes whole', options, async () => {
  const completion = await ask('echo', 'one two', { temperature: 0.5 })
  assert.equal(completion.choices[0].message.content, 'one two ')
  assert.equal(completion.choices[0].finish_reason, 'stop')
  const { prompt_tokens, completion_tokens, total_tokens } = completion.usage
  assert.equal(total_tokens, prompt_tokens + completion_tokens)
  assert.equal(completion.id, `chatcmpl-${completion._request_id}`)
})

test('openai: a completion comes in chunks, with its usage', options, async () => {
  const stream = await ask('echo', 'one two', { stream: true, stream_options: { include_usage: true } })
  const deltas = []
  let usage
  for await (const chunk of stream) {
    for (const { delta } of chunk.choices) deltas.push(delta)
    usage = chunk.usage ?? usage
  }
  assert.equal(deltas[0].role, 'assistant')
  assert.deepEqual(deltas.flatMap(({ content }) => content || []), ['one ', 'two '])
  assert.equal(usage.completion_tokens, 2)
})

test('openai: the helper for streams puts the same completion together', options, async () => {
  const messages = [{ role: 'user', content: 'one two' }]
  const runner = client.chat.completions.stream({ model: 'echo', messages })
  const completion = await runner.finalChatCompletion()
  assert.equal(completion.choices[0].message.content, 'one two ')
})

test('openai: a chat with pictures is understood', options, async () => {
  const { choices } = await client.chat.completions.create({
    model: 'echo',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: [
        { type: 'text', text: 'What is this?' }, { type: 'image_url', image_url: { url: picture } },
      ] },
    ],
  })
  const said = 'system: Be brief.\nuser: Hello\nassistant: Hi\nimage image/png\nWhat is this? '
  assert.equal(choices[0].message.content, said)
})

test('openai: errors are its own classes', options, async () => {
  await assert.rejects(ask('nobody', 'hi'), (error) => error instanceof NotFoundError)
  await assert.rejects(ask('echo', 'hi', { tools: [{ function: { name: 'f' } }] }), (error) => (
    error instanceof BadRequestError && error.param === 'tools[0].type' && /function/.test(error.message)
  ))
  const stranger = new OpenAI({ baseURL, apiKey: 'sk-2' })
  await assert.rejects(stranger.models.list(), (error) => (
    error instanceof AuthenticationError && error.code === 'invalid_api_key'
  ))
  await assert.rejects(client.embeddings.create({ model: 'echo', input: 'a' }), NotFoundError)
})

const demands = [
  ['n', { n: 2 }, /one answer/],
  ['logprobs', { logprobs: true, top_logprobs: 2 }, /probabilities/],
  ['modalities', { modalities: ['text', 'audio'], audio: { voice: 'ash', format: 'wav' } }, /\["text"\]/],
  ['tool_choice', { tool_choice: { type: 'custom', custom: { name: 'f' } } }, /of the type "custom"/],
  ['web_search_options', { web_search_options: {} }, /leave it out/],
]

test('openai: what an agent cannot obey is refused by name, whole and streamed', options, async () => {
  for (const [param, more, sentence] of demands) {
    for (const stream of [false, true]) {
      await assert.rejects(ask('echo', 'hi', { ...more, stream }), (error) => (
        error instanceof BadRequestError && error.param === param && error.code.startsWith('unsupported_')
          && sentence.test(error.message)
      ), param)
    }
  }
})

const schema = {
  type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'],
  additionalProperties: false,
}
const messages = [{ role: 'user', content: 'hi' }]

test('openai: an answer fits the format that was asked for, or is a refusal', options, async () => {
  const response_format = { type: 'json_schema', json_schema: { name: 'a', strict: true, schema } }
  const parsed = async (model) => {
    const { choices } = await client.chat.completions.parse({ model, messages, response_format })
    return choices[0].message
  }
  assert.deepEqual((await parsed('painter')).parsed, { colour: 'green' })
  assert.match((await parsed('echo')).refusal, /did not answer with JSON/)
})

test('openai: an agent has the client run its tools, whole and streamed', options, async () => {
  for (const stream of [false, true]) {
    const painted = []
    const paint = {
      name: 'paint', parameters: schema, parse: JSON.parse,
      function: ({ colour }) => {
        painted.push(colour)
        return 'done'
      },
    }
    const tools = [{ type: 'function', function: paint }]
    const runner = client.chat.completions.runTools({ model: 'painter', messages, tools, stream })
    assert.equal(await runner.finalContent(), 'Painted: done')
    assert.deepEqual(painted, ['green'])
    const plain = client.chat.completions.runTools({ model: 'echo', messages, tools, stream })
    assert.equal(await plain.finalContent(), 'hi ')
  }
})

test('openai: two turns with a tool and reasoning, in pieces', options, async (t) => {
  shows(t, 'openai-chat', 'two turns', 'tool', 'reasoning', 'stream')
  const { name, description, inputSchema: parameters, run } = weather
  const tools = [{ type: 'function', function: {
    name, description, parameters, parse: JSON.parse, function: run,
  } }]
  let said = []
  for (const [city, answer] of [['Rome', '0 before; sunny in Rome'], ['Oslo', '1 before; sunny in Oslo']]) {
    const messages = [...said, { role: 'user', content: city }]
    const runner = client.chat.completions.runTools({ model: 'forecaster', messages, tools, stream: true })
    const pieces = []
    let thought = ''
    runner.on('chunk', ({ choices: [{ delta }] }) => {
      if (delta.content) pieces.push(delta.content)
      thought += delta.reasoning_content ?? ''
    })
    assert.equal(await runner.finalContent(), answer)
    assert.deepEqual([pieces.length, pieces.join(''), thought], [2, answer, THOUGHT + THOUGHT])
    said = runner.messages
  }
})

test('openai: what is said of a model is passed over', options, async () => {
  const { choices } = await ask('echo', 'hi', {
    temperature: 0, top_p: 0.5, max_completion_tokens: 5, frequency_penalty: 1, presence_penalty: 1, seed: 7,
    logit_bias: { 50256: -100 }, reasoning_effort: 'low', user: 'ann', store: false, service_tier: 'auto',
    response_format: { type: 'text' }, logprobs: false, parallel_tool_calls: false, modalities: ['text'],
  })
  assert.equal(choices[0].message.content, 'hi ')
})

test('openai: an agent that has failed is not run again, and says what went wrong', options, async (t) => {
  shows(t, 'openai-chat', 'error')
  failures = 0
  await assert.rejects(ask('broken', 'hi'), (error) => (
    error instanceof InternalServerError && /No ink\./.test(error.message)
  ))
  assert.equal(failures, 1)
  await assert.rejects(async () => {
    for await (const chunk of await ask('broken', 'hi', { stream: true })) void chunk
  }, /No ink\./)
})

test('openai: who leaves a stream ends the run', options, async () => {
  const stream = await ask('slow', 'hi', { stream: true })
  for await (const chunk of stream) if (chunk.choices[0].delta.content === 'begun') break
  while (waiting > 0) await new Promise((resolve) => setTimeout(resolve, 5))
})

/** A client that gives up, so many times, once the agent has begun. */
function losing(count, keys = []) {
  return new OpenAI({ baseURL, apiKey: 'sk-1', async fetch(url, init) {
    keys.push(new Headers(init.headers).get('idempotency-key'))
    if (count-- <= 0) return fetch(url, init)
    const [before, leaving] = [turns, new AbortController()]
    const asked = fetch(url, { ...init, signal: leaving.signal })
    asked.catch(() => {})
    while (turns === before) await new Promise((resolve) => setTimeout(resolve, 5))
    leaving.abort()
    return asked
  } })
}

test('openai: a client sends no Idempotency-Key by itself', options, async () => {
  const keys = []
  turns = 0
  const body = { model: 'turtle', messages }
  await assert.rejects(losing(2, keys).chat.completions.create(body, { maxRetries: 1 }))
  assert.deepEqual(keys, [null, null])
  assert.equal(turns, 2)
})

test('openai: a request with a key that is sent again runs once', options, async () => {
  const ways = {
    chat: async (by, more, sent) => {
      const body = { model: 'turtle', messages, ...more }
      const { choices } = await by.chat.completions.create(body, sent)
      return choices[0].message.content
    },
    responses: async (by, more, sent) => {
      const { output_text } = await by.responses.create({ model: 'turtle', input: 'hi', ...more }, sent)
      return output_text
    },
  }
  for (const [way, send] of Object.entries(ways)) {
    turns = 0
    const headers = { 'Idempotency-Key': way }
    // It gives up before the agent has answered, and asks again by itself: 409, and then the reply.
    assert.equal(await send(losing(1), {}, { headers, maxRetries: 5 }), 'begun turn 1')
    assert.equal(await send(client, {}, { headers }), 'begun turn 1')
    assert.equal(turns, 1)
    await assert.rejects(send(client, { metadata: { a: 'b' } }, { headers }), UnprocessableEntityError)
  }
})

test('openai: a stream with a key that was lost comes from its begin', options, async () => {
  const ways = {
    chat: async function* (sent) {
      const body = { model: 'turtle', messages, stream: true }
      for await (const { choices } of await client.chat.completions.create(body, sent)) {
        yield choices[0].delta.content ?? ''
      }
    },
    responses: async function* (sent) {
      const body = { model: 'turtle', input: 'hi', stream: true }
      for await (const { delta = '' } of await client.responses.create(body, sent)) yield delta
    },
  }
  for (const [way, send] of Object.entries(ways)) {
    turns = 0
    const sent = { headers: { 'Idempotency-Key': `${way}-stream` }, maxRetries: 5 }
    for await (const text of send(sent)) if (text === 'begun ') break
    for (let time = 0; time < 2; time++) {
      let said = ''
      for await (const text of send(sent)) said += text
      assert.equal(said, 'begun turn 1')
    }
    assert.equal(turns, 1)
  }
})

function provider(more = {}) {
  return createOpenAICompatible({ name: 'house', baseURL, apiKey: 'sk-1', ...more })
}

test('ai: a text is generated', options, async () => {
  const { text, finishReason, usage } = await generateText({
    model: provider()('echo'), instructions: 'Be brief.', prompt: 'one two',
  })
  assert.equal(text, 'system: Be brief.\none two ')
  assert.equal(finishReason, 'stop')
  assert.ok(usage.totalTokens > 0)
})

test('ai: a text is streamed, with its usage', options, async () => {
  const result = streamText({ model: provider({ includeUsage: true })('echo'), prompt: 'one two' })
  const deltas = []
  for await (const delta of result.textStream) deltas.push(delta)
  assert.deepEqual(deltas.filter((delta) => delta !== ''), ['one ', 'two '])
  assert.equal(await result.finishReason, 'stop')
  assert.equal((await result.usage).outputTokens, 2)
})

test('ai: reasoning and tokens are those of the agent, and its tools are its own', options, async () => {
  const whole = await generateText({ model: provider()('clerk'), prompt: 'pears' })
  const result = streamText({ model: provider({ includeUsage: true })('clerk'), prompt: 'pears' })
  const kinds = new Set()
  for await (const { type } of result.fullStream) kinds.add(type)
  const streamed = {
    text: await result.text, reasoningText: await result.reasoningText, usage: await result.usage,
  }
  for (const { text, reasoningText, usage } of [whole, streamed]) {
    assert.deepEqual([text, reasoningText], ['Six', 'The list says it.'])
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [30, 5])
  }
  assert.ok(kinds.has('reasoning-delta') && !kinds.has('tool-call'))
})

test('ai: a chat with a picture is understood', options, async () => {
  const { text } = await generateText({
    model: provider()('echo'),
    messages: [{ role: 'user', content: [
      { type: 'text', text: 'See' },
      { type: 'file', mediaType: 'image/png', data: Buffer.from(pixel, 'base64') },
    ] }],
  })
  assert.equal(text, 'image image/png\nSee ')
})

test('ai: an error is told, whole and streamed', options, async () => {
  await assert.rejects(
    generateText({ model: provider()('nobody'), prompt: 'hi', maxRetries: 0 }),
    /model 'nobody' does not exist/,
  )
  await assert.rejects(
    generateText({ model: provider()('broken'), prompt: 'hi', maxRetries: 0 }), /No ink\./,
  )
  const errors = []
  const result = streamText({
    model: provider()('broken'), prompt: 'hi', maxRetries: 0, onError: ({ error }) => errors.push(error),
  })
  for await (const part of result.fullStream) void part
  assert.equal(errors.length, 1)
  assert.match(String(errors[0]?.message ?? errors[0]), /No ink\./)
})
