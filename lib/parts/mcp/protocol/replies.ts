/**
 * HTTP replies of the MCP transports to what cannot be run. An id that could not be read is left out, as
 * MCP's schema wants.
 */
import {
  errorReply, INTERNAL_ERROR, INVALID_REQUEST, refusalError, rpcError,
} from '../../../floors/jsonrpc/jsonrpc.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { andThen } from '../../../kernel/util/thenable.ts'
import type { Exchange, Refusal, Reply } from '../../../kernel/http/message/exchange.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Id } from '../../../floors/jsonrpc/jsonrpc.ts'

/** How long a client should wait where all sessions are in use, in seconds. */
const RETRY_AFTER = '5'

export function invalid(status: number, why: string, id?: Id, headers?: readonly string[]): Reply {
  return errorReply(id ?? undefined, rpcError(INVALID_REQUEST, why), status, headers)
}

/** Counts a message as so many of a kind, and answers it; 429 where its caller has had too many. */
export function answerCounted(
  exchange: Exchange, kind: 'call' | 'initialize', cost: number, id: Id | undefined,
  answer: () => MaybePromise<Reply>,
): MaybePromise<Reply> {
  return andThen(cost > 0 ? exchange.take(kind, cost) : undefined, (overuse) => (
    overuse === undefined ? answer() : invalid(429, overuse.detail, id, overuse.headers)
  ))
}

export function duplicate(id: Id): Reply {
  return invalid(400, 'A request with this id is running in this session already', id)
}

export function noLegacySse(id?: Id): Reply {
  return invalid(404, 'There is no such session, or it has ended; open /sse again', id)
}

/** The reply where a `Fault` prevents something now. Throws anything else. */
export function unavailable(thrown: unknown, id?: Id): Reply {
  if (!(thrown instanceof Fault)) throw thrown
  const error = rpcError(INTERNAL_ERROR, thrown.message)
  return errorReply(id ?? undefined, error, 503, ['Retry-After', RETRY_AFTER])
}

export function refuseHttp(refusal: Refusal): Reply {
  return errorReply(undefined, refusalError(refusal), refusal.status, refusal.headers)
}
