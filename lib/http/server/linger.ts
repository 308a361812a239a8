/**
 * The end of a connection whose request was answered before all of it had come.
 *
 * To close at once would reset the connection, and could take the answer with it. So the answer is sent
 * whole, this half of the connection is closed, and what the client still sends is passed over for a
 * while: clients that write all of a body before they read anything get to read why it was refused.
 */
import { Socket } from 'node:net'
import { pauseUntilLoopFree, MANY_CHUNKS } from '../stream/loop-fairness.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpRequest } from './request.ts'

/** A refused body of up to this length is read to its end, so that the connection can be kept. */
export const KEPT_BYTES: number = 64 * 1024

/** The longest that a client may go on sending. */
const LINGER_MS = 2_000

/** Whether a body may be too long to be read for nothing, or may never come: then nothing can follow it. */
export function mayNotBeRead(request: HttpRequest): boolean {
  const { contentLength, transferEncoding } = request.head
  return transferEncoding !== undefined || Number(contentLength ?? 0) > KEPT_BYTES
    || request.header('expect') !== undefined
}

/** Whether it can be done: over a socket of its own. Over anything else a response simply ends. */
export function canLinger(incoming: IncomingMessage): boolean {
  return incoming.socket instanceof Socket
}

/** Sends the rest of an answer whose head is written, and passes over at most `maxBytes` of the body. */
export function linger(
  incoming: IncomingMessage, response: ServerResponse, body: string | Uint8Array | undefined,
  maxBytes: number,
): void {
  if (body !== undefined) response.write(body)
  else response.flushHeaders()
  const { socket } = incoming
  socket.end()
  let passed = 0
  let chunks = 0
  const close = (): void => {
    clearTimeout(timer)
    socket.destroySoon()
  }
  const timer = setTimeout(close, LINGER_MS)
  incoming.removeAllListeners('data')
  incoming.on('data', (chunk: Buffer) => {
    passed += chunk.length
    if (passed > maxBytes) close()
    else if (++chunks % MANY_CHUNKS === 0) pauseUntilLoopFree(incoming)
  })
  incoming.on('end', close)
  incoming.on('close', close)
  incoming.resume()
}
