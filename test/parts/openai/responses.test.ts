import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { Fault, memoryStore } from '../../../lib/index.ts'
import { eventually, jsonOf, request, serve } from '../../fixtures/client.ts'
import type { TestContext } from 'node:test'
import type { AgentOutput, Call, FaultKind, TriportServer } from '../../../lib/index.ts'

type Json = Record<string, unknown>

interface Output { readonly output: readonly Json[] }

function serving(t: TestContext, run: (prompt: string, call: Call) => AgentOutput): TriportServer {
  return serve(t, { agents: [{ name: 'Agent', run }] })
}

function respond(server: TriportServer, more: object = {}, headers = {}): Promise<Response> {
  return server.fetch(request('/v1/responses', { model: 'agent', input: 'Hello', ...more }, headers))
}

async function responded(server: TriportServer, more: object = {}): Promise<Json & Output> {
  const response = await respond(server, more)
  assert.equal(response.status, 200, await response.clone().text())
  return await jsonOf(response) as Json & Output
}

/** The text of a response's last message. */
function textOf({ output }: Output): unknown {
  return (output.at(-1)?.['content'] as readonly Json[] | undefined)?.[0]?.['text']
}

async function eventsOf(response: Response): Promise<readonly Json[]> {
  const events: Json[] = []
  let isDone = false
  eventReader(({ event, data }) => {
    if (data === '[DONE]') return void (isDone = true)
    const one = JSON.parse(data) as Json
    assert.equal(one['type'], event)
    assert.equal(one['sequence_number'], events.length)
    events.push(one)
  })(await response.text())
  assert.ok(isDone)
  return events
}

test('a response has the answer as a message, and what the client asked for', async (t) => {
  const server = serving(t, (prompt, call) => {
    call.event({ type: 'usage', inputTokens: 3, outputTokens: 2, cachedInputTokens: 1 })
    return `You said ${prompt}`
  })
  const text = { verbosity: 'low' }
  const asked = { instructions: 'Be brief.', metadata: { a: 'b' }, temperature: 0.5, text }
  const response = await responded(server, asked)
  const { id, created_at: created, completed_at: completed, output, usage, ...rest } = response
  assert.match(String(id), /^resp_[0-9a-f]{32}$/)
  assert.ok(Number.isSafeInteger(created) && Number(completed) >= Number(created))
  assert.deepEqual(output.map(({ id: _, ...item }) => item), [{
    type: 'message', status: 'completed', role: 'assistant',
    content: [{ type: 'output_text', text: 'You said Hello', annotations: [], logprobs: [] }],
  }])
  assert.deepEqual(usage, {
    input_tokens: 3, output_tokens: 2, total_tokens: 5,
    input_tokens_details: { cached_tokens: 1, cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  })
  assert.deepEqual([rest['text'], rest['access_programs']], [
    { format: { type: 'text' }, verbosity: 'low' }, null,
  ])
  const { object, status, model, store, background, temperature, metadata, instructions, error } = rest
  assert.deepEqual({ object, status, model, store, background, temperature, metadata, instructions, error }, {
    object: 'response', status: 'completed', model: 'agent', store: true, background: false,
    temperature: 0.5, metadata: { a: 'b' }, instructions: 'Be brief.', error: null,
  })
})

test('an agent sees the items as messages, pictures and files', async (t) => {
  let seen: unknown
  const server = serving(t, (prompt, { history, message, metadata }) => {
    seen = { prompt, history, message, metadata }
    return ''
  })
  const png = 'data:image/png;base64,AAAA'
  await responded(server, {
    instructions: 'Be brief.', metadata: { a: 'b' },
    input: [
      { type: 'message', role: 'developer', content: 'In English.' },
      { role: 'user', content: [{ type: 'input_text', text: 'One' }] },
      { type: 'reasoning', summary: [] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Two' }] },
      { role: 'user', content: [
        { type: 'input_text', text: 'See' }, { type: 'input_image', image_url: png },
        { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' },
        { type: 'input_file', file_url: 'https://example.com/b.pdf' },
      ] },
    ],
  })
  assert.deepEqual(seen, {
    prompt: 'See', metadata: { a: 'b' },
    history: [
      { role: 'system', content: 'Be brief.' }, { role: 'system', content: 'In English.' },
      { role: 'user', content: 'One' }, { role: 'assistant', content: 'Two' },
    ],
    message: [
      { type: 'text', text: 'See' }, { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'attachment:a.txt', mimeType: 'text/plain', blob: 'YQ==' } },
      { type: 'resource_link', uri: 'https://example.com/b.pdf', name: 'b.pdf' },
    ],
  })
})

/** The events of reasoning that comes in so many pieces. */
function reasoning(at: number, pieces: number): readonly unknown[] {
  return [
    'output_item.added', 'content_part.added', 'reasoning_summary_part.added',
    ...Array.from({ length: pieces }, () => 'reasoning_summary_text.delta'),
    'reasoning_text.done', 'content_part.done',
    'reasoning_summary_text.done', 'reasoning_summary_part.done', 'output_item.done',
  ].map((type) => [at, `response.${type}`])
}

test('a stream says each item as it comes, and ends with the whole response', async (t) => {
  const server = serving(t, async function* (_prompt, call): AsyncGenerator<string> {
    call.event({ type: 'reasoning', text: 'Let me ' })
    call.event({ type: 'reasoning', text: 'see.' })
    yield 'One '
    call.event({ type: 'reasoning', text: 'Is that all?' })
    yield 'two.'
  })
  const events = await eventsOf(await respond(server, { stream: true }))
  const inShort = events.map(({ type, output_index: at }) => at === undefined ? type : [at, type])
  assert.deepEqual(inShort, [
    'response.created', 'response.in_progress',
    ...reasoning(0, 2),
    [1, 'response.output_item.added'], [1, 'response.content_part.added'],
    [1, 'response.output_text.delta'], [1, 'response.output_text.delta'], [1, 'response.output_text.done'],
    [1, 'response.content_part.done'], [1, 'response.output_item.done'],
    ...reasoning(2, 1), 'response.completed',
  ])
  const last = events.at(-1)?.['response'] as Json & Output
  assert.deepEqual(last.output.map(({ type }) => type), ['reasoning', 'message', 'reasoning'])
  const texts = last.output.map(({ content }) => (content as readonly Json[])[0]?.['text'])
  assert.deepEqual(texts, ['Let me see.', 'One two.', 'Is that all?'])
  assert.deepEqual(await jsonOf(await server.fetch(request(`/v1/responses/${last['id']}`))), last)
})

test('reasoning comes in pieces as a summary, which every client reads, and whole as a text', async (t) => {
  const server = serving(t, async function* (_prompt, call): AsyncGenerator<string> {
    call.event({ type: 'reasoning', text: 'Let me ' })
    call.event({ type: 'reasoning', text: 'see.' })
    yield 'Two.'
  })
  const summary = [{ type: 'summary_text', text: 'Let me see.' }]
  const content = [{ type: 'reasoning_text', text: 'Let me see.' }]
  for (const asked of [{}, { reasoning: { summary: 'auto' } }]) {
    const whole = await responded(server, asked)
    const events = await eventsOf(await respond(server, { ...asked, stream: true }))
    const streamed = events.at(-1)?.['response'] as Output
    for (const { output: [{ id, ...item } = {}] } of [whole, streamed]) {
      assert.match(String(id), /^rs_/)
      assert.deepEqual(item, { type: 'reasoning', status: 'completed', summary, content })
    }
    const deltas = events.filter(({ type }) => /reasoning.*delta$/.test(String(type)))
    assert.deepEqual(deltas.map(({ delta }) => delta), ['Let me ', 'see.'])
    assert.ok(deltas.every(({ summary_index: at }) => at === 0))
    assert.equal(events.find(({ type }) => type === 'response.reasoning_text.done')?.['text'], 'Let me see.')
    const [added, done] = ['added', 'done'].map((end) => (
      events.find(({ type }) => type === `response.output_item.${end}`)?.['item'] as Json
    ))
    assert.equal(added?.['id'], done?.['id'])
    assert.deepEqual(added?.['summary'], [])
    assert.deepEqual(done, streamed.output[0])
  }
})

const find = { type: 'function', name: 'find', parameters: { type: 'object' } }

test('the client runs a tool, and the response after it goes on with the output', async (t) => {
  const server = serving(t, (prompt, { clientTools: [tool], clientToolResults: [found] }) => (
    found !== undefined ? `${prompt}: ${found.result}`
      : { toolCalls: [{ id: 'c1', name: String(tool?.name), args: { of: 'tea' } }] }
  ))
  const first = await responded(server, { tools: [find] })
  const [{ id, ...call } = {}] = first.output as Json[]
  assert.match(String(id), /^fc_/)
  assert.deepEqual(call, {
    type: 'function_call', call_id: 'c1', name: 'find', arguments: '{"of":"tea"}', status: 'completed',
  })
  const output = { type: 'function_call_output', call_id: 'c1', output: 'Sencha' }
  const asked = { tools: [find], previous_response_id: first['id'], input: [output] }
  const second = await responded(server, asked)
  assert.equal(textOf(second), 'Hello: Sencha')
  // The whole conversation may come again, too.
  const again = await responded(server, { tools: [find], input: [
    { role: 'user', content: 'Hello' }, { ...call, id }, output,
  ] })
  assert.equal(textOf(again), 'Hello: Sencha')
  const missing = await respond(server, { ...asked, input: [{ ...output, call_id: 'c2' }] })
  assert.equal(missing.status, 400)
  const events = await eventsOf(await respond(server, { tools: [find], stream: true }))
  assert.deepEqual(events.slice(2, -1).map(({ type }) => type), [
    'response.output_item.added', 'response.function_call_arguments.delta',
    'response.function_call_arguments.done', 'response.output_item.done',
  ])
})

test('what the client wants to be called reaches the agent, and is shown again', async (t) => {
  const server = serving(t, (_prompt, { clientTools, toolChoice }) => (
    toolChoice === 'auto' ? 'As I like.' : { toolCalls: [{ name: String(clientTools[0]?.name) }] }
  ))
  const tools = [find, { ...find, name: 'paint' }]
  const called = async (choice: unknown): Promise<unknown> => {
    const { output: [item], tool_choice: shown } = await responded(server, { tools, tool_choice: choice })
    assert.deepEqual(shown, choice)
    return item?.['name']
  }
  assert.equal(await called('required'), 'find')
  assert.equal(await called({ type: 'function', name: 'paint' }), 'paint')
  const only = { type: 'allowed_tools', tools: [{ type: 'function', name: 'paint' }] }
  assert.equal(await called({ ...only, mode: 'required' }), 'paint')
  assert.equal(await called({ ...only, mode: 'auto' }), undefined)
})

test('a response goes on from any before it, and is its owner\'s alone', async (t) => {
  const server = serve(t, {
    agents: [{ name: 'Agent', run: (prompt, { history }) => `${history.length} ${prompt}` }],
    apiKey: [{ key: 'a'.repeat(24), id: 'one' }, { key: 'b'.repeat(24), id: 'two' }],
  })
  const [one, two] = ['a', 'b'].map((letter) => ({ 'x-api-key': letter.repeat(24) }))
  const ask = async (previous?: unknown, headers = one): Promise<Response> => (
    respond(server, { ...previous !== undefined && { previous_response_id: previous } }, headers)
  )
  const first = await jsonOf(await ask())
  const second = await jsonOf(await ask(first['id']))
  assert.equal(textOf(second as never), '2 Hello')
  assert.equal(textOf(await jsonOf(await ask(second['id'])) as never), '4 Hello')
  assert.equal(textOf(await jsonOf(await ask(first['id'])) as never), '2 Hello')
  const path = `/v1/responses/${first['id']}`
  const at = (more: string, method: string, headers = one): Promise<Response> => (
    server.fetch(request(path + more, undefined, headers, method))
  )
  const foreign = [ask(first['id'], two), at('', 'GET', two), at('', 'DELETE', two)]
  for (const [index, refused] of (await Promise.all(foreign)).entries()) {
    assert.equal(refused.status, index === 0 ? 400 : 404)
    assert.match(await refused.text(), /You have no response 'resp_/)
  }
  const items = await jsonOf(await at('/input_items', 'GET'))
  assert.deepEqual(items['data'], [{
    id: `${first['id']}_0`, type: 'message', role: 'user', status: 'completed',
    content: [{ type: 'input_text', text: 'Hello' }],
  }])
  assert.deepEqual(await jsonOf(await at('', 'DELETE')), {
    id: first['id'], object: 'response', deleted: true,
  })
  assert.equal((await at('', 'GET')).status, 404)
  const unstored = await jsonOf(await respond(server, { store: false }, one))
  const { error } = await jsonOf(await ask(unstored['id'])) as { error: Json }
  assert.deepEqual([error['code'], error['param']], ['previous_response_not_found', 'previous_response_id'])
})

test('a response in the background is read until it has ended, or cancelled', async (t) => {
  let go: () => void = () => {}
  const going = new Promise<void>((resolve) => { go = resolve })
  let aborted = 0
  const server = serving(t, async (prompt, { signal }) => {
    signal.addEventListener('abort', () => { aborted += 1 })
    if (prompt === 'Fail') throw new Error('secret')
    await (prompt === 'Wait' ? new Promise(() => {}) : going)
    return 'Done.'
  })
  const begun = await responded(server, { background: true })
  assert.deepEqual([begun['status'], begun['background'], begun.output], ['in_progress', true, []])
  const read = async (id: unknown): Promise<Json & Output> => (
    await jsonOf(await server.fetch(request(`/v1/responses/${String(id)}`))) as Json & Output
  )
  assert.equal((await read(begun['id']))['status'], 'in_progress')
  const early = await respond(server, { previous_response_id: begun['id'] })
  assert.equal(early.status, 409)
  assert.match(await early.text(), /is not over yet; read it until its status says so, or cancel it/)
  go()
  await eventually(async () => (await read(begun['id']))['status'] === 'completed')
  assert.equal(textOf(await read(begun['id'])), 'Done.')

  const waiting = await responded(server, { background: true, input: 'Wait' })
  const cancelled = await jsonOf(await server.fetch(request(`/v1/responses/${waiting['id']}/cancel`, {})))
  assert.equal(cancelled['status'], 'cancelled')
  assert.equal(aborted, 1)
  const failing = await responded(server, { background: true, input: 'Fail' })
  await eventually(async () => (await read(failing['id']))['status'] === 'failed')
  assert.doesNotMatch(JSON.stringify(await read(failing['id'])), /secret/)
  const whole = await responded(server)
  assert.equal((await server.fetch(request(`/v1/responses/${whole['id']}/cancel`, {}))).status, 400)
})

test('a client goes on with a response that failed, was left or was cancelled', async (t) => {
  const seen: Call[] = []
  const server = serving(t, async function* (prompt, call) {
    seen.push(call)
    if (prompt === 'Hello') yield 'So far'
    if (prompt === 'Fail') throw new Fault('failed', 'No tea')
    if (prompt === 'Wait') await new Promise(() => {})
  })
  const idOf = (events: readonly Json[]): unknown => (events[0]!['response'] as Json)['id']
  const failed = idOf(await eventsOf(await respond(server, { stream: true, input: 'Fail' })))
  const background = await responded(server, { background: true, input: 'Fail' })
  const waiting = await responded(server, { background: true, input: 'Wait' })
  await server.fetch(request(`/v1/responses/${waiting['id']}/cancel`, {}))
  const statusOf = async (id: unknown): Promise<unknown> => (
    (await jsonOf(await server.fetch(request(`/v1/responses/${String(id)}`))))['status']
  )
  await eventually(async () => await statusOf(background['id']) === 'failed')
  const asked = [[failed, 'Fail'], [background['id'], 'Fail'], [waiting['id'], 'Wait']]
  for (const [id, first] of asked) {
    const next = await responded(server, { previous_response_id: id })
    assert.equal(next['status'], 'completed')
    assert.deepEqual(seen.at(-1)?.history, [{ role: 'user', content: first }])
    // Without an input it is tried again.
    await respond(server, { previous_response_id: next['id'], input: [] })
    assert.deepEqual(seen.at(-1)?.history.map(({ content }) => content), [first, 'So far'])
    const compact = { model: 'agent', previous_response_id: id, input: 'More' }
    assert.equal((await server.fetch(request('/v1/responses/compact', compact))).status, 200)
  }
})

test('how a response in the background ended is known as long as it is kept', async (t) => {
  const server = serve(t, {
    agents: [{
      name: 'Agent',
      run: async (prompt) => {
        if (prompt === 'Fail') throw new Fault('failed', 'No tea')
        return new Promise(() => {})
      },
    }],
    taskKeepMs: 15,
  })
  const read = async (id: unknown): Promise<Json> => (
    jsonOf(await server.fetch(request(`/v1/responses/${String(id)}`)))
  )
  const cancelled = await responded(server, { background: true })
  await server.fetch(request(`/v1/responses/${cancelled['id']}/cancel`, {}))
  const failed = await responded(server, { background: true, input: 'Fail' })
  const removed = await responded(server, { background: true })
  const remove = request(`/v1/responses/${removed['id']}`, undefined, {}, 'DELETE')
  assert.equal((await server.fetch(remove)).status, 200)
  // Tasks that have ended are forgotten, for which another may be needed.
  await sleep(50)
  await responded(server, { background: true })
  assert.equal((await read(cancelled['id']))['status'], 'cancelled')
  assert.deepEqual((await read(failed['id']))['error'], { code: 'server_error', message: 'No tea' })
  assert.equal((await server.fetch(request(`/v1/responses/${removed['id']}`))).status, 404)
})

test('a response that runs for longer than it would be kept can be read meanwhile', async (t) => {
  let end: (said: string) => void = () => {}
  const server = serve(t, {
    agents: [{ name: 'Agent', run: () => new Promise<string>((resolve) => { end = resolve }) }],
    conversationIdleMs: 15,
  })
  const { id } = await responded(server, { background: true })
  const read = (): Promise<Response> => server.fetch(request(`/v1/responses/${String(id)}`))
  await sleep(50)
  assert.equal((await jsonOf(await read()))['status'], 'in_progress')
  end('Done.')
  await eventually(async () => (await read()).status === 404)
})

test('one of an agent without a limit of time is not kept for ever, and ends with its server', async (t) => {
  const store = memoryStore()
  const keeps: number[] = []
  let reason: unknown
  const server = serve(t, {
    agents: [{
      name: 'Agent', timeoutMs: Infinity,
      run: (_prompt, { signal }) => new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(reason = signal.reason))
      }),
    }],
    conversationIdleMs: 1_000, graceMs: 10,
    store: {
      ...store, isShared: true,
      write(...args) {
        if (args[0].collection.endsWith('/responses')) keeps.push(args[2])
        return store.write(...args)
      },
    },
  })
  const other = serve(t, { agents: [() => ''], store: { ...store, isShared: true } })
  const { id } = await responded(server, { background: true })
  assert.deepEqual(keeps, [2 ** 31 - 1 + 1_000])
  await server.close()
  assert.match(String(reason), /closing down/)
  // What was cancelled is not kept as what has failed.
  assert.equal(keeps.length, 1)
  const read = await jsonOf(await other.fetch(request(`/v1/responses/${String(id)}`)))
  assert.equal(read['status'], 'cancelled')
})

test('nobody but its owner reads, cancels or deletes a response in the background', async (t) => {
  const server = serve(t, {
    agents: [{ name: 'Agent', run: () => new Promise(() => {}) }],
    apiKey: [{ key: 'a'.repeat(24), id: 'one' }, { key: 'b'.repeat(24), id: 'two' }],
  })
  const keys = ['a', 'b'].map((letter) => ({ 'x-api-key': letter.repeat(24) }))
  const { id } = await jsonOf(await respond(server, { background: true }, keys[0]))
  const asked = (at: number, path: string, method: string): Promise<Response> => {
    const body = method === 'POST' ? {} : undefined
    return server.fetch(request(`/v1/responses/${String(id)}${path}`, body, keys[at]!, method))
  }
  const acts = [['', 'GET'], ['/cancel', 'POST'], ['', 'DELETE'], ['/input_items', 'GET']] as const
  for (const [path, method] of acts) {
    assert.equal((await asked(1, path, method)).status, 404, `${method} ${path}`)
  }
  assert.equal((await jsonOf(await asked(0, '', 'GET')))['status'], 'in_progress')
  assert.equal((await jsonOf(await asked(0, '/cancel', 'POST')))['status'], 'cancelled')
  // Another protocol does not show it, to nobody.
  const message = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id } }
  assert.doesNotMatch(await (await server.fetch(request('/a2a', message, keys[0]!))).text(), /"result"/)
})

test('a response that could not be kept at its end does not seem to run for ever', async (t) => {
  const store = memoryStore()
  let isFull = false
  const server = serve(t, {
    agents: [{
      name: 'Agent',
      run: async () => {
        isFull = true
        return 'Done.'
      },
    }],
    store: {
      ...store, isShared: true,
      write(...args) {
        if (isFull && args[0].collection.endsWith('/responses')) throw new Fault('busy', 'No room')
        return store.write(...args)
      },
    },
  })
  const { id } = await responded(server, { background: true })
  const read = async (): Promise<Json> => jsonOf(await server.fetch(request(`/v1/responses/${String(id)}`)))
  await eventually(async () => (await read())['status'] === 'failed')
  assert.deepEqual((await read())['error'], { code: 'server_error', message: 'It could not be kept' })
})

test('a long work with tools goes on from the question, whatever is forgotten in between', async (t) => {
  const server = serve(t, {
    agents: [{
      name: 'Agent',
      run: (prompt, { clientToolResults: { length } }) => (
        length === 0 || prompt === '' ? { toolCalls: [{ name: 'read' }] } : `${prompt} ${length}`
      ),
    }],
    conversationBytes: 100_000,
  })
  const tools = [{ type: 'function', name: 'read' }]
  const output = 'x'.repeat(90_000)
  let previous = await responded(server, { tools, input: [
    { role: 'user', content: 'Hello' },
    { type: 'function_call', call_id: 'a', name: 'read', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output },
  ] })
  for (let count = 0; count < 3; count++) {
    previous = await responded(server, { tools, previous_response_id: previous['id'], input: [
      { type: 'function_call', call_id: 'b', name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'b', output },
    ] })
  }
  // The latest of the results are still there.
  assert.equal(textOf(previous), 'Hello 2')
})

test('each item of an input has an id of its own, and pages end', async (t) => {
  const server = serving(t, (prompt) => prompt)
  const input = ['a', 'b', 'c'].map((content) => ({ role: 'user', content, id: 'same' }))
  const { id } = await responded(server, { input })
  const page = async (query: string): Promise<Response> => (
    server.fetch(request(`/v1/responses/${String(id)}/input_items?limit=1&${query}`))
  )
  const seen: unknown[] = []
  let after = 'order=asc'
  for (let more = true; more && seen.length < 9;) {
    const { data, last_id: last, has_more: hasMore } = await jsonOf(await page(after))
    seen.push(textOf({ output: [...data as Json[]] }))
    after = `order=asc&after=${String(last)}`
    more = hasMore === true
  }
  assert.deepEqual(seen, ['a', 'b', 'c'])
  for (const query of ['after=none', 'order=up']) assert.equal((await page(query)).status, 400, query)
  const path = `/v1/responses/${String(id)}`
  const wrong = await server.fetch(request(`${path}/input_items?limit=101`))
  assert.match(await wrong.text(), /limit must be a whole number from 1 to 100/)
  const { paths } = await jsonOf(await server.fetch(request('/openapi.json'))) as { paths: Json }
  const { get: { parameters, responses } } = paths['/v1/responses/{response}/input_items'] as { get: Json }
  assert.deepEqual((parameters as Json[]).map(({ name }) => name), ['response', 'limit', 'order', 'after'])
  assert.ok(Object.hasOwn(responses as Json, '400'))
})

test('an input is listed with all that its items have, whatever of it the client left out', async (t) => {
  const server = serving(t, (prompt) => prompt)
  const url = 'https://example.com/a.png'
  const { id } = await responded(server, { input: [
    { role: 'user', content: [{ type: 'input_text', text: 'a' }, { type: 'input_image', image_url: url }] },
    { role: 'assistant', content: 'b' },
    { role: 'assistant', content: [{ type: 'output_text', text: 'c' }] },
    { type: 'function_call', call_id: 'd', name: 'f', arguments: '{}', status: 'incomplete' },
    { type: 'function_call_output', call_id: 'd', output: [{ type: 'input_image', image_url: url }] },
    { role: 'user', content: 'e' },
  ] })
  const page = await server.fetch(request(`/v1/responses/${String(id)}/input_items?order=asc`))
  const { data } = await jsonOf(page) as { data: Json[] }
  const said = (text: string): Json => ({ type: 'output_text', text, annotations: [], logprobs: [] })
  const image = { type: 'input_image', image_url: url, detail: 'auto' }
  const type = 'message'
  const status = 'completed'
  assert.deepEqual(data.map(({ id: _, ...item }) => item), [
    { type, status, role: 'user', content: [{ type: 'input_text', text: 'a' }, image] },
    { type, status, role: 'assistant', content: [said('b')] },
    { type, status, role: 'assistant', content: [said('c')] },
    { type: 'function_call', call_id: 'd', name: 'f', arguments: '{}', status: 'incomplete' },
    { type: 'function_call_output', call_id: 'd', status, output: [image] },
    { type, status, role: 'user', content: [{ type: 'input_text', text: 'e' }] },
  ])
})

test('an answer fits the format, or is a refusal', async (t) => {
  const schema = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] }
  const text = { format: { type: 'json_schema', name: 'sum', schema } }
  const partOf = async (output: string): Promise<unknown> => {
    const events = await eventsOf(await respond(serving(t, () => output), { text, stream: true }))
    const { output: [item] } = events.at(-1)?.['response'] as Output
    return (item?.['content'] as readonly Json[])[0]
  }
  assert.deepEqual(await partOf('{"sum":5}'), {
    type: 'output_text', text: '{"sum":5}', annotations: [], logprobs: [],
  })
  assert.match(String((await partOf('Five.') as Json)['refusal']), /did not answer with JSON/)
})

test('what is cut or broken in a conversation stays text, and the conversation goes on', async (t) => {
  let seen: unknown
  const server = serving(t, (prompt, { history, clientToolResults }) => {
    seen = { prompt, history, clientToolResults }
    return ''
  })
  const output = (id: string, text: string): Json => (
    { type: 'function_call_output', call_id: id, output: text }
  )
  const response = await respond(server, { input: [
    { type: 'function_call', call_id: 'a', name: 'find', arguments: '{"of":"te' }, output('a', 'x'),
    output('b', 'of no call'), { role: 'user', content: 'Hi' },
    { type: 'function_call', call_id: 'c', name: 'find', arguments: '{"of' }, output('c', 'y'),
    output('d', 'of no call here'),
  ] })
  assert.equal(response.status, 200)
  assert.deepEqual(seen, {
    prompt: 'Hi',
    history: [
      { role: 'assistant', content: 'find({"of":"te)' }, { role: 'assistant', content: 'find returned: x' },
      { role: 'assistant', content: 'A tool returned: of no call' },
      { role: 'assistant', content: 'A tool returned: of no call here' },
    ],
    clientToolResults: [{ id: 'c', name: 'find', args: {}, result: 'y' }],
  })
})

test('what is wrong is said with the member that it is in, and a failure ends the stream', async (t) => {
  const server = serving(t, () => { throw new Error('secret') })
  const called = (id: string, args: string): Json => (
    { type: 'function_call', call_id: id, name: 'f', arguments: args }
  )
  const wrong: readonly (readonly [more: object, param: string | null, message: RegExp])[] = [
    [{ model: 'none' }, 'model', /does not exist/], [{ input: null }, 'input', /a string or a list of items/],
    [{ input: [{ type: 'item_reference', id: 'a' }] }, 'input[0].id', /Item with id 'a' not found/],
    [{ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'a' }] }] },
      'input[0].content[0].file_id', /no files are kept/],
    [{ input: [{ role: 'user', content: 'a' }, { type: 'function_call', call_id: 'c', name: 'f' }] },
      'input[1]', /add \{ "type": "function_call_output", "call_id": "c"/],
    [{ input: [{ role: 'user', content: 'a' }, { type: 'function_call', name: 'f', arguments: '{}' }] },
      'input[1].call_id', /must be/],
    [{ input: [called('', '{}'), { role: 'user', content: 'a' }] }, 'input[0].call_id', /must be a string/],
    [{ tools: [{ name: 'f' }] }, 'tools[0].type', /must be a string/],
    [{ input: [{ role: 'user', content: [{ type: 'input_video' }] }] }, 'input[0].content[0].type',
      /must be input_text, .*: "input_video" would not be seen/],
    [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function' }] }] }, 'tools[0].tools[0].name',
      /1 to 128/],
    [{ input: [{ type: 'compaction_trigger' }] }, 'input[0].type', /cannot be compaction_trigger/],
    [{ response_format: { type: 'json_object' } }, 'response_format', /write text.format/],
    [{ generate: 1 }, 'generate', /true or false/], [{ store: 'no' }, 'store', /true or false/],
    [{ input: [{ type: 'mesage', role: 'user', content: 'a' }] }, 'input[0].type', /must be message/],
    [{ input: [{ type: 1, text: 'a' }] }, 'input[0].type', /must be message/],
    [{ input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'ftp://a' }] }] },
      'input[0].content[0].file_url', /must be an http or https address, or a data URI with base64/],
    [{ moderation: { model: 'm' } }, 'moderation', /nothing is moderated here; leave it out/],
    [{ top_logprobs: 3 }, 'top_logprobs', /must be 0, or left out: an agent knows no probabilities/],
    [{ include: ['message.output_text.logprobs'] }, 'include', /no probabilities; leave "message.output/],
    [{ max_tool_calls: 0 }, 'max_tool_calls', /at least 1/],
    [{ parallel_tool_calls: 'no' }, 'parallel_tool_calls', /true or false/],
    [{ tool_choice: 'required' }, 'tool_choice', /no function among the tools/],
    [{ tool_choice: { type: 'function', name: 'paint' } }, 'tool_choice', /names "paint", which is no/],
    [{ text: { format: { type: 'xml' } } }, 'text.format.type', /json_schema/],
    [{ background: true, store: false }, 'store', /must be true/],
    [{ conversation: 'c' }, 'conversation', /previous_response_id/],
    [{ truncation: 'oldest' }, 'truncation', /must be "auto" or "disabled", or left out/],
    [{ context_management: { type: 'compaction' } }, 'context_management', /must be a list, or left out/],
    [{ previous_response_id: 'resp_1' }, 'previous_response_id', /no response 'resp_1'/],
    [{ stream: 'yes' }, 'stream', /true or false/],
  ]
  for (const [more, param, message] of wrong) {
    const response = await respond(server, more)
    assert.ok(response.status === 400 || response.status === 404, JSON.stringify(more))
    const { error } = await jsonOf(response) as { error: Json }
    assert.equal(error['param'], param)
    assert.match(String(error['message']), message)
  }
  assert.equal((await respond(server)).status, 500)
  const [told, last] = (await eventsOf(await respond(server, { stream: true }))).slice(-2)
  assert.equal(last?.['type'], 'response.failed')
  const { type, code, message, param, error: nested } = told as Json
  assert.deepEqual([type, code, param], ['error', 'server_error', null])
  assert.deepEqual(nested, { type: 'server_error', code, message, param })
  const { status, error } = last?.['response'] as { status: string; error: Json }
  assert.deepEqual([status, error['code']], ['failed', 'server_error'])
  assert.doesNotMatch(JSON.stringify(last), /secret/)
})

test('a failed response has a code that says whether to ask again', async (t) => {
  const server = serving(t, (kind) => { throw new Fault(kind as FaultKind, 'No tea') })
  const rows = {
    invalid: 'invalid_prompt', forbidden: 'invalid_prompt', 'not-found': 'invalid_prompt',
    conflict: 'invalid_prompt', unsupported: 'invalid_prompt', 'too-large': 'invalid_prompt',
    busy: 'overloaded', timeout: 'timeout', failed: 'server_error', upstream: 'server_error',
  }
  for (const [input, code] of Object.entries(rows)) {
    const events = await eventsOf(await respond(server, { stream: true, input }))
    const [told, last] = events.slice(-2)
    assert.deepEqual((last?.['response'] as Json)['error'], { code, message: 'No tea' }, input)
    const type = code === 'invalid_prompt' ? 'invalid_request_error' : 'server_error'
    assert.deepEqual(told?.['error'], { type, code, message: 'No tea', param: null })
  }
})

test('responses that are kept push out nothing but responses', async (t) => {
  const server = serve(t, {
    agents: [{ name: 'Agent', run: () => 'x'.repeat(50_000) }], maxConversationsBytes: 1_000_000,
  })
  const ids: unknown[] = []
  for (let count = 0; count < 30; count++) ids.push((await responded(server))['id'])
  const statuses = await Promise.all(ids.map(async (id) => (
    (await server.fetch(request(`/v1/responses/${String(id)}`))).status
  )))
  assert.equal(statuses[0], 404)
  assert.equal(statuses.at(-1), 200)
  assert.ok(statuses.filter((status) => status === 200).length < 20)
})
