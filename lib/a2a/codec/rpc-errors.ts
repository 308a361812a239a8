/**
 * Errors as the plain dialect and A2A 0.3 write them: a fault in, the error of a JSON-RPC answer out, and
 * back. The message is the specification's own, the sentence about it stands in `data.detail`.
 */
import { isRecord } from '../../define/content.ts'
import { sentenceWithin } from '../../wire/bounded.ts'
import { rpcError } from '../../wire/jsonrpc.ts'
import { a2aErrors, codeOf, reasonOf } from '../model/faults.ts'
import type { Fault } from '../../define/fault.ts'
import type { RpcError } from '../../wire/jsonrpc.ts'
import type { A2aReason } from '../model/faults.ts'

/** The error for a fault. What an author attached to it stands beside the sentence, never in its place. */
export function encodeRpcFault(fault: Fault, said: string): RpcError {
  // A defect shows nothing of itself.
  const shown = fault.kind === 'internal' ? undefined : fault.detail
  const more = isRecord(shown) ? shown : shown === undefined ? undefined : { data: shown }
  const reason = knownReasonOf(fault)
  const code = reason === undefined ? codeOf(fault) : a2aErrors[reason].code
  const error = rpcError(code, said, more && { ...more, detail: sentenceWithin(said) })
  return reason === undefined ? error : { ...error, message: a2aErrors[reason].message }
}

/** These dialects have no number of its own for an extension that a client must know. */
function knownReasonOf(fault: Fault): A2aReason | undefined {
  const reason = reasonOf(fault)
  return reason === 'EXTENSION_SUPPORT_REQUIRED' ? 'UNSUPPORTED_OPERATION' : reason
}
