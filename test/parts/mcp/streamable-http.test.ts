/**
 * `/mcp` over HTTP: bodies that are none, what an answer looks like, batches, and what a client that
 * leaves means.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import test, { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, gate, request } from '../../fixtures/client.ts'
import { portOf } from '../../fixtures/listening.ts'
import { standingTime } from '../../fixtures/time.ts'
import {
  allRevisions, answerOf, begin, legacyRevisions, modern, post, said, serveMcp, withMeta,
} from './client.ts'
import { EventStream, messagesOf } from '../../fixtures/events.ts'
import type { TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { Json } from '../../fixtures/events.ts'

const server = serveMcp({ after }, {
  maxBodyBytes: 10_000,
  maxDepth: 20,
  maxObjects: 1_000,
  tools: [
    {
      name: 'echo', description: 'Says what it is told.',
      inputSchema: { type: 'object', properties: { text: {}, waitMs: { type: 'number' } } },
      async run(args: Json) {
        if (args.waitMs !== undefined) await sleep(args.waitMs)
        return typeof args.text === 'string' ? args.text : JSON.stringify(args.text ?? null)
      },
    },
    {
      name: 'talk', description: 'Tells before it answers.',
      async run(_args, call) {
        await new Promise(setImmediate)
        call.progress(1, 2)
        call.log('info', 'a line')
        return 'told'
      },
    },
  ],
})

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const text = JSON.stringify(ping)

function deep(levels: number): string {
  const params = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  return `{"jsonrpc":"2.0","id":1,"method":"ping","params":${params}}`
}

/** What no door can read: body or message, headers, status, code, the id that is echoed. */
const bad: readonly (readonly [string, unknown, Record<string, string>, number, number, unknown])[] = [
  ['no body', '', {}, 400, -32700, undefined],
  ['half of a message', text.slice(0, -5), {}, 400, -32700, undefined],
  ['text after the message', `${text} x`, {}, 400, -32700, undefined],
  ['NaN', '{"jsonrpc":"2.0","id":NaN,"method":"ping"}', {}, 400, -32700, undefined],
  ['a comment', `/* hello */ ${text}`, {}, 400, -32700, undefined],
  ['a raw control character', '{"jsonrpc":"2.0","id":"\u0001","method":"ping"}', {}, 400, -32700, undefined],
  ['more depth than is allowed', deep(30), {}, 400, -32700, undefined],
  ['a number', '1', {}, 400, -32600, undefined],
  ['null', 'null', {}, 400, -32600, undefined],
  ['text', '"ping"', {}, 400, -32600, undefined],
  ['an empty object', {}, {}, 400, -32600, undefined],
  ['no jsonrpc', { id: 1, method: 'ping' }, {}, 400, -32600, 1],
  ['jsonrpc 1.0', { ...ping, jsonrpc: '1.0' }, {}, 400, -32600, 1],
  ['jsonrpc as a number', { ...ping, jsonrpc: 2 }, {}, 400, -32600, 1],
  ['a method that is a number', { ...ping, method: 7 }, {}, 400, -32600, 1],
  ['a method that is empty', { ...ping, method: '' }, {}, 400, -32600, 1],
  ['a method of 300 characters', { ...ping, method: 'm'.repeat(300) }, {}, 400, -32600, 1],
  ['no method and no result', { jsonrpc: '2.0', id: 1 }, {}, 400, -32600, 1],
  ['params that are a list', { ...ping, params: [1] }, {}, 400, -32600, 1],
  ['params that are text', { ...ping, params: 'x' }, {}, 400, -32600, 1],
  ['an id that is null', { ...ping, id: null }, {}, 400, -32600, undefined],
  ['an id that is an object', { ...ping, id: {} }, {}, 400, -32600, undefined],
  ['an id that is a list', { ...ping, id: [1] }, {}, 400, -32600, undefined],
  ['an id that is true', { ...ping, id: true }, {}, 400, -32600, undefined],
  ['an id with a fraction', { ...ping, id: 1.5 }, {}, 400, -32600, undefined],
  [
    'an id that is not safe', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', {}, 400, -32600,
    undefined,
  ],
  ['an id that is endless', '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', {}, 400, -32600, undefined],
  ['an id of 300 characters', { ...ping, id: 'i'.repeat(300) }, {}, 400, -32600, undefined],
  ['an empty batch', '[]', {}, 400, -32600, undefined],
  ['text/plain', text, { 'Content-Type': 'text/plain' }, 415, -32600, undefined],
  ['a form', text, { 'Content-Type': 'application/x-www-form-urlencoded' }, 415, -32600, undefined],
  [
    'text/plain that mentions JSON', text, { 'Content-Type': 'text/plain; a=application/json' }, 415, -32600,
    undefined
  ],
  ['another charset', text, { 'Content-Type': 'application/json; charset=latin1' }, 415, -32600, undefined],
  ['a packed body', text, { 'Content-Encoding': 'gzip' }, 415, -32600, undefined],
  ['more than is allowed', { ...ping, params: { a: 'x'.repeat(20_000) } }, {}, 413, -32600, undefined],
  ['an Accept that allows neither form', text, { Accept: 'text/html' }, 406, -32600, undefined],
  [
    'an Accept that refuses both', text, { Accept: 'application/json;q=0, text/event-stream;q=0' }, 406,
    -32600, undefined
  ],
]

for (const [what, body, headers, status, code, id] of bad) {
  test(`${what} is ${status} ${code}`, async () => {
    const response = await post(server, body, headers)
    assert.equal(response.status, status)
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
    const answer = await response.json() as Json
    assert.equal(answer.jsonrpc, '2.0')
    assert.equal(answer.error.code, code)
    // An id that could not be read is left out: null is no id here.
    assert.equal('id' in answer, id !== undefined)
    assert.equal(answer.id, id)
  })
}

test('a body without a media type is refused: a page can send that without asking', async () => {
  const body = new TextEncoder().encode(text)
  const response = await server.fetch(new Request('http://localhost/mcp', { method: 'POST', body }))
  assert.equal(response.status, 415)
})

const fine: readonly (readonly [string, Record<string, string>])[] = [
  ['charset=utf-8', { 'Content-Type': 'application/json; charset=utf-8' }],
  ['charset="UTF-8"', { 'Content-Type': 'APPLICATION/JSON; charset="UTF-8"' }],
  ['no Accept', { Accept: '' }],
  ['Accept: */*', { Accept: '*/*' }],
  ['Accept with both', { Accept: 'application/json, text/event-stream' }],
  ['Content-Encoding: identity', { 'Content-Encoding': 'identity' }],
]

for (const [what, headers] of fine) {
  test(`${what} is served`, async () => {
    const response = await post(server, text, headers)
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), { jsonrpc: '2.0', id: 1, result: {} })
  })
}

test('odd arguments are data: prototype names, lone surrogates, separators, NUL, huge numbers', async () => {
  const odd = ['{"__proto__":{"x":1},"constructor":2}', '"\\ud800"', '"\u2028\\u0000"', '1e300', '[[[[1]]]]']
  for (const value of odd) {
    const params = `{"name":"echo","arguments":{"text":${value}}}`
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`
    const { result } = await answerOf(await post(server, body))
    const expected: unknown = JSON.parse(value)
    const owed = typeof expected === 'string' ? expected : JSON.stringify(expected)
    assert.equal(said(result), owed.toWellFormed())
  }
  assert.equal(({} as Json).x, undefined)
})

for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
  test(`nothing is called ${name}`, async () => {
    const tool = await answerOf(await post(server, { ...ping, method: 'tools/call', params: { name } }))
    assert.equal(tool.error.code, -32602)
    const method = await answerOf(await post(server, { ...ping, method: name }))
    assert.equal(method.error.code, -32601)
    assert.equal((await post(server, ping, { 'Mcp-Session-Id': name })).status, 404)
  })
}

test('arguments may be left out; what is no object is -32602', async () => {
  const without = await answerOf(
    await post(server, { ...ping, method: 'tools/call', params: { name: 'echo' } }),
  )
  assert.equal(said(without.result), 'null')
  for (const given of [[], 'x', 1]) {
    const { error } = await answerOf(await post(server, {
      ...ping, method: 'tools/call', params: { name: 'echo', arguments: given },
    }))
    assert.equal(error.code, -32602)
  }
})

test('a notification and a response get 202 and no body, also where nobody knows them', async () => {
  const rows = [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/whatever', params: {} },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: {} } },
    { jsonrpc: '2.0', method: 'notifications/cancelled' },
    { jsonrpc: '2.0', id: 'ask-99', result: {} },
    { jsonrpc: '2.0', id: 'ask-99', error: { code: -1, message: 'no' } },
    { jsonrpc: '2.0', method: 'tools/call', params: { name: 'echo' } },
  ]
  const session = await begin(server)
  for (const message of rows) {
    for (const response of [await post(server, message), await session.post(message)]) {
      assert.equal(response.status, 202)
      assert.equal(await response.text(), '')
    }
  }
})

test('an answer without anything before it is JSON in one line, with a length', async () => {
  for (const revision of legacyRevisions) {
    const response = await (await begin(server, revision)).send('tools/call', { name: 'echo' })
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
    assert.equal((await response.text()).includes('\n'), false)
  }
})

test('an answer with something before it is an event stream', async () => {
  const params = { name: 'talk', _meta: { progressToken: 'p' } }
  for (const revision of legacyRevisions) {
    const response = await (await begin(server, revision)).send('tools/call', params)
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.equal(response.headers.get('x-accel-buffering'), 'no')
    assert.match(response.headers.get('cache-control') ?? '', /no-cache/)
    assert.deepEqual((await messagesOf(response)).map(({ method, result }) => method ?? said(result)),
      ['notifications/progress', 'notifications/message', 'told'])
  }
})

test('a client that reads only JSON gets JSON, and hears nothing on the way', async () => {
  const params = { name: 'talk', _meta: { progressToken: 'p' } }
  const response = await post(
    server, { ...ping, method: 'tools/call', params }, { Accept: 'application/json' },
  )
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
  assert.equal(said((await response.json() as Json).result), 'told')
})

test('a client that reads only events gets an event', async () => {
  const stream = new EventStream(await post(server, ping, { Accept: 'text/event-stream' }))
  assert.deepEqual(await stream.rest(), [{ jsonrpc: '2.0', id: 1, result: {} }])
})

test('an answer that takes longer than a heartbeat becomes a stream that is kept alive', async (t) => {
  const pass = standingTime(t)
  const ends: (() => void)[] = []
  const run = (): Promise<string> => new Promise((resolve) => { ends.push(() => resolve('done')) })
  const slow = serveMcp(t, { heartbeatMs: 20, tools: [{ name: 'slow', description: 'Slow.', run }] })
  const call = { ...ping, method: 'tools/call', params: { name: 'slow' } }
  for (const session of [undefined, await begin(slow)]) {
    const sent = session === undefined ? post(slow, call) : session.post(call)
    await eventually(() => ends.length === 1)
    pass(20)
    const stream = new EventStream(await sent)
    pass(20)
    ends.pop()!()
    assert.equal(said((await stream.next()).result), 'done')
    assert.match(stream.text, /(?:^|\n): \n/)
  }
  const sent = post(slow, call, { Accept: 'application/json' })
  await eventually(() => ends.length === 1)
  pass(60)
  ends.pop()!()
  const json = await sent
  assert.match(json.headers.get('content-type') ?? '', /^application\/json/)
})

const batched = { 'MCP-Protocol-Version': '2025-03-26' }

test('a batch gets its answers in one list, in a session and without one', async () => {
  const batch = [
    ping, { ...ping, id: 'two', method: 'no/such' }, { jsonrpc: '2.0', method: 'notifications/x' },
  ]
  const session = await begin(server, '2025-03-26')
  const responses = [await post(server, batch), await post(server, batch, batched), await session.post(batch)]
  for (const response of responses) {
    assert.equal(response.status, 200)
    const answers = await response.json() as Json[]
    assert.deepEqual(answers.map(({ id }) => id), [1, 'two'])
    assert.deepEqual(answers[0].result, {})
    assert.equal(answers[1].error.code, -32601)
  }
})

test('the answers of a batch are limited together', async (t) => {
  const small = serveMcp(t, {
    maxResultBytes: 10_000, tools: [{ name: 'large', run: () => 'x'.repeat(6_000) }],
  })
  const call = (id: number): object => ({ ...ping, id, method: 'tools/call', params: { name: 'large' } })
  const answers = await (await post(small, [call(1), call(2), { ...ping, id: 3 }], batched)).json() as Json[]
  assert.deepEqual(answers.map(({ id }) => id), [1, 2, 3])
  assert.equal(answers[0].result.content[0].text.length, 6_000)
  assert.match(answers[1].error.data.detail, /larger than 10000 bytes/)
  assert.deepEqual(answers[2].result, {})
})

test('a batch whose calls tell something is a stream with all its answers', async () => {
  const call = (id: number): object => ({
    ...ping, id, method: 'tools/call', params: { name: 'talk', _meta: { progressToken: id } },
  })
  const messages = await messagesOf(
    await post(server, [call(1), ping, call(2)].map((one, id) => ({ ...one, id }))),
  )
  assert.deepEqual(messages.filter(({ id }) => id !== undefined).map(({ id }) => id).sort(), [0, 1, 2])
  assert.equal(messages.filter(({ method }) => method === 'notifications/progress').length, 2)
})

test('a batch without requests is taken: 202', async () => {
  const response = await post(
    server, [{ jsonrpc: '2.0', method: 'notifications/x' }, { jsonrpc: '2.0', id: 1, result: {} }],
  )
  assert.equal(response.status, 202)
})

const badBatches: readonly (readonly [string, readonly unknown[], Record<string, string>])[] = [
  ['nothing in it', [], {}],
  ['more than 100 messages', Array.from({ length: 101 }, (_, id) => ({ ...ping, id })), {}],
  ['what is no message', [ping, 7], {}],
  ['a batch', [ping, [ping]], {}],
  ['initialize', [{ ...ping, method: 'initialize', params: { protocolVersion: '2025-03-26' } }], {}],
  ['two requests of one id', [ping, ping], {}],
  ['a request of 2026-07-28', [{ ...ping, method: 'tools/list', params: withMeta() }], {}],
  ['the header of 2025-06-18', [ping], { 'MCP-Protocol-Version': '2025-06-18' }],
]

for (const [what, batch, headers] of badBatches) {
  test(`a batch with ${what} is 400 -32600`, async () => {
    const response = await post(server, batch, headers)
    assert.equal(response.status, 400)
    assert.equal((await response.json() as Json).error.code, -32600)
  })
}

interface Watched {
  readonly server: TriportServer
  readonly began: Promise<void>
  readonly state: () => string
  readonly finish: () => void
}

/** A tool that says when it begins and when nobody waits for it any more. */
function watched(t: Scope): Watched {
  const begun = gate()
  const end = gate()
  let state = 'idle'
  const server = serveMcp(t, {
    tools: [{
      name: 'work', description: 'Works.',
      async run(_args, call) {
        state = 'running'
        begun.open()
        call.signal.addEventListener('abort', () => { state = 'aborted' })
        call.progress(1)
        await end.promise
        if (state === 'running') state = 'finished'
        return 'done'
      },
    }],
  })
  return { server, began: begun.promise, state: () => state, finish: () => end.open() }
}

for (const hasBegunToAnswer of [false, true]) {
  const when = hasBegunToAnswer ? 'while it reads a stream' : 'before anything was answered'
  const meta = hasBegunToAnswer ? { progressToken: 1 } : {}

  test(`in 2026-07-28 a client that leaves ${when} cancels its call`, async (t) => {
    const { server, began, state, finish } = watched(t)
    const controller = new AbortController()
    const sent = modern(server, 'tools/call', { name: 'work' }, { meta, signal: controller.signal })
    await began
    if (hasBegunToAnswer) {
      const stream = new EventStream(await sent)
      assert.equal((await stream.next()).method, 'notifications/progress')
      await stream.cancel()
    } else {
      controller.abort()
      await sent
    }
    await eventually(() => state() === 'aborted')
    finish()
  })

  test(`before 2026-07-28 a client that leaves ${when} lets its call go on`, async (t) => {
    for (const revision of legacyRevisions) {
      const { server, began, state, finish } = watched(t)
      const session = await begin(server, revision)
      const controller = new AbortController()
      const params = { name: 'work', _meta: meta }
      const sent = session.post({ ...ping, method: 'tools/call', params }, {}, controller.signal)
      await began
      if (hasBegunToAnswer) {
        const stream = new EventStream(await sent)
        assert.equal((await stream.next()).method, 'notifications/progress')
        await stream.cancel()
      } else {
        controller.abort()
      }
      await sleep(10)
      assert.equal(state(), 'running')
      finish()
      await eventually(() => state() === 'finished')
      if (!hasBegunToAnswer) await sent
    }
  })
}

test('over a socket too: the newest revision cancels, an older one goes on', async (t) => {
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const { server, began, state, finish } = watched(t)
    const port = await portOf(t, createServer(server.handler))
    const controller = new AbortController()
    const isModern = revision === '2026-07-28'
    const sent = fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        'Content-Type': 'application/json',
        ...isModern && { 'MCP-Protocol-Version': revision, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'work' },
      },
      body: JSON.stringify(
        { ...ping, method: 'tools/call', params: isModern ? withMeta({ name: 'work' }) : { name: 'work' } },
      ),
    })
    await began
    controller.abort()
    await assert.rejects(sent)
    if (isModern) await eventually(() => state() === 'aborted')
    else await sleep(20)
    assert.equal(state(), isModern ? 'aborted' : 'running')
    finish()
  }
})

test('where there is no room for a stream, whoever reads JSON gets the answer alone', async (t) => {
  const crowded = serveMcp(t, {
    maxStreams: 1,
    tools: [{
      name: 'talk', description: 'Tells before it answers.',
      async run(_args, call) {
        await new Promise(setImmediate)
        call.progress(1, 2)
        return 'told'
      },
    }],
  })
  const holder = await begin(crowded)
  const only = await holder.listen()
  const meta = { progressToken: 'p' }
  const replies = [
    await modern(crowded, 'tools/call', { name: 'talk' }, { meta }),
    await holder.send('tools/call', { name: 'talk', _meta: meta }),
    await (await begin(crowded, '2025-03-26')).post([
      { ...ping, method: 'tools/call', params: { name: 'talk', _meta: meta } }, { ...ping, id: 2 },
    ]),
  ]
  for (const reply of replies) {
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/json'])
    const answers = await messagesOf(reply)
    assert.equal(said(answers.find(({ result }) => 'content' in result).result), 'told')
  }
  const listening = await modern(crowded, 'subscriptions/listen', {
    notifications: { toolsListChanged: true },
  })
  assert.equal(listening.status, 503)
  await only.cancel()
})

test('an unknown path is 404, and a refusal of the door has its form', async () => {
  assert.equal((await post(server, ping, {}, '/mcp/other')).status, 404)
  const response = await server.fetch(request('/mcp', text, { Origin: 'https://evil.example.com' }))
  assert.equal(response.status, 403)
  assert.equal((await response.json() as Json).error.code, -32600)
})

test('all five revisions list the same tools', async () => {
  const names = []
  for (const revision of allRevisions) {
    const { result } = revision === '2026-07-28'
      ? await answerOf(await modern(server, 'tools/list'))
      : await (await begin(server, revision)).ask('tools/list')
    names.push(result.tools.map(({ name }: Json) => name).join())
  }
  assert.deepEqual(names, allRevisions.map(() => 'echo,talk'))
})
