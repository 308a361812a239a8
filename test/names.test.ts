import assert from 'node:assert/strict'
import test from 'node:test'
import {
  createServer, defineAgent, definePrompt, defineResource, defineResourceTemplate, defineTool,
} from '../lib/index.ts'

const asked: string[] = []

const server = createServer({
  name: 'Names', protocol: 'all',
  agents: [defineAgent({ name: 'Echo', description: 'Says it.', run: (prompt) => prompt.slice(0, 10) })],
  tools: [defineTool({ name: 'add', description: 'Adds.', run: () => '2' })],
  resources: [defineResource({ uri: 'docs://readme', name: 'readme', read: () => '# Hello' })],
  resourceTemplates: [defineResourceTemplate({
    uriTemplate: 'docs://{page}', name: 'page', read: ({ page }) => `About ${String(page)}`,
    complete: { page: (value) => { asked.push(value); return ['a'] } },
  })],
  prompts: [definePrompt({ name: 'greet', arguments: [{ name: 'who' }], get: () => 'Hello' })],
  skills: [{ name: 'sum', description: 'Adds.', instructions: 'Add.' }],
})

type Headers = Readonly<Record<string, string>>
type Case = readonly [path: string, body: (name: string) => unknown, headers?: Headers]

const rpc = (method: string, params: (name: string) => object): Case => (
  ['/mcp', (name) => ({ jsonrpc: '2.0', id: 1, method, params: params(name) })]
)
const a2a = (method: string, params: (name: string) => object, version = '1.0'): Case => (
  ['/a2a', (name) => ({ jsonrpc: '2.0', id: 1, method, params: params(name) }), { 'a2a-version': version }]
)
const user = { role: 'user', content: 'hi' }
const calls = (id: string, name: string): object => ({
  role: 'assistant', content: '', tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
})
const thread = { threadId: 't', runId: 'r', messages: [{ id: '1', ...user }], tools: [], context: [] }
const parts = [{ type: 'text', text: 'hi' }]

/** Each puts a name where a client has to send one. */
const cases: Readonly<Record<string, Case>> = {
  'a tool of MCP': rpc('tools/call', (name) => ({ name })),
  'a prompt of MCP': rpc('prompts/get', (name) => ({ name })),
  'a resource': rpc('resources/read', (uri) => ({ uri })),
  'a resource to subscribe to': rpc('resources/subscribe', (uri) => ({ uri })),
  'a skill': rpc('skills/get', (uri) => ({ uri })),
  'a folder': rpc('resources/directory/read', (uri) => ({ uri })),
  'a cursor': rpc('tools/list', (cursor) => ({ cursor })),
  'a prompt to complete': rpc('completion/complete', (name) => (
    { ref: { type: 'ref/prompt', name }, argument: { name: 'who', value: '' } })),
  'a template to complete': rpc('completion/complete', (uri) => (
    { ref: { type: 'ref/resource', uri }, argument: { name: 'page', value: '' } })),
  'an argument to complete': rpc('completion/complete', (name) => (
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name, value: '' } })),
  'a value to complete': rpc('completion/complete', (value) => (
    { ref: { type: 'ref/resource', uri: 'docs://{page}' }, argument: { name: 'page', value } })),
  'a progress token': rpc('tools/call', (progressToken) => ({ name: 'add', _meta: { progressToken } })),
  'a level': rpc('logging/setLevel', (level) => ({ level })),
  'the id of a request': ['/mcp', (id) => ({ jsonrpc: '2.0', id, method: 'ping' })],
  'a method': ['/mcp', (method) => ({ jsonrpc: '2.0', id: 1, method })],
  'a task of A2A': a2a('GetTask', (id) => ({ id })),
  'a tenant': a2a('GetTask', (tenant) => ({ tenant, id: 'x' })),
  'a page token': a2a('ListTasks', (pageToken) => ({ pageToken })),
  'a context': a2a('SendMessage', (contextId) => (
    { message: { messageId: 'm', role: 'ROLE_USER', contextId, parts: [{ text: 'hi' }] } })),
  'an extension': a2a('SendMessage', (uri) => (
    { message: { messageId: 'm', role: 'ROLE_USER', extensions: [uri], parts: [{ text: 'hi' }] } })),
  'a mode': a2a('SendMessage', (mode) => ({
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
    configuration: { acceptedOutputModes: [mode] },
  })),
  'a file of A2A': a2a('SendMessage', (filename) => (
    { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'aGk=', filename }] } })),
  'a media type of A2A': a2a('SendMessage', (mediaType) => (
    { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'aGk=', mediaType }] } })),
  'a file of A2A 0.3': a2a('message/send', (name) => ({
    message: { messageId: 'm', role: 'user', parts: [{ kind: 'file', file: { name, bytes: 'aGk=' } }] },
  }), '0.3'),
  'a token of webhooks': a2a('tasks/pushNotificationConfig/set', (token) => ({
    taskId: 't', pushNotificationConfig: { url: 'https://example.com/', token },
  }), '0.3'),
  'a session': ['/', (id) => ({ query: 'hi', session_id: id })],
  'a model': ['/v1/chat/completions', (model) => ({ model, messages: [user] })],
  'the id of a call': ['/v1/chat/completions', (id) => ({ model: 'echo', messages: [calls(id, 'f'), user] })],
  'the function of a call': ['/v1/chat/completions', (name) => (
    { model: 'echo', messages: [calls('1', name), user] })],
  'the call of a result': ['/v1/chat/completions', (id) => (
    { model: 'echo', messages: [user, calls('1', 'f'), { role: 'tool', tool_call_id: id, content: '' }] })],
  'a function': ['/v1/chat/completions', (name) => (
    { model: 'echo', messages: [user], tools: [{ type: 'function', function: { name } }] })],
  'a picture': ['/v1/chat/completions', (path) => ({
    model: 'echo', messages: [{
      role: 'user', content: [{ type: 'image_url', image_url: { url: `https://example.com/${path}` } }],
    }],
  })],
  'a file': ['/v1/chat/completions', (filename) => ({
    model: 'echo', messages: [{
      role: 'user', content: [{ type: 'file', file: { filename, file_data: 'data:a/b;base64,aGk=' } }],
    }],
  })],
  'a response': ['/v1/responses', (id) => ({ model: 'echo', input: 'hi', previous_response_id: id })],
  'a response to compact': ['/v1/responses/compact', (id) => (
    { model: 'echo', input: 'hi', previous_response_id: id })],
  'a user': ['/v1/responses', (name) => ({ model: 'echo', input: 'hi', user: name })],
  'a cache key': ['/v1/responses', (key) => ({ model: 'echo', input: 'hi', prompt_cache_key: key })],
  'a call of Responses': ['/v1/responses', (id) => ({ model: 'echo', input: [
    { type: 'function_call', call_id: id, name: 'f', arguments: '{}' }, user,
  ] })],
  'a thread': ['/agents/echo/agui', (threadId) => ({ ...thread, threadId })],
  'a run': ['/agents/echo/agui', (runId) => ({ ...thread, runId })],
  'an interrupt': ['/agents/echo/agui', (interruptId) => (
    { ...thread, resume: [{ interruptId, status: 'resolved' }] })],
  'a tool of AG-UI': ['/agents/echo/agui', (name) => ({ ...thread, tools: [{ name }] })],
  'a document': ['/agents/echo/agui', (value) => ({ ...thread, messages: [
    { role: 'user', content: [{ type: 'document', source: { type: 'url', value } }] },
  ] })],
  'a call of a chat': ['/agents/echo/ui-stream', (toolCallId) => ({ messages: [
    { role: 'assistant', parts: [{ type: 'tool-f', toolCallId, state: 'output-available', output: '' }] },
    { role: 'user', parts },
  ] })],
  'a tool of a chat': ['/agents/echo/ui-stream', (name) => ({ messages: [
    { role: 'assistant', parts: [{ type: `tool-${name}`, toolCallId: '1', state: 'output-available' }] },
    { role: 'user', parts },
  ] })],
  'a file of a chat': ['/agents/echo/ui-stream', (filename) => ({ messages: [
    { role: 'user', parts: [
      ...parts, { type: 'file', mediaType: 'a/b', filename, url: 'data:a/b;base64,aGk=' },
    ] },
  ] })],
  'an address of a chat': ['/agents/echo/ui-stream', (path) => ({ messages: [
    { role: 'user', parts: [
      ...parts, { type: 'file', mediaType: 'a/b', url: `https://example.com/${path}` },
    ] },
  ] })],
}

async function answerTo([path, body, headers]: Case, name: string): Promise<readonly [number, string]> {
  const response = await server.fetch(new Request(`http://localhost${path}`, {
    method: 'POST', body: JSON.stringify(body(name)),
    headers: {
      'content-type': 'application/json', 'accept': 'application/json, text/event-stream', ...headers,
    },
  }))
  return [response.status, await response.text()]
}

test('a name of 200 kB is refused, and no more than the beginning of it comes back', async () => {
  for (const [what, one] of Object.entries(cases)) {
    for (const character of ['a', '%', '"', '/']) {
      const [status, text] = await answerTo(one, character.repeat(200_000))
      const isRefused = status >= 400 || text.includes('"error":{') || text.includes('"type":"RUN_ERROR"')
      assert.ok(isRefused, `${what} ${character}: ${text.slice(0, 200)}`)
      assert.ok(text.length < 5_000, `${what} ${character}: ${text.length} bytes`)
    }
  }
  assert.deepEqual(asked, [])
})

test('an address of megabytes is not looked for', async () => {
  // Nothing but reading the body is left to do with it, which a body without such an address needs too.
  const read = cases['a resource']!
  const plain: Case = ['/mcp', (text) => ({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text } })]
  const long = '%'.repeat(3_900_000)
  const costOf = async (one: Case): Promise<number> => {
    let least = Infinity
    for (let run = 0; run < 5; run++) {
      const start = performance.now()
      await answerTo(one, long)
      least = Math.min(least, performance.now() - start)
    }
    return least
  }
  const [looked, bare] = [await costOf(read), await costOf(plain)]
  assert.ok(looked < 10 * bare + 20, `${looked} ms, and ${bare} ms`)
})

test('a name of 8 KiB is looked for', async () => {
  const name = 'a'.repeat(8_000)
  assert.match((await answerTo(cases['a tool of MCP']!, name))[1], /Unknown tool: a+/)
  assert.match((await answerTo(cases['a thread']!, name))[1], /RUN_FINISHED/)
  assert.match((await answerTo(cases['a resource']!, `docs://${name}`))[1], /About a{8000}/)
  assert.match((await answerTo(cases['a resource']!, `docs://${'a'.repeat(8_186)}`))[1],
    /params\.uri must be a string of at most 8192 bytes/)
})

test('a resource whose address is longer than any that is read is refused', () => {
  assert.throws(() => defineResource({ uri: `docs://${'a'.repeat(8_186)}`, name: 'a', read: () => '' }),
    { name: 'TypeError', message: /more than 8192 bytes/ })
})

const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
const wide = (objects: number): string => `{"a":[${'{},'.repeat(objects - 3)}{}]}`

/** A JSON text in the arguments of a call, where each kind of client sends them. */
const withArguments: Readonly<Record<string, (...texts: readonly string[]) => Case>> = {
  'chat completions': (...texts) => ['/v1/chat/completions', () => ({ model: 'echo', messages: [
    { role: 'assistant', content: '', tool_calls: texts.map((text, index) => (
      { id: `${index}`, type: 'function', function: { name: 'f', arguments: text } })) }, user,
  ] })],
  'Responses': (...texts) => ['/v1/responses', () => ({ model: 'echo', input: [
    ...texts.map((text, index) => (
      { type: 'function_call', call_id: `${index}`, name: 'f', arguments: text })),
    user,
  ] })],
  'AG-UI': (...texts) => ['/agents/echo/agui', () => ({ ...thread, messages: [
    { id: '0', role: 'assistant', toolCalls: texts.map((text, index) => (
      { id: `${index}`, type: 'function', function: { name: 'f', arguments: text } })) },
    ...thread.messages,
  ] })],
}

test('JSON in a text of a body has the bounds of the body', async () => {
  for (const [what, one] of Object.entries(withArguments)) {
    const ask = async (...texts: readonly string[]): Promise<string> => {
      const [status, text] = await answerTo(one(...texts), '')
      return status === 200 ? 'taken' : text
    }
    assert.equal(await ask(nested(64)), 'taken', what)
    assert.match(await ask(nested(65)), /arguments must be .*nested deeper than 64 levels/, what)
    assert.equal(await ask(wide(100_000)), 'taken', what)
    assert.match(await ask(wide(100_001)), /arguments must be .*more than 100000 objects and lists/, what)
    // Together too.
    assert.equal(await ask(wide(50_000), wide(50_000)), 'taken', what)
    assert.match(await ask(wide(50_000), wide(50_001)), /holds more than 50000 objects and lists/, what)
    // Brackets in a text are none.
    assert.equal(await ask(`{"a":"${'[{'.repeat(100_000)}"}`, wide(99_999)), 'taken', what)
  }
})
