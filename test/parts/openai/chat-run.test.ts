import assert from 'node:assert/strict'
import test from 'node:test'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { eventually, jsonOf, listen, request, serve } from '../../fixtures/client.ts'
import { costOfParsing, cpuMs } from '../../fixtures/time.ts'
import type { TestContext } from 'node:test'
import type { AgentOutput, Call, TriportServer } from '../../../lib/index.ts'

type Json = Record<string, unknown>

interface Chunk {
  readonly id: string
  readonly object: string
  readonly choices: readonly { readonly delta: Json; readonly finish_reason: string | null }[]
  readonly usage?: Json | null
}

const usual = { model: 'agent', messages: [{ role: 'user', content: 'Hello you' }] }

function serving(t: TestContext, run: (prompt: string, call: Call) => AgentOutput): TriportServer {
  return serve(t, { agents: [{ name: 'Agent', run }] })
}

function chat(more: object = {}, headers: Record<string, string> = {}): Request {
  return request('/v1/chat/completions', { ...usual, ...more }, headers)
}

async function dataOf(response: Response): Promise<readonly string[]> {
  const all: string[] = []
  eventReader(({ data, event, id }) => {
    assert.deepEqual([event, id], ['message', ''])
    all.push(data)
  })(await response.text())
  return all
}

async function chunksOf(response: Response): Promise<readonly Chunk[]> {
  const all = await dataOf(response)
  assert.equal(all.at(-1), '[DONE]')
  return all.slice(0, -1).map((data) => JSON.parse(data) as Chunk)
}

test('a completion says what was answered, by whom, and about how much it was', async (t) => {
  const server = serving(t, (prompt) => `You said ${prompt}`)
  const before = Math.floor(Date.now() / 1000)
  const { created, ...reply } = await jsonOf(await server.fetch(chat({}, { 'x-request-id': 'r-1' })))
  assert.ok(Number.isSafeInteger(created) && Number(created) >= before)
  assert.deepEqual(reply, {
    id: 'chatcmpl-r-1', object: 'chat.completion', model: 'agent',
    choices: [{
      index: 0, message: { role: 'assistant', content: 'You said Hello you', refusal: null }, logprobs: null,
      finish_reason: 'stop',
    }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8, estimated: true },
  })
})

test('an agent sees the whole message, what was said before, and no conversation', async (t) => {
  let seen: Json = {}
  const server = serving(t, (prompt, { history, message, metadata, sessionId, protocol }) => {
    seen = { prompt, history, message, metadata, sessionId, protocol }
  })
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  await server.fetch(chat({
    messages: [
      { role: 'system', content: 'Be brief.' }, { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      { role: 'user', content: [{ type: 'text', text: 'See' }, image] },
    ],
    metadata: { a: 'b' },
  }))
  assert.deepEqual(seen, {
    prompt: 'See',
    history: [
      { role: 'system', content: 'Be brief.' }, { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
    ],
    message: [{ type: 'text', text: 'See' }, { type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    metadata: { a: 'b' }, sessionId: undefined, protocol: 'http',
  })
  assert.equal(server.status().conversations.count, 0)
})

test('a stream begins with the role, tells each piece, and ends with the reason', async (t) => {
  const server = serving(t, async function* () {
    yield 'One '
    yield 'two'
  })
  const response = await server.fetch(chat({ stream: true }, { 'x-request-id': 'r-1' }))
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  const chunks = await chunksOf(response)
  for (const { id, object } of chunks) {
    assert.deepEqual([id, object], ['chatcmpl-r-1', 'chat.completion.chunk'])
  }
  assert.deepEqual(chunks.map(({ choices: [choice] }) => [choice?.delta, choice?.finish_reason]), [
    [{ role: 'assistant', content: '' }, null], [{ content: 'One ' }, null], [{ content: 'two' }, null],
    [{}, 'stop'],
  ])
  assert.ok(chunks.every((chunk) => !('usage' in chunk)))
})

test('a stream ends with its usage where that is asked for', async (t) => {
  const server = serving(t, () => 'twelve bytes')
  const asked = { stream: true, stream_options: { include_usage: true } }
  const chunks = await chunksOf(await server.fetch(chat(asked)))
  assert.deepEqual(chunks.at(-1)?.choices, [])
  assert.deepEqual(chunks.map(({ usage }) => usage), [
    null, null, null, { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6, estimated: true },
  ])
})

/** Thinks, calls a tool, counts its tokens, and answers. */
async function* clerk(_prompt: string, call: Call): AsyncGenerator<string> {
  call.event({ type: 'reasoning', text: 'The "list" ' })
  call.event({ type: 'tool-call', id: '1', name: 'price', args: {} })
  call.event({ type: 'usage', inputTokens: 10, outputTokens: 2 })
  yield 'Six'
  call.event({ type: 'tool-result', id: '1', result: 6 })
  call.event({ type: 'reasoning', text: 'says it.' })
  call.event({ type: 'usage', inputTokens: 20, outputTokens: 3, cachedInputTokens: 8, reasoningTokens: 1 })
}

const counted = {
  prompt_tokens: 30, completion_tokens: 5, total_tokens: 35, prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 1 },
}

test('reasoning and tokens are those of the agent, and its tools are its own', async (t) => {
  const server = serving(t, clerk)
  const whole = await jsonOf(await server.fetch(chat()))
  assert.deepEqual(whole['usage'], counted)
  assert.deepEqual((whole['choices'] as readonly Json[])[0]?.['message'], {
    role: 'assistant', content: 'Six', reasoning_content: 'The "list" says it.', refusal: null,
  })
  const asked = { stream: true, stream_options: { include_usage: true } }
  const chunks = await chunksOf(await server.fetch(chat(asked)))
  assert.deepEqual(chunks.map(({ choices: [choice] }) => choice?.delta), [
    { role: 'assistant', content: '' }, { reasoning_content: 'The "list" ' }, { content: 'Six' },
    { reasoning_content: 'says it.' }, {}, undefined,
  ])
  assert.deepEqual(chunks.at(-1)?.usage, counted)
})

test('an agent that counts only what every model counts says no more', async (t) => {
  const server = serving(t, (_prompt, call) => {
    call.event({ type: 'usage', inputTokens: 1, outputTokens: 2 })
    return 'a'
  })
  const { usage } = await jsonOf(await server.fetch(chat()))
  assert.deepEqual(usage, { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 })
})

test('of the reasoning of a whole reply the first 262,144 characters are kept', async (t) => {
  const server = serving(t, (_prompt, call) => {
    for (let n = 0; n < 9; n++) call.event({ type: 'reasoning', text: String(n).repeat(50_000) })
    return 'a'
  })
  const { choices } = await jsonOf(await server.fetch(chat()))
  const [{ message }] = choices as readonly [{ readonly message: Json }]
  assert.equal(String(message['reasoning_content']).length, 262_144)
  assert.equal(message['content'], 'a')
})

const png = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const
const wav = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' } as const
const blob = { uri: 'a.bin', blob: 'AAAA' }

const contents: readonly (readonly [what: string, output: AgentOutput, said: string])[] = [
  ['nothing', undefined, ''],
  ['a text', 'One', 'One'],
  ['data', { n: 1 }, '{"n":1}'],
  ['a question', { text: 'Which?', state: 'input-required' }, 'Which?'],
  ['a picture', png, '![image](data:image/png;base64,AAAA)\n\n'],
  ['a text around a picture', { content: ['See', png, 'there'] },
    'See\n\n![image](data:image/png;base64,AAAA)\n\nthere'],
  ['a sound', { content: [wav] }, '[audio](data:audio/wav;base64,AAAA)\n\n'],
  ['a link', { content: [{ type: 'resource_link', uri: 'https://a.example/', name: 'A' }] },
    '[A](https://a.example/)\n\n'],
  ['a resource', { content: [{ type: 'resource', resource: { uri: 'a', text: 'Text' } }] }, 'Text\n\n'],
  ['bytes', { content: [{ type: 'resource', resource: blob }] },
    '[a.bin](data:application/octet-stream;base64,AAAA)\n\n'],
  ['a value', { content: [{ type: 'data', data: [1] }] }, '```json\n[1]\n```\n\n'],
]

function* inPieces(output: AgentOutput): Generator<never> {
  yield output as never
}

test('all of an answer is text, the same whole and in chunks', async (t) => {
  for (const [what, output, said] of contents) {
    for (const server of [serving(t, () => output), serving(t, () => inPieces(output))]) {
      const { choices } = await jsonOf(await server.fetch(chat())) as { choices: { message: Json }[] }
      assert.equal(choices[0]?.message['content'], said, what)
      const chunks = await chunksOf(await server.fetch(chat({ stream: true })))
      assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta['content'] ?? '').join(''), said, what)
    }
  }
})

test('artifacts stand at the end', async (t) => {
  const server = serving(t, async function* (_prompt, call) {
    call.artifact({ name: 'picture', parts: [png] })
    yield 'Drawn.'
  })
  const said = 'Drawn.\n\n![image](data:image/png;base64,AAAA)\n\n'
  const { choices } = await jsonOf(await server.fetch(chat())) as { choices: { message: Json }[] }
  assert.equal(choices[0]?.message['content'], said)
  const chunks = await chunksOf(await server.fetch(chat({ stream: true })))
  assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta['content'] ?? '').join(''), said)
})

const failures: readonly (readonly [output: AgentOutput, status: number, message: string])[] = [
  [{ text: 'No ink.', state: 'failed' }, 500, 'No ink.'],
  [{ text: 'Not that.', state: 'rejected' }, 400, 'Not that.'],
]

test('an agent that fails or rejects ends in an error, whole or in chunks', async (t) => {
  for (const [output, status, message] of failures) {
    for (const server of [serving(t, () => output), serving(t, () => inPieces(output))]) {
      const response = await server.fetch(chat())
      assert.equal(response.status, status)
      assert.equal((await jsonOf(response) as { error: Json }).error['message'], message)
      const data = await dataOf(await server.fetch(chat({ stream: true })))
      assert.equal((JSON.parse(data.at(-1)!) as { error: Json }).error['message'], message)
    }
  }
})

test('an answer ends before a sequence that the client named, and so does its run', async (t) => {
  let reason: unknown
  let pieces = 0
  const server = serving(t, async function* (_prompt, call) {
    call.signal.addEventListener('abort', () => { reason = call.signal.reason })
    while (pieces < 100) yield ++pieces < 3 ? `piece ${pieces}, ` : 'then END and more'
  })
  const asked = { stop: ['END', 'FINIS'], stream: true, stream_options: { include_usage: true } }
  const chunks = await chunksOf(await server.fetch(chat(asked)))
  const said = chunks.map(({ choices: [choice] }) => choice?.delta['content'] ?? '').join('')
  assert.equal(said, 'piece 1, piece 2, then ')
  assert.deepEqual(chunks.at(-2)?.choices[0]?.finish_reason, 'stop')
  assert.equal(chunks.at(-1)?.usage?.['completion_tokens'], Math.ceil(said.length / 4))
  await eventually(() => reason !== undefined && server.status().calls.running === 0)
  assert.ok(pieces < 100, `${pieces}`)
  const whole = serving(t, () => 'One, two END three')
  const reply = await jsonOf(await whole.fetch(chat({ stop: 'END' }))) as unknown as Chunk & {
    readonly choices: readonly { readonly message: Json }[]
  }
  assert.deepEqual(reply.choices[0]?.message['content'], 'One, two ')
})

test('a client that leaves ends the run, whole or in chunks', async (t) => {
  let running = 0
  const run = async (_prompt: string, call: Call): Promise<void> => {
    running++
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
    running--
  }
  const { url } = await listen(t, { agents: [{ name: 'Agent', run }] })
  for (const stream of [false, true]) {
    const leaving = new AbortController()
    const asked = fetch(`${url}/v1/chat/completions`, {
      method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...usual, stream }), signal: leaving.signal,
    }).catch(() => undefined)
    await eventually(() => running === 1)
    leaving.abort()
    await eventually(() => running === 0)
    await asked
  }
})

test('a server that is full says so before a stream has begun', async (t) => {
  let release = (): void => {}
  const server = serve(t, {
    agents: [{ name: 'Agent', run: () => new Promise<void>((resolve) => { release = resolve }) }],
    maxCalls: 1,
  })
  const first = server.fetch(chat())
  await eventually(() => server.status().calls.running === 1)
  for (const stream of [false, true]) {
    const response = await server.fetch(chat({ stream }))
    assert.equal(response.status, 503)
    assert.equal((await jsonOf(response) as { error: Json }).error['code'], 'overloaded')
  }
  release()
  await first
})

test('an answer that is too large once it is written is refused', async (t) => {
  const server = serve(t, { agents: [{ name: 'Agent', run: () => '\n'.repeat(600) }], maxResultBytes: 1_000 })
  const response = await server.fetch(chat())
  assert.equal(response.status, 413)
})

const find = { type: 'function', function: { name: 'find', parameters: { type: 'object' } } }

/** An agent that asks for a search, and answers with what the client found. */
function finding(_prompt: string, { clientTools, clientToolResults: [found] }: Call): AgentOutput {
  if (found !== undefined) return `Found ${found.result} for ${JSON.stringify(found.args)}.`
  const [tool] = clientTools
  if (tool === undefined) return 'No tools.'
  return { toolCalls: [{ id: 'c-1', name: tool.name, args: { of: 'tea' } }] }
}

test('behind a stop sequence no tool of the client is called, whole or in chunks', async (t) => {
  const server = serving(t, (prompt, { clientTools: [tool] }) => (
    { text: `${prompt} END`, toolCalls: [{ name: tool!.name }] }
  ))
  const asked = { tools: [find], stop: 'END' }
  const { choices } = await jsonOf(await server.fetch(chat(asked))) as unknown as Chunk & {
    readonly choices: readonly { readonly message: Json }[]
  }
  assert.equal(choices[0]?.finish_reason, 'stop')
  assert.equal(choices[0]?.message['tool_calls'], undefined)
  const chunks = await chunksOf(await server.fetch(chat({ ...asked, stream: true })))
  assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'stop')
})

test('an agent has the client run a tool of its own, and goes on with what came of it', async (t) => {
  const server = serving(t, finding)
  const first = await jsonOf(await server.fetch(chat({ tools: [find] })))
  const call = { id: 'c-1', type: 'function', function: { name: 'find', arguments: '{"of":"tea"}' } }
  const message = { role: 'assistant', content: null, refusal: null, tool_calls: [call] }
  assert.deepEqual(first['choices'], [{ index: 0, message, logprobs: null, finish_reason: 'tool_calls' }])
  const messages = [...usual.messages, message, { role: 'tool', tool_call_id: 'c-1', content: 'Sencha' }]
  const second = await jsonOf(await server.fetch(chat({ tools: [find], messages })))
  assert.match(JSON.stringify(second), /Found Sencha for \{\\\\?"of/)
  const [start, called, end] = await chunksOf(await server.fetch(chat({ tools: [find], stream: true })))
  assert.deepEqual(start?.choices[0]?.delta, { role: 'assistant', content: '' })
  assert.deepEqual(called?.choices[0]?.delta, { tool_calls: [{ index: 0, ...call }] })
  assert.deepEqual(end?.choices[0], { index: 0, delta: {}, logprobs: null, finish_reason: 'tool_calls' })
  assert.match(await (await server.fetch(chat({ tools: [find], tool_choice: 'none' }))).text(), /No tools/)
})

test('an answer has as many calls as the client takes at a time, and the others come later', async (t) => {
  const names = ['a', 'b', 'c']
  const lines: string[] = []
  const server = serve(t, {
    agents: [{ name: 'Agent', run: (_prompt, { clientToolResults: found }) => (
      found.length === 3 ? 'Done.' : { toolCalls: names.slice(found.length).map((name) => ({ name })) }
    ) }],
    log: (level, text) => { if (level === 'info') lines.push(text) },
  })
  const functions = names.map((name) => ({ name, parameters: { type: 'object' } }))
  const post = async (path: string, more: object): Promise<any> => {
    const response = await server.fetch(request(path, { model: 'agent', ...more }))
    assert.equal(response.status, 200)
    return jsonOf(response)
  }
  for (const [bound, most] of [
    [{ parallel_tool_calls: false }, 1], [{ max_tool_calls: 2 }, 2], [{ parallel_tool_calls: true }, 3],
  ] as const) {
    const tools = functions.map((one) => ({ type: 'function', function: one }))
    const messages: object[] = [...usual.messages]
    let rounds = 0
    for (; rounds < 5; rounds++) {
      const { choices: [{ message }] } = await post('/v1/chat/completions', { tools, messages, ...bound })
      if (message.tool_calls === undefined) break
      assert.ok(message.tool_calls.length <= most)
      messages.push(message, ...message.tool_calls.map(({ id }: { id: string }) => (
        { role: 'tool', tool_call_id: id, content: 'x' }
      )))
    }
    assert.equal(rounds, Math.ceil(names.length / most))
    const chunks = await chunksOf(await server.fetch(request('/v1/chat/completions', {
      ...usual, model: 'agent', tools, ...bound, stream: true,
    })))
    assert.equal(chunks.filter(({ choices: [one] }) => one?.delta['tool_calls'] !== undefined).length, most)
    const flat = functions.map((one) => ({ type: 'function', ...one }))
    const { output } = await post('/v1/responses', { input: 'Go', tools: flat, ...bound })
    assert.deepEqual(output.map(({ name }: { name: string }) => name), names.slice(0, most))
  }
  assert.match(lines[0]!, /calls 3 tools where its client takes 1 at a time; the first go out/)
})

test('an answer without the call that was asked for goes out as what it is', async (t) => {
  const server = serving(t, (_prompt, { toolChoice }) => JSON.stringify(toolChoice))
  const name = { type: 'function', function: { name: 'find' } }
  for (const [choice, said] of [['required', 'required'], [name, { name: 'find' }]] as const) {
    const asked = { tools: [find], tool_choice: choice }
    const whole = await jsonOf(await server.fetch(chat(asked))) as { choices: readonly Json[] }
    const [{ message, finish_reason: why } = {}] = whole.choices
    assert.deepEqual(message, { role: 'assistant', content: JSON.stringify(said), refusal: null })
    assert.equal(why, 'stop')
    const last = (await chunksOf(await server.fetch(chat({ ...asked, stream: true })))).at(-1)
    assert.equal(last?.choices[0]?.finish_reason, 'stop')
  }
})

test('the agents of a group are asked for no call', async (t) => {
  const one = { name: 'One', run: (_prompt: string, { clientTools, toolChoice }: Call) => (
    `${clientTools.length} ${JSON.stringify(toolChoice)}`
  ) }
  const server = serve(t, { groups: [{ name: 'All', agents: [one] }] })
  const asked = chat({ model: 'all', tools: [find], tool_choice: 'required' })
  assert.match(await (await server.fetch(asked)).text(), /0 \\"auto\\"/)
})

test('a tool that the client does not offer is the mistake of the agent', async (t) => {
  const calling: (() => AgentOutput)[] = [
    () => ({ toolCalls: [{ name: 'other' }] }), () => ({ toolCalls: [{ args: {} } as never] }),
    () => ({ toolCalls: [{ name: 'find', args: [1] as never }] }),
    () => ({ toolCalls: [{ name: 'find', arguments: { of: 'tea' } } as never] }),
  ]
  for (const run of calling) {
    assert.equal((await serving(t, run).fetch(chat({ tools: [find] }))).status, 500)
  }
})

const shape = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] }
const wanted = { response_format: { type: 'json_schema', json_schema: { name: 'sum', schema: shape } } }

test('an answer has the format that was asked for, or says why not', async (t) => {
  let schema: unknown
  const answers: readonly (readonly [output: AgentOutput, content: unknown, refusal?: RegExp])[] = [
    ['{"sum":5}', '{"sum":5}'],
    [{ text: 'Five.', data: { sum: 5 } }, '{"sum":5}'],
    [{ sum: 5 }, '{"sum":5}'],
    ['Five.', null, /did not answer with JSON, which was asked for: its text is not JSON$/],
    ['{"sum":"5"}', null, /does not fit the schema: sum: must be an integer/],
  ]
  for (const [output, content, refusal] of answers) {
    const server = serving(t, (_prompt, { outputSchema }) => {
      schema = outputSchema
      return output
    })
    const { choices } = await jsonOf(await server.fetch(chat(wanted))) as never as {
      choices: [{ message: { content: unknown; refusal: unknown } }]
    }
    assert.deepEqual(schema, shape)
    assert.equal(choices[0].message.content, content)
    if (refusal === undefined) assert.equal(choices[0].message.refusal, null)
    else assert.match(String(choices[0].message.refusal), refusal)
    const chunks = await chunksOf(await server.fetch(chat({ ...wanted, stream: true })))
    const deltas = chunks.map((chunk) => chunk.choices[0]?.delta ?? {})
    assert.equal(deltas.map((delta) => delta['content'] ?? '').join(''), content ?? '')
    assert.equal(deltas.some((delta) => 'refusal' in delta), refusal !== undefined)
  }
})

test('many tools of a client are called in linear time, at once or in pieces', async (t) => {
  const functionOf = (at: number): object => ({ type: 'function', function: { name: `f${at}` } })
  const tools = Array.from({ length: 45_000 }, (_, at) => functionOf(at))
  const limit = 150 * costOfParsing()
  const call = { name: 'f44999' }
  const ways: readonly (() => AgentOutput)[] = [
    () => ({ toolCalls: tools.map(() => call) }),
    async function* () {
      for (const _ of tools) yield { toolCalls: [call] }
    },
  ]
  for (const run of ways) {
    const server = serve(t, { agents: [{ name: 'Agent', run }], maxResultBytes: 100_000_000 })
    const asked = chat({ tools })
    const before = cpuMs()
    const response = await server.fetch(asked)
    assert.equal((await response.text()).match(/"f44999"/g)?.length, tools.length)
    const cost = cpuMs() - before
    assert.ok(cost < limit, `${cost} ms of at most ${limit}`)
  }
})

test('the error for a tool that is not offered is short, however many are', async (t) => {
  const functionOf = (at: number): object => ({ type: 'function', function: { name: `f${at}` } })
  const tools = Array.from({ length: 5_000 }, (_, at) => functionOf(at))
  const server = serve(t, {
    agents: [{ name: 'Agent', run: () => ({ toolCalls: [{ name: 'other' }] }) }], exposeErrors: true,
  })
  const said = await (await server.fetch(chat({ tools }))).text()
  assert.match(said, /does not offer/)
  assert.ok(said.length < 1_000, said.slice(0, 200))
})
