/**
 * The messages of every transport: JSON-RPC as MCP narrows it, and what is done with those without an answer.
 * Spec: MCP 2025-11-25, Base Protocol, Messages; Cancellation.
 */
import { isRecord } from '../../define/content.ts'
import { decodeMessage } from '../../wire/jsonrpc.ts'
import { takeAnswer } from './ask.ts'
import type { Id, RpcMessage } from '../../wire/jsonrpc.ts'
import type { Session } from './session.ts'

export type RequestMessage = RpcMessage & { readonly kind: 'request' }

/** A parsed value as a message: `null` is not an id, and params are an object. */
export function readMessage(value: unknown, maxBytes: number): RpcMessage {
  const message = decodeMessage(value, maxBytes)
  if (message.kind === 'malformed') return message.id === null ? { ...message, id: undefined } : message
  if (message.kind !== 'notification' && message.id === null) {
    const why = '"id" must be a string or an integer, not null'
    return { kind: 'malformed', id: undefined, why, isNoRequest: message.kind === 'response' }
  }
  if (message.kind === 'response') return message
  const { params } = message
  if (params === undefined || isRecord(params)) return message
  const id = message.kind === 'request' ? message.id : undefined
  const isNoRequest = message.kind === 'notification'
  return { kind: 'malformed', id, why: '"params" must be an object', isNoRequest }
}

/** Takes a notification, or the answer to a question of ours. False where it concerns nothing here. */
export function takeMessage(session: Session | undefined, message: RpcMessage): boolean {
  if (session === undefined) return true
  if (message.kind === 'response') return takeAnswer(session, message.id, message.result, message.error)
  const requestId = cancelledBy(message)
  return requestId === undefined || cancelRequest(session, requestId)
}

/** The request that a message cancels; undefined where it cancels none. */
export function cancelledBy(message: RpcMessage): Id | undefined {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return undefined
  const { requestId } = isRecord(message.params) ? message.params : {}
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined
}

export function cancelRequest(session: Session, requestId: Id): boolean {
  const call = session.running.get(requestId)
  // Its id can be used again at once, though the call may take a while to end.
  session.running.delete(requestId)
  call?.disconnect('The client has cancelled the request')
  return call !== undefined
}
