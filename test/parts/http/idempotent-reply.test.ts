import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault, memoryStore } from '../../../lib/index.ts'
import { eventually, jsonOf, listen, request, serve } from '../../fixtures/client.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import type { TestContext } from 'node:test'
import type { AgentOutput, Call, ServerOptions, TriportServer } from '../../../lib/index.ts'

interface Run { readonly call: Call; end(output: AgentOutput): void; fail(error: unknown): void }

interface Patient {
  readonly runs: Run[]
  readonly options: ServerOptions
  readonly run: (prompt: string, call: Call) => Promise<string>
}

/** An agent that answers when it is told to, and the runs that it has had. */
function patient(): Patient {
  const runs: Run[] = []
  const run = (_prompt: string, call: Call): Promise<string> => new Promise((end, fail) => {
    runs.push({ call, end: (output) => end(String(output)), fail })
  })
  return { runs, run, options: { agents: [{ name: 'Agent', run }] } }
}

/** One that answers at once, with the number of the run. */
function counting(t: TestContext, options: Partial<ServerOptions> = {}): TriportServer {
  let count = 0
  const run = (prompt: string): AgentOutput => {
    count++
    if (prompt === 'throw') throw new Fault('failed', `failed ${count}`)
    if (prompt === 'reject') return { text: `rejected ${count}`, state: 'rejected' }
    return `${prompt} ${count}`
  }
  const agents = [{ name: 'Agent', run }, { name: 'Other', run }]
  return serve(t, { agents, path: '/ask', ...options })
}

function ask(
  key: string, body: unknown = { query: 'hi' }, headers: Record<string, string> = {}, path = '/',
): Request {
  return request(path, body, { 'idempotency-key': key, ...headers })
}

function isReplayed({ headers }: Response): boolean {
  return headers.get('idempotent-replayed') === 'true'
}

test('a query that is sent again is replied to as the first time, at every path', async (t) => {
  const server = counting(t)
  for (const path of ['/', '/agents', '/ask', '/agents/other', '/ask/agent']) {
    const first = await server.fetch(ask(path, undefined, {}, path))
    const again = await server.fetch(ask(path, undefined, {}, path))
    assert.deepEqual([first.status, again.status], [200, 200])
    assert.deepEqual([isReplayed(first), isReplayed(again)], [false, true], path)
    assert.equal(await again.text(), await first.text())
  }
  const without = await Promise.all([1, 2].map(() => server.fetch(request('/', { query: 'hi' }))))
  const said = await Promise.all(without.map(async (reply) => (await jsonOf(reply))['response']))
  assert.equal(new Set(said).size, 2)
})

type Sent = readonly [key: string, body: unknown, headers?: Record<string, string>, path?: string]

const seconds: readonly (readonly [what: string, sent: Sent, status: number, sentence?: RegExp])[] = [
  ['the same', ['k', { query: 'hi' }], 200],
  ['another query', ['k', { query: 'ho' }], 422, /belongs to another request; make a new key/],
  ['another member', ['k', { query: 'hi', stream: false }], 422, /another request/],
  ['another agent', ['k', { query: 'hi' }, {}, '/agents/other'], 422, /another request/],
  ['another session', ['k', { query: 'hi' }, { 'x-session-id': 'session-1' }], 422, /another request/],
  ['the same agent at another path', ['k', { query: 'hi' }, {}, '/ask'], 200],
  ['no query', ['k', { query: '' }], 422, /must not be empty/],
  ['a key with a blank', ['k k', { query: 'hi' }], 400, /1 to 255 visible ASCII/],
  ['a key of nothing', ['', { query: 'hi' }], 400, /1 to 255 visible ASCII/],
  ['a long key', ['k'.repeat(256), { query: 'hi' }], 400, /1 to 255 visible ASCII/],
]

test('a key stands for one query', async (t) => {
  const server = counting(t)
  await server.fetch(ask('k'))
  for (const [what, sent, status, sentence] of seconds) {
    const response = await server.fetch(ask(...sent))
    assert.equal(response.status, status, what)
    assert.equal(isReplayed(response), status === 200, what)
    const { error, response: said } = await jsonOf(response)
    if (sentence === undefined) assert.equal(said, 'hi 1', what)
    else assert.match(String(error), sentence, what)
  }
})

test('a key belongs to whoever has made it', async (t) => {
  const server = counting(t, { apiKey: [{ id: 'ann', key: 'a' }, { id: 'bob', key: 'b' }] })
  const said = []
  for (const key of ['a', 'b', 'a', 'b']) {
    said.push((await jsonOf(await server.fetch(ask('k', undefined, { 'x-api-key': key }))))['response'])
  }
  assert.deepEqual(said, ['hi 1', 'hi 2', 'hi 1', 'hi 2'])
})

test('an error is not kept: the query runs again', async (t) => {
  const server = counting(t)
  for (const [query, status, told] of [['throw', 500, 'failed'], ['reject', 422, 'rejected']] as const) {
    for (const stream of [false, true]) {
      const numbers = new Set<unknown>()
      for (let time = 0; time < 2; time++) {
        const response = await server.fetch(ask(`${query}${String(stream)}`, { query, stream }))
        assert.equal(response.status, stream ? 200 : status)
        const text = await response.text()
        assert.match(text, new RegExp(told))
        numbers.add(/(?:failed|rejected) (\d+)/.exec(text)?.[1])
      }
      assert.equal(numbers.size, 2, query)
    }
  }
})

const stores: readonly (readonly [what: string, make: () => ServerOptions['store']])[] = [
  ['memory', () => undefined], ['a shared store', () => sharedStore()],
  ['shared memory', () => memoryStore({ isShared: true })],
]

test('while a query runs, whoever sends it again is told to wait, whole or streamed', async (t) => {
  for (const [what, make] of stores) {
    for (const stream of [false, true]) {
      const { runs, options } = patient()
      const server = serve(t, { ...options, store: make() })
      const first = Promise.resolve(server.fetch(ask('k', { query: 'hi', stream })))
        .then(async (response) => response.text())
      await eventually(() => runs.length === 1)
      const second = await server.fetch(ask('k', { query: 'hi', stream }))
      assert.equal(second.status, 409, what)
      assert.equal(second.headers.get('retry-after'), '1')
      assert.match(String((await jsonOf(second))['error']), /is running/)
      runs[0]!.end('done')
      assert.match(await first, /"response":"done"/)
      const third = await server.fetch(ask('k', { query: 'hi', stream }))
      assert.ok(isReplayed(third), what)
      assert.match(await third.text(), /"response":"done"/)
      assert.equal(runs.length, 1)
    }
  }
})

test('a reply is replayed in the form that is asked for', async (t) => {
  const server = counting(t)
  const events = { accept: 'text/event-stream' }
  const streamed = await server.fetch(ask('k', undefined, events))
  assert.equal(isReplayed(streamed), false)
  const text = await streamed.text()
  const again = await server.fetch(ask('k', undefined, events))
  assert.ok(isReplayed(again))
  assert.equal(again.headers.get('content-type'), 'text/event-stream')
  assert.equal(await again.text(), text)
  const whole = await server.fetch(ask('k'))
  assert.equal(whole.headers.get('content-type'), 'application/json')
  assert.equal(`data: ${await whole.text()}`, text.split('\n').findLast((line) => line.startsWith('data: ')))
})

test('a silent reply is replayed as events too', async (t) => {
  const server = serve(t, { agents: [{ name: 'Agent', run: () => '' }], log: false })
  const sent = (): Request => ask('k', { query: 'hi', stream: true })
  assert.equal(await (await server.fetch(sent())).text(), await (await server.fetch(sent())).text())
})

test('a query with a key goes on when its client leaves, and is replied to when it comes back', async (t) => {
  for (const stream of [false, true]) {
    const { runs, options } = patient()
    const { url } = await listen(t, options)
    const leaving = new AbortController()
    const body = JSON.stringify({ query: 'hi', stream })
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' }
    const left = fetch(url, { method: 'POST', body, headers, signal: leaving.signal })
      .then(async (response) => response.text()).catch(() => 'left')
    await eventually(() => runs.length === 1)
    leaving.abort()
    assert.equal(await left, 'left')
    const send = (): Promise<Response> => fetch(url, { method: 'POST', body, headers })
    assert.equal((await send()).status, 409)
    assert.equal(runs[0]!.call.signal.aborted, false)
    runs[0]!.end('done')
    await eventually(async () => (await send()).status === 200)
    assert.match(await (await send()).text(), /"response":"done"/)
    assert.equal(runs.length, 1)
  }
})

test('a stream for which there is no room leaves its key free', async (t) => {
  const { runs, options } = patient()
  const { url } = await listen(t, { ...options, maxStreams: 1 })
  const send = (key: string): Promise<Response> => fetch(url, {
    method: 'POST', body: '{"query":"hi","stream":true}',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
  })
  const first = await send('1')
  assert.equal((await send('2')).status, 503)
  runs[0]!.end('done')
  await first.text()
  const again = send('2')
  await eventually(() => runs.length === 2)
  runs[1]!.end('done')
  assert.equal((await again).status, 200)
})

test('a server that is full leaves the key free', async (t) => {
  const { runs, options } = patient()
  const server = serve(t, { ...options, maxCalls: 1 })
  const first = server.fetch(request('/', { query: 'hi' }))
  await eventually(() => runs.length === 1)
  for (const stream of [false, true]) {
    for (let time = 0; time < 2; time++) {
      assert.equal((await server.fetch(ask('k', { query: 'hi', stream }))).status, 503)
    }
  }
  runs[0]!.end('done')
  await first
})

test('processes that share a store share their keys', async (t) => {
  const store = sharedStore()
  const [one, two] = [counting(t, { store }), counting(t, { store })]
  const first = await one.fetch(ask('k'))
  const again = await two.fetch(ask('k'))
  assert.ok(isReplayed(again))
  assert.equal(await again.text(), await first.text())
  store.failWith(new Error('away'))
  const response = await two.fetch(ask('k'))
  assert.equal(response.status, 503)
  assert.equal(response.headers.get('retry-after'), '1')
  assert.match(String((await jsonOf(response))['error']), /Idempotency-Key cannot be looked up/)
})

/** Tools with effects: one counts its runs, one waits, one needs a scope, one fails. */
function effects(): { readonly options: ServerOptions; readonly runs: Run[]; readonly sent: string[] } {
  const { runs, run, options } = patient()
  const sent: string[] = []
  const send = ({ to }: { readonly to: string }, call: Call): { to: string; number: number } => {
    call.progress(1, 1)
    sent.push(to)
    return { to, number: sent.length }
  }
  const to = { type: 'string', minLength: 1 } as const
  const inputSchema = { type: 'object', properties: { to }, required: ['to'] } as const
  const fail = (): never => { throw new Fault('failed', `failed ${sent.push('')}`) }
  return { runs, sent, options: { ...options, protocol: 'http', tools: [
    { name: 'send', inputSchema, run: send },
    { name: 'send-too', inputSchema, run: send },
    { name: 'send-secretly', inputSchema, scopes: ['mail'], run: send },
    { name: 'send-later', inputSchema, run: (_args, call) => run('', call) },
    { name: 'fail', run: fail },
    { name: 'fail-later', run: async () => fail() },
  ] } }
}

function call(tool: string, body: unknown = { to: 'ann' }, headers: Record<string, string> = {}): Request {
  return ask('k', body, headers, `/tools/${tool}`)
}

const asEvents = { accept: 'text/event-stream' }

test('a call of a tool that is sent again is replied to as at first, whole and as events', async (t) => {
  for (const first of [{}, asEvents]) {
    const { options, sent } = effects()
    const server = serve(t, options)
    const done = /"result":\{"to":"ann","number":1\}/
    const begun = await server.fetch(call('send', undefined, first))
    assert.equal(isReplayed(begun), false)
    assert.match(await begun.text(), done)
    const whole = await server.fetch(call('send'))
    assert.ok(isReplayed(whole))
    const reply = await whole.text()
    assert.match(reply, done)
    const streamed = await server.fetch(call('send', undefined, asEvents))
    assert.ok(isReplayed(streamed))
    assert.equal(await streamed.text(), `id: 1\nevent: done\ndata: ${reply}\n\n`)
    assert.deepEqual(sent, ['ann'])
  }
})

const secondCalls: readonly (readonly [what: string, sent: Request, status: number])[] = [
  ['the same', call('send'), 200],
  ['other arguments', call('send', { to: 'bob' }), 422],
  ['another tool', call('send-too'), 422],
  ['a query', ask('k'), 422],
  ['wrong arguments', call('send', { to: '' }), 422],
  ['no JSON', call('send', '{'), 400],
  ['a tool that there is not', call('none'), 404],
  ['a tool that the caller may not use', call('send-secretly'), 403],
]

test('a key stands for one call', async (t) => {
  const { options, sent } = effects()
  const server = serve(t, options)
  await server.fetch(call('send'))
  for (const [what, again, status] of secondCalls) {
    const response = await server.fetch(again)
    assert.deepEqual([response.status, isReplayed(response)], [status, status === 200], what)
  }
  assert.deepEqual(sent, ['ann'])
})

test('who may not use a tool any more does not hear what it said', async (t) => {
  const { options } = effects()
  let scopes = ['mail']
  const apiKey = (): { id: string; scopes: string[] } => ({ id: 'ann', scopes })
  const server = serve(t, { ...options, apiKey })
  const send = async (): Promise<number> => (
    (await server.fetch(call('send-secretly', undefined, { 'x-api-key': 'k' }))).status
  )
  assert.equal(await send(), 200)
  scopes = []
  assert.equal(await send(), 403)
  scopes = ['mail']
  assert.equal(await send(), 200)
})

test('a call that fails leaves its key free', async (t) => {
  const { options, sent } = effects()
  const server = serve(t, options)
  for (const tool of ['fail', 'fail-later']) {
    for (const headers of [{}, asEvents]) {
      sent.length = 0
      for (const time of [1, 2]) {
        assert.match(await (await server.fetch(call(tool, {}, headers))).text(), new RegExp(`failed ${time}`))
      }
    }
  }
  for (const [key, headers] of [['whole', {}], ['events', asEvents]] as const) {
    const replies: unknown[] = []
    for (const to of ['', 'ann', 'ann']) {
      const response = await server.fetch(call('send', { to }, { ...headers, 'idempotency-key': key }))
      replies.push([response.status, isReplayed(response)])
      await response.text()
    }
    assert.deepEqual(replies, [[422, false], [200, false], [200, true]], key)
  }
})

test('a call with a key goes on when its client leaves, and is replied to when it comes back', async (t) => {
  for (const headers of [{}, asEvents]) {
    const { runs, options } = effects()
    const { url } = await listen(t, options)
    const send = (signal?: AbortSignal): Promise<Response> => fetch(`${url}/tools/send-later`, {
      method: 'POST', body: '{"to":"ann"}', ...signal !== undefined && { signal },
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k', ...headers },
    })
    const leaving = new AbortController()
    const left = send(leaving.signal).then(async (response) => response.text()).catch(() => 'left')
    await eventually(() => runs.length === 1)
    leaving.abort()
    assert.equal(await left, 'left')
    const second = await send()
    assert.deepEqual([second.status, second.headers.get('retry-after')], [409, '1'])
    assert.equal(runs[0]!.call.signal.aborted, false)
    runs[0]!.end('done')
    await eventually(async () => (await send()).status === 200)
    assert.match(await (await send()).text(), /"result":"done"/)
    assert.equal(runs.length, 1)
  }
})

test('a call without a key ends when its client leaves', async (t) => {
  for (const headers of [{}, asEvents]) {
    const { runs, options } = effects()
    const { url } = await listen(t, options)
    const leaving = new AbortController()
    const left = fetch(`${url}/tools/send-later`, {
      method: 'POST', body: '{"to":"ann"}', signal: leaving.signal,
      headers: { 'content-type': 'application/json', ...headers },
    }).then(async (response) => response.text()).catch(() => 'left')
    await eventually(() => runs.length === 1)
    leaving.abort()
    assert.equal(await left, 'left')
    await eventually(() => runs[0]!.call.signal.aborted)
  }
})

test('the reply of a call is kept before its last event is sent, in a store that takes time', async (t) => {
  const store = sharedStore()
  const { options } = effects()
  const [one, two] = [serve(t, { ...options, store }), serve(t, { ...options, store })]
  for (const headers of [asEvents, {}]) {
    const key = { ...headers, 'idempotency-key': JSON.stringify(headers) }
    assert.match(await (await one.fetch(call('send', undefined, key))).text(), /"to":"ann"/)
    const again = await two.fetch(call('send', undefined, key))
    assert.ok(isReplayed(again))
    await again.text()
  }
})
