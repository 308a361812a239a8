/** The official client of OpenAI over Responses: whole, streamed, with tools and formats, later. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shows } from './clients.mjs'
import { missing } from './start.mjs'
import { agent as forecaster, THOUGHT, tool as weather } from './weather.mjs'

const skip = missing('openai')
if (skip) console.log(`responses: skipped: ${skip}`)
const { default: OpenAI } = skip ? {} : await import('openai')
const { createServer } = await import('../../dist/index.js')

let goOn
/** The client has seen how it begins. */
const isSeen = new Promise((resolve) => { goOn = resolve })
const agents = [
  forecaster,
  { name: 'Echo', run: (prompt, { history }) => `${history.length}: ${prompt}` },
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
    },
  },
  {
    name: 'Steps',
    async* run() {
      yield 'One '
      await isSeen
      yield 'two '
      yield 'three.'
    },
  },
  { name: 'Broken', run: () => { throw new Error('secret') } },
  { name: 'Form', run: () => ({ sum: 5 }) },
]

const server = createServer({ agents, log: false })
const { url } = await server.listen(0)
test.after(() => server.close())
const client = skip ? undefined : new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })

test('a response, and the one after it', { skip }, async () => {
  const first = await client.responses.create({ model: 'echo', input: 'Hello' })
  assert.equal(first.output_text, '0: Hello')
  const next = { model: 'echo', input: 'Again', previous_response_id: first.id }
  const second = await client.responses.create(next)
  assert.equal(second.output_text, '2: Again')
  assert.equal((await client.responses.retrieve(second.id)).output_text, '2: Again')
  const { data } = await client.responses.inputItems.list(second.id)
  assert.equal(data[0].content[0].text, 'Again')
  await client.responses.delete(first.id)
  await assert.rejects(client.responses.retrieve(first.id), { status: 404 })
})

test('a compaction begins a new conversation', { skip }, async () => {
  const { object, output } = await client.responses.compact({
    model: 'echo',
    input: [{ role: 'user', content: 'The word is slate.' }, { role: 'assistant', content: 'OK.' }],
  })
  assert.deepEqual([object, output.map(({ type }) => type)], ['response.compaction', ['compaction']])
  const input = [...output, { role: 'user', content: 'Which?' }]
  assert.equal((await client.responses.create({ model: 'echo', input })).output_text, '2: Which?')
  const nameless = client.post('/responses/compact', { body: { input: 'a' } })
  await assert.rejects(nameless, { status: 400, param: 'model' })
})

test('a stream', { skip }, async () => {
  const stream = client.responses.stream({ model: 'echo', input: 'Hello' })
  const deltas = []
  stream.on('response.output_text.delta', ({ delta }) => { deltas.push(delta) })
  const { output_text: text } = await stream.finalResponse()
  assert.deepEqual([deltas.join(''), text], ['0: Hello', '0: Hello'])
})

test('a tool of the client', { skip }, async () => {
  const tools = [{ type: 'function', name: 'paint', parameters: { type: 'object' }, strict: false }]
  const first = await client.responses.create({ model: 'caller', input: 'Paint it', tools })
  const [{ name, arguments: written, call_id: id }] = first.output
  assert.deepEqual([name, JSON.parse(written)], ['paint', { colour: 'green' }])
  const input = [{ type: 'function_call_output', call_id: id, output: 'green' }]
  const asked = { model: 'caller', input, tools, previous_response_id: first.id }
  assert.equal((await client.responses.create(asked)).output_text, 'It is green now.')
})

test('two turns with a tool and reasoning, in pieces', { skip }, async (t) => {
  shows(t, 'openai-responses', 'two turns', 'tool', 'reasoning', 'stream')
  const { name, description, inputSchema: parameters, run } = weather
  const tools = [{ type: 'function', name, description, parameters, strict: false }]
  let previous_response_id
  /** Asks, runs the tool that is called, and asks again. Returns the pieces of the text. */
  const turn = async (input) => {
    const stream = client.responses.stream({ model: 'forecaster', input, tools, previous_response_id })
    const pieces = []
    let thought = ''
    stream.on('response.output_text.delta', ({ delta }) => { pieces.push(delta) })
    stream.on('response.reasoning_summary_text.delta', ({ delta }) => { thought += delta })
    const { id, output } = await stream.finalResponse()
    assert.equal(thought, THOUGHT)
    previous_response_id = id
    const called = output.find(({ type }) => type === 'function_call')
    if (called === undefined) return pieces
    const done = run(JSON.parse(called.arguments))
    return turn([{ type: 'function_call_output', call_id: called.call_id, output: done }])
  }
  assert.deepEqual(await turn('Rome'), ['0 before; ', 'sunny in Rome'])
  assert.deepEqual(await turn('Oslo'), ['1 before; ', 'sunny in Oslo'])
})

test('a format', { skip }, async () => {
  const schema = {
    type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'], additionalProperties: false,
  }
  const text = { format: { type: 'json_schema', name: 'sum', schema } }
  const { output_parsed: parsed } = await client.responses.parse({ model: 'form', input: 'Add', text })
  assert.deepEqual(parsed, { sum: 5 })
})

test('the background', { skip, timeout: 120_000 }, async () => {
  const begun = await client.responses.create({ model: 'slow', input: 'Go', background: true })
  assert.equal(begun.status, 'in_progress')
  assert.equal((await client.responses.cancel(begun.id)).status, 'cancelled')
  let done = await client.responses.create({ model: 'echo', input: 'Hello', background: true })
  while (done.status === 'in_progress') done = await client.responses.retrieve(done.id)
  assert.equal(done.output_text, '0: Hello')
})

test('a stream of the background is left, read on and cancelled', { skip, timeout: 120_000 }, async () => {
  const asked = { model: 'steps', input: 'Go', background: true, stream: true }
  let id
  let last
  let text = ''
  for await (const event of await client.responses.create(asked)) {
    if (event.type === 'response.created') id = event.response.id
    if (event.type !== 'response.output_text.delta') continue
    text += event.delta
    last = event.sequence_number
    break
  }
  assert.equal((await client.responses.retrieve(id)).status, 'in_progress')
  goOn()
  const numbers = [last]
  for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: last })) {
    numbers.push(event.sequence_number)
    if (event.type === 'response.output_text.delta') text += event.delta
  }
  assert.equal(text, 'One two three.')
  assert.deepEqual(numbers, numbers.map((_, index) => last + index))
  const again = await client.responses.stream({ response_id: id, starting_after: last }).finalResponse()
  assert.equal(again.output_text, 'One two three.')
  const whole = await client.responses.stream(asked).finalResponse()
  assert.equal(whole.output_text, 'One two three.')
  const stream = await client.responses.create({ ...asked, model: 'slow' })
  const types = []
  for await (const { type, response } of stream) {
    types.push(type)
    if (type === 'response.created') id = response.id
    if (type === 'response.output_text.delta') await client.responses.cancel(id)
  }
  assert.equal(types.at(-1), 'response.incomplete')
  assert.equal((await client.responses.retrieve(id)).status, 'cancelled')
  const unknown = client.responses.retrieve('resp_1', { stream: true })
  await assert.rejects(unknown, { status: 404, code: 'response_not_found' })
  const counted = client.responses.inputTokens.count({ model: 'echo', input: 'Hello' })
  await assert.rejects(counted, { status: 404, code: 'not_found' })
})

test('errors', { skip }, async (t) => {
  shows(t, 'openai-responses', 'error')
  const unknown = client.responses.create({ model: 'none', input: 'a' })
  await assert.rejects(unknown, { status: 404, code: 'model_not_found' })
  await assert.rejects(client.responses.create({ model: 'broken', input: 'a' }), { status: 500 })
  const stream = client.responses.stream({ model: 'broken', input: 'a' })
  await assert.rejects(stream.finalResponse(), { code: 'server_error' })
})
