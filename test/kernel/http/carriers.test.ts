/**
 * The handler in servers of somebody else, on everything that Node carries HTTP over. TLS goes by a shared
 * key, so that no certificate has to be kept here.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import test from 'node:test'
import { portOf } from '../../fixtures/listening.ts'
import { echo, eventually, serve } from '../../fixtures/kernel.ts'
import type { Server } from 'node:net'
import type { TestContext } from 'node:test'
import type { Readable } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import type { ProbeOptions } from '../../fixtures/kernel.ts'
import type { Call, KernelServer } from '../../../lib/kernel.ts'

const psk = Buffer.alloc(16, 7)
const secret = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const
const server = { ...secret, pskCallback: () => psk }
const client: ConnectionOptions = {
  ...secret, pskCallback: () => ({ psk, identity: 'test' }), checkServerIdentity: () => undefined,
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers?: Record<string, string>
  /** Written one after the other; the request is ended behind them unless `isOpen`. */
  readonly pieces?: readonly string[]
  readonly isOpen?: boolean
}

interface Answer { readonly status: number; readonly body: Readable; leave(): void }

interface Carrier {
  readonly name: string
  make(handler: KernelServer['handler']): Server
  ask(port: number, asked: Asked): Promise<Answer>
}

function http1(
  name: string, make: Carrier['make'], { request }: typeof http | typeof https, more: object,
): Carrier {
  return {
    name,
    make,
    async ask(port, { method, path, headers, pieces = [], isOpen }) {
      const sent = request({ ...more, port, host: '127.0.0.1', method, path, headers, agent: false })
      sent.on('error', () => {})
      for (const piece of pieces) sent.write(piece)
      if (isOpen !== true) sent.end()
      else sent.flushHeaders()
      const [response] = await once(sent, 'response') as [http.IncomingMessage]
      response.on('error', () => {})
      return { status: response.statusCode ?? 0, body: response, leave: () => sent.destroy() }
    },
  }
}

function overHttp2(name: string, make: Carrier['make'], scheme: string): Carrier {
  return {
    name,
    make,
    async ask(port, { method, path, headers, pieces = [], isOpen }) {
      const session = http2.connect(`${scheme}://127.0.0.1:${port}`, client)
      session.on('error', () => {})
      const stream = session.request({ ':method': method, ':path': path, ...headers })
      stream.on('error', () => {})
      stream.on('close', () => session.close())
      for (const piece of pieces) stream.write(piece)
      if (isOpen !== true) stream.end()
      const [lines] = await once(stream, 'response') as [http2.IncomingHttpHeaders & { ':status': number }]
      return { status: lines[':status'], body: stream, leave: () => session.destroy() }
    },
  }
}

const carriers: readonly Carrier[] = [
  http1('node:http', (handler) => http.createServer(handler), http, {}),
  http1('node:https', (handler) => https.createServer(server, handler), https, client),
  overHttp2('node:http2 in the clear', (handler) => http2.createServer(handler), 'http'),
  overHttp2('node:http2 over TLS', (handler) => http2.createSecureServer(server, handler), 'https'),
]

/** Serves with each carrier in turn, and looks after each whether it still does. */
async function onEach(
  t: TestContext, options: ProbeOptions,
  work: (ask: (asked: Asked) => Promise<Answer>, name: string) => Promise<void>,
): Promise<void> {
  for (const carrier of carriers) {
    const logged: string[] = []
    const log: ProbeOptions['log'] = (level, message) => { if (level === 'error') logged.push(message) }
    const server = serve(t, { log, ...options })
    const port = await portOf(t, carrier.make(server.handler))
    const ask = (asked: Asked): Promise<Answer> => carrier.ask(port, asked)
    await work(ask, carrier.name)
    const { status, body } = await ask({ method: 'GET', path: '/health' })
    assert.equal(status, 200, carrier.name)
    assert.equal((JSON.parse(await textOf(body)) as { status: string }).status, 'ok', carrier.name)
    assert.deepEqual(logged, [], carrier.name)
  }
}

async function textOf(body: Readable): Promise<string> {
  let text = ''
  for await (const chunk of body.setEncoding('utf8')) text += String(chunk)
  return text
}

const JSON_HEADERS = { 'content-type': 'application/json' }
const LONG = Array<string>(4).fill('x'.repeat(50_000))
const LONG_HEADERS = { ...JSON_HEADERS, 'content-length': '200000' }

function query(more: object = {}): Asked {
  const pieces = [JSON.stringify({ query: 'hello', ...more })]
  return { method: 'POST', path: '/', headers: JSON_HEADERS, pieces }
}

test('whatever carries a request, it is answered', async (t) => {
  await onEach(t, { agents: [echo] }, async (ask, name) => {
    const whole = await ask(query())
    assert.equal(whole.status, 200, name)
    assert.match(await textOf(whole.body), /"response":"You said hello"/, name)
    const streamed = await ask(query({ stream: true }))
    assert.match(await textOf(streamed.body), /event: done\ndata: \{"response":"You said hello"/, name)
    const head = await ask({ method: 'HEAD', path: '/health' })
    assert.deepEqual([head.status, await textOf(head.body)], [200, ''], name)
    const missing = await ask({ method: 'GET', path: '/nothing' })
    assert.equal(missing.status, 404, name)
    missing.leave()
  })
})

const refused: readonly (readonly [
  what: string, asked: Asked, options: ProbeOptions, status: number,
])[] = [
  ['without a key, with a long body',
    { ...query(), pieces: LONG, headers: LONG_HEADERS }, { apiKey: 'k' }, 401],
  ['without a key, while a long body is still to come',
    { ...query(), pieces: ['x'], isOpen: true, headers: LONG_HEADERS }, { apiKey: 'k' }, 401],
  ['with a length over the limit',
    { ...query(), pieces: LONG, headers: LONG_HEADERS }, { maxBodyBytes: 1_000 }, 413],
  ['over the limit without a length', { ...query(), pieces: LONG }, { maxBodyBytes: 60_000 }, 413],
  ['that stops in the middle of its body', { ...query(), pieces: ['{"query":'], isOpen: true },
    { bodyTimeoutMs: 100, headersTimeoutMs: 100 }, 408],
  ['with a foreign Host', { method: 'GET', path: '/', headers: { host: 'evil.example' } }, {}, 403],
]

for (const [what, asked, options, status] of refused) {
  test(`whatever carries a request ${what}, it is refused and the next is served`, async (t) => {
    await onEach(t, { agents: [echo], ...options }, async (ask, name) => {
      const answer = await ask(asked)
      assert.equal(answer.status, status, name)
      const { error } = JSON.parse(await textOf(answer.body)) as { error: string }
      assert.ok(error.length > 10, name)
      answer.leave()
    })
  })
}

test('whatever carries a body, its type must be told', async (t) => {
  await onEach(t, { agents: [echo] }, async (ask, name) => {
    const { status, leave } = await ask({ ...query(), headers: {} })
    assert.equal(status, 415, name)
    leave()
  })
})

test('whatever carries a stream, a client that leaves ends its run', async (t) => {
  const signals: AbortSignal[] = []
  const run = async function* (_prompt: string, call: Call): AsyncGenerator<string> {
    signals.push(call.signal)
    yield 'a'
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
  }
  await onEach(t, { agents: [run] }, async (ask, name) => {
    const { body, leave } = await ask(query({ stream: true }))
    await once(body, 'data')
    leave()
    await eventually(() => signals.at(-1)?.aborted === true, `${name}: the run is aborted`)
  })
  assert.equal(signals.length, carriers.length)
})

test('what is no request of Node is an error that says what to pass', (t) => {
  const { handler } = serve(t, { agents: [echo] })
  const [request, reply] = [{ raw: {} } as unknown as http.IncomingMessage, {} as http.ServerResponse]
  assert.throws(() => handler(request, reply), /^TypeError: .* with Fastify, pass request\.raw/)
})
