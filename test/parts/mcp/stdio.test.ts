/**
 * stdio: one message a line, for one client, of whatever revision.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable, Writable } from 'node:stream'
import test from 'node:test'
import { serveStdio } from '../../../lib/index.ts'
import { eventually } from '../../fixtures/client.ts'
import { legacyRevisions, said, withMeta } from './client.ts'
import type { StdioOptions } from '../../../lib/index.ts'
import type { Json } from '../../fixtures/events.ts'

let aborted = 0
let begun = 0
let isChatterOver = false
/** Lets the calls of `wait` come to their end. */
let release: (() => void)[] = []

const tools = [
  {
    name: 'echo', description: 'Says what it is told.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    run: ({ text }: Json) => text,
  },
  { name: 'progress', inputSchema: { type: 'object' }, async run(_args: unknown, call: Json) {
    call.progress(1, 2)
    call.log('info', 'a line')
    await new Promise((resolve) => setImmediate(resolve))
    return 'done'
  } },
  { name: 'roots', description: 'Asks.', inputSchema: { type: 'object' }, run: async (
    _args: unknown, call: Json,
  ) => (
    JSON.stringify(await call.roots({ key: 'roots' }))
  ) },
  { name: 'late', inputSchema: { type: 'object' }, run: async (_args: unknown, call: Json) => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    await call.roots()
  } },
  { name: 'wait', inputSchema: { type: 'object' }, run: () => {
    begun++
    return new Promise((resolve) => release.push(() => resolve('at last')))
  } },
  { name: 'large', inputSchema: { type: 'object' }, run: ({ bytes }: Json) => 'x'.repeat(bytes) },
  { name: 'chatter', inputSchema: { type: 'object' }, async run({ count }: Json, call: Json) {
    for (let done = 1; done <= count; done++) {
      call.progress(done)
      call.log('info', 'y'.repeat(100))
      if (done % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    isChatterOver = true
    return 'said'
  } },
  { name: 'hang', inputSchema: { type: 'object' }, run: (_args: unknown, call: Json) => (
    new Promise((_resolve, reject) => {
      begun++
      call.signal.addEventListener('abort', () => {
        aborted++
        reject(new Error('aborted'))
      })
    })
  ) },
]

/** An end that is read, or not. */
class Reader extends Writable {
  text = ''
  #isReading = true
  #resume: (() => void) | undefined

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += String(chunk)
    if (this.#isReading) done()
    else this.#resume = done
  }

  /** From the next piece on, nothing is taken. */
  stop(): void { this.#isReading = false }

  start(): void {
    this.#isReading = true
    this.take()
  }

  /** Takes the piece that waits. */
  take(): void {
    const resume = this.#resume
    this.#resume = undefined
    resume?.()
  }
}

/** A process's two ends, without a process. */
class Host {
  readonly input = new PassThrough()
  readonly output = new Reader()
  readonly over: Promise<void>
  isOver = false
  #read = 0

  constructor(options: Partial<StdioOptions> = {}, subject: object = {}) {
    const { input, output } = this
    const all = { tools, ...subject } as never
    this.over = serveStdio(all, { input, output, log: false, graceMs: 20, ...options })
    void this.over.then(() => { this.isOver = true })
  }

  /** The lines that came and were not looked at yet. */
  get waiting(): readonly Json[] {
    const end = this.output.text.lastIndexOf('\n') + 1
    const lines = this.output.text.slice(this.#read, end).split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line))
  }

  write(...messages: unknown[]): void {
    for (const message of messages) this.input.write(
      `${typeof message === 'string' ? message : JSON.stringify(message)}\n`,
    )
  }

  async next(): Promise<Json> {
    await eventually(() => this.output.text.includes('\n', this.#read), 'an answer')
    const end = this.output.text.indexOf('\n', this.#read) + 1
    const line = this.output.text.slice(this.#read, end)
    this.#read = end
    return JSON.parse(line)
  }

  async ask(method: string, params: object = {}, id: unknown = 1): Promise<Json> {
    this.write({ jsonrpc: '2.0', id, method, params })
    return this.next()
  }

  async initialize(protocolVersion = '2025-11-25', capabilities: object = {}): Promise<Json> {
    const { result } = await this.ask('initialize', { protocolVersion, capabilities }, 'init')
    this.write({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return result
  }

  async end(): Promise<void> {
    this.input.end()
    await this.over
  }
}

for (const revision of legacyRevisions) {
  test(`${revision} is negotiated over stdio, and served`, async () => {
    const host = new Host()
    const { protocolVersion, capabilities } = await host.initialize(revision)
    assert.equal(protocolVersion, revision)
    assert.deepEqual(capabilities.tools, { listChanged: true })
    assert.equal((await host.ask('tools/list')).result.tools.length, tools.length)
    assert.equal(
      said((await host.ask('tools/call', { name: 'echo', arguments: { text: 'héllo\n' } })).result),
      'héllo\n',
    )
    assert.deepEqual((await host.ask('ping', {}, 'x')), { jsonrpc: '2.0', id: 'x', result: {} })
    await host.end()
  })
}

test('a host has its session whatever `sessions` says, and what takes one', async () => {
  const resources = [{ uri: 'test://r', name: 'r', read: () => 'text' }]
  const host = new Host({ mcp: { sessions: 'none' } }, { resources })
  const { capabilities } = await host.initialize()
  assert.deepEqual(capabilities.resources, { subscribe: true, listChanged: true })
  assert.deepEqual((await host.ask('resources/subscribe', { uri: 'test://r' })).result, {})
  await host.end()
})

test('2026-07-28 is served beside it, without a handshake', async () => {
  const host = new Host()
  const discovered = await host.ask('server/discover', withMeta())
  assert.ok(discovered.result.supportedVersions.includes('2026-07-28'))
  await host.initialize()
  const modern = await host.ask('tools/call', withMeta({ name: 'echo', arguments: { text: 'new' } }))
  assert.equal(modern.result.resultType, 'complete')
  const older = await host.ask('tools/call', { name: 'echo', arguments: { text: 'old' } })
  assert.equal('resultType' in older.result, false)
  assert.equal((await host.ask('ping', withMeta())).error.code, -32601)
  assert.equal((await host.ask('server/discover')).error.code, -32602)
  await host.end()
})

test('requests without an answer hold no more bytes than all calls may', async () => {
  const host = new Host({ maxCallsBytes: 100_000 })
  await host.initialize()
  const filler = 'x'.repeat(20_000)
  const call = (id: number): object => (
    { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'wait', arguments: { filler } } }
  )
  host.write(call(1), call(2), call(3))
  const refused = await host.next()
  assert.equal(refused.id, 3)
  assert.match(refused.error.data.detail, /hold 100000 bytes together already; try again later/)
  for (const end of release.splice(0)) end()
  const ended = [await host.next(), await host.next()]
  assert.deepEqual(ended.map(({ id, result }) => [id, said(result)]), [[1, 'at last'], [2, 'at last']])
  const echoed = await host.ask('tools/call', { name: 'echo', arguments: { text: filler } }, 4)
  assert.equal(said(echoed.result), filler)
  await host.end()
})

test('so many requests may be open as calls may run', async () => {
  const host = new Host({ maxCalls: 2 })
  await host.initialize()
  const call = (id: number): object => (
    { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'wait', arguments: {} } }
  )
  host.write(call(1), call(2), call(3))
  const refused = await host.next()
  assert.deepEqual([refused.id, refused.error.code], [3, -32603])
  assert.equal(refused.error.data.detail, '2 requests are open already; try again later')
  for (const end of release.splice(0)) end()
  assert.deepEqual([(await host.next()).id, (await host.next()).id], [1, 2])
  await host.end()
})

test('a server that has ended leaves no timer behind', async (t) => {
  const { setTimeout: set, clearTimeout: clear } = globalThis
  const left = new Set<unknown>()
  t.mock.method(globalThis, 'setTimeout', (act: () => void, ms: number, ...more: []) => {
    const timer = set(act, ms, ...more)
    if (ms > 10_000) left.add(timer)
    return timer
  })
  t.mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout) => {
    left.delete(timer)
    clear(timer)
  })
  const host = new Host()
  await host.initialize()
  host.write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait', arguments: {} } })
  await eventually(() => release.length > 0)
  assert.equal(left.size, 1)
  for (const end of release.splice(0)) end()
  assert.equal(said((await host.next()).result), 'at last')
  await host.end()
  assert.equal(left.size, 0)
})

test('progress and logs come before the answer', async () => {
  const host = new Host()
  await host.initialize()
  host.write(
    {
      jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'progress', _meta: { progressToken: 0 } },
    },
  )
  assert.equal((await host.next()).method, 'notifications/progress')
  assert.equal((await host.next()).method, 'notifications/message')
  assert.equal(said((await host.next()).result), 'done')
  await host.end()
})

test('what runs around every call runs around those of standard input too', async () => {
  const called: unknown[] = []
  const host = new Host({ around: ({ kind, name, input }, next) => {
    called.push([kind, name, input])
    return next()
  } })
  await host.initialize()
  const { result } = await host.ask('tools/call', { name: 'echo', arguments: { text: 'a' } })
  assert.equal(said(result), 'a')
  assert.deepEqual(called, [['tool', 'echo', { text: 'a' }]])
  await host.end()
})

test('the client is asked, by a request and by rounds', async () => {
  const host = new Host()
  await host.initialize('2025-11-25', { roots: {} })
  host.write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'roots' } })
  const question = await host.next()
  assert.equal(question.method, 'roots/list')
  host.write({ jsonrpc: '2.0', id: question.id, result: { roots: [{ uri: 'file:///a' }] } })
  assert.match(said((await host.next()).result), /file:\/\/\/a/)

  const meta = { capabilities: { roots: {} } }
  const round = await host.ask('tools/call', withMeta({ name: 'roots' }, meta), 2)
  assert.deepEqual(Object.keys(round.result.inputRequests), ['roots'])
  const { requestState } = round.result
  const inputResponses = { roots: { roots: [{ uri: 'file:///b' }] } }
  const done = await host.ask(
    'tools/call', withMeta({ name: 'roots', inputResponses, requestState }, meta), 3,
  )
  assert.match(said(done.result), /file:\/\/\/b/)
  await host.end()
})

test('what is asked after the end of the input is not waited for', async () => {
  const host = new Host({ graceMs: 30_000 })
  await host.initialize('2025-11-25', { roots: {} })
  host.write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'late' } })
  const begun = performance.now()
  await host.end()
  assert.ok(performance.now() - begun < 5_000)
})

test('a second handshake holds from then on, and what runs goes on', async () => {
  const host = new Host()
  await host.initialize('2025-11-25', { roots: {} })
  host.write({ jsonrpc: '2.0', id: 'first', method: 'tools/call', params: { name: 'roots' } })
  const question = await host.next()
  assert.equal((await host.initialize('2024-11-05')).protocolVersion, '2024-11-05')
  host.write({ jsonrpc: '2.0', id: question.id, result: { roots: [{ uri: 'file:///a' }] } })
  const { id, result } = await host.next()
  assert.deepEqual([id, said(result)], ['first', '[{"uri":"file:///a"}]'])
  assert.match(said((await host.ask('tools/call', { name: 'roots' })).result), /This client cannot be asked/)
  await host.end()
})

test('a call is cancelled by its notification, in both eras, and nothing is said of it', async () => {
  const host = new Host()
  await host.initialize()
  for (const params of [{ name: 'hang' }, withMeta({ name: 'hang' })]) {
    const before = aborted
    const running = begun
    host.write({ jsonrpc: '2.0', id: 'h', method: 'tools/call', params })
    await eventually(() => begun === running + 1)
    host.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'h' } })
    await eventually(() => aborted === before + 1)
    // Its id is free again.
    assert.deepEqual(await host.ask('ping', {}, 'h'), { jsonrpc: '2.0', id: 'h', result: {} })
  }
  await host.end()
})

test('a listener is told of changes, and leaves by its notification', async () => {
  const host = new Host()
  const acknowledged = await host.ask(
    'subscriptions/listen', withMeta({ notifications: { toolsListChanged: true } }), 9,
  )
  assert.equal(acknowledged.method, 'notifications/subscriptions/acknowledged')
  assert.equal(acknowledged.params._meta['io.modelcontextprotocol/subscriptionId'], 9)
  host.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } })
  assert.deepEqual((await host.ask('ping', {}, 9)).result, {})
  await host.end()
})

test('a listener that has left holds no bytes', async () => {
  const host = new Host({ maxCallsBytes: 5_000 })
  for (let id = 1; id <= 20; id++) {
    const told = await host.ask(
      'subscriptions/listen', withMeta({ notifications: { toolsListChanged: true } }), id,
    )
    assert.equal(told.method, 'notifications/subscriptions/acknowledged', JSON.stringify(told))
    host.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
  }
  await host.end()
})

test('the end of the server is told to who listens: by the result, and by a notification', async () => {
  const host = new Host()
  await host.ask('subscriptions/listen', withMeta({ notifications: { toolsListChanged: true } }), 9)
  await host.end()
  const [answer, notice] = [await host.next(), await host.next()]
  assert.equal(answer.id, 9)
  assert.equal(answer.result.resultType, 'complete')
  assert.equal(notice.method, 'notifications/cancelled')
  assert.equal(notice.params.requestId, 9)
})

const bad: readonly (readonly [string, unknown, number, unknown])[] = [
  ['no JSON', '{"jsonrpc":', -32700, undefined],
  ['a number', '7', -32600, undefined],
  ['no envelope', {}, -32600, undefined],
  ['an id that is null', { jsonrpc: '2.0', id: null, method: 'ping' }, -32600, undefined],
  ['params that are a list', { jsonrpc: '2.0', id: 4, method: 'ping', params: [] }, -32600, 4],
  ['an empty batch', '[]', -32600, undefined],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, undefined],
  ['an unknown method', { jsonrpc: '2.0', id: 5, method: 'no/such' }, -32601, 5],
  ['initialize without a version', { jsonrpc: '2.0', id: 6, method: 'initialize', params: {} }, -32602, 6],
]

for (const [what, line, code, id] of bad) {
  test(`over stdio ${what} is ${code}, and the next message is read`, async () => {
    const host = new Host()
    host.write(line)
    const answer = await host.next()
    assert.equal(answer.error.code, code)
    assert.equal(answer.id, id)
    assert.equal('id' in answer, id !== undefined)
    assert.deepEqual((await host.ask('ping')).result, {})
    await host.end()
  })
}

const ping = (id: unknown): object => ({ jsonrpc: '2.0', id, method: 'ping' })
const call = (id: unknown, name: string, args: object = {}, meta?: object): object => (
  { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, ...meta && { _meta: meta } } }
)

/** Batches of 2025-03-26, and what each entry of the answer says: an id and what it was given. */
const batches: readonly (readonly [
  what: string, batch: readonly unknown[], answers: readonly unknown[] | undefined,
])[] = [
  ['requests', [ping(1), ping('b')], [[1, {}], ['b', {}]]],
  ['one request', [ping(1)], [[1, {}]]],
  ['a notification among them', [ping(1), { jsonrpc: '2.0', method: 'notifications/x' }], [[1, {}]]],
  ['notifications alone', [{ jsonrpc: '2.0', method: 'notifications/x' }], undefined],
  ['what is no message', [7, ping(1)], [[undefined, -32600], [1, {}]]],
  ['nothing that is a message', [1, 2], [[undefined, -32600], [undefined, -32600]]],
  ['an unknown method', [{ jsonrpc: '2.0', id: 1, method: 'no' }, ping(2)], [[1, -32601], [2, {}]]],
  ['initialize', [{ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }], [[1, -32600]]],
  ['a request of another revision', [{ jsonrpc: '2.0', id: 1, method: 'ping', params: withMeta() }],
    [[1, -32600]]],
  ['one id twice', [call(1, 'progress'), ping(1)], [[1, -32600], [1, 'done']]],
]

test('a batch of 2025-03-26 is answered by one array', async () => {
  const host = new Host()
  await host.initialize('2025-03-26')
  for (const [what, batch, answers] of batches) {
    host.write(batch, ping('after'))
    let said = await host.next()
    if (answers === undefined) {
      assert.equal(said.id, 'after', what)
      continue
    }
    while (!Array.isArray(said)) said = await host.next()
    const seen = said.map(({ id, result, error }: Json) => (
      [id, error?.code ?? result.content?.[0].text ?? result]
    ))
    assert.deepEqual(seen, answers, what)
    if (what !== 'one id twice') assert.equal((await host.next()).id, 'after', what)
  }
  await host.end()
})

test('progress of a batch comes before its answer, a cancelled request has none in it', async () => {
  const host = new Host()
  await host.initialize('2025-03-26')
  const before = begun
  host.write([call(1, 'progress', {}, { progressToken: 0 }), call(2, 'hang'), ping(3)])
  assert.equal((await host.next()).method, 'notifications/progress')
  assert.equal((await host.next()).method, 'notifications/message')
  await eventually(() => begun === before + 1)
  host.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
  assert.deepEqual((await host.next()).map(({ id }: Json) => id), [3, 1])
  await host.end()
})

test('what was meant as a notification, or as an answer, is never answered', async () => {
  const host = new Host()
  await host.initialize('2025-03-26')
  const silent = [
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: [] },
    { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' } },
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } },
  ]
  for (const message of silent) host.write(message)
  host.write([...silent, ping(1)])
  host.write(ping(2))
  assert.deepEqual((await host.next()).map(({ id }: Json) => id), [1])
  assert.equal((await host.next()).id, 2)
  await host.end()
})

test('an option that only a socket has use for is told of, and changes nothing', async () => {
  const warnings: string[] = []
  const host = new Host({
    log: (level, message) => {
      if (level === 'warning' && !message.includes('description')) warnings.push(message)
    },
    apiKey: 'a key of sixteen', rateLimit: { perMinute: 1 },
  })
  await host.initialize('2025-06-18')
  host.write(ping(1))
  assert.deepEqual((await host.next()).result, {})
  assert.deepEqual(warnings, [
    'One client on standard input and output needs no apiKey, rateLimit; leave that out',
  ])
  await host.end()
})

test('the answers of a batch are limited together', async () => {
  const host = new Host({ maxResultBytes: 10_000 })
  await host.initialize('2025-03-26')
  host.write([call(1, 'large', { bytes: 6_000 }), call(2, 'large', { bytes: 6_000 }), ping(3)])
  const [first, second, third] = await host.next()
  assert.equal(first.result.content[0].text.length, 6_000)
  assert.match(second.error.data.detail, /larger than 10000 bytes/)
  assert.deepEqual(third.result, {})
  await host.end()
})

test('a batch that is empty or too long is told so', async () => {
  const host = new Host()
  await host.initialize('2025-03-26')
  for (const [length, detail] of [[0, /must not be empty/], [101, /may hold 100 messages/]] as const) {
    host.write(Array.from({ length }, (_, id) => ping(id)))
    assert.match((await host.next()).error.data.detail, detail)
  }
  await host.end()
})

test('other revisions have no batches', async () => {
  for (const revision of legacyRevisions.filter((name) => name !== '2025-03-26')) {
    const host = new Host()
    await host.initialize(revision)
    host.write([ping(1)])
    const { id, error } = await host.next()
    assert.equal(id, undefined)
    assert.equal(error.code, -32600)
    assert.equal(error.data.detail, 'This revision has no batches')
    await host.end()
  }
})

test('an id that runs already is refused', async () => {
  const host = new Host()
  await host.initialize()
  host.write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hang' } })
  assert.equal((await host.ask('ping', {}, 1)).error.code, -32600)
  await host.end()
})

test('a line that is too long or no UTF-8 is refused, and the next is read', async () => {
  const host = new Host({ maxBodyBytes: 1_000 })
  const long = { jsonrpc: '2.0', id: 1, method: 'ping', params: { a: 'ü'.repeat(500) } }
  for (const [line, code, detail] of [
    [Buffer.from(JSON.stringify(long)), -32600, 'A line is longer than 1000 bytes'],
    [Buffer.from('{"jsonrpc":"2.0","id":1,"method":"p\xffing"}', 'latin1'), -32700, 'A line is not UTF-8'],
  ] as const) {
    host.input.write(line)
    host.input.write('\n')
    assert.deepEqual((await host.next()).error, {
      code, message: code === -32600 ? 'Invalid request' : 'Parse error', data: { detail },
    })
    assert.deepEqual((await host.ask('ping')).result, {})
  }
  await host.end()
})

test('lines may come in pieces, with CRLF, and several at once', async () => {
  const host = new Host()
  const line = JSON.stringify(call(1, 'echo', { text: 'ü' }))
  const bytes = Buffer.from(`${line}\r\n\n${line}\n`)
  for (const byte of bytes) host.input.write(Buffer.from([byte]))
  assert.equal(said((await host.next()).result), 'ü')
  assert.equal(said((await host.next()).result), 'ü')
  await host.end()
})

test('the last line needs no line feed', async () => {
  const host = new Host()
  host.input.end(JSON.stringify(ping(1)))
  assert.deepEqual(await host.next(), { jsonrpc: '2.0', id: 1, result: {} })
  await host.over
})

test('an input of strings is read like one of bytes', async () => {
  const output = new Reader()
  await serveStdio({ tools } as never, {
    input: Readable.from([`${JSON.stringify(ping(1))}\n`, JSON.stringify(ping('é'))]), output, log: false,
  })
  assert.deepEqual(output.text.trim().split('\n').map((line) => JSON.parse(line).id), [1, 'é'])
})

test('at the end of the input what runs comes to its end, and is answered', async () => {
  const host = new Host({ graceMs: 60_000 })
  await host.initialize()
  const before = begun
  release = []
  host.write(call(1, 'wait'), call(2, 'wait'))
  await eventually(() => begun === before + 2)
  host.input.end()
  await eventually(() => host.input.readableEnded)
  assert.equal(host.isOver, false)
  for (const end of release) end()
  await host.over
  const answers = [await host.next(), await host.next()]
  assert.deepEqual(answers.map(({ id, result }) => [id, said(result)]), [[1, 'at last'], [2, 'at last']])
})

test('what does not come to its end within the grace is cancelled, and answered', async () => {
  const host = new Host({ graceMs: 20 })
  await host.initialize()
  const before = aborted
  host.write(call(1, 'hang'))
  await host.end()
  assert.equal(aborted, before + 1)
  assert.deepEqual(host.waiting.map(({ id, error }) => [id, error.code, error.data.detail]), [
    [1, -32603, 'The server is closing down'],
  ])
})

test('a handler that asks is not waited for where nobody can answer', async () => {
  const host = new Host({ graceMs: 60_000 })
  await host.initialize('2025-11-25', { roots: {} })
  host.write(call(1, 'roots'))
  assert.equal((await host.next()).method, 'roots/list')
  await host.end()
})

test('a client whose end of the output is gone ends the server, and what runs is cancelled', async () => {
  const host = new Host({ graceMs: 60_000 })
  await host.initialize()
  const before = { begun, aborted }
  host.write(call(1, 'hang'))
  await eventually(() => begun === before.begun + 1)
  host.output.destroy(new Error('EPIPE'))
  await host.over
  assert.equal(aborted, before.aborted + 1)
  assert.equal(host.input.listenerCount('data'), 0)
})

test('an output that was closed before is noticed by the first answer', async () => {
  const output = new Reader()
  output.destroy()
  await new Promise((resolve) => output.once('close', resolve))
  const input = new PassThrough()
  input.write(`${JSON.stringify(ping(1))}\n`)
  await serveStdio({ tools } as never, { input, output, log: false })
})

test('while the client does not read, no more than a little is read from it', async () => {
  const host = new Host()
  await host.initialize()
  host.output.stop()
  const line = `${JSON.stringify(call(1, 'large', { bytes: 10_000 }))}\n`
  let written = 0
  // What the stream itself holds is not the server's: its own mark is low.
  while (host.input.writableLength + host.input.readableLength < 100_000 && written < 50_000) {
    host.input.write(line)
    if (++written % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(written < 5_000, `${written} lines were read from a client that does not read`)
  assert.equal(host.input.isPaused(), true)
  host.output.start()
  await eventually(() => host.output.text.split('\n').length >= written + 2, 'all answers')
  await host.end()
})

test('the end of the input is noticed behind answers that nobody reads', async () => {
  const host = new Host()
  await host.initialize()
  host.output.stop()
  for (let count = 0; count < 20; count++) host.write(call(count, 'large', { bytes: 100_000 }))
  host.input.end()
  await host.over
})

test('a client that reads slowly gets every answer, though its input ended long ago', async () => {
  const host = new Host({ graceMs: 0 })
  await host.initialize()
  host.output.stop()
  for (let count = 0; count < 20; count++) host.write(call(count, 'large', { bytes: 100_000 }))
  host.input.end()
  while (!host.isOver) {
    host.output.take()
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (let count = 0; count < 20; count++) assert.equal((await host.next()).id, count)
})

test('of notifications that nobody reads the newest are kept, and every answer', async () => {
  const host = new Host({ maxStreamBytes: 20_000 })
  await host.initialize()
  host.output.stop()
  host.write(ping('first'), call(1, 'chatter', { count: 5_000 }, { progressToken: 't' }))
  await eventually(() => isChatterOver)
  host.output.start()
  const told = []
  for (let line = await host.next(); line.id !== 1; line = await host.next()) told.push(line)
  const progress = told.flatMap(({ params }) => params?.progress ?? [])
  assert.equal(progress.at(-1), 5_000)
  assert.ok(progress.length < 300, `${progress.length} are kept`)
  assert.deepEqual(progress.slice(1), progress.slice(1).toSorted((a, b) => a - b))
  await host.end()
})

test('a stream that fails ends its connection, and not the process', async () => {
  for (const failing of ['input', 'output'] as const) {
    for (const isServed of [false, true]) {
      const [input, output] = [new PassThrough(), new PassThrough()]
      const over = serveStdio({ tools }, { input, output, log: false })
      const stream = failing === 'input' ? input : output
      // Before anything else listens to it.
      if (!isServed) stream.emit('error', new Error('EIO'))
      else {
        input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`)
        await once(output, 'data')
      }
      stream.destroy(new Error('EIO'))
      await over
      stream.emit('error', new Error('EIO'))
    }
  }
})
