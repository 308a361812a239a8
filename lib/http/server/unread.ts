/** Refusals of what Node's parser or clock rejected before there was a request, written to the raw socket. */
import { problem, PROBLEM_JSON } from '../../wire/problem.ts'
import type { Duplex } from 'node:stream'

/** How long a client may take to read its answer. */
const LINGER_MS = 1_000

export const LATE = 'The request took too long to arrive'

export interface Unread { readonly status: number; readonly detail: string }

const reasons: ReadonlyMap<string, Unread> = new Map([
  ['HPE_HEADER_OVERFLOW', { status: 431, detail: 'The header lines are too large' }],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', { status: 413, detail: 'The chunk extensions are too large' }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, detail: LATE }],
])

/** The refusal for an error code of Node's. */
export function unreadOf(code: string | undefined): Unread {
  return reasons.get(code ?? '') ?? { status: 400, detail: 'The request is not HTTP' }
}

/** Answers on a socket without a response, and closes it. */
export function answerUnread(socket: Duplex, { status, detail }: Unread): void {
  const document = problem(status, detail, 'none')
  const body = JSON.stringify(document)
  socket.end(`HTTP/1.1 ${status} ${document.title}\r\nContent-Type: ${PROBLEM_JSON}\r\n`
    + `Content-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\n`
    + `Connection: close\r\n\r\n${body}`)
  // The other half is closed by the client, or here.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
