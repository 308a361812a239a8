/**
 * The ways to fail in A2A: each error that the specification names, and each kind of `Fault`, with its
 * numbers in both bindings. How a dialect writes an error is in `codec/errors.ts`.
 * Spec: A2A 1.0 §5.4, A2A 0.3 §8.2.
 */
import { Fault } from '../../../kernel/define/fault.ts'
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { FaultKind } from '../../../kernel/define/fault.ts'

/** The name that the specification has for an error (`google.rpc.ErrorInfo.reason`). */
export type A2aReason =
  | 'TASK_NOT_FOUND' | 'TASK_NOT_CANCELABLE' | 'PUSH_NOTIFICATION_NOT_SUPPORTED' | 'UNSUPPORTED_OPERATION'
  | 'CONTENT_TYPE_NOT_SUPPORTED' | 'INVALID_AGENT_RESPONSE' | 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
  | 'EXTENSION_SUPPORT_REQUIRED' | 'VERSION_NOT_SUPPORTED'

/** What both bindings write for an error. */
export interface ErrorNumbers {
  /** Of JSON-RPC. */
  readonly code: number
  /** Of HTTP+JSON. */
  readonly httpStatus: number
  /** The name of that status (`google.rpc.Code`). */
  readonly status: string
}

/** One error of A2A's own. `message` is the specification's. */
interface A2aError extends ErrorNumbers { readonly message: string; readonly kind: FaultKind }

/** All of them. */
export const a2aErrors: Readonly<Record<A2aReason, A2aError>> = {
  TASK_NOT_FOUND: own(-32001, 'Task not found', 'not-found', 404, 'NOT_FOUND'),
  TASK_NOT_CANCELABLE: own(-32002, 'Task cannot be canceled', 'conflict'),
  PUSH_NOTIFICATION_NOT_SUPPORTED: own(-32003, 'Push Notification is not supported', 'unsupported'),
  UNSUPPORTED_OPERATION: own(-32004, 'This operation is not supported', 'unsupported'),
  CONTENT_TYPE_NOT_SUPPORTED: own(
    -32005, 'Incompatible content types', 'unsupported', 400, 'INVALID_ARGUMENT',
  ),
  INVALID_AGENT_RESPONSE: own(-32006, 'Invalid agent response', 'internal', 500, 'INTERNAL'),
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: own(
    -32007, 'Authenticated Extended Card is not configured', 'unsupported',
  ),
  EXTENSION_SUPPORT_REQUIRED: own(-32008, 'Extension support required', 'unsupported'),
  VERSION_NOT_SUPPORTED: own(-32009, 'Version not supported', 'unsupported'),
}

/** Every fault that is none of A2A's own. */
export const kindErrors: Readonly<Record<FaultKind, ErrorNumbers>> = {
  'invalid': { code: INVALID_PARAMS, httpStatus: 400, status: 'INVALID_ARGUMENT' },
  'unauthenticated': { code: INVALID_REQUEST, httpStatus: 401, status: 'UNAUTHENTICATED' },
  'forbidden': { code: INVALID_REQUEST, httpStatus: 403, status: 'PERMISSION_DENIED' },
  'not-found': { code: INVALID_PARAMS, httpStatus: 404, status: 'NOT_FOUND' },
  'conflict': a2aErrors.UNSUPPORTED_OPERATION,
  'unsupported': a2aErrors.UNSUPPORTED_OPERATION,
  'too-large': { code: INVALID_PARAMS, httpStatus: 413, status: 'INVALID_ARGUMENT' },
  'busy': { code: INTERNAL_ERROR, httpStatus: 503, status: 'UNAVAILABLE' },
  'timeout': { code: INTERNAL_ERROR, httpStatus: 504, status: 'DEADLINE_EXCEEDED' },
  'cancelled': { code: INTERNAL_ERROR, httpStatus: 503, status: 'UNAVAILABLE' },
  'failed': { code: INTERNAL_ERROR, httpStatus: 500, status: 'INTERNAL' },
  'upstream': { code: INTERNAL_ERROR, httpStatus: 502, status: 'UNAVAILABLE' },
  'internal': { code: INTERNAL_ERROR, httpStatus: 500, status: 'INTERNAL' },
}

function own(
  code: number, message: string, kind: FaultKind, httpStatus = 400, status = 'FAILED_PRECONDITION',
): A2aError {
  return { code, message, kind, httpStatus, status }
}

/** A `Fault` that is one of A2A's own errors. */
export class A2aFault extends Fault {
  readonly reason: A2aReason

  /** `message` is a sentence for the caller, `detail` any JSON value for machines. */
  constructor(reason: A2aReason, message: string, detail?: unknown) {
    super(a2aErrors[reason].kind, message, detail)
    this.reason = reason
  }
}

/** Which of A2A's own errors a fault is; undefined for any other. */
export function reasonOf(fault: Fault): A2aReason | undefined {
  if (fault instanceof A2aFault) return fault.reason
  return fault.kind === 'conflict' || fault.kind === 'unsupported' ? 'UNSUPPORTED_OPERATION' : undefined
}

/** What both bindings write for a fault. */
export function numbersOf(fault: Fault): ErrorNumbers {
  return fault instanceof A2aFault ? a2aErrors[fault.reason] : kindErrors[fault.kind]
}
