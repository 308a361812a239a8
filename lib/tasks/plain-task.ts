/**
 * A task as most are when they are over: a text was asked, a text was answered. What is not the same in all
 * of these goes in, as texts, and the same task comes out when somebody reads it, which mostly nobody does.
 */
import { isPlainText } from '../define/content.ts'
import type { KeptTexts } from '../util/fair-pool.ts'
import type { ListedTask, Task, TaskStatus } from './task.ts'

/** What many have in common: the door, and what it ran. */
export type PlainKind = Pick<Task, 'protocol' | 'runnable'>

/** How many texts there are of one, beside its id and its owner; and room for them where they are short. */
export const PLAIN_TEXTS = 7
export const PLAIN_CELL_BYTES = 320
/** Where its time stands among them, its context, and when it was begun: empty, where that is its time. */
const AT = 0
const CONTEXT = 1
const BEGUN = 6

const none: readonly never[] = Object.freeze([])

/** What is kept of a task; undefined where there is more to it. */
export function plainOf(task: Task): readonly string[] | undefined {
  const { status: { state, at, message: said }, artifacts, history, contextId } = task
  if (state !== 'completed' || said !== undefined || artifacts.length !== 1 || history.length !== 1) return
  const isMore = task.isReserved !== false || task.node !== undefined || task.tenant !== undefined
    || task.sessionId !== undefined || task.ttlMs !== undefined || task.turn !== undefined
    || task.result !== undefined || task.fault !== undefined || task.questions.length > 0
  if (isMore) return
  // By their place: to take them apart as lists costs an iterator each.
  const artifact = artifacts[0]
  const message = history[0]
  if (artifact === undefined || message === undefined || message.role !== 'user') return
  if (artifact.parts.length !== 1 || message.parts.length !== 1) return
  const hasMore = artifact.name !== undefined || artifact.description !== undefined
    || artifact.metadata !== undefined || artifact.extensions !== undefined || message.metadata !== undefined
    || message.extensions !== undefined || message.referenceTaskIds !== undefined
  if (hasMore) return
  const asked = message.parts[0]
  const answered = artifact.parts[0]
  if (asked === undefined || answered === undefined || !isPlainText(asked) || !isPlainText(answered)) return
  const begun = task.createdAt === at ? '' : task.createdAt
  return [at, contextId, message.id, asked.text, artifact.id, answered.text, begun]
}

/** The task. */
export function taskOfPlain(id: string, owner: string, kind: PlainKind, texts: readonly string[]): Task {
  const [at = '', contextId = '', messageId = '', asked = '', artifactId = '', answered = ''] = texts
  const begun = texts[BEGUN] ?? ''
  return {
    id, owner, protocol: kind.protocol, runnable: kind.runnable, isReserved: false, tenant: undefined,
    contextId, sessionId: undefined, createdAt: begun === '' ? at : begun, ttlMs: undefined,
    status: { state: 'completed', at },
    artifacts: [{ id: artifactId, parts: [{ type: 'text', text: answered }] }],
    history: [{ id: messageId, role: 'user', parts: [{ type: 'text', text: asked }] }],
    questions: none, turn: undefined, result: undefined, fault: undefined,
  }
}

/** One in a list, of which no more is read than is asked for: ten thousand may be listed to show ten. */
export class ListedPlainTask implements ListedTask {
  readonly #owner: string
  readonly #kept: KeptTexts<PlainKind>

  constructor(owner: string, kept: KeptTexts<PlainKind>) {
    this.#owner = owner
    this.#kept = kept
  }

  get id(): string { return this.#kept.id }
  get protocol(): Task['protocol'] { return this.#kept.tag.protocol }
  get runnable(): Task['runnable'] { return this.#kept.tag.runnable }
  get isReserved(): false { return false }
  get tenant(): undefined { return undefined }
  get sessionId(): undefined { return undefined }
  get contextId(): string { return this.#kept.text(CONTEXT) }
  get status(): TaskStatus { return { state: 'completed', at: this.#kept.text(AT) } }
  get task(): Task { return taskOfPlain(this.id, this.#owner, this.#kept.tag, this.#kept.texts) }
}

/** Any other one in a list. */
export class ListedWholeTask implements ListedTask {
  readonly task: Task

  constructor(task: Task) {
    this.task = task
  }

  get id(): string { return this.task.id }
  get protocol(): Task['protocol'] { return this.task.protocol }
  get runnable(): Task['runnable'] { return this.task.runnable }
  get isReserved(): boolean { return this.task.isReserved === true }
  get tenant(): string | undefined { return this.task.tenant }
  get sessionId(): string | undefined { return this.task.sessionId }
  get contextId(): string { return this.task.contextId }
  get status(): TaskStatus { return this.task.status }
}
