/**
 * What Node's parser, or its clock, refused before there was a request to answer: the last word on a
 * connection, written by hand.
 */
import { problem, PROBLEM_JSON } from '../../wire/problem.ts'
import type { Duplex } from 'node:stream'

/** A client that does not read its answer is not waited for any longer than this. */
const LINGER_MS = 1_000

/** The sentence for a request that does not come to its end in time. */
export const LATE = 'The request took too long to arrive'

/** Why Node gave a connection up. */
export interface Unread { readonly status: number; readonly detail: string }

const reasons: ReadonlyMap<string, Unread> = new Map([
  ['HPE_HEADER_OVERFLOW', { status: 431, detail: 'The header lines are too large' }],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', { status: 413, detail: 'The chunk extensions are too large' }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, detail: LATE }],
])

/** What the client is told of an error code of Node's. */
export function unreadOf(code: string | undefined): Unread {
  return reasons.get(code ?? '') ?? { status: 400, detail: 'The request is not HTTP' }
}

/** Answers on a socket that no response owns, and closes it. */
export function answerUnread(socket: Duplex, { status, detail }: Unread): void {
  const document = problem(status, detail, 'none')
  const body = JSON.stringify(document)
  socket.end(`HTTP/1.1 ${status} ${document.title}\r\nContent-Type: ${PROBLEM_JSON}\r\n`
    + `Content-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\n`
    + `Connection: close\r\n\r\n${body}`)
  // Ended is half closed: the other half is the client's, who may have no mind to close it.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
