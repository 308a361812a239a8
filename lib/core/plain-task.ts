/**
 * A task as most are: a text was asked, a text was answered, and it was over at once. What is not the same in
 * all of these goes in, and the same task comes out when somebody reads it, which mostly nobody does.
 *
 * A task and what it is made of are a dozen objects, which the garbage collector copies twice before it takes
 * them for something that stays; one object with the texts takes a third of that.
 */
import { isPlainText } from './artifact.ts'
import type { Protocol } from './call.ts'
import type { Runnable } from './call-observer.ts'
import type { Task } from './task.ts'

/** What is kept of such a task, beside its id and its owner. */
export interface PlainTask {
  readonly protocol: Protocol
  readonly kind: Runnable['kind']
  readonly name: string
  readonly contextId: string
  readonly at: string
  readonly messageId: string
  readonly asked: string
  readonly artifactId: string
  readonly answered: string
}

const none: readonly never[] = Object.freeze([])

/** What is kept of a task; undefined where there is more to it. */
export function plainOf(task: Task): PlainTask | undefined {
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
  return {
    protocol, kind: runnable.kind, name: runnable.name, contextId, at,
    messageId: message.id, asked: asked.text, artifactId: artifact.id, answered: answered.text,
  }
}

/** The task. */
export function taskOfPlain(id: string, owner: string, plain: PlainTask): Task {
  const { at, protocol, kind, name, contextId } = plain
  return {
    id, owner, protocol, runnable: { kind, name }, isReserved: false, tenant: undefined, contextId,
    sessionId: undefined, createdAt: at, ttlMs: undefined, status: { state: 'completed', at },
    artifacts: [{ id: plain.artifactId, parts: [{ type: 'text', text: plain.answered }] }],
    history: [{ id: plain.messageId, role: 'user', parts: [{ type: 'text', text: plain.asked }] }],
    questions: none, turn: undefined, result: undefined, fault: undefined,
  }
}
