import assert from 'node:assert/strict'
import { createServer as createNode } from 'node:http'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { portOf } from '../../fixtures/listening.ts'
import { QUERY } from './requests.ts'
import { dial, echo, eventually, listen, parseAnswers, serve } from '../../fixtures/kernel.ts'

const UPGRADE = 'Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n'
const KEYS = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

/** A request that asks for a protocol that is not spoken here. */
function asking(protocol: string, line: string, body = ''): string {
  const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  return `${line} HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}Upgrade: ${protocol}\r\n${KEYS}`
    + `${length}\r\n${body}`
}

test('what asks for another protocol is answered as if it did not, as often as it likes', async (t) => {
  const warnings: Error[] = []
  const warn = (warning: Error): void => { warnings.push(warning) }
  process.on('warning', warn)
  t.after(() => process.off('warning', warn))
  const { port } = await listen(t, { agents: [echo] })
  for (const protocol of ['websocket', 'h2c', 'TLS/1.0, IRC/6.9', 'none']) {
    const wire = await dial(t, port)
    const post = asking(protocol, 'POST /', QUERY)
    wire.send(post.slice(0, -5))
    await sleep(20)
    wire.send(post.slice(-5))
    assert.match((await wire.answers(1))[0]!.body, /You said hello/)
    // Together, with what follows.
    wire.send(asking(protocol, 'GET /health') + post + asking(protocol, 'GET /tools/none') + post)
    const answers = await wire.answers(5)
    assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 405, 200], protocol)
    assert.equal(answers[3]!.headers.get('allow'), 'POST')
    assert.ok(answers.every(({ headers }) => headers.get('connection') === 'keep-alive'))
    assert.ok(answers.every(({ headers }) => !headers.has('upgrade')))
    for (let count = 6; count < 30; count++) {
      wire.send(post)
      assert.equal((await wire.answers(count)).at(-1)!.status, 200)
    }
  }
  assert.deepEqual(warnings.map(String), [])
})

test('a stream ends when its client leaves, though it asked for another protocol', async (t) => {
  const { server, port } = await listen(t, { agents: [echo], heartbeatMs: 60_000 })
  for (const leave of ['end', 'destroy', 'resetAndDestroy'] as const) {
    const wire = await dial(t, port)
    wire.send(asking('websocket', 'GET /probe'))
    assert.match(await wire.until((text) => text.includes('data: begun')), /^HTTP\/1\.1 200/)
    assert.equal(server.status().streams.open, 1)
    wire.socket[leave]()
    await eventually(() => server.status().streams.open === 0, `the stream is over after ${leave}`)
  }
})

test('what asks for another protocol in the server of a host is for the host', async (t) => {
  const server = serve(t, { agents: [echo] })
  const host = createNode(server.handler)
  const port = await portOf(t, host)
  const wire = await dial(t, port)
  wire.send(asking('websocket', 'GET /tools/none'))
  assert.equal((await wire.answers(1))[0]!.status, 405)
  let taken = ''
  host.on('upgrade', ({ url }, socket) => {
    taken = String(url)
    socket.destroy()
  })
  const other = await dial(t, port)
  other.send(asking('websocket', 'GET /tools/none'))
  await other.closed()
  assert.equal(taken, '/tools/none')
})

/** What another protocol is asked with, and the statuses of what comes behind a running answer. */
const behind: readonly (readonly [bytes: string, statuses: readonly number[]])[] = [
  [asking('websocket', 'GET /health'), [200, 200]],
  [asking('h2c', 'POST /', QUERY), [200, 200]],
  ['CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n', []],
]

test('a running answer is whole, whatever asks for another protocol behind it', async (t) => {
  const late = async (): Promise<string> => { await sleep(60); return 'late' }
  const streamed = async function* (): AsyncGenerator<string> { yield 'early '; yield await late() }
  const long = async (): Promise<string> => 'x'.repeat(3_000_000) + await late()
  const { port } = await listen(t, {
    agents: [
      { name: 'Late', run: late }, { name: 'Streamed', run: streamed }, { name: 'Long', run: long }, echo,
    ],
  })
  const asked = (path: string, query: string, more = ''): string => (
    `POST /agents/${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}`
      + `Content-Length: ${query.length}\r\n\r\n${query}`
  )
  for (const [path, query] of [
    ['late', QUERY], ['streamed', '{"query":"hello","stream":true}'], ['long', QUERY],
  ] as const) {
    for (const [bytes, statuses] of behind) {
      const wire = await dial(t, port)
      // One more waits between them.
      const last = asked('echo', QUERY, 'Connection: close\r\n')
      wire.send(asked(path, query) + asked('echo', QUERY) + bytes + last)
      const answers = parseAnswers(await wire.closed())
      assert.deepEqual(answers.map(({ status }) => status), [200, 200, ...statuses], `${path}: ${bytes}`)
      assert.match(answers[0]!.body, /late/)
    }
  }
})
