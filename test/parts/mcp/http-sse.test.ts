/**
 * The oldest transport: `GET /sse` with `POST /messages/`, in a session and without one.
 */
import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { eventually, gate, request } from '../../fixtures/client.ts'
import { begin, legacyRevisions, post, said, serveMcp } from './client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { TriportServer } from '../../../lib/index.ts'
import type { Json } from '../../fixtures/events.ts'

const end = gate()
let aborted = 0

const tools = [
  {
    name: 'echo', description: 'Says what it is told.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    run: (args: Json) => args.text ?? 'nothing',
  },
  { name: 'progress', description: 'Tells.', async run(_args: unknown, call: Json) {
    await new Promise(setImmediate)
    call.progress(1, 2)
    return 'done'
  } },
  { name: 'sample', description: 'Asks.', async run(_args: unknown, call: Json) {
    const { content } = await call.sample({ messages: [{ role: 'user', content: 'tea?' }], maxTokens: 1 })
    return content.text
  } },
  { name: 'hang', description: 'Hangs.', async run(_args: unknown, call: Json) {
    call.signal.addEventListener('abort', () => aborted++)
    await end.promise
    return 'done'
  } },
]

const server = serveMcp({ after }, {
  tools,
  resources: [{ uri: 'test://r', name: 'r', read: () => 'text' }],
  prompts: [{ name: 'p', description: 'A prompt.', get: () => 'text' }],
})

/** One client of the pair. */
class Pair {
  readonly server: TriportServer
  readonly stream: EventStream
  readonly endpoint: string
  #ids = 0

  constructor(server: TriportServer, stream: EventStream, endpoint: string) {
    this.server = server
    this.stream = stream
    this.endpoint = endpoint
  }

  static async open(server: TriportServer, headers: Record<string, string> = {}): Promise<Pair> {
    const stream = new EventStream(await server.fetch(request('/sse', undefined, headers)))
    const event = await stream.event()
    assert.equal(event?.event, 'endpoint')
    return new Pair(server, stream, event!.data)
  }

  async send(message: unknown, headers?: Record<string, string>): Promise<number> {
    const response = await post(this.server, message, headers, this.endpoint)
    await response.text()
    return response.status
  }

  async ask(method: string, params?: object, id: unknown = ++this.#ids): Promise<Json> {
    assert.equal(await this.send({ jsonrpc: '2.0', id, method, ...params !== undefined && { params } }), 202)
    for (;;) {
      const event = await this.stream.event()
      assert.equal(event?.event, 'message')
      const message = JSON.parse(event!.data)
      if (message.id === id && message.method === undefined) return message
    }
  }

  async initialize(protocolVersion = '2024-11-05', capabilities: object = {}): Promise<Json> {
    const { result } = await this.ask('initialize', { protocolVersion, capabilities })
    assert.equal(await this.send({ jsonrpc: '2.0', method: 'notifications/initialized' }), 202)
    return result
  }
}

test('the stream begins with an endpoint on this server, and answers travel on it', async () => {
  const pair = await Pair.open(server)
  assert.match(pair.endpoint, /^\/messages\/\?session_id=[\w-]{32}$/)
  assert.equal(pair.stream.response.headers.get('mcp-session-id'), null)
  const { result } = await pair.ask('tools/call', { name: 'echo', arguments: { text: 'hi' } }, 'x')
  assert.equal(said(result), 'hi')
  assert.equal((await pair.ask('no/such')).error.code, -32601)
  await pair.stream.cancel()
})

test('behind a prefix the endpoint has it too', async (t) => {
  const mounted = serveMcp(t, { tools, mountPath: '/deep/down' })
  const stream = new EventStream(await mounted.fetch(request('/deep/down/sse')))
  const event = await stream.event()
  assert.match(event!.data, /^\/deep\/down\/messages\/\?session_id=/)
  assert.equal((await post(mounted, { jsonrpc: '2.0', id: 1, method: 'ping' }, {}, event!.data)).status, 202)
  assert.deepEqual(await stream.next(), { jsonrpc: '2.0', id: 1, result: {} })
  await stream.cancel()
})

test('any revision with a handshake may be negotiated on it', async () => {
  for (const revision of [...legacyRevisions, '2026-07-28']) {
    const pair = await Pair.open(server)
    const { protocolVersion, capabilities } = await pair.initialize(revision)
    assert.equal(protocolVersion, revision === '2026-07-28' ? '2025-11-25' : revision)
    assert.deepEqual(capabilities.tools, { listChanged: true })
    await pair.stream.cancel()
  }
})

test('a handshake that is none is told on the stream', async () => {
  const pair = await Pair.open(server)
  assert.equal((await pair.ask('initialize', {})).error.code, -32602)
  assert.equal((await pair.initialize('2025-06-18')).protocolVersion, '2025-06-18')
  await pair.stream.cancel()
})

test('a second handshake on the stream holds from then on, and what runs goes on', async () => {
  const pair = await Pair.open(server)
  await pair.initialize('2025-06-18', { sampling: {} })
  const call = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'sample' } }
  await pair.send({ ...call, id: 'first' })
  const question = await pair.stream.next()
  assert.equal((await pair.initialize('2024-11-05')).protocolVersion, '2024-11-05')
  const result = { role: 'assistant', model: 'm', content: { type: 'text', text: 'tea' } }
  await pair.send({ jsonrpc: '2.0', id: question.id, result })
  const { id, result: told } = await pair.stream.next()
  assert.deepEqual([id, said(told)], ['first', 'tea'])
  assert.match(said((await pair.ask('tools/call', { name: 'sample' })).result), /This client cannot be asked/)
  await pair.stream.cancel()
})

test('/messages, and sessionId for session_id, are taken as well', async () => {
  const pair = await Pair.open(server)
  const id = new URL(pair.endpoint, 'http://localhost').searchParams.get('session_id')
  let n = 0
  for (const query of ['?session_id=', '/?sessionId=', '?sessionId=']) {
    const ping = { jsonrpc: '2.0', id: ++n, method: 'ping' }
    const response = await post(server, ping, {}, `/messages${query}${id}`)
    assert.equal(response.status, 202)
    assert.equal(await response.text(), 'Accepted')
    assert.deepEqual(await pair.stream.next(), { jsonrpc: '2.0', id: n, result: {} })
  }
  await pair.stream.cancel()
})

test('progress, logs and questions travel on the stream, answers to them by POST', async () => {
  const pair = await Pair.open(server)
  await pair.initialize('2024-11-05', { sampling: {} })
  await pair.send(
    {
      jsonrpc: '2.0', id: 'p', method: 'tools/call',
      params: { name: 'progress', _meta: { progressToken: 0 } },
    },
  )
  assert.deepEqual((await pair.stream.next()).params, { progressToken: 0, progress: 1, total: 2 })
  assert.equal((await pair.stream.next()).id, 'p')

  await pair.send({ jsonrpc: '2.0', id: 's', method: 'tools/call', params: { name: 'sample' } })
  const question = await pair.stream.next()
  assert.equal(question.method, 'sampling/createMessage')
  assert.deepEqual(question.params.messages, [{ role: 'user', content: { type: 'text', text: 'tea?' } }])
  const answer = { role: 'assistant', model: 'm', content: { type: 'text', text: 'yes' } }
  assert.equal(await pair.send({ jsonrpc: '2.0', id: question.id, result: answer }), 202)
  assert.equal(said((await pair.stream.next()).result), 'yes')
  await pair.stream.cancel()
})

test('changes are told on the stream', async (t) => {
  const changing = serveMcp(t, { tools, resources: [{ uri: 'test://r', name: 'r', read: () => 'text' }] })
  const pair = await Pair.open(changing)
  await pair.initialize()
  await pair.ask('resources/subscribe', { uri: 'test://r' })
  changing.catalog.remove('tool', 'echo')
  assert.equal((await pair.stream.next()).method, 'notifications/tools/list_changed')
  changing.catalog.updated('test://r')
  assert.deepEqual(await pair.stream.next(), {
    jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'test://r' },
  })
  await pair.stream.cancel()
})

test('the end of the stream is the end of the session and of its calls', async () => {
  const pair = await Pair.open(server)
  const before = aborted
  await pair.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hang' } })
  assert.equal(aborted, before)
  await pair.stream.cancel()
  await eventually(() => aborted === before + 1)
  const response = await post(server, { jsonrpc: '2.0', id: 2, method: 'ping' }, {}, pair.endpoint)
  assert.equal(response.status, 404)
  assert.equal((await response.json() as Json).error.code, -32600)
})

test('a call is cancelled by its notification, and nothing is said of it', async () => {
  const pair = await Pair.open(server)
  const before = aborted
  await pair.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hang' } })
  assert.equal(
    await pair.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }), 202,
  )
  assert.equal(aborted, before + 1)
  assert.deepEqual((await pair.ask('ping', undefined, 1)).result, {})
  await pair.stream.cancel()
})

test('an id that runs already is refused', async () => {
  const pair = await Pair.open(server)
  const hang = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hang' } }
  assert.equal(await pair.send(hang), 202)
  assert.equal(await pair.send(hang), 400)
  await pair.stream.cancel()
})

const bad: readonly (readonly [string, unknown, Record<string, string>, number, number])[] = [
  ['no JSON', '{"jsonrpc": ', {}, 400, -32700],
  ['no message', {}, {}, 400, -32600],
  ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], {}, 400, -32600],
  ['an id that is null', { jsonrpc: '2.0', id: null, method: 'ping' }, {}, 400, -32600],
  ['text/plain', '{}', { 'Content-Type': 'text/plain' }, 415, -32600],
]

for (const [what, body, headers, status, code] of bad) {
  test(`${what} on /messages/ is ${status} ${code}, with a session and without`, async () => {
    const pair = await Pair.open(server)
    for (const path of ['/messages/', pair.endpoint]) {
      const response = await post(server, body, headers, path)
      assert.equal(response.status, status)
      assert.equal((await response.json() as Json).error.code, code)
    }
    await pair.stream.cancel()
  })
}

const ping = (id: unknown): object => ({ jsonrpc: '2.0', id, method: 'ping' })
const calling = (id: unknown, name: string, args: object = {}, _meta?: object): object => (
  { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, ...(_meta && { _meta }) } }
)
const notice = { jsonrpc: '2.0', method: 'notifications/x' }

test('a batch of 2025-03-26 is answered by one event', async () => {
  const pair = await Pair.open(server)
  await pair.initialize('2025-03-26')
  const batch = [
    calling('slow', 'progress', {}, { progressToken: 0 }), notice, ping(1),
    { jsonrpc: '2.0', id: 'x', method: 'no/such' }, { jsonrpc: '2.0', id: 'nobody asked', result: {} },
  ]
  assert.equal(await pair.send(batch), 202)
  assert.equal((await pair.stream.next()).method, 'notifications/progress')
  const event = await pair.stream.event()
  assert.equal(event?.event, 'message')
  const answers = JSON.parse(event!.data) as Json[]
  const told = answers.map(({ id, result, error }) => (
    [id, error?.code ?? result.content?.[0].text ?? result]
  ))
  assert.deepEqual(told, [[1, {}], ['x', -32601], ['slow', 'done']])
  assert.equal(await pair.send([ping('alone')]), 202)
  assert.deepEqual(await pair.stream.next(), [{ jsonrpc: '2.0', id: 'alone', result: {} }])
  // What asks nothing is answered by nothing.
  assert.equal(await pair.send([notice]), 202)
  assert.deepEqual((await pair.ask('ping')).result, {})
  await pair.stream.cancel()
})

test('a question of a batch is answered by another, and what is cancelled has no answer in it', async () => {
  const pair = await Pair.open(server)
  await pair.initialize('2025-03-26', { sampling: {} })
  const before = aborted
  assert.equal(await pair.send([calling(1, 'sample'), calling(2, 'hang'), ping(3)]), 202)
  const { id } = await pair.stream.next()
  const result = { role: 'assistant', model: 'm', content: { type: 'text', text: 'yes' } }
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } }
  assert.equal(await pair.send([{ jsonrpc: '2.0', id, result }, cancel, ping(4)]), 202)
  assert.deepEqual(await pair.stream.next(), [{ jsonrpc: '2.0', id: 4, result: {} }])
  const answers = await pair.stream.next() as Json[]
  assert.deepEqual(answers.map((answer) => [answer.id, answer.result.content?.[0].text]), [
    [3, undefined], [1, 'yes'],
  ])
  assert.equal(aborted, before + 1)
  await pair.stream.cancel()
})

test('the answers of a batch are limited together', async (t) => {
  const small = serveMcp(t, {
    maxResultBytes: 10_000, tools: [{ name: 'large', run: () => 'x'.repeat(6_000) }],
  })
  const pair = await Pair.open(small)
  await pair.initialize('2025-03-26')
  assert.equal(await pair.send([calling(1, 'large'), calling(2, 'large'), ping(3)]), 202)
  const answers = await pair.stream.next() as Json[]
  assert.deepEqual(answers.map(({ id }) => id), [1, 2, 3])
  assert.equal(answers[0].result.content[0].text.length, 6_000)
  assert.match(answers[1].error.data.detail, /larger than 10000 bytes/)
  assert.deepEqual(answers[2].result, {})
  await pair.stream.cancel()
})

const badBatches: readonly (readonly [what: string, batch: readonly unknown[]])[] = [
  ['nothing in it', []],
  ['more than 100 messages', Array.from({ length: 101 }, (_, id) => ping(id))],
  ['what is no message', [ping(1), 7]],
  ['a batch', [ping(1), [ping(2)]]],
  ['initialize', [{ ...ping(1), method: 'initialize', params: { protocolVersion: '2025-03-26' } }]],
  ['two requests of one id', [ping(1), ping(1)]],
  ['an id that runs already', [calling(1, 'echo'), ping('runs')]],
]

test('what is no batch is refused as a whole, and none of it runs', async () => {
  const pair = await Pair.open(server)
  await pair.initialize('2025-03-26')
  assert.equal(await pair.send(calling('runs', 'hang')), 202)
  for (const [what, batch] of badBatches) {
    const response = await post(server, batch, {}, pair.endpoint)
    assert.equal(response.status, 400, what)
    assert.equal((await response.json() as Json).error.code, -32600, what)
  }
  assert.deepEqual((await pair.ask('ping')).result, {})
  await pair.stream.cancel()
})

test('other revisions have no batches, and neither has who says none', async () => {
  for (const revision of ['2024-11-05', '2025-06-18', '2025-11-25']) {
    const pair = await Pair.open(server)
    assert.equal(await pair.send([ping(1)]), 400)
    await pair.initialize(revision)
    const response = await post(server, [ping(1)], {}, pair.endpoint)
    assert.equal(response.status, 400)
    assert.equal((await response.json() as Json).error.data.detail, 'This revision has no batches')
    await pair.stream.cancel()
  }
  const unknown = await post(server, [ping(1)], {}, '/messages/?session_id=x')
  assert.equal(unknown.status, 404)
})

test('where no sessions are kept an id of one is refused with what can be done instead', async (t) => {
  const without = serveMcp(t, { tools, mcp: { sessions: 'none' } })
  const refused = await post(without, ping(1), {}, '/messages/?session_id=x')
  assert.equal(refused.status, 404)
  const { id, error } = await refused.json() as Json
  assert.equal(id, 1)
  assert.match(error.data.detail, /keeps no sessions; leave session_id out: the reply has the answer/)
  assert.deepEqual(await (await post(without, ping(1), {}, '/messages/')).json(), {
    jsonrpc: '2.0', id: 1, result: {},
  })
})

test('each request of a batch counts as a call', async (t) => {
  const limited = serveMcp(t, { tools, rateLimit: { perMinute: 5 } })
  const pair = await Pair.open(limited)
  await pair.initialize('2025-03-26')
  assert.equal(await pair.send([1, 2, 3, 4].map(ping)), 429)
  assert.equal(await pair.send([notice, ping(1), ping(2)]), 202)
  assert.deepEqual((await pair.stream.next() as Json[]).map(({ id }) => id), [1, 2])
  assert.equal(await pair.send(ping(3)), 429)
  await pair.stream.cancel()
})

test('an unknown session is 404, one of /mcp too', async () => {
  const session = await begin(server)
  for (const id of ['x', '__proto__', session.id]) {
    const response = await post(
      server, { jsonrpc: '2.0', id: 1, method: 'ping' }, {}, `/messages/?session_id=${id}`,
    )
    assert.equal(response.status, 404)
    assert.equal((await response.json() as Json).id, 1)
  }
})

test('the session of one key does not exist for another', async (t) => {
  const apiKey = [{ id: 'a', key: 'key-of-alice' }, { id: 'b', key: 'key-of-bob' }]
  const keyed = serveMcp(t, { tools, apiKey })
  const pair = await Pair.open(keyed, { 'X-API-Key': 'key-of-alice' })
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  assert.equal(await pair.send(ping), 401)
  assert.equal(await pair.send(ping, { 'X-API-Key': 'key-of-bob' }), 404)
  assert.equal(await pair.send(ping, { 'X-API-Key': 'key-of-alice' }), 202)
  await pair.stream.cancel()
})

test('GET /sse needs a client that reads events; HEAD opens nothing', async () => {
  assert.equal((await server.fetch(request('/sse', undefined, { Accept: 'application/json' }))).status, 406)
  const head = await server.fetch(request('/sse', undefined, {}, 'HEAD'))
  assert.equal(head.headers.get('content-length'), null)
  assert.equal(head.status, 200)
  assert.equal(await head.text(), '')
  assert.equal((await server.fetch(request('/sse', '{}'))).status, 405)
  assert.equal((await server.fetch(request('/messages/'))).status, 405)
})

test('without a session POST /messages/ answers in its body, and nothing is needed before', async () => {
  const ask = async (method: string, params?: object): Promise<Json> => {
    const response = await post(server, { jsonrpc: '2.0', id: 1, method, params }, {}, '/messages/')
    assert.equal(response.status, 200)
    return response.json()
  }
  assert.equal((await ask('tools/list')).result.tools.length, 4)
  assert.equal((await ask('resources/read', { uri: 'test://r' })).result.contents[0].text, 'text')
  assert.equal((await ask('resources/read', { uri: 'test://x' })).error.code, -32002)
  assert.equal((await ask('prompts/get', { name: 'p' })).result.messages[0].content.text, 'text')
  assert.deepEqual((await ask('ping')).result, {})
  assert.equal(
    said((await ask('tools/call', { name: 'progress', _meta: { progressToken: 1 } })).result), 'done',
  )
  const unable = await ask('tools/call', { name: 'sample' })
  assert.equal(unable.result.isError, true)
  const opened = await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {} })
  assert.equal(opened.result.protocolVersion, '2025-06-18')
  // There is no stream that changes could be told on.
  assert.deepEqual(opened.result.capabilities.tools, {})
  const taken = await post(server, { jsonrpc: '2.0', method: 'notifications/initialized' }, {}, '/messages/')
  assert.equal(taken.status, 202)
})

test('two clients of the pair hear only what is theirs', async () => {
  const [one, two] = [await Pair.open(server), await Pair.open(server)]
  await Promise.all(Array.from({ length: 20 }, async (_, n) => {
    for (const [name, pair] of [['one', one], ['two', two]] as const) {
      await pair.send(
        {
          jsonrpc: '2.0', id: n, method: 'tools/call',
          params: { name: 'echo', arguments: { text: `${name} ${n}` } },
        },
      )
    }
  }))
  for (const [name, pair] of [['one', one], ['two', two]] as const) {
    for (let n = 0; n < 20; n++) {
      const { id, result } = await pair.stream.next()
      assert.equal(said(result), `${name} ${id}`)
    }
    await pair.stream.cancel()
  }
})

test('a server that closes down ends the stream', async (t) => {
  const short = serveMcp(t, { tools, graceMs: 20 })
  const pair = await Pair.open(short)
  await short.close()
  assert.equal(await pair.stream.event(), undefined)
})

test('a stream that a closing server ends ends with a comment', async (t) => {
  const short = serveMcp(t, { tools, graceMs: 20 })
  const { body } = await short.fetch(request('/sse', undefined, {}, 'GET'))
  const text = new Response(body).text()
  await short.close()
  assert.match(await text, /^event: endpoint\ndata: [^\n]+\n\n: end\n\n$/)
})

test('without a session, a client that leaves ends the run: nobody else can fetch the answer', async (t) => {
  let signal: AbortSignal | undefined
  const server = serveMcp(t, { tools: [{ name: 'slow', run: (_args, call) => {
    signal = call.signal
    return new Promise(() => {})
  } }] })
  const leaving = new AbortController()
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } }
  const asking = post(server, message, {}, '/messages/', leaving.signal)
  await eventually(() => signal !== undefined)
  leaving.abort()
  await eventually(() => signal?.aborted === true)
  await asking.catch(() => undefined)
})

test('the session of a pair is none on /mcp', async (t) => {
  const server = serveMcp(t, { tools: [{ name: 't', run: () => '' }] })
  const headers = { Accept: 'text/event-stream' }
  const stream = new EventStream(await server.fetch(request('/sse', undefined, headers)))
  const id = (await stream.event())!.data.split('session_id=')[1]!
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' }
  assert.equal((await post(server, message, { 'Mcp-Session-Id': id })).status, 404)
  assert.equal((await post(server, message, {}, `/messages/?session_id=${id}`)).status, 202)
  await stream.cancel()
})
