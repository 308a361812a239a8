/**
 * What is answered while the store that processes share is away: row by row, over real sockets, where it
 * hangs and where it fails. One of two processes has lost it; the other has not.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { eventually, gate, listen } from './fixtures/client.ts'
import { sharedMemory } from './fixtures/fleet.ts'
import { withMeta } from './parts/mcp/client.ts'
import { EventStream } from './fixtures/events.ts'
import type { TestContext } from 'node:test'
import type { Call, Store, TriportServer } from '../lib/index.ts'
import type { Json } from './fixtures/events.ts'

/** How a store is away: nothing is answered, or everything fails at once. */
const ways = ['hangs', 'fails'] as const
type Way = typeof ways[number]

/** A store that can be put away. */
interface Cable { readonly store: Store; isCut: boolean }

function cable(memory: Store, way: Way): Cable {
  const act = async <T>(work: () => T): Promise<Awaited<T>> => {
    if (made.isCut && way === 'fails') throw new Error('ECONNREFUSED')
    if (made.isCut) await new Promise(() => {})
    await new Promise((resolve) => setImmediate(resolve))
    return await work()
  }
  const made: Cable = {
    isCut: false,
    store: {
      isShared: true,
      read: (...all) => act(() => memory.read(...all)),
      write: (...all) => act(() => memory.write(...all)),
      remove: (...all) => act(() => memory.remove(...all)),
      list: (...all) => act(() => memory.list(...all)),
      publish: (...all) => act(() => memory.publish(...all)),
      follow: (topic, from, listener) => act(() => memory.follow(topic, from, (text) => {
        if (!made.isCut) setImmediate(() => listener(text))
      })),
    },
  }
  return made
}

const TASKS = 'io.modelcontextprotocol/tasks'
const ACCEPT = 'application/json, text/event-stream'
const RPC = { jsonrpc: '2.0' }
const clientInfo = { name: 'me', version: '1' }

/** Sends something to a server. */
type Send = (
  path: string, body?: object, headers?: Record<string, string>, method?: string,
) => Promise<Response>

function senderTo(url: string): Send {
  return (path, body, headers = {}, method = body === undefined ? 'GET' : 'POST') => fetch(url + path, {
    method, headers: { 'accept': ACCEPT, 'content-type': 'application/json', ...headers },
    ...body !== undefined && { body: JSON.stringify(body) },
  })
}

/** The two processes, and what was begun there before the store went away. */
interface World {
  readonly here: TriportServer
  readonly cable: Cable
  readonly at: Send
  readonly logged: string[]
  /** A session of 2025-11-25 that this process knows, and one that only the other knows. */
  readonly known: Record<string, string>
  readonly foreign: Record<string, string>
  /** The id of a question that the other process has asked in the first session. */
  readonly question: string
  /** The last event id of a stream of the other process. */
  readonly event: string
  /** The path of a pair whose stream is at the other process. */
  readonly pair: string
  /** Tasks: of A2A at the other process and here, and of MCP at the other process. */
  readonly task: string
  readonly ownTask: string
  readonly mcpTask: string
}

async function opened(send: Send): Promise<Record<string, string>> {
  const response = await send('/mcp', {
    ...RPC, id: 0, method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo },
  })
  await response.text()
  return { 'mcp-session-id': String(response.headers.get('mcp-session-id')) }
}

async function world(
  t: TestContext, way: Way, before: (world: World) => Promise<void> = async () => {},
): Promise<World> {
  const { memory } = sharedMemory()
  const logged: string[] = []
  const [never, cables] = [gate(), [cable(memory, way), cable(memory, way)] as const]
  t.after(() => { for (const one of cables) one.isCut = false })
  const empty = { type: 'object' } as const
  const form = { type: 'object', properties: { name: { type: 'string' } } } as const
  const servers = await Promise.all(cables.map(({ store }, at) => listen(t, {
    name: 'Away', protocol: 'all', store, leaseMs: 60_000, storeTimeoutMs: 500, metrics: true,
    log: (level, message) => { if (at === 0) logged.push(`${level}: ${message}`) },
    a2a: { pushNotifications: true },
    agents: [
      {
        name: 'Echo',
        run: (prompt) => prompt === 'wait' ? never.promise.then(() => '') : `You said ${prompt}`,
      },
      { name: 'Plain', replies: 'message', run: (prompt) => `You said ${prompt}` },
    ],
    tools: [
      { name: 'say', description: 'Says.', inputSchema: empty, run: () => 'said' },
      {
        name: 'ask', description: 'Asks.', inputSchema: empty,
        run: async (_args, call) => (await call.elicit({ message: 'Name?', schema: form })).action,
      },
      {
        name: 'may', description: 'May be a task.', inputSchema: empty, task: 'optional',
        run: () => later('done'),
      },
      {
        name: 'must', description: 'Is a task.', inputSchema: empty, task: 'required',
        run: () => never.promise,
      },
    ],
    resources: [{ uri: 'a:b', name: 'a', read: () => 'b' }],
  })))
  const [at, there] = servers.map(({ url }) => senderTo(url)) as [Send, Send]
  const [known, foreign, asking] = [await opened(at), await opened(there), await opened(there)]
  const stream = new EventStream(await there('/mcp', {
    ...RPC, id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} },
  }, asking))
  const asked = await eventOf(stream, 'elicitation/create')
  const pair = new EventStream(await there('/sse'))
  const endpoint = await pair.event()
  t.after(() => Promise.all([stream.cancel(), pair.cancel()]))
  const begin = async (send: Send): Promise<string> => {
    const message = { role: 'ROLE_USER', messageId: 'm1', parts: [{ text: 'wait' }] }
    const params = { message, configuration: { returnImmediately: true } }
    const answer: Json = await (await send('/a2a', { ...RPC, id: 1, method: 'SendMessage', params })).json()
    assert.ok(answer.result?.task, JSON.stringify(answer))
    return answer.result.task.id
  }
  const mcpTask: Json = await (await modern(there, 'tools/call', { name: 'must', arguments: {} })).json()
  const made: World = {
    here: servers[0]!.server, cable: cables[0], at, logged, known, foreign: asking,
    question: asked.message.id, event: asked.id, pair: String(endpoint?.data),
    task: await begin(there), ownTask: await begin(at), mcpTask: mcpTask.result.taskId,
  }
  assert.notEqual(foreign['mcp-session-id'], known['mcp-session-id'])
  await before(made)
  made.cable.isCut = true
  // What is refused in this way is what puts it away.
  await eventually(async () => {
    await (await at('/', { query: 'hi', session_id: 'conversation-0' })).text()
    return made.here.status().store === 'away'
  })
  return made
}

async function later<T>(value: T): Promise<T> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  return value
}

/** The event that carries a message of a method. */
async function eventOf(stream: EventStream, method: string): Promise<{ id: string; message: Json }> {
  for (;;) {
    const event = await stream.event()
    const message: Json = event === undefined || event.data === '' ? {} : JSON.parse(event.data)
    if (message.method === method) return { id: String(event?.id), message }
  }
}

function modern(
  send: Send, method: string, params: Json, headers: Record<string, string> = {},
): Promise<Response> {
  const extensions = { [TASKS]: {} }
  return send('/mcp', { ...RPC, id: 1, method, params: withMeta(params, { capabilities: { extensions } }) }, {
    'mcp-protocol-version': '2026-07-28', 'mcp-method': method,
    ...params.name !== undefined && { 'mcp-name': params.name },
    ...params.taskId !== undefined && { 'mcp-name': params.taskId },
    ...headers,
  })
}

const call = (name: string, more: object = {}): object => (
  { ...RPC, id: 1, method: 'tools/call', params: { name, arguments: {}, ...more } }
)
const a2a = (method: string, params: object): object => ({ ...RPC, id: 1, method, params })
const said = (more: object = {}): object => (
  { message: { role: 'ROLE_USER', messageId: 'm2', parts: [{ text: 'hi' }], ...more } }
)

type Row = readonly [what: string, send: (world: World) => Promise<Response>, status: number, body: RegExp]

const BUSY = /"code":-32603,"message":"Internal error"/
const PROBLEM = /"status":503/

const rows: readonly Row[] = [
  ['a session that is known', ({ at, known }) => at('/mcp', call('say'), known), 200, /"text":"said"/],
  ['a session that is sealed', ({ at, foreign }) => at('/mcp', call('say'), foreign), 200, /"text":"said"/],
  ['a handshake', ({ at }) => at('/mcp', {
    ...RPC, id: 0, method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  }), 200, /"protocolVersion":"2025-11-25"/],
  ['a request of 2026-07-28', ({ at }) => modern(at, 'tools/call', { name: 'say', arguments: {} }), 200,
    /"said"/],
  ['a request without a session', ({ at }) => at('/mcp', call('say')), 200, /"text":"said"/],
  ['the simplest request', ({ at }) => at('/messages/', call('say')), 200, /"text":"said"/],
  ['a query', ({ at }) => at('/', { query: 'hi' }), 200, /You said hi/],
  ['a call of a tool', ({ at }) => at('/tools/say', {}), 200, /"result":"said"/],
  ['a completion', ({ at }) => at('/v1/chat/completions', {
    model: 'echo', messages: [{ role: 'user', content: 'hi' }],
  }), 200, /You said hi/],
  ['a plain message', ({ at }) => at('/a2a', a2a('message/send', {
    message: { role: 'user', parts: [{ text: 'hi' }] },
  })), 200, /You said hi/],
  ['a message to an agent without tasks', ({ at }) => (
    at('/agents/plain/a2a', a2a('SendMessage', said()))
  ), 200, /You said hi/],
  ['cards', ({ at }) => at('/.well-known/agent-card.json'), 200, /"name":"Echo"/],

  ['a tool that may be a task, for who knows tasks', ({ at }) => (
    modern(at, 'tools/call', { name: 'may', arguments: {} })
  ), 200, /"text":"done"/],
  ['a tool that may be a task, for who wants none', ({ at, known }) => at('/mcp', call('may'), known), 200,
    /"text":"done"/],
  ['a tool that may be a task, for who wants one', ({ at, known }) => (
    at('/mcp', call('may', { task: {} }), known)
  ), 503, BUSY],
  ['a tool that is a task', ({ at }) => modern(at, 'tools/call', { name: 'must', arguments: {} }), 503, BUSY],
  ['a tool that is a task, in a session', ({ at, known }) => at('/mcp', call('must', { task: {} }), known),
    503, BUSY],
  ['a message that begins a task', ({ at }) => at('/a2a', a2a('SendMessage', said())), 503, BUSY],
  ['the same of 0.3', ({ at }) => at('/a2a', a2a('message/send', {
    message: { kind: 'message', role: 'user', messageId: 'm2', parts: [{ kind: 'text', text: 'hi' }] },
  })), 503, BUSY],
  ['the same as a stream', ({ at }) => at('/a2a', a2a('SendStreamingMessage', said())), 503, BUSY],
  ['the same over HTTP+JSON', ({ at }) => at('/message:send', said()), 503, /"status":"UNAVAILABLE"/],
  ['the same as a stream over HTTP+JSON', ({ at }) => at('/message:stream', said()), 503,
    /"status":"UNAVAILABLE"/],

  ['an answer for another process', ({ at, foreign, question }) => at('/mcp', {
    ...RPC, id: question, result: { action: 'decline' },
  }, foreign), 503, BUSY],
  ['a POST to a pair elsewhere', ({ at, pair }) => at(pair, call('say')), 503, BUSY],
  ['a stream of another process', ({ at, foreign, event }) => at('/mcp', undefined, {
    ...foreign, 'last-event-id': event,
  }), 503, BUSY],
  ['the cancelling of what nobody knows', ({ at, known }) => at('/mcp', {
    ...RPC, method: 'notifications/cancelled', params: { requestId: 'no such request' },
  }, known), 202, /^$/],
  ['the end of a session', ({ at, known }) => at('/mcp', undefined, known, 'DELETE'), 503, BUSY],
  ['the wish to hear of a resource', ({ at, known }) => at('/mcp', {
    ...RPC, id: 1, method: 'resources/subscribe', params: { uri: 'a:b' },
  }, known), 503, BUSY],
  ['a level of logs', ({ at, known }) => at('/mcp', {
    ...RPC, id: 1, method: 'logging/setLevel', params: { level: 'debug' },
  }, known), 503, BUSY],

  ['a task elsewhere', ({ at, task }) => at('/a2a', a2a('GetTask', { id: task })), 503, BUSY],
  ['a task elsewhere, over HTTP+JSON', ({ at, task }) => at(`/tasks/${task}`), 503, /"status":"UNAVAILABLE"/],
  ['a task here', ({ at, ownTask }) => at('/a2a', a2a('GetTask', { id: ownTask })), 200,
    /TASK_STATE_WORKING/],
  ['the list of tasks', ({ at }) => at('/a2a', a2a('ListTasks', {})), 503, BUSY],
  ['the cancelling of a task elsewhere', ({ at, task }) => at('/a2a', a2a('CancelTask', { id: task })), 503,
    BUSY],
  ['the events of a task elsewhere', ({ at, task }) => at('/a2a', a2a('SubscribeToTask', { id: task })), 503,
    BUSY],
  ['a task of MCP elsewhere', ({ at, mcpTask }) => modern(at, 'tasks/get', { taskId: mcpTask }), 503, BUSY],
  ['an answer to a task elsewhere', ({ at, mcpTask }) => (
    modern(at, 'tasks/update', { taskId: mcpTask, inputResponses: {} })
  ), 503, BUSY],
  ['the cancelling of a task of MCP elsewhere', ({ at, mcpTask }) => (
    modern(at, 'tasks/cancel', { taskId: mcpTask })
  ), 503, BUSY],
  ['the same task in a session', ({ at, known, mcpTask }) => at('/mcp', {
    ...RPC, id: 1, method: 'tasks/get', params: { taskId: mcpTask },
  }, known), 503, BUSY],
  ['its result', ({ at, known, mcpTask }) => at('/mcp', {
    ...RPC, id: 1, method: 'tasks/result', params: { taskId: mcpTask },
  }, known), 503, BUSY],
  ['the wish to hear of it', ({ at, mcpTask }) => (
    modern(at, 'subscriptions/listen', { notifications: { taskIds: [mcpTask] } })
  ), 503, BUSY],
  ['a webhook', ({ at, ownTask }) => at('/a2a', a2a('CreateTaskPushNotificationConfig', {
    taskId: ownTask, url: 'https://93.184.216.34/hook',
  })), 503, BUSY],
  ['the list of tasks of a session', ({ at, known }) => (
    at('/mcp', { ...RPC, id: 1, method: 'tasks/list' }, known)
  ), 503, BUSY],

  ['a query that names a conversation', ({ at }) => (
    at('/', { query: 'hi', session_id: 'conversation-1' })
  ), 503, PROBLEM],
  ['the same as a stream', ({ at }) => (
    at('/', { query: 'hi', session_id: 'conversation-1', stream: true })
  ), 503, PROBLEM],
  ['a tool that names a conversation', ({ at }) => at('/mcp', {
    ...RPC, id: 1, method: 'tools/call',
    params: { name: 'ask_echo', arguments: { message: 'hi', session_id: 'conversation-1' } },
  }), 503, BUSY],
  ['a message of a context', ({ at }) => (
    at('/agents/plain/a2a', a2a('SendMessage', said({ contextId: 'context-1' })))
  ), 503, BUSY],
  ['an idempotency key', ({ at }) => at('/', { query: 'hi' }, { 'idempotency-key': 'k1' }), 503, PROBLEM],
  ['an idempotency key of a tool', ({ at }) => at('/tools/say', {}, { 'idempotency-key': 'k2' }), 503,
    PROBLEM],

  ['whether it is ready', ({ at }) => at('/ready'), 200, /^\{"status":"ready","store":"away"\}$/],
  ['how it is', ({ at }) => at('/health?verbose'), 200, /"store":"away"/],
  ['its metrics', ({ at }) => at('/metrics'), 200, /^triport_store_up 0$/m],
]

for (const way of ways) {
  test(`while the store ${way}, what needs nothing of it is served, and the rest is refused`, async (t) => {
    const made = await world(t, way)
    for (const [what, send, status, body] of rows) {
      await t.test(what, async () => {
        const begun = performance.now()
        const response = await send(made)
        const text = await response.text()
        assert.equal(response.status, status, text)
        assert.match(text, body)
        assert.equal(response.headers.has('retry-after'), status === 503)
        assert.ok(performance.now() - begun < 5_000)
      })
    }
    const told = made.logged.filter((line) => line.startsWith('warning')).toSorted()
    assert.deepEqual([...new Set(told)], told, 'each warning comes once')
  })
}

test('what finds the store gone first is refused when its time is over, and runs no further', async (t) => {
  const memory = sharedMemory().memory
  const lost = cable(memory, 'hangs')
  let aborted = 0
  const wait = (_given: unknown, { signal }: Call): Promise<never> => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      aborted++
      reject(new Error('aborted'))
    })
  })
  const { url, server } = await listen(t, {
    name: 'Away', protocol: 'all', store: lost.store, leaseMs: 60_000, storeTimeoutMs: 200,
    agents: [{ name: 'Echo', run: wait }],
    tools: [{ name: 'must', description: 'Is a task.', task: 'required', run: wait }],
  })
  t.after(() => { lost.isCut = false })
  const at = senderTo(url)
  await (await at('/mcp', call('no such tool'))).text()
  lost.isCut = true
  for (const asked of [
    modern(at, 'tools/call', { name: 'must', arguments: {} }), at('/a2a', a2a('SendMessage', said())),
  ]) {
    const response = await asked
    assert.equal(response.status, 503, await response.text())
    assert.equal(response.headers.get('retry-after'), '1')
  }
  assert.equal(server.status().tasks.running, 0)
  await eventually(() => aborted === 1)
})

for (const way of ways) {
  test(`where the store ${way} before a run ends, its reply is given, with one warning`, async (t) => {
    const { memory } = sharedMemory()
    const [lost, well] = [cable(memory, way), cable(memory, way)]
    t.after(() => { lost.isCut = false })
    const gates = [gate(), gate()]
    const logged: string[] = []
    let runs = 0
    const [here, there] = await Promise.all([lost, well].map(({ store }) => listen(t, {
      name: 'Away', store, leaseMs: 1_000, storeTimeoutMs: 200,
      log: (level, message) => { logged.push(`${level}: ${message}`) },
      agents: [{ name: 'Echo', run: (prompt) => gates[runs++]?.promise.then(() => prompt) ?? prompt }],
    })))
    const at = senderTo(here!.url)
    const keyed = (send: Send): Promise<Response> => send('/', { query: 'hi' }, { 'idempotency-key': 'k' })
    const replies = [at('/', { query: 'hi', session_id: 'conversation-1' }), keyed(at)]
    await eventually(() => runs === 2)
    lost.isCut = true
    for (const one of gates) one.open()
    for (const response of await Promise.all(replies)) {
      assert.equal(response.status, 200)
      assert.match(await response.text(), /"response":"hi"/)
    }
    assert.deepEqual(logged.filter((line) => /could not be kept/.test(line)).toSorted(), [
      'warning: A conversation could not be kept: what follows will not know of it',
      'warning: A reply could not be kept for its Idempotency-Key',
    ])
    // As soon as it can, the process tells that its run is over.
    lost.isCut = false
    await eventually(async () => {
      const response = await keyed(senderTo(there!.url))
      assert.equal(response.status, 409)
      return (await response.text()).includes('has run, but its reply could not be kept')
    })
    assert.equal(runs, 2)
  })
}

test('news of resources reach the clients of their process, with one warning', async (t) => {
  const { cable: lost, here, at, known, logged } = await world(t, 'fails', async ({ at, known }) => {
    const response = await at('/mcp', {
      ...RPC, id: 1, method: 'resources/subscribe', params: { uri: 'a:b' },
    }, known)
    assert.equal(response.status, 200)
  })
  const stream = new EventStream(await at('/mcp', undefined, known))
  t.after(() => stream.cancel())
  for (let turn = 0; turn < 3; turn++) {
    here.catalog.updated('a:b')
    assert.equal((await eventOf(stream, 'notifications/resources/updated')).message.params.uri, 'a:b')
  }
  const warning = 'warning: Updates of resources reach the clients of this process only'
  await eventually(() => logged.includes(warning))
  assert.equal(logged.filter((line) => line === warning).length, 1)
  assert.equal(lost.isCut, true)
})

test('when the store is there again, everything is as before', async (t) => {
  const made = await world(t, 'hangs')
  const { at, cable: lost, here, known, task, mcpTask } = made
  lost.isCut = false
  await eventually(() => here.status().store === 'reached')
  assert.match(made.logged.join('\n'), /The store answers again/)
  assert.equal((await at('/a2a', a2a('GetTask', { id: task }))).status, 200)
  assert.equal((await modern(at, 'tasks/get', { taskId: mcpTask })).status, 200)
  assert.equal((await at('/', { query: 'hi', session_id: 'conversation-1' })).status, 200)
  assert.equal((await at('/mcp', undefined, known, 'DELETE')).status, 200)
  assert.equal((await at('/mcp', call('say'), known)).status, 404)
})

/** A process with a task and without a socket, whose store goes; it prints what comes of its end. */
const ALONE = `
  const memory = memoryStore({ isShared: true })
  let isCut = false
  const store = { isShared: true }
  for (const name of ['read', 'write', 'remove', 'list', 'publish', 'follow']) {
    store[name] = async (...all) => {
      if (isCut) throw new Error('ECONNREFUSED')
      return memory[name](...all)
    }
  }
  const server = createServer({
    store, secret: 'the secret of all servers', storeTimeoutMs: 200, graceMs: 0, log: false, protocol: 'a2a',
    agents: [() => new Promise(() => {})],
  })
  const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' }
  const ask = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    return (await server.fetch(new Request('http://x/a2a', { method: 'POST', headers, body }))).json()
  }
  const message = { role: 'ROLE_USER', messageId: 'm', parts: [{ text: 'hi' }] }
  await ask('SendMessage', { message, configuration: { returnImmediately: true } })
  console.log(server.status().tasks.running + ' runs')
  isCut = true
  while (server.status().store !== 'away') await ask('GetTask', { id: 'x' })
  await server.close()
  console.log('closed')`

test('a server closes without its store also where nothing else keeps its process', () => {
  const library = new URL(`../lib/index.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
  const code = `import { createServer, memoryStore } from ${JSON.stringify(library)}\n${ALONE}`
  const { stdout, stderr, status } = spawnSync(
    process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', timeout: 30_000 },
  )
  assert.equal(stdout, '1 runs\nclosed\n', stderr)
  assert.equal(status, 0)
})
