import assert from 'node:assert/strict'
import test from 'node:test'
import { createServer, defineTool, Fault } from '../../lib/index.ts'
import { defaultPort } from '../../lib/kernel/server/server.ts'
import { echo, jsonOf, listen, request, serve } from '../fixtures/client.ts'
import type { ProtocolName, ServerOptions, Subject } from '../../lib/index.ts'

const add = defineTool({ name: 'add', run: () => 3 })

const mistakes: readonly (readonly [options: unknown, sentence: RegExp])[] = [
  [{ agents: [echo], protocol: 'soap' }, /protocol is "soap"; write 'http', 'mcp', 'a2a', 'all'/],
  [{ agents: [echo], protocol: [] }, /protocol is an empty list; write 'http', 'mcp', 'a2a', 'all' or/],
  [{ agents: [echo], protocol: ['all'] }, /protocol is "all"; write 'all' alone, without a list/],
  [{ agents: [echo], protocol: ['http', 'soap'] }, /protocol is "soap"/],
  [{ agents: [echo], path: '/.' }, /path is "\/\."; write a path of names/],
  [{ agents: [echo], maxTasks: 0 }, /maxTasks is 0; write a whole number above zero/],
]

test('a mistake in the options is a sentence that says what to write instead', () => {
  for (const [options, sentence] of mistakes) {
    assert.throws(() => createServer(options as ServerOptions), sentence)
  }
})

test('a running server keeps the rules of its definitions, in every protocol', async (t) => {
  const server = serve(t, { agents: [echo], tools: [add], protocol: 'all' })
  const listed = async (): Promise<readonly unknown[]> => {
    const { result } = await jsonOf(await server.fetch(
      request('/messages/', { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    ))
    return (result as { tools: { name: string }[] }).tools.map(({ name }) => name)
  }
  const before = await listed()
  const taken: readonly (readonly [thing: Subject, sentence: RegExp])[] = [
    [{ name: 'echo', run: () => '' }, /Echo has two agents with the id 'echo'/],
    [{ name: 'add', inputSchema: { type: 'object' }, run: () => 1 }, /Two tools are named 'add'/],
    [{ name: 'execute_echo_task', inputSchema: { type: 'object' }, run: () => 1 },
      /Two tools are named 'execute_echo_task'; agents take execute_<id>_task and .*, groups .*, rename/],
    [{ name: 'ask_echo', inputSchema: { type: 'object' }, run: () => 1 }, /Two tools are named 'ask_echo'/],
  ]
  for (const [thing, message] of taken) {
    assert.throws(() => server.catalog.add(thing as never), { name: 'TypeError', message })
  }
  assert.deepEqual(await listed(), before)
  server.catalog.add({ name: 'Late', run: () => 'Here' })
  assert.deepEqual(await listed(), [before[0], 'execute_late_task', ...before.slice(1)])
  const { response } = await jsonOf(await server.fetch(request('/agents/late', { query: 'hi' })))
  assert.equal(response, 'Here')
})

const choices: readonly (readonly [
  options: Partial<ServerOptions>, protocols: readonly ProtocolName[], port: number,
])[] = [
  [{}, ['http'], 8000],
  [{ protocol: 'mcp' }, ['mcp'], 8080],
  [{ protocol: 'a2a' }, ['a2a'], 8000],
  [{ protocol: 'all' }, ['http', 'mcp', 'a2a'], 8000],
  [{ protocol: ['mcp', 'http'] }, ['http', 'mcp'], 8000],
  [{ agents: [], tools: [add] }, ['mcp'], 8080],
  [{ agents: [], tools: [add], protocol: 'http' }, ['http'], 8000],
  [{ agents: [], tools: [add], protocol: 'all' }, ['http', 'mcp', 'a2a'], 8000],
  [{ agents: [], prompts: [{ name: 'p', get: () => '' }], protocol: 'all' }, ['http', 'mcp'], 8000],
]

test('who asks for what is not there is told the path that lists what is, below the prefix', async (t) => {
  const key = { 'X-API-Key': 'of a test' }
  const model = { model: 'none', input: 'x', messages: [{ role: 'user', content: 'x' }] }
  const asked: readonly (readonly [path: string, body?: object])[] = [
    ['/none'], ['/mcp'], ['/agents/none'], ['/agents/none', { query: 'x' }], ['/agents/none/agui', {}],
    ['/tools/none'], ['/tools/none', {}], ['/prompts/none', {}], ['/skills/none'], ['/v1/models/none'],
    ['/v1/chat/completions', model], ['/v1/responses', model], ['/conversations/none-of-them'],
  ]
  const forwarded = { 'X-Forwarded-Host': 'a.example', 'X-Forwarded-Prefix': '/cut' }
  const rows: readonly (readonly [options: ServerOptions, headers: Record<string, string>, cut: string])[] = [
    [{}, {}, ''], [{ mountPath: '/team' }, {}, ''], [{ publicUrl: 'https://a.example/cut' }, {}, '/cut'],
    [{ mountPath: '/team', publicUrl: 'https://a.example/cut' }, {}, '/cut'],
    [{ trustProxy: true }, forwarded, '/cut'],
  ]
  for (const [options, headers, cut] of rows) {
    const { mountPath = '' } = options
    const server = serve(t, { agents: [echo], apiKey: key['X-API-Key'], ...options })
    for (const [path, body] of asked) {
      const refused = await server.fetch(request(mountPath + path, body, { ...headers, ...key }))
      assert.equal(refused.status, 404, path)
      const [, listing = ''] = /GET (\S+) lists/.exec(await refused.text()) ?? []
      assert.ok(listing.startsWith(`${cut}${mountPath}/`), `${path}: ${listing}`)
      const list = await server.fetch(request(listing.slice(cut.length), undefined, { ...headers, ...key }))
      assert.equal(list.status, 200, listing)
    }
    const read = request(`${mountPath}/resources/read`, undefined, { ...headers, ...key })
    const unnamed = await server.fetch(read)
    assert.ok((await unnamed.text()).includes(`write ${cut}${mountPath}/resources/read?uri=`))
  }
  const outside = await serve(t, { agents: [echo], mountPath: '/team' }).fetch(request('/none'))
  assert.match(await outside.text(), /GET \/team\/ lists what is/)
})

test('protocols and port follow the options, or what is served', (t) => {
  for (const [options, protocols, port] of choices) {
    const server = serve(t, { agents: [echo], ...options })
    assert.deepEqual(server.protocols, protocols)
    const parts = protocols.map((protocol) => (
      { name: protocol, protocol, ...protocol === 'mcp' && { port: 8080 } }
    ))
    assert.equal(defaultPort(parts), port)
  }
})

test('what a server is doing and holding can be read at any moment', async () => {
  let release: (text: string) => void = () => {}
  const slow = { name: 'Slow', run: () => new Promise<string>((resolve) => { release = resolve }) }
  const server = createServer({ agents: [slow], protocol: 'all' })
  const asking = server.fetch(new Request('http://localhost/', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"query":"hi"}',
  }))
  while (server.status().calls.running === 0) await new Promise(setImmediate)
  assert.deepEqual(server.status().mcp, { sessions: 0, subscribers: 0, replayBytes: 0 })
  release('done')
  await asking
  const { calls, conversations, tasks, streams, bodies } = server.status()
  assert.deepEqual([calls, conversations.count, streams, bodies], [
    { running: 0, abandoned: 0, bytes: 0 }, 1, { open: 0, queuedBytes: 0 }, { bytes: 0 },
  ])
  assert.deepEqual(tasks, { running: 0, finished: 0, bytes: 0 })
  await server.close()
})

test('a name that only a proxy passes on becomes no address that caches give to others', async (t) => {
  const allowedHosts = ['good.example']
  const { url } = await listen(t, { agents: [echo], protocol: 'all', trustProxy: true, allowedHosts })
  const card = async (name: string): Promise<Response> =>
    fetch(`${url}/.well-known/agent-card.json`, { headers: { 'x-forwarded-host': name } })
  const seen = await card('evil.example')
  assert.equal(seen.headers.get('cache-control'), 'private, no-cache')
  assert.match(String(seen.headers.get('vary')), /Host/)
  const listed = await card('good.example')
  assert.equal(listed.headers.get('cache-control'), 'public, max-age=300')
  assert.equal((await jsonOf(listed))['url'], 'http://good.example/a2a')
  for (const name of ['[::', 'a:99999', ',,,', 'x@y', 'a'.repeat(4_000)]) {
    for (const path of ['/.well-known/agent-card.json', '/openapi.json', '/sse', '/']) {
      const headers = { 'x-forwarded-host': name, 'x-forwarded-proto': name, 'accept': '*/*' }
      const response = await fetch(`${url}${path}`, { method: path === '/sse' ? 'HEAD' : 'GET', headers })
      assert.equal(response.status, 200, `${path} ${name.slice(0, 20)}`)
      await response.body?.cancel()
    }
  }
})

/** What an author can attach to a fault. */
const details: readonly (() => unknown)[] = [
  () => ({ scopes: 'orders:write' }),
  () => ({ scopes: [Symbol('a'), 7n, null, { toString() { throw new Error('no') } }] }),
  () => ({ scopes: ['a", error="x', 'ä\r\nset-cookie: a=b'] }),
  () => ({ get scopes() { throw new Error('no') } }),
  () => ({ scopes: ['a'], toJSON() { throw new Error('no') } }),
  () => { const detail: Record<string, unknown> = {}; return Object.assign(detail, { detail, n: 1n }) },
  () => Object.create(null),
  () => [Symbol('a')],
  () => 'text',
]

test('what is attached to a fault does not hide it', async (t) => {
  for (const kind of ['forbidden', 'unauthenticated', 'busy', 'not-found', 'unsupported'] as const) {
    for (const detail of details) {
      const fail = (): never => { throw new Fault(kind, 'Not this time', detail()) }
      const failLater = async (): Promise<never> => fail()
      for (const run of [fail, failLater]) {
        const server = serve(t, { name: '助手', agents: [{ name: 'A', run }], protocol: 'all' })
        const message = { role: 'user', parts: [{ text: 'hi' }] }
        const call = { jsonrpc: '2.0', id: 1 }
        const asked = [
          request('/', { query: 'hi' }),
          request('/', { query: 'hi', stream: true }),
          request('/a2a', { ...call, method: 'message/send', params: { message } }),
          request('/mcp', {
            ...call, method: 'tools/call', params: { name: 'execute_a_task', arguments: { prompt: 'hi' } },
          }),
        ]
        for (const one of asked) {
          const response = await server.fetch(one)
          const row = `${kind} ${String(detail)} ${one.url} ${response.status}`
          assert.match(await response.text(), /Not this time/, row)
          assert.doesNotMatch(String(response.headers.get('www-authenticate')), /error="x"|cookie/, row)
        }
      }
    }
  }
})

test('the description of what is served is kept by no cache, with a key and without one', async (t) => {
  for (const apiKey of ['k', undefined]) {
    const server = serve(t, { agents: [echo], ...apiKey !== undefined && { apiKey } })
    const { headers } = await server.fetch(request('/openapi.json', undefined, { 'x-api-key': 'k' }))
    assert.equal(headers.get('cache-control'), 'private, no-cache')
  }
})

/** Every place that takes JSON, and how it says that a body is too much. */
const takers: readonly (readonly [path: string, status: number])[] = [
  ['/', 400], ['/agents/echo', 400], ['/tools/t', 400], ['/mcp', 400], ['/messages/', 400], ['/a2a', 400],
  ['/message:send', 400], ['/v1/chat/completions', 400],
]

test('a body of more objects and lists than may be is parsed in no protocol', async (t) => {
  const server = serve(t, {
    agents: [echo], tools: [{ name: 't', run: () => '' }], protocol: 'all', maxObjects: 100,
  })
  const body = JSON.stringify({ query: 'hi', metadata: { many: Array.from({ length: 100 }, () => ({})) } })
  for (const [path, status] of takers) {
    const response = await server.fetch(request(path, body))
    assert.equal(response.status, status, path)
    assert.match(await response.text(), /The JSON holds more than 100 objects and lists/, path)
  }
})
