/**
 * The ways to fail, in A2A's numbers: a `Fault` in, the error of a JSON-RPC answer out.
 * The specification's own codes carry its own words (A2A 0.3 §8.2).
 */
import { isRecord } from '../core/content.ts'
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, rpcError } from '../wire/jsonrpc.ts'
import type { Fault, FaultKind } from '../core/fault.ts'
import type { RpcError } from '../wire/jsonrpc.ts'

const UNSUPPORTED_OPERATION = -32004

const codes: Readonly<Record<FaultKind, number>> = {
  'invalid': INVALID_PARAMS,
  'unauthenticated': INVALID_REQUEST,
  'forbidden': INVALID_REQUEST,
  'not-found': INVALID_PARAMS,
  'conflict': UNSUPPORTED_OPERATION,
  'unsupported': UNSUPPORTED_OPERATION,
  'too-large': INVALID_PARAMS,
  'busy': INTERNAL_ERROR,
  'timeout': INTERNAL_ERROR,
  'cancelled': INTERNAL_ERROR,
  'failed': INTERNAL_ERROR,
  'internal': INTERNAL_ERROR,
}

/** The error for a fault. What an author attached to it stands beside the sentence, never in its place. */
export function a2aError({ kind, detail }: Fault, said: string): RpcError {
  const code = codes[kind]
  // A defect shows nothing of itself.
  const shown = kind === 'internal' ? undefined : detail
  const more = isRecord(shown) ? shown : shown === undefined ? undefined : { data: shown }
  const error = rpcError(code, said, more === undefined ? undefined : { ...more, detail: said })
  return code === UNSUPPORTED_OPERATION ? { ...error, message: 'This operation is not supported' } : error
}
