/**
 * stdio: one message a line, for one client, of whatever revision.
 */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { serveStdio } from '../../lib/index.ts'
import { legacyRevisions, said, until, withMeta } from './client.ts'
import type { StdioOptions } from '../../lib/index.ts'
import type { Json } from './client.ts'

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

let aborted = 0

const tools = [
  {
    name: 'echo', description: 'Says what it is told.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    run: ({ text }: Json) => text,
  },
  { name: 'progress', inputSchema: { type: 'object' }, async run(_args: unknown, call: Json) {
    call.progress(1, 2)
    call.log('info', 'a line')
    await sleep(1)
    return 'done'
  } },
  { name: 'roots', description: 'Asks.', inputSchema: { type: 'object' }, run: async (
    _args: unknown, call: Json,
  ) => (
    JSON.stringify(await call.roots({ key: 'roots' }))
  ) },
  { name: 'hang', inputSchema: { type: 'object' }, run: (_args: unknown, call: Json) => (
    new Promise((_resolve, reject) => {
      call.signal.addEventListener('abort', () => {
        aborted++
        reject(new Error('aborted'))
      })
    })
  ) },
]

/** A process's two ends, without a process. */
class Host {
  readonly input = new PassThrough()
  readonly output = new PassThrough()
  readonly over: Promise<void>
  readonly waiting: Json[] = []
  #rest = ''

  constructor(options: Partial<StdioOptions> = {}) {
    this.output.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + String(chunk)).split('\n')
      this.#rest = lines.pop()!
      for (const line of lines) this.waiting.push(JSON.parse(line))
    })
    this.over = serveStdio(
      { tools } as never, { input: this.input, output: this.output, log: false, ...options },
    )
  }

  write(...messages: unknown[]): void {
    for (const message of messages) this.input.write(
      `${typeof message === 'string' ? message : JSON.stringify(message)}\n`,
    )
  }

  async next(): Promise<Json> {
    await until(() => this.waiting.length > 0, 'an answer')
    return this.waiting.shift()
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
    assert.equal((await host.ask('tools/list')).result.tools.length, 4)
    assert.equal(
      said((await host.ask('tools/call', { name: 'echo', arguments: { text: 'héllo\n' } })).result),
      'héllo\n',
    )
    assert.deepEqual((await host.ask('ping', {}, 'x')), { jsonrpc: '2.0', id: 'x', result: {} })
    await host.end()
  })
}

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

test('a call is cancelled by its notification, in both eras, and nothing is said of it', async () => {
  const host = new Host()
  await host.initialize()
  for (const params of [{ name: 'hang' }, withMeta({ name: 'hang' })]) {
    const before = aborted
    host.write({ jsonrpc: '2.0', id: 'h', method: 'tools/call', params })
    await sleep(5)
    host.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'h' } })
    await until(() => aborted === before + 1)
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

test('a batch is read by 2025-03-26 alone', async () => {
  const host = new Host()
  await host.initialize('2025-03-26')
  host.write(
    [
      { jsonrpc: '2.0', id: 1, method: 'ping' }, { jsonrpc: '2.0', method: 'notifications/x' },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    ],
  )
  const answers = []
  while (answers.length < 2) answers.push(...[await host.next()].flat())
  assert.deepEqual(answers.map(({ id }) => id), [1, 2])
  await host.end()
})

test('an id that runs already is refused', async () => {
  const host = new Host()
  await host.initialize()
  host.write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hang' } })
  assert.equal((await host.ask('ping', {}, 1)).error.code, -32600)
  await host.end()
})

test('a line that is too long is refused, and the next is read', async () => {
  const host = new Host({ maxBodyBytes: 1_000 })
  host.write({ jsonrpc: '2.0', id: 1, method: 'ping', params: { a: 'x'.repeat(5_000) } })
  assert.equal((await host.next()).error.code, -32600)
  assert.deepEqual((await host.ask('ping')).result, {})
  await host.end()
})

test('lines may come in pieces, with CRLF, and several at once', async () => {
  const host = new Host()
  const line = JSON.stringify(
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'ü' } } },
  )
  const bytes = Buffer.from(`${line}\r\n\n${line}\n`)
  for (const byte of bytes) host.input.write(Buffer.from([byte]))
  assert.equal(said((await host.next()).result), 'ü')
  assert.equal(said((await host.next()).result), 'ü')
  await host.end()
})

test('the end of the input cancels what runs, and ends the server', async () => {
  const host = new Host()
  await host.initialize()
  const before = aborted
  host.write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hang' } })
  await sleep(5)
  await host.end()
  await until(() => aborted === before + 1)
})

test('a client whose end of the output is gone ends the server', async () => {
  const host = new Host()
  host.output.destroy(new Error('EPIPE'))
  await host.over
})
