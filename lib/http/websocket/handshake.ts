/**
 * The opening handshake of a WebSocket, on the side of the server.
 * Spec: RFC 6455 §4.2.
 */
import { createHash } from 'node:crypto'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const VERSION = '13'
/** Sixteen bytes as base64. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/

/** What is wrong with a request: status, sentence, headers. */
export function handshakeObjection(
  header: (name: string) => string | undefined,
): readonly [status: number, detail: string, headers?: readonly string[]] | undefined {
  if (header('sec-websocket-version') !== VERSION) {
    return [426, `Sec-WebSocket-Version must be ${VERSION}`,
      ['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Version', VERSION]]
  }
  if (KEY.test(header('sec-websocket-key') ?? '')) return undefined
  return [400, 'Sec-WebSocket-Key must be 16 bytes as base64, another one for each connection']
}

/** The header lines of 101, which prove that the key was read. */
export function handshakeLines(key: string): readonly string[] {
  const accept = createHash('sha1').update(key + GUID).digest('base64')
  return ['Upgrade', 'websocket', 'Connection', 'Upgrade', 'Sec-WebSocket-Accept', accept]
}
