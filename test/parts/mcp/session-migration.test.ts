// One session, several processes: whatever a client does may come to any of them.
import assert from 'node:assert/strict'
import { defineResource, defineTool } from '../../../lib/index.ts'
import { test } from '../../fixtures/at-once.ts'
import { eventually, gate, request, serve } from '../../fixtures/client.ts'
import { fleetOf, sharedMemory } from '../../fixtures/fleet.ts'
import { answerOf, begin, LegacySession, post, said } from './client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { TestContext } from 'node:test'
import type { ServerOptions, TriportServer } from '../../../lib/index.ts'
import type { Fleet } from '../../fixtures/fleet.ts'
import type { Json } from '../../fixtures/events.ts'

const inputSchema = { type: 'object' } as const
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
const secret = 'the secret of all servers'

/** The same session, by way of another server. */
function via(server: TriportServer, { headers, opened }: LegacySession): LegacySession {
  return new LegacySession(server, headers, opened)
}

const hello = defineTool({
  name: 'hello', description: 'Greets.', inputSchema,
  run: (_args, call) => (
    `${call.client?.name} ${call.client?.version} ${call.can('elicit')} ${call.sessionId}`
  ),
})

const ask = defineTool({
  name: 'ask', description: 'Asks.', inputSchema,
  async run(_args, call) {
    const { content } = await call.elicit({ message: 'Name?', schema: form })
    return `Hello ${content?.['name'] as string}`
  },
})

const note = defineResource({ uri: 'note://one', name: 'one', read: () => 'text' })

function fleet(t: TestContext, count: number, options: Partial<ServerOptions> = {}): Promise<Fleet> {
  return fleetOf(t, count, { tools: [hello, ask], resources: [note], ...options })
}

test('a session goes on with any process, with what initialize settled', async (t) => {
  const { servers } = await fleet(t, 3)
  const session = await begin(servers[0]!, '2025-06-18', { elicitation: {} })
  for (const server of servers) {
    assert.equal(said(await via(server, session).call('hello')), `test 1.0.0 true ${session.id}`)
  }
  assert.equal((await via(servers[1]!, session).ask('tools/list')).result.tools.length, 2)
})

test('a session is its principal\'s, whichever process is asked, and none is made up', async (t) => {
  const apiKey = [{ id: 'ann', key: 'key-of-ann-1234' }, { id: 'bob', key: 'key-of-bob-1234' }]
  const { servers: [one, two] } = await fleet(t, 2, { apiKey })
  const session = await begin(one!, '2025-11-25', {}, { 'X-API-Key': 'key-of-ann-1234' })
  const ask = async (id: string, key: string): Promise<number> => (await post(two!, {
    jsonrpc: '2.0', id: 1, method: 'ping',
  }, { 'Mcp-Session-Id': id, 'X-API-Key': key })).status
  assert.equal(await ask(session.id, 'key-of-bob-1234'), 404)
  const end = session.id.endsWith('AA') ? 'QQ' : 'AA'
  assert.equal(await ask(session.id.slice(0, -2) + end, 'key-of-ann-1234'), 404)
  assert.equal(await ask('made-up', 'key-of-ann-1234'), 404)
  assert.equal(await ask(session.id, 'key-of-ann-1234'), 200)
})

test('a session that has ended has ended everywhere', async (t) => {
  const { servers } = await fleet(t, 3)
  const session = await begin(servers[0]!)
  await via(servers[1]!, session).ask('ping')
  assert.equal((await via(servers[2]!, session).end()).status, 200)
  for (const server of [servers[2]!, servers[0]!, servers[1]!]) {
    await eventually(async () => (await via(server, session).send('ping')).status === 404)
  }
  assert.equal((await via(servers[1]!, session).get()).status, 404)
})

test('what a session says of logs holds in every process', async (t) => {
  const tell = defineTool({
    name: 'tell', description: 'Logs.', inputSchema,
    run(_args, call) {
      call.log('info', 'quiet')
      call.log('error', 'loud')
      return 'done'
    },
  })
  const { servers: [one, two, three] } = await fleet(t, 3, { tools: [tell] })
  const session = await begin(one!)
  await via(two!, session).ask('ping')
  await via(one!, session).ask('logging/setLevel', { level: 'error' })
  const heard = async (server: TriportServer): Promise<readonly unknown[]> => {
    const stream = await via(server, session).stream('tell')
    return (await stream.rest()).flatMap(({ params }) => params?.data ?? [])
  }
  assert.deepEqual(await heard(three!), ['loud'])
  await eventually(async () => (await heard(two!)).length === 1)
})

test('who watches a resource hears of it, whichever process has its stream, wish and news', async (t) => {
  const { servers: [one, two, three] } = await fleet(t, 3)
  const session = await begin(one!)
  const stream = await via(two!, session).listen()
  await stream.event()
  assert.deepEqual((await via(three!, session).ask('resources/subscribe', { uri: 'note://one' })).result, {})
  const heard = stream.next()
  // The wish is on its way to the stream: the news is told until it is heard.
  const timer = setInterval(() => one!.catalog.updated('note://one'), 5)
  const message = await heard
  clearInterval(timer)
  assert.deepEqual([message.method, message.params], [
    'notifications/resources/updated', { uri: 'note://one' },
  ])
  await via(one!, session).ask('resources/unsubscribe', { uri: 'note://one' })
  await stream.cancel()
})

test('a question is answered by way of any process, and unknown ones are nobody\'s', async (t) => {
  const { servers: [one, two] } = await fleet(t, 2)
  const session = await begin(one!, '2025-06-18', { elicitation: {} })
  const stream = await session.stream('ask')
  const question = await stream.next()
  assert.match(question.id, /^ask-1@[\w-]{8}$/)
  const other = via(two!, session)
  assert.equal((await other.answer('ask-9@AAAAAAAA', {})).status, 202)
  const answered = await other.answer(question.id, { action: 'accept', content: { name: 'Ann' } })
  assert.equal(answered.status, 202)
  assert.equal(said((await stream.next()).result), 'Hello Ann')
})

test('a request is cancelled by way of any process', async (t) => {
  let reason: unknown
  const started = gate()
  const wait = defineTool({
    name: 'wait', description: 'Waits.', inputSchema,
    run: (_args, call) => new Promise<string>((_resolve, reject) => {
      call.signal.addEventListener('abort', () => reject(reason = call.signal.reason))
      started.open()
    }),
  })
  const { servers: [one, two] } = await fleet(t, 2, { tools: [wait] })
  const session = await begin(one!)
  const answer = session.send('tools/call', { name: 'wait', arguments: {} }, 'r-1')
  await started.promise
  const other = via(two!, session)
  assert.equal((await other.notify('notifications/cancelled', { requestId: 'r-1' })).status, 202)
  assert.equal((await answer).status, 202)
  assert.match(String(reason), /cancelled/)
})

test('the posts of a pair reach its stream from any process', async (t) => {
  const { servers: [one, two] } = await fleet(t, 2)
  const opened = await one!.fetch(request('/sse', undefined, { Accept: 'text/event-stream' }))
  const stream = new EventStream(opened)
  t.after(() => stream.cancel())
  const path = (await stream.event())!.data
  const send = (message: Json, server = two!): Promise<Response> => post(server, message, {}, path)
  const params = {
    protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'old', version: '1' },
  }
  assert.equal((await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params })).status, 202)
  assert.equal((await stream.next()).result.protocolVersion, '2024-11-05')
  for (let id = 2; id < 12; id++) {
    const call = { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'hello', arguments: {} } }
    assert.equal((await send(call, id % 2 === 0 ? one! : two!)).status, 202)
    assert.match(said((await stream.next()).result), /^old 1 /)
  }
  const gone = path.replace(/session_id=[\w-]{8}/, 'session_id=AAAAAAAA')
  const ping = { jsonrpc: '2.0', id: 99, method: 'ping' }
  assert.equal((await post(two!, ping, {}, gone)).status, 404)
})

test('a post for a pair is refused for a while where its stream cannot be reached', async (t) => {
  const { servers: [one, two], connections } = await fleet(t, 2, { storeTimeoutMs: 500 })
  const opened = await one!.fetch(request('/sse', undefined, { Accept: 'text/event-stream' }))
  const stream = new EventStream(opened)
  t.after(() => stream.cancel())
  const path = (await stream.event())!.data
  connections[1]!.isCut = true
  const refused = await post(two!, { jsonrpc: '2.0', id: 99, method: 'ping' }, {}, path)
  assert.equal(refused.status, 503)
  assert.ok(refused.headers.get('retry-after'))
  assert.equal((await answerOf(refused)).id, 99)
})

test('a batch for a pair is answered on its stream, whichever process took it', async (t) => {
  const { servers: [one, two] } = await fleet(t, 2, { rateLimit: { perMinute: 100 } })
  const opened = await one!.fetch(request('/sse', undefined, { Accept: 'text/event-stream' }))
  const stream = new EventStream(opened)
  t.after(() => stream.cancel())
  const path = (await stream.event())!.data
  const params = { protocolVersion: '2025-03-26', capabilities: {} }
  await post(one!, { jsonrpc: '2.0', id: 1, method: 'initialize', params }, {}, path)
  await stream.next()
  const batch = [2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
  for (const server of [one!, two!]) {
    assert.equal((await post(server, batch, {}, path)).status, 202)
    assert.deepEqual((await stream.next()).map(({ id }: Json) => id), [2, 3])
    assert.equal((await post(server, [...batch, ...batch], {}, path)).status, 400)
  }
})

test('a process that knows the session asks the store nothing', async (t) => {
  const { servers: [one, two], connections: [, store] } = await fleet(t, 2, { leaseMs: 600_000 })
  const session = await begin(one!)
  const other = via(two!, session)
  const reads = store!.asked.get('read')!
  await other.ask('ping')
  assert.equal(store!.asked.get('read'), reads + 1)
  const before = new Map(store!.asked)
  for (let at = 0; at < 20; at++) await other.call('hello')
  assert.deepEqual(store!.asked, before)
})

test('without its store a process serves the sessions it knows and those that are sealed', async (t) => {
  const { servers: [one, two], connections } = await fleet(t, 2, { storeTimeoutMs: 500 })
  const session = await begin(one!, '2025-06-18', { elicitation: {} })
  const stream = await session.stream('ask')
  const question = await stream.next()
  for (const connection of connections) connection.isCut = true
  const other = via(two!, session)
  for (const known of [session, other]) assert.match(said(await known.call('hello')), /^test/)
  const answered = await other.answer(question.id, { action: 'accept', content: { name: 'Ann' } })
  assert.equal(answered.status, 503)
  assert.ok(answered.headers.get('retry-after'))
  assert.equal((await other.notify('notifications/cancelled', { requestId: 'r-1' })).status, 202)
  assert.equal((await other.end()).status, 503)
  assert.equal((await other.ask('logging/setLevel', { level: 'error' })).error.code, -32603)
  for (const connection of connections) connection.isCut = false
  await eventually(() => [one!, two!].every((server) => server.status().store === 'reached'))
  const again = await other.answer(question.id, { action: 'accept', content: { name: 'Ann' } })
  assert.equal(again.status, 202)
  assert.equal(said((await stream.next()).result), 'Hello Ann')
})

test('a secret alone lets sessions outlive a process, but for what is only remembered there', async (t) => {
  const options = { tools: [hello], protocol: 'mcp' as const, secret }
  const session = await begin(serve(t, options), '2025-06-18', { elicitation: {} })
  const after = via(serve(t, options), session)
  // Whoever listens begins again: what it watched is not known any more.
  assert.equal((await after.get()).status, 404)
  assert.equal(said(await after.call('hello')), `test 1.0.0 true ${session.id}`)
  assert.equal((await after.end()).status, 200)
  assert.equal((await after.send('ping')).status, 404)
})

test('an idle session that had to make room is gone on with', async (t) => {
  const server = serve(t, { tools: [hello], protocol: 'mcp', secret, maxSessions: 2 })
  const sessions = [await begin(server), await begin(server), await begin(server)]
  assert.equal(server.status().mcp?.sessions, 2)
  await sessions[0]!.ask('logging/setLevel', { level: 'error' })
  for (const session of sessions) assert.match(said(await session.call('hello')), /^test/)
})

test('where there is no room for a session, the request that names it is told so by its id', async (t) => {
  const server = serve(t, { tools: [ask], protocol: 'mcp', secret, maxSessions: 1 })
  const idle = await begin(server)
  const busy = await begin(server, '2025-11-25', { elicitation: {} })
  const stream = await busy.stream('ask')
  t.after(() => stream.cancel())
  const refused = await idle.send('ping', undefined, 'p')
  assert.equal(refused.status, 503)
  assert.equal((await answerOf(refused)).id, 'p')
})

test('without a secret and without others, ids are short and nothing outlives its process', async (t) => {
  const options = { tools: [hello, ask], protocol: 'mcp' as const }
  const server = serve(t, options)
  const session = await begin(server, '2025-06-18', { elicitation: {} })
  assert.match(session.id, /^[\w-]{32}$/)
  const stream = await session.stream('ask')
  assert.equal((await stream.next()).id, 'ask-1')
  assert.equal((await via(serve(t, options), session).send('ping')).status, 404)
})

test('however a client is named, its session id is short enough for a header', async (t) => {
  const { servers: [one, two] } = await fleet(t, 2)
  for (const [name, shown] of [
    ['Claude Code', 'Claude Code'], ['n'.repeat(10_000), 'n'.repeat(24)], ['é'.repeat(300), 'é'.repeat(24)],
  ] as const) {
    const response = await post(one!, {
      jsonrpc: '2.0', id: 0, method: 'initialize', params: {
        protocolVersion: '2025-06-18', capabilities: { elicitation: {}, roots: { listChanged: true } },
        clientInfo: { name, version: '2.0.1', title: name },
      },
    })
    const id = response.headers.get('mcp-session-id')!
    assert.ok(id.length <= 256, `${id.length}`)
    const answer = await answerOf(await post(two!, {
      jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hello', arguments: {} },
    }, { 'Mcp-Session-Id': id }))
    assert.ok(said(answer.result).startsWith(`${shown} 2.0.1 true`), said(answer.result))
  }
})

test('who has another secret in one deployment is not heard, and said to be there once', async (t) => {
  const shared = sharedMemory()
  const lines: string[] = []
  const log = (_level: string, message: string): void => { lines.push(message) }
  const serving = (options: ServerOptions): TriportServer => serve(t, {
    name: 'Fleet', protocol: 'mcp', deployment: 'shop', store: shared.connect(), tools: [hello],
    resources: [note], ...options,
  })
  const one = serving({ log })
  const other = serving({ secret: 'quite another secret' })
  const session = await begin(one)
  assert.equal((await via(other, session).send('ping')).status, 404)
  await eventually(() => {
    other.catalog.updated('note://one')
    return lines.length > 0
  })
  other.catalog.updated('note://one')
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /another secret/)
})
