/**
 * Reports each request at its end: to the operator's `onRequest`, to the diagnostics channel
 * `triport:request`, and as a line of log. Without a listener no clock is read.
 */
import { channel } from 'node:diagnostics_channel'
import { caught } from '../../util/thenable.ts'
import { withoutQuery } from './node-request.ts'
import type { Channel } from 'node:diagnostics_channel'
import type { Log } from '../../define/log.ts'
import type { HttpRequest } from './request.ts'

/** One request, when it is over: answered, refused, or left by its client. */
export interface RequestSummary {
  readonly method: string
  /** As it was asked for, without the query. */
  readonly path: string
  /** The pattern that the path matched, below the mount path: `/agents/{agent}`. Undefined: none. */
  readonly route: string | undefined
  /** The status that was sent; 0 where the client left before there was one. */
  readonly status: number
  /** Bytes of the body that were written, whether or not the client took them all. */
  readonly bytes: number
  /** From the end of the head to the end of the answer; for a stream, to its end. Milliseconds. */
  readonly durationMs: number
  readonly requestId: string
  readonly principalId: string
  /** Undefined without a socket. */
  readonly remoteAddress: string | undefined
}

export interface Observer {
  /** Whether requests are reported even without a subscriber of the channel. */
  readonly isAlwaysWanted: boolean
  /** Called once for each request at its end. Never throws. */
  onDone(request: HttpRequest, status: number, bytes: number, ms: number): void
}

/** Longer paths are cut in the log. */
const MAX_SHOWN = 256

/** Looked at when a request begins. */
export const requestChannel: Channel = channel('triport:request')

export function createObserver(
  onRequest: ((request: RequestSummary) => void) | undefined, accessLog: boolean, log: Log,
): Observer {
  let hasFailed = false

  /** Logged once. */
  function failed(cause: unknown): void {
    if (hasFailed) return
    hasFailed = true
    log('error', 'onRequest failed; later failures are not logged', { cause })
  }

  function onDone(request: HttpRequest, status: number, bytes: number, durationMs: number): void {
    const { incoming, endpoint, method, requestId } = request
    const { remoteAddress, prefix = '' } = incoming
    const path = prefix + withoutQuery(incoming.target)
    const principalId = request.principal.id
    const summary: RequestSummary = {
      method, path, route: endpoint?.path, status, bytes, durationMs, requestId, principalId, remoteAddress,
    }
    void caught(() => onRequest?.(summary), failed)
    if (requestChannel.hasSubscribers) requestChannel.publish(summary)
    if (!accessLog) return
    const shown = path.slice(0, MAX_SHOWN)
    log('info', `${method} ${shown} ${status}`, {
      method, path: shown, status, bytes, ms: Math.round(durationMs * 10) / 10,
      request: requestId, principal: principalId, address: remoteAddress,
    })
  }

  return { isAlwaysWanted: accessLog || onRequest !== undefined, onDone }
}
