import assert from 'node:assert/strict'
import { createServer as createHttp } from 'node:http'
import { createServer as createHttp2, connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import test from 'node:test'
import { portOf } from '../../fixtures/listening.ts'
import { dial, eventually, listen, parseAnswers, serve } from '../../fixtures/kernel.ts'

const texts: ReadonlyMap<string, string> = new Map([
  ['plain', 'x'.repeat(5_000_000)],
  ['of many bytes each', '\u20ac'.repeat(300_000)],
  // Pieces of an even length are cut in the middle of a character of two halves, unless one looks.
  ['of two halves each', `x${'\u{1f600}'.repeat(300_000)}`],
  ['one character longer than a piece', 'x'.repeat(128 * 1024 + 1)],
])
const agent = { name: 'Big', run: (prompt: string) => texts.get(prompt) ?? prompt }

test('a large reply arrives whole, whatever its characters, over one connection many times', async (t) => {
  const { url } = await listen(t, { agents: [agent] })
  for (const [query, text] of texts) {
    const response = await fetch(url, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query }),
    })
    const body = await response.text()
    assert.equal(Number(response.headers.get('content-length')), Buffer.byteLength(body), query)
    assert.ok((JSON.parse(body) as { response: string }).response === text, query)
  }
})

test('a large reply arrives whole where a response may hold more than a piece of it', async (t) => {
  const host = createHttp({ highWaterMark: 1024 * 1024 } as object, serve(t, { agents: [agent] }).handler)
  const port = await portOf(t, host)
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"query":"plain"}',
  })
  assert.ok((await response.json() as { response: string }).response === texts.get('plain'))
})

test('a large reply arrives whole over HTTP/2', async (t) => {
  const port = await portOf(t, createHttp2(serve(t, { agents: [agent] }).handler))
  const client = connectHttp2(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  const stream = client.request({ ':method': 'POST', ':path': '/', 'content-type': 'application/json' })
  stream.end('{"query":"plain"}')
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece as Buffer)
  const { response } = JSON.parse(Buffer.concat(pieces).toString()) as { response: string }
  assert.ok(response === texts.get('plain'))
})

test('of a large reply that nobody reads, what waits is told, and goes with its reader', async (t) => {
  const { port, server } = await listen(t, { agents: [agent] })
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.pause()
  const body = '{"query":"plain"}'
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
  const one = `${head}Content-Length: ${body.length}\r\n\r\n${body}`
  // The kernel takes some megabytes; what is left is ours.
  socket.write(one)
  await eventually(() => server.status().streams.queuedBytes > 0)
  assert.ok(server.status().streams.queuedBytes < 5_000_000)
  socket.destroy()
  await eventually(() => server.status().streams.queuedBytes === 0)
})

test('who has asked and closed its half reads a large reply to its end', async (t) => {
  const { port, server } = await listen(t, { agents: [agent] })
  const body = '{"query":"plain"}'
  for (const version of ['1.1', '1.0']) {
    const wire = await dial(t, port)
    wire.socket.pause()
    wire.send(`POST / HTTP/${version}\r\nHost: localhost\r\nContent-Type: application/json\r\n`
      + `Content-Length: ${body.length}\r\n\r\n${body}`)
    await eventually(() => server.status().streams.queuedBytes > 0)
    wire.socket.end()
    wire.socket.resume()
    const [answer] = parseAnswers(await wire.closed())
    assert.ok(answer?.body.includes(texts.get('plain')!), `${version}: ${wire.text.length} bytes came`)
    await eventually(() => server.status().streams.queuedBytes === 0)
  }
})
