import assert from 'node:assert/strict'
import { createServer as createNode } from 'node:http'
import { connect } from 'node:net'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { portOf } from '../../fixtures/listening.ts'
import { GOOD, LAST, POST, QUERY } from './requests.ts'
import { dial, echo, eventually, jsonOf, listen, parseAnswers, say, serve } from '../../fixtures/kernel.ts'
import type { Call } from '../../../lib/kernel.ts'

const served: readonly (readonly [what: string, bytes: string, status: number])[] = [
  ['HTTP/1.0', 'GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n', 200],
  ['an absolute target', `GET http://localhost/health ${LAST}`, 200],
  ['OPTIONS of everything', `OPTIONS * ${LAST}`, 204],
  ['OPTIONS of a path', `OPTIONS / ${LAST}`, 204],
  ['an upgrade',
    'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close, upgrade\r\nUpgrade: websocket\r\n\r\n',
    200],
  ['headers that mean something to JavaScript',
    'GET /health HTTP/1.0\r\nHost: localhost\r\n__proto__: a\r\nconstructor: b\r\ntoString: c\r\n\r\n', 200],
  ['200 lines',
    `GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${'X: y\r\n'.repeat(198)}\r\n`, 200],
  ['chunks', `${POST}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`
    + '2;x=y\r\n{"\r\nf\r\nquery":"hello"}\r\n0\r\n\r\n', 200],
  ['an escaped path', `GET /%68ealth ${LAST}`, 200],
]

/** Statuses that are right, `closed` among them where saying nothing is right too. */
type Owed = number | readonly (number | 'closed')[]

const refusals: readonly (readonly [what: string, bytes: string | Uint8Array, owed: Owed])[] = [
  ['a length and chunks', `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
  ['chunks and a length', `${POST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`, 400],
  ['two lengths', `${POST}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`, 400],
  ['a negative length', `${POST}Content-Length: -2\r\n\r\n`, 400],
  ['a signed length', `${POST}Content-Length: +2\r\n\r\n{}`, 400],
  ['a length beyond numbers', `${POST}Content-Length: 99999999999999999999\r\n\r\n`, 400],
  ['a blank before the colon', `${POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`, 400],
  ['an unknown coding', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
  ['a coding within chunks', `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 400],
  ['chunks that are not the last coding', `${POST}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`, 400],
  ['chunks in HTTP/1.0', 'POST / HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    + 'Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n', 400],
  ['a chunk size that is no number', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
  ['a chunk size beyond numbers', `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n`, 400],
  ['a second chunk without a size', `${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n!\r\n`, 400],
  ['a huge chunk extension', `${POST}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(20_000)}\r\n`, 413],
  ['a folded header', 'GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n', 400],
  ['bare line feeds', 'GET / HTTP/1.1\nHost: localhost\n\n', [400, 'closed']],
  ['a bare return', 'GET / HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n', 400],
  ['NUL in a header', 'GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n', 400],
  ['NUL in the path', 'GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  ['a method in lower case', 'get / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400, 'closed']],
  ['the hello of TLS', Uint8Array.of(0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3), [400, 'closed']],
  ['garbage', '\r\n\r\n!"§$%&/()=?\r\n\r\n', [400, 'closed']],
  ['a header over 16 KiB', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
  ['a path over 16 KiB', `GET /${'x'.repeat(17_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
  ['over 200 lines',
    `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${'X: y\r\n'.repeat(199)}\r\n`, 431],
  ['over 2000 lines',
    `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${'X:y\r\n'.repeat(2_100)}\r\n`, 431],
  ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['two Hosts', 'GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n', 400],
  ['a foreign Host', 'GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n', 403],
  ['HTTP/0.9', 'GET /\r\n\r\n', [400, 505, 'closed']],
  ['HTTP/2.0 in the clear', 'GET / HTTP/2.0\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    [400, 505, 'closed']],
  ['an absolute target elsewhere',
    `GET http://evil.example/ ${LAST}`, 400],
  ['CONNECT', 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n', ['closed']],
  ['TRACE', 'TRACE / HTTP/1.1\r\nHost: localhost\r\nX-Secret: s\r\nConnection: close\r\n\r\n', 405],
  ['an unknown Expect', 'GET / HTTP/1.1\r\nHost: localhost\r\nExpect: magic\r\nConnection: close\r\n\r\n',
    417],
]

test('what is no request of ours is refused, and the next one is served', async (t) => {
  const { port } = await listen(t, { agents: [echo] })
  for (const [what, bytes, owed] of refusals) {
    const [answer] = await say(t, port, bytes)
    const statuses: readonly (number | 'closed')[] = typeof owed === 'number' ? [owed] : owed
    assert.ok(statuses.includes(answer?.status ?? 'closed'), `${what}: ${answer?.status}`)
    if (answer !== undefined) {
      const { status, error } = JSON.parse(answer.body) as { status: number; error: string }
      assert.equal(status, answer.status, what)
      assert.doesNotMatch(error, /node_modules|\.[jt]s\b|\n|X-Secret/)
    }
    const [next] = await say(t, port, GOOD)
    assert.equal(next?.status, 200, `after ${what}`)
  }
})

const utf8 = (bytes: readonly number[]): Buffer => Buffer.from([
  ...Buffer.from('{"query":"'), ...bytes, ...Buffer.from('"}'),
])

/** Bodies as they are on the wire. */
const bodies: readonly (readonly [what: string, body: Buffer, status: number])[] = [
  ['UTF-8', utf8([0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80]), 200],
  ['a byte order mark', Buffer.from('\ufeff{"query":"a"}'), 200],
  ['two byte order marks', Buffer.from('\ufeff\ufeff{"query":"a"}'), 400],
  ['a byte that is no UTF-8', utf8([0xff]), 400],
  ['half a character', utf8([0xc3]), 400],
  ['an overlong slash', utf8([0xc0, 0xaf]), 400],
  ['a surrogate in UTF-8', utf8([0xed, 0xa0, 0x80]), 400],
  ['UTF-16', Buffer.from('{"query":"a"}', 'utf16le'), 400],
  ['a raw line feed in a string', utf8([0x0a]), 400],
  ['a raw NUL in a string', utf8([0]), 400],
  ['an escaped NUL', Buffer.from('{"query":"\\u0000"}'), 200],
  ['a line separator', Buffer.from('{"query":"a\u2028"}'), 200],
  ['a very long number', Buffer.from(`{"query":"a","metadata":{"n":${'9'.repeat(300_000)}}}`), 200],
  ['a name that means something to JavaScript', Buffer.from('{"query":"a","__proto__":{"stream":true}}'),
    200],
]

test('a body is UTF-8 and JSON to the byte', async (t) => {
  const { port } = await listen(t, { agents: [echo] })
  for (const [what, body, status] of bodies) {
    const head = Buffer.from(`${POST}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`)
    const [answer] = await say(t, port, Buffer.concat([head, body]))
    assert.equal(answer?.status, status, what)
    assert.equal(
      answer.headers.get('content-type'), status === 200 ? 'application/json' : 'application/problem+json',
    )
  }
})

test('bodies that find no room beside each other are refused in the middle too', async (t) => {
  const { port } = await listen(t, { agents: [echo], maxBodyBytes: 100, maxBodiesBytes: 100 })
  const chunk = `3c\r\n${'{"query":"'.padEnd(60, 'x')}\r\n`
  const [first, second] = [await dial(t, port), await dial(t, port)]
  first.send(`${POST}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk}`)
  await sleep(30)
  second.send(`${POST}Transfer-Encoding: chunked\r\n\r\n${chunk}`)
  const [refused] = parseAnswers(await second.closed())
  assert.equal(refused?.status, 503)
  assert.equal(refused.headers.get('retry-after'), '1')
  first.send('2\r\n"}\r\n0\r\n\r\n')
  assert.equal(parseAnswers(await first.closed())[0]?.status, 200)
})

test('what is unusual and right is served', async (t) => {
  const { port } = await listen(t, { agents: [echo] })
  for (const [what, bytes, status] of served) {
    const [answer] = await say(t, port, bytes)
    assert.equal(answer?.status, status, what)
    assert.doesNotMatch(answer?.body ?? '', /^HTTP/)
  }
})

test('a Host of which no address can be made is refused where any other may be sent', async (t) => {
  const { port, server } = await listen(t, { agents: [echo], allowedHosts: ['*'] })
  const paths = ['/', '/agents', '/agents/echo', '/probe']
  for (const host of ['a:b', 'a:99999', '[', '::1', '1.2.3.4.5', '256.0.0.1', 'a b', '"', '%', '\x80']) {
    for (const path of paths) {
      const wire = await dial(t, port)
      wire.send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: */*\r\n\r\n`)
      const text = await wire.until((got) => got.includes('\r\n\r\n'))
      assert.match(text, /^HTTP\/1\.1 400 /, `${host} ${path}`)
      wire.leave()
    }
  }
  assert.deepEqual(Reflect.get(server.status(), 'probe'), { sessions: 0 })
  for (const host of ['', 'agents.example', 'my_service:80', '[::1]:8000', '127.0.0.1']) {
    const wire = await dial(t, port)
    wire.send(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    assert.match(await wire.until((got) => got.includes('\r\n\r\n')), /^HTTP\/1\.1 200 /, host)
    wire.leave()
  }
})

test('HEAD says what GET would, and no body', async (t) => {
  const { port, url } = await listen(t, { agents: [echo] })
  const length = (await fetch(`${url}/health`)).headers.get('content-length')
  const wire = await dial(t, port)
  wire.send(`HEAD /health ${LAST}`)
  const text = await wire.closed()
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(text, new RegExp(`Content-Length: ${length}\r\n`))
  assert.ok(text.endsWith('\r\n\r\n'))
})

test('requests that come at once are answered in order', async (t) => {
  const waits = { slow: 40, quick: 0, middling: 20 }
  let running = 0
  const run = async (prompt: string): Promise<string> => {
    assert.equal(++running, 1, 'at most one runs on a connection')
    await sleep(waits[prompt as keyof typeof waits])
    running--
    return prompt
  }
  const { port } = await listen(t, { agents: [run] })
  const wire = await dial(t, port)
  wire.send(Object.keys(waits).map((query) => {
    const body = JSON.stringify({ query })
    return `${POST}Content-Length: ${body.length}\r\n\r\n${body}`
  }).join(''))
  const said = (await wire.answers(3)).map(({ body }) => (JSON.parse(body) as { response: string }).response)
  assert.deepEqual(said, ['slow', 'quick', 'middling'])
})

test('a connection outlives what was wrong with a short request on it', async (t) => {
  const { port } = await listen(t, { agents: [echo] })
  const wire = await dial(t, port)
  const bad = `${POST}Content-Length: 1\r\n\r\n{`
  const type = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nquery'
  wire.send(`${bad}${type}GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n${GOOD}`)
  const statuses = parseAnswers(await wire.closed()).map(({ status }) => status)
  assert.deepEqual(statuses, [400, 415, 404, 200])
})

test('who is slow to ask is told so, and let go', async (t) => {
  const { port } = await listen(
    t, { agents: [echo], headersTimeoutMs: 60, bodyTimeoutMs: 120, checkIntervalMs: 20 },
  )
  const slow: readonly (readonly [what: string, bytes: string])[] = [
    ['half a head', 'POST / HTTP/1.1\r\nHost: localhost\r\n'],
    ['half a body', `${POST}Content-Length: 100\r\n\r\n{"query":`],
    ['half a chunk', `${POST}Transfer-Encoding: chunked\r\n\r\n5\r\n{"`],
  ]
  for (const [what, bytes] of slow) {
    const [answer] = await say(t, port, bytes)
    assert.equal(answer?.status, 408, what)
    assert.equal((JSON.parse(answer.body) as { error: string }).error, 'The request took too long to arrive')
  }
  // Who says nothing at all is let go too.
  await (await dial(t, port)).closed()
})

test('what comes of a body after it was refused as late is passed over', async (t) => {
  const said: string[] = []
  const { port } = await listen(t, {
    agents: [echo], headersTimeoutMs: 60, bodyTimeoutMs: 120, checkIntervalMs: 20,
    log: (level, what) => { if (level !== 'debug') said.push(what) },
  })
  const wire = await dial(t, port)
  // Its own half stays open, as that of a client does that writes first and reads then.
  wire.socket.allowHalfOpen = true
  wire.send(`${POST}Transfer-Encoding: chunked\r\n\r\n9\r\n{"query":\r\n`)
  await wire.answers(1)
  wire.send('8\r\n"late" }\r\n0\r\n\r\n')
  const drip = setInterval(() => wire.send('x'), 20)
  t.after(() => clearInterval(drip))
  assert.deepEqual(parseAnswers(await wire.closed()).map(({ status }) => status), [408])
  assert.deepEqual(said, [])
})

test('who is told that this was no request, and keeps its half open, takes no room for long', async (t) => {
  const { port } = await listen(
    // No other clock closes it.
    t, { agents: [echo], maxConnections: 1, headersTimeoutMs: Infinity, bodyTimeoutMs: Infinity },
  )
  const wire = await dial(t, port)
  wire.socket.allowHalfOpen = true
  wire.send('!"$%&\r\n\r\n')
  await wire.answers(1)
  await eventually(async () => {
    const other = await dial(t, port)
    other.send(`GET /health ${LAST}`)
    return parseAnswers(await other.closed())[0]?.status === 200
  }, 'another connection has room')
})

/** A request comes within this on a busy machine too, and its answer takes longer. */
const [SOON_MS, LATE_MS] = [800, 1_200]

/** What comes behind a request that runs, and never becomes one. */
const behind: readonly (readonly [what: string, bytes: string, isMore?: boolean])[] = [
  ['half a head', 'GET /health HTTP/1.1\r\n'],
  ['half a body', `${POST}Content-Length: 100\r\n\r\n{"query":`],
  ['what is not HTTP', '!"§$%&\r\n\r\n'],
  ['what is not HTTP, and more of it', '!"§$%&\r\n\r\n', true],
  ['a header that is none, and more of it', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n', true],
  ['a head that is too large, and more of it', `GET / HTTP/1.1\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, true],
  ['a chunk without a size, and more of it', `${POST}Transfer-Encoding: chunked\r\n\r\n!\r\n`, true],
]

test('what is bad behind a request does not spoil its answer', async (t) => {
  const late = async (): Promise<string> => { await sleep(LATE_MS); return 'late' }
  const streamed = async function* (): AsyncGenerator<string> { yield 'early '; yield await late() }
  const runs = [[late, QUERY], [streamed, '{"query":"hello","stream":true}']] as const
  await Promise.all(behind.flatMap(([what, bytes, isMore = false]) => runs.map(async ([run, query]) => {
    const { port } = await listen(
      t, { agents: [run], headersTimeoutMs: SOON_MS, bodyTimeoutMs: SOON_MS, checkIntervalMs: 20 },
    )
    const wire = await dial(t, port)
    wire.send(`${POST}Content-Length: ${query.length}\r\n\r\n${query}${bytes}`)
    for (let count = 0; isMore && count < 3; count++) {
      await sleep(20)
      wire.send(bytes)
    }
    const text = await wire.closed()
    assert.equal(parseAnswers(text).length, 1, what)
    assert.match(text, /^HTTP\/1\.1 200[^]*late/, what)
  })))
})

test('what waits behind a request that is the last one is not run', async (t) => {
  const ran: string[] = []
  const run = async function* (prompt: string): AsyncGenerator<string> {
    ran.push(prompt)
    yield 'early '
    await sleep(LATE_MS)
    yield 'late'
  }
  for (const stream of [false, true]) {
    const { port } = await listen(
      t, { agents: [run], headersTimeoutMs: SOON_MS, bodyTimeoutMs: SOON_MS, checkIntervalMs: 20 },
    )
    const asked = ['first', 'second'].map((query) => {
      const body = JSON.stringify({ query, stream })
      return `${POST}Content-Length: ${body.length}\r\n\r\n${body}`
    })
    const answers = await say(t, port, `${asked.join('')}GET /health HTTP/1.1\r\n`)
    assert.deepEqual(answers.map(({ status }) => status), [200])
    assert.match(answers[0]!.body, /late/)
    assert.deepEqual(ran.splice(0), ['first'])
  }
})

test('an idle connection is kept for a while, and no longer; one with a request under way is', async (t) => {
  let reply = (_text: string): void => {}
  const slow = { name: 'Slow', run: () => new Promise<string>((resolve) => { reply = resolve }) }
  const { port } = await listen(t, { agents: [slow], keepAliveMs: 100 })
  const [idle, asking] = [await dial(t, port), await dial(t, port)]
  const more = `${POST}Content-Length: ${QUERY.length}\r\n\r\n${QUERY}`
  for (const [wire, next] of [[idle, ''], [asking, more]] as const) {
    wire.send(`GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n${next}`)
    const [answer] = await wire.answers(1)
    assert.equal(answer?.headers.get('connection'), 'keep-alive')
  }
  await idle.closed()
  // Another one is idle as long again.
  const next = await dial(t, port)
  next.send('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await next.closed()
  assert.equal(asking.isClosed, false)
  reply('late')
  assert.match((await asking.answers(2))[1]!.body, /late/)
  await asking.closed()
})

test('an answer says how long its connection will be kept, unless it will not be', async (t) => {
  const { port } = await listen(t, { agents: [echo], keepAliveMs: 7_000 })
  const wire = await dial(t, port)
  wire.send('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  assert.equal((await wire.answers(1))[0]?.headers.get('keep-alive'), 'timeout=7')
  for (const last of ['HTTP/1.1\r\nConnection: close', 'HTTP/1.0']) {
    const [answer] = await say(t, port, `GET /health ${last}\r\nHost: localhost\r\n\r\n`)
    assert.equal(answer?.headers.get('connection'), 'close')
    assert.equal(answer?.headers.has('keep-alive'), false)
  }
})

/** Bodies over a limit of 1000 bytes, all of which the client goes on sending. */
const long: readonly (readonly [what: string, head: string, piece: string])[] = [
  ['a length that says so', `Content-Length: ${8 << 20}\r\n\r\n`, 'x'.repeat(1 << 16)],
  ['chunks without end', 'Transfer-Encoding: chunked\r\n\r\n', `10000\r\n${'x'.repeat(1 << 16)}\r\n`],
]

test('a body that is too long is refused, and the client can read that while it still sends', async (t) => {
  const { port } = await listen(t, { agents: [echo], maxBodyBytes: 1_000 })
  for (const [what, head, piece] of long) {
    for (let round = 0; round < 5; round++) {
      const wire = await dial(t, port)
      wire.send(POST + head)
      for (let at = 0; at < 128 && !wire.isClosed; at++) wire.send(piece)
      const [answer] = parseAnswers(await wire.closed())
      assert.equal(answer?.status, 413, what)
      assert.equal(answer.headers.get('connection'), 'close')
    }
  }
})

test('a client that asks first is told to go on, or why not', async (t) => {
  const { port } = await listen(t, { agents: [echo], maxBodyBytes: 1_000, apiKey: 'k' })
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n'
  const json = 'Content-Type: application/json\r\n'
  const wire = await dial(t, port)
  wire.send(`${head}${json}X-API-Key: k\r\nContent-Length: ${QUERY.length}\r\nConnection: close\r\n\r\n`)
  assert.match(await wire.until((text) => text.endsWith('\r\n\r\n')), /^HTTP\/1\.1 100 Continue\r\n\r\n$/)
  wire.send(QUERY)
  assert.equal(parseAnswers(await wire.closed())[0]?.status, 200)
  const rows: readonly (readonly [headers: string, status: number])[] = [
    [`${json}X-API-Key: k\r\nContent-Length: 5000\r\n`, 413],
    [`X-API-Key: k\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n`, 415],
    [`${json}Content-Length: 5\r\n`, 401],
    [`${json}Content-Length: 5000000\r\n`, 401],
  ]
  for (const [headers, status] of rows) {
    const refused = await dial(t, port)
    refused.send(`${head}${headers}\r\n`)
    const text = await refused.closed()
    assert.doesNotMatch(text, /100 Continue/)
    assert.equal(parseAnswers(text)[0]?.status, status)
    assert.equal(parseAnswers(text)[0]?.headers.get('connection'), 'close')
  }
})

test('a client that leaves ends its run', async (t) => {
  const signals: AbortSignal[] = []
  const run = (_prompt: string, call: Call): Promise<string> => {
    signals.push(call.signal)
    return new Promise(() => {})
  }
  const { port, server } = await listen(t, { agents: [run] })
  for (const body of [QUERY, '{"query":"hello","stream":true}']) {
    const wire = await dial(t, port)
    wire.send(`${POST}Content-Length: ${body.length}\r\n\r\n${body}`)
    await eventually(() => signals.length === 1, 'the run has begun')
    assert.equal(signals[0]?.aborted, false)
    wire.leave()
    await eventually(() => signals[0]?.aborted === true, 'the run is aborted')
    signals.length = 0
  }
  // A client that leaves in the middle of a body never began one.
  const half = await dial(t, port)
  half.send(`${POST}Content-Length: 100\r\n\r\n{"query":`)
  await sleep(20)
  half.leave()
  assert.equal((await server.fetch(new Request('http://x/health'))).status, 200)
  assert.equal(signals.length, 0)
})

test('connections beyond the limit are turned away, and the operator is told once', async (t) => {
  const logged: string[] = []
  const { port } = await listen(
    t, { agents: [echo], maxConnections: 2, log: (_level, message) => logged.push(message) },
  )
  const kept = await Promise.all([dial(t, port), dial(t, port)])
  for (const wire of kept) {
    wire.send('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await wire.answers(1)
  }
  for (let at = 0; at < 3; at++) assert.deepEqual(await say(t, port, GOOD), [])
  assert.deepEqual(logged, ['Connections are turned away: too many are open'])
  kept[0]!.leave()
  await eventually(() => kept[0]!.isClosed, 'one has left')
  await eventually(async () => (await say(t, port, GOOD))[0]?.status === 200, 'there is room again')
})

test('streams beyond the limit wait for their turn', async (t) => {
  const run = async function* (_prompt: string, call: Call): AsyncGenerator<string> {
    yield 'a'
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
  }
  const { port } = await listen(t, { agents: [run], maxStreams: 1 })
  const body = '{"query":"hello","stream":true}'
  const asked = `${POST}Content-Length: ${body.length}\r\n\r\n${body}`
  const first = await dial(t, port)
  first.send(asked)
  await first.until((text) => text.includes('"a"'))
  const second = await dial(t, port)
  second.send(asked)
  const [answer] = await second.answers(1)
  assert.equal(answer?.status, 503)
  assert.equal(answer.headers.get('retry-after'), '5')
  first.leave()
  await sleep(20)
  const third = await dial(t, port)
  third.send(asked)
  await third.until((text) => text.includes('"a"'))
})

test('a busy port is one sentence with a way out, and another port can be tried', async (t) => {
  const { port, server: first } = await listen(t, { agents: [echo] })
  const server = serve(t, { agents: [echo], insecure: true })
  await assert.rejects(server.listen(port), {
    message: `Port ${port} is in use; stop what uses it, or choose another (--port)`, code: 'EADDRINUSE',
  })
  await assert.rejects(
    server.listen(0, 'no.such.host.invalid'), /'no\.such\.host\.invalid' is no address of this machine/,
  )
  const { url } = await server.listen(0)
  assert.equal((await fetch(`${url}/health`)).status, 200)
  await assert.rejects(server.listen(0), /listens already/)
  await first.close()
  await assert.rejects(first.listen(0), /This server is closed; make a new one/)
})

test('a server that is closed while it begins to listen says so, and leaves no socket', async (t) => {
  const sockets = (): number => (
    process.getActiveResourcesInfo().filter((one) => one === 'TCPServerWrap').length
  )
  const before = sockets()
  for (const host of ['127.0.0.1', 'localhost']) {
    for (let ticks = 0; ticks < 3; ticks++) {
      const server = serve(t, { agents: [echo] })
      const listening = server.listen(0, host)
      for (let tick = 0; tick < ticks; tick++) await undefined
      const closed = server.close()
      await assert.rejects(listening, /This server is closed; make a new one/)
      await closed
    }
  }
  await eventually(() => sockets() === before, 'no socket is open')
})

test('in a server of somebody else every address has its own names', async (t) => {
  const server = serve(t, { agents: [echo], mountPath: '/team' })
  const port = await portOf(t, createNode(server.handler))
  const rows: readonly (readonly [host: string, status: number])[] = [
    ['localhost', 200], ['evil.example', 403],
  ]
  for (const [host, status] of rows) {
    const [answer] = await say(
      t, port, `GET /team/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    )
    assert.equal(answer?.status, status, host)
  }
  const response = await fetch(`http://127.0.0.1:${port}/team/agents/echo`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: QUERY,
  })
  assert.equal((await jsonOf(response))['response'], 'You said hello')
})

/** Resolves to whether a connection can be opened. */
function isReachable(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => { socket.destroy(); resolve(true) })
    socket.once('error', () => resolve(false))
  })
}

test('a server that closes lets running calls end, takes no new ones, and closes what is idle', async (t) => {
  const releases: ((text: string) => void)[] = []
  const run = (): Promise<string> => new Promise((resolve) => { releases.push(resolve) })
  const { port, server } = await listen(t, { agents: [run], graceMs: 8_000 })
  const idle = await dial(t, port)
  idle.send('GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n')
  assert.equal((await idle.answers(1))[0]?.status, 200)
  const silent = await dial(t, port)
  const busy = await dial(t, port)
  busy.send(`${POST}Content-Length: ${QUERY.length}\r\n\r\n${QUERY}`)
  const streamed = await dial(t, port)
  const body = '{"query":"hello","stream":true}'
  streamed.send(`${POST}Content-Length: ${body.length}\r\n\r\n${body}`)
  await streamed.until((text) => text.includes('event-stream'))
  let isClosed = false
  const closing = server.close().then(() => { isClosed = true })
  assert.equal(server.close(), server.close())
  await idle.closed()
  assert.equal(await isReachable(port), false)
  const ready = await server.fetch(new Request('http://x/ready'))
  assert.deepEqual([ready.status, ready.headers.get('retry-after')], [503, '1'])
  assert.equal((await server.fetch(new Request('http://x/health'))).status, 200)
  const late = new Request(
    'http://x/', { method: 'POST', headers: { 'content-type': 'application/json' }, body: QUERY },
  )
  assert.equal((await server.fetch(late)).status, 503)
  assert.equal(isClosed, false)
  for (const release of releases) release('in time')
  assert.match(await streamed.closed(), /event: done\ndata: \{"response":"in time"/)
  const [answer] = parseAnswers(await busy.closed())
  assert.equal(answer?.headers.get('connection'), 'close')
  assert.match(answer.body, /"response":"in time"/)
  await closing
  // Who never said a word is let go at the end.
  await silent.closed()
})

test('what comes behind a running call on a closing server is not run', async (t) => {
  let release: ((text: string) => void) | undefined
  const run = (): Promise<string> => new Promise((resolve) => { release = resolve })
  const { port, server } = await listen(t, { agents: [run], graceMs: 5_000 })
  const busy = await dial(t, port)
  const asked = `${POST}Content-Length: ${QUERY.length}\r\n\r\n${QUERY}`
  busy.send(asked + asked)
  await eventually(() => release !== undefined, 'the first runs')
  const closing = server.close()
  release!('in time')
  const answers = parseAnswers(await busy.closed())
  assert.deepEqual(answers.map(({ status }) => status), [200])
  await closing
})

test('a call that does not end is cancelled when the grace is over, and told so', async (t) => {
  let running = 0
  const runs: readonly (readonly [what: string, run: (prompt: string, call: Call) => Promise<string>])[] = [
    ['never ends', () => { running++; return new Promise(() => {}) }],
    ['listens', (_prompt, call) => new Promise((_resolve, reject) => {
      running++
      call.signal.addEventListener('abort', () => reject(call.signal.reason))
    })],
  ]
  for (const [what, run] of runs) {
    running = 0
    const { port, server } = await listen(t, { agents: [run], graceMs: 50 })
    const wire = await dial(t, port)
    wire.send(`${POST}Content-Length: ${QUERY.length}\r\n\r\n${QUERY}`)
    const inside = server.fetch(new Request('http://x/', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: QUERY,
    }))
    await eventually(() => running === 2, 'both run')
    await server.close()
    const [answer] = parseAnswers(await wire.closed())
    assert.equal(answer?.status, 503, what)
    assert.match(answer.body, /The server is closing down/)
    assert.equal((await inside).status, 503)
  }
})

test('a call without a socket may end within the grace too', async (t) => {
  let release: ((text: string) => void) | undefined
  const run = (): Promise<string> => new Promise((resolve) => { release = resolve })
  const server = serve(t, { agents: [run], graceMs: 60_000 })
  const answer = server.fetch(new Request('http://x/', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: QUERY,
  }))
  await eventually(() => release !== undefined, 'it runs')
  const closing = server.close()
  await sleep(20)
  release!('in time')
  assert.equal((await jsonOf(await answer))['response'], 'in time')
  await closing
})

test('closing waits for no call whose client has left', async (t) => {
  let running = 0
  const run = (): Promise<string> => { running++; return new Promise(() => {}) }
  const { port, server } = await listen(t, { agents: [run], graceMs: 60_000 })
  for (const body of [QUERY, '{"query":"hello","stream":true}']) {
    const wires = await Promise.all(Array.from({ length: 10 }, () => dial(t, port)))
    for (const wire of wires) wire.send(`${POST}Content-Length: ${body.length}\r\n\r\n${body}`)
    await eventually(() => running === 10, 'all run')
    for (const wire of wires) wire.leave()
    running = 0
  }
  let isClosed = false
  void server.close().then(() => { isClosed = true })
  await eventually(() => isClosed, 'it is closed long before the grace is over')
})

test('closing waits for nobody who does not read', async (t) => {
  const { port, server } = await listen(t, { agents: [() => 'x'.repeat(8 << 20)], graceMs: 50 })
  const wire = await dial(t, port)
  wire.socket.pause()
  wire.send(`${POST}Content-Length: ${QUERY.length}\r\n\r\n${QUERY}`)
  await sleep(50)
  await server.close()
})
