import assert from 'node:assert/strict'
import { createServer as createNode } from 'node:http'
import { connect } from 'node:net'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { opcodes } from '../../lib/http/websocket/frames.ts'
import { dial, eventually, jsonOf, listen, parseAnswers, request, serve } from '../fixtures/client.ts'
import { portOf } from '../fixtures/listening.ts'
import { clientFrame, KEY, openWebSocket, WebSocketClient } from '../fixtures/web-socket.ts'
import type { TestContext } from 'node:test'
import type { Call, ServerOptions, TriportServer } from '../../lib/index.ts'

const { text, continuation, binary, close, ping, pong } = opcodes
const PATH = '/v1/responses'
const create = { type: 'response.create', model: 'agent', input: 'Hello', store: false }

type Headers = Readonly<Record<string, string>>

interface Served {
  readonly server: TriportServer
  readonly port: number
  open(headers?: Headers, path?: string): Promise<WebSocketClient>
}

async function serving(
  t: TestContext, options: Partial<ServerOptions> = {},
  run: (prompt: string, call: Call) => unknown = (prompt) => `You said ${prompt}`,
): Promise<Served> {
  const { server, port } = await listen(t, { agents: [{ name: 'Agent', run: run as never }], ...options })
  return {
    server, port,
    async open(headers, path = PATH) {
      const client = await openWebSocket(port, path, headers)
      t.after(() => client.socket.destroy())
      return client
    },
  }
}

/** All that goes up and down is back. */
function atRest({ server }: Served): Promise<void> {
  return eventually(() => {
    const { bodies, calls, streams } = server.status()
    return bodies.bytes + calls.running + calls.bytes + streams.open + streams.queuedBytes === 0
  })
}

test('a WebSocket is opened, and each message is answered by messages', async (t) => {
  const served = await serving(t)
  const client = await served.open({ upgrade: 'WebSocket', connection: 'keep-alive, Upgrade' })
  assert.match(client.head, /^HTTP\/1\.1 101 .*\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/is)
  assert.doesNotMatch(client.head, /content-length|transfer-encoding/i)
  assert.equal(served.server.status().streams.open, 1)
  for (const input of ['Hello', 'x'.repeat(70_000)]) {
    const last = (await client.turn({ ...create, input })).at(-1)!
    assert.equal(last['response'].output[0].content[0].text, `You said ${input}`)
  }
  client.socket.end(clientFrame(close, Buffer.from([3, 232])))
  await client.closed()
  assert.equal(client.closeCode, 1000)
  await atRest(served)
})

const KEYED: Partial<ServerOptions> = { apiKey: ['the key of one', { id: 'two', key: 'the key of two' }] }
const refusals: readonly (readonly [
  what: string, options: Partial<ServerOptions>, headers: Headers, path: string, status: number,
])[] = [
  ['no key', {}, { 'sec-websocket-key': 'short' }, PATH, 400],
  ['another version', {}, { 'sec-websocket-version': '8' }, PATH, 426],
  ['a path that is unknown', {}, {}, '/nothing', 404],
  ['a path without a WebSocket', {}, {}, '/health', 200],
  ['a path that is only posted to', {}, {}, '/v1/chat/completions', 405],
  ['nobody known', KEYED, {}, PATH, 401],
  ['a wrong key', KEYED, { authorization: 'Bearer wrong' }, PATH, 401],
  ['a key', KEYED, { authorization: 'Bearer the key of one' }, PATH, 101],
  ['a length of zero, as clients of Java have it', {}, { 'content-length': '0' }, PATH, 101],
  ['a page of another origin', {}, { origin: 'https://evil.example' }, PATH, 403],
  ['a page that may call and not read', { allowedOrigins: ['https://app.example'] },
    { origin: 'https://app.example' }, PATH, 403],
  ['a page that may read', { cors: ['https://app.example'] }, { origin: 'https://app.example' }, PATH, 101],
  ['a page of loopback', {}, { origin: 'http://localhost:3000' }, PATH, 101],
  ['a page of loopback, where others may read', { cors: ['https://app.example'] },
    { origin: 'http://localhost:3000' }, PATH, 403],
  ['another name of the server', {}, { host: 'evil.example' }, PATH, 403],
  ['one stream more than there may be', { maxStreams: 1 }, {}, PATH, 101],
]

test('a WebSocket passes the same gate as a request, and is refused in the form of its path', async (t) => {
  for (const [what, options, headers, path, status] of refusals) {
    const served = await serving(t, options)
    const client = await served.open(headers, path)
    assert.equal(client.head.slice(9, 12), String(status), `${what}: ${client.head}`)
    if (status === 101) client.socket.destroy()
    else assert.match(client.head, /\r\nconnection: close/i, what)
    // Upgrade is of this connection alone: RFC 9110 §7.8.
    if (status === 426) assert.match(client.head, /\r\nconnection: upgrade\r\n/i)
    await client.closed()
    await atRest(served)
  }
  const served = await serving(t, { maxStreams: 1 })
  const first = await served.open()
  await served.open()
  const last = await served.open()
  assert.match(last.head, /^HTTP\/1\.1 503 .*\r\nretry-after: 5/is)
  first.socket.destroy()
})

test('what asks for another protocol is answered as if it did not', async (t) => {
  const { port } = await serving(t)
  const body = JSON.stringify({ model: 'agent', input: 'Hello' })
  const wire = await dial(t, port)
  const head = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n`
    + `Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nContent-Type: application/json\r\n`
    + `Content-Length: ${body.length}\r\n\r\n`
  for (const count of [1, 2]) {
    wire.send(head + body.slice(0, 10))
    await sleep(20)
    wire.send(body.slice(10))
    const answers = await wire.answers(count)
    assert.deepEqual(answers.map(({ status }) => status), Array(count).fill(200))
    assert.match(answers.at(-1)!.body, /You said Hello/)
  }
  wire.send('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  assert.equal((await wire.answers(3))[2]!.status, 200)
  const old = await dial(t, port)
  old.send(`GET ${PATH} HTTP/1.0\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
    + `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`)
  assert.equal((await old.answers(1))[0]!.status, 405)
  // As often as it likes.
  const warnings: Error[] = []
  const warn = (warning: Error): void => { warnings.push(warning) }
  process.on('warning', warn)
  t.after(() => process.off('warning', warn))
  for (let count = 4; count < 30; count++) {
    wire.send(head + body)
    assert.equal((await wire.answers(count)).at(-1)!.status, 200)
  }
  assert.deepEqual(warnings.map(String), [])
})

test('a stream that is no WebSocket ends when its client leaves, though it asks for one', async (t) => {
  const served = await serving(t, { protocol: 'all', heartbeatMs: 60_000 })
  for (const leave of ['end', 'destroy', 'resetAndDestroy'] as const) {
    const client = await served.open({ accept: 'text/event-stream' }, '/sse')
    assert.match(client.head, /^HTTP\/1\.1 200/)
    assert.equal(served.server.status().streams.open, 1)
    client.socket[leave]()
    await atRest(served)
  }
})

test('a WebSocket that is asked for behind another request ends the connection', async (t) => {
  const served = await serving(t, {}, async () => {
    await sleep(50)
    return 'late'
  })
  const wire = await dial(t, served.port)
  const body = JSON.stringify({ model: 'agent', input: 'Hello' })
  wire.send(`POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
    + `Content-Length: ${body.length}\r\n\r\n${body}`
    + `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`)
  assert.deepEqual(parseAnswers(await wire.closed()), [])
  await atRest(served)
})

/** What a client does wrong, the status of the error that it gets first, and the code of the close frame. */
const faults: readonly (readonly [
  what: string, bytes: Uint8Array, status: number | undefined, code: number,
])[] = [
  ['a frame without a mask', clientFrame(text, '{}', { mask: [] }), undefined, 1002],
  ['bytes', clientFrame(binary, '{}'), undefined, 1003],
  ['what is not UTF-8', clientFrame(text, Uint8Array.of(0x22, 0xff, 0x22)), 400, 1007],
  ['a long message', clientFrame(text, 'x'.repeat(5_001)), 413, 1009],
  ['the head of a long message', clientFrame(text, 'x'.repeat(70_000)).subarray(0, 14), 413, 1009],
  ['a message in parts that is long', Buffer.concat(Array.from({ length: 2_000 }, (_, at) => (
    clientFrame(at === 0 ? text : continuation, 'abcd', { fin: false })
  ))), 413, 1009],
  ['a message that never ends', clientFrame(text, '{', { fin: false }), 408, 1008],
  ['more messages than may wait', Buffer.concat(Array.from({ length: 50 }, () => (
    clientFrame(text, JSON.stringify(create))
  ))), undefined, 1008],
]

test('a connection that breaks a rule is told so and closed, and nothing of it stays', async (t) => {
  for (const [what, bytes, status, code] of faults) {
    const served = await serving(t, { maxBodyBytes: 5_000, bodyTimeoutMs: 100 }, async (_, { signal }) => {
      await new Promise((resolve) => { signal.addEventListener('abort', resolve) })
    })
    const client = await served.open()
    client.socket.write(bytes)
    await client.until(() => client.closeCode !== undefined)
    assert.equal(client.closeCode, code, what)
    const error = client.messages.find(({ type }) => type === 'error')
    assert.equal(error?.['status'], status, what)
    if (status !== undefined) assert.equal(typeof error?.['error'].code, 'string', what)
    client.socket.end()
    await client.closed()
    await atRest(served)
  }
})

test('a client that never closes its side is closed, and its messages are not read', async (t) => {
  const served = await serving(t)
  const client = await openWebSocket(served.port, PATH, {}, true)
  t.after(() => client.socket.destroy())
  client.socket.write(clientFrame(text, 'a', { mask: [] }))
  await client.until(() => client.closeCode === 1002)
  // What is sent to a connection that is closed breaks it off.
  const sending = setInterval(() => client.send(create), 50)
  t.after(() => clearInterval(sending))
  await client.closed()
  assert.equal(client.messages.length, 0)
  await atRest(served)
})

test('a ping is answered, also within a message, and a flood of them fills nothing', async (t) => {
  const served = await serving(t)
  const client = await served.open()
  const whole = JSON.stringify(create)
  client.socket.write(Buffer.concat([
    clientFrame(text, whole.slice(0, 9), { fin: false }), clientFrame(ping, 'are you there'),
    clientFrame(continuation, whole.slice(9)),
  ]))
  await client.until(() => client.messages.at(-1)?.['type'] === 'response.completed')
  assert.equal(String(client.frames.find(({ opcode }) => opcode === pong)?.payload), 'are you there')
  client.socket.pause()
  const flood = Buffer.concat(Array.from({ length: 2_000 }, () => clientFrame(ping, 'x'.repeat(125))))
  for (let count = 0; count < 20; count++) client.socket.write(flood)
  await sleep(50)
  assert.ok(served.server.status().streams.queuedBytes < 100_000)
  client.socket.resume()
  assert.equal((await client.turn(create)).at(-1)!['type'], 'response.completed')
})

test('of pings that come together the last one is answered', async (t) => {
  const served = await serving(t)
  const client = await served.open()
  // A write for each would take the time of all others.
  client.socket.write(Buffer.concat(Array.from({ length: 9_000 }, (_, at) => clientFrame(ping, String(at)))))
  const pongs = (): readonly string[] => (
    client.frames.filter(({ opcode }) => opcode === pong).map(({ payload }) => String(payload))
  )
  await client.until(() => pongs().at(-1) === '8999')
  assert.ok(pongs().length < 1_000, `${pongs().length} pongs`)
  // None follows the end.
  client.socket.write(Buffer.concat([clientFrame(ping, 'more'), clientFrame(8)]))
  await client.until(() => client.closeCode !== undefined)
  await atRest(served)
})

test('what comes behind the head at once is read, whatever it is', async (t) => {
  const served = await serving(t)
  const head = `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n`
    + `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`
  const isDone = ({ messages }: WebSocketClient): boolean => (
    messages.at(-1)?.['type'] === 'response.completed'
  )
  const isRefused = (client: WebSocketClient): boolean => client.closeCode === 1002
  for (const [bytes, isEnd] of [
    [clientFrame(text, JSON.stringify(create)), isDone], [clientFrame(3), isRefused],
  ] as const) {
    const client = new WebSocketClient(connect(served.port, '127.0.0.1'))
    t.after(() => client.socket.destroy())
    client.socket.write(Buffer.concat([Buffer.from(head), bytes]))
    await client.until(() => isEnd(client))
    client.socket.destroy()
    await atRest(served)
  }
})

test('a flood of empty frames lets others in between', async (t) => {
  const served = await serving(t, { bodyTimeoutMs: 400 })
  const client = await served.open()
  const frame = clientFrame(continuation, '', { fin: false })
  const flood = Buffer.concat(Array.from({ length: 20_000 }, () => frame))
  client.socket.write(clientFrame(text, '', { fin: false }))
  const more = (): void => { if (client.closeCode === undefined) client.socket.write(flood, more) }
  more()
  let answered = 0
  while (client.closeCode === undefined && !client.socket.destroyed) {
    assert.equal((await fetch(`http://127.0.0.1:${served.port}/health`)).status, 200)
    answered++
  }
  assert.equal(client.closeCode ?? 1008, 1008)
  assert.ok(answered > 1, `${answered} requests were answered`)
  await atRest(served)
})

test('a client that gives no sign of life is closed', async (t) => {
  const served = await serving(t, { heartbeatMs: 30 })
  const [dead, alive] = [await served.open(), await served.open()]
  const beat = setInterval(() => alive.socket.write(clientFrame(pong)), 10)
  t.after(() => clearInterval(beat))
  await dead.closed()
  assert.ok(dead.frames.every(({ opcode }) => opcode === ping))
  assert.ok(!alive.socket.destroyed)
})

test('a client that leaves ends its run, however it leaves', async (t) => {
  const ways: readonly ((client: WebSocketClient) => unknown)[] = [
    ({ socket }) => socket.end(clientFrame(close)), ({ socket }) => socket.end(),
    ({ socket }) => socket.destroy(), ({ socket }) => socket.resetAndDestroy(),
    ({ socket }) => socket.write(clientFrame(3)),
  ]
  for (const leave of ways) {
    const reasons: unknown[] = []
    const served = await serving(t, {}, async (_, { signal }) => {
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason)
          resolve()
        })
      })
    })
    const client = await served.open()
    client.send(create)
    client.send(create)
    await client.until(() => client.messages.length === 2)
    leave(client)
    await eventually(() => reasons.length === 1)
    await atRest(served)
  }
})

test('a reader that is too slow is dropped', async (t) => {
  const served = await serving(t, { maxStreamBytes: 50_000, writeTimeoutMs: 200 }, async function* () {
    for (let count = 0; count < 400; count++) yield 'x'.repeat(50_000)
  })
  const client = await served.open()
  client.send(create)
  await client.until(() => client.messages.length > 2)
  client.socket.pause()
  await atRest(served)
})

test('a server that closes says so, and a response that has begun is finished', async (t) => {
  const served = await serving(t, { graceMs: 5_000 }, async () => {
    await sleep(100)
    return 'done'
  })
  const [idle, busy] = [await served.open(), await served.open()]
  const turn = busy.turn(create)
  await busy.until(() => busy.messages.length === 2)
  const closing = served.server.close()
  await idle.closed()
  assert.equal(idle.closeCode, 1001)
  assert.equal((await turn).at(-1)!['type'], 'response.completed')
  await busy.closed()
  assert.equal(busy.closeCode, 1001)
  await closing
})

test('a credential that expires ends the connection', async (t) => {
  const auth = {
    resource: 'http://localhost/mcp', authorizationServers: ['https://login.example'],
    verify: () => ({ subject: 'ann', scopes: [], expiresAt: Date.now() + 150 }),
  }
  const served = await serving(t, { auth })
  const client = await served.open({ authorization: 'Bearer a' })
  assert.match(client.head, /^HTTP\/1\.1 101/)
  await client.closed()
  await atRest(served)
})

test('an observer hears of a connection when it is over', async (t) => {
  const seen: unknown[] = []
  const served = await serving(t, {
    onRequest: ({ method, route, status, bytes }) => { seen.push([method, route, status, bytes > 500]) },
  })
  const client = await served.open()
  await client.turn(create)
  assert.deepEqual(seen, [])
  client.socket.destroy()
  await eventually(() => seen.length === 1)
  assert.deepEqual(seen, [['GET', PATH, 101, true]])
})

test('a host keeps its own WebSockets; without any, one is refused with a sentence', async (t) => {
  const server = serve(t, { agents: [{ name: 'Agent', run: () => '' }] })
  const host = createNode(server.handler)
  const port = await portOf(t, host)
  const refused = await openWebSocket(port, PATH)
  t.after(() => refused.socket.destroy())
  assert.match(refused.head, /^HTTP\/1\.1 405 /)
  const answer = await server.fetch(request(PATH, undefined, { 'sec-websocket-key': 'a' }))
  assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST'])
  const { message } = (await jsonOf(answer))['error'] as Record<string, string>
  assert.match(message!, /Within another server.*POST instead/)
  const plain = await jsonOf(await server.fetch(request(PATH)))
  assert.match(JSON.stringify(plain), /POST a response, or open a WebSocket/)
  let taken = ''
  host.on('upgrade', ({ url }, socket) => {
    taken = String(url)
    socket.destroy()
  })
  await assert.rejects(openWebSocket(port, PATH))
  assert.equal(taken, PATH)
})
