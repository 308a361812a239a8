// What ends a request before its handler does. Only a client that has taken it back hears nothing of it.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { eventually, request } from '../../fixtures/client.ts'
import { answerOf, begin, legacyRevisions, modern, post, serveMcp } from './client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { TestContext } from 'node:test'
import type { Call, TriportServer } from '../../../lib/index.ts'
import type { Json } from '../../fixtures/events.ts'

function hanging(t: TestContext): { server: TriportServer; running: () => number } {
  let running = 0
  const run = (_args: unknown, call: Call): Promise<string> => new Promise((_resolve, reject) => {
    running += 1
    call.signal.addEventListener('abort', () => {
      running -= 1
      reject(call.signal.reason)
    })
  })
  const server = serveMcp(t, { graceMs: 10, tools: [
    { name: 'hang', task: 'optional', run },
    { name: 'stop', run() { throw new Fault('cancelled', 'It was called off') } },
  ] })
  return { server, running: () => running }
}

const hang = { name: 'hang', arguments: {} }

test('what still runs at the end of the grace is answered with an error, in every revision', async (t) => {
  const { server, running } = hanging(t)
  const streams = { Accept: 'text/event-stream' }
  const sent = [
    modern(server, 'tools/call', hang), modern(server, 'tools/call', hang, { headers: streams }),
    modern(server, 'tools/call', hang, { headers: { 'MCP-Protocol-Version': '2026-07-28' } }),
  ]
  for (const revision of legacyRevisions) {
    const session = await begin(server, revision)
    sent.push(session.send('tools/call', hang))
  }
  const session = await begin(server)
  const begun = await session.ask('tools/call', { ...hang, task: {} })
  await eventually(() => running() === sent.length + 1)
  sent.push(session.send('tasks/result', { taskId: begun.result.task.taskId }))
  await server.close()
  for (const response of await Promise.all(sent)) {
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    assert.equal(response.status, isStream ? 200 : 503)
    assert.equal(response.headers.has('retry-after'), !isStream)
    const { id, error } = await answerOf(response)
    assert.ok(id !== undefined)
    assert.deepEqual([error.code, error.data.detail], [-32603, 'The server is closing down'])
  }
  assert.equal(running(), 0)
})

test('it is answered on a stream that has begun, as on one that has not', async (t) => {
  const run = async (_args: unknown, call: Call): Promise<string> => {
    call.log('info', 'begun')
    if (call.can('sample')) await call.sample({ messages: [], maxTokens: 1 })
    return new Promise(() => {})
  }
  const tools = [{ name: 'say', task: 'optional' as const, run }]
  const server = serveMcp(t, { graceMs: 10, heartbeatMs: 20, tools })
  const say = { name: 'say', arguments: {} }
  const streams: EventStream[] = []
  for (const revision of legacyRevisions) {
    for (const abilities of [{}, { sampling: {} }]) {
      const session = await begin(server, revision, abilities)
      streams.push(new EventStream(await session.send('tools/call', say)))
    }
  }
  const session = await begin(server)
  const begun = await session.ask('tools/call', { ...say, task: {} })
  streams.push(new EventStream(await session.send('tasks/result', { taskId: begun.result.task.taskId })))
  const headers = { Accept: 'text/event-stream' }
  const pair = new EventStream(await server.fetch(request('/sse', undefined, headers)))
  const path = (await pair.event())!.data
  await post(server, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: say }, {}, path)
  streams.push(pair)
  for (const stream of streams) await stream.event()
  await server.close()
  for (const stream of streams) {
    const { id, error } = (await stream.rest()).at(-1)
    assert.ok(id !== undefined)
    assert.deepEqual([error.code, error.data.detail], [-32603, 'The server is closing down'])
  }
  assert.equal(server.status().mcp?.sessions, 0)
})

test('a client that reads events alone can resume even a stream of nothing but an answer', async (t) => {
  const { server } = hanging(t)
  for (const revision of legacyRevisions) {
    const session = await begin(server, revision)
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const stream = new EventStream(await session.post(ping, { Accept: 'text/event-stream' }))
    const first = await stream.event()
    assert.equal(first?.data === '', revision === '2025-11-25', revision)
    const answer = first?.data === '' ? await stream.next() : JSON.parse(first!.data)
    assert.deepEqual(answer, { jsonrpc: '2.0', id: 1, result: {} })
  }
})

test('what else was in its batch is answered all the same', async (t) => {
  const { server, running } = hanging(t)
  const session = await begin(server, '2025-03-26')
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: hang }
  const mixed = session.post([{ jsonrpc: '2.0', id: 1, method: 'ping' }, call])
  const alike = session.post([{ ...call, id: 3 }, { ...call, id: 4 }])
  await eventually(() => running() === 3)
  await server.close()
  assert.equal((await mixed).status, 200)
  assert.equal((await mixed).headers.has('retry-after'), false)
  const [pong, failed] = await (await mixed).json() as Json[]
  assert.deepEqual([pong, failed.error.code], [{ jsonrpc: '2.0', id: 1, result: {} }, -32603])
  assert.equal((await alike).status, 503)
  assert.equal((await alike).headers.get('retry-after'), '1')
})

test('what a batch over a pair holds is answered together when its server closes', async (t) => {
  const { server, running } = hanging(t)
  const headers = { Accept: 'text/event-stream' }
  const pair = new EventStream(await server.fetch(request('/sse', undefined, headers)))
  const path = (await pair.event())!.data
  const params = { protocolVersion: '2025-03-26', capabilities: {} }
  await post(server, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, {}, path)
  await pair.next()
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: hang }
  await post(server, [{ jsonrpc: '2.0', id: 1, method: 'ping' }, call], {}, path)
  await eventually(() => running() === 1)
  await server.close()
  const [[pong, failed]] = await pair.rest() as Json[]
  assert.deepEqual([pong.id, failed.id, failed.error.code], [1, 2, -32603])
})

test('a session in which somebody waits for a task makes no room, and does not run out', async (t) => {
  const server = serveMcp(t, { sessionIdleMs: 40, maxSessions: 2, tools: [
    { name: 'slow', task: 'required', run: () => new Promise((end) => { setTimeout(end, 200, 'done') }) },
  ] })
  const asking = await begin(server)
  const waiting = await begin(server)
  const { result } = await asking.ask('tools/call', { name: 'slow', arguments: {}, task: {} })
  const answer = waiting.send('tasks/result', { taskId: result.task.taskId })
  const full = await post(server, { jsonrpc: '2.0', id: 1, method: 'initialize', params: {
    protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' },
  } })
  assert.equal(full.status, 503)
  const { content } = (await answerOf(await answer)).result
  assert.equal(content[0].text, 'done')
  await eventually(() => server.status().mcp?.sessions === 0)
})

test('a handler that calls itself off is answered', async (t) => {
  const { server } = hanging(t)
  const text = await (await modern(server, 'tools/call', { name: 'stop', arguments: {} })).text()
  assert.match(text, /It was called off/)
})

test('a client that has taken a request back hears nothing of it', async (t) => {
  const { server, running } = hanging(t)
  const session = await begin(server)
  const answer = session.post({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: hang })
  await eventually(() => running() === 1)
  assert.equal((await session.notify('notifications/cancelled', { requestId: 7 })).status, 202)
  const response = await answer
  assert.equal(response.status, 202)
  assert.equal(await response.text(), '')
})
