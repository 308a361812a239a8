/**
 * A request to an address that a client has chosen. Where its name leads to is checked as it is connected to.
 * Follows no redirect, and reads of an answer no more than it is told to.
 */
import { request as httpRequest } from 'node:http'
import type { Agent, IncomingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'

export interface GuardedRequest {
  readonly method?: 'POST'
  readonly headers: Readonly<Record<string, string | number>>
  readonly body?: string
  /** What keeps connections for the next one; false keeps none. */
  readonly agent: Agent | false
  readonly lookup: LookupFunction
  /** Bytes of the answer's body that are read. */
  readonly maxBytes: number
  /** How long these may take after the head of the answer. Left out: until the signal aborts. */
  readonly restMs?: number
}

export interface GuardedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** Whether the body is all that was sent; undefined where it has more than `maxBytes`. */
  readonly isWhole: boolean | undefined
}

const MAX_HEAD_BYTES = 8_192

/** Resolves with any answer. Rejects where there was none, with the reason of `signal` where that aborts. */
export function guardedRequest(
  url: URL, asked: GuardedRequest, signal: AbortSignal, mayRepeat: boolean = true,
): Promise<GuardedAnswer> {
  const { method = 'GET', headers, body, agent, lookup, maxBytes, restMs } = asked
  // Loaded here: TLS is a tenth of a start.
  const begin = url.protocol === 'https:' ? process.getBuiltinModule('node:https').request : httpRequest
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    let failure: unknown
    let answered: (() => GuardedAnswer) | undefined
    let rest: NodeJS.Timeout | undefined
    const request = begin(url, { method, headers, agent, lookup, signal, maxHeaderSize: MAX_HEAD_BYTES })
    request.on('error', (error) => { failure = error })
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      if (restMs !== undefined) rest = setTimeout(() => request.destroy(), restMs)
      // What else is said is read only for its connection.
      if (agent === false && response.statusCode !== 200) request.destroy()
      response.on('error', () => {})
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > maxBytes) request.destroy()
        else chunks.push(chunk)
      })
      answered = () => ({
        status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks),
        isWhole: bytes > maxBytes ? undefined : response.complete,
      })
    })
    request.on('close', () => {
      clearTimeout(rest)
      const isStale = request.reusedSocket && (failure as NodeJS.ErrnoException)?.code === 'ECONNRESET'
      if (answered !== undefined) resolve(answered())
      // The other side had closed the kept connection meanwhile.
      else if (isStale && mayRepeat) resolve(guardedRequest(url, asked, signal, false))
      else reject(signal.aborted ? signal.reason : failure ?? new Error('No answer'))
    })
    request.end(body)
  })
}

/**
 * The outcome of `act`, whose signal aborts when `signal` does, and with `makeLate()` when the time is over.
 */
export async function withinTime<T>(
  ms: number, act: (signal: AbortSignal) => Promise<T>, makeLate: () => Error, signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted()
  const ending = new AbortController()
  const leave = (): void => ending.abort(signal?.reason)
  const running = setTimeout(() => ending.abort(makeLate()), ms)
  signal?.addEventListener('abort', leave)
  try {
    return await act(ending.signal)
  } finally {
    clearTimeout(running)
    signal?.removeEventListener('abort', leave)
  }
}
