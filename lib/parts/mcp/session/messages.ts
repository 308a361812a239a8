/**
 * The messages of a session, whichever transport they come by: JSON-RPC as MCP narrows it, cancellation, and
 * questions to the client with their answers.
 * Spec: MCP 2025-11-25, Base Protocol, Messages; Cancellation; Elicitation; Sampling; Roots; Tasks.
 */
import { givenMembers, isRecord } from '../../../kernel/define/content.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { decodeMessage, formatNotification, formatRequest } from '../../../floors/jsonrpc/jsonrpc.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { decodeAnswer, encodeQuestion } from '../protocol/questions.ts'
import type { Id, RpcMessage } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { Session, Peer } from './session.ts'
import type { Question } from '../../../kernel/define/question.ts'
import type { ClientAbilities } from '../protocol/client.ts'

export type Params = Readonly<Record<string, unknown>>

type WithParams<M> = M & { readonly params: Params | undefined }
type Narrowed<M> = M extends { readonly params: unknown } ? WithParams<M> : M

export type McpMessage = Narrowed<RpcMessage>

export type RequestMessage = McpMessage & { readonly kind: 'request' }

/** Members of params whose own members are the protocol's, not an author's. */
const ownMembers: ReadonlySet<string> = new Set([
  '_meta', 'argument', 'capabilities', 'clientInfo', 'context', 'notifications', 'ref', 'task',
])

/** A parsed value as a message: `null` is not an id, params are an object, and without what is null there. */
export function readMessage(value: unknown, maxBytes: number): McpMessage {
  const message = decodeMessage(value, maxBytes)
  if (message.kind === 'malformed') return message.id === null ? { ...message, id: undefined } : message
  if (message.kind !== 'notification' && message.id === null) {
    const why = '"id" must be a string or an integer, not null'
    return { kind: 'malformed', id: undefined, why, isNoRequest: message.kind === 'response' }
  }
  if (message.kind === 'response') return message
  const { params } = message
  if (params === null) return { ...message, params: undefined }
  if (params === undefined || isRecord(params)) return withParams(message, params)
  const id = message.kind === 'request' ? message.id : undefined
  const isNoRequest = message.kind === 'notification'
  return { kind: 'malformed', id, why: '"params" must be an object', isNoRequest }
}

/** The message with the params that are given: many clients send null for what they leave out. */
function withParams<M extends object>(message: M, params: Params | undefined): WithParams<M> {
  let given = params && givenMembers(params)
  for (const name in given) {
    const value = given[name]
    if (!ownMembers.has(name) || !isRecord(value)) continue
    const own = givenMembers(value)
    if (own !== value) given = { ...given, [name]: own }
  }
  return given === params ? message as WithParams<M> : { ...message, params: given }
}

/** Takes a notification, or the answer to a question of ours. False where it concerns nothing here. */
export function takeMessage(session: Session | undefined, message: McpMessage): boolean {
  if (session === undefined) return true
  if (message.kind === 'response') return takeAnswer(session, message.id, message.result, message.error)
  const requestId = cancelledBy(message)
  return requestId === undefined || cancelRequest(session, requestId)
}

/** The request that a message cancels; undefined where it cancels none. */
export function cancelledBy(message: McpMessage): Id | undefined {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return undefined
  const requestId = message.params?.['requestId']
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined
}

export function cancelRequest(session: Session, requestId: Id): boolean {
  const call = session.running.get(requestId)
  // Its id can be used again at once, though the call may take a while to end.
  session.running.delete(requestId)
  call?.disconnect('The client has cancelled the request')
  return call !== undefined
}

export interface Asking {
  readonly answer: Promise<unknown>
  /** Withdraws it: the client should not show it to its user any more. */
  withdraw(reason: Fault): void
}

/** Sends a question. `meta` goes into every message about it. Throws `Fault('unsupported')`. */
export function sendQuestion(
  question: Question, peer: Peer, session: Session, send: (message: string) => void, maxCheckSteps: number,
  meta?: Readonly<Record<string, unknown>>,
): Asking {
  const { method, params = {} } = encodeQuestion(question, peer)
  const task = taskOf(question, peer.abilities)
  let resolve!: (answer: unknown) => void
  let reject!: (reason: unknown) => void
  const answer = new Promise<unknown>((onAnswer, onRefusal) => {
    resolve = onAnswer
    reject = onRefusal
  })
  // Handled from the start: a handler that does not await it must not end the process.
  answer.catch(() => {})
  let id = session.nextQuestion()
  let taskId: string | undefined

  const post = (method: string, params: object): void => {
    const all = { ...params, ...meta !== undefined && { _meta: meta } }
    send(formatRequest(id, method, Object.keys(all).length === 0 ? undefined : formatJson(all)))
  }
  const onResult = (take: (result: unknown) => void): void => {
    session.asked.set(id, { resolve: take, reject })
  }
  const settle = (result: unknown): void => {
    try {
      const answer = decodeAnswer(question, result, peer, maxCheckSteps)
      resolve(question.what === 'elicit-url' && isRecord(answer)
        ? { ...answer, elicitationId: question.elicitationId } : answer)
    } catch (error) {
      reject(error)
    }
  }
  onResult((result) => {
    taskId = task === undefined ? undefined : taskIdIn(result)
    if (taskId === undefined) return settle(result)
    // The client works on it as a task of its own, and answers when that has ended.
    id = session.nextQuestion()
    onResult(settle)
    post('tasks/result', { taskId })
  })
  post(method, { ...params, ...task !== undefined && { task } })
  return {
    answer,
    withdraw(reason) {
      if (!session.asked.delete(id)) return
      if (taskId !== undefined && peer.abilities.cancelsTasks) {
        id = session.nextQuestion()
        post('tasks/cancel', { taskId })
      } else {
        const params = { requestId: id, reason: reason.message, ...meta !== undefined && { _meta: meta } }
        send(formatNotification('notifications/cancelled', formatJson(params)))
      }
      reject(reason)
    },
  }
}

function taskOf(question: Question, abilities: ClientAbilities): object | undefined {
  if (question.what === 'roots' || question.task === undefined) return undefined
  const knowsTasks = question.what === 'sample' ? abilities.samplingTasks : abilities.elicitationTasks
  if (!knowsTasks) return undefined
  const { ttlMs } = question.task
  return ttlMs === undefined ? {} : { ttl: ttlMs }
}

function taskIdIn(result: unknown): string | undefined {
  const task = isRecord(result) ? result['task'] : undefined
  const id = isRecord(task) ? task['taskId'] : undefined
  return typeof id === 'string' ? id : undefined
}

/** Gives an answer of the client to its question. False where that was not asked here. */
export function takeAnswer(session: Session, id: unknown, result: unknown, error: unknown): boolean {
  if (typeof id !== 'string' && typeof id !== 'number') return false
  const asked = session.asked.get(id)
  if (asked === undefined) return false
  session.asked.delete(id)
  // Some clients send null for what is not there, and so do processes that pass an answer on.
  if (error === undefined || error === null) {
    asked.resolve(result)
    return true
  }
  const { code, message } = isRecord(error) ? error : {}
  const why = typeof message === 'string' ? message : 'no reason given'
  asked.reject(new Fault('failed', `The client refused to answer: ${why}`, { code }))
  return true
}
