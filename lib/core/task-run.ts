/**
 * The run of a task. It belongs to no connection: from the moment at which a call becomes a task, this object
 * takes the place of the call's channel, questions wait with the task, and its end is kept for whoever asks.
 *
 * Knows no protocol: how a client learns of the task, and how it spells an answer, is its door's business.
 */
import { artifactOf } from './artifact.ts'
import { MAX_TIMER_MS } from './clock.ts'
import { text } from './content.ts'
import { asFault, Fault, sentence } from './fault.ts'
import { describe, logLevelOf } from './log.ts'
import { rejectInTurn } from './question.ts'
import { isFinished } from './task.ts'
import type { ArtifactInput } from './artifact.ts'
import type { CallChannel } from './call.ts'
import type { Content } from './content.ts'
import type { LiveCall } from './live-call.ts'
import type { Severity } from './log.ts'
import type { Ability, Question } from './question.ts'
import type { Service } from './service.ts'
import type { MaybePromise } from './store.ts'
import type { RunningTask, Task, TaskFault, TaskMessage, TaskQuestion, TaskState } from './task.ts'
import type { TaskSeed } from './task-seed.ts'
import type { TaskChange } from './tasks.ts'

/** What a door knows of the client behind a task. */
export interface TaskClient {
  /** Whether the client can be asked in this way. */
  can(what: Ability): boolean
  /** Throws a `Fault` for a question that the client cannot be asked. */
  check?(question: Question): void
  /** An answer that the client has given before; undefined where there is none. */
  known?(question: Question, key: string): unknown
  /** What the task says of itself while questions are open. Left out: `input-required`, without words. */
  show?(open: readonly TaskQuestion[]): { readonly state: TaskState; readonly message: TaskMessage['parts'] }
  /**
   * Whether the run may end while its questions wait: their answers begin it again. Left out: it fails when
   * `askTimeoutMs` is over.
   */
  readonly isResumable?: boolean
  /** Hears of answers, before the handler does. */
  answered?(answers: ReadonlyMap<string, unknown>): void
  /** Where side effects of before are remembered. */
  once?(key: string, fn: () => unknown): Promise<unknown>
  /** Hears of progress besides its text, which becomes the task's message. */
  progress?(done: number, total: number | undefined, text: string | undefined): void
  /** Tells the client that what an address was opened for is done. */
  completeElicitation?(elicitationId: string): void
}

/** A question that waits for its answer. */
interface Open {
  readonly question: Question
  readonly timer: NodeJS.Timeout | undefined
  readonly resolve: (answer: unknown) => void
  readonly reject: (reason: Error) => void
}

/** What stands beside a result where a task is read, in bytes. */
const BESIDE_BYTES = 1_024
const none: readonly never[] = Object.freeze([])

/** A run, from the task's beginning to its end. */
export class TaskRun implements CallChannel, RunningTask {
  readonly #service: Service
  readonly #call: LiveCall
  readonly #client: TaskClient
  #id: string | undefined
  #isOver = false
  #isShowing = false
  #said: TaskMessage['parts'] | undefined
  readonly #open = new Map<string, Open>()
  /** All keys that the task has used: none is used twice. */
  readonly #keys = new Set<string>()

  constructor(service: Service, call: LiveCall, client: TaskClient) {
    this.#service = service
    this.#call = call
    this.#client = client
  }

  /** Whether it is a task: then nothing that happens to a request matters to it. */
  get isTask(): boolean { return this.#id !== undefined }

  onSettled(listener: () => void): void { this.#call.onSettled(listener) }

  /**
   * Makes it a task that is working, and the call's channel this run. Throws `Fault('busy')` where there is
   * no room for one. Resolves when the task may be promised to the client.
   */
  begin(seed: TaskSeed, said?: string): MaybePromise<Task> {
    if (said !== undefined) this.#said = [text(said)]
    const task = this.#service.tasks.create(seed, this)
    return task instanceof Promise ? task.then((kept) => this.#begun(kept)) : this.#begun(task)
  }

  /** Takes up a task that waits here without a run. */
  resume(id: string): void {
    this.#service.tasks.resume(id, this)
    this.#id = id
    this.#call.channel = this
    this.#move('working')
  }

  #begun({ id, owner }: Task): Task {
    this.#id = id
    this.#call.channel = this
    this.#move('working')
    // A task that runs is always at hand; only finished ones may be far away.
    return this.#service.tasks.get(owner, id) as Task
  }

  can(what: Ability): boolean { return this.#client.can(what) }

  /** A question waits with the task, at most `askTimeoutMs`. */
  ask(question: Question): Promise<unknown> {
    this.#client.check?.(question)
    const key = this.#unused(question.key ?? question.what)
    const known = this.#client.known?.(question, key)
    if (known !== undefined) return Promise.resolve(known)
    const { askTimeoutMs } = this.#service.limits
    const promise = new Promise<unknown>((resolve, reject) => {
      const timer = askTimeoutMs > MAX_TIMER_MS ? undefined
        : setTimeout(() => this.#giveUp(key), askTimeoutMs)
      this.#open.set(key, { question, timer, resolve, reject })
    })
    // Handled from the start: a handler that has stopped listening must not end the process.
    promise.catch(() => {})
    // Questions that are asked together are shown together.
    if (!this.#isShowing) {
      this.#isShowing = true
      setImmediate(() => {
        this.#isShowing = false
        this.#show()
      })
    }
    return promise
  }

  once(key: string, fn: () => unknown): Promise<unknown> {
    return this.#client.once?.(key, fn) ?? new Promise((resolve) => resolve(fn()))
  }

  /** A task has no log of its own. */
  log(level: Severity, data: unknown, logger: string | undefined): void {
    this.#service.log(logLevelOf(level), describe(data), { request: this.#call.requestId, logger })
  }

  progress(done: number, total: number | undefined, said: string | undefined): void {
    this.#client.progress?.(done, total, said)
    if (said === undefined) return
    this.#said = [text(said)]
    if (this.#open.size === 0) this.#move('working')
  }

  completeElicitation(elicitationId: string): void {
    this.#client.completeElicitation?.(elicitationId)
  }

  artifact(input: ArtifactInput): void {
    const { append = false, last = !append } = input
    if (this.#id !== undefined) this.#service.tasks.addArtifact(this.#id, artifactOf(input), { append, last })
  }

  /**
   * A piece of an answer that comes piece by piece, as part of an artifact. A promise holds the agent back
   * until somebody who watches has caught up.
   */
  piece(id: string, piece: Content, append: boolean, last: boolean): void | Promise<void> {
    if (this.#id === undefined || this.#isOver) return undefined
    return this.#service.tasks.addPiece(this.#id, { id, parts: [piece] }, append, last)
  }

  answer(answers: ReadonlyMap<string, unknown>): void {
    this.#client.answered?.(answers)
    for (const [key, answer] of answers) this.#close(key)?.resolve(answer)
    if (answers.size > 0) this.#show()
  }

  refuse(key: string, reason: Error): void {
    this.#close(key)?.reject(reason)
    this.#show()
  }

  cancel(): void {
    const reason = new Fault('cancelled', 'The client has cancelled the task')
    this.#end('canceled', { message: [text(reason.message)] })
    this.#call.cancel(reason)
  }

  /** The task is done. What comes after its end is dropped. */
  complete(result: unknown): void {
    if (this.#isOver) return
    const { maxResultBytes } = this.#service.limits
    let json: string | undefined
    try {
      // As JSON, so that nothing of it changes any more, and what JSON cannot say is found out here.
      json = JSON.stringify(result)
    } catch (cause) {
      this.#service.log('error', 'A result is not JSON', { request: this.#call.requestId, cause })
      return this.fail(new Fault('internal', 'Internal error', undefined, { cause }))
    }
    if (json !== undefined && json.length + BESIDE_BYTES > maxResultBytes) {
      return this.fail(new Fault('too-large', `The result is larger than ${maxResultBytes} bytes`))
    }
    this.#end('completed', { result: json === undefined ? undefined : JSON.parse(json) as unknown })
  }

  /** The task has failed, or was cancelled from within. */
  fail(thrown: unknown): void {
    if (this.#isOver) return
    const fault = asFault(thrown)
    const said = sentence(fault, this.#call.requestId, this.#service.exposeErrors)
    const message = [text(said)]
    if (fault.kind === 'cancelled') return this.#end('canceled', { message })
    this.#end('failed', { message, fault: this.#keptFault(fault, said) })
  }

  /** The agent's turn has ended, and the task with it or not. */
  end(state: TaskState, message: TaskMessage['parts'] | undefined): void {
    if (this.#isOver || this.#id === undefined) return
    if (isFinished(state)) return this.#end(state, { message })
    this.#isOver = true
    this.#service.tasks.move(this.#id, state, { message, questions: none })
    this.#service.tasks.release(this.#id, this)
  }

  #keptFault({ kind, detail }: Fault, message: string): TaskFault {
    // A defect shows nothing of itself.
    if (detail === undefined || kind === 'internal') return { kind, message }
    try {
      return { kind, message, detail: JSON.parse(JSON.stringify(detail)) as unknown }
    } catch (cause) {
      const request = this.#call.requestId
      this.#service.log('error', 'The detail of a Fault is not JSON', { request, cause })
      return { kind, message }
    }
  }

  #unused(name: string): string {
    let key = name
    for (let count = 2; this.#keys.has(key); count++) key = `${name}-${count}`
    this.#keys.add(key)
    return key
  }

  #giveUp(key: string): void {
    if (this.#client.isResumable === true) return this.#park()
    const { askTimeoutMs } = this.#service.limits
    this.refuse(key, new Fault('timeout', `The client did not answer within ${askTimeoutMs} ms`))
  }

  /** The run ends, its questions stay: each was shown, however busy the machine is. */
  #park(): void {
    if (this.#isOver || this.#id === undefined) return
    if (this.#isShowing) this.#show()
    this.#isOver = true
    const left = this.#closeAll()
    this.#service.tasks.release(this.#id, this)
    this.#call.cancel(new Fault('cancelled', 'The client takes its time; its answer begins the run again'))
    rejectInTurn(left, 'The client takes its time', () => this.#call.settled)
  }

  #close(key: string): Open | undefined {
    const open = this.#open.get(key)
    clearTimeout(open?.timer)
    this.#open.delete(key)
    return open
  }

  #closeAll(): readonly Open[] { return [...this.#open.keys()].flatMap((key) => this.#close(key) ?? []) }

  /** The task as its questions have it. */
  #show(): void {
    if (this.#open.size === 0) return this.#move('working')
    const shown = this.#client.show?.(this.#questions())
    if (shown === undefined || this.#id === undefined || this.#isOver) return this.#move('input-required')
    this.#service.tasks.move(this.#id, shown.state, { message: shown.message, questions: this.#questions() })
  }

  #questions(): readonly TaskQuestion[] {
    return this.#open.size === 0 ? none : [...this.#open].map(([key, { question }]) => ({ key, question }))
  }

  #move(state: TaskState): void {
    if (this.#id === undefined || this.#isOver) return
    this.#service.tasks.move(this.#id, state, { message: this.#said, questions: this.#questions() })
  }

  #end(state: TaskState, change: TaskChange): void {
    if (this.#isOver || this.#id === undefined) return
    this.#isOver = true
    const left = this.#closeAll()
    this.#service.tasks.move(this.#id, state, { ...change, questions: none })
    rejectInTurn(left, 'The task has ended', () => this.#call.settled)
  }
}
