import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import test from 'node:test'
import { createServer, defineTool } from '../../../lib/kernel.ts'
import { checkAddress } from '../../../lib/kernel/server/options.ts'
import { defaultPort } from '../../../lib/kernel/server/server.ts'
import { echo, jsonOf, listen, memoryStore, request, serve } from '../../fixtures/kernel.ts'
import { onePost, probe } from '../../fixtures/probe.ts'
import type { KernelOptions } from '../../../lib/kernel.ts'
import type { ProbeOptions } from '../../fixtures/kernel.ts'

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
  [{ agents: [echo], mountPath: 'team' }, /mountPath is "team"; write a path/],
  [{ agents: [echo], mountPath: '/team/' }, /mountPath is "\/team\/"; write a path that begins/],
  [{ agents: [echo], mountPath: '/a/../team' }, /mountPath is "\/a\/\.\.\/team"; write a path of/],
  [{ agents: [echo], mountPath: '/équipe' }, /mountPath is "\/équipe"; write a path of names of letters/],
  [{ agents: [echo], publicUrl: 'agents.example' }, /publicUrl is "agents.example"; write an address/],
  [{ agents: [echo], publicUrl: 'ftp://agents.example' }, /publicUrl is "ftp:/],
  [{ agents: [echo], publicUrl: 'https://agents.example?a=b' }, /publicUrl is "https:/],
  [{ agents: [echo], trustProxy: -1 }, /trustProxy is -1; write true, or how many proxies there are/],
  [{ agents: [echo], trustProxy: '1' }, /trustProxy is "1"/],
  [{ agents: [echo], trustProxy: 0.5 }, /trustProxy is 0.5/],
  [{ agents: [echo], apiKey: '' }, /The API key 1 is empty/],
  [{ agents: [echo], cors: 'app.example' }, /'app.example' is no origin/],
  [{ agents: [echo], allowedHosts: ['http://a'] }, /allowedHosts has 'http:\/\/a'/],
]

test('a mistake in the options is a sentence that says what to write instead', () => {
  for (const [options, sentence] of mistakes) {
    assert.throws(() => createServer({ parts: [onePost()], ...options as object } as KernelOptions), sentence)
  }
})

test('the port follows the protocol, where that is the only one', () => {
  const [one, two] = [probe({ protocol: 'one', port: 8080 }), probe({ protocol: 'two' })]
  assert.deepEqual([[one], [two], [one, two], [one, probe()]].map(defaultPort), [8080, 8000, 8000, 8080])
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

const keyless: readonly (readonly [options: ProbeOptions, host: string])[] = [
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
  await createServer({ agents: [echo], parts: [onePost()], store }).close()
  assert.equal(isClosed, true)
})

test('a store that never closes keeps no server from closing', async () => {
  const store = { ...memoryStore(), close: () => new Promise<void>(() => {}) }
  const begunAt = performance.now()
  await createServer({ agents: [echo], parts: [onePost()], store, graceMs: 0 }).close()
  assert.ok(performance.now() - begunAt < 10_000)
})

test('what a server is doing and holding can be read at any moment', async (t) => {
  let release: (text: string) => void = () => {}
  const slow = { name: 'Slow', run: () => new Promise<string>((resolve) => { release = resolve }) }
  const server = serve(t, { agents: [slow] })
  const asking = server.fetch(request('/', { query: 'hi' }))
  while (server.status().calls.running === 0) await new Promise(setImmediate)
  release('done')
  await asking
  assert.deepEqual(server.status(), {
    calls: { running: 0, abandoned: 0, bytes: 0 }, streams: { open: 0, queuedBytes: 0 }, bodies: { bytes: 0 },
    store: undefined, probe: { sessions: 0 },
  })
})

test('onCall gets each call once, and a listener that throws does no harm', async (t) => {
  const seen: unknown[] = []
  const server = serve(t, {
    agents: [echo],
    onCall({ kind, name, protocol, outcome }) {
      seen.push([kind, name, protocol, outcome])
      throw new Error('broken')
    },
  })
  assert.equal((await server.fetch(request('/', { query: 'hi' }))).status, 200)
  assert.deepEqual(seen, [['agent', 'Echo', 'http', 'ok']])
})

/** The cache headers of an answer: whether a key was needed decides, unless the answer has its own. */
const kept: readonly (readonly [path: string, method: string, header: string | null])[] = [
  ['/agents', 'GET', 'private, no-cache'],
  ['/agents', 'HEAD', 'private, no-cache'],
  ['/agents/nobody', 'GET', 'private, no-cache'],
  ['/nothing', 'GET', 'private, no-cache'],
  ['/health', 'GET', null],
  ['/', 'POST', null],
]

test('no cache gives an answer for a key to clients without one', async (t) => {
  for (const apiKey of ['k', undefined]) {
    const server = serve(t, { agents: [echo], ...apiKey !== undefined && { apiKey } })
    for (const [path, method, header] of kept) {
      const body = method === 'POST' ? { query: 'hi' } : undefined
      const { headers } = await server.fetch(request(path, body, { 'x-api-key': 'k' }, method))
      const expected = apiKey === undefined ? null : header
      assert.equal(headers.get('cache-control'), expected, `${apiKey} ${method} ${path}`)
    }
  }
})

test('a body of more objects and lists than may be is not parsed', async (t) => {
  const server = serve(t, { agents: [echo], tools: [add], maxObjects: 100 })
  const body = JSON.stringify({ query: 'hi', metadata: { many: Array.from({ length: 100 }, () => ({})) } })
  for (const path of ['/', '/agents/echo', '/tools/add']) {
    const response = await server.fetch(request(path, body))
    assert.equal(response.status, 400, path)
    assert.match(await response.text(), /The JSON holds more than 100 objects and lists/, path)
  }
})
