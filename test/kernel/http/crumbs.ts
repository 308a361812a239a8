/** Bodies that come byte by byte. No test itself. */
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Scope } from '../../fixtures/kernel.ts'

/** Sends a body in chunks of one character each, and hears the whole answer. */
export async function crumbled(
  t: Scope, url: string, body: string, type = 'application/json',
): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n'
    + `Content-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`)
  socket.write(`${Array.from(body, (char) => `1\r\n${char}\r\n`).join('')}0\r\n\r\n`)
  return text(socket)
}
