import assert from 'node:assert/strict'
import test from 'node:test'
import { createRateLimits } from '../../../lib/kernel/http/access/rate.ts'
import { jsonOf, listen, request, say, serve } from '../../fixtures/kernel.ts'
import { standingClock } from '../../fixtures/time.ts'
import type { RateLimit } from '../../../lib/kernel/http/access/rate.ts'
import type { ProbeOptions } from '../../fixtures/kernel.ts'

const mistakes: readonly (readonly [rateLimit: unknown, sentence: RegExp])[] = [
  [{}, /^TypeError: rateLimit limits nothing; write \{ perMinute: 60 \}/],
  [{ burst: 5 }, /rateLimit.burst alone limits nothing/],
  [{ perMinute: 0 }, /rateLimit.perMinute is 0; write a whole number above zero/],
  [{ perMinute: NaN }, /rateLimit.perMinute is NaN/],
  [{ perMinute: Infinity }, /rateLimit.perMinute is Infinity/],
  [{ perMinute: '60' }, /rateLimit.perMinute is "60"; write a whole number/],
  [{ perMinute: 60, burst: 1.5 }, /rateLimit.burst is 1.5/],
]

test('a limit that limits nothing, or cannot be, is a mistake in the options', () => {
  for (const [rateLimit, sentence] of mistakes) {
    assert.throws(() => createRateLimits(rateLimit as RateLimit), sentence)
  }
})

const options: ProbeOptions = { agents: [{ name: 'Echo', run: (prompt) => prompt }] }

test('a call too many is 429 in the form of its part, and says when to come back', async (t) => {
  standingClock(t)
  const server = serve(t, { ...options, rateLimit: { perMinute: 1, burst: 2 } })
  for (const remaining of [1, 0]) {
    const { headers, status } = await server.fetch(request('/', { query: 'hi' }))
    assert.equal(status, 200)
    assert.equal(headers.get('ratelimit-policy'), '"calls";q=2;w=120')
    assert.match(String(headers.get('ratelimit')), new RegExp(`^"calls";r=${remaining};t=\\d+$`))
    assert.equal(headers.get('retry-after'), null)
  }
  const response = await server.fetch(request('/', { query: 'hi' }))
  assert.equal(response.status, 429)
  assert.equal(response.headers.get('retry-after'), '60')
  assert.equal(response.headers.get('ratelimit'), '"calls";r=0;t=60')
  assert.equal(response.headers.get('ratelimit-policy'), '"calls";q=2;w=120')
  const said = await jsonOf(response)
  assert.deepEqual([said['status'], said['detail']], [429, 'Too many calls; try again in 60 s'])
  // Looking, and knowing whether the server is well, is no call.
  for (const free of ['/health', '/agents']) assert.equal((await server.fetch(request(free))).status, 200)
})

test('handshakes are counted apart', async (t) => {
  standingClock(t)
  const server = serve(t, { ...options, rateLimit: { initializePerMinute: 2 } })
  for (const remaining of [1, 0]) {
    const stream = await server.fetch(request('/probe'))
    assert.match(String(stream.headers.get('ratelimit')), new RegExp(`^"initialize";r=${remaining};`))
    await stream.body?.cancel()
  }
  const refused = await server.fetch(request('/probe'))
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '30')
  assert.equal((await jsonOf(refused))['detail'], 'Too many handshakes; try again in 30 s')
  for (let call = 0; call < 9; call++) {
    assert.equal((await server.fetch(request('/', { query: 'hi' }))).status, 200)
  }
})

test('each key is a caller, wherever it comes from', async (t) => {
  const apiKey = [{ id: 'a', key: 'a' }, { id: 'a', key: 'a2' }, { id: 'b', key: 'b' }]
  const server = serve(t, { ...options, apiKey, rateLimit: { perMinute: 1 } })
  const ask = async (key: string): Promise<number> =>
    (await server.fetch(request('/', { query: 'hi' }, { 'x-api-key': key }))).status
  // A key that is none counts for nobody.
  for (const [key, status] of [['a', 200], ['a2', 429], ['b', 200], ['no', 401], ['a', 429]] as const) {
    assert.equal(await ask(key), status, key)
  }
})

test('without keys each address is a caller, as the socket or a trusted proxy says', async (t) => {
  const rateLimit = { perMinute: 1 }
  const rows = [
    // Whoever is not believed is whoever the socket says.
    [false, ['192.0.2.1', 200], ['192.0.2.2', 429]],
    [true, ['192.0.2.1', 200], ['192.0.2.2', 200], ['192.0.2.1', 429], ['192.0.2.2, 192.0.2.3', 200],
      ['192.0.2.9, 192.0.2.3', 429], ['2001:db8::1', 200], ['2001:db8::2', 429], ['2001:db8:0:1::2', 200],
      // What is no address says nothing: the proxy itself is the caller.
      ['unknown', 200], ['x'.repeat(500), 429]],
    [2, ['192.0.2.1, 192.0.2.3', 200], ['198.51.100.1, 192.0.2.1, 192.0.2.3', 429]],
  ] as const
  for (const [trustProxy, ...asked] of rows) {
    const { url } = await listen(t, { ...options, rateLimit, trustProxy })
    for (const [address, status] of asked) {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': address }
      const response = await fetch(url, { method: 'POST', headers, body: '{"query":"hi"}' })
      assert.equal(response.status, status, `${trustProxy} ${address}`)
    }
  }
})

test('of several lines the one that the proxy has added says who calls', async (t) => {
  const { port } = await listen(t, { ...options, rateLimit: { perMinute: 1 }, trustProxy: true })
  const statusOf = async (...lines: readonly string[]): Promise<number | undefined> => {
    const forwarded = lines.map((line) => `X-Forwarded-For: ${line}\r\n`).join('')
    const [answer] = await say(t, port, 'POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n'
      + `${forwarded}Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{"query":"hi"}`)
    return answer?.status
  }
  assert.equal(await statusOf('198.51.100.1', '192.0.2.1'), 200)
  for (const invented of ['198.51.100.2', '198.51.100.3, 198.51.100.4', '', 'unknown']) {
    assert.equal(await statusOf(invented, '192.0.2.1'), 429, invented)
  }
  assert.equal(await statusOf('192.0.2.1', '192.0.2.2'), 200)
  assert.equal(await statusOf('192.0.2.1', '198.51.100.1', '192.0.2.3'), 200)
})
