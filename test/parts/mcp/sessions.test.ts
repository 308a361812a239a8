/**
 * Sessions of the older revisions: who they belong to, when they end, what ends with them.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { Sessions } from '../../../lib/parts/mcp/session/session.ts'
import { ReplayBudget } from '../../../lib/floors/kept-streams/replay-budget.ts'
import { oldest } from '../../../lib/parts/mcp/protocol/revisions.ts'
import { standingTime } from '../../fixtures/time.ts'
import { defaults } from '../../../lib/index.ts'
import { eventually, gate, request } from '../../fixtures/client.ts'
import { answerOf, begin, LegacySession, modern, post, said, serveMcp } from './client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { Json } from '../../fixtures/events.ts'

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }

function hanging(
  t: Scope, options: object = {},
): { server: TriportServer; signals: AbortSignal[]; finish: () => void } {
  const end = gate()
  const signals: AbortSignal[] = []
  const server = serveMcp(t, {
    tools: [
      { name: 'hang', description: 'Hangs.', async run(_args, call) {
        signals.push(call.signal)
        await end.promise
        return 'done'
      } },
      { name: 'id', description: 'Its session.', run: (_args, call) => call.sessionId ?? 'none' },
    ],
    ...options,
  })
  return { server, signals, finish: () => end.open() }
}

test('a session id is long, visible ASCII, and never the same', async (t) => {
  const { server } = hanging(t)
  const ids = new Set<string>()
  for (let n = 0; n < 50; n++) ids.add((await begin(server)).id)
  assert.equal(ids.size, 50)
  for (const id of ids) assert.match(id, /^[\w-]{32}$/)
})

test('a handler knows its session', async (t) => {
  const { server } = hanging(t)
  const session = await begin(server)
  assert.equal(said(await session.call('id')), session.id)
  const { result } = await answerOf(
    await post(server, { ...ping, method: 'tools/call', params: { name: 'id' } }),
  )
  assert.equal(said(result), 'none')
})

test('DELETE ends a session: 200 without a body, then everything with its id is 404', async (t) => {
  const { server } = hanging(t)
  const session = await begin(server)
  const ended = await session.end()
  assert.deepEqual([ended.status, await ended.text()], [200, ''])
  for (const response of [
    await session.send('ping'), await session.notify('notifications/x'),
    await session.get(), await session.end(),
    await session.post({ jsonrpc: '2.0', id: 1, result: {} }),
  ]) {
    assert.equal(response.status, 404)
    assert.equal((await response.json() as Json).error.code, -32600)
  }
})

test('GET and DELETE without a session id are 400, with an unknown one 404', async (t) => {
  const { server } = hanging(t)
  for (const method of ['GET', 'DELETE']) {
    const headers = { Accept: 'text/event-stream' }
    assert.equal((await server.fetch(request('/mcp', undefined, headers, method))).status, 400)
    const unknown = { ...headers, 'Mcp-Session-Id': 'x'.repeat(32) }
    assert.equal((await server.fetch(request('/mcp', undefined, unknown, method))).status, 404)
    const modern = { ...headers, 'MCP-Protocol-Version': '2026-07-28' }
    const refused = await server.fetch(request('/mcp', undefined, modern, method))
    assert.equal(refused.status, 405)
    assert.equal(refused.headers.get('allow'), 'POST')
    const nonsense = { ...headers, 'Mcp-Session-Id': (await begin(server)).id, 'MCP-Protocol-Version': 'x' }
    assert.equal((await server.fetch(request('/mcp', undefined, nonsense, method))).status, 400)
  }
})

test('the end of a session ends its calls and its streams', async (t) => {
  const { server, signals } = hanging(t)
  const session = await begin(server)
  const stream = await session.listen()
  const hung = session.send('tools/call', { name: 'hang' })
  await eventually(() => signals.length === 1)
  await session.end()
  assert.equal(signals[0]!.aborted, true)
  assert.equal(await stream.next(), undefined)
  assert.equal((await hung).status, 202)
})

test('initialize within a session is 400, and begins another without it or when it has ended', async (t) => {
  const { server } = hanging(t)
  const session = await begin(server)
  const again = (): Promise<Response> => (
    session.send('initialize', { protocolVersion: '2025-06-18', capabilities: {} })
  )
  const response = await again()
  assert.equal(response.status, 400)
  const { error } = await response.json() as Json
  assert.equal(error.code, -32600)
  assert.equal(error.data.detail, 'This session has begun already; leave out Mcp-Session-Id to begin another')
  assert.equal((await session.send('ping')).status, 200)
  await session.end()
  const begun = await again()
  assert.equal(begun.status, 200)
  assert.notEqual(begun.headers.get('mcp-session-id') ?? session.id, session.id)
})

test('a request that comes before notifications/initialized is served', async (t) => {
  const { server } = hanging(t)
  const response = await post(server, {
    ...ping, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} },
  })
  const early = new LegacySession(server, { 'Mcp-Session-Id': response.headers.get('mcp-session-id')! }, {})
  assert.equal((await early.send('tools/list')).status, 200)
})

test('the session of one key does not exist for another', async (t) => {
  const { server } = hanging(
  t,
    { apiKey: [{ id: 'alice', key: 'key-of-alice' }, { id: 'bob', key: 'key-of-bob' }] },
  )
  const alice = await begin(server, '2025-11-25', {}, { 'X-API-Key': 'key-of-alice' })
  const bob = { ...alice.headers, 'X-API-Key': 'key-of-bob' }
  assert.equal((await post(server, ping, bob)).status, 404)
  assert.equal(
    (await server.fetch(request('/mcp', undefined, { ...bob, Accept: 'text/event-stream' }))).status, 404,
  )
  assert.equal((await server.fetch(request('/mcp', undefined, bob, 'DELETE'))).status, 404)
  const withoutKey = { ...alice.headers, 'X-API-Key': '' }
  assert.equal((await post(server, ping, withoutKey)).status, 401)
  assert.equal((await alice.send('ping')).status, 200)
})

test('an idle session ends; one with a call, a stream or a question does not', async (t) => {
  const pass = standingTime(t)
  const { server, signals, finish } = hanging(t, { sessionIdleMs: 60 })
  const idle = await begin(server)
  const streaming = await begin(server)
  const stream = await streaming.listen()
  const calling = await begin(server)
  const hung = calling.send('tools/call', { name: 'hang' })
  await eventually(() => signals.length === 1)
  pass(200)
  assert.equal((await idle.send('ping')).status, 404)
  assert.equal((await streaming.send('ping')).status, 200)
  assert.equal((await calling.send('ping')).status, 200)
  finish()
  assert.equal(said((await answerOf(await hung)).result), 'done')
  await stream.cancel()
  pass(200)
  assert.equal((await streaming.send('ping')).status, 404)
  assert.equal((await calling.send('ping')).status, 404)
})

test('use keeps a session alive, and nothing else does', (t) => {
  const pass = standingTime(t)
  const sessions = new Sessions({ ...defaults, sessionIdleMs: 80 }, new ReplayBudget(defaults.maxReplayBytes))
  const open = (): ReturnType<typeof sessions.open> => sessions.open('me', oldest)
  const [used, idle, busy] = [open(), open(), open()]
  busy.outlet = { send() {}, end() {} }
  for (let n = 0; n < 6; n++) {
    pass(30)
    assert.equal(sessions.find(used.id, 'me'), used)
    // Another's question for it is none.
    assert.equal(sessions.find(idle.id, 'you'), undefined)
  }
  assert.deepEqual([used.isOver, idle.isOver, busy.isOver], [false, true, false])
  busy.outlet = undefined
  pass(200)
  assert.deepEqual([used.isOver, busy.isOver, sessions.count], [true, true, 0])
})

test('where there are too many sessions the one idle for longest makes room', async (t) => {
  const { server } = hanging(t, { maxSessions: 3 })
  const [first, second, third] = [await begin(server), await begin(server), await begin(server)]
  await first.send('ping')
  const fourth = await begin(server)
  assert.deepEqual(await Promise.all(
    [first, second, third, fourth].map(async (one) => (await one.send('ping')).status),
  ),
    [200, 404, 200, 200])
})

test('a session that is at work makes no room: then a new one is refused with 503', async (t) => {
  const { server, finish } = hanging(t, { maxSessions: 2 })
  const [one, two] = [await begin(server), await begin(server)]
  const [first, second] = [await one.listen(), await two.listen()]
  const response = await post(server, {
    ...ping, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} },
  })
  assert.equal(response.status, 503)
  assert.ok(response.headers.has('retry-after'))
  assert.equal((await response.json() as Json).error.code, -32603)
  assert.equal((await server.fetch(request('/sse'))).status, 503)
  await first.cancel()
  await begin(server)
  assert.equal((await one.send('ping')).status, 404)
  assert.equal((await two.send('ping')).status, 200)
  await second.cancel()
  finish()
})

test('a request whose id runs already is refused, and the first one goes on', async (t) => {
  const { server, signals, finish } = hanging(t)
  const session = await begin(server)
  const first = session.send('tools/call', { name: 'hang' }, 'same')
  await eventually(() => signals.length === 1)
  const second = await session.send('tools/call', { name: 'id' }, 'same')
  assert.equal(second.status, 400)
  assert.equal((await second.json() as Json).error.code, -32600)
  // Another session may use the same id, and a string is not a number.
  const other = await begin(server)
  assert.equal((await other.send('tools/call', { name: 'id' }, 'same')).status, 200)
  finish()
  assert.equal(said((await answerOf(await first)).result), 'done')
  assert.equal((await session.send('tools/call', { name: 'id' }, 'same')).status, 200)
})

test('notifications/cancelled ends the call of its own session, and its id is free again', async (t) => {
  const { server, signals } = hanging(t)
  const session = await begin(server)
  const other = await begin(server)
  const hung = session.send('tools/call', { name: 'hang' }, 5)
  await eventually(() => signals.length === 1)
  await other.notify('notifications/cancelled', { requestId: 5 })
  await session.notify('notifications/cancelled', { requestId: '5' })
  await post(server, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } })
  assert.equal(signals[0]!.aborted, false)
  await session.notify('notifications/cancelled', { requestId: 5, reason: 'enough' })
  assert.equal(signals[0]!.aborted, true)
  const response = await hung
  assert.equal(response.status, 202)
  assert.equal(await response.text(), '')
  assert.equal((await session.send('tools/call', { name: 'id' }, 5)).status, 200)
})

test('a session may run 64 calls, then it is told to wait; others are not', async (t) => {
  const { server, signals, finish } = hanging(t, { maxCallsPerSession: 3 })
  const session = await begin(server)
  const running = Array.from({ length: 3 }, () => session.send('tools/call', { name: 'hang' }))
  await eventually(() => signals.length === 3)
  const refused = await session.send('tools/call', { name: 'hang' })
  assert.equal(refused.status, 503)
  assert.ok(refused.headers.has('retry-after'))
  assert.equal((await refused.json() as Json).error.code, -32603)
  assert.equal(said(await (await begin(server)).call('id')).length, 32)
  finish()
  for (const one of running) assert.equal((await one).status, 200)
  assert.equal((await session.send('tools/call', { name: 'id' })).status, 200)
})

test("sessions: 'required' refuses what comes without one, and nothing else", async (t) => {
  const { server } = hanging(t, { mcp: { sessions: 'required' } })
  const response = await post(server, ping)
  assert.equal(response.status, 400)
  assert.equal((await response.json() as Json).error.code, -32600)
  assert.equal((await (await begin(server)).send('ping')).status, 200)
})

test("sessions: 'none' opens none: initialize, GET, DELETE, calls", async (t) => {
  const { server } = hanging(t, { mcp: { sessions: 'none' } })
  const response = await post(server, {
    ...ping, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: { sampling: {} } },
  })
  assert.equal(response.headers.get('mcp-session-id'), null)
  const { result } = await response.json() as Json
  // Who cannot be told of changes is not promised them.
  assert.deepEqual(result.capabilities.tools, {})
  for (const method of ['GET', 'DELETE']) {
    const refused = await server.fetch(request('/mcp', undefined, { Accept: 'text/event-stream' }, method))
    assert.equal(refused.status, 405)
  }
  assert.equal((await post(server, ping)).status, 200)
  // A platform's own.
  for (const id of ['', '550e8400-e29b-41d4-a716-446655440000']) {
    const given = { 'Mcp-Session-Id': id }
    assert.equal((await post(server, ping, given)).status, 200)
    const notice = { jsonrpc: '2.0', method: 'notifications/initialized' }
    assert.equal((await post(server, notice, given)).status, 202)
    assert.equal((await modern(server, 'tools/list', {}, { headers: given })).status, 200)
  }
  assert.equal((await server.fetch(request('/sse'))).status, 405)
  assert.equal((await post(server, ping, {}, '/messages/')).status, 200)
})

test('without a session there are no subscriptions', async (t) => {
  const server = serveMcp(t, { resources: [{ uri: 'test://r', name: 'r', read: () => 'text' }] })
  const { error } = await answerOf(await post(server, {
    ...ping, method: 'resources/subscribe', params: { uri: 'test://r' },
  }))
  assert.equal(error.code, -32600)
})

test('a server that keeps no sessions has no subscriptions, and asks nobody', async (t) => {
  const schema = { type: 'object', properties: { name: { type: 'string' } } }
  const server = serveMcp(t, {
    mcp: { sessions: 'none' }, resources: [{ uri: 'test://r', name: 'r', read: () => 'text' }],
    tools: [{ name: 'ask', run: (_args, call) => call.elicit({ message: 'Name?', schema }) }],
  })
  for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
    for (const path of ['/mcp', '/messages/']) {
      const message = { ...ping, method, params: { uri: 'test://r' } }
      assert.equal((await answerOf(await post(server, message, {}, path))).error.code, -32601)
    }
  }
  const call = { ...ping, method: 'tools/call', params: { name: 'ask' } }
  assert.match(said((await answerOf(await post(server, call))).result),
    /cannot be asked: that takes a session, and this server keeps none\./)
})

test('a session may have 1000 subscriptions', async (t) => {
  const server = serveMcp(t, { resources: [{ uri: 'test://r', name: 'r', read: () => 'text' }] })
  const session = await begin(server)
  for (let n = 0; n < 1_000; n++) await session.ask('resources/subscribe', { uri: `test://r/${n}` })
  const { error } = await session.ask('resources/subscribe', { uri: 'test://one-more' })
  assert.equal(error.code, -32603)
  assert.deepEqual((await session.ask('resources/unsubscribe', { uri: 'test://r/1' })).result, {})
  assert.deepEqual((await session.ask('resources/subscribe', { uri: 'test://one-more' })).result, {})
})

test('the addresses of all sessions are bounded together, and go with their session', () => {
  const budget = new ReplayBudget(defaults.maxReplayBytes)
  const sessions = new Sessions({ ...defaults, maxSessions: 1_000 }, budget)
  const open = Array.from({ length: 300 }, () => sessions.open('me', oldest))
  const fill = (): void => {
    for (const [at, session] of open.entries()) {
      for (let n = 0; n < 32; n++) session.subscribe(`test://${at}/${n}/`.padEnd(8_192, 'x'), [])
    }
  }
  assert.throws(fill, { kind: 'busy', message: /watch too many resources/ })
  assert.ok(sessions.watched.used > 60 * 1024 * 1024 && sessions.watched.used <= 64 * 1024 * 1024)
  for (const session of open) sessions.close(session)
  for (const session of open) session.subscribe('test://late', [])
  assert.equal(sessions.watched.used, 0)
})

test('a stream that a session opens after its end holds nothing', () => {
  const budget = new ReplayBudget(defaults.maxReplayBytes)
  const sessions = new Sessions(defaults, budget)
  const session = sessions.open('me', oldest)
  sessions.close(session)
  const stream = session.openStream()
  stream.send('late')
  assert.deepEqual([budget.bytes, stream.isFinished, [...session.streams]], [0, true, []])
})

test('the addresses of a session are bounded in bytes, each and together, and make room when they go', () => {
  const session = new Sessions(defaults, new ReplayBudget(defaults.maxReplayBytes)).open('me', oldest)
  const address = (n: number, bytes = 8_192): string => `test://${n}/`.padEnd(bytes, 'x')
  for (const large of [address(0, 8_193), '\u00fc'.repeat(4_097)]) {
    assert.throws(() => session.subscribe(large, []), { kind: 'too-large', message: /8192 bytes/ })
  }
  for (let n = 0; n < 32; n++) session.subscribe(address(n), [])
  // What is there already takes no more room.
  session.subscribe(address(7), [])
  assert.throws(() => session.subscribe('x', []), { kind: 'busy', message: /262144 bytes.*unsubscribe/ })
  session.unsubscribe('never there')
  assert.throws(() => session.subscribe('x', []), { kind: 'busy' })
  session.unsubscribe(address(7))
  session.subscribe('x', [])
  assert.throws(() => session.subscribe(address(7), []), { kind: 'busy' })
  session.unsubscribe('x')
  session.subscribe(address(7), [])
  assert.equal(session.subscriptions.size, 32)
  session.end()
})

test('the table of sessions keeps no timer when it is empty', () => {
  const sessions = new Sessions({ ...defaults, sessionIdleMs: 50 }, new ReplayBudget(defaults.maxReplayBytes))
  const before = process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length
  const session = sessions.open('me', oldest)
  assert.equal(sessions.count, 1)
  assert.equal(sessions.find(session.id, 'you'), undefined)
  assert.equal(sessions.find(session.id, 'me'), session)
  sessions.close(session)
  sessions.close(session)
  assert.equal(sessions.count, 0)
  assert.equal(session.isOver, true)
  assert.equal(process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length, before)
})

test('a server that closes down ends sessions, streams and calls', async (t) => {
  const { server, signals } = hanging(t, { graceMs: 20 })
  const session = await begin(server)
  const stream = await session.listen()
  const hung = session.send('tools/call', { name: 'hang' })
  await eventually(() => signals.length === 1)
  await server.close()
  assert.equal(signals[0]!.aborted, true)
  assert.equal(await stream.next(), undefined)
  await hung
})

test('sessions of one principal do not push out those of another', async (t) => {
  const server = serveMcp(t, {
    tools: [{ name: 'add', run: () => '' }], maxSessions: 10,
    apiKey: [{ id: 'ann', key: 'key-of-ann' }, { id: 'bob', key: 'key-of-bob' }],
  })
  const open = (key: string): Promise<LegacySession> => begin(server, '2025-11-25', {}, { 'X-API-Key': key })
  const ann = await open('key-of-ann')
  for (let count = 0; count < 60; count++) await open('key-of-bob')
  assert.equal((await ann.ask('ping')).result !== undefined, true)
  assert.equal(server.status().mcp?.sessions, 10)
})

test('a session whose finished stream nobody has read is in use', async (t) => {
  const { promise, open } = gate<string>()
  const server = serveMcp(t, { maxSessions: 2, tools: [{ name: 'work', async run(_args, call) {
    call.progress(1)
    return promise
  } }] })
  const session = await begin(server)
  const stream = await session.stream('work', {}, { progressToken: 1 })
  const { id } = (await stream.event())!
  await stream.event()
  await stream.cancel()
  open('done')
  await eventually(() => server.status().calls.running === 0)
  for (let count = 0; count < 5; count++) await begin(server)
  const rest = new EventStream(await session.get({ 'Last-Event-ID': id }))
  assert.equal((await rest.rest()).at(-1).result.content[0].text, 'done')
})
