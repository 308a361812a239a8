/**
 * A task as most are: a text was asked, a text was answered, and it was over at once. What is not the same in
 * all of these goes in, as texts, and the same task comes out when somebody reads it, which mostly nobody
 * does.
 */
import { isPlainText } from './artifact.ts'
import type { Protocol } from './call.ts'
import type { Runnable } from './call-observer.ts'
import type { Task } from './task.ts'

/** How many texts there are of one, beside its id and its owner; and room for them where they are short. */
export const PLAIN_TEXTS = 9
export const PLAIN_CELL_BYTES = 400

const none: readonly never[] = Object.freeze([])

/** What is kept of a task; undefined where there is more to it. */
export function plainOf(task: Task): readonly string[] | undefined {
  const { status: { state, at, message: said }, artifacts, history, runnable, protocol, contextId } = task
  if (state !== 'completed' || said !== undefined || artifacts.length !== 1 || history.length !== 1) return
  const isMore = at !== task.createdAt || task.isReserved !== false || task.node !== undefined
    || task.tenant !== undefined || task.sessionId !== undefined || task.ttlMs !== undefined
    || task.turn !== undefined || task.result !== undefined || task.fault !== undefined
    || task.questions.length > 0
  if (isMore) return
  const [artifact] = artifacts
  const [message] = history
  if (artifact === undefined || message === undefined || message.role !== 'user') return
  if (artifact.parts.length !== 1 || message.parts.length !== 1) return
  const hasMore = artifact.name !== undefined || artifact.description !== undefined
    || artifact.metadata !== undefined || artifact.extensions !== undefined || message.metadata !== undefined
    || message.extensions !== undefined || message.referenceTaskIds !== undefined
  if (hasMore) return
  const [asked] = message.parts
  const [answered] = artifact.parts
  if (asked === undefined || answered === undefined || !isPlainText(asked) || !isPlainText(answered)) return
  return [
    protocol, runnable.kind, runnable.name, contextId, at, message.id, asked.text, artifact.id, answered.text,
  ]
}

/** The task. */
export function taskOfPlain(id: string, owner: string, texts: readonly string[]): Task {
  const [
    protocol, kind, name = '', contextId = '', at = '', messageId = '', asked = '', artifactId = '',
    answered = '',
  ] = texts
  return {
    id, owner, protocol: protocol as Protocol, runnable: { kind: kind as Runnable['kind'], name },
    isReserved: false, tenant: undefined, contextId, sessionId: undefined, createdAt: at, ttlMs: undefined,
    status: { state: 'completed', at },
    artifacts: [{ id: artifactId, parts: [{ type: 'text', text: answered }] }],
    history: [{ id: messageId, role: 'user', parts: [{ type: 'text', text: asked }] }],
    questions: none, turn: undefined, result: undefined, fault: undefined,
  }
}
