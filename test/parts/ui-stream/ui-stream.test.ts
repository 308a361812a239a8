import assert from 'node:assert/strict'
import test from 'node:test'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { request, serve } from '../../fixtures/client.ts'
import type { TestContext } from 'node:test'
import type { Piece } from '../../../lib/kernel/define/answer.ts'
import type { AgentOutput, Call, TriportServer } from '../../../lib/index.ts'

interface Part { readonly type: string; readonly [member: string]: unknown }

const hello = { id: '1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }
const usual = { id: 'chat-0001', trigger: 'submit-message', messages: [hello] }

function serving(t: TestContext, run: (prompt: string, call: Call) => AgentOutput): TriportServer {
  return serve(t, { agents: [{ name: 'Agent', run }] })
}

/** The parts of an answer, without the ids that were made. */
async function chat(server: TriportServer, more: object = {}, path = '/ui-stream'): Promise<readonly Part[]> {
  const response = await server.fetch(request(path, { ...usual, ...more }))
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1')
  const parts: Part[] = []
  let isDone = false
  eventReader(({ data }) => {
    if (data === '[DONE]') return void (isDone = true)
    const { id, ...part } = JSON.parse(data) as Part
    const isData = String(part['type']).startsWith('data-') && id !== undefined
    parts.push({ ...part, ...isData && { id } } as unknown as Part)
  })(await response.text())
  assert.ok(isDone)
  return parts
}

const begin = [{ type: 'start' }, { type: 'start-step' }]
const end = [{ type: 'finish-step' }, { type: 'finish', finishReason: 'stop' }]

test('an answer is a text, whole or in pieces', async (t) => {
  assert.deepEqual(await chat(serving(t, (prompt) => `You said ${prompt}`)), [
    ...begin, { type: 'text-start' }, { type: 'text-delta', delta: 'You said Hello' }, { type: 'text-end' },
    ...end,
  ])
  const pieces = await chat(serving(t, async function* (): AsyncGenerator<Piece> {
    yield 'a'
    yield { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    yield 'b'
  }), {}, '/agents/agent/ui-stream')
  assert.deepEqual(pieces.slice(2, -2), [
    { type: 'text-start' }, { type: 'text-delta', delta: 'a' }, { type: 'text-end' },
    { type: 'file', url: 'data:image/png;base64,AAAA', mediaType: 'image/png' },
    { type: 'text-start' }, { type: 'text-delta', delta: 'b' }, { type: 'text-end' },
  ])
})

test('files of an answer are parts, by their address or in place', async (t) => {
  const [uri, name] = ['https://example.com/a', 'a']
  const files = await chat(serving(t, async function* (): AsyncGenerator<Piece> {
    yield { type: 'resource_link', uri, name }
    yield { type: 'resource_link', uri, name, mimeType: 'text/html' }
    yield { type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Tea' } }
    yield { type: 'resource', resource: { uri, blob: 'AAAA' } }
  }))
  assert.deepEqual(files.slice(2, -2), [
    { type: 'source-url', sourceId: uri, url: uri, title: name },
    { type: 'file', url: uri, mediaType: 'text/html' },
    { type: 'file', url: 'data:text/plain;base64,VGVh', mediaType: 'text/plain' },
    { type: 'file', url: 'data:application/octet-stream;base64,AAAA', mediaType: 'application/octet-stream' },
  ])
})

test('what an agent says of its work are parts of their own, and so are data and tokens', async (t) => {
  const server = serving(t, async function* (_prompt, call): AsyncGenerator<Piece> {
    call.event({ type: 'reasoning', text: 'Let me see' })
    call.event({ type: 'tool-call', id: 'c', name: 'search', args: { of: 'tea' } })
    call.event({ type: 'tool-result', id: 'c', result: { found: 1 } })
    call.event({ type: 'tool-call', id: 'd', name: 'search' })
    call.event({ type: 'tool-result', id: 'd', result: 'Closed', isError: true })
    call.event({ type: 'usage', inputTokens: 3, outputTokens: 2 })
    call.artifact({ name: 'cups', parts: [{ type: 'data', data: 2 }] })
    yield 'Two.'
  })
  const ours = { providerExecuted: true, dynamic: true }
  assert.deepEqual((await chat(server)).slice(2), [
    { type: 'reasoning-start' }, { type: 'reasoning-delta', delta: 'Let me see' }, { type: 'reasoning-end' },
    { type: 'tool-input-available', toolCallId: 'c', toolName: 'search', input: { of: 'tea' }, ...ours },
    { type: 'tool-output-available', toolCallId: 'c', output: { found: 1 }, ...ours },
    { type: 'tool-input-available', toolCallId: 'd', toolName: 'search', input: {}, ...ours },
    { type: 'tool-output-error', toolCallId: 'd', errorText: 'Closed', ...ours },
    { type: 'data-cups', data: 2 },
    { type: 'text-start' }, { type: 'text-delta', delta: 'Two.' }, { type: 'text-end' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'stop', messageMetadata: { usage: { inputTokens: 3, outputTokens: 2 } } },
  ])
})

test('no part of an artifact takes the place of another, but those of one that is given again', async (t) => {
  const id = 'a'
  const server = serving(t, (_prompt, call) => {
    call.artifact({ id, name: 'tea', parts: ['Green', { type: 'data', data: 2 }] })
    call.artifact({ id, name: 'tea', parts: ['Black', { type: 'data', data: 3 }] })
    call.artifact({ id, name: 'tea', parts: ['with milk'], append: true })
    return ''
  })
  assert.deepEqual((await chat(server)).slice(2, -2), [
    { type: 'data-tea', id: 'a', data: 'Green' }, { type: 'data-tea', id: 'a-1', data: 2 },
    { type: 'data-tea', id: 'a', data: 'Black' }, { type: 'data-tea', id: 'a-1', data: 3 },
    { type: 'data-tea', data: 'with milk' },
  ])
})

test('an agent sees the chat, its files, and what the client\'s tools gave', async (t) => {
  let seen: unknown
  const server = serving(t, (prompt, call) => {
    const { history, message, clientToolResults, metadata, sessionId } = call
    seen = { prompt, history, message, clientToolResults, metadata, sessionId }
    if (clientToolResults.length > 0) return ''
    return { toolCalls: [{ id: 'c', name: 'find', args: { of: 'tea' } }] }
  })
  const tools = [{ name: 'find', parameters: { type: 'object' } }]
  assert.deepEqual((await chat(server, { tools })).slice(2), [
    // The client knows it: what it shows of a tool of its own, and runs, is a part `tool-find`.
    { type: 'tool-input-available', toolCallId: 'c', toolName: 'find', input: { of: 'tea' } },
    { type: 'finish-step' }, { type: 'finish', finishReason: 'tool-calls' },
  ])
  const found = { toolCallId: 'c', state: 'output-available', input: { of: 'tea' }, output: 'Sencha' }
  const own = { ...found, type: 'tool-search', toolCallId: 'd', providerExecuted: true }
  const ownPart = { ...own, type: 'dynamic-tool', toolName: 'search' }
  const file = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' }
  const said = (text: string): object => ({ type: 'text', text })
  await chat(server, { tools, mood: 'calm', messages: [
    { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] }, hello,
    { role: 'assistant', parts: [{ type: 'step-start' }, said('So.'), ownPart, said('Two'), said('teas.')] },
    { ...hello, parts: [...hello.parts, file] },
    { role: 'assistant', parts: [{ ...found, type: 'tool-find' }, own] },
  ] })
  assert.deepEqual(seen, {
    prompt: 'Hello', sessionId: 'chat-0001', metadata: { mood: 'calm' },
    history: [
      { role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'So.' }, { role: 'assistant', content: 'search returned: Sencha' },
      { role: 'assistant', content: 'Two\nteas.' },
    ],
    message: [{ type: 'text', text: 'Hello' }, { type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    clientToolResults: [{ id: 'c', name: 'find', args: { of: 'tea' }, result: 'Sencha' }],
  })
})

test('tools of the client are a list or stand by their names, with a schema by either name', async (t) => {
  let seen: unknown
  const server = serving(t, (_prompt, { clientTools }) => { seen = clientTools })
  const [description, inputSchema] = ['Finds.', { type: 'object', required: ['of'] }]
  const tool = { name: 'find', description, inputSchema }
  for (const tools of [
    [{ name: 'find', description, parameters: inputSchema }], [tool],
    { find: { description, parameters: inputSchema } }, { find: { description, inputSchema } },
  ]) {
    await chat(server, { tools })
    assert.deepEqual(seen, [tool])
  }
  await chat(server, { tools: {} })
  assert.deepEqual(seen, [])
})

test('a picture whose type is written in half has that of its address', async (t) => {
  let seen: unknown
  const server = serving(t, (_prompt, { message }) => { seen = message })
  for (const mediaType of ['image', 'image/*', 'image/png']) {
    const file = { type: 'file', mediaType, url: 'data:image/png;base64,AAAA' }
    await chat(server, { messages: [{ ...hello, parts: [file] }] })
    assert.deepEqual(seen, [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }], mediaType)
  }
})

test('a result whose call was not told brings that call along, once', async (t) => {
  const parts = await chat(serving(t, (_prompt, call) => {
    call.event({ type: 'tool-call', id: '1', name: 'search', args: { of: 'tea' } })
    for (const id of ['1', '2', '2']) call.event({ type: 'tool-result', id, result: 'x' })
    call.event({ type: 'tool-result', id: '3', name: 'find', result: 'x' })
  }))
  assert.deepEqual(parts.slice(2, -2).map(({ type, toolCallId, toolName }) => [type, toolCallId, toolName]), [
    ['tool-input-available', '1', 'search'], ['tool-output-available', '1', undefined],
    ['tool-input-available', '2', 'tool'], ['tool-output-available', '2', undefined],
    ['tool-output-available', '2', undefined],
    ['tool-input-available', '3', 'find'], ['tool-output-available', '3', undefined],
  ])
})

test('a broken entry of a chat is passed over, and the log says so', async (t) => {
  const logged: unknown[] = []
  let seen: unknown
  const server = serve(t, {
    agents: [{ name: 'Agent', description: 'Sees.', run(prompt, { history, message, clientToolResults }) {
      seen = { prompt, history, message, clientToolResults }
      return ''
    } }],
    log: (level, text, fields) => { logged.push([level, text, fields?.['parts']]) },
  })
  const done = { state: 'output-available', input: 'tea', output: 'Sencha' }
  const tool = { type: 'tool-find', toolCallId: 'c', ...done }
  await chat(server, { messages: [
    1, { role: 'data', content: 'x' }, { role: 'assistant' }, { role: 'assistant', content: 'Of before.' },
    { role: 'assistant', parts: [null, 'a', { type: 'tool-find', state: 'input-streaming' }, { type: 'text' },
      { ...tool, toolCallId: 7 }, { ...tool, toolCallId: '' }, tool, { ...tool, type: 'tool-' }] },
    { role: 'user', parts: [
      { type: 'file', mediaType: 'image/svg+xml', url: 'data:image/svg+xml,%3Csvg/%3E' },
      { type: 'data-location', data: 1 }, { type: 'source-url', url: 'https://a.example' },
      { type: 'step-start' }, { type: 'steering-message', parts: [] },
    ] },
    { role: 'judge', parts: [] },
  ] })
  assert.deepEqual(seen, {
    prompt: '', clientToolResults: [],
    history: [
      { role: 'assistant', content: 'Of before.' }, { role: 'assistant', content: 'find returned: Sencha' },
    ],
    message: [{ type: 'image', data: Buffer.from('<svg/>').toString('base64'), mimeType: 'image/svg+xml' }],
  })
  assert.deepEqual(logged, [
    ['warning', 'The request was answered without 7 of its parts, which could not be read', [
      'messages[0] has no role that is known', 'messages[1] has no role that is known',
      'messages[2] has no parts', 'messages[4].parts[4] is a tool without an id or a name',
      'messages[4].parts[5] is a tool without an id or a name',
    ]],
  ])
})

test('without a message of the user the agent begins', async (t) => {
  const seen: Call[] = []
  const server = serving(t, (_prompt, call) => { seen.push(call); return 'Hello' })
  const [first] = await chat(server, { messages: [{ id: '1', role: 'system', parts: hello.parts }] })
  assert.deepEqual(first, { type: 'start' })
  assert.deepEqual(seen[0]?.message, [])
  assert.deepEqual(seen[0]?.history, [{ role: 'system', content: 'Hello' }])
})

test('a failure is a part, a wrong chat a problem, and there is no stream to go on with', async (t) => {
  const server = serving(t, () => { throw new Error('secret') })
  const [, , error] = await chat(server)
  assert.equal(error?.type, 'error')
  assert.match(String(error?.['errorText']), /^Internal error/)
  const wrong: readonly (readonly [more: object, detail: RegExp])[] = [
    [{ messages: 1 }, /must be a JSON object with/], [{ messages: [] }, /role user/],
    [{ messages: [{ role: 'user', parts: 'a' }] }, /messages\[0\]\.parts must be a list/],
    [{ messages: [{ role: 'user', parts: [{ type: 'file' }] }] }, /parts\[0\] must be a file/],
    [{ messages: [{ role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url: 'data:,%' }] }] },
      /parts\[0\]\.url must be an address, or a data URI/],
    [{ messages: [{ role: 'user', parts: [{ type: 'text', text: 'a' }, { type: 'image', image: 'AAAA' }] }] },
      /parts\[1\]\.type must be text or file: \\"image\\" would not be seen/],
    [{ messages: [{ role: 'user', parts: [{ type: 'x'.repeat(2_000) }] }] },
      /parts\[0\]\.type must be text or file: \\"x{60}…\\" would not be seen"/],
    [{ messages: [{ role: 'user', parts: [{}] }] }, /parts\[0\]\.type must be text or file"/],
    [{ messages: [{ role: 'user', parts: ['a'] }] }, /parts\[0\]\.type must be text or file"/],
    [{ messages: [hello, { role: 'assistant', parts: [
      { type: 'tool-find', toolCallId: 'x'.repeat(9_000), state: 'output-available', output: '' },
    ] }] }, /messages\[1\]\.parts\[0\]\.toolCallId must be a string/],
    [{ tools: [{}] }, /tools\[0\]\.name/], [{ tools: 1 }, /tools must be a list/],
    [{ tools: { find: { parameters: 1 } } }, /tools\[0\]\.parameters must be a JSON Schema/],
  ]
  for (const [more, detail] of wrong) {
    const response = await server.fetch(request('/ui-stream', { ...usual, ...more }))
    assert.equal(response.status, 422)
    assert.match(await response.text(), detail)
  }
  assert.equal((await server.fetch(request('/ui-stream', '{'))).status, 400)
  assert.equal((await server.fetch(request('/agents/agent/ui-stream/chat-0001/stream'))).status, 204)
  assert.equal((await server.fetch(request('/agents/none/ui-stream/chat-0001/stream'))).status, 404)
})
