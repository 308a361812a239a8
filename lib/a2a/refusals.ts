/**
 * Refusals that are made before a request is read, in the form of each binding: all that a server of A2A has
 * to know of its answers before the first request comes.
 */
import { errorReply, refusalError } from '../wire/jsonrpc.ts'
import { JSON_TYPE } from '../wire/media.ts'
import { A2aFault } from './faults.ts'
import { encodeRpcFault } from './rpc-errors.ts'
import { encodeHttpRefusal } from './v1-errors.ts'
import type { Refusal, Reply } from '../http/exchange.ts'
import type { RpcError } from '../wire/jsonrpc.ts'

/** The media type of A2A's JSON where no JSON-RPC is around it. */
export const A2A_JSON_TYPE = 'application/a2a+json'

/** Media types of a body of HTTP+JSON. */
export const bodyTypes: readonly string[] = Object.freeze([JSON_TYPE, A2A_JSON_TYPE])

/** Refuses what was sent as JSON-RPC. */
export function refuseMessage(refusal: Refusal): Reply {
  return errorReply(null, errorFor(refusal), refusal.status, refusal.headers)
}

function errorFor(refusal: Refusal): RpcError {
  if (refusal.status !== 415) return refusalError(refusal)
  return encodeRpcFault(new A2aFault('CONTENT_TYPE_NOT_SUPPORTED', refusal.detail), refusal.detail)
}

/** Refuses what was sent as HTTP+JSON. */
export function refuseHttpJson({ status, detail, headers }: Refusal): Reply {
  const reason = status === 415 ? 'CONTENT_TYPE_NOT_SUPPORTED' : undefined
  const body = JSON.stringify(encodeHttpRefusal(status, detail, reason).body)
  return { status, type: JSON_TYPE, body, ...headers !== undefined && { headers } }
}
