/**
 * What the HTTP transports of MCP reply to what is no request, or none that can be answered. An id that could
 * not be read is left out, as MCP's schema wants.
 */
import { errorReply, INTERNAL_ERROR, INVALID_REQUEST, refusalError, rpcError } from '../../wire/jsonrpc.ts'
import { Fault } from '../../define/fault.ts'
import type { Refusal, Reply } from '../../http/message/exchange.ts'
import type { Id } from '../../wire/jsonrpc.ts'

/** How long a client should wait where all sessions are in use, in seconds. */
const RETRY_AFTER = '5'

/** The reply to what is no valid request, with a sentence that says why. */
export function invalid(status: number, why: string, id?: Id, headers?: readonly string[]): Reply {
  return errorReply(id ?? undefined, rpcError(INVALID_REQUEST, why), status, headers)
}

/** The reply to a request whose id another has that runs. */
export function twice(id: Id): Reply {
  return invalid(400, 'A request with this id is running in this session already', id)
}

/** The reply where something cannot be done now. Throws what is no `Fault`. */
export function unavailable(thrown: unknown): Reply {
  if (thrown instanceof Fault) return noSession(thrown)
  throw thrown
}

/** The reply where no session can begin. */
export function noSession({ message }: Fault, id?: Id): Reply {
  return errorReply(id ?? undefined, rpcError(INTERNAL_ERROR, message), 503, ['Retry-After', RETRY_AFTER])
}

/** A refusal that was made before the message was read. */
export function refuseHttp(refusal: Refusal): Reply {
  return errorReply(undefined, refusalError(refusal), refusal.status, refusal.headers)
}
