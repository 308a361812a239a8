/** Errors as ACP has them: what a person reads is the message. Spec: ACP 1, ErrorCode. */
import { publicMessage } from '../define/fault.ts'
import { shownFault } from '../run/shown-fault.ts'
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST } from '../wire/jsonrpc.ts'
import type { FaultKind } from '../define/fault.ts'
import type { Service } from '../run/service.ts'
import type { RpcError } from '../wire/jsonrpc.ts'

const AUTHENTICATION_REQUIRED = -32000
const RESOURCE_NOT_FOUND = -32002
const REQUEST_CANCELLED = -32800

const codes: Readonly<Record<FaultKind, number>> = {
  'invalid': INVALID_PARAMS,
  'unauthenticated': AUTHENTICATION_REQUIRED,
  'forbidden': INTERNAL_ERROR,
  'not-found': RESOURCE_NOT_FOUND,
  'conflict': INVALID_REQUEST,
  'unsupported': INTERNAL_ERROR,
  'too-large': INTERNAL_ERROR,
  'busy': INTERNAL_ERROR,
  'timeout': INTERNAL_ERROR,
  'cancelled': REQUEST_CANCELLED,
  'failed': INTERNAL_ERROR,
  'upstream': INTERNAL_ERROR,
  'internal': INTERNAL_ERROR,
}

/** Anything thrown, as an error. What is no `Fault` is a defect of ours, and is logged. */
export function errorOf(service: Service, thrown: unknown, requestId: string): RpcError {
  const fault = shownFault(service, thrown, requestId)
  const { kind, detail } = fault
  const error = { code: codes[kind], message: publicMessage(fault, requestId, service.exposeErrors) }
  return detail === undefined ? error : { ...error, data: detail }
}
