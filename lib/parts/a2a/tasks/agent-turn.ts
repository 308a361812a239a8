/**
 * One turn of a task: from a message to the agent's answer, with its questions in between. It belongs to no
 * connection; clients only watch the task.
 *
 * A run that is over at once is recorded as a task that has ended; any other is a task from its first output
 * on. An agent whose `replies` are `either` shows nothing before its first output, and may answer with a
 * message instead. Spec: A2A 1.0 §3.1.1, §3.4.
 */
import { isTextOfData } from '../../../floors/answers/answer.ts'
import { warnOfReply } from '../../../floors/answers/warnings.ts'
import { questionParts } from '../../../floors/tasks/question-answer.ts'
import { RunMemory } from '../../../floors/tasks/run-memory.ts'
import { isTerminal, requestOf } from '../../../floors/tasks/task.ts'
import { TaskRun } from '../../../floors/tasks/task-run.ts'
import { usageMeta } from '../../../kernel/define/event.ts'
import { asFault, publicMessage } from '../../../kernel/define/fault.ts'
import { LiveCall } from '../../../kernel/define/live-call.ts'
import { describe, logLevelOf } from '../../../kernel/define/log.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { randomUuid } from '../../../kernel/wire/random.ts'
import { answerParts, dataPart } from '../codec/parts.ts'
import { requestedExtensions } from './request.ts'
import { attachedTo, messageOf, runForTask } from './run-message.ts'
import type { Answer } from '../../../floors/answers/answer.ts'
import type { AnswerEvent } from '../../../floors/answers/run-event.ts'
import type { Begun } from '../../../floors/tasks/run-memory.ts'
import type {
  Task, TaskEnd, TaskMessage, TaskQuestion, TaskSeed, TaskState,
} from '../../../floors/tasks/task.ts'
import type { TaskClient } from '../../../floors/tasks/task-run.ts'
import type { Tasks } from '../../../floors/tasks/tasks.ts'
import type { ArtifactInput } from '../../../kernel/define/artifact.ts'
import type { CallChannel, CallFacts, Origin, Protocol } from '../../../kernel/define/call.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { Severity } from '../../../kernel/define/log.ts'
import type { Ability, Question } from '../../../kernel/define/question.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { JsonMembers, MessageResult } from '../model/model.ts'
import type { AskedForTask } from './run-message.ts'

export interface TurnSetup extends AskedForTask {
  readonly tasks: Tasks
  readonly origin: Origin
  readonly message: TaskMessage
  readonly metadata: JsonMembers | undefined
  /** Media types that the client of the request that runs it can read. Left out: it says nothing. */
  readonly outputModes?: readonly string[] | undefined
  /** The seed of a new task, or the task that goes on. */
  readonly task: Task | (TaskSeed & { readonly id: string })
  /** The task is hidden until the first output. */
  readonly isReserved: boolean
  /** Another process runs it again when this one dies. */
  readonly isRerun: boolean
  /** URIs of extensions. Left out: those that the request asks for. */
  readonly extensions?: readonly string[]
}

/**
 * What came of a turn: its task as it has ended, or as it waits for its client; or a message in its place.
 * Without a task it has to be read: another process has it.
 */
export type TurnOutcome = { readonly task: Task | undefined } | MessageResult

export class AgentTurn implements TaskClient, CallChannel, CallFacts {
  readonly protocol: Protocol = 'a2a'
  readonly isResumable = true
  readonly silence = 'A2A has no such question, only forms and addresses'
  readonly run: number | undefined
  readonly call: LiveCall
  readonly #setup: TurnSetup
  #isReserved: boolean
  /** Its task runs, and nobody has looked for it. */
  #isUnseen = false
  /** Made when there is to be a task. */
  #madeRun: TaskRun | undefined
  #onShown: (() => void) | undefined
  /** Takes the outcome, where that is awaited. */
  #settle: ((outcome: TurnOutcome) => void) | undefined
  #pieces = 0
  /** Pieces of the message of a state, or of an answer that is to be a message: that is sent whole. */
  readonly #waiting: Content[] = []
  #artifactId: string | undefined

  constructor(setup: TurnSetup) {
    this.#setup = setup
    this.#isReserved = setup.isReserved
    this.call = new LiveCall(setup.origin, this, this)
    const before = setup.task.turn
    this.#artifactId = before?.artifactId
    this.run = before?.run
  }

  get message(): readonly Content[] { return this.#setup.message.parts }
  get messageId(): string { return this.#setup.message.id }
  /** Of its task. */
  get id(): string { return this.#setup.task.id }
  get taskId(): string { return this.id }
  get contextId(): string { return this.#setup.task.contextId }
  get sessionId(): string { return this.contextId }
  get metadata(): JsonMembers | undefined { return attachedTo(this.#setup.message, this.#setup.metadata) }
  get extensions(): readonly string[] { return extensionsOf(this.#setup) }
  get referenceTaskIds(): readonly string[] | undefined { return this.#setup.message.referenceTaskIds }
  get acceptedOutputModes(): readonly string[] | undefined { return this.#setup.outputModes }

  get #service(): Service { return this.#setup.service }

  /** Whether there is a task that its client may see. */
  get isShown(): boolean { return this.#isUnseen || this.#isTask }

  /** Whether it has been created, too. */
  get #isTask(): boolean { return this.#madeRun?.isTask === true && !this.#isReserved }

  get #run(): TaskRun {
    if (this.#madeRun !== undefined) return this.#madeRun
    const { isRerun, task } = this.#setup
    const begun = (): Begun => ({ ...begunBy(this.#setup), artifactId: this.#answerId() })
    const memory = new RunMemory(begun, this.#service.limits.maxResultBytes, task.turn)
    // Of what is run again all is kept from the beginning.
    if (isRerun) memory.begin()
    return this.#madeRun = new TaskRun(this.#service, this.call, this, memory)
  }

  /** Creates its task before anything runs. */
  begin(): MaybePromise<void> {
    return andThen(this.#run.begin(this.#setup.task), () => {
      // The output that shows the task comes through this turn.
      if (this.#isReserved) this.call.channel = this
    })
  }

  /** Goes on with its task, which waits. */
  resume(): void {
    this.#run.resume(this.id)
  }

  /** Calls once, when there is a task that its client may see, in the order of the listeners. */
  onShown(listener: () => void): void {
    if (this.isShown) return listener()
    const before = this.#onShown
    this.#onShown = before === undefined ? listener : () => {
      before()
      listener()
    }
  }

  /** Runs. Throws, or rejects with, the `Fault` where there is neither task nor message. */
  execute(): MaybePromise<TurnOutcome> {
    let answer: MaybePromise<Answer>
    try {
      answer = runForTask(this.#setup, this.call, this.#piece.bind(this))
      if (!isThenable(answer)) return this.#answered(answer)
    } catch (error) {
      return this.#failed(error)
    }
    return this.#awaited(answer)
  }

  #awaited(answer: Promise<Answer>): Promise<TurnOutcome> {
    try {
      if (!this.#isReserved && !this.#isTask) this.#beginUnseen()
    } catch (error) {
      // Without room for its task its outcome could not be seen.
      answer.catch(() => {})
      this.call.cancel(asFault(error))
      throw error
    }
    return new Promise((resolve, reject) => {
      this.#settle = resolve
      answer.then((one) => this.#answered(one)).catch((error: unknown) => this.#failed(error))
        .then(resolve, reject)
    })
  }

  /** Most runs are over before anybody looks for their task. */
  #beginUnseen(): void {
    const show = (): void => {
      try {
        this.#show()
      } catch (error) {
        this.call.cancel(asFault(error))
      }
    }
    this.#setup.tasks.runUnseen(this.#setup.task, show)
    this.#isUnseen = true
    this.#notifyShown()
  }

  settled(task: Task | undefined): void {
    this.#settle?.({ task })
  }

  can(what: Ability): boolean {
    return what === 'elicit' || what === 'elicit-url'
  }

  // Output before there is a task makes one.

  ask(question: Question): Promise<unknown> {
    this.#show()
    return this.#run.ask(question)
  }

  artifact(input: ArtifactInput): void {
    this.#show()
    this.#run.artifact(input)
  }

  progress(done: number, total: number | undefined, text: string | undefined): void {
    // A2A has no numbers. Once there is a task, the text comes by way of that.
    if (this.#isTask || text === undefined) return
    this.#show()
    this.#run.progress(done, total, text)
  }

  log(level: Severity, data: unknown, logger: string | undefined): void {
    this.#service.log(logLevelOf(level), describe(data), { request: this.call.requestId, logger })
  }

  show(open: readonly TaskQuestion[]): { readonly state: TaskState; readonly message: TaskMessage['parts'] } {
    const isAddress = open.every(({ question }) => question.what === 'elicit-url')
    const message = open.flatMap(({ question }) => questionParts(question))
    return { state: isAddress ? 'auth-required' : 'input-required', message }
  }

  once(key: string, fn: () => unknown): Promise<unknown> {
    return this.#run.remember(key, fn)
  }

  #show(): void {
    if (this.#isTask) return
    this.#isUnseen = false
    // In a shared store it is there from the beginning.
    if (this.#run.isTask) {
      this.call.channel = this.#run
      this.#setup.tasks.update(this.id, { isReserved: false })
      this.#run.keepMemory()
    } else {
      void this.#run.begin(this.#setup.task)
    }
    this.#isReserved = false
    this.#notifyShown()
  }

  #notifyShown(): void {
    const listener = this.#onShown
    this.#onShown = undefined
    listener?.()
  }

  /** There is no task. */
  #withdraw(): Promise<void> | undefined {
    return this.#madeRun?.isTask === true ? this.#setup.tasks.drop(this.id) : undefined
  }

  #piece(event: AnswerEvent): void | Promise<void> {
    if (this.call.over || event.type !== 'piece') return undefined
    const { content: piece, state, reply } = event
    const isWhole = state !== 'completed' || (reply === 'message' && !this.isShown)
    if (isWhole) return void this.#waiting.push(piece)
    this.#show()
    if (this.#waiting.length > 0) for (const one of this.#waiting.splice(0)) void this.#addPiece(one)
    return this.#addPiece(piece)
  }

  #addPiece(piece: Content, last = false): void | Promise<void> {
    return this.#run.piece(this.#answerId(), piece, this.#pieces++ > 0, last)
  }

  /** One for each turn, however often it is run. */
  #answerId(): string {
    return this.#artifactId ??= randomUuid()
  }

  #answered(answer: Answer): MaybePromise<TurnOutcome> {
    const { state, reply } = answer
    if (reply === 'message') {
      if (this.#isReserved) {
        const message = messageOf(answer, this.call, this.contextId, false)
        return andThen(this.#withdraw(), () => message)
      }
      warnOfReply(this.#service.log, this.#setup.agent, reply, this.call.requestId)
    }
    const isMessage = state !== 'completed' || (reply === 'message' && this.#pieces === 0)
    const parts = state === 'completed' || this.#waiting.length === 0 ? answerParts(answer)
      : this.#pieces === 0 ? answerParts({ ...answer, content: this.#waiting }) : this.#waiting
    const message = isMessage && parts.length > 0 ? parts : undefined
    const isWhole = !isMessage && parts.length > 0 && this.#pieces === 0
    const artifact = isWhole ? { id: this.#answerId(), parts } : undefined
    if (this.#madeRun?.isTask !== true && isTerminal(state)) {
      const artifacts = artifact === undefined ? [] : [artifact]
      return this.#record(state, message, artifacts, undefined)
    }
    this.#show()
    if (this.#pieces > 0) {
      // Only now is it known that the pieces are all.
      const data = answer.data === undefined ? [] : [dataPart(answer)]
      // The data takes the place of its text, as it does where an answer comes whole.
      if (data.length > 0 && isTextOfData(answer.content, answer.data)) this.#pieces = 0
      const rest = state === 'completed' ? [...this.#waiting, ...data] : data
      const last = rest.pop() ?? { type: 'text', text: '' }
      for (const one of rest) void this.#addPiece(one)
      void this.#addPiece(last, true)
    }
    return { task: this.#run.end(state, message, artifact) }
  }

  #failed(thrown: unknown): MaybePromise<TurnOutcome> {
    const fault = asFault(thrown)
    if (this.#isTask) return { task: this.#run.fail(fault) }
    if (this.#isReserved) return andThen(this.#withdraw(), () => { throw fault })
    const text = publicMessage(fault, this.call.requestId, this.#service.exposeErrors)
    const state = fault.kind === 'cancelled' ? 'canceled' : 'failed'
    return this.#record(state, [{ type: 'text', text }], [], { kind: fault.kind, message: text })
  }

  /** A task that was over before anybody could see it. */
  #record(
    state: TaskState, message: TaskMessage['parts'] | undefined, artifacts: TaskEnd['artifacts'],
    fault: TaskEnd['fault'],
  ): TurnOutcome {
    const { usage } = this.call
    const metadata = usage && usageMeta(usage)
    const end = { state, message, metadata, artifacts, fault }
    const task = this.#setup.tasks.record(this.#setup.task, end, this.#isUnseen)
    this.#notifyShown()
    return { task }
  }
}

/** What is kept of a turn, for the process that runs it again. */
function begunBy(setup: TurnSetup): Begun {
  const { message, metadata, isRerun, origin, task } = setup
  if (!isRerun) return { messageId: message.id, metadata }
  const earlier = 'artifacts' in task ? task.artifacts.map(({ id }) => id) : []
  const request = requestOf(origin, [...extensionsOf(setup)])
  return { messageId: message.id, metadata, isRerun, request, earlier }
}

function extensionsOf({ origin, extensions }: TurnSetup): readonly string[] {
  return extensions ?? requestedExtensions(origin)
}
