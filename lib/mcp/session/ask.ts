/**
 * Questions as requests on a stream of the session; the answer is another message of the client.
 * Spec: MCP 2025-11-25, Elicitation, Sampling, Roots; Tasks, where the client answers as a task of its own.
 */
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { formatNotification, formatRequest } from '../../wire/jsonrpc.ts'
import { decodeAnswer, encodeQuestion } from '../protocol/questions.ts'
import type { Limits } from '../../define/limits.ts'
import type { LiveCall } from '../../define/live-call.ts'
import type { Question } from '../../define/question.ts'
import type { ResponseChannel, Peer, Session } from './session.ts'
import type { ClientAbilities } from '../protocol/client.ts'

/** Questions without an answer, each as the function that withdraws it. */
export type OpenQuestions = Set<(reason: Fault) => void>

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

  const post = (method: string, params: object): void => {
    const all = { ...params, ...meta !== undefined && { _meta: meta } }
    send(formatRequest(id, method, Object.keys(all).length === 0 ? undefined : JSON.stringify(all)))
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
    const taskId = task === undefined ? undefined : taskIdIn(result)
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
      const params = { requestId: id, reason: reason.message, ...meta !== undefined && { _meta: meta } }
      send(formatNotification('notifications/cancelled', JSON.stringify(params)))
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

/** Asks for a call, until the call ends or `askTimeoutMs` have passed. */
export function askOnStream(
  question: Question, session: Session, channel: ResponseChannel, call: LiveCall, limits: Limits, peer: Peer,
  open: OpenQuestions,
): Promise<unknown> {
  const send = (message: string): void => channel.send(message)
  const { answer, withdraw } = sendQuestion(question, peer, session, send, limits.maxCheckSteps)
  const late = new Fault('timeout', `The client did not answer within ${limits.askTimeoutMs} ms`)
  const timer = limits.askTimeoutMs <= MAX_TIMER_MS
    ? setTimeout(() => withdraw(late), limits.askTimeoutMs) : undefined
  const giveUp = (): void => withdraw(call.reason ?? new Fault('cancelled', 'The call has ended'))
  call.signal.addEventListener('abort', giveUp)
  open.add(withdraw)
  return answer.finally(() => {
    clearTimeout(timer)
    open.delete(withdraw)
    call.signal.removeEventListener('abort', giveUp)
  })
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
