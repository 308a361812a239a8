import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import test from 'node:test'
import { createServer, defineTool, Fault, memoryStore } from '../../../lib/index.ts'
import { checkAddress } from '../../../lib/kernel/server/options.ts'
import { defaultPort } from '../../../lib/kernel/server/server.ts'
import { echo, jsonOf, listen, request, serve } from '../../fixtures/client.ts'
import type { ProtocolName, ServerOptions, Subject } from '../../../lib/index.ts'

const add = defineTool({ name: 'add', run: () => 3 })

const mistakes: readonly (readonly [options: unknown, sentence: RegExp])[] = [
  [{}, /There is nothing to serve; write .*agents: \[agent\]/],
  [{ agents: [] }, /There is nothing to serve/],
  [{ agents: echo }, /'agents' is an object; write a list, as in \{ agents: \[one\] \}/],
  [{ agents: [echo, echo] }, /two agents with the id 'echo'.*give one of them another name/],
  [{ agents: [{ name: 'A B', run: () => '' }, { name: 'a_b', run: () => '' }] },
    /two agents with the id 'a-b'/],
  [{ agents: [echo], groups: [{ name: 'Echo', agents: [{ name: 'X', run: () => '' }] }] },
    /two agents with the id 'echo'/],
  [{ groups: [{ name: 'Echo', agents: [echo] }] }, /two agents with the id 'echo'/],
  [{ agents: [echo], tools: [add, { ...add, name: 'add' }] }, /'add'/],
  [{ agents: [echo], protocol: 'soap' }, /protocol is "soap"; write 'http', 'mcp', 'a2a', 'all'/],
  [{ agents: [echo], protocol: [] }, /protocol is an empty list; write 'http', 'mcp', 'a2a', 'all' or/],
  [{ agents: [echo], protocol: ['all'] }, /protocol is "all"; write 'all' alone, without a list/],
  [{ agents: [echo], protocol: ['http', 'soap'] }, /protocol is "soap"/],
  [{ agents: [echo], mountPath: 'team' }, /mountPath is "team"; write a path/],
  [{ agents: [echo], mountPath: '/team/' }, /mountPath is "\/team\/"; write a path that begins/],
  [{ agents: [echo], mountPath: '/a/../team' }, /mountPath is "\/a\/\.\.\/team"; write a path of/],
  [{ agents: [echo], mountPath: '/équipe' }, /mountPath is "\/équipe"; write a path of names of letters/],
  [{ agents: [echo], path: '/.' }, /path is "\/\."; write a path of names/],
  [{ agents: [echo], publicUrl: 'agents.example' }, /publicUrl is "agents.example"; write an address/],
  [{ agents: [echo], publicUrl: 'ftp://agents.example' }, /publicUrl is "ftp:/],
  [{ agents: [echo], publicUrl: 'https://agents.example?a=b' }, /publicUrl is "https:/],
  [{ agents: [echo], trustProxy: -1 }, /trustProxy is -1; write true, or how many proxies there are/],
  [{ agents: [echo], trustProxy: '1' }, /trustProxy is "1"/],
  [{ agents: [echo], trustProxy: 0.5 }, /trustProxy is 0.5/],
  [{ agents: [echo], apiKey: '' }, /The API key 1 is empty/],
  [{ agents: [echo], cors: 'app.example' }, /'app.example' is no origin/],
  [{ agents: [echo], allowedHosts: ['http://a'] }, /allowedHosts has 'http:\/\/a'/],
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
      /Two tools are named 'execute_echo_task'; agents take execute_<id>_task and ask_<id>, rename/],
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
  const server = serve(t, { agents: [echo], mountPath: '/team' })
  for (const path of ['/team/none', '/none', '/team/mcp']) {
    const refused = await server.fetch(request(path))
    assert.equal(refused.status, 404)
    const [, listing = ''] = /GET (\S+) lists/.exec(await refused.text()) ?? []
    assert.equal((await server.fetch(request(listing))).status, 200, path)
  }
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

test('a port is a whole number that can be one', async (t) => {
  const server = serve(t, { agents: [echo] })
  for (const port of [-1, 65_536, 1.5, NaN, '8000' as never]) {
    await assert.rejects(server.listen(port), /^RangeError: port is .*; write a whole number from 0 to 65535/)
  }
  for (const port of [0, 65_535]) checkAddress([port], port, '127.0.0.1')
})

/** What is written to standard error while something is done. */
async function stderrOf(work: () => Promise<unknown>): Promise<string> {
  const { write } = process.stderr
  let text = ''
  process.stderr.write = (chunk: string | Uint8Array): boolean => { text += String(chunk); return true }
  try {
    await work()
  } finally {
    process.stderr.write = write
  }
  return text
}

test('beyond this machine a key is made, printed once, and required', async (t) => {
  const server = serve(t, { agents: [echo], name: 'House' })
  let port = 0
  const said = await stderrOf(async () => { ({ port } = await server.listen(0, '0.0.0.0')) })
  const key = server.generatedKey
  assert.match(String(key), /^[\w-]{32}$/)
  assert.equal(said, `House listens beyond this machine, so it asks for a key: ${key}\n`)
  const ask = async (headers: Record<string, string>): Promise<number> => {
    const { headers: all, method } = request('/', { query: 'hi' }, headers)
    return (await fetch(`http://127.0.0.1:${port}/`, { method, headers: all, body: '{"query":"hi"}' })).status
  }
  assert.equal(await ask({}), 401)
  assert.equal(await ask({ 'x-api-key': 'guess' }), 401)
  assert.equal(await ask({ 'x-api-key': String(key) }), 200)
  assert.equal((await fetch(`http://127.0.0.1:${port}/health`)).status, 200)
  // The same holds without a socket.
  assert.equal((await server.fetch(request('/', { query: 'hi' }))).status, 401)
})

const keyless: readonly (readonly [options: Partial<ServerOptions>, host: string])[] = [
  [{}, '127.0.0.1'], [{}, 'localhost'], [{ insecure: true }, '0.0.0.0'], [{ apiKey: 'k' }, '0.0.0.0'],
]

test('no key is made where none is needed, or one was given', async (t) => {
  for (const [options, host] of keyless) {
    const server = serve(t, { agents: [echo], ...options })
    let url = ''
    assert.equal(await stderrOf(async () => { ({ url } = await server.listen(0, host)) }), '')
    assert.equal(server.generatedKey, undefined)
    assert.match(url, /^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/)
    assert.equal((await fetch(`${url}/health`)).status, 200)
  }
})

test('an address of the sixth version is written as one', async (t) => {
  const hasIpv6 = Object.values(networkInterfaces()).flat().some((one) => one?.address === '::1')
  if (!hasIpv6) return t.skip('this machine has no ::1')
  const server = serve(t, { agents: [echo], mountPath: '/team' })
  const { url, host } = await server.listen(0, '::1')
  assert.match(url, /^http:\/\/\[::1\]:\d+\/team$/)
  assert.equal(host, '::1')
  assert.equal((await fetch(`${url}/health`)).status, 200)
})

test('a page of a listed origin may call and read, over a real connection', async (t) => {
  const { url } = await listen(t, { agents: [echo], cors: 'https://app.example' })
  const origin = 'https://app.example'
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type, x-api-key',
    },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), origin)
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'content-type, x-api-key')
  assert.match(String(preflight.headers.get('access-control-allow-methods')), /POST/)
  const headers = { origin, 'content-type': 'application/json' }
  for (const body of ['{"query":"hi"}', '{']) {
    const response = await fetch(url, { method: 'POST', headers, body })
    assert.equal(response.headers.get('access-control-allow-origin'), origin)
    assert.equal(response.headers.get('vary'), 'Origin')
  }
  assert.equal((await fetch(url, { headers: { origin: 'https://evil.example' } })).status, 403)
})

test('one request never stands in the way of another', async (t) => {
  const waits = (prompt: string): Promise<string> =>
    new Promise((resolve) => setTimeout(resolve, Number(prompt) % 7, prompt))
  const { url } = await listen(t, { agents: [waits] })
  const answers = await Promise.all(Array.from({ length: 100 }, async (_, at) => {
    const body = JSON.stringify({ query: String(at) })
    const headers = { 'content-type': 'application/json', 'x-request-id': 'the-same' }
    return jsonOf(await fetch(url, { method: 'POST', headers, body }))
  }))
  for (const [at, answer] of answers.entries()) assert.equal(answer['response'], String(at))
})

test('closing is done once, and does no harm before anything was opened', async (t) => {
  const server = serve(t, { agents: [echo] })
  const closing = server.close()
  assert.equal(server.close(), closing)
  await closing
  await assert.rejects(server.listen(0), /This server is closed; make a new one/)
})

test('a store that must be closed is closed with the server', async () => {
  let isClosed = false
  const store = { ...memoryStore(), close: () => { isClosed = true } }
  await createServer({ agents: [echo], store }).close()
  assert.equal(isClosed, true)
})

test('a store that never closes keeps no server from closing', async () => {
  const store = { ...memoryStore(), close: () => new Promise<void>(() => {}) }
  const begunAt = performance.now()
  await createServer({ agents: [echo], store, graceMs: 0 }).close()
  assert.ok(performance.now() - begunAt < 10_000)
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

test('onCall gets each call once, and a listener that throws does no harm', async () => {
  const seen: unknown[] = []
  const server = createServer({
    agents: [echo], protocol: 'http', log: false,
    onCall({ kind, name, protocol, outcome }) {
      seen.push([kind, name, protocol, outcome])
      throw new Error('broken')
    },
  })
  const response = await server.fetch(new Request('http://localhost/', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"query":"hi"}',
  }))
  assert.equal(response.status, 200)
  assert.deepEqual(seen, [['agent', 'Echo', 'http', 'ok']])
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

/** The cache headers of an answer: whether a key was needed decides, unless the answer has its own. */
const kept: readonly (readonly [path: string, method: string, header: string | null])[] = [
  ['/agents', 'GET', 'private, no-cache'],
  ['/agents', 'HEAD', 'private, no-cache'],
  ['/agents/nobody', 'GET', 'private, no-cache'],
  ['/nothing', 'GET', 'private, no-cache'],
  ['/openapi.json', 'GET', 'private, no-cache'],
  ['/health', 'GET', null],
  ['/', 'POST', null],
]

test('no cache gives an answer for a key to clients without one', async (t) => {
  for (const apiKey of ['k', undefined]) {
    const server = serve(t, { agents: [echo], ...apiKey !== undefined && { apiKey } })
    for (const [path, method, header] of kept) {
      const body = method === 'POST' ? { query: 'hi' } : undefined
      const { headers } = await server.fetch(request(path, body, { 'x-api-key': 'k' }, method))
      const expected = apiKey === undefined && path !== '/openapi.json' ? null : header
      assert.equal(headers.get('cache-control'), expected, `${apiKey} ${method} ${path}`)
    }
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
