/**
 * Where the tasks of this process are: each in a place of its own, within bounds in number and in bytes, and
 * for a while where they do not run. One that runs never makes room for another.
 *
 * Knows neither states nor watchers' words; what happens to a task is in `tasks.ts`.
 */
import { FairPool } from '../util/fair-pool.ts'
import { Fault } from '../define/fault.ts'
import { LinkedList } from '../util/linked-list.ts'
import { isTerminal, isInterrupted } from './task.ts'
import { TaskRecord, bytesOf } from './task-record.ts'
import { ID_LENGTH } from '../util/text-slots.ts'
import { isPlainText } from '../define/content.ts'
import type { Limits } from '../define/limits.ts'
import type { ListedTask, RunningTask, Task, TaskStatus } from './task.ts'
import type { KeptTexts } from '../util/fair-pool.ts'

/** The least that a finished task is kept, so that a client that polls can see its end. */
const LEAST_KEEP_MS = 60_000

/** What a task counts for beside its texts, where these are all that is kept of it. */
const PLAIN_BYTES = 1_024
/** Of these, what has expired is looked for at most so often. */
const SWEEP_MS = 1_000

/** All places of one server. */
export class TaskTable {
  readonly #limits: Limits
  readonly #onForget: (place: TaskRecord) => void
  readonly #places = new Map<string, TaskRecord>()
  readonly #pool: FairPool<TaskRecord, PlainKind>
  /** One for each agent, group or tool that has ended a task, by its name and door. */
  readonly #kinds = new Map<string, PlainKind>()
  /** Those that do not run, in the order in which they stopped. */
  readonly #idle = new LinkedList<TaskRecord>()
  #idleCount = 0
  #sweptAt = 0

  /** `onForget` is told of each task that is here no more. */
  constructor(limits: Limits, onForget: (place: TaskRecord) => void) {
    this.#limits = limits
    this.#onForget = onForget
    const bounds = { maxCount: limits.maxTasks, maxBytes: limits.maxTasksBytes }
    this.#pool = new FairPool(bounds, (place) => this.#left(place), ({ isIdle }) => isIdle,
      PLAIN_TEXTS, PLAIN_CELL_BYTES)
  }

  /** Tasks that run, or may be about to. */
  get running(): number { return this.#places.size - this.#idleCount }
  get idle(): number { return this.#idleCount + this.#pool.textCount }
  get bytes(): number { return this.#pool.bytes }

  /** Throws `Fault('busy')` where as many tasks run as may. */
  check(): void {
    if (this.running >= this.#limits.maxTasks) throw this.#busy()
  }

  /** Makes a place. Throws `Fault('busy')` where there is no room. */
  add(task: Task, run: RunningTask | undefined, version: number): TaskRecord {
    this.#forgetExpired()
    const place = new TaskRecord(task, run, version)
    place.slot = this.#pool.add(task.owner, place, bytesOf(task))
    if (place.slot === undefined) throw this.#busy()
    this.#places.set(task.id, place)
    return place
  }

  /** Keeps a task that is over, which mostly nobody reads. Throws `Fault('busy')` where there is no room. */
  keep(task: Task): void {
    const texts = task.id.length === ID_LENGTH ? plainOf(task) : undefined
    if (texts === undefined) return this.rest(this.add(task, undefined, 0))
    this.#forgetExpired()
    if (!this.#keepTexts(task, texts)) throw this.#busy()
  }

  /**
   * A task is over, and everybody has heard so. Where texts say all of it, they alone are kept. For what it
   * has grown by while it ran, those that do not run may have to make room now, and it is one of them.
   */
  settle(place: TaskRecord): void {
    this.#condense(place)
    this.#pool.settle()
  }

  #condense(place: TaskRecord): void {
    const { slot, task } = place
    const texts = task.id.length === ID_LENGTH ? plainOf(task) : undefined
    if (slot === undefined || texts === undefined) return
    // Where they count for more than the task did, there might be no room for them.
    let bytes = bytesBeside(texts)
    for (const text of texts) bytes += Buffer.byteLength(text)
    if (bytes > slot.bytes) return
    this.forget(place)
    this.#keepTexts(task, texts)
  }

  find(id: string): TaskRecord | undefined {
    const place = this.#places.get(id) ?? this.#placed(id)
    if (place?.isIdle !== true || place.until > performance.now()) return place
    this.forget(place)
    return undefined
  }

  /** The owner's, the one that changed its state last first. */
  of(owner: string): readonly ListedTask[] {
    const now = performance.now()
    const placed: Task[] = []
    for (const { task, until } of this.#pool.of(owner)) if (until > now) placed.push(task)
    placed.sort((one, other) => one.status.at < other.status.at ? 1 : -1)
    const listed: ListedTask[] = []
    let at = 0
    for (const kept of this.#pool.textsOf(owner)) {
      // What was kept before it is older still.
      if (kept.at + this.#limits.taskKeepMs <= now) break
      const plain = new ListedPlainTask(owner, kept)
      if (at < placed.length) {
        const until = plain.status.at
        for (; at < placed.length && placed[at]!.status.at > until; at++) {
          listed.push(new ListedWholeTask(placed[at]!))
        }
      }
      listed.push(plain)
    }
    for (; at < placed.length; at++) listed.push(new ListedWholeTask(placed[at]!))
    return listed
  }

  /** Those that run, or wait with their run. */
  * working(): Generator<TaskRecord> {
    for (const place of this.#places.values()) if (place.run !== undefined) yield place
  }

  /** Those that run or wait. */
  * unfinished(): Generator<TaskRecord> {
    for (const place of this.#places.values()) if (!place.isTerminal) yield place
  }

  /** The task is another one now, of so many bytes. False where the others leave no room for that. */
  change(place: TaskRecord, task: Task): boolean {
    place.task = task
    return this.resize(place, bytesOf(task))
  }

  /** The task holds so many bytes now. False where the others leave no room for that. */
  resize({ slot }: TaskRecord, bytes: number): boolean {
    return slot === undefined || this.#pool.resize(slot, bytes)
  }

  /** Its state has changed. */
  touch({ slot }: TaskRecord): void {
    if (slot !== undefined) this.#pool.touch(slot)
  }

  /** It does not run: from now on it may have to make room, and after a while it goes. */
  rest(place: TaskRecord): void {
    if (place.isIdle || place.slot === undefined) return
    place.isIdle = true
    this.#idleCount += 1
    this.#idle.add(place)
    place.until = performance.now() + this.keepMs(place.task)
  }

  /** It runs again. */
  wake(place: TaskRecord): void {
    if (!place.isIdle) return
    place.isIdle = false
    place.until = Infinity
    this.#idleCount -= 1
    this.#idle.remove(place)
  }

  forget(place: TaskRecord): void {
    if (place.slot === undefined) return
    this.#pool.remove(place.slot)
    this.#left(place)
  }

  /** How long a task is kept on which nobody works, in milliseconds; one that works without an end. */
  keepMs({ ttlMs, createdAt, status }: Task): number {
    const { taskKeepMs, waitingTaskKeepMs } = this.#limits
    if (isInterrupted(status.state)) return waitingTaskKeepMs
    if (!isTerminal(status.state)) return Infinity
    if (ttlMs === undefined) return taskKeepMs
    const left = ttlMs - (Date.parse(status.at) - Date.parse(createdAt))
    return Math.min(taskKeepMs, Math.max(left, LEAST_KEEP_MS))
  }

  /** A place for a task of which texts alone are kept: somebody reads it. */
  #placed(id: string): TaskRecord | undefined {
    const kept = this.#pool.takeTexts(id)
    if (kept === undefined) return undefined
    const place = this.add(taskOfPlain(id, kept.owner, kept.tag, kept.texts), undefined, 0)
    this.rest(place)
    place.until = kept.at + this.#limits.taskKeepMs
    return place
  }

  #keepTexts(task: Task, texts: readonly string[]): boolean {
    const kind = this.#kindOf(task)
    return this.#pool.addTexts(task.owner, task.id, texts, bytesBeside(texts), performance.now(), kind)
  }

  #kindOf({ protocol, runnable }: Task): PlainKind {
    const name = `${protocol} ${runnable.kind} ${runnable.name}`
    let kind = this.#kinds.get(name)
    if (kind === undefined) this.#kinds.set(name, kind = { protocol, runnable })
    return kind
  }

  /** What is said where a task cannot grow. */
  noRoom(): Fault {
    const { maxTasksBytes } = this.#limits
    return new Fault('busy', `The tasks of this server hold ${maxTasksBytes} bytes together already`)
  }

  #busy(): Fault {
    return new Fault('busy', `${this.#limits.maxTasks} tasks are running already; try again later`)
  }

  #left(place: TaskRecord): void {
    place.slot = undefined
    this.wake(place)
    this.#places.delete(place.id)
    this.#onForget(place)
  }

  /** Forgets what is past its time, as far as it stands before all that is not. */
  #forgetExpired(): void {
    const now = performance.now()
    if (now - this.#sweptAt >= SWEEP_MS) {
      this.#sweptAt = now
      this.#pool.dropTexts(now - this.#limits.taskKeepMs)
    }
    for (let place = this.#idle.first; place !== undefined && place.until <= now; place = this.#idle.first) {
      this.forget(place)
    }
  }
}

/** What is counted beside the bytes of the texts: so two for each character, as of any task. */
function bytesBeside(texts: readonly string[]): number {
  let bytes = PLAIN_BYTES
  for (const text of texts) bytes += text.length
  return bytes
}

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
