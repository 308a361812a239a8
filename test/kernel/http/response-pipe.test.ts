import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import test from 'node:test'
import { kernelDefaults } from '../../../lib/kernel/define/limits.ts'
import { endAtOnce, ResponsePipe } from '../../../lib/kernel/http/stream/response-pipe.ts'
import { Streams } from '../../../lib/kernel/http/stream/sink.ts'
import { portOf } from '../../fixtures/listening.ts'
import type { Socket } from 'node:net'

const bodies = [
  '{}', '', 'caf\u00e9', '\u65e5\u672c', '\u{1f600}'.repeat(50), 'x'.repeat(100_000),
  `${'x'.repeat(100_000)}\u00e9`,
]

test('a whole body arrives as it is, behind its head, in one write', async (t) => {
  let body = ''
  let pieces: number[] = []
  const server = createServer((request, response) => {
    count(request.socket, pieces)
    const bytes = Buffer.byteLength(body)
    response.writeHead(200, ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(bytes)])
    endAtOnce(response, body, bytes)
  })
  const port = await portOf(t, server)
  for (body of bodies) {
    pieces = []
    const response = await fetch(`http://127.0.0.1:${port}`)
    assert.equal(await response.text(), body)
    assert.deepEqual(pieces, [1], body.slice(0, 20))
  }
})

/** Notes how many pieces each write to a socket has. */
function count(socket: Socket, pieces: number[]): void {
  const { _write, _writev } = socket
  socket._write = function (...one) {
    pieces.push(1)
    return _write.apply(this, one)
  }
  socket._writev = function (chunks, ...more) {
    pieces.push(chunks.length)
    return _writev?.call(this, chunks, ...more)
  }
}

test('a response that somebody wraps is ended by their own end', async (t) => {
  const ended: unknown[] = []
  const server = createServer((_request, response) => {
    const { end } = response
    response.end = function (this: typeof response, ...said: unknown[]) {
      ended.push(said[0])
      return Reflect.apply(end, this, said) as typeof response
    } as typeof end
    response.writeHead(200, ['Content-Length', '2'])
    endAtOnce(response, 'hi', 2)
  })
  const port = await portOf(t, server)
  assert.equal(await (await fetch(`http://127.0.0.1:${port}`)).text(), 'hi')
  assert.deepEqual(ended, ['hi'])
})

test('a writer that waits for its reader goes on when that has read, time after time', async (t) => {
  // No heartbeat looks at it meanwhile.
  const streams = new Streams({ ...kernelDefaults, heartbeatMs: 600_000 }, () => {})
  const large = 'x'.repeat(8 * 1024 * 1024)
  let rounds = 0
  const server = createServer((_request, response) => {
    const pipe = new ResponsePipe(response, 200, ['Content-Type', 'text/event-stream'], false)
    response.once('close', () => pipe.sink?.gone())
    pipe.sink = streams.open({
      open(sink) {
        const write = async (): Promise<void> => {
          for (; rounds < 3; rounds++) {
            assert.equal(sink.write(large), false)
            await sink.ready()
          }
          sink.end()
        }
        void write()
      },
    }, pipe, true, { caller: 'a' })
  })
  const port = await portOf(t, server)
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  let bytes = 0
  for await (const chunk of socket) bytes += (chunk as Buffer).length
  assert.equal(rounds, 3)
  assert.ok(bytes > 3 * large.length)
})
