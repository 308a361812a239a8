/** LangChain, the Agents SDK and the client of OpenAI as clients of an agent that is served here. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createServer } from '../../../../dist/index.js'
import { shows } from '../../clients.mjs'
import { agent as forecaster, THOUGHT, tool as weather } from '../../weather.mjs'
import { missing } from '../matrix.mjs'

const skip = missing(import.meta.url, '@langchain/openai', '@openai/agents', 'openai', 'zod')
const {
  Agent, ChatOpenAI, MemorySession, OpenAI, OpenAIChatCompletionsModel, OpenAIResponsesModel, run,
  setDefaultOpenAIClient, setTracingDisabled, tool, z,
} = skip ? {} : {
  ...await import('@langchain/openai'), ...await import('@openai/agents'), ...await import('openai'),
  ...await import('zod'),
}
if (!skip) setTracingDisabled(true)

const pears = { count: 2, of: 'pears' }
const agents = [
  forecaster,
  {
    name: 'Thinker',
    async *run(_prompt, call) {
      call.event({ type: 'reasoning', text: 'Let me ' })
      call.event({ type: 'reasoning', text: 'see.' })
      yield 'Two '
      yield 'pears.'
    },
  },
  {
    name: 'Form',
    /** Fills in what is asked for, in the way in which it is asked. */
    run(_prompt, { clientTools: [tool], toolChoice, outputSchema }) {
      if (outputSchema !== undefined) return pears
      if (toolChoice === 'auto' || toolChoice === 'none') return 'Two pears.'
      return { toolCalls: [{ name: toolChoice.name ?? tool.name, args: pears }] }
    },
  },
  { name: 'Broken', run: () => ({ text: 'No ink.', state: 'failed' }) },
]

let server
let url
before(async () => {
  if (skip) return
  server = createServer({ agents, log: false, graceMs: 0 })
  url = `${(await server.listen(0)).url}/v1`
})
after(() => server?.close())

const options = { skip, timeout: 120_000 }
const openai = () => new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0 })
const langchain = (model, more = {}) => new ChatOpenAI({
  model, apiKey: 'none', maxRetries: 0, configuration: { baseURL: url }, useResponsesApi: true, ...more,
})
/** What it has of the reasoning, over each of the two. */
const thoughtOf = ({ additional_kwargs: more, content }) => more.reasoning_content
  ?? content.find(({ type }) => type === 'reasoning')?.reasoning
const agentsSdk = (model) => new Agent({ name: 'Helper', model: new OpenAIResponsesModel(openai(), model) })

test('openai: reasoning comes while it streams, and is in the response', options, async () => {
  let thought = ''
  const stream = openai().responses.stream({ model: 'thinker', input: 'How many?' })
  for (const kind of ['reasoning_text', 'reasoning_summary_text']) {
    stream.on(`response.${kind}.delta`, ({ delta }) => { thought += delta })
  }
  const { output, output_text: text } = await stream.finalResponse()
  assert.equal(thought, THOUGHT)
  assert.deepEqual([output[0].summary[0].text, output[0].content[0].text], [THOUGHT, THOUGHT])
  assert.equal(text, 'Two pears.')
})

test('LangChain: reasoning comes while it streams, once, and is in a whole message', options, async () => {
  let thought = ''
  let text = ''
  for await (const chunk of await langchain('thinker').stream('How many?')) {
    // Its `contentBlocks` have the summary of any server twice.
    for (const block of chunk.content) {
      if (block.type === 'reasoning') thought += block.reasoning
      if (block.type === 'text') text += block.text
    }
  }
  assert.deepEqual([thought, text], [THOUGHT, 'Two pears.'])
  const whole = await langchain('thinker').invoke('How many?')
  assert.deepEqual(whole.contentBlocks.map((block) => block.reasoning ?? block.text), [THOUGHT, 'Two pears.'])
})

test('Agents SDK: reasoning comes while it streams, and is an item of the run', options, async () => {
  const result = await run(agentsSdk('thinker'), 'How many?', { stream: true })
  let thought = ''
  for await (const event of result) {
    const raw = event.type === 'raw_model_stream_event' ? event.data.event : undefined
    if (raw?.type === 'response.reasoning_summary_text.delta') thought += raw.delta
  }
  const item = result.newItems.find(({ type }) => type === 'reasoning_item')
  assert.deepEqual([thought, item.rawItem.content[0].text], [THOUGHT, THOUGHT])
  assert.equal(result.finalOutput, 'Two pears.')
})

test('Agents SDK: two turns with a tool and reasoning, in pieces, as it comes', options, async (t) => {
  shows(t, 'agents-sdk', 'two turns', 'tool', 'reasoning', 'stream')
  setDefaultOpenAIClient(openai())
  const { name, description, run: execute } = weather
  const parameters = z.object({ city: z.string() })
  const tools = [tool({ name, description, parameters, execute })]
  const agent = new Agent({ name: 'Helper', model: 'forecaster', tools })
  const session = new MemorySession()
  for (const [city, answer] of [['Rome', '0 before; sunny in Rome'], ['Oslo', '1 before; sunny in Oslo']]) {
    const result = await run(agent, city, { session, stream: true })
    const pieces = []
    for await (const piece of result.toTextStream()) pieces.push(piece)
    assert.deepEqual([pieces.length, pieces.join(''), result.finalOutput], [2, answer, answer])
    const thoughts = result.newItems.filter(({ type }) => type === 'reasoning_item')
    assert.deepEqual(thoughts.map(({ rawItem }) => rawItem.content[0].text), [THOUGHT, THOUGHT])
  }
})

for (const useResponsesApi of [false, true]) {
  const of = useResponsesApi ? 'responses' : 'chat completions'
  test(`LangChain: two turns with a tool and reasoning, in pieces, over ${of}`, options, async (t) => {
    const client = useResponsesApi ? 'langchain-responses' : 'langchain'
    shows(t, client, 'two turns', 'tool', 'reasoning', 'stream')
    const { name, description, inputSchema: parameters, run: execute } = weather
    const model = new ChatOpenAI({
      model: 'forecaster', apiKey: 'none', maxRetries: 0, configuration: { baseURL: url },
      ...useResponsesApi && { useResponsesApi },
    }).bindTools([{ type: 'function', function: { name, description, parameters } }])
    const messages = []
    const turn = async (more) => {
      messages.push(more)
      const pieces = []
      let whole
      for await (const chunk of await model.stream(messages)) {
        if (chunk.text !== '') pieces.push(chunk.text)
        whole = whole === undefined ? chunk : whole.concat(chunk)
      }
      assert.equal(thoughtOf(whole), THOUGHT)
      messages.push(whole)
      const [called] = whole.tool_calls
      if (called === undefined) return pieces
      return turn({ role: 'tool', tool_call_id: called.id, content: execute(called.args) })
    }
    assert.deepEqual(await turn({ role: 'user', content: 'Rome' }), ['0 before; ', 'sunny in Rome'])
    assert.deepEqual(await turn({ role: 'user', content: 'Oslo' }), ['1 before; ', 'sunny in Oslo'])
  })

  test(`LangChain: structured output, by each method, over ${of}`, options, async () => {
    const shape = z.object({ count: z.number(), of: z.string() })
    const model = langchain('form', { useResponsesApi })
    for (const method of [undefined, 'jsonSchema', 'functionCalling', 'jsonMode']) {
      const asked = model.withStructuredOutput(shape, { name: 'order', method })
      assert.deepEqual(await asked.invoke('Two pears, as JSON'), pears, method)
    }
    const tools = ['order', 'note'].map((name) => ({ type: 'function', function: { name, parameters: {} } }))
    // It leaves "required" out of what it sends to Responses.
    const any = useResponsesApi ? undefined : 'order'
    for (const [choice, called] of [['any', any], ['note', 'note'], ['auto', undefined]]) {
      const { tool_calls: [call] } = await model.bindTools(tools, { tool_choice: choice }).invoke('Two pears')
      assert.equal(call?.name, called)
    }
  })

  test(`Agents SDK: a tool that must be called is called, over ${of}`, options, async () => {
    const Model = useResponsesApi ? OpenAIResponsesModel : OpenAIChatCompletionsModel
    for (const toolChoice of ['required', 'order']) {
      const orders = []
      const order = tool({
        name: 'order', description: 'Orders.', parameters: z.object({ count: z.number(), of: z.string() }),
        execute: (args) => { orders.push(args) },
      })
      const agent = new Agent({
        name: 'Helper', model: new Model(openai(), 'form'), tools: [order], modelSettings: { toolChoice },
      })
      // It resets the choice once a tool was called.
      assert.equal((await run(agent, 'Two pears')).finalOutput, 'Two pears.')
      assert.deepEqual(orders, [pears])
    }
  })
}

test('a failure is told to who reads the stream, whatever they read of it', options, async (t) => {
  for (const client of ['agents-sdk', 'langchain', 'langchain-responses']) shows(t, client, 'error')
  const told = /No ink\./
  const read = async (stream) => { for await (const one of await stream) void one }
  await assert.rejects(read(openai().responses.create({ model: 'broken', input: 'a', stream: true })), told)
  await assert.rejects(openai().responses.stream({ model: 'broken', input: 'a' }).finalResponse(), told)
  for (const useResponsesApi of [false, true]) {
    await assert.rejects(read(langchain('broken', { useResponsesApi }).stream('a')), told)
  }
  await assert.rejects(async () => {
    const result = await run(agentsSdk('broken'), 'a', { stream: true })
    await read(result)
    await result.completed
  }, told)
})
