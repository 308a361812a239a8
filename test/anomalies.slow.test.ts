/**
 * The k-th write, timer, call of the store or of a handler fails, for every k of a short script of requests
 * at every door. The process lives, each client gets an answer or a closed connection, and nothing stays
 * taken.
 *
 * `npm run test:slow` takes every k, `npm test` some of them.
 */
import assert from 'node:assert/strict'
import { createServer as createHttp, request as httpRequest } from 'node:http'
import test from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createServer, memoryStore } from '../lib/index.ts'
import { failing, Fuse } from './fixtures/fuse.ts'
import type { AddressInfo, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { TriportServer } from '../lib/index.ts'

const IS_SLOW = process.env['LEAVERS_SECONDS'] !== undefined
/** Of how many k one is taken. */
const STEP = IS_SLOW ? 1 : 5
/** The longest that a client waits for its answer, or for the end of its connection. */
const ANSWER_MS = 30_000

/** A house whose parts can fail, each by a fuse of its own. */
interface House {
  readonly server: TriportServer
  /** Of a server of its own, and of one that has its handler. */
  readonly ports: readonly number[]
  readonly fuses: Readonly<Record<'store' | 'handler' | 'write' | 'timer', Fuse>>
}

async function house(t: TestContext, isShared: boolean): Promise<House> {
  const fuses = { store: new Fuse(), handler: new Fuse(), write: new Fuse(), timer: new Fuse() }
  const fail = (): void => { if (fuses.handler.burns()) throw new Error('The handler fails') }
  const server = createServer({
    protocol: 'all', log: false, graceMs: 0, heartbeatMs: 50,
    ...isShared && {
      store: failing(memoryStore({ isShared }), fuses.store), secret: 'the secret of them all',
    },
    agents: [{
      name: 'Bot', description: 'Answers.',
      async * run(prompt) {
        fail()
        yield prompt
        await pause(1)
        fail()
        yield '!'
      },
    }],
    tools: [{
      name: 'work', description: 'Works.', inputSchema: { type: 'object' },
      run: async (_, call) => {
        fail()
        call.progress(1, 2)
        await pause(1)
        fail()
        return 'done'
      },
    }],
    prompts: [{ name: 'hello', description: 'Greets.', get: () => { fail(); return 'Hello' } }],
    resources: [{ uri: 'x:1', name: 'one', read: async () => { fail(); return 'One' } }],
  })
  t.after(() => server.close())
  const sockets = new WeakSet<Socket>()
  const host = createHttp(server.handler).on('connection', (socket) => {
    sockets.add(socket)
    const write = socket.write.bind(socket) as (...all: readonly unknown[]) => boolean
    socket.write = ((...all: readonly unknown[]) => {
      if (!fuses.write.burns()) return write(...all)
      socket.destroy(new Error('The write fails'))
      return false
    }) as typeof socket.write
  })
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  t.after(() => { host.closeAllConnections(); host.close() })
  const { setTimeout: set } = globalThis
  t.after(() => { globalThis.setTimeout = set })
  globalThis.setTimeout = ((...all: Parameters<typeof setTimeout>) => {
    if (fuses.timer.burns()) throw new Error('The timer fails')
    return set(...all)
  }) as typeof setTimeout
  const { port } = await server.listen(0)
  return { server, ports: [port, (host.address() as AddressInfo).port], fuses }
}

const rpc = (method: string, params: object): object => ({ jsonrpc: '2.0', id: 1, method, params })
const JSON_RPC = { accept: 'application/json, text/event-stream' }
const MODERN = {
  ...JSON_RPC, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'work',
}
const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const V1 = { 'a2a-version': '1.0' }
const parts = [{ text: 'hi' }]
const message = { messageId: 'm', role: 'ROLE_USER', parts }
const old = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }] }
const chat = { model: 'bot', messages: [{ role: 'user', content: 'hi' }] }
const asked = { id: '1', role: 'user' }
type Step = readonly [path: string, body?: object, headers?: Readonly<Record<string, string>>]
const script: readonly Step[] = [
  ['/health'],
  ['/', { query: 'hi', session_id: 'session-1' }],
  ['/', { query: 'hi', stream: true }, { 'idempotency-key': 'key-1' }],
  ['/tools/work', {}],
  ['/tools/work', {}, { accept: 'text/event-stream' }],
  ['/prompts/hello', {}],
  ['/resources/read?uri=x:1'],
  ['/v1/chat/completions', chat],
  ['/v1/chat/completions', { ...chat, stream: true }],
  ['/v1/chat/completions', { ...chat, stream: true }, { 'idempotency-key': 'key-2' }],
  ['/v1/responses', { model: 'bot', input: 'hi' }],
  ['/v1/responses', { model: 'bot', input: 'hi', stream: true }],
  ['/v1/responses', { model: 'bot', input: 'hi', background: true }],
  ['/agui', { threadId: 'thread-1', runId: 'run-1', messages: [{ ...asked, content: 'hi' }] }],
  ['/ui-stream', { id: 'chat-0001', messages: [{ ...asked, parts: [{ type: 'text', text: 'hi' }] }] }],
  ['/mcp', rpc('initialize', {
    protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' },
  }), JSON_RPC],
  ['/mcp', rpc('tools/call', { name: 'work', arguments: {} }), JSON_RPC],
  ['/mcp', rpc('tools/call', { name: 'work', arguments: {}, _meta: modern }), MODERN],
  ['/mcp', rpc('resources/read', { uri: 'x:1' }), JSON_RPC],
  ['/messages/', rpc('tools/call', { name: 'work', arguments: {} })],
  ['/a2a', rpc('SendMessage', { message }), V1],
  ['/a2a', rpc('SendStreamingMessage', { message }), V1],
  ['/message:send', { message, configuration: { returnImmediately: true } }, V1],
  ['/message:stream', { message }, V1],
  ['/a2a', rpc('message/send', { message: old })],
  ['/a2a', rpc('message/stream', { message: old })],
  ['/a2a', rpc('message/send', { message: { role: 'user', parts } })],
]

/** Resolves when the answer has come to its end, or its connection has. */
function ask(
  port: number, path: string, body?: object, headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setInterval(() => {
      clearInterval(timer)
      reject(new Error(`${path} got neither an answer nor an end`))
    }, ANSWER_MS)
    const done = (): void => {
      clearInterval(timer)
      resolve()
    }
    const one = httpRequest({
      port, path, method: body === undefined ? 'GET' : 'POST', agent: false,
      headers: { ...body !== undefined && { 'content-type': 'application/json' }, ...headers },
    })
    one.on('error', done).on('close', done)
    one.on('response', (response) => response.resume().on('error', done))
    one.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** The same without a socket. */
async function fetchFrom(
  server: TriportServer, path: string, body?: object, headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const late = new AbortController()
  const silence = pause(ANSWER_MS, undefined, { signal: late.signal }).then(() => {
    throw new Error(`${path} got neither an answer nor an end by fetch`)
  })
  const answered = server.fetch(new Request(`http://localhost${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...body !== undefined && { 'content-type': 'application/json' }, ...headers },
    ...body !== undefined && { body: JSON.stringify(body) },
  })).then((answer) => answer.text())
  await Promise.race([answered, silence]).finally(() => late.abort())
}

/** Waits until what is taken is what it was, and says what was there instead. */
async function settled(taken: () => object, nothing: object, when: string): Promise<void> {
  for (const end = performance.now() + ANSWER_MS; ; await pause(10)) {
    if (JSON.stringify(taken()) === JSON.stringify(nothing)) return
    if (performance.now() > end) return assert.deepEqual(taken(), nothing, when)
  }
}

for (const part of ['store', 'handler', 'write', 'timer'] as const) {
  test(`whichever ${part} fails, the process lives and nothing stays taken`, async (t) => {
    const { server, ports, fuses } = await house(t, part === 'store')
    const taken = (): object => {
      const { calls, streams, bodies, tasks: { running }, mcp } = server.status()
      return { calls, streams, bodies, running, subscribers: mcp?.subscribers }
    }
    const nothing = taken()
    const fuse = fuses[part]
    const doors = [
      (step: Step) => ask(ports[0]!, ...step), (step: Step) => ask(ports[1]!, ...step),
      (step: Step) => fetchFrom(server, ...step),
    ]
    let count = 0
    for (const door of part === 'write' ? doors.slice(1, 2) : doors) {
      for (let k = 1; ; k += STEP) {
        fuse.arm(k)
        await Promise.all(script.map(door))
        const { isBlown } = fuse
        fuse.arm(0)
        await settled(taken, nothing, `after the ${part} ${k}`)
        if (!isBlown) break
        count++
      }
    }
    t.diagnostic(`${count} of them failed`)
    assert.ok(count > 0)
    const answer = await server.fetch(new Request('http://localhost/', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"hi"}',
    }))
    assert.equal(((await answer.json()) as { response: string }).response, 'hi!')
  })
}
