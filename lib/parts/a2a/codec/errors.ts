/**
 * How each dialect writes an error: a fault and the sentence for the caller in, the error of an answer out.
 * Spec: A2A 1.0 §3.3.2, §5.4, §9.5, §11.6; google/rpc/error_details.proto.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { sentenceWithin } from '../../../kernel/wire/bounded.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { INVALID_PARAMS, rpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import { a2aErrors, kindErrors, numbersOf, reasonOf } from '../model/faults.ts'
import { FieldFault } from '../model/fields.ts'
import type { Fault } from '../../../kernel/define/fault.ts'
import type { RpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { ErrorEncoders } from '../model/dialect.ts'
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

/** The names of the statuses with which a request may be refused before it is read. */
const namesByStatus: ReadonlyMap<number, string> = new Map([
  ...Object.values(kindErrors).map(({ httpStatus, status }) => [httpStatus, status] as const),
  [400, 'INVALID_ARGUMENT'], [405, 'UNIMPLEMENTED'], [429, 'RESOURCE_EXHAUSTED'],
])

/** An error of HTTP+JSON: its body has the code and the name of the status again, the message and details. */
export interface HttpError { readonly status: number; readonly body: { readonly error: JsonMembers } }

/**
 * The error for a fault before 1.0: the specification's own message; the sentence is in `data.detail`, beside
 * what an author attached.
 */
function encodeRpcFault(fault: Fault, sentence: string): RpcError {
  const shown = detailOf(fault)
  const more = isRecord(shown) ? shown : shown === undefined ? undefined : { data: shown }
  const data = more && { ...more, detail: sentenceWithin(sentence) }
  const reason = reasonOf(fault)
  if (reason === undefined) return rpcError(numbersOf(fault).code, sentence, data)
  // These dialects have no number of its own for an extension that a client must know.
  const known = reason === 'EXTENSION_SUPPORT_REQUIRED' ? 'UNSUPPORTED_OPERATION' : reason
  const { code, message } = a2aErrors[known]
  return { ...rpcError(code, sentence, data), message }
}

/** Before 1.0. */
export const oldErrors: ErrorEncoders = { encodeFault: encodeRpcFault, encodeError: rpcError }

/** The error member of a JSON-RPC answer of 1.0. */
function encodeV1Fault(fault: Fault, sentence: string): RpcError {
  const { code } = numbersOf(fault)
  const reason = reasonOf(fault)
  const { message } = reason === undefined ? rpcError(code) : a2aErrors[reason]
  return { code, message, data: detailsOf(fault, sentenceWithin(sentence), reason) }
}

/** The error member for a request that is no request of A2A. */
function encodeV1Error(code: number, sentence: string): RpcError {
  return { code, message: rpcError(code).message, data: [localized(sentenceWithin(sentence))] }
}

export const v1Errors: ErrorEncoders = { encodeFault: encodeV1Fault, encodeError: encodeV1Error }

/** The error of an HTTP+JSON answer. */
export function encodeHttpFault(fault: Fault, sentence: string): HttpError {
  const shown = sentenceWithin(withoutParams(fault, sentence))
  const { httpStatus, status } = numbersOf(fault)
  return httpError(httpStatus, status, shown, detailsOf(fault, shown, reasonOf(fault)))
}

/** The error of an HTTP+JSON request that was refused before it was read. */
export function encodeHttpRefusal(status: number, sentence: string, reason?: A2aReason): HttpError {
  const shown = sentenceWithin(sentence)
  const name = namesByStatus.get(status) ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
  const detail = reason === undefined ? localized(shown) : infoOf(reason, shown, undefined)
  return httpError(status, name, shown, [detail])
}

function httpError(
  code: number, status: string, message: string, details: readonly JsonMembers[],
): HttpError {
  return { status: code, body: { error: { code, status, message, details } } }
}

/** What an author attached; a defect shows nothing of itself. */
function detailOf({ kind, detail }: Fault): unknown {
  return kind === 'internal' ? undefined : detail
}

/**
 * Details that each name their type: `ErrorInfo` for A2A's own errors, `BadRequest` for wrong members,
 * `LocalizedMessage` for all others. What an author attached is metadata of the first, a `Value` behind the
 * others.
 */
function detailsOf(fault: Fault, sentence: string, reason: A2aReason | undefined): readonly JsonMembers[] {
  const shown = detailOf(fault)
  if (reason !== undefined) return [infoOf(reason, sentence, shown)]
  const what = numbersOf(fault).code === INVALID_PARAMS ? badRequest(fault, sentence) : localized(sentence)
  return shown === undefined ? [what] : [what, { '@type': VALUE, value: shown }]
}

/** Metadata are texts only: any other value is its JSON text. */
function infoOf(reason: A2aReason, sentence: string, detail: unknown): JsonMembers {
  const metadata: Record<string, string> = {}
  if (detail !== undefined) {
    for (const [name, value] of Object.entries(isRecord(detail) ? detail : { data: detail })) {
      if (value !== undefined) metadata[name] = typeof value === 'string' ? value : formatJson(value)
    }
  }
  metadata['detail'] = sentence
  return { '@type': ERROR_INFO, reason, domain: DOMAIN, metadata }
}

function badRequest(fault: Fault, sentence: string): JsonMembers {
  const field = fault instanceof FieldFault ? withoutParams(fault, fault.field) : undefined
  const violation = field === undefined ? { description: sentence } : { field, description: sentence }
  return { '@type': BAD_REQUEST, fieldViolations: [violation] }
}

function localized(message: string): JsonMembers {
  return { '@type': LOCALIZED, locale: 'en', message }
}

/** A text that begins with the path of a member, without `params.`. */
function withoutParams(fault: Fault, text: string): string {
  return fault instanceof FieldFault && text.startsWith(PARAMS) ? text.slice(PARAMS.length) : text
}
