/**
 * One turn of a task: from a message to the agent's answer, with its questions in between. It belongs to no
 * connection; clients only watch the task.
 *
 * A run that is over at once is recorded as a task that has ended; any other is a task from its first output
 * on. An agent whose `replies` are `either` shows nothing before its first output, and may answer with a
 * message instead. Spec: A2A 1.0 §3.1.1, §3.4.
 */
import { warnOfReply } from '../../../floors/answers/warnings.ts'
import { tasksOf } from '../../../floors/tasks/tasks-floor.ts'
import { usageMeta } from '../../../kernel/define/event.ts'
import { asFault, Fault, publicMessage } from '../../../kernel/define/fault.ts'
import { LiveCall } from '../../../kernel/define/live-call.ts'
import { describe, logLevelOf } from '../../../kernel/define/log.ts'
import { RunMemory, TaskRun } from '../../../floors/tasks/task-run.ts'
import { questionParts } from '../../../floors/tasks/question-answer.ts'
import { isInterrupted, isTerminal, originOf, requestOf, turnMessage } from '../../../floors/tasks/task.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { randomUuid } from '../../../kernel/wire/random.ts'
import { answerParts, dataPart } from '../codec/parts.ts'
import { agentNamed } from '../model/tool-agent.ts'
import { attachedTo, isRerunFor, messageOf, runForTask } from './run-message.ts'
import type { Answer } from '../../../floors/answers/answer.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { AnswerState } from '../../../kernel/define/answer.ts'
import type { ArtifactInput } from '../../../kernel/define/artifact.ts'
import type { CallChannel, CallFacts, Origin, Protocol } from '../../../kernel/define/call.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { Severity } from '../../../kernel/define/log.ts'
import type { Ability, Question } from '../../../kernel/define/question.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { Begun, TaskClient } from '../../../floors/tasks/task-run.ts'
import type { TaskRunner } from '../../../floors/tasks/task-recovery.ts'
import type { Task, TaskMessage, TaskQuestion, TaskSeed, TaskState } from '../../../floors/tasks/task.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { JsonMembers, Message } from '../model/model.ts'

export interface TurnSetup {
  readonly service: Service
  readonly agent: Agent | Group
  readonly origin: Origin
  readonly message: TaskMessage
  readonly metadata: JsonMembers | undefined
  readonly extensions: readonly string[]
  /** Whether the client named the conversation, which then may have a history. */
  readonly isNamed: boolean
  /** The seed of a new task, or the task that goes on. */
  readonly task: Task | (TaskSeed & { readonly id: string })
  /** The task is hidden until the first output. */
  readonly isReserved: boolean
  /** Another process runs it again when this one dies. */
  readonly isRerun: boolean
}

export class TaskTurnRun implements TaskClient, CallChannel, CallFacts {
  readonly protocol: Protocol = 'a2a'
  readonly isResumable = true
  readonly run: number | undefined
  readonly call: LiveCall
  /** The answer, where it is a message and no task. */
  reply: Message | undefined
  /** Why there is neither task nor message. */
  fault: Fault | undefined
  /** The task, where it was over at once. */
  ended: Task | undefined
  readonly #setup: TurnSetup
  #isReserved: boolean
  readonly #run: TaskRun
  #onShown: (() => void) | undefined
  #pieces = 0
  /** Pieces of the message of a state, or of an answer that is to be a message: that is sent whole. */
  readonly #waiting: Content[] = []
  #artifactId: string | undefined

  constructor(setup: TurnSetup) {
    const { service, origin, task } = setup
    this.#setup = setup
    this.#isReserved = setup.isReserved
    this.call = new LiveCall(origin, this, this)
    const before = 'status' in task ? task.turn : undefined
    this.#artifactId = before?.artifactId
    const begun = (): Begun => ({ ...begunBy(setup), artifactId: this.#answerId() })
    const memory = new RunMemory(begun, service.limits.maxResultBytes, before)
    // Of what is run again all is kept from the beginning.
    if (setup.isRerun) memory.begin()
    this.#run = new TaskRun(service, this.call, this, memory)
    this.run = before?.run
  }

  get message(): readonly Content[] { return this.#setup.message.parts }
  get messageId(): string { return this.#setup.message.id }
  get taskId(): string { return this.#setup.task.id }
  get contextId(): string { return this.#setup.task.contextId }
  get sessionId(): string { return this.contextId }
  get metadata(): JsonMembers | undefined {
    return attachedTo(this.#setup.message, this.#setup.metadata)
  }

  get extensions(): readonly string[] { return this.#setup.extensions }

  /** Whether its task is there, and its client may see it. */
  get isShown(): boolean { return this.#run.isTask && !this.#isReserved }

  /** Creates its task before anything runs. */
  begin(): MaybePromise<void> {
    return andThen(this.#run.begin(this.#setup.task), () => {
      // The output that shows the task comes through this turn.
      if (this.#isReserved) this.call.channel = this
    })
  }

  /** Goes on with its task, which waits. */
  resume(): void {
    this.#run.resume(this.taskId)
  }

  /** Calls once, when its task is shown or it is over, in the order of the listeners. They must not throw. */
  onShown(listener: () => void): void {
    const before = this.#onShown
    this.#onShown = before === undefined ? listener : () => {
      before()
      listener()
    }
  }

  /** Runs. A promise: there is neither task nor message yet; it resolves when there is. */
  execute(): Promise<void> | undefined {
    try {
      const { service, agent, message: { parts }, isNamed, task: { tenant } } = this.#setup
      const message = { service, agent, parts, tenant, conversationId: this.contextId, isNamed }
      const answer = runForTask(message, this.call, this.#piece.bind(this))
      if (isThenable(answer)) return this.#await(answer)
      this.#answered(answer)
    } catch (error) {
      this.#failed(error)
    }
    return undefined
  }

  #await(answer: Promise<Answer>): Promise<void> | undefined {
    try {
      if (!this.#isReserved) this.#show()
    } catch (error) {
      // Without room for its task its outcome could not be seen.
      answer.catch(() => {})
      this.call.cancel(asFault(error))
      throw error
    }
    void this.#follow(answer)
    return this.isShown ? undefined : new Promise((resolve) => this.onShown(resolve))
  }

  async #follow(answer: Promise<Answer>): Promise<void> {
    try {
      this.#answered(await answer)
    } catch (error) {
      this.#failed(error)
    }
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
    if (this.isShown || text === undefined) return
    this.#show()
    this.#run.progress(done, total, text)
  }

  log(level: Severity, data: unknown, logger: string | undefined): void {
    this.#setup.service.log(logLevelOf(level), describe(data), { request: this.call.requestId, logger })
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
    if (this.isShown) return
    // In a shared store it is there from the beginning.
    if (this.#run.isTask) {
      this.call.channel = this.#run
      tasksOf(this.#setup.service).update(this.taskId, { isReserved: false })
    } else {
      void this.#run.begin(this.#setup.task)
    }
    this.#isReserved = false
    this.#run.keepMemory()
    this.#notifyShown()
  }

  #notifyShown(): void {
    const listener = this.#onShown
    this.#onShown = undefined
    listener?.()
  }

  /** There is no task. */
  #withdraw(): void {
    const dropped = this.#run.isTask ? tasksOf(this.#setup.service).drop(this.taskId) : undefined
    if (dropped === undefined) this.#notifyShown()
    else void dropped.then(() => this.#notifyShown())
  }

  #piece(piece: Content, state: AnswerState, reply: Answer['reply'] | undefined): void | Promise<void> {
    if (this.call.over) return undefined
    const isWhole = state !== 'completed' || (reply === 'message' && !this.isShown)
    if (isWhole) return void this.#waiting.push(piece)
    this.#show()
    if (this.#waiting.length > 0) for (const one of this.#waiting.splice(0)) void this.#addPiece(one)
    return this.#addPiece(piece)
  }

  #addPiece(piece: Content): void | Promise<void> {
    return this.#run.piece(this.#answerId(), piece, this.#pieces++ > 0, false)
  }

  /** One for each turn, however often it is run. */
  #answerId(): string {
    return this.#artifactId ??= randomUuid()
  }

  #answered(answer: Answer): void {
    const { service, agent, task } = this.#setup
    if (answer.reply === 'message') {
      if (this.#isReserved) {
        this.reply = messageOf(answer, this.call, this.contextId, false)
        return this.#withdraw()
      }
      warnOfReply(service.log, agent, answer.reply, this.call.requestId)
    }
    const { state } = answer
    const isMessage = state !== 'completed' || (answer.reply === 'message' && this.#pieces === 0)
    const parts = state === 'completed' || this.#waiting.length === 0 ? answerParts(answer)
      : this.#pieces === 0 ? answerParts({ ...answer, content: this.#waiting }) : this.#waiting
    const message = isMessage && parts.length > 0 ? parts : undefined
    if (!this.#run.isTask && isTerminal(state)) {
      const artifacts = isMessage || parts.length === 0 ? [] : [{ id: this.#answerId(), parts }]
      const metadata = usageMeta(this.call.usage)
      this.ended = tasksOf(service).record(task as TaskSeed, {
        state, message, metadata, artifacts, fault: undefined,
      })
      return this.#notifyShown()
    }
    this.#show()
    if (this.#pieces > 0) {
      // Only now is it known that the pieces are all.
      const data = answer.data === undefined ? [] : [dataPart(answer)]
      const rest = state === 'completed' ? [...this.#waiting, ...data] : data
      const last = rest.pop() ?? { type: 'text', text: '' }
      for (const one of rest) void this.#run.piece(this.#answerId(), one, true, false)
      void this.#run.piece(this.#answerId(), last, true, true)
    } else if (!isMessage && parts.length > 0) {
      this.#run.artifact({ id: this.#answerId(), parts })
    }
    this.#run.end(state, message)
    this.#notifyShown()
  }

  #failed(thrown: unknown): void {
    const fault = asFault(thrown)
    const { service, task } = this.#setup
    if (this.isShown) {
      this.#run.fail(fault)
    } else if (this.#isReserved) {
      this.fault = fault
      return this.#withdraw()
    } else {
      const text = publicMessage(fault, this.call.requestId, service.exposeErrors)
      const state = fault.kind === 'cancelled' ? 'canceled' : 'failed'
      const message: readonly Content[] = [{ type: 'text', text }]
      this.ended = tasksOf(service).record(task as TaskSeed, {
        state, message, metadata: usageMeta(this.call.usage), artifacts: [],
        fault: { kind: fault.kind, message: text },
      })
    }
    this.#notifyShown()
  }
}

/** What is kept of a turn, for the process that runs it again. */
function begunBy({ message, metadata, isRerun, origin, extensions, task }: TurnSetup): Begun {
  if (!isRerun) return { messageId: message.id, metadata }
  const earlier = 'artifacts' in task ? task.artifacts.map(({ id }) => id) : []
  return { messageId: message.id, metadata, isRerun, request: requestOf(origin, [...extensions]), earlier }
}

/** Runs tasks again whose process has died, from the message that began their turn. */
export function a2aRunner(service: Service): TaskRunner {
  const setupOf = (task: Task): TurnSetup | undefined => {
    const { runnable, turn } = task
    const agent = agentNamed(service, runnable.name)
    const message = turnMessage(task)
    const request = turn?.request
    if (agent === undefined || message === undefined || request === undefined) return undefined
    const { said } = request
    const extensions = Array.isArray(said) ? said.filter((uri) => typeof uri === 'string') : []
    return {
      service, agent, origin: originOf(request), message, metadata: turn?.metadata, extensions, task,
      isReserved: false, isNamed: true, isRerun: turn?.isRerun === true,
    }
  }
  return {
    serves(task) {
      const setup = setupOf(task)
      if (setup === undefined) return false
      return isInterrupted(task.status.state) || isRerunFor(setup, setup.message.parts)
    },
    run(task) {
      const setup = setupOf(task)
      if (setup === undefined) return
      const turn = new TaskTurnRun(setup)
      turn.resume()
      turn.execute()?.catch((error: unknown) => service.log('error', 'A run could not be begun again', {
        task: task.id, cause: asFault(error),
      }))
    },
  }
}
