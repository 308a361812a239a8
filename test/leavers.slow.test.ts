/**
 * Clients that leave at every moment, at every door, by every carrier. When they are gone, every figure that
 * goes up and down is what it was, and every door answers.
 *
 * Seeded: `LEAVERS_SEED` repeats a run, `LEAVERS_SECONDS` makes it longer; `npm run test:slow` does.
 */
import assert from 'node:assert/strict'
import { createServer as createHttp } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2'
import { connect } from 'node:net'
import test from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createServer, memoryStore } from '../lib/index.ts'
import { randomOf } from './fixtures/random.ts'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { ServerOptions, TriportServer } from '../lib/index.ts'

const SECONDS = Number(process.env['LEAVERS_SECONDS'] ?? 2)
const SEED = Number(process.env['LEAVERS_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
/** How many clients there are at one time. */
const AT_ONCE = 24
/** How long what has begun may take to come to its end when nobody is there any more. */
const REST_MS = 60_000
/** How long things are kept for those who come back. */
const KEPT_MS = 200
/** By then what has been kept long enough is gone when something new comes. */
const SWEEP_MS = 1_100
/** How much of the heap may be there that was not before. */
const HEAP_SHARE = 1.1

const rows = (count: number): object[] => (
  Array.from({ length: count }, (_, at) => ({ at, name: `row ${at}` }))
)
const JSON_RPC = { accept: 'application/json, text/event-stream' }
const V1 = { 'a2a-version': '1.0' }
const rpc = (method: string, params: object): object => ({ jsonrpc: '2.0', id: 1, method, params })
const said = (text: string): object => ({ messageId: 'm', role: 'ROLE_USER', parts: [{ text }] })
const old = (text: string): object => ({
  kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text }],
})
const client = { name: 'a', version: '1' }
const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientInfo': client,
  'io.modelcontextprotocol/clientCapabilities': {},
}
const MODERN = { ...JSON_RPC, 'mcp-protocol-version': '2026-07-28' }

/** One way in: a request, which `more` makes as long as is wanted. */
interface Door {
  readonly name: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Left out: GET. */
  readonly body?: (word: string, more: object) => object
  /** It is asked within a session of MCP, each time a new one. */
  readonly isInSession?: true
}

const chat = (word: string): object => ({ model: 'slow', messages: [{ role: 'user', content: word }] })
const asked = { id: '1', role: 'user' }
const doors: readonly Door[] = [
  { name: 'health', path: '/health' },
  { name: 'the docs page', path: '/docs' },
  { name: 'metrics', path: '/metrics' },
  { name: 'the card', path: '/.well-known/agent-card.json' },
  { name: 'a query', path: '/', body: (query, more) => ({ query, ...more }) },
  { name: 'a query as a stream', path: '/agents/slow',
    body: (query, more) => ({ query, stream: true, ...more }) },
  { name: 'chat', path: '/v1/chat/completions', body: (word, more) => ({ ...chat(word), ...more }) },
  { name: 'chat as a stream', path: '/v1/chat/completions',
    body: (word, more) => ({ ...chat(word), stream: true, ...more }) },
  { name: 'a response', path: '/v1/responses', body: (input, more) => ({ model: 'slow', input, ...more }) },
  { name: 'a response as a stream', path: '/v1/responses',
    body: (input, more) => ({ model: 'slow', input, stream: true, ...more }) },
  { name: 'a response in the background', path: '/v1/responses',
    body: (input, more) => ({ model: 'slow', input, background: true, ...more }) },
  { name: 'a run of AG-UI', path: '/agents/slow/agui',
    body: (content, state) => ({
      threadId: 'thread-1', runId: 'run-1', messages: [{ ...asked, content }], state,
    }) },
  { name: 'a chat of the AI SDK', path: '/agents/slow/ui-stream',
    body: (text, more) => ({
      id: 'chat-0001', messages: [{ ...asked, parts: [{ type: 'text', text }] }], ...more,
    }) },
  { name: 'a chat that is read again', path: '/agents/slow/ui-stream/chat-0001/stream' },
  { name: 'a tool', path: '/tools/wait', body: (word, more) => ({ word, ...more }) },
  { name: 'a tool as a stream', path: '/tools/wait', headers: { accept: 'text/event-stream' },
    body: (word, more) => ({ word, ...more }) },
  { name: 'a handshake', path: '/mcp', headers: JSON_RPC,
    body: (_, more) => rpc('initialize', {
      protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client, _meta: more,
    }) },
  { name: 'a call of 2025', path: '/mcp', headers: JSON_RPC,
    body: (word, more) => rpc('tools/call', { name: 'wait', arguments: { word, ...more } }) },
  { name: 'a call in a session', path: '/mcp', headers: JSON_RPC, isInSession: true,
    body: (word, more) => rpc('tools/call', { name: 'wait', arguments: { word, ...more } }) },
  { name: 'the stream of a session', path: '/mcp', headers: { accept: 'text/event-stream' },
    isInSession: true },
  { name: 'a call of 2026', path: '/mcp',
    headers: { ...MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'wait' },
    body: (word, more) => rpc('tools/call', { name: 'wait', arguments: { word, ...more }, _meta: modern }) },
  { name: 'changes of 2026', path: '/mcp',
    headers: { ...MODERN, 'mcp-method': 'subscriptions/listen' },
    body: (_, more) => rpc('subscriptions/listen', {
      notifications: { toolsListChanged: true }, _meta: { ...modern, ...more },
    }) },
  { name: 'a message of MCP without a session', path: '/messages/',
    body: (word, more) => rpc('tools/call', { name: 'wait', arguments: { word, ...more } }) },
  { name: 'a prompt', path: '/prompts/greet', body: (name, more) => ({ name, more: JSON.stringify(more) }) },
  { name: 'a resource', path: '/resources/read?uri=x:long' },
  { name: 'the old stream of MCP', path: '/sse', headers: { accept: 'text/event-stream' } },
  { name: 'a message of 1.0', path: '/a2a', headers: V1,
    body: (word, more) => rpc('SendMessage', { message: said(word), metadata: more }) },
  { name: 'a stream of 1.0', path: '/a2a', headers: V1,
    body: (word, more) => rpc('SendStreamingMessage', { message: said(word), metadata: more }) },
  { name: 'a task of 1.0', path: '/message:send', headers: V1,
    body: (word, more) => ({
      message: said(word), configuration: { returnImmediately: true }, metadata: more,
    }) },
  { name: 'a task of 1.0 as a stream', path: '/message:stream', headers: V1,
    body: (word, more) => ({ message: said(word), metadata: more }) },
  { name: 'a message of 0.3', path: '/a2a',
    body: (word, more) => rpc('message/send', { message: old(word), metadata: more }) },
  { name: 'a stream of 0.3', path: '/a2a',
    body: (word, more) => rpc('message/stream', { message: old(word), metadata: more }) },
  { name: 'a plain message', path: '/a2a',
    body: (word, more) => rpc('message/send', {
      message: { role: 'user', parts: [{ text: word }] }, metadata: more,
    }) },
]

const KEY = 'the key of one client'

const options: ServerOptions = {
  protocol: 'all', metrics: true, log: false, graceMs: 0, maxObjects: 1_000_000, maxDepth: 32,
  // What is kept for those who come back goes soon.
  sessionIdleMs: KEPT_MS, conversationIdleMs: KEPT_MS, taskKeepMs: KEPT_MS, waitingTaskKeepMs: KEPT_MS,
  replayMs: KEPT_MS, resumeMs: KEPT_MS, idempotencyKeepMs: KEPT_MS,
  heartbeatMs: 50, checkIntervalMs: 100, cancelWaitMs: 100,
  headersTimeoutMs: 2_000, bodyTimeoutMs: 3_000, leaseMs: 1_000,
  agents: [
    { name: 'Quick', description: 'Answers at once.', run: (prompt) => `You said ${prompt}` },
    {
      name: 'Slow', description: 'Answers piece by piece.',
      async * run(prompt, { signal }) {
        for (let piece = 0; piece < 8 && !signal.aborted; piece++) {
          yield `${prompt} ${'x'.repeat(piece * 500)}`
          await pause(3)
        }
      },
    },
  ],
  prompts: [{
    name: 'greet', description: 'Greets.', arguments: [{ name: 'name' }, { name: 'more' }],
    get: async ({ name = '' }) => {
      await pause(5)
      return `Greet ${name}.`
    },
  }],
  resources: [{
    uri: 'x:long', name: 'long', read: async () => {
      await pause(5)
      return 'x'.repeat(100_000)
    },
  }],
  tools: [{
    name: 'wait', description: 'Waits.', inputSchema: { type: 'object' },
    run: async (_, call) => {
      call.progress(1, 2)
      await pause(5)
      return { content: [{ type: 'text', text: 'x'.repeat(100_000) }] }
    },
  }],
}

/** One request, ready to be sent. */
interface Ready {
  readonly door: Door
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

/** The paths that take a key. */
const KEYED = /^\/(?:$|agents\/|tools\/|v1\/)/

function readyFor(door: Door, random: (below: number) => number, hasKey: boolean): Ready {
  // Most are small, some wait for their turn to be parsed.
  const size = [0, 0, 10, 500, 10_000, 30_000, 30_000, 30_000][random(8)] ?? 0
  const body = door.body === undefined ? undefined : JSON.stringify(door.body('hi', { rows: rows(size) }))
  return {
    door, body,
    headers: {
      ...body !== undefined && { 'content-type': 'application/json' },
      ...hasKey && { 'x-api-key': KEY },
      ...random(3) === 0 && KEYED.test(door.path) && { 'idempotency-key': `key-${random(20)}` },
      ...door.headers,
    },
  }
}

/** How a client talks to the server. It is given a number for each choice that it has, and leaves. */
type Carrier = (ready: Ready, random: (below: number) => number) => Promise<void>

/** Over a socket, byte by byte: it leaves before the head, in it, in the body, behind it, in the answer. */
function overSocket(port: number): Carrier {
  return async ({ door, headers, body }, random) => {
    const isChunked = body !== undefined && random(2) === 0
    const head = [
      `${body === undefined ? 'GET' : 'POST'} ${door.path} HTTP/1.1`, 'Host: localhost',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...body === undefined ? []
        : [isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`],
    ].join('\r\n') + '\r\n\r\n'
    const whole = head + (body === undefined ? '' : isChunked
      ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body)
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.on('close', resolve))
    const moment = random(8)
    const sent = moment === 0 ? 0 : moment === 1 ? random(head.length)
      : moment === 2 ? head.length + random(whole.length - head.length + 1) : whole.length
    // Two of them in a row, sometimes.
    const text = whole.slice(0, sent) + (moment === 7 ? whole : '')
    await Promise.race([closed, new Promise<void>((resolve) => { socket.write(text, () => resolve()) })])
    await leaving(socket, moment, random)
    if (random(2) === 0) socket.destroy()
    else socket.resetAndDestroy()
    await closed
  }
}

/** Waits for the moment: none, some milliseconds, or the beginning of the answer. */
async function leaving(socket: Socket, moment: number, random: (below: number) => number): Promise<void> {
  if (moment < 4) return void await pause(random(3))
  if (moment === 4) return void await pause(random(40))
  let count = random(20_000)
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, 100)
    socket.on('data', (part) => {
      count -= part.length
      if (count > 0) return
      clearTimeout(timer)
      resolve()
    })
    socket.on('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Over HTTP/2: it resets its stream, or takes the connection with it. */
function overHttp2(port: number): Carrier {
  return async ({ door, headers, body }, random) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    session.on('error', () => {})
    const closed = new Promise((resolve) => session.on('close', resolve))
    const stream = session.request({
      ':path': door.path, ':method': body === undefined ? 'GET' : 'POST', ...headers,
    })
    stream.on('error', () => {})
    stream.resume()
    if (body !== undefined) {
      const cut = random(3) === 0 ? random(body.length) : body.length
      stream.write(body.slice(0, cut))
      if (cut === body.length) stream.end()
    }
    await pause(random(30))
    if (random(2) === 0) stream.close(8)
    await pause(random(3))
    session.destroy()
    await closed
  }
}

/** By `fetch`: it aborts its request, stops in the middle of its body, or cancels the answer. */
function overFetch(server: TriportServer): Carrier {
  return async ({ door, headers, body }, random) => {
    const leaving = new AbortController()
    const moment = random(4)
    const bytes = new TextEncoder().encode(body ?? '')
    const stream = body === undefined ? undefined : new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(bytes.subarray(0, bytes.length / 2))
        await pause(random(3))
        if (moment === 0) return controller.error(new Error('gone'))
        controller.enqueue(bytes.subarray(bytes.length / 2))
        controller.close()
      },
    }, { highWaterMark: 0 })
    const answer = server.fetch(new Request(`http://localhost${door.path}`, {
      method: body === undefined ? 'GET' : 'POST', headers, signal: leaving.signal,
      ...stream !== undefined && { body: stream, duplex: 'half' },
    }))
    if (moment === 1) await pause(random(20))
    if (moment <= 1) leaving.abort()
    const response = await answer
    const reader = response.body?.getReader()
    if (moment === 2) await reader?.read().catch(() => {})
    await pause(random(10))
    if (moment === 3) leaving.abort()
    await reader?.cancel().catch(() => {})
  }
}

async function portOf(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** What goes up and down: of the status, and of the metrics; those of the process are other matters. */
async function figuresOf(server: TriportServer): Promise<Readonly<Record<string, unknown>>> {
  const headers = { 'x-api-key': KEY }
  // What is kept for a time is looked through when there is something new.
  await knock(server, '/', { query: 'Knock' })
  await knock(server, '/message:send', { message: said('Knock') }, V1)
  const text = await (await server.fetch(new Request('http://localhost/metrics', { headers }))).text()
  const gauges = new Set([...text.matchAll(/^# TYPE (triport_\w+) gauge$/gm)].map(([, name]) => name))
  const lines = text.split('\n').filter((line) => gauges.has(/^\w+/.exec(line)?.[0]))
  return { ...server.status(), lines }
}

async function knock(
  server: TriportServer, path: string, body: object, headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const answer = await server.fetch(new Request(`http://localhost${path}`, {
    method: 'POST', body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-api-key': KEY, ...headers },
  }))
  assert.equal(answer.status, 200, await answer.text())
}

/** What there is at rest, of knocks so near to each other that none has gone before the next was there. */
async function atRest(figures: () => Promise<unknown>): Promise<unknown> {
  // What is loaded late is loaded by the first.
  for (let isFirst = true; ; isFirst = false) {
    const begun = performance.now()
    const now = await figures()
    if (!isFirst && performance.now() - begun < KEPT_MS / 2) return now
    await pause(SWEEP_MS)
  }
}

/** Waits until something holds, and says what was there instead. */
async function settles(what: string, look: () => Promise<unknown>, owed: unknown): Promise<void> {
  for (const end = performance.now() + REST_MS; ;) {
    const now = await look()
    try {
      return assert.deepEqual(now, owed, what)
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await pause(KEPT_MS + 50)
  }
}

/** The heap, when everything that can go has gone. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let times = 0; times < 3; times++) collect()
  return process.memoryUsage().heapUsed
}

type Ask = (path: string, init: RequestInit) => Promise<Response>

/** Servers that share a store, or one alone, with or without keys, and all ways to them. */
async function house(t: TestContext, hasKey: boolean, isShared: boolean): Promise<{
  readonly servers: readonly TriportServer[]
  readonly carriers: readonly Carrier[]
  /** Ways to ask one of them and to stay: without a socket, at its own, and at that of a host. */
  readonly asks: readonly Ask[]
}> {
  const store = isShared ? memoryStore({ isShared: true }) : undefined
  const servers = Array.from({ length: isShared ? 2 : 1 }, () => createServer({
    ...options, ...store !== undefined && { store, secret: 'the secret of all servers' },
    ...hasKey && { apiKey: [{ id: 'one', key: KEY }] },
  }))
  const carriers: Carrier[] = []
  const asks: Ask[] = []
  for (const server of servers) {
    t.after(() => server.close())
    const { port } = await server.listen(0)
    const hostPort = await portOf(t, createHttp(server.handler))
    asks.push(
      (path, init) => server.fetch(new Request(`http://localhost${path}`, init)),
      ...[port, hostPort].map((at): Ask => (path, init) => fetch(`http://127.0.0.1:${at}${path}`, init)),
    )
    carriers.push(
      overSocket(port), overSocket(hostPort),
      overHttp2(await portOf(t, createHttp2(server.handler as never))), overFetch(server),
    )
  }
  return { servers, carriers, asks }
}

/** The header of a new session. */
async function inSession(server: TriportServer, hasKey: boolean): Promise<Readonly<Record<string, string>>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client }
  const answer = await server.fetch(new Request('http://localhost/mcp', {
    method: 'POST', body: JSON.stringify(rpc('initialize', params)),
    headers: { 'content-type': 'application/json', ...JSON_RPC, ...hasKey && { 'x-api-key': KEY } },
  }))
  await answer.text()
  return { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? assert.fail('no session was begun') }
}

async function run(
  servers: readonly TriportServer[], carriers: readonly Carrier[], random: (below: number) => number,
  hasKey: boolean, seconds: number,
): Promise<readonly string[]> {
  const last: string[] = []
  const end = performance.now() + seconds * 1_000
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (performance.now() < end) {
      const ready = readyFor(doors[random(doors.length)]!, random, hasKey)
      const at = random(carriers.length)
      const server = servers[Math.floor(at / (carriers.length / servers.length))]!
      if (ready.door.isInSession) Object.assign(ready.headers, await inSession(server, hasKey))
      last.push(`${ready.door.name} by ${at}, ${ready.body?.length ?? 0} bytes`)
      if (last.length > 50) last.shift()
      await carriers[at]!(ready, random)
    }
  }))
  return last
}

const houses: readonly (readonly [what: string, hasKey: boolean, isShared: boolean])[] = [
  ['one process without keys', false, false], ['one process with keys', true, false],
  ['two processes on one store', true, true], ['two processes on one store without keys', false, true],
]

for (const [what, hasKey, isShared] of houses) {
  test(`nothing is kept for clients that leave: ${what}, seed ${SEED}`, async (t) => {
    t.diagnostic(`LEAVERS_SEED=${SEED} LEAVERS_SECONDS=${SECONDS}`)
    const warnings: Error[] = []
    const warn = (warning: Error): void => { warnings.push(warning) }
    process.on('warning', warn)
    t.after(() => process.off('warning', warn))
    const random = randomOf(SEED)
    const { servers, carriers, asks } = await house(t, hasKey, isShared)
    const figures = (): Promise<unknown> => Promise.all(servers.map(figuresOf))
    const before = await atRest(figures)
    const share = SECONDS / houses.length
    await run(servers, carriers, random, hasKey, share / 2)
    await settles('after the first half', figures, before)
    const heap = heapBytes()
    const last = await run(servers, carriers, random, hasKey, share / 2)
    await settles(`after ${last.join('; ')}`, figures, before)
    const grown = heapBytes()
    // A short run tells little: caches are still being filled.
    if (SECONDS >= 10) assert.ok(grown < heap * HEAP_SHARE, `the heap was ${heap} bytes and is ${grown}`)
    t.diagnostic(`the heap was ${heap} bytes and is ${grown}`)

    for (const [way, ask] of asks.entries()) {
      const server = servers[Math.floor(way / (asks.length / servers.length))]!
      for (const door of doors.filter(({ body }) => body !== undefined)) {
        const body = JSON.stringify(door.body!('hi', { rows: rows(30_000) }))
        assert.ok(body.length > 900_000)
        const send = async (): Promise<Response> => ask(door.path, {
          method: 'POST', body,
          headers: {
            'content-type': 'application/json', ...hasKey && { 'x-api-key': KEY },
            ...door.isInSession && await inSession(server, hasKey), ...door.headers,
          },
        })
        let answer = await send()
        // Where the machine had no time for this process, the store takes it for dead, a session has gone, or
        // a body is late, and it says so.
        const isLate = async (): Promise<boolean> => (
          (answer.status === 503 && /silent for too long/.test(await answer.clone().text()))
            || (answer.status === 404 && door.isInSession === true) || answer.status === 408
        )
        for (let tries = 0; tries < 20 && await isLate(); tries++) answer = await send()
        const isEndless = door.name === 'changes of 2026' && answer.status === 200
        const text = isEndless ? await answer.body?.cancel() ?? '' : await answer.text()
        assert.equal(answer.status, 200, `${door.name} by way ${way}: ${answer.status} ${text.slice(0, 300)}`)
      }
    }
    await settles('after large bodies', figures, before)
    assert.deepEqual(warnings.map(String), [])
  })
}

test('when servers have closed, no timer and no connection of theirs is left', async (t) => {
  const resources = async (): Promise<readonly string[]> => process.getActiveResourcesInfo().filter(
    (name) => /Timeout|TCP|Immediate/.test(name),
  ).toSorted()
  const before = await resources()
  const { servers, carriers } = await house(t, false, true)
  const some = carriers.filter((_, at) => at % 5 === 0 || at % 5 > 2)
  await run(servers, some, randomOf(SEED), false, SECONDS / 8)
  await Promise.all(servers.map((server) => server.close()))
  // Both servers of `handler` and HTTP/2 are the test's own.
  const own = servers.length * 2
  const more = async (): Promise<number> => Math.max(0, (await resources()).length - before.length - own)
  await settles('what keeps the process', more, 0)
})
