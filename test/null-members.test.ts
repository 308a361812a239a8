/** A member that is null is as if it were left out: many clients write null for all that they do not set. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { request, serve } from './fixtures/client.ts'
import type { Call, TriportServer } from '../lib/index.ts'

type Json = any
type Path = readonly (string | number)[]

/** What an author or a user writes; null there is a value. Lists of items and of parts are the protocol's. */
const THEIRS = new RegExp('(?:^|\\.)(?:arguments|data|metadata|state|input(?!\\.\\d)|output|schema'
  + '|content(?!\\.\\d)|value|parameters|reasoning|forwardedProps|inputSchema|context\\.\\d)\\.')
const isTheirs = (path: Path): boolean => THEIRS.test(path.join('.'))

/** The paths of all members of a value, at any depth. */
function pathsIn(value: Json, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).flatMap((key) => {
    const own = [...path, Array.isArray(value) ? Number(key) : key]
    return [...Array.isArray(value) ? [] : [own], ...pathsIn(value[key], own)]
  }).filter((one) => !isTheirs(one))
}

/** A copy without the member at a path, or with null there. */
function changed(value: Json, path: Path, isNull: boolean): Json {
  const copy = structuredClone(value)
  const owner = path.slice(0, -1).reduce((found, key) => found[key], copy)
  if (isNull) owner[path.at(-1)!] = null
  else delete owner[path.at(-1)!]
  return copy
}

/** What differs from one answer to the next. */
function plain(text: string): string {
  return text.replace(/"request_id":"[\w-]+"/g, 'ID').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/"[\w-]+[_-][\w-]{16,}"|"[\w.-]{20,}"|[\da-f]{8}-[\da-f-]{27}/g, 'ID')
    .replace(/\b\d{10,}\b/g, 'NUMBER')
    .replace(/"(?:message|detail|description|text|error)":"(?:[^"\\]|\\.)*"/g, (found) => (
      /must|missing|needs?|cannot/.test(found) ? 'WHY' : found
    ))
}

type Ask = readonly [what: string, path: string, body: Json, headers?: Record<string, string>, more?: Json]

async function answerOf(server: TriportServer, [, path, , headers]: Ask, body: Json): Promise<string> {
  const response = await server.fetch(request(path, body, headers))
  return `${response.status} ${plain(await response.text())}`
}

async function check(server: TriportServer, ask: Ask, own: string): Promise<void> {
  const [what, , body] = ask
  const wrong: string[] = []
  for (const path of pathsIn(body[own] ?? body, body[own] === undefined ? [] : [own])) {
    const [without, empty] = [
      await answerOf(server, ask, changed(body, path, false)),
      await answerOf(server, ask, changed(body, path, true)),
    ]
    if (without !== empty) wrong.push(`${what} ${path.join('.')}\n  left out: ${without}\n  null: ${empty}`)
  }
  assert.deepEqual(wrong.join('\n').slice(0, 3_000), '')
}

const MCP = { accept: 'application/json, text/event-stream' }
const META = 'io.modelcontextprotocol/'
const modern = {
  progressToken: 1, [`${META}protocolVersion`]: '2026-07-28', [`${META}logLevel`]: 'info',
  [`${META}clientInfo`]: { name: 'client', version: '1', title: 'Client' },
  [`${META}clientCapabilities`]: {
    elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {},
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
}
const capabilities = {
  elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true },
  tasks: { requests: { sampling: { createMessage: {} }, elicitation: { create: {} } }, cancel: {}, list: {} },
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
  experimental: {},
}

/** Every method of MCP with every member that its params may have. */
const methods: readonly (readonly [method: string, params: Json])[] = [
  ['initialize', {
    protocolVersion: '2025-11-25', capabilities,
    clientInfo: { name: 'c', version: '1', title: 'C', websiteUrl: '' },
  }],
  ['ping', {}], ['tools/list', { cursor: 'none' }], ['prompts/list', { cursor: 'none' }],
  ['resources/list', { cursor: 'none' }], ['resources/templates/list', { cursor: 'none' }],
  ['tools/call', { name: 'add', arguments: { a: 1, b: 2 }, task: { ttl: 1000 } }],
  ['tools/call', { name: 'idle', arguments: {} }],
  ['tools/call', { name: 'idle', arguments: {}, inputResponses: {}, requestState: 'none' }],
  ['prompts/get', { name: 'greet', arguments: { who: 'you' } }],
  ['resources/read', { uri: 'docs://a' }], ['resources/subscribe', { uri: 'docs://a' }],
  ['resources/unsubscribe', { uri: 'docs://a' }], ['logging/setLevel', { level: 'info' }],
  ['completion/complete', {
    ref: { type: 'ref/prompt', name: 'greet', title: 'Greet' }, argument: { name: 'who', value: 'y' },
    context: { arguments: { other: 'x' } },
  }],
  ['tasks/list', { cursor: 'none' }], ['tasks/get', { taskId: 'none' }], ['tasks/result', { taskId: 'none' }],
  ['tasks/cancel', { taskId: 'none' }], ['tasks/update', { taskId: 'none', inputResponses: {} }],
  ['skills/list', { cursor: 'none' }], ['server/discover', {}], ['nothing/known', { some: 1 }],
]

const message = {
  messageId: 'm', role: 'ROLE_USER', contextId: 'c', taskId: 't', metadata: { a: 1 }, extensions: ['e:e'],
  referenceTaskIds: ['r'],
  parts: [
    { text: 'hi', mediaType: 'text/plain', filename: 'a.txt', metadata: { a: 1 } },
    { raw: 'aGk=', mediaType: 'image/png', filename: 'a.png', metadata: { a: 1 } },
    { url: 'https://example.com/a', mediaType: 'image/png', filename: 'a.png', metadata: {} },
  ],
}
const first = { ...message, taskId: undefined, parts: [{ text: 'hi' }] }
const push = {
  id: 'p', taskId: 't', url: 'http://127.0.0.1:9/', token: 'token',
  authentication: { scheme: 'Bearer', credentials: 'secret' },
}
const configuration = {
  acceptedOutputModes: ['text/plain'], historyLength: 1, returnImmediately: false,
  taskPushNotificationConfig: push,
}
const list = {
  contextId: 'c', status: 'TASK_STATE_WORKING', pageSize: 1, pageToken: 'none', historyLength: 1,
  statusTimestampAfter: '2026-07-28T12:00:00Z', includeArtifacts: true,
}
/** Every operation of A2A 1.0. */
const operations: readonly (readonly [method: string, params: Json])[] = [
  ['SendMessage', { message, configuration, metadata: { a: 1 } }],
  ['SendMessage', {
    message: first, configuration: { ...configuration, taskPushNotificationConfig: undefined },
  }],
  ['SendStreamingMessage', { message: first, metadata: {} }],
  ['GetTask', { id: 't', historyLength: 1 }], ['ListTasks', list], ['CancelTask', { id: 't', metadata: {} }],
  ['SubscribeToTask', { id: 't' }], ['CreateTaskPushNotificationConfig', push],
  ['GetTaskPushNotificationConfig', { taskId: 't', id: 'p' }],
  ['ListTaskPushNotificationConfigs', { taskId: 't', pageSize: 1, pageToken: 'none' }],
  ['DeleteTaskPushNotificationConfig', { taskId: 't', id: 'p' }], ['GetExtendedAgentCard', {}],
]
const older = {
  kind: 'message', messageId: 'm', role: 'user', contextId: 'c', metadata: { a: 1 }, extensions: ['e:e'],
  referenceTaskIds: ['r'],
  parts: [
    { kind: 'text', text: 'hi', metadata: { a: 1 } },
    { kind: 'file', file: { bytes: 'aGk=', mimeType: 'image/png', name: 'a.png' }, metadata: {} },
    { kind: 'file', file: { uri: 'https://example.com/a', mimeType: 'image/png', name: 'a.png' } },
    { kind: 'data', data: { a: 1 }, metadata: {} },
  ],
}
const olderPush = {
  id: 'p', url: 'http://127.0.0.1:9/', token: 't', authentication: { schemes: ['Bearer'], credentials: 's' },
}
/** Every operation of A2A 0.3, and of plain clients. */
const olderOperations: readonly (readonly [method: string, params: Json])[] = [
  ['message/send', { message: older, metadata: {}, configuration: {
    acceptedOutputModes: ['text/plain'], historyLength: 1, blocking: true,
  } }],
  ['message/send', { message: older, configuration: { pushNotificationConfig: olderPush } }],
  ['message/stream', { message: older, metadata: {} }],
  ['tasks/get', { id: 't', historyLength: 1, metadata: {} }], ['tasks/cancel', { id: 't', metadata: {} }],
  ['tasks/resubscribe', { id: 't', metadata: {} }],
  ['tasks/pushNotificationConfig/set', { taskId: 't', pushNotificationConfig: olderPush }],
  ['tasks/pushNotificationConfig/get', { id: 't', pushNotificationConfigId: 'p', metadata: {} }],
  ['tasks/pushNotificationConfig/list', { id: 't', metadata: {} }],
  ['tasks/pushNotificationConfig/delete', { id: 't', pushNotificationConfigId: 'p', metadata: {} }],
  ['agent/getAuthenticatedExtendedCard', {}],
  ['message/send', { metadata: {}, message: {
    role: 'user', messageId: 'm', contextId: 'c', metadata: {},
    parts: [
      { type: 'text', text: 'hi', name: 'n' }, { type: 'file', uri: 'a:b', mimeType: 'image/png', name: 'n' },
    ],
  } }],
]

function server(t: Parameters<typeof serve>[0]): TriportServer {
  return serve(t, {
    agents: [{ name: 'Agent', run: (prompt: string, call: Call) => (
      `${prompt} ${JSON.stringify([call.message, call.metadata, call.clientTools])}`
    ) }],
    tools: [
      { name: 'add', description: 'Adds.', task: 'optional',
        inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
        run: (args: Json, { metadata, client }: Call) => (
          JSON.stringify([args, Object.keys(metadata), client])
        ) },
      { name: 'idle', description: 'Idles.', run: () => 'idle' },
    ],
    prompts: [{ name: 'greet', description: 'Greets.', arguments: [{ name: 'who' }],
      complete: { who: () => ['you'] }, get: (args: Json) => JSON.stringify(args) }],
    resources: [{ uri: 'docs://a', name: 'a', read: () => 'a' }],
    protocol: 'all',
    a2a: { pushNotifications: { allowInsecure: true, allowPrivate: true, retryDelaysMs: [] } },
  } as never)
}

test('null in the params of every method of MCP is as if it were left out', async (t) => {
  const here = server(t)
  for (const [method, params] of methods) {
    const [older, newer] = [{ progressToken: 1 }, modern].map((_meta) => (
      { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }
    ))
    await check(here, [method, '/mcp', older, MCP], 'params')
    if (method === 'tools/call') await check(here, [method, '/messages/', older], 'params')
    if (method === 'tools/call') await check(here, [method, '/mcp', newer, MCP], 'params')
    const asked = (more: object): Promise<string> => (
      answerOf(here, [method, '/mcp', {}, MCP], { jsonrpc: '2.0', id: 1, method, ...more })
    )
    assert.equal(await asked({ params: null }), await asked({}), method)
  }
})

test('null in the params of every operation of A2A is as if it were left out', async (t) => {
  const here = server(t)
  for (const [method, params] of operations) {
    const body = { jsonrpc: '2.0', id: 1, method, params: { tenant: '', ...params } }
    await check(here, [method, '/a2a', body, { 'a2a-version': '1.0' }], 'params')
    await check(here, [method, '/a2a', { ...body, params: undefined }, { 'a2a-version': '1.0' }], 'none')
  }
  for (const [method, params] of olderOperations) {
    await check(here, [method, '/a2a', { jsonrpc: '2.0', id: 1, method, params }], 'params')
  }
  const V1 = { 'a2a-version': '1.0' }
  await check(here, ['send', '/message:send', operations[0]![1], V1], 'none')
  await check(here, ['send', '/message:send', operations[1]![1], V1], 'none')
  await check(here, ['stream', '/message:stream', operations[2]![1], V1], 'none')
  await check(here, ['push', '/tasks/t/pushNotificationConfigs', push, V1], 'none')
  await check(here, ['cancel', '/tasks/t:cancel', { metadata: {} }, V1], 'none')
})

/** What clients of the other protocols send, each with everything that it may send. */
const others: readonly Ask[] = [
  ['a query', '/', { query: 'hi', session_id: 'session-1', metadata: { a: 1 }, stream: false }],
  ['a query of messages', '/', { messages: [{ role: 'user', content: 'hi' }], stream: true, metadata: {} }],
  ['a tool', '/tools/idle', {}], ['a prompt', '/prompts/greet', { who: 'you' }],
  ['chat', '/v1/chat/completions', {
    model: 'agent', stream: false, stream_options: { include_usage: true }, metadata: { a: 'b' }, user: 'u',
    temperature: 1, top_p: 1, n: 1, max_tokens: 9, max_completion_tokens: 9, seed: 1, stop: ['x'],
    logprobs: false, top_logprobs: 0, presence_penalty: 0, frequency_penalty: 0, logit_bias: {},
    parallel_tool_calls: true,
    service_tier: 'auto', store: false, reasoning_effort: 'low', verbosity: 'low', modalities: ['text'],
    prompt_cache_key: 'k', safety_identifier: 's', tool_choice: 'auto', response_format: { type: 'text' },
    tools: [{ type: 'function', function: {
      name: 'f', description: 'F', parameters: { type: 'object' }, strict: true,
    } }],
    messages: [
      { role: 'system', content: 'Be kind', name: 's' },
      { role: 'user', name: 'u', content: [
        { type: 'text', text: 'hi' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
      ] },
      { role: 'assistant', content: 'so', refusal: 'no', name: 'a', audio: { id: 'x' }, tool_calls: [
        { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } },
      ] },
      { role: 'tool', tool_call_id: 'c', content: 'done' }, { role: 'user', content: 'go on' },
    ],
  }],
  ['Responses', '/v1/responses', {
    model: 'agent', stream: false, instructions: 'Be kind', metadata: { a: 'b' }, user: 'u', temperature: 1,
    top_p: 1, max_output_tokens: 99, max_tool_calls: 9, parallel_tool_calls: true, store: false,
    truncation: 'disabled',
    service_tier: 'auto', tool_choice: 'auto', background: false, include: ['reasoning.encrypted_content'],
    text: { format: { type: 'text' }, verbosity: 'low' }, reasoning: { effort: 'low', summary: 'auto' },
    prompt_cache_key: 'k', safety_identifier: 's', top_logprobs: 0,
    stream_options: { include_obfuscation: false },
    tools: [{ type: 'function', name: 'f', description: 'F', parameters: { type: 'object' }, strict: true }],
    input: [
      { type: 'message', role: 'user', id: 'm', status: 'completed', content: [
        { type: 'input_text', text: 'hi' },
        { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
      ] },
      { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'e',
        status: 'completed' },
      { type: 'function_call', id: 'f', call_id: 'c', name: 'f', arguments: '{}', status: 'completed' },
      { type: 'function_call_output', id: 'o', call_id: 'c', output: 'done', status: 'completed' },
      { type: 'custom_tool_call', id: 'g', call_id: 'd', name: 'g', input: 'x', status: 'completed' },
      { type: 'custom_tool_call_output', call_id: 'd', output: 'done' },
      { type: 'message', role: 'assistant', content: [
        { type: 'output_text', text: 'so', annotations: [], logprobs: [] },
      ] },
      { role: 'user', content: 'go on' },
    ],
  }],
  ['AG-UI', '/agents/agent/agui', {
    threadId: 't', runId: 'r', parentRunId: 'p', state: {}, forwardedProps: {},
    tools: [{ name: 'f', description: 'F', parameters: { type: 'object' } }],
    context: [{ description: 'd', value: 'v' }],
    messages: [
      { id: '1', role: 'system', content: 'Be kind', name: 's' },
      { id: '2', role: 'user', name: 'u', content: [
        { type: 'text', text: 'hi' },
        { type: 'image', source: { type: 'url', value: 'https://example.com/a.png', mimeType: 'image/png' } },
      ] },
      { id: '3', role: 'assistant', content: 'so', name: 'a', toolCalls: [
        { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } },
      ] },
      { id: '4', role: 'tool', toolCallId: 'c', content: 'done', error: 'e' },
      { id: '5', role: 'user', content: 'go on' },
    ],
  }],
  ['the UI stream', '/agents/agent/ui-stream', {
    id: 'chat-12345678', trigger: 'submit-message', messageId: 'm', metadata: {},
    messages: [
      { id: '1', role: 'user', metadata: {}, parts: [
        { type: 'text', text: 'hi', state: 'done', providerMetadata: {} },
        { type: 'file', url: 'https://example.com/a.png', mediaType: 'image/png', filename: 'a.png' },
      ] },
      { id: '2', role: 'assistant', metadata: {}, parts: [
        { type: 'step-start' }, { type: 'reasoning', text: 'r', state: 'done' },
        { type: 'tool-f', toolCallId: 'c', state: 'output-available', input: {}, output: 'done',
          errorText: 'x', providerExecuted: true, preliminary: false },
        { type: 'text', text: 'so' },
      ] },
      { id: '3', role: 'user', parts: [{ type: 'text', text: 'go on' }] },
    ],
  }],
]

test('null in what is posted to the other protocols is as if it were left out', async (t) => {
  const here = server(t)
  for (const one of others) await check(here, one, 'none')
})

const user = { role: 'user', content: 'hi' }
/** The least that a client sends. */
const least: readonly Ask[] = [
  ['a query', '/', { query: 'hi', session_id: 'session-2' }],
  ['a query of messages', '/', { messages: [user], session_id: 'session-3' }],
  ['chat', '/v1/chat/completions', { model: 'agent', messages: [user] }],
  ['Responses', '/v1/responses', { model: 'agent', input: 'hi' }],
  ['AG-UI', '/agents/agent/agui', { threadId: 't', runId: 'r', messages: [{ id: '1', ...user }] }],
  ['the UI stream', '/agents/agent/ui-stream', {
    messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  }],
]
/** Members that only some servers know, as their clients write them. */
const strange: Readonly<Record<string, readonly string[]>> = {
  'a query': ['message', 'prompt', 'input', 'messages', 'user_id'],
  'a query of messages': ['query', 'prompt'],
  'chat': [
    'audio', 'function_call', 'functions', 'prediction', 'web_search_options', 'extra_body', 'top_k',
  ],
  'Responses': [
    'previous_response_id', 'conversation', 'prompt', 'prompt_cache_retention', 'context_management',
  ],
  'AG-UI': ['resume', 'parentRunId', 'actors'], 'the UI stream': ['body', 'requestMetadata'],
}

test('nulls all at once are as if none of them were there', async (t) => {
  const here = server(t)
  for (const one of least) {
    const [what, , body] = one
    const full = others.find(([name]) => name === what)![2]
    const names = [...Object.keys(full), ...strange[what] ?? []].filter((name) => !(name in body))
    const empty = { ...Object.fromEntries(names.map((name) => [name, null])), ...body }
    for (const key of ['messages', 'input']) {
      const last = Array.isArray(full[key]) ? full[key].find(({ role }: Json) => role === 'user') : undefined
      if (last === undefined || !Array.isArray(body[key])) continue
      const own = [...Object.keys(last), 'name', 'tool_calls', 'toolCalls', 'refusal']
      const nulls = Object.fromEntries(own.map((name) => [name, null]))
      empty[key] = body[key].map((message: object) => ({ ...nulls, ...message }))
    }
    assert.equal(await answerOf(here, one, empty), await answerOf(here, one, body), what)
  }
})
