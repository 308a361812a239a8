import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import test from 'node:test'
import { createServer, defineTool, memoryStore } from '../lib/index.ts'
import { defaultPort } from '../lib/server.ts'
import { echo, jsonOf, listen, request, serve } from './fixtures/client.ts'
import type { ProtocolName, ServerOptions } from '../lib/index.ts'

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
  [{ agents: [echo], protocol: [] }, /protocol is an array; write/],
  [{ agents: [echo], protocol: ['http', 'soap'] }, /protocol is "soap"/],
  [{ agents: [echo], mountPath: 'team' }, /mountPath is "team"; write a path/],
  [{ agents: [echo], mountPath: '/team/' }, /mountPath is "\/team\/"/],
  [{ agents: [echo], publicUrl: 'agents.example' }, /publicUrl is "agents.example"; write an address/],
  [{ agents: [echo], publicUrl: 'ftp://agents.example' }, /publicUrl is "ftp:/],
  [{ agents: [echo], publicUrl: 'https://agents.example?a=b' }, /publicUrl is "https:/],
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

const choices: readonly (readonly [
  options: Partial<ServerOptions>, protocols: readonly ProtocolName[], port: number,
])[] = [
  [{}, ['http'], 8000],
  [{ protocol: 'mcp' }, ['mcp'], 8080],
  [{ protocol: 'a2a' }, ['a2a'], 8000],
  [{ protocol: 'all' }, ['http', 'mcp', 'a2a'], 8000],
  [{ protocol: ['mcp', 'http'] }, ['http', 'mcp'], 8000],
  [{ agents: [], tools: [add] }, ['mcp'], 8080],
]

test('which doors are open, and on which port, is told by the options or by what is served', (t) => {
  for (const [options, protocols, port] of choices) {
    const server = serve(t, { agents: [echo], ...options })
    assert.deepEqual(server.protocols, protocols)
    assert.equal(defaultPort(server.protocols), port)
  }
})

test('a port is a whole number that can be one', async (t) => {
  const server = serve(t, { agents: [echo] })
  for (const port of [-1, 65_536, 1.5, NaN, '8000' as never]) {
    await assert.rejects(server.listen(port), /^RangeError: port is .*; write a whole number from 0 to 65535/)
  }
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

test('beyond this machine a key is made, told once, and asked for', async (t) => {
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
