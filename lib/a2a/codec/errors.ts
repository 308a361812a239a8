/**
 * How each dialect writes an error: a fault and the sentence for the caller in, the error of an answer out.
 *
 * The plain dialect and A2A 0.3 write the specification's own words, with the sentence in `data.detail`. A2A
 * 1.0 writes details that each name their type, for JSON-RPC and for HTTP+JSON alike: `ErrorInfo` for A2A's
 * own errors, `BadRequest` for wrong members, `LocalizedMessage` for all others; each has the sentence. What
 * an author attached is a `Value` behind it, and in an `ErrorInfo` its metadata.
 * Spec: A2A 1.0 §3.3.2, §5.4, §9.5, §11.6; google/rpc/error_details.proto.
 */
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { sentenceWithin } from '../../wire/bounded.ts'
import { INVALID_PARAMS, rpcError } from '../../wire/jsonrpc.ts'
import { a2aErrors, codeOf, reasonOf } from '../model/faults.ts'
import { FieldFault } from '../model/fields.ts'
import type { FaultKind } from '../../define/fault.ts'
import type { RpcError } from '../../wire/jsonrpc.ts'
import type { A2aReason } from '../model/faults.ts'
import type { JsonMembers } from '../model/model.ts'

const TYPE = 'type.googleapis.com/'
const ERROR_INFO = `${TYPE}google.rpc.ErrorInfo`
const BAD_REQUEST = `${TYPE}google.rpc.BadRequest`
const LOCALIZED = `${TYPE}google.rpc.LocalizedMessage`
const VALUE = `${TYPE}google.protobuf.Value`
const DOMAIN = 'a2a-protocol.org'
/** What the path of a member begins with. Fields of a violation, and HTTP+JSON, do without. */
const PARAMS = 'params.'

/** HTTP+JSON's status and its name, for the faults that are none of A2A's own. */
const statuses: Readonly<Record<FaultKind, readonly [httpStatus: number, status: string]>> = {
  'invalid': [400, 'INVALID_ARGUMENT'],
  'unauthenticated': [401, 'UNAUTHENTICATED'],
  'forbidden': [403, 'PERMISSION_DENIED'],
  'not-found': [404, 'NOT_FOUND'],
  'conflict': [400, 'FAILED_PRECONDITION'],
  'unsupported': [400, 'FAILED_PRECONDITION'],
  'too-large': [413, 'INVALID_ARGUMENT'],
  'busy': [503, 'UNAVAILABLE'],
  'timeout': [504, 'DEADLINE_EXCEEDED'],
  'cancelled': [503, 'UNAVAILABLE'],
  'failed': [500, 'INTERNAL'],
  'upstream': [502, 'UNAVAILABLE'],
  'internal': [500, 'INTERNAL'],
}

/** The names of the statuses with which a request may be refused before it is read. */
const namesByStatus: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'], [401, 'UNAUTHENTICATED'], [403, 'PERMISSION_DENIED'], [404, 'NOT_FOUND'],
  [405, 'UNIMPLEMENTED'], [413, 'INVALID_ARGUMENT'], [415, 'INVALID_ARGUMENT'], [422, 'INVALID_ARGUMENT'],
  [429, 'RESOURCE_EXHAUSTED'], [503, 'UNAVAILABLE'], [504, 'DEADLINE_EXCEEDED'],
])

/** An error of HTTP+JSON: its status, and the body that says it. */
export interface HttpError {
  readonly status: number
  readonly body: {
    readonly error: {
      /** The same as `status` outside. */
      readonly code: number
      /** A name of `google.rpc.Code`. */
      readonly status: string
      readonly message: string
      readonly details: readonly JsonMembers[]
    }
  }
}

/** The error member of a JSON-RPC answer. `said` is the sentence that the caller may read. */
export function encodeV1Fault(fault: Fault, said: string): RpcError {
  const code = codeOf(fault)
  const reason = reasonOf(fault)
  const message = reason === undefined ? rpcError(code).message : a2aErrors[reason].message
  return { code, message, data: detailsOf(fault, sentenceWithin(said), reason) }
}

/** The error member for a request that is no request of A2A's. */
export function encodeV1Error(code: number, said: string): RpcError {
  return { code, message: rpcError(code).message, data: [localized(sentenceWithin(said))] }
}

/** The error of an HTTP+JSON answer. `said` is the sentence that the caller may read. */
export function encodeHttpFault(fault: Fault, said: string): HttpError {
  const reason = reasonOf(fault)
  const shown = sentenceWithin(withoutParams(fault, said))
  const [status, name] = reason === undefined ? statuses[fault.kind]
    : [a2aErrors[reason].httpStatus, a2aErrors[reason].status]
  return httpError(status, name, shown, detailsOf(fault, shown, reason))
}

/** The error of an HTTP+JSON request that was refused before it was read. */
export function encodeHttpRefusal(status: number, said: string, reason?: A2aReason): HttpError {
  const shown = sentenceWithin(said)
  const name = namesByStatus.get(status) ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
  const detail = reason === undefined ? localized(shown) : infoOf(reason, shown, undefined)
  return httpError(status, name, shown, [detail])
}

function httpError(
  code: number, status: string, message: string, details: readonly JsonMembers[],
): HttpError {
  return { status: code, body: { error: { code, status, message, details } } }
}

function detailsOf(
  fault: Fault, said: string, reason: A2aReason | undefined,
): readonly JsonMembers[] {
  // A defect shows nothing of itself.
  const shown = fault.kind === 'internal' ? undefined : fault.detail
  if (reason !== undefined) return [infoOf(reason, said, shown)]
  const what = codeOf(fault) === INVALID_PARAMS ? badRequest(fault, said) : localized(said)
  return shown === undefined ? [what] : [what, { '@type': VALUE, value: shown }]
}

/** Metadata are texts only: what is none is its JSON text. */
function infoOf(reason: A2aReason, said: string, detail: unknown): JsonMembers {
  const metadata: Record<string, string> = {}
  if (detail !== undefined) {
    for (const [name, value] of Object.entries(isRecord(detail) ? detail : { data: detail })) {
      if (value !== undefined) metadata[name] = typeof value === 'string' ? value : JSON.stringify(value)
    }
  }
  metadata['detail'] = said
  return { '@type': ERROR_INFO, reason, domain: DOMAIN, metadata }
}

function badRequest(fault: Fault, said: string): JsonMembers {
  const field = fault instanceof FieldFault ? withoutParams(fault, fault.field) : undefined
  const violation = field === undefined ? { description: said } : { field, description: said }
  return { '@type': BAD_REQUEST, fieldViolations: [violation] }
}

function localized(message: string): JsonMembers {
  return { '@type': LOCALIZED, locale: 'en', message }
}

/** A text that begins with the path of a member, without `params.`. */
function withoutParams(fault: Fault, text: string): string {
  return fault instanceof FieldFault && text.startsWith(PARAMS) ? text.slice(PARAMS.length) : text
}

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
