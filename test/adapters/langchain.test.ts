import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { Answer } from '../../lib/floors/answers/answer.ts'
import type { LiveCall } from '../../lib/kernel/define/live-call.ts'
import type { AgentOutput, CallEvent, ForeignAgent } from '../../lib/index.ts'

interface Message { readonly type: string; readonly text: string; readonly id?: string }

const message = (type: string, text: string, more: object = {}): Message => (
  { lc_kwargs: {}, type, text, content: text, ...more } as Message
)
const asked = message('human', 'hi', { id: 'h' })
const calling = message('ai', '', {
  id: 'a', tool_calls: [{ id: 'c', name: 'weather', args: { city: 'Paris' } }],
  usage_metadata: { input_tokens: 3, output_tokens: 2, input_token_details: { cache_read: 1 } },
})
const called = message('tool', 'sunny', { id: 't', tool_call_id: 'c', name: 'weather', status: 'success' })
const said = message('ai', 'Said.', { id: 'b', usage_metadata: { input_tokens: 3, output_tokens: 2 } })
const meta = { langgraph_node: 'model', langgraph_checkpoint_ns: 'model:1' }
const piece = (text: string, more: object = {}): Message => message('ai', text, { id: 'b', ...more })

async function* streamOf(pieces: readonly unknown[]): AsyncGenerator<unknown> { yield* pieces }

/** A stream as graphs give one: none of the language's own. */
function readable(pieces: readonly unknown[]): object {
  const stream = streamOf(pieces)
  return { [Symbol.asyncIterator]: () => stream, getReader: () => {}, ensureReader: () => {} }
}

async function answerTo(output: () => unknown): Promise<{ answer: Answer; events: CallEvent[] }> {
  const events: CallEvent[] = []
  const { service } = serviceOf()
  const agent = defineAgent({ name: 'A', run: () => output() as AgentOutput })
  const answer = await ask(service, agent, 'hi', callOf({ event: (event) => events.push(event) }))
  return { answer, events }
}

const whole = [calling, called, said]
const modes: readonly (readonly [what: string, pieces: readonly unknown[]])[] = [
  ['updates', [{ 'Logging.before_agent': {} }, { model: { messages: [asked, calling] } },
    { count: { count: 1 } }, { tools: [{ messages: [called] }, null] }, { model: { messages: [said] } },
    { end: null }]],
  ['values', [[asked], [asked, calling], [asked, calling, called], [asked, ...whole]]
    .map((messages) => ({ messages, count: 1 }))],
  ['updates and values', [['values', { messages: [asked] }], ['updates', { model: { messages: [calling] } }],
    ['values', { messages: [asked, calling] }], ['updates', { tools: { messages: [called] } }],
    ['values', { messages: [asked, calling, called] }], ['updates', { model: { messages: [said] } }],
    ['values', { messages: [asked, ...whole] }]]],
  ['messages', [[piece('', {
    id: 'a', tool_call_chunks: [{ id: 'c', name: 'weather', args: '{"city":', index: 0 }],
    usage_metadata: { input_tokens: 3, output_tokens: 2, input_token_details: { cache_read: 1 } },
  }), meta], [piece('', { id: 'a', tool_call_chunks: [{ args: '"Paris"}', index: 0 }] }), meta],
  [called, meta], [piece('Sa'), meta], [piece('id.'), meta],
  [piece('', { usage_metadata: { input_tokens: 3, output_tokens: 2 } }), meta]]],
  ['messages and updates, of graphs within the graph', [
    [['sub:1'], 'messages', [calling, meta]], [['sub:1'], 'updates', { model: { messages: [calling] } }],
    [['sub:1'], 'messages', [called, meta]], [['sub:1'], 'messages', [said, meta]],
    // What an agent says to a tool.
    [['tools:1'], 'messages', [piece('no', { id: 'x' }), { langgraph_checkpoint_ns: 'tools:1|model:2' }]],
    [[], 'updates', { sub: { messages: [asked, ...whole] } }]]],
  ['events', [{ event: 'on_chain_start', run_id: 'r', data: { input: { messages: [asked] } } },
    { event: 'on_chat_model_end', run_id: '1', data: { output: calling }, metadata: meta },
    { event: 'on_tool_end', run_id: '2', data: { output: called }, metadata: meta },
    { event: 'on_chat_model_stream', run_id: '3', data: { chunk: piece('Sa') }, metadata: meta },
    { event: 'on_chat_model_stream', run_id: '3', data: {
      chunk: piece('id.', { usage_metadata: { input_tokens: 3, output_tokens: 2 } }),
    }, metadata: meta },
    { event: 'on_chat_model_end', run_id: '3', data: { output: said }, metadata: meta },
    { event: 'on_chain_end', run_id: 'r', data: { output: { messages: [asked, ...whole] } } }]],
]

test('a stream of a graph says its text once, and its tools, in whatever mode it comes', async () => {
  for (const [mode, pieces] of modes) {
    for (const output of [() => streamOf(pieces), () => readable(pieces)]) {
      const { answer, events } = await answerTo(output)
      assert.deepEqual([answer.text, answer.data], ['Said.', undefined], mode)
      assert.deepEqual(events.filter(({ type }) => type !== 'usage'), [
        { type: 'tool-call', id: 'c', name: 'weather', args: { city: 'Paris' } },
        { type: 'tool-result', id: 'c', name: 'weather', result: 'sunny', isError: false },
      ], mode)
      const tokens = events.flatMap((event) => event.type === 'usage' ? [event.inputTokens] : [])
      assert.deepEqual(tokens, [3, 3], mode)
    }
  }
})

test('a whole state gives its last message, and what has a form gives data', async () => {
  const before = [message('human', 'Hello?', { id: '1' }), message('ai', 'Yes?', { id: '2' })]
  const { answer, events } = await answerTo(() => ({ messages: [...before, asked, ...whole] }))
  assert.equal(answer.text, 'Said.')
  assert.deepEqual(events.map(({ type }) => type), ['usage', 'tool-call', 'tool-result', 'usage'])
  const data = { city: 'Paris' }
  const form = [
    message('ai', '', { id: 'f', tool_calls: [{ id: 'e', name: 'extract-1', args: data }] }),
    message('tool', '{}', { id: 'g', tool_call_id: 'e', name: 'extract-1' }),
    message('ai', 'Returning structured response', { id: 'n' }),
  ]
  for (const output of [
    () => ({ messages: [asked, ...form], structuredResponse: data }),
    () => streamOf([{ model: { messages: [asked, ...form], structuredResponse: data } }]),
    () => streamOf([...form.map((one) => ['messages', [one, meta]]),
      ['updates', { model: { messages: form, structuredResponse: data } }]]),
  ]) {
    const { answer, events } = await answerTo(output)
    assert.deepEqual([answer.text, answer.data], [JSON.stringify(data), data])
    assert.deepEqual(events, [])
  }
})

test('what an author says behind the pieces of a graph is his own', async () => {
  const pieces = [[said, meta], { sources: ['a'] }, { text: ' More.', data: { a: 1 } }]
  const { answer } = await answerTo(() => streamOf(pieces))
  assert.deepEqual([answer.text, answer.data], ['Said.{"sources":["a"]} More.', { a: 1 }])
})

test('messages that follow each other are paragraphs, and thoughts are no text', async () => {
  const thought = message('ai', 'One.', {
    id: '1', content: [{ type: 'reasoning', reasoning: 'Hm.' }, { type: 'text', text: 'One.' }],
  })
  const pieces = [thought, message('ai', 'Two', { id: '2' }), message('ai', '.', { id: '2' })]
  const { answer, events } = await answerTo(() => streamOf(pieces.map((one) => [one, meta])))
  assert.equal(answer.text, 'One.\n\nTwo.')
  assert.deepEqual(events, [{ type: 'reasoning', text: 'Hm.' }])
})

test('a graph that asks cannot be answered where only its result is there', async () => {
  const asking = { __interrupt__: [{ id: 'i', value: 'Sure?' }] }
  for (const output of [() => streamOf([asking]), () => ({ messages: [asked, said], ...asking })]) {
    await assert.rejects(answerTo(output), (error: Error) => /agents: \[graph\]/.test(String(error.cause)))
  }
})

/** A graph whose `turns` say what it streams for each input, and that keeps what it was given. */
function graphOf(turns: readonly (readonly unknown[])[], more: object = {}): {
  graph: ForeignAgent; given: { input: Record<string, unknown>; config: Record<string, unknown> }[]
  deleted: string[]
} {
  const given: { input: Record<string, unknown>; config: Record<string, unknown> }[] = []
  const deleted: string[] = []
  class Graph {
    readonly lg_is_pregel = true
    readonly name = 'Graph'
    readonly channels = { messages: {} }
    readonly checkpointer = {
      // What it does with a thread that has ended is its own matter.
      deleteThread(id: string): never {
        deleted.push(id)
        throw new Error('It is busy')
      },
    }
    invoke(): void {}
    async stream(input: never, config: never): Promise<object> {
      return readable(turns[given.push({ input, config }) - 1]!)
    }
  }
  return { graph: Object.assign(new Graph(), more) as unknown as ForeignAgent, given, deleted }
}

const asking = (value: unknown): unknown => [[], 'updates', { __interrupt__: [{ id: 'i1', value }] }]
const saying = (text: string): unknown => [[], 'messages', [message('ai', text, { id: text }), meta]]

function answering(answer: object | undefined, questions: unknown[] = []): LiveCall {
  return callOf({
    can: () => answer !== undefined,
    ask: async (question) => { questions.push(question); return answer },
  })
}

test('what a graph asks is asked, the answer goes to its thread, and that ends with the run', async () => {
  const choices = { type: 'string', enum: ['small', 'large'] }
  const form = { type: 'object', properties: { name: { type: 'string' } } }
  const cases: readonly (readonly [value: unknown, answer: object, resumed: unknown])[] = [
    ['Your name?', { action: 'accept', content: { answer: 'Ann' } }, 'Ann'],
    [{ question: 'Size?', schema: choices }, { action: 'accept', content: { answer: 'small' } }, 'small'],
    [{ message: 'Who?', schema: form }, { action: 'accept', content: { name: 'Ann' } }, { name: 'Ann' }],
    ['Sure?', { action: 'decline' }, null],
    [{ actionRequests: [{ name: 'book', args: { city: 'Paris' } }] },
      { action: 'accept', content: { approve: true } }, { decisions: [{ type: 'approve' }] }],
    [[{ action_request: { action: 'book', args: {} }, config: { allow_accept: true } }],
      { action: 'accept', content: { approve: true } }, [{ type: 'accept', args: null }]],
    [{ actionRequests: [{ name: 'book', args: {} }] },
      { action: 'cancel' }, { decisions: [{ type: 'reject' }] }],
  ]
  const { service } = serviceOf()
  for (const [value, answer, resumed] of cases) {
    const { graph, given, deleted } = graphOf([[saying('One.'), asking(value)], [saying('Two.')]])
    const call = answering(answer)
    call.history = [{ role: 'system', content: 's' }, { role: 'assistant', content: 'b' }]
    assert.equal((await ask(service, defineAgent(graph), 'hi', call)).text, 'One.\n\nTwo.')
    assert.deepEqual(given[0]?.input, { messages: [
      { role: 'user', content: 's' }, { role: 'assistant', content: 'b' }, { role: 'user', content: 'hi' },
    ] })
    assert.deepEqual({ ...given[1]?.input }, { lg_name: 'Command', resume: { i1: resumed } })
    const threads = given.map(({ config }) => (config['configurable'] as { thread_id: string }).thread_id)
    assert.equal(threads[0], threads[1])
    assert.deepEqual(deleted, [threads[0]])
  }
})

test('an answer goes to what was asked, and what a thread waits for instead is asked', async () => {
  const { service } = serviceOf()
  const states = [
    // Another run of the thread has answered, and it asks once more by the same id.
    [{ id: 'i1', value: 'Sure?' }, { id: 'i2', value: 'Which?' }],
    [{ id: 'i1', value: 'Sure?' }, { id: 'i2', value: 'Which?' }],
  ]
  const getState = async (): Promise<object> => ({ tasks: [{ interrupts: states.shift() ?? [] }] })
  const { graph, given } = graphOf([[asking('Name?')], [saying('Done.')]], { getState })
  const questions: { message: string }[] = []
  const call = callOf({
    can: () => true,
    async ask(question) {
      questions.push(question as never)
      return { action: 'accept', content: { answer: `to ${questions.at(-1)?.message}` } }
    },
  })
  assert.equal((await ask(service, defineAgent(graph), 'hi', call)).text, 'Done.')
  assert.deepEqual(questions.map(({ message }) => message), ['Name?', 'Sure?', 'Which?'])
  assert.equal(given.length, 2)
  assert.deepEqual(given[1]?.input['resume'], { i1: 'to Sure?', i2: 'to Which?' })
})

test('two questions of a graph with one id get no answer where theirs differ', async () => {
  const { service } = serviceOf()
  const { graph, given } = graphOf([[asking('A?'), asking('B?'), asking('B?')], [saying('Done.')]])
  const questions: unknown[] = []
  const call = callOf({
    can: () => true, async ask(question) {
      questions.push(question)
      return { action: 'accept', content: { answer: String(questions.length) } }
    },
  })
  await ask(service, defineAgent(graph), 'hi', call)
  assert.deepEqual([questions.length, given[1]?.input['resume']], [2, { i1: null }])
})

test('of a value without words that a graph asks about a user is shown the beginning', async () => {
  const { service } = serviceOf()
  for (const [value, message] of [
    [{ rows: 'x'.repeat(9_000) }, /^\{"rows":"x{3991}… \(5011 more characters\)$/],
    [undefined, /^What is the answer\?$/],
  ] as const) {
    const { graph } = graphOf([[asking(value)], [saying('Done.')]])
    const questions: { message: string }[] = []
    const call = answering({ action: 'decline' }, questions)
    await ask(service, defineAgent(graph), 'hi', call)
    assert.match(questions[0]!.message, message)
  }
})

test('threads that wait for an answer are kept, so many at most', async () => {
  const { service } = serviceOf()
  const many = 1_002
  const { graph, given, deleted } = graphOf(Array.from({ length: many }, () => [asking('Sure?')]))
  const agent = defineAgent(graph)
  for (let number = 0; number < many; number++) {
    const call: LiveCall = callOf({
      can: () => true,
      async ask() {
        call.disconnect('It comes back with its answer')
        throw new Error('No answer yet')
      },
    })
    await assert.rejects(async () => ask(service, agent, 'hi', call), { kind: 'cancelled' })
  }
  const threads = given.map(({ config }) => (config['configurable'] as { thread_id: string }).thread_id)
  assert.deepEqual(deleted, threads.slice(0, 2))
})

test('where nobody can be asked a graph does not go on, and its thread ends', async () => {
  const { service } = serviceOf()
  const { graph, given, deleted } = graphOf([[asking('Sure?')]])
  await assert.rejects(async () => ask(service, defineAgent(graph), 'hi', answering(undefined)),
    { kind: 'unsupported' })
  assert.deepEqual([given.length, deleted.length], [1, 1])
})

test('where a tool has the last word, that is the answer', async () => {
  const { service } = serviceOf()
  const last = [[[], 'messages', [called, meta]], [[], 'updates', { tools: { messages: [called] } }]]
  const { graph } = graphOf([last])
  assert.equal((await ask(service, defineAgent(graph), 'hi', callOf())).text, 'sunny')
  const { answer } = await answerTo(() => ({ messages: [asked, calling, called] }))
  assert.equal(answer.text, 'sunny')
})

test('an entrypoint may return a text, data or a message', async () => {
  const { service } = serviceOf()
  const cases: readonly (readonly [pieces: readonly unknown[], text: string, data: unknown])[] = [
    [[[[], 'values', 'Said.']], 'Said.', undefined],
    [[[[], 'values', { a: 1 }]], '{"a":1}', { a: 1 }],
    // It returns what it streamed.
    [[saying('Said.'), [[], 'values', 'Said.']], 'Said.', undefined],
    [[saying('Said.'), [[], 'updates', { run: said }], [[], 'values', said]], 'Said.', undefined],
  ]
  for (const [pieces, text, data] of cases) {
    const { graph, given } = graphOf([pieces], { channels: { __previous__: {} }, checkpointer: undefined })
    const answer = await ask(service, defineAgent(graph), 'hi', callOf())
    assert.deepEqual([answer.text, answer.data], [text, data])
    assert.equal(given[0]?.config['configurable'], undefined)
  }
})
