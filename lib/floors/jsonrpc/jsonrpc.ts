/**
 * JSON-RPC 2.0 envelopes: one parsed JSON value in, one `RpcMessage` out; and answers as text. What `params`
 * must be, and whether batches are allowed, is the caller's business.
 * Spec: https://www.jsonrpc.org/specification
 */

import { isRecord } from '../../kernel/util/record.ts'
import { isWithin, sentenceWithin } from '../../kernel/wire/bounded.ts'
import { formatJson, quote } from '../../kernel/wire/json.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import type { TextReply } from '../../kernel/wire/problem.ts'

/** §4 `id`. */
export type Id = string | number | null

/**
 * A decoded message. Malformed input is a value, not an exception: its answer needs the id. One that
 * `isNoRequest` was meant as a notification or as an answer, and gets none.
 */
export type RpcMessage =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'response'; readonly id: Id; readonly result: unknown; readonly error: unknown }
  | {
    readonly kind: 'malformed'; readonly id: Id | undefined; readonly why: string
    readonly isNoRequest?: boolean
  }

/** §5.1. */
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

const messages: ReadonlyMap<number, string> = new Map([
  [PARSE_ERROR, 'Parse error'],
  [INVALID_REQUEST, 'Invalid request'],
  [METHOD_NOT_FOUND, 'Method not found'],
  [INVALID_PARAMS, 'Invalid params'],
  [INTERNAL_ERROR, 'Internal error'],
])

export interface RpcError { readonly code: number; readonly message: string; readonly data?: unknown }

/** One of the five errors; `detail` is a sentence about what was wrong, `more` adds members to `data`. */
export function rpcError(code: number, detail?: string, more?: Readonly<Record<string, unknown>>): RpcError {
  const message = messages.get(code) ?? 'Server error'
  if (detail === undefined && more === undefined) return { code, message }
  return { code, message, data: { ...detail !== undefined && { detail: sentenceWithin(detail) }, ...more } }
}

/** Decodes one parsed JSON value (§4, §5). `maxBytes` bounds the id and the method. */
export function decodeMessage(value: unknown, maxBytes: number): RpcMessage {
  if (!isRecord(value)) {
    return { kind: 'malformed', id: undefined, why: 'A message is a JSON object' }
  }
  const { jsonrpc, id, method, params, result, error } = value
  const known = id === undefined || isId(id, maxBytes) ? id : undefined
  if (jsonrpc !== '2.0') return { kind: 'malformed', id: known, why: '"jsonrpc" must be "2.0"' }
  if (known !== id) {
    const why = `"id" must be a string of at most ${maxBytes} bytes, or an integer of at most 2^53 - 1`
    return { kind: 'malformed', id: undefined, why }
  }
  if (method === undefined) {
    const isNoRequest = result !== undefined || error !== undefined
    if (known === undefined || !isNoRequest) {
      return { kind: 'malformed', id: known, why: '"method" is missing', isNoRequest }
    }
    return { kind: 'response', id: known, result, error }
  }
  if (typeof method !== 'string' || method === '' || !isWithin(method, maxBytes)) {
    return { kind: 'malformed', id: known, why: `"method" must be a string of at most ${maxBytes} bytes` }
  }
  if (known === undefined) return { kind: 'notification', method, params }
  return { kind: 'request', id: known, method, params }
}

function isId(id: unknown, maxBytes: number): id is Id {
  if (typeof id === 'string') return isWithin(id, maxBytes)
  return id === null || Number.isSafeInteger(id)
}

/** An answer with a result that is JSON text already. An id left out is left out. */
export function formatResult(id: Id, result: string): string {
  return `{"jsonrpc":"2.0","id":${typeof id === 'string' ? quote(id) : id},"result":${result}}`
}

/** An answer with an error. `undefined` leaves the id out, `null` writes it. */
export function formatError(id: Id | undefined, error: RpcError): string {
  const head = id === undefined ? '{"jsonrpc":"2.0",' : `{"jsonrpc":"2.0","id":${formatJson(id)},`
  return `${head}"error":${formatJson(error)}}`
}

/** Of a notification, and of a request, the params are JSON text already. */
export function formatNotification(method: string, params?: string): string {
  return params === undefined
    ? `{"jsonrpc":"2.0","method":"${method}"}`
    : `{"jsonrpc":"2.0","method":"${method}","params":${params}}`
}

export function formatRequest(id: Id, method: string, params?: string): string {
  const head = `{"jsonrpc":"2.0","id":${formatJson(id)},"method":"${method}"`
  return params === undefined ? `${head}}` : `${head},"params":${params}}`
}

/** An error as a whole HTTP answer. `undefined` leaves the id out, `null` writes it. */
export function errorReply(
  id: Id | undefined, error: RpcError, status: number, headers?: readonly string[],
): TextReply {
  return { status, type: JSON_TYPE, body: formatError(id, error), ...headers !== undefined && { headers } }
}

/** The error of a refusal that was made before the message was read. */
export function refusalError(
  { status, detail, unparsable }: { status: number; detail: string; unparsable?: boolean },
): RpcError {
  const code = unparsable === true ? PARSE_ERROR : status >= 500 ? INTERNAL_ERROR : INVALID_REQUEST
  return rpcError(code, detail)
}
