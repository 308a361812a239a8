import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import test from 'node:test'
import { dial, echo, eventually, listen, request, serve } from '../../fixtures/kernel.ts'
import type { ProbeOptions } from '../../fixtures/kernel.ts'
import type { Logged } from '../../fixtures/house.ts'
import type { Call } from '../../../lib/kernel.ts'
import type { RequestSummary } from '../../../lib/kernel/http/server/observer.ts'

/** An agent that streams for as long as somebody reads, or answers never. */
async function* endless(prompt: string, { signal }: Call): AsyncGenerator<string> {
  if (prompt === 'stream') yield 'abc'
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

const options: ProbeOptions = {
  agents: [echo], maxBodyBytes: 1_000, mountPath: '/team',
  apiKey: [{ id: 'ann', key: 'k' }],
}
const HEAD = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
const key = { 'x-api-key': 'k' }

const rows: readonly (readonly [
  method: string, path: string, body: unknown, headers: Record<string, string>,
  told: readonly [status: number, route: string | undefined, principal?: string],
])[] = [
  ['GET', '/team/health', undefined, {}, [200, '/health']],
  ['HEAD', '/team/health', undefined, {}, [200, '/health']],
  ['GET', '/team/agents/echo', undefined, key, [200, '/agents/{agent}', 'key:ann']],
  ['GET', '/team/agents/echo', undefined, {}, [401, '/agents/{agent}']],
  ['GET', '/team/nothing?api=secret', undefined, key, [404, undefined, 'key:ann']],
  ['GET', '/elsewhere', undefined, key, [404, undefined, 'key:ann']],
  ['GET', '/team/%zz', undefined, {}, [400, undefined]],
  ['DELETE', '/team/agents', undefined, key, [405, '/agents', 'key:ann']],
  ['OPTIONS', '/team/', undefined, {}, [204, '/']],
  ['GET', '/team/health', undefined, { origin: 'http://evil.example' }, [403, '/health']],
  ['POST', '/team/agents/echo', { query: 'héllo' }, key, [200, '/agents/{agent}', 'key:ann']],
  ['POST', '/team/agents/echo', { query: 'héllo', stream: true }, key, [200, '/agents/{agent}', 'key:ann']],
  ['POST', '/team/', { query: 'x'.repeat(2_000) }, key, [413, '/', 'key:ann']],
  ['POST', '/team/', '{', key, [400, '/', 'key:ann']],
]

test('every request that came to the gate is told of once, when it is over', async (t) => {
  const told: RequestSummary[] = []
  const { server, port } = await listen(t, { ...options, onRequest: (summary) => { told.push(summary) } })
  for (const [method, path, body, headers, [status, route, principalId = 'anonymous']] of rows) {
    const answers: (() => Promise<Response>)[] = [
      () => fetch(`http://127.0.0.1:${port}${path}`, {
        method, redirect: 'manual',
        headers: { ...headers, 'x-request-id': 'r-1', 'content-type': 'application/json' },
        ...body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) },
      }),
      () => server.fetch(request(path, body, { ...headers, 'x-request-id': 'r-1' }, method)),
    ]
    for (const [at, ask] of answers.entries()) {
      told.length = 0
      const response = await ask()
      const text = await response.text()
      await eventually(() => told.length > 0, `${method} ${path} is told of`)
      const [{ durationMs, ...summary }] = told as [RequestSummary]
      assert.deepEqual(summary, {
        method, path: path.split('?')[0], route, status, bytes: Buffer.byteLength(text), requestId: 'r-1',
        principalId, remoteAddress: at === 0 ? '127.0.0.1' : undefined,
      })
      assert.ok(durationMs >= 0 && durationMs < 10_000)
      assert.equal(told.length, 1)
      assert.equal(response.status, status)
    }
  }
})

test('a client that leaves is told of with what it had been sent', async (t) => {
  const told: RequestSummary[] = []
  const began: string[] = []
  const run = (prompt: string, call: Call): AsyncGenerator<string> => {
    began.push(prompt)
    return endless(prompt, call)
  }
  const { port } = await listen(t, { agents: [run], onRequest: (summary) => { told.push(summary) } })
  const leavers: readonly (readonly [body: object, status: number])[] = [
    [{ query: 'never' }, 0], [{ query: 'stream', stream: true }, 200],
  ]
  for (const [body, status] of leavers) {
    const text = JSON.stringify(body)
    const wire = await dial(t, port)
    wire.send(`${HEAD}Content-Length: ${text.length}\r\n\r\n${text}`)
    await eventually(() => began.length > 0, 'it runs')
    if (status === 200) await wire.until((got) => got.includes('abc'))
    wire.leave()
    await eventually(() => told.length > 0, 'it is told of')
    assert.equal(told[0]?.status, status)
    assert.equal(Number(told[0]?.bytes) > 0, status === 200)
    assert.equal(told[0]?.remoteAddress, '127.0.0.1')
    told.length = began.length = 0
  }
  // One that leaves in the middle of its body is refused, were it still there.
  const half = await dial(t, port)
  half.send(`${HEAD}Content-Length: 9\r\n\r\n{`)
  await new Promise((resolve) => setTimeout(resolve, 30))
  half.leave()
  await eventually(() => told.length > 0, 'it is told of')
  assert.deepEqual(told.map(({ status }) => status), [400])
})

test('whoever listens and fails harms nothing, and is told of once', async (t) => {
  const listeners: readonly (() => void)[] = [
    () => { throw new Error('no room for metrics') },
    async () => { throw new Error('no room for metrics') },
  ]
  for (const onRequest of listeners) {
    const logged: string[] = []
    const log: ProbeOptions['log'] = (level, message) => { logged.push(`${level} ${message}`) }
    const server = serve(t, { agents: [echo], onRequest, log })
    for (let round = 0; round < 3; round++) assert.equal((await server.fetch(request('/health'))).status, 200)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(logged, ['error onRequest failed; later failures are not logged'])
  }
})

test('a channel of Node tells the same, while somebody listens', async (t) => {
  const heard: unknown[] = []
  const requests = channel('triport:request')
  const listener = (summary: unknown): void => { heard.push(summary) }
  const server = serve(t, { agents: [echo] })
  requests.subscribe(listener)
  await server.fetch(request('/health', undefined, { 'x-request-id': 'r-2' }))
  requests.unsubscribe(listener)
  await server.fetch(request('/health'))
  assert.deepEqual(heard.map((one) => (one as RequestSummary).requestId), ['r-2'])
})

test('a line of log for each request is there for the asking', async (t) => {
  const logged: Logged[] = []
  const log: ProbeOptions['log'] = (level, message, fields = {}) => { logged.push([level, message, fields]) }
  await serve(t, { agents: [echo], log }).fetch(request('/health'))
  assert.equal(logged.length, 0)
  const server = serve(t, { agents: [echo], log, accessLog: true })
  await server.fetch(request('/health?secret=1', undefined, { 'x-request-id': 'r-3' }))
  const [level, message, { ms, bytes, ...fields }] = logged[0]!
  assert.deepEqual([level, message], ['info', 'GET /health 200'])
  assert.deepEqual(fields, {
    method: 'GET', path: '/health', status: 200,
    request: 'r-3', principal: 'anonymous', address: undefined,
  })
  assert.equal(typeof ms, 'number')
  assert.ok(Number(bytes) > 10)
  await server.fetch(request(`/${'x'.repeat(5_000)}`))
  assert.ok(String(logged[1]?.[1]).length < 300)
})

test('what onRequest is not is refused when a server is made', (t) => {
  assert.throws(
    () => serve(t, { agents: [echo], onRequest: 'metrics' as never }),
    /^TypeError: onRequest is "metrics"; write a function that takes a summary of each request$/,
  )
})

test('while nobody listens no clock is read', async (t) => {
  const server = serve(t, { agents: [echo] })
  const now = t.mock.method(performance, 'now')
  await server.fetch(request('/health'))
  assert.equal(now.mock.callCount(), 0)
})
