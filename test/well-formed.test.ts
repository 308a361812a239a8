/** What goes out is well-formed Unicode, whatever authors and clients put in. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { eventReader } from '../lib/floors/outbound/event-reader.ts'
import { Fault, memoryStore, openaiAgent, serveStdio } from '../lib/index.ts'
import { eventually, request, serve } from './fixtures/client.ts'
import { portOf } from './fixtures/listening.ts'
import { webhook } from './fixtures/webhook.ts'
import type { Call, TriportServer } from '../lib/index.ts'

type Json = any

/** The first half of a character, its second half, and what is written for one that is alone. */
const [FIRST, SECOND, ALONE] = ['\ud83d', '\ude00', '\ufffd']

/** The JSON values of an answer, or of each event of a stream, which then have its name. */
function valuesIn(body: string): readonly Json[] {
  if (!/^(?:id|event|data)?:/.test(body)) return [JSON.parse(body)]
  const values: Json[] = []
  eventReader(({ event, data }) => {
    if (data.startsWith('{')) values.push({ event, ...JSON.parse(data) })
  })(body)
  return values
}

/** Every text and name in a value, also those of JSON in a text. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') {
    return isJson(value) ? [value, ...textsIn(JSON.parse(value))] : [value]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [name, ...textsIn(member)])
}

function isJson(text: string): boolean {
  try {
    return /^[[{"]/.test(text) && JSON.parse(text) !== undefined
  } catch {
    return false
  }
}

function assertWellFormed(body: string, what: string): void {
  const odd = valuesIn(body).flatMap(textsIn).filter((text) => !text.isWellFormed())
  assert.deepEqual(odd, [], what)
}

const rpc = (method: string, params: object): object => ({ jsonrpc: '2.0', id: 1, method, params })
const JSON_RPC = { accept: 'application/json, text/event-stream' }
const V1 = { 'a2a-version': '1.0' }
const message = (text: string, more = {}): object => (
  { messageId: 'm', role: 'ROLE_USER', parts: [{ text }], ...more }
)
const v03 = (text: string): object => (
  { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text }] }
)
const user = { role: 'user', content: 'hi' }
const thread = { threadId: 't', runId: 'r', messages: [{ id: '1', ...user }], tools: [], context: [] }
const chat = { messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }] }

type Ask = readonly [path: string, body?: object | undefined, headers?: Record<string, string>]

async function ask(server: TriportServer, [path, body, headers = {}]: Ask): Promise<string> {
  return (await server.fetch(request(path, body, headers))).text()
}

type Reader = (event: Json) => unknown

/** How each protocol streams, and what is a piece of text, and of reasoning, in it. */
const streams: Readonly<Record<string, readonly [Ask, textOf: Reader, reasoningOf?: Reader]>> = {
  'a query': [
    ['/', { query: 'hi', stream: true }], ({ event, text }) => event === 'delta' && text,
    ({ event, text }) => event === 'reasoning' && text,
  ],
  'chat completions': [
    ['/v1/chat/completions', { model: 'agent', messages: [user], stream: true }],
    ({ choices: [choice] }) => choice?.delta.content,
    ({ choices: [choice] }) => choice?.delta.reasoning_content,
  ],
  'Responses': [
    ['/v1/responses', { model: 'agent', input: 'hi', stream: true }],
    ({ type, delta }) => type === 'response.output_text.delta' && delta,
    ({ type, delta }) => /reasoning.*delta$/.test(type) && delta,
  ],
  'AG-UI': [
    ['/agents/agent/agui', thread], ({ type, delta }) => type === 'TEXT_MESSAGE_CONTENT' && delta,
    ({ type, delta }) => /REASONING.*CONTENT/.test(type) && delta,
  ],
  'the UI stream': [
    ['/agents/agent/ui-stream', chat], ({ type, delta }) => type === 'text-delta' && delta,
    ({ type, delta }) => type === 'reasoning-delta' && delta,
  ],
  'A2A 1.0': [
    ['/a2a', rpc('SendStreamingMessage', { message: message('hi') }), V1],
    ({ result }) => result.artifactUpdate?.artifact.parts[0].text,
  ],
  'A2A 1.0 as HTTP': [
    ['/message:stream', { message: message('hi') }, V1],
    ({ artifactUpdate }) => artifactUpdate?.artifact.parts[0].text,
  ],
  'A2A 0.3': [
    ['/a2a', rpc('message/stream', { message: v03('hi') })],
    ({ result: { kind, artifact } }) => kind === 'artifact-update' && artifact.parts[0].text,
  ],
  'MCP': [
    ['/mcp', rpc('tools/call', {
      name: 'execute_agent_task', arguments: { prompt: 'hi' }, _meta: { progressToken: 1 },
    }), JSON_RPC], ({ params }) => params?.message,
  ],
}

/** Pieces as models give them, cut anywhere. */
async function* inHalves(_prompt: string, call: Call): AsyncGenerator<any> {
  call.event({ type: 'reasoning', text: `r${FIRST}` })
  call.event({ type: 'reasoning', text: `${SECOND}s${FIRST}` })
  yield `a${FIRST}`
  yield SECOND
  yield { type: 'text', text: FIRST }
  yield { text: `${SECOND}b` }
  yield FIRST
  yield ''
  yield `${SECOND}c${SECOND}`
  yield FIRST
  yield { type: 'resource_link', uri: 'https://example.com/', name: 'link' }
  yield `${SECOND}d${FIRST}`
}
const BEFORE_LINK = `a😀😀b😀c${ALONE}${ALONE}`
const AFTER_LINK = `${ALONE}d${ALONE}`

test('a piece of a stream ends with no half of a character, which waits for the other', async (t) => {
  const server = serve(t, { agents: [{ name: 'Agent', run: inHalves }], protocol: 'all' })
  const isText = (text: unknown): text is string => typeof text === 'string' && text !== ''
  for (const [protocol, [asked, textOf, reasoningOf]] of Object.entries(streams)) {
    const body = await ask(server, asked)
    assertWellFormed(body, protocol)
    const events = valuesIn(body)
    const texts = events.map(textOf).filter(isText)
    assert.ok(texts.length >= 5, `${protocol} ${JSON.stringify(texts)}`)
    const whole = texts.join('')
    assert.ok(whole.startsWith(BEFORE_LINK) && whole.endsWith(AFTER_LINK), `${protocol} ${whole}`)
    if (reasoningOf === undefined) continue
    const reasoning = events.map(reasoningOf)
    assert.deepEqual([...new Set(reasoning.filter(isText))], ['r', '😀s', ALONE], protocol)
    assert.ok(reasoning.indexOf(ALONE) < events.map(textOf).indexOf('a'), protocol)
  }
})

const linesOf = (text: string): readonly Json[] => (
  text.split('\n').filter(Boolean).map((line) => JSON.parse(line))
)

test('the same of an editor, and what a process with lines says', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  let said = ''
  output.on('data', (chunk) => { said += String(chunk) })
  const agent = { name: `Name ${FIRST}`, run: inHalves }
  const over = serveStdio(agent as never, { protocol: 'acp', input, output, log: false })
  const send = async (method: string, params: object): Promise<Json> => {
    const id = said.length + 1
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    await eventually(() => said.includes(`"id":${id},`))
    return linesOf(said).find((one) => one.id === id)?.result
  }
  await send('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await send('session/new', { cwd: process.cwd(), mcpServers: [] })
  await send('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'hi' }] })
  input.end()
  await over
  assert.deepEqual(textsIn(linesOf(said)).filter((text) => !text.isWellFormed()), [])
  const chunks = (kind: string): string => linesOf(said).map(({ params }) => params?.update)
    .filter((update) => update?.sessionUpdate === kind).map(({ content }) => content.text ?? '|').join('')
  assert.equal(chunks('agent_message_chunk'), `${BEFORE_LINK}|${AFTER_LINK}`)
  assert.equal(chunks('agent_thought_chunk'), `r😀s${ALONE}`)
})

const odd = `x${FIRST}y`
const mended = `x${ALONE}y`
/** A value in which texts and names have halves. */
const value = { [odd]: [odd, { deep: SECOND }], fine: '😀' }

/** Every kind of thing that an author writes. */
function halves(t: Parameters<typeof serve>[0], more: object = {}): TriportServer {
  const run = (prompt: string, call: Call): unknown => {
    if (prompt === 'fail') throw new Fault('invalid', `Bad ${odd}`, { [odd]: odd })
    if (prompt === 'data') return { text: odd, data: value, content: [{ type: 'data', data: value }] }
    if (prompt === 'ask') return { text: odd, state: 'input-required' }
    call.event({ type: 'tool-call', id: odd, name: odd, args: value })
    call.event({ type: 'tool-result', id: odd, result: value })
    call.progress(1, 2, odd)
    const parts = [odd, { type: 'data' as const, data: value }]
    call.artifact({ id: 'report', name: odd, description: odd, parts, metadata: value })
    return `${odd} ${call.history.map(({ content }) => content).join()}`
  }
  return serve(t, {
    name: odd,
    agents: [{ name: `Agent ${odd}`, id: 'agent', description: odd, run } as never],
    tools: [
      { name: 'odd', title: odd, description: odd, run: () => value },
      { name: 'text', description: odd, run: () => odd },
      { name: 'blocks', description: odd, run: () => [
        { type: 'text', text: odd, _meta: value }, { type: 'resource_link', uri: 'a:b', name: odd },
        { type: 'resource', resource: { uri: 'a:b', text: odd } },
      ] },
      { name: 'fails', description: odd, run: () => { throw new Fault('failed', odd, value) } },
      { name: 'says', description: odd, run: (_: unknown, call: Call) => {
        call.progress(1, 2, odd)
        call.log('info', value, odd)
        return { content: [odd], _meta: value }
      } },
      { name: 'pieces', description: odd, run: () => [`a${FIRST}`, SECOND, FIRST].values() },
    ],
    resources: [{ uri: 'docs://a', name: odd, description: odd, read: () => odd }],
    prompts: [{ name: 'greet', description: odd, get: () => odd }],
    protocol: 'all', ...more,
  } as never)
}

const tool = (name: string): Ask => (
  ['/mcp', rpc('tools/call', { name, arguments: {}, _meta: { progressToken: odd } }), JSON_RPC]
)
const execute = (prompt: string): Ask => (
  ['/mcp', rpc('tools/call', { name: 'execute_agent_task', arguments: { prompt } }), JSON_RPC]
)

const prompts = ['hi', 'fail', 'data', 'ask', odd]

/** What is asked; each answer has a half of a character somewhere. */
const answers: readonly Ask[] = [
  ...['odd', 'text', 'blocks', 'fails', 'says', 'pieces', odd].map(tool),
  ...prompts.map(execute),
  ...['tools', 'prompts', 'resources'].map((what): Ask => ['/mcp', rpc(`${what}/list`, {}), JSON_RPC]),
  ['/mcp', rpc(odd, {}), JSON_RPC], ['/mcp', { ...rpc('tools/list', {}), id: odd }, JSON_RPC],
  ['/mcp', rpc('resources/read', { uri: 'docs://a' }), JSON_RPC],
  ['/mcp', rpc('resources/read', { uri: odd }), JSON_RPC],
  ['/mcp', rpc('prompts/get', { name: 'greet' }), JSON_RPC],
  ['/mcp', rpc('initialize', {
    protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: odd, version: '1' },
  }), JSON_RPC],
  ...prompts.flatMap((prompt): readonly Ask[] => [
    ['/', { query: prompt }], ['/', { query: prompt, stream: true }],
    ['/v1/chat/completions', { model: 'agent', messages: [{ role: 'user', content: prompt }] }],
    ['/v1/chat/completions', { model: 'agent', messages: [{ role: 'user', content: prompt }], stream: true }],
    ['/v1/responses', { model: 'agent', input: prompt, metadata: { [odd]: odd }, user: odd }],
    ['/v1/responses', { model: 'agent', input: prompt, stream: true }],
    ['/agents/agent/agui', { ...thread, runId: odd, messages: [{ id: '1', role: 'user', content: prompt }] }],
    ['/agents/agent/ui-stream', {
      messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: prompt }] }],
    }],
    ['/a2a', rpc('SendMessage', { message: message(prompt, { contextId: odd, metadata: value }) }), V1],
    ['/a2a', rpc('SendStreamingMessage', { message: message(prompt) }), V1],
    ['/message:send', { message: message(prompt) }, V1],
    ['/message:stream', { message: message(prompt) }, V1],
    ['/a2a', rpc('message/send', { message: v03(prompt) })],
    ['/a2a', rpc('message/stream', { message: v03(prompt) })],
    ['/a2a', rpc('message/send', { message: { role: 'user', parts: [{ type: 'text', text: prompt }] } })],
  ]),
  ['/a2a', rpc('ListTasks', {}), V1], ['/tasks', undefined, V1],
  ['/tools/odd', {}], ['/tools/text', {}], ['/tools/blocks', {}], ['/tools/fails', {}],
  ['/tools/says', {}, { accept: 'text/event-stream' }], ['/tools'], ['/agents'], ['/prompts'], ['/resources'],
  ['/prompts/greet', {}], ['/openapi.json'], ['/.well-known/agent-card.json'], ['/health'], ['/status'],
  ['/'], ['/v1/models'],
  ['/', { query: 7, [odd]: 1 }],
  ['/v1/chat/completions', { model: odd, messages: [user] }],
  ['/v1/responses', { model: 'agent', input: 'hi', previous_response_id: odd }],
]

test('half of a character is U+FFFD in every answer, in names and errors too', async (t) => {
  const server = halves(t)
  let seen = 0
  for (const asked of answers) {
    const body = await ask(server, asked)
    assertWellFormed(body, JSON.stringify(asked))
    if (body.includes(ALONE)) seen++
  }
  assert.ok(seen > answers.length * 0.8, `${seen} of ${answers.length} have one`)
  // Where no JSON is around a text, it is U+FFFD as well.
  const read = await server.fetch(request('/resources/read?uri=docs%3A%2F%2Fa'))
  assert.equal(await read.text(), mended)
})

test('what is kept in a store, posted to a webhook and sent to a model is well-formed too', async (t) => {
  const memory = memoryStore({ isShared: true })
  const kept: string[] = []
  const store = {
    ...memory,
    write(...[key, value, ...rest]: Parameters<typeof memory.write>) {
      kept.push(value)
      return memory.write(key, value, ...rest)
    },
    publish(...[topic, text, ...rest]: Parameters<typeof memory.publish>) {
      kept.push(text)
      return memory.publish(topic, text, ...rest)
    },
  }
  const hook = await webhook(t)
  const push = { allowInsecure: true, allowPrivate: true }
  const server = halves(t, { store, secret: 'the secret of all', a2a: { pushNotifications: push } })
  for (const prompt of ['hi', 'data', 'ask', odd]) {
    await ask(server, ['/', { query: prompt, session_id: 'session-1' }])
    await ask(server, ['/v1/responses', { model: 'agent', input: prompt }])
    const configuration = { taskPushNotificationConfig: { url: hook.url, token: 'token' } }
    await ask(server, ['/a2a', rpc('SendMessage', { message: message(prompt), configuration }), V1])
  }
  assertWellFormed(await ask(server, ['/conversations']), 'conversations')
  assertWellFormed(await ask(server, ['/conversations/session-1']), 'a conversation')
  for (const { body } of await hook.until(4)) assertWellFormed(body, body)
  assert.ok(hook.received.some(({ body }) => body.includes(ALONE)))
  for (const one of kept) {
    assert.ok(textsIn(one).every((text) => text.isWellFormed()), one)
  }
  assert.ok(kept.filter((one) => one.includes(ALONE)).length > 4, String(kept.length))

  const asked: string[] = []
  const model = createServer((incoming, response) => {
    let body = ''
    incoming.setEncoding('utf8').on('data', (chunk) => { body += chunk }).on('end', () => {
      asked.push(body)
      response.setHeader('content-type', 'text/event-stream')
      for (const content of [`p${FIRST}`, `${SECOND}q${FIRST}`]) {
        response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
      }
      response.end('data: [DONE]\n\n')
    })
  })
  const baseUrl = `http://127.0.0.1:${await portOf(t, model)}/v1`
  const agent = openaiAgent({ baseUrl, model: 'm', name: 'Agent', log: false } as never)
  const behind = serve(t, { agents: [agent] })
  const answer = JSON.parse(await ask(behind, ['/', { query: odd }]))
  assert.equal(answer.response, `p😀q${ALONE}`)
  assert.ok(asked.length > 0)
  for (const body of asked) assertWellFormed(body, 'what a model is asked')
})
