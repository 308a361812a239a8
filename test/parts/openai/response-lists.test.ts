import assert from 'node:assert/strict'
import test from 'node:test'
import { jsonOf, request, serve } from '../../fixtures/client.ts'
import type { Call, ServerOptions, TriportServer } from '../../../lib/index.ts'

type Json = Readonly<Record<string, any>>

const hello = { role: 'user', content: 'Hello' }

function serving(t: Parameters<typeof serve>[0], run: ServerOptions['agents'] & {}): TriportServer {
  return serve(t, { agents: run })
}

async function ask(server: TriportServer, body: object): Promise<Json> {
  const response = await server.fetch(request('/v1/responses', { model: 'agent', ...body }))
  assert.equal(response.status, 200, await response.clone().text())
  return jsonOf(response)
}

/** Answers with what it has seen. */
function watching(t: Parameters<typeof serve>[0]): { server: TriportServer; seen: Call[] } {
  const seen: Call[] = []
  const server = serving(t, [{ name: 'Agent', run: (prompt, call) => { seen.push(call); return prompt } }])
  return { server, seen }
}

test('tools that only other servers know are passed over, and shown again as they came', async (t) => {
  const { server, seen } = watching(t)
  const now = { type: 'function', name: 'now', description: null, parameters: null, strict: null }
  const others = [
    'web_search', 'web_search_preview_2025_03_11', 'custom', 'image_generation', 'local_shell', 'shell',
    'mcp', 'file_search', 'code_interpreter', 'computer_use_preview', 'tool_search', 'apply_patch',
    'of_tomorrow',
  ].map((type) => ({ type, name: 'x' }))
  const tools = [...others, now]
  const { tools: shown } = await ask(server, { input: [hello], tools, tool_choice: 'auto' })
  assert.deepEqual(seen[0]?.clientTools.map(({ name }) => name), ['now'])
  assert.deepEqual(shown, tools)
})

test('functions of a namespace are tools by both names, and called as the client knows them', async (t) => {
  const heard: unknown[] = []
  const server = serving(t, [{
    name: 'Agent',
    run: (_prompt, { clientTools: [tool], clientToolResults: [done] }) => {
      heard.push(tool?.name, done?.name)
      return done === undefined ? { toolCalls: [{ id: 'c', name: String(tool?.name) }] } : done.result
    },
  }])
  const tools = [{ type: 'web_search' }, {
    type: 'namespace', name: 'mcp__clock', description: 'The time.',
    tools: [{ type: 'function', name: 'now' }, { type: 'custom', name: 'of_tomorrow' }],
  }]
  const { output } = await ask(server, { input: [hello], tools })
  const [{ id, ...call }] = output
  assert.deepEqual(call, {
    type: 'function_call', call_id: 'c', namespace: 'mcp__clock', name: 'now', arguments: '{}',
    status: 'completed',
  })
  const result = { type: 'function_call_output', call_id: 'c', output: 'Noon' }
  const next = await ask(server, { input: [hello, { ...call, id }, result], tools })
  assert.equal(next['output'][0].content[0].text, 'Noon')
  assert.deepEqual(heard, ['mcp__clock__now', undefined, 'mcp__clock__now', 'mcp__clock__now'])
})

test('a function of a namespace may have as long a name as any', async (t) => {
  const { server, seen } = watching(t)
  const name = 'n'.repeat(128)
  const tools = [{ type: 'namespace', name: 'mcp__clock', tools: [{ type: 'function', name }] }]
  await ask(server, { input: [hello], tools })
  assert.deepEqual(seen[0]?.clientTools.map((tool) => tool.name), [`mcp__clock__${name}`])
})

test('items of tools that only other servers know are text, or passed over', async (t) => {
  const { server, seen } = watching(t)
  const png = 'data:image/png;base64,AAAA'
  await ask(server, {
    include: ['reasoning.encrypted_content', 'of_tomorrow'], client_metadata: { a: 'b' }, store: false,
    service_tier: 'priority', text: { verbosity: 'low' }, prompt_cache_key: 'k', stream_options: {},
    context_management: [{ type: 'compaction', compact_threshold: 1_000 }], truncation: 'auto',
    input: [
      { role: 'user', content: 'One' },
      { type: 'reasoning', summary: [], content: null, encrypted_content: 'gAAA' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'tea' } },
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' },
      { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 's', tools: [] },
      { type: 'ghost_snapshot', ghost_commit: {} },
      { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'Done.' },
      { type: 'local_shell_call', call_id: 'b', action: { type: 'exec', command: ['ls'] } },
      { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'a.txt' }] },
      { type: 'computer_call', call_id: 'c', action: { type: 'screenshot' } },
      { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url: png } },
      { type: 'shell_call_output', call_id: 'd', output: [{ stdout: 'b', stderr: '' }] },
      { type: 'message', role: 'assistant', content: [
        { type: 'output_text', text: 'So.', annotations: [{ type: 'of_tomorrow' }] }, { type: 'of_tomorrow' },
      ] },
      hello,
    ],
  })
  assert.deepEqual(seen[0]?.history.map(({ content }) => content), [
    'One', 'apply_patch(*** Begin)', 'apply_patch returned: Done.',
    'local_shell({"type":"exec","command":["ls"]})', 'local_shell returned: a.txt',
    'computer({"type":"screenshot"})',
    'computer returned: {"type":"computer_screenshot","image_url":"data:…"}',
    'shell returned: [{"stdout":"b","stderr":""}]', 'So.',
  ])
})

test('a truncation is shown again, and that nothing is compacted is in the log', async (t) => {
  const lines: string[] = []
  const server = serve(t, {
    agents: [{ name: 'Agent', run: (prompt) => prompt }],
    log: (level, text) => { if (level === 'info') lines.push(text) },
  })
  for (const truncation of ['auto', 'disabled']) {
    assert.equal((await ask(server, { input: 'a', truncation }))['truncation'], truncation)
  }
  assert.equal((await ask(server, { input: 'a', truncation: null }))['truncation'], 'disabled')
  const { output } = await ask(server, { input: 'a', context_management: [{ type: 'compaction' }] })
  assert.equal(output[0].content[0].text, 'a')
  const told = lines.filter((line) => line.includes('context_management'))
  assert.equal(told.length, 1)
})

test('an empty input is answered at once, and asks no agent', async (t) => {
  const { server, seen } = watching(t)
  for (const input of ['', []]) {
    const { id, status, output, usage, error } = await ask(server, { input, max_output_tokens: 1 })
    assert.match(id, /^resp_/)
    assert.deepEqual([status, output, usage.total_tokens, error], ['completed', [], 0, null])
  }
  const body = { model: 'agent', input: [], stream: true, text: { format: { type: 'json_object' } } }
  const events = await (await server.fetch(request('/v1/responses', body))).text()
  assert.deepEqual([...events.matchAll(/^event: (.*)$/gm)].map(([, type]) => type), [
    'response.created', 'response.in_progress', 'response.completed',
  ])
  assert.deepEqual(seen, [])
})

test('what is only to be kept is answered when it is gone on with', async (t) => {
  const { server, seen } = watching(t)
  const { id, output } = await ask(server, { input: [hello], generate: false })
  assert.deepEqual([output, seen.length], [[], 0])
  await ask(server, { input: [hello], prompt_cache_options: { prewarm: true } })
  assert.equal(seen.length, 0)
  const next = await ask(server, { input: [], previous_response_id: id })
  assert.equal(next['output'][0].content[0].text, 'Hello')
})

test('parts of the present message are taken in the form of either face', async (t) => {
  const { server, seen } = watching(t)
  const url = 'data:image/png;base64,AAAA'
  await ask(server, { input: [{ role: 'user', content: [
    { type: 'text', text: 'See' }, { type: 'input_image', image_url: { url } },
    { type: 'image_url', image_url: { url } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
  ] }] })
  assert.deepEqual(seen[0]?.message.map(({ type }) => type), ['text', 'image', 'image', 'audio'])
})

test('a function is a tool in the form of either face, and of two with one name the last', async (t) => {
  const { server, seen } = watching(t)
  const flat = { type: 'function', name: 'now', description: 'First', parameters: null, strict: null }
  const called = { name: 'now', description: 'The time.' }
  const nested = { type: 'function', function: called }
  const { tools } = await ask(server, { input: [hello], tools: [flat, nested] })
  assert.deepEqual(tools, [flat, { ...flat, ...called }])
  const asked = { model: 'agent', messages: [hello], tools: [nested, flat] }
  assert.equal((await server.fetch(request('/v1/chat/completions', asked))).status, 200)
  const offered = seen.map(({ clientTools }) => clientTools.map(({ description }) => description))
  assert.deepEqual(offered, [['The time.'], ['First']])
})

test('two calls with one id have a result each, and one that comes again is the same', async (t) => {
  const { server, seen } = watching(t)
  const call = (name: string, city: string) => (
    { type: 'function_call', call_id: 'c', name, arguments: JSON.stringify({ city }) }
  )
  const done = (output: string) => ({ type: 'function_call_output', call_id: 'c', output })
  const [sun, rain] = [call('sun', 'Rome'), call('rain', 'Oslo')]
  const read = [
    { id: 'c', name: 'sun', args: { city: 'Rome' }, result: 'yes' },
    { id: 'c', name: 'rain', args: { city: 'Oslo' }, result: 'no' },
  ]
  for (const input of [[sun, rain, done('yes'), done('no')], [sun, done('yes'), rain, done('no')]]) {
    await ask(server, { input: [hello, ...input] })
    assert.deepEqual(seen.at(-1)?.clientToolResults, read)
  }
  await ask(server, { input: [hello, sun, sun, done('yes')] })
  assert.deepEqual(seen.at(-1)?.clientToolResults, read.slice(0, 1))
  const messages = [hello, { role: 'assistant', tool_calls: ['sun', 'rain'].map((name) => (
    { id: 'c', type: 'function', function: { name, arguments: '{}' } }
  )) }, ...['yes', 'no'].map((content) => ({ role: 'tool', tool_call_id: 'c', content }))]
  const chat = request('/v1/chat/completions', { model: 'agent', messages })
  assert.equal((await server.fetch(chat)).status, 200)
  assert.deepEqual(seen.at(-1)?.clientToolResults.map(({ name, result }) => [name, result]), [
    ['sun', 'yes'], ['rain', 'no'],
  ])
  const wrong = [
    [[sun, rain, done('yes')], 'input[2]'], [[done('yes'), sun], 'input[2]'], [[rain], 'input[1]'],
  ] as const
  for (const [input, param] of wrong) {
    const asked = request('/v1/responses', { model: 'agent', input: [hello, ...input] })
    const { error } = await jsonOf(await server.fetch(asked)) as Json
    assert.equal(error.param, param)
    assert.match(error.message, /without an output; add \{ "type": "function_call_output", "call_id": "c"/)
  }
})

test('with instructions alone the agent begins; of nothing that it can read it is not asked', async (t) => {
  const { server, seen } = watching(t)
  for (const role of ['system', 'developer']) {
    await ask(server, { input: [{ type: null, role, content: 'Greet.' }] })
    const { message, history } = seen.at(-1)!
    assert.deepEqual([message, history], [[], [{ role: 'system', content: 'Greet.' }]])
  }
  const { length } = seen
  await ask(server, { input: [{ type: 'web_search_call', id: 'w' }] })
  await ask(server, { input: [{ type: 'reasoning', summary: [] }] })
  assert.equal(seen.length, length)
})

test('null in an item is as if it were left out, also of a response that is gone on with', async (t) => {
  const { server, seen } = watching(t)
  const nothing = { type: null, id: null, status: null }
  const custom = { type: 'custom_tool_call', call_id: 'd', name: 'paint', arguments: null, input: 'red' }
  const { id } = await ask(server, { input: [
    { ...nothing, role: 'user', content: 'One' }, { ...nothing, role: 'assistant', content: null }, custom,
    { type: 'custom_tool_call_output', call_id: 'd', output: null },
  ] })
  await ask(server, { previous_response_id: id, input: [{ ...nothing, role: 'user', content: 'Two' }] })
  assert.deepEqual(seen.at(-1)?.history.map(({ content }) => content), [
    'One', '', 'paint(red)', 'paint returned: ', 'One',
  ])
})

test('behind a response there need be no input, and what is wrong of items is named', async (t) => {
  const { server, seen } = watching(t)
  const { id } = await ask(server, { input: [hello] })
  for (const input of [undefined, null, []]) await ask(server, { previous_response_id: id, input })
  assert.deepEqual(seen.map(({ message }) => message), Array(4).fill(seen[0]?.message))
  const call = { type: 'function_call', call_id: 'c', name: 'now' }
  const done = { type: 'function_call_output', call_id: 'c', output: 'Noon' }
  for (const [written, args] of [[null, {}], [{ at: 1 }, { at: 1 }], ['{"at":', {}]] as const) {
    await ask(server, { input: [hello, { ...call, arguments: written }, done] })
    assert.deepEqual(seen.at(-1)?.clientToolResults[0]?.args, args)
  }
  for (const output of [null, undefined, '', []]) {
    await ask(server, { input: [hello, { ...call, arguments: '{}' }, { ...done, output }] })
    assert.equal(seen.at(-1)?.clientToolResults[0]?.result, '')
  }
  for (const output of [5, { at: 1 }]) {
    const input = [hello, { ...call, arguments: '{}' }, { ...done, output }]
    const asked = request('/v1/responses', { model: 'agent', input })
    const { error } = await jsonOf(await server.fetch(asked)) as Json
    assert.equal(error.param, 'input[2].output')
  }
})
