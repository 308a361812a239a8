import assert from 'node:assert/strict'
import test from 'node:test'
import { echo, eventually, jsonOf, listen, request, serve } from '../../fixtures/kernel.ts'
import type { Call } from '../../../lib/kernel.ts'

/** What a socket adds of its own, and what frames a body on it. */
const OF_THE_SOCKET = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])

async function bytesOf(response: Response, isStream: boolean): Promise<unknown> {
  const headers = [...response.headers].filter(([name]) => !OF_THE_SOCKET.has(name))
  // A stream that ends at once has a length on a socket, where one can be told in time.
  return [
    response.status, headers.filter(([name]) => !isStream || name !== 'content-length'),
    await response.text(),
  ]
}

const id = { 'x-request-id': 'same', 'x-session-id': 'same-session' }
const origin = { ...id, origin: 'https://app.example' }
const key = { ...id, 'x-api-key': 'k' }

const rows: readonly (readonly [
  path: string, body: unknown, headers: Record<string, string>, method?: string,
])[] = [
  ['/', undefined, id],
  ['/', undefined, { ...id, accept: 'text/html' }],
  ['/', undefined, id, 'HEAD'],
  ['/', undefined, key, 'OPTIONS'],
  ['/', undefined, { ...origin, 'access-control-request-headers': 'x-api-key' }, 'OPTIONS'],
  ['/', undefined, { ...id, origin: 'https://evil.example' }],
  ['/', undefined, origin],
  ['/health', undefined, id],
  ['/ready', undefined, id],
  ['/agents', undefined, id],
  ['/agents', undefined, key],
  ['/agents/echo', undefined, key],
  ['/agents/nobody', undefined, key],
  ['/nothing', undefined, key],
  ['/%zz', undefined, key],
  ['/', undefined, key, 'DELETE'],
  ['/', { query: 'héllo 😀' }, key],
  ['/', { query: 'hello' }, id],
  ['/', { query: 'hello', stream: true }, key],
  ['/', { query: '' }, key],
  ['/', '{', key],
  ['/', '', key],
  ['/', { query: 'x'.repeat(5_000) }, key],
  ['/', 'query=hello', { ...key, 'content-type': 'application/x-www-form-urlencoded' }],
  ['/', { query: 'hello' }, { ...key, accept: 'image/png' }],
]

test('a body is judged though its length is said to be nothing', async (t) => {
  const server = serve(t, { agents: [echo] })
  const headers = { 'content-type': 'text/plain', 'content-length': '0' }
  assert.equal((await server.fetch(request('/', '{"query":"hi"}', headers))).status, 415)
})

test('without a socket the answer is byte for byte the one that goes over it', async (t) => {
  const { server, url } = await listen(t, {
    agents: [echo], apiKey: 'k', cors: 'https://app.example', maxBodyBytes: 4_000,
    publicUrl: 'http://agents.example',
    allowedHosts: ['*'],
  })
  for (const [path, body, headers, method] of rows) {
    const { method: verb, headers: all } = request(path, body, headers, method)
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const outside = await fetch(url + path, {
      method: verb, headers: all, redirect: 'manual', ...text !== undefined && { body: text },
    })
    const inside = await server.fetch(request(path, body, headers, method))
    const isStream = inside.headers.get('content-type') === 'text/event-stream'
    const what = `${verb} ${path} ${text?.slice(0, 40)}`
    assert.deepEqual(await bytesOf(inside, isStream), await bytesOf(outside, isStream), what)
  }
})

/** A run that goes on until nobody wants it. */
function patient(
  
): {
  readonly started: () => boolean
  readonly aborted: () => boolean
  run(prompt: string, call: Call): Promise<string>
} {
  let signal: AbortSignal | undefined
  return {
    started: () => signal !== undefined,
    aborted: () => signal?.aborted === true,
    run: (_prompt, call) => {
      signal = call.signal
      return new Promise(() => {})
    },
  }
}

test('a request that is aborted aborts its run, with and without a stream', async (t) => {
  for (const stream of [false, true]) {
    const agent = patient()
    const server = serve(t, { agents: [{ name: 'Patient', run: agent.run }] })
    const controller = new AbortController()
    const asked = new Request(request('/', { query: 'hello', stream }), { signal: controller.signal })
    const answer = server.fetch(asked)
    if (stream) assert.equal((await answer).status, 200)
    await eventually(agent.started, 'the run has started')
    controller.abort()
    await eventually(agent.aborted, 'the run is aborted')
    if (!stream) assert.equal((await answer).status, 503)
  }
})

test('a request that was aborted before it came starts no run that lasts', async (t) => {
  const agent = patient()
  const server = serve(t, { agents: [{ name: 'Patient', run: agent.run }] })
  const asked = new Request('http://x/', { method: 'POST', signal: AbortSignal.abort() })
  assert.equal((await server.fetch(asked)).status, 400)
  const late = new Request(request('/', { query: 'hello' }), { signal: AbortSignal.abort() })
  assert.ok((await server.fetch(late)).status >= 400)
  assert.equal(agent.started(), agent.aborted())
})

test('a reader who cancels the stream aborts its run', async (t) => {
  const agent = patient()
  const server = serve(t, { agents: [{ name: 'Patient', run: agent.run }] })
  const response = await server.fetch(request('/', { query: 'hello', stream: true }))
  await eventually(agent.started, 'the run has started')
  await response.body!.cancel()
  await eventually(agent.aborted, 'the run is aborted')
})

/** A body that comes in pieces, and may break. */
function streamed(pieces: readonly (string | Uint8Array | Error)[]): Request {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) {
      if (piece instanceof Error) throw piece
      yield typeof piece === 'string' ? Buffer.from(piece) : piece
    }
  }
  const init = {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: ReadableStream.from(chunks()),
    duplex: 'half',
  }
  return new Request('http://triport.test/', init as RequestInit)
}

test('a body that comes in pieces is read within the same bounds', async (t) => {
  const logged: string[] = []
  const server = serve(
    t, { agents: [echo], maxBodyBytes: 100, log: (level, message) => logged.push(`${level} ${message}`) },
  )
  const bodies: readonly (readonly [pieces: readonly (string | Uint8Array | Error)[], status: number])[] = [
    [['{"query":', '"hello"}'], 200],
    [['{"query":"', Uint8Array.of(0xc3), Uint8Array.of(0xa9), '"}'], 200],
    [['{"query":"', Uint8Array.of(0xc3), '"}'], 400],
    [['{"query":"', 'x'.repeat(60), 'x'.repeat(60), '"}'], 413],
    [['{"query":', new Error('the line broke')], 400],
    [[], 400],
  ]
  for (const [pieces, status] of bodies) {
    assert.equal((await server.fetch(streamed(pieces))).status, status, String(pieces))
  }
  assert.deepEqual(logged, [])
})

test('what a host copied of its connection means nothing here', async (t) => {
  const server = serve(t, { agents: [echo] })
  const headers = {
    'content-type': 'application/json', 'connection': 'keep-alive, X-Request-Id',
    'keep-alive': 'timeout=5',
    'te': 'trailers', 'trailer': 'x-sum', 'upgrade': 'h2c', 'proxy-connection': 'close',
    'x-request-id': 'mine',
  }
  for (const coding of ['chunked', 'gzip, chunked', 'gzip']) {
    const body = new Blob(['{"query":', '"hi"}']).stream()
    const coded = { ...headers, 'transfer-encoding': coding }
    const answer = await server.fetch(new Request('http://own.example/', {
      method: 'POST', body, headers: coded, duplex: 'half',
    }))
    assert.equal(answer.status, 200, coding)
    assert.equal(answer.headers.get('x-request-id'), 'mine')
  }
})

test('a body that does not come to its end in time is given up', async (t) => {
  const server = serve(t, { agents: [echo], bodyTimeoutMs: 50, headersTimeoutMs: 50 })
  let isCancelled = false
  const body = new ReadableStream({
    start(controller) { controller.enqueue(Buffer.from('{"query":')) },
    cancel() { isCancelled = true },
  })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' }
  const response = await server.fetch(new Request('http://triport.test/', init as RequestInit))
  assert.equal(response.status, 408)
  assert.equal((await jsonOf(response))['error'], 'The request took too long to arrive')
  assert.equal(isCancelled, true)
})

test('bodies without a socket count too, and give their room back', async (t) => {
  const server = serve(t, { agents: [echo], maxBodyBytes: 50, maxBodiesBytes: 50 })
  let release: (() => void) | undefined
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"query":"0123456789012345678901234')
    await new Promise<void>((resolve) => { release = resolve })
    yield Buffer.from('"}')
  }
  const init = {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: ReadableStream.from(slow()),
    duplex: 'half',
  }
  const first = server.fetch(new Request('http://triport.test/', init as RequestInit))
  // Asked for more, it has taken what came before.
  await eventually(() => release !== undefined, 'the body is read')
  const refused = await server.fetch(request('/', { query: 'too much' }))
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('retry-after'), '1')
  release!()
  assert.equal((await first).status, 200)
  assert.equal((await server.fetch(request('/', { query: 'fits again' }))).status, 200)
})

test('an answer that went through tells who gave it', async (t) => {
  const server = serve(t, { agents: [echo] })
  const response = await server.fetch(request('/', { query: 'hello' }, { 'x-request-id': 'r-1' }))
  assert.equal(response.headers.get('x-request-id'), 'r-1')
  const { response: said, agent, request_id: requestId } = await jsonOf(response)
  assert.deepEqual([said, agent, requestId], ['You said hello', 'Echo', 'r-1'])
})

test('a body that somebody else has read is told to operator and client, with the remedy', async (t) => {
  const logged: string[] = []
  const server = serve(t, { agents: [echo], log: (_level, message) => { logged.push(message) } })
  const fresh = (): Request => request('/', { query: 'hello' })
  const used = fresh()
  await used.text()
  const locked = fresh()
  locked.body?.getReader()
  for (const one of [used, locked]) {
    const { status, detail } = await jsonOf(await server.fetch(one))
    assert.equal(status, 500)
    const remedy = 'The body was read before fetch got it; call fetch first, or give it request.clone()'
    assert.deepEqual([detail, logged.splice(0)], [remedy, [remedy]])
  }
  const cloned = fresh()
  await cloned.clone().text()
  assert.equal((await server.fetch(cloned)).status, 200)
})

test('a request without a signal is answered', async (t) => {
  const server = serve(t, { agents: [echo] })
  const whole = request('/', { query: 'hello' })
  for (const signal of [undefined, null]) {
    const { url, method, headers } = whole
    const bare = { url, method, headers, body: whole.clone().body, bodyUsed: false, signal }
    const response = await server.fetch(bare as unknown as Request)
    assert.equal((await jsonOf(response))['response'], 'You said hello')
  }
})
