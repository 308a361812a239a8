/**
 * The ways to fail in A2A: each error that the specification names, with its numbers in both bindings, and
 * which of them a `Fault` is. How a dialect writes an error is its own business.
 * Spec: A2A 1.0 §5.4, A2A 0.3 §8.2.
 */
import { Fault } from '../../define/fault.ts'
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST } from '../../wire/jsonrpc.ts'
import type { FaultKind } from '../../define/fault.ts'

/** The name that the specification has for an error (`google.rpc.ErrorInfo.reason`). */
export type A2aReason =
  | 'TASK_NOT_FOUND' | 'TASK_NOT_CANCELABLE' | 'PUSH_NOTIFICATION_NOT_SUPPORTED' | 'UNSUPPORTED_OPERATION'
  | 'CONTENT_TYPE_NOT_SUPPORTED' | 'INVALID_AGENT_RESPONSE' | 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
  | 'EXTENSION_SUPPORT_REQUIRED' | 'VERSION_NOT_SUPPORTED'

/** One error of A2A's own. */
export interface A2aError {
  /** Of JSON-RPC. */
  readonly code: number
  /** The specification's own words. */
  readonly message: string
  /** Of HTTP+JSON. */
  readonly httpStatus: number
  /** The name of that status (`google.rpc.Code`). */
  readonly status: string
  readonly kind: FaultKind
}

const PRECONDITION = { httpStatus: 400, status: 'FAILED_PRECONDITION' }

/** All of them. */
export const a2aErrors: Readonly<Record<A2aReason, A2aError>> = {
  TASK_NOT_FOUND: {
    code: -32001, message: 'Task not found', httpStatus: 404, status: 'NOT_FOUND', kind: 'not-found',
  },
  TASK_NOT_CANCELABLE: {
    code: -32002, message: 'Task cannot be canceled', ...PRECONDITION, kind: 'conflict',
  },
  PUSH_NOTIFICATION_NOT_SUPPORTED: {
    code: -32003, message: 'Push Notification is not supported', ...PRECONDITION, kind: 'unsupported',
  },
  UNSUPPORTED_OPERATION: {
    code: -32004, message: 'This operation is not supported', ...PRECONDITION, kind: 'unsupported',
  },
  CONTENT_TYPE_NOT_SUPPORTED: {
    code: -32005, message: 'Incompatible content types', httpStatus: 400, status: 'INVALID_ARGUMENT',
    kind: 'unsupported',
  },
  INVALID_AGENT_RESPONSE: {
    code: -32006, message: 'Invalid agent response', httpStatus: 500, status: 'INTERNAL', kind: 'internal',
  },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: {
    code: -32007, message: 'Authenticated Extended Card is not configured', ...PRECONDITION,
    kind: 'unsupported',
  },
  EXTENSION_SUPPORT_REQUIRED: {
    code: -32008, message: 'Extension support required', ...PRECONDITION, kind: 'unsupported',
  },
  VERSION_NOT_SUPPORTED: {
    code: -32009, message: 'Version not supported', ...PRECONDITION, kind: 'unsupported',
  },
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

/** Numbers of JSON-RPC for the faults that are none of A2A's own. */
const codes: Readonly<Record<FaultKind, number>> = {
  'invalid': INVALID_PARAMS,
  'unauthenticated': INVALID_REQUEST,
  'forbidden': INVALID_REQUEST,
  'not-found': INVALID_PARAMS,
  'conflict': a2aErrors.UNSUPPORTED_OPERATION.code,
  'unsupported': a2aErrors.UNSUPPORTED_OPERATION.code,
  'too-large': INVALID_PARAMS,
  'busy': INTERNAL_ERROR,
  'timeout': INTERNAL_ERROR,
  'cancelled': INTERNAL_ERROR,
  'failed': INTERNAL_ERROR,
  'upstream': INTERNAL_ERROR,
  'internal': INTERNAL_ERROR,
}

/** Which of A2A's own errors a fault is; undefined: one that JSON-RPC has a number for. */
export function reasonOf(fault: Fault): A2aReason | undefined {
  if (fault instanceof A2aFault) return fault.reason
  return fault.kind === 'conflict' || fault.kind === 'unsupported' ? 'UNSUPPORTED_OPERATION' : undefined
}

/** The number of a fault in JSON-RPC. */
export function codeOf(fault: Fault): number {
  const reason = reasonOf(fault)
  return reason === undefined ? codes[fault.kind] : a2aErrors[reason].code
}
