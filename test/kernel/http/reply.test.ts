import assert from 'node:assert/strict'
import test from 'node:test'
import { dial, echo, listen, parseAnswers, request, say, serve } from '../../fixtures/kernel.ts'
import type { RawAnswer } from '../../fixtures/kernel.ts'

function requireNosniff(value: string | null | undefined, what: string): void {
  // Once: twice is another value.
  assert.equal(value, 'nosniff', what)
}

/** The kinds of answers that the kernel gives, or passes on. */
const rows: readonly (readonly [
  status: number, path: string, body?: unknown, headers?: Record<string, string>, method?: string,
])[] = [
  [200, '/'], [200, '/', undefined, {}, 'HEAD'], [200, '/', { query: 'hi' }],
  [200, '/', { query: 'hi', stream: true }], [204, '/', undefined, {}, 'OPTIONS'],
  [204, '/', undefined, { origin: 'https://app.example' }, 'OPTIONS'],
  [403, '/', undefined, { origin: 'https://evil.example' }], [404, '/nothing'], [400, '/%zz'],
  [405, '/', undefined, {}, 'DELETE'], [400, '/', '{'], [415, '/', 'a', { 'content-type': 'text/plain' }],
  [413, '/', { query: 'x'.repeat(5_000) }], [401, '/agents', undefined, { 'x-api-key': 'guess' }],
]

test('every answer says that no browser is to guess what it is', async (t) => {
  const server = serve(t, {
    agents: [echo], apiKey: 'k', cors: 'https://app.example', maxBodyBytes: 4_000,
  })
  for (const [status, path, body, headers, method] of rows) {
    const asked = request(path, body, { 'x-api-key': 'k', ...headers }, method)
    const answer = await server.fetch(asked)
    assert.equal(answer.status, status, `${asked.method} ${path}`)
    requireNosniff(answer.headers.get('x-content-type-options'), `${asked.method} ${path}`)
    await answer.text()
  }
})

const unread: readonly (readonly [status: number, bytes: string])[] = [
  [400, 'NONSENSE\r\n\r\n'],
  [400, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
  [431, `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`],
  [417, 'POST / HTTP/1.1\r\nHost: localhost\r\nExpect: much\r\nContent-Type: application/json\r\n'
    + 'Content-Length: 2\r\nConnection: close\r\n\r\n{}'],
  [413, 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    + `Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(20_000)}\r\n`],
  [408, 'GET / HTTP/1.1\r\nHost: local'],
  [408, 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'],
]

test('so does what is answered on a socket before there was a request', async (t) => {
  const timeouts = { headersTimeoutMs: 100, bodyTimeoutMs: 200, checkIntervalMs: 50 }
  const { port } = await listen(t, { agents: [echo], ...timeouts })
  const check = async (status: number, said: Promise<readonly RawAnswer[]>): Promise<void> => {
    const [answer] = await said
    assert.equal(answer?.status, status)
    requireNosniff(answer.headers.get('x-content-type-options'), String(status))
  }
  for (const [status, bytes] of unread) await check(status, say(t, port, bytes))
  const open = await dial(t, port)
  open.send('GET /probe HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const text = await open.until((so) => so.includes('\r\n\r\n'))
  assert.equal(parseAnswers(text).length, 0)
  assert.match(text, /\r\nX-Content-Type-Options: nosniff\r\n/)
})
