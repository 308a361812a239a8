/**
 * Refusals that are made before a request is read, in the form of each binding: all that a server of A2A has
 * to know of its answers before the first request comes.
 */
import { errorReply, refusalError, rpcError } from '../../wire/jsonrpc.ts'
import { A2A_JSON_TYPE, JSON_TYPE } from '../../wire/media.ts'
import { A2aFault } from '../model/faults.ts'
import { encodeRpcFault, encodeHttpRefusal, encodeV1Error, encodeV1Fault } from '../codec/errors.ts'
import { versionOf } from '../model/dialect.ts'
import type { Refusal, Reply } from '../../http/message/exchange.ts'
import type { RpcError } from '../../wire/jsonrpc.ts'
import type { Dialect, Version } from '../model/dialect.ts'

/** Media types of a body of HTTP+JSON. */
export const bodyTypes: readonly string[] = Object.freeze([JSON_TYPE, A2A_JSON_TYPE])

/** How errors are spelled: of a dialect, what need not be loaded with it. */
type Spelling = Pick<Dialect, 'encodeFault' | 'encodeError'>

/** The spelling of each version that has one of its own, and the one of all others. */
const spellings: ReadonlyMap<Version, Spelling> = new Map([
  ['1.0', { encodeFault: encodeV1Fault, encodeError: encodeV1Error }],
])
const usual: Spelling = { encodeFault: encodeRpcFault, encodeError: rpcError }

/** Refuses what was sent as JSON-RPC, in the words of the version that its client says it speaks. */
export function refuseMessage(refusal: Refusal): Reply {
  return errorReply(null, errorFor(refusal), refusal.status, refusal.headers)
}

function errorFor(refusal: Refusal): RpcError {
  const { status, detail, asked } = refusal
  const { encodeFault, encodeError } = spellings.get(asked && versionOf(asked)) ?? usual
  if (status !== 415) return encodeError(refusalError(refusal).code, detail)
  return encodeFault(new A2aFault('CONTENT_TYPE_NOT_SUPPORTED', detail), detail)
}

/** Refuses what was sent as HTTP+JSON. */
export function refuseHttpJson({ status, detail, headers }: Refusal): Reply {
  const reason = status === 415 ? 'CONTENT_TYPE_NOT_SUPPORTED' : undefined
  const body = JSON.stringify(encodeHttpRefusal(status, detail, reason).body)
  return { status, type: JSON_TYPE, body, ...headers !== undefined && { headers } }
}
