/**
 * The tasks of this process, within bounds in number and in bytes. Those that do not run are kept for a
 * while, and make room; those that run never do.
 *
 * Most tasks, when they are over, are one text that was asked and one that was answered. Only these texts are
 * kept of such a task; the same task is made of them when somebody reads it, which mostly nobody does.
 */
import { isPlainText } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { FairPool } from '../bounds/fair-pool.ts'
import { LinkedList } from '../../kernel/util/linked-list.ts'
import { ID_LENGTH } from '../bounds/text-slots.ts'
import { isInterrupted, isTerminal } from './task.ts'
import { bytesOf, TaskRecord } from './task-record.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { KeptTexts } from '../bounds/fair-pool.ts'
import type { LazyTask, ListedTask, RunningTask, Task, TaskStatus } from './task.ts'

/** A finished task is kept at least so long, so that a client that polls can see its end. */
export const LEAST_KEEP_MS = 60_000
/** What a plain task counts for beside its texts. */
const PLAIN_BYTES = 1_024
/** Expired plain tasks are looked for at most this often. */
const SWEEP_MS = 1_000

export class TaskTable {
  readonly #limits: KernelLimits
  readonly #onForget: (record: TaskRecord) => void
  readonly #records = new Map<string, TaskRecord>()
  readonly #pool: FairPool<TaskRecord, PlainKind>
  /** One for each agent, group or tool that has ended a task, by its name and protocol. */
  readonly #kinds = new Map<string, PlainKind>()
  /** Those that do not run, in the order in which they stopped. */
  readonly #idle = new LinkedList<TaskRecord>()
  #idleCount = 0
  #sweptAt = 0

  /** `onForget` is called for each task that is not here any more. */
  constructor(limits: KernelLimits, onForget: (record: TaskRecord) => void) {
    this.#limits = limits
    this.#onForget = onForget
    const bounds = { maxCount: limits.maxTasks, maxBytes: limits.maxTasksBytes }
    this.#pool = new FairPool(bounds, (record) => this.#left(record), ({ isIdle }) => isIdle,
      PLAIN_TEXTS, PLAIN_CELL_BYTES)
  }

  /** Tasks that run, or may be about to. */
  get running(): number { return this.#records.size - this.#idleCount }
  get idle(): number { return this.#idleCount + this.#pool.textCount }
  get bytes(): number { return this.#pool.bytes }

  /** Throws `Fault('busy')` where as many tasks run as may. */
  check(): void {
    if (this.running >= this.#limits.maxTasks) throw this.#busy()
  }

  /** Adds a task. Throws `Fault('busy')` where there is no room. */
  add(task: Task, run: RunningTask | undefined, version: number): TaskRecord {
    this.#forgetExpired()
    const record = new TaskRecord(task, run, version)
    record.slot = this.#pool.add(task.owner, record, bytesOf(task))
    if (record.slot === undefined) throw this.#busy()
    this.#records.set(task.id, record)
    return record
  }

  /** Adds a task that is over. Throws `Fault('busy')` where there is no room. */
  addEnded(task: Task): void {
    const texts = textsOf(task)
    if (texts === undefined) return this.markIdle(this.add(task, undefined, 0))
    this.#forgetExpired()
    if (!this.#addTexts(task, texts)) throw this.#busy()
  }

  /**
   * A task is over, and its watchers know. It is reduced to its texts where it has no more. It may have grown
   * while it ran: those that do not run may have to make room now, and it is one of them.
   */
  settle(record: TaskRecord): void {
    this.#condense(record)
    this.#pool.settle()
  }

  #condense(record: TaskRecord): void {
    const { slot, task } = record
    const texts = textsOf(task)
    if (slot === undefined || texts === undefined) return
    // Where they count for more than the task did, there might be no room for them.
    let bytes = bytesBeside(texts)
    for (const text of texts) bytes += Buffer.byteLength(text)
    if (bytes > slot.bytes) return
    this.forget(record)
    this.#addTexts(task, texts)
  }

  find(id: string): TaskRecord | undefined {
    const record = this.#records.get(id) ?? this.#restored(id)
    if (record?.isIdle !== true || record.until > performance.now()) return record
    this.forget(record)
    return undefined
  }

  /** The owner's, the one that changed its state last first. */
  of(owner: string): readonly ListedTask[] {
    const now = performance.now()
    const whole: Task[] = []
    for (const { task, until } of this.#pool.of(owner)) if (until > now) whole.push(task)
    whole.sort((one, other) => one.status.at < other.status.at ? 1 : -1)
    const listed: ListedTask[] = []
    let at = 0
    for (const kept of this.#pool.textsOf(owner)) {
      // What was kept before it is older still.
      if (kept.at + this.#limits.taskKeepMs <= now) break
      const plain = new PlainTask(owner, kept)
      while (at < whole.length && whole[at]!.status.at > plain.status.at) listed.push(whole[at++]!)
      listed.push(plain)
    }
    while (at < whole.length) listed.push(whole[at++]!)
    return listed
  }

  /** Those that run, or wait with their run. */
  * working(): Generator<TaskRecord> {
    for (const record of this.#records.values()) if (record.run !== undefined) yield record
  }

  /** Those that run or wait. */
  * unfinished(): Generator<TaskRecord> {
    for (const record of this.#records.values()) if (!record.isTerminal) yield record
  }

  /** Replaces the task. False where the others leave no room for it. */
  change(record: TaskRecord, task: Task): boolean {
    record.task = task
    return this.resize(record, bytesOf(task))
  }

  /** The task takes so many bytes now. False where the others leave no room for that. */
  resize({ slot }: TaskRecord, bytes: number): boolean {
    return slot === undefined || this.#pool.resize(slot, bytes)
  }

  touch({ slot }: TaskRecord): void {
    if (slot !== undefined) this.#pool.touch(slot)
  }

  /** It does not run: from now on it may have to make room, and expires. */
  markIdle(record: TaskRecord): void {
    if (record.isIdle || record.slot === undefined) return
    record.isIdle = true
    this.#idleCount += 1
    this.#idle.add(record)
    record.until = performance.now() + this.keepMs(record.task)
  }

  markActive(record: TaskRecord): void {
    if (!record.isIdle) return
    record.isIdle = false
    record.until = Infinity
    this.#idleCount -= 1
    this.#idle.remove(record)
  }

  forget(record: TaskRecord): void {
    if (record.slot === undefined) return
    this.#pool.remove(record.slot)
    this.#left(record)
  }

  /** How long a task that does not run is kept, in milliseconds; `Infinity` for one that is working. */
  keepMs({ ttlMs, createdAt, status }: Task): number {
    const { taskKeepMs, waitingTaskKeepMs } = this.#limits
    if (isInterrupted(status.state)) return waitingTaskKeepMs
    if (!isTerminal(status.state)) return Infinity
    if (ttlMs === undefined) return taskKeepMs
    const left = ttlMs - (Date.parse(status.at) - Date.parse(createdAt))
    return Math.min(taskKeepMs, Math.max(left, LEAST_KEEP_MS))
  }

  noRoom(): Fault {
    const { maxTasksBytes } = this.#limits
    return new Fault('busy', `The tasks of this server hold ${maxTasksBytes} bytes together already`)
  }

  #restored(id: string): TaskRecord | undefined {
    const kept = this.#pool.takeTexts(id)
    if (kept === undefined) return undefined
    const record = this.add(taskOfPlain(id, kept.owner, kept.tag, kept.texts), undefined, 0)
    this.markIdle(record)
    record.until = kept.at + this.#limits.taskKeepMs
    return record
  }

  #addTexts(task: Task, texts: readonly string[]): boolean {
    const { protocol, runnable } = task
    const name = `${protocol} ${runnable.kind} ${runnable.name}`
    let kind = this.#kinds.get(name)
    if (kind === undefined) this.#kinds.set(name, kind = { protocol, runnable })
    return this.#pool.addTexts(task.owner, task.id, texts, bytesBeside(texts), performance.now(), kind)
  }

  #busy(): Fault {
    return new Fault('busy', `${this.#limits.maxTasks} tasks are running already; try again later`)
  }

  #left(record: TaskRecord): void {
    record.slot = undefined
    this.markActive(record)
    this.#records.delete(record.id)
    this.#onForget(record)
  }

  /** Forgets expired tasks, as far as they stand before all that are not. */
  #forgetExpired(): void {
    const now = performance.now()
    if (now - this.#sweptAt >= SWEEP_MS) {
      this.#sweptAt = now
      this.#pool.dropTexts(now - this.#limits.taskKeepMs)
    }
    for (let record = this.#idle.first; record !== undefined && record.until <= now;) {
      this.forget(record)
      record = this.#idle.first
    }
  }
}

export type PlainKind = Pick<Task, 'protocol' | 'runnable'>

/** The number of texts of a plain task, and the room for them where they are short, in bytes. */
export const PLAIN_TEXTS = 7
const PLAIN_CELL_BYTES = 320
/** Which of the texts are: its time, its context, and when it was created (empty: at its time). */
const AT = 0
const CONTEXT = 1
const CREATED = 6

const none: readonly never[] = Object.freeze([])

/** The texts of a task; undefined where there is more to it. */
export function plainOf(task: Task): readonly string[] | undefined {
  const { status: { state, at, message: said, metadata }, artifacts, history, contextId } = task
  if (state !== 'completed' || said !== undefined || metadata !== undefined) return
  if (artifacts.length !== 1 || history.length !== 1) return
  const isMore = task.isReserved !== false || task.node !== undefined || task.tenant !== undefined
    || task.sessionId !== undefined || task.ttlMs !== undefined || task.turn !== undefined
    || task.result !== undefined || task.fault !== undefined || task.questions.length > 0
  if (isMore) return
  // By index: destructuring a list costs an iterator each.
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
  const created = task.createdAt === at ? '' : task.createdAt
  return [at, contextId, message.id, asked.text, artifact.id, answered.text, created]
}

export function taskOfPlain(id: string, owner: string, kind: PlainKind, texts: readonly string[]): Task {
  const [at = '', contextId = '', messageId = '', asked = '', artifactId = '', answered = ''] = texts
  const created = texts[CREATED] ?? ''
  return {
    id, owner, protocol: kind.protocol, runnable: kind.runnable, isReserved: false, tenant: undefined,
    contextId, sessionId: undefined, createdAt: created === '' ? at : created, ttlMs: undefined,
    status: { state: 'completed', at },
    artifacts: [{ id: artifactId, parts: [{ type: 'text', text: answered }] }],
    history: [{ id: messageId, role: 'user', parts: [{ type: 'text', text: asked }] }],
    questions: none, turn: undefined, result: undefined, fault: undefined,
  }
}

/** A plain task in a list; only what is asked for is read: ten thousand may be listed to show ten. */
class PlainTask implements LazyTask {
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
  get whole(): Task { return taskOfPlain(this.id, this.#owner, this.#kept.tag, this.#kept.texts) }
}

/** The texts of a task that can be kept under its id. */
function textsOf(task: Task): readonly string[] | undefined {
  return task.id.length === ID_LENGTH ? plainOf(task) : undefined
}

/** What is counted beside the bytes of the texts: so two for each character, as of any task. */
function bytesBeside(texts: readonly string[]): number {
  let bytes = PLAIN_BYTES
  for (const text of texts) bytes += text.length
  return bytes
}
