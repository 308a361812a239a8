/**
 * The run of a task. It belongs to no connection: once a call becomes a task, this object replaces the call's
 * channel, questions wait with the task, and its end is kept. How a client learns of the task, and how it
 * spells an answer, is its protocol's matter.
 */
import { artifactOf } from '../../kernel/define/artifact.ts'
import { text } from '../../kernel/define/content.ts'
import { sentenceOf, usageMeta } from '../../kernel/define/event.ts'
import { asFault, Fault, publicMessage } from '../../kernel/define/fault.ts'
import { describe, logLevelOf } from '../../kernel/define/log.ts'
import { timer } from '../../kernel/util/clock.ts'
import { isThenable } from '../../kernel/util/thenable.ts'
import { isWithin } from '../../kernel/wire/bounded.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { shownFault } from '../../kernel/run/shown-fault.ts'
import { rejectOneByOne } from '../questions/rejection.ts'
import { remoteTasksOf, tasksOf } from './tasks-floor.ts'
import { isTerminal } from './task.ts'
import type { Artifact, ArtifactInput } from '../../kernel/define/artifact.ts'
import type { CallChannel } from '../../kernel/define/call.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { CallEvent } from '../../kernel/define/event.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { Severity } from '../../kernel/define/log.ts'
import type { Ability, Question } from '../../kernel/define/question.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Service } from '../../kernel/run/service.ts'
import type {
  RunningTask, Task, TaskChange, TaskFault, TaskMessage, TaskQuestion, TaskSeed, TaskState,
} from './task.ts'
import type { RunMemory } from './run-memory.ts'
import type { Tasks } from './tasks.ts'

export interface TaskClient {
  can(what: Ability): boolean
  /** Why it cannot be asked. Left out: it has not declared that it can. */
  readonly silence?: string | undefined
  /** Throws a `Fault` for a question that the client cannot be asked. */
  check?(question: Question): void
  /** An answer that the client has given before there was a task; undefined where there is none. */
  known?(question: Question): unknown
  /** The state and message of the task while questions are open. Left out: `input-required`, no message. */
  show?(open: readonly TaskQuestion[]): { readonly state: TaskState; readonly message: TaskMessage['parts'] }
  /**
   * Whether the run may end while its questions wait: their answers begin it again. Left out: it fails when
   * `askTimeoutMs` is over.
   */
  readonly isResumable?: boolean
  /** Side effects of before there was a task; those since then `remember` does. */
  once?(key: string, fn: () => unknown): Promise<unknown>
  /** Gets progress besides its text, which becomes the task's message. */
  progress?(done: number, total: number | undefined, text: string | undefined, taskId: string): void
  /**
   * Its task has ended, or waits for its client: as it is then, undefined where another process has it. Not
   * before that is so for everyone, but where a store is shared perhaps before it is written.
   */
  settled?(task: Task | undefined): void
  /** Notifies the client that what an address was opened for is done. */
  completeElicitation?(elicitationId: string): void
  /**
   * Gets events and artifacts. Left out: artifacts are those of the task, and the call of a tool and its end
   * are progress.
   */
  readonly output?: { event(event: CallEvent): void; artifact(input: ArtifactInput): void }
}

interface Open {
  readonly question: Question
  readonly timer: NodeJS.Timeout | undefined
  readonly resolve: (answer: unknown) => void
  readonly reject: (reason: Error) => void
}

const none: readonly never[] = Object.freeze([])

export class TaskRun implements CallChannel, RunningTask {
  readonly #service: Service
  readonly #tasks: Tasks
  readonly #call: LiveCall
  readonly #client: TaskClient
  /** What is needed to run it again; undefined where that is never done. */
  readonly #memory: RunMemory | undefined
  #id: string | undefined
  /** Its task is being written into the store. Never rejects. */
  #beginning: Promise<unknown> | undefined
  #isOver = false
  #isShowing = false
  #message: TaskMessage['parts'] | undefined
  #open: Map<string, Open> | undefined
  /** All keys that the task has used: none is used twice. */
  #keys: Set<string> | undefined

  constructor(service: Service, call: LiveCall, client: TaskClient, memory?: RunMemory) {
    this.#service = service
    this.#tasks = tasksOf(service)
    this.#call = call
    this.#client = client
    this.#memory = memory
  }

  /** Whether it is a task: then nothing that happens to a request matters to it. */
  get isTask(): boolean { return this.#id !== undefined }
  onSettled(listener: () => void): void { this.#call.onSettled(listener) }

  /**
   * Makes it a task that is working, and the call's channel this run. Throws `Fault('busy')` where there is
   * no room for one. Resolves when the task may be promised to the client.
   */
  begin(seed: TaskSeed, message?: string): MaybePromise<Task> {
    if (message !== undefined) this.#message = [text(message)]
    const said = this.#message
    const turn = this.#memory?.turn
    const task = this.#tasks.create(turn === undefined ? seed : { ...seed, turn }, this, said)
    if (!isThenable(task)) return this.#begun(task, said)
    const begun = task.then((written) => this.#begun(written, said))
    this.#beginning = begun.catch(() => {})
    return begun
  }

  resume(id: string): void {
    this.#tasks.resume(id, this)
    this.#id = id
    this.#call.channel = this
    // It replaces what an earlier turn has left.
    if (this.#memory !== undefined) this.#tasks.update(id, { turn: this.#memory.turn })
    this.#move('working')
  }

  #begun(task: Task, said: TaskMessage['parts'] | undefined): Task {
    this.#id = task.id
    this.#call.channel = this
    // It may have been told, or have asked, more while its task was being written.
    const isAsBegun = this.#message === said && (this.#open?.size ?? 0) === 0
    return isAsBegun ? task : this.#move('working') ?? task
  }

  can(what: Ability): boolean { return this.#client.can(what) }
  get silence(): string | undefined { return this.#client.silence }
  completeElicitation(id: string): void { this.#client.completeElicitation?.(id) }

  ask(question: Question): Promise<unknown> {
    this.#client.check?.(question)
    const given = this.#client.known?.(question)
    if (given !== undefined) return Promise.resolve(given)
    const key = this.#unused(question.key ?? question.what)
    const known = this.#memory?.answer(key, question)
    if (known !== undefined) return Promise.resolve(known)
    const { askTimeoutMs } = this.#service.limits
    const promise = new Promise<unknown>((resolve, reject) => {
      const running = timer(askTimeoutMs, () => this.#giveUp(key))
      const open: Open = { question, timer: running, resolve, reject }
      this.#open = (this.#open ?? new Map<string, Open>()).set(key, open)
    })
    // Handled from the start: a handler that does not await it must not end the process.
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
    return this.#client.once?.(key, fn) ?? this.remember(key, fn)
  }

  /** Calls `fn` unless its result is known: that is written with the task before it is returned. */
  async remember(key: string, fn: () => unknown): Promise<unknown> {
    const memory = this.#memory
    if (memory === undefined) return fn()
    const known = memory.result(key)
    if (known !== undefined) return known
    // Without a lease another process may run the task by now.
    if (this.#id !== undefined) await this.#tasks.stored?.confirm(this.#id)
    if (this.#call.reason !== undefined) throw this.#call.reason
    const result = memory.keepResult(key, await fn())
    if (this.#id === undefined) await this.#beginning
    if (this.#id !== undefined) await this.#tasks.updateDurably(this.#id, { turn: memory.turn })
    return result
  }

  keepMemory(): void {
    const turn = this.#memory?.turn
    if (turn !== undefined && this.#id !== undefined) this.#tasks.update(this.#id, { turn })
  }

  log(level: Severity, data: unknown, logger: string | undefined): void {
    this.#service.log(logLevelOf(level), describe(data), { request: this.#call.requestId, logger })
  }

  progress(done: number, total: number | undefined, message: string | undefined): void {
    if (this.#id !== undefined) this.#client.progress?.(done, total, message, this.#id)
    if (message === undefined) return
    this.#message = [text(message)]
    if ((this.#open?.size ?? 0) === 0) this.#move('working')
  }

  event(event: CallEvent): void {
    if (this.#client.output !== undefined) return this.#client.output.event(event)
    const sentence = sentenceOf(event)
    if (sentence !== undefined) this.#call.step(sentence)
  }

  artifact(input: ArtifactInput): void {
    if (this.#client.output !== undefined) return this.#client.output.artifact(input)
    const { append = false, last = !append } = input
    if (this.#id !== undefined) this.#tasks.addArtifact(this.#id, artifactOf(input), { append, last })
  }

  /** A piece of a streamed answer, as part of an artifact. A promise: the watchers are behind. */
  piece(id: string, piece: Content, append: boolean, last: boolean): void | Promise<void> {
    if (this.#id === undefined || this.#isOver) return undefined
    return this.#tasks.addPiece(this.#id, { id, parts: [piece] }, append, last)
  }

  answer(answers: ReadonlyMap<string, unknown>): void {
    // Only the first answer to a question counts, also in a run that begins again.
    const given = new Map([...answers].filter(([key]) => this.#open?.has(key)))
    if (given.size === 0) return
    this.#memory?.keepAnswers(given, this.#questions())
    this.keepMemory()
    for (const [key, answer] of given) this.#close(key)?.resolve(answer)
    this.#show()
  }

  refuse(key: string, reason: Error): void {
    this.#close(key)?.reject(reason)
    this.#show()
  }

  cancel(): void { this.#stop(new Fault('cancelled', 'The client has cancelled the task')) }

  lose(why: Fault): void {
    this.#stop(this.#id === undefined ? why : new Fault('cancelled', 'Another process has the task'))
  }

  /** The task is done. What comes after its end is dropped. */
  complete(result: unknown): void {
    if (this.#isOver) return
    let kept: unknown
    try {
      kept = this.#resultOf(result)
    } catch (error) {
      return void this.fail(error)
    }
    this.#end('completed', { result: kept })
  }

  /** The task has failed, or was cancelled from within. Returns it, as `end` does. */
  fail(thrown: unknown): Task | undefined {
    if (this.#isOver) return undefined
    const fault = asFault(thrown)
    const said = publicMessage(fault, this.#call.requestId, this.#service.exposeErrors)
    const message = [text(said)]
    if (fault.kind === 'cancelled') return this.#end('canceled', { message })
    return this.#end('failed', { message, fault: this.#faultOf(fault, said) })
  }

  /**
   * The agent's turn has ended, and the task with it or not. Returns the task; undefined where it had ended
   * before, or another process has it. Throws, and nothing has ended, where its artifact finds no room.
   */
  end(state: TaskState, message?: TaskMessage['parts'], artifact?: Artifact): Task | undefined {
    return this.#end(state, { message, artifact })
  }

  #unused(name: string): string {
    let key = name
    for (let count = 2; this.#keys?.has(key); count++) key = `${name}-${count}`
    this.#keys = (this.#keys ?? new Set<string>()).add(key)
    return key
  }

  #giveUp(key: string): void {
    if (this.#client.isResumable === true) return this.#park()
    const { askTimeoutMs } = this.#service.limits
    this.refuse(key, new Fault('timeout', `The client did not answer within ${askTimeoutMs} ms`))
  }

  /** The run ends, its questions stay open. */
  #park(): void {
    if (this.#isOver || this.#id === undefined) return
    // On a busy machine a question may not have been shown yet.
    if (this.#isShowing) this.#show()
    this.#isOver = true
    const left = this.#closeAll()
    this.#tasks.release(this.#id, this)
    this.#call.cancel(new Fault('cancelled', 'The client takes its time; its answer begins the run again'))
    rejectOneByOne(left, 'The client takes its time', () => this.#call.settled)
  }

  #close(key: string): Open | undefined {
    const open = this.#open?.get(key)
    clearTimeout(open?.timer)
    this.#open?.delete(key)
    return open
  }

  #closeAll(): readonly Open[] {
    return [...this.#open?.keys() ?? none].flatMap((key) => this.#close(key) ?? [])
  }

  /** Gives the task the state of its open questions. */
  #show(): void {
    const questions = this.#questions()
    if (questions.length === 0) return void this.#move('working')
    if (this.#memory !== undefined) {
      this.#memory.begin()
      this.keepMemory()
    }
    if (this.#id === undefined || this.#isOver) return
    const { state, message } = this.#client.show?.(questions)
      ?? { state: 'input-required' as const, message: this.#message }
    const task = this.#tasks.move(this.#id, state, { message, questions })
    this.#client.settled?.(task)
  }

  #questions(): readonly TaskQuestion[] {
    if (this.#open === undefined || this.#open.size === 0) return none
    return [...this.#open].map(([key, { question }]) => ({ key, question }))
  }

  #move(state: TaskState): Task | undefined {
    if (this.#id === undefined || this.#isOver) return undefined
    return this.#tasks.move(this.#id, state, { message: this.#message, questions: this.#questions() })
  }

  #stop(reason: Fault): void {
    this.#end('canceled', { message: [text(reason.message)] })
    this.#call.cancel(reason)
  }

  #end(state: TaskState, change: TaskChange): Task | undefined {
    if (this.#isOver || this.#id === undefined) return undefined
    const metadata = usageMeta(this.#call.usage)
    const task = this.#tasks.move(this.#id, state, { ...change, metadata, questions: none })
    this.#isOver = true
    const left = this.#closeAll()
    if (left.length > 0) rejectOneByOne(left, 'The task has ended', () => this.#call.settled)
    if (!isTerminal(state)) this.#tasks.release(this.#id, this)
    this.#client.settled?.(task)
    return task
  }

  /** A copy by JSON. Throws `Fault('internal')` for what is no JSON, `Fault('too-large')` over the bound. */
  #resultOf(result: unknown): unknown {
    const { limits: { maxResultBytes }, log } = this.#service
    let json: string | undefined
    try {
      json = formatJson(result)
    } catch (cause) {
      log('error', 'A result is not JSON', { request: this.#call.requestId, cause })
      throw new Fault('internal', 'Internal error', undefined, { cause })
    }
    if (json !== undefined && !isWithin(json, maxResultBytes - BESIDE_BYTES)) {
      throw new Fault('too-large', `The result is larger than ${maxResultBytes} bytes`)
    }
    return json === undefined ? undefined : JSON.parse(json)
  }

  #faultOf(fault: Fault, message: string): TaskFault {
    const { kind, detail } = shownFault(this.#service, fault, this.#call.requestId)
    return detail === undefined ? { kind, message } : { kind, message, detail }
  }
}

/** Cancels a task, in whichever process it runs, or where it waits without a run. */
export function cancelTaskRun(service: Service, task: Task): MaybePromise<void> {
  const tasks = tasksOf(service)
  const run = tasks.runOf(task.id)
  if (run !== undefined) return run.cancel()
  const remoteTasks = remoteTasksOf(service)
  if (remoteTasks !== undefined) return remoteTasks.cancel(task)
  tasks.move(task.id, 'canceled', { questions: none })
}

/** What is sent beside a result where a task is read, in bytes. */
const BESIDE_BYTES = 1_024
