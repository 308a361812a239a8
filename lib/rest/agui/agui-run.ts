/**
 * One run of AG-UI as its events. A message or a step that is open ends before something else begins.
 * Spec: AG-UI 1.0, Events.
 */
import { Fault, publicMessage } from '../../define/fault.ts'
import { answerMessage } from '../../run/answer-message.ts'
import { parseJson } from '../../wire/json.ts'
import { randomUuid } from '../../wire/random.ts'
import { EVENT_STREAM, formatEvent } from '../../wire/sse.ts'
import { textOfBlocks } from '../reply/markdown.ts'
import { OpenPart } from '../reply/open-part.ts'
import { loggedFault } from '../reply/reply.ts'
import { RunStream } from '../reply/run-stream.ts'
import { canAskByInterrupt, InterruptRounds } from './questions.ts'
import { decodeRunInput } from './run-input.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Answer } from '../../define/answer.ts'
import type { ArtifactInput } from '../../define/artifact.ts'
import type { ChatMessage } from '../../define/chat.ts'
import type { ClientTool, ClientToolResult } from '../../define/client-tool.ts'
import type { Content } from '../../define/content.ts'
import type { CallEvent } from '../../define/event.ts'
import type { Ability, Question } from '../../define/question.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'
import type { UserMessage } from '../../run/answer-message.ts'
import type { GroupListener } from '../../run/group.ts'
import type { Service } from '../../run/service.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Seal } from '../../wire/seal.ts'
import type { PartKind } from '../reply/open-part.ts'
import type { Interrupt } from './questions.ts'
import type { RunInput } from './run-input.ts'

class AguiRun extends RunStream<Answer> implements UserMessage, GroupListener {
  readonly prompt: string
  readonly conversationId: string
  readonly isNamed = true
  readonly history: readonly ChatMessage[]
  readonly clientTools: readonly ClientTool[] | undefined
  readonly clientToolResults: readonly ClientToolResult[]
  readonly asksByReturning = true
  readonly #agent: Agent | Group
  readonly #input: RunInput
  readonly #seal: Seal
  /** Made when it is needed: few runs ask. */
  #rounds: InterruptRounds | undefined
  readonly #open = new OpenPart(this.#begin.bind(this), this.#close.bind(this))
  #step: string | undefined
  #hasPiece = false
  #isEnded = false

  /** Throws `Fault('invalid')` for an answer to no question of this run. */
  constructor(service: Service, seal: Seal, agent: Agent | Group, input: RunInput, { origin }: Exchange) {
    const { conversationId, message, metadata, prompt } = input
    super(service, origin, undefined, conversationId, message, metadata)
    this.prompt = prompt
    this.conversationId = conversationId
    this.history = input.history
    // Which agent of a group went on after a call could not be known.
    if (agent.kind === 'agent') this.clientTools = input.clientTools
    this.clientToolResults = input.clientToolResults
    this.#agent = agent
    this.#input = input
    this.#seal = seal
    if (input.resume.length > 0) this.#beginRounds()
  }

  can(what: Ability): boolean { return canAskByInterrupt(what) }
  ask(question: Question): Promise<unknown> { return this.#beginRounds().ask(question) }
  once(key: string, fn: () => unknown): Promise<unknown> { return this.#beginRounds().once(key, fn) }

  /** An agent of a group begins. */
  begin({ name }: Agent): void {
    this.#endStep()
    this.#step = name
    this.#write({ type: 'STEP_STARTED', stepName: name })
  }

  say(agent: Agent, piece: Content): void | Promise<void> {
    if (agent.name !== this.#step) this.begin(agent)
    return this.#emit(piece)
  }

  event(event: CallEvent): void {
    switch (event.type) {
      case 'reasoning': return this.#reason(event.text)
      case 'tool-call': return this.#call(event.id, event.name, event.args)
      case 'tool-result': {
        const { id: toolCallId, result = '', isError } = event
        const content = typeof result === 'string' ? result : JSON.stringify(result)
        const metadata = isError === true ? { isError } : undefined
        const messageId = randomUuid()
        return this.#write({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, metadata })
      }
      case 'usage': return undefined
    }
  }

  /** The artifact `state` is the state of the thread, or with `append` a JSON Patch to it. */
  artifact({ name, parts, append }: ArtifactInput): void {
    const values = parts.map((part) => typeof part === 'object' && part.type === 'data' ? part.data : part)
    if (name !== 'state') return this.#write({ type: 'CUSTOM', name: name ?? 'artifact', value: values })
    const [state] = values
    if (append === true) this.#write({ type: 'STATE_DELTA', delta: state })
    else this.#write({ type: 'STATE_SNAPSHOT', snapshot: state })
  }

  protected override execute(): MaybePromise<Answer> {
    this.#write({ type: 'RUN_STARTED', ...this.#names })
    return answerMessage(this.service, this.#agent, this, this.call, this.#emit.bind(this), this)
  }

  protected override finish(answer: Answer): void {
    const { content, data, toolCalls = [] } = answer
    // An answer that came whole is one piece.
    if (!this.#hasPiece) this.#say(textOfBlocks(content, true))
    for (const { id, name, args } of toolCalls) this.#call(id, name, args)
    this.#endStep()
    const pendingToolCallIds = toolCalls.map(({ id }) => id)
    this.#finish({ type: 'success', ...toolCalls.length > 0 && { pendingToolCallIds } }, data)
  }

  protected override fail(error: unknown): void {
    if (this.#isEnded) return
    const fault = loggedFault(this.service, error, this.call.requestId)
    this.#endStep()
    const message = publicMessage(fault, this.call.requestId, this.service.exposeErrors)
    this.#end({ type: 'RUN_ERROR', message, code: fault.kind, ...this.#usage })
  }

  get #names(): object { return { threadId: this.#input.threadId, runId: this.#input.runId } }

  get #usage(): object { return this.call.usage === undefined ? {} : { usage: [this.call.usage] } }

  #beginRounds(): InterruptRounds {
    const { principal } = this.call
    const { threadId, prompt, resume } = this.#input
    return this.#rounds ??= new InterruptRounds(
      this.call, [principal.id, this.#agent.id, threadId, prompt], resume, this.#seal, this.service.limits,
      (interrupts) => this.#interrupt(interrupts),
    )
  }

  #interrupt(interrupts: readonly Interrupt[]): void {
    this.#endStep()
    this.#finish({ type: 'interrupt', interrupts })
  }

  #finish(outcome: object, result?: unknown): void {
    this.#end({ type: 'RUN_FINISHED', ...this.#names, result, outcome, ...this.#usage })
  }

  #end(event: object): void {
    this.#isEnded = true
    this.#write(event)
    this.sink!.end()
  }

  #emit(piece: Content): void | Promise<void> {
    const isFirst = !this.#hasPiece
    this.#hasPiece = true
    if (!this.#say(textOfBlocks([piece], isFirst))) return this.sink!.ready()
  }

  /** False: the client is behind. */
  #say(delta: string): boolean {
    if (delta === '') return true
    const messageId = this.#open.idOf('text')
    return this.sink!.write(formatEvent(JSON.stringify({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })))
  }

  #reason(delta: string): void {
    if (delta === '') return
    this.#send({ type: 'REASONING_MESSAGE_CONTENT', messageId: this.#open.idOf('reasoning'), delta })
  }

  #call(toolCallId: string, toolCallName: string, args: unknown = {}): void {
    this.#write({ type: 'TOOL_CALL_START', toolCallId, toolCallName })
    this.#send({ type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(args) })
    this.#send({ type: 'TOOL_CALL_END', toolCallId })
  }

  #begin(kind: PartKind, messageId: string): void {
    if (kind === 'text') return this.#send({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
    this.#send({ type: 'REASONING_START', messageId })
    this.#send({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' })
  }

  #close(kind: PartKind, messageId: string): void {
    if (kind === 'text') return this.#send({ type: 'TEXT_MESSAGE_END', messageId })
    this.#send({ type: 'REASONING_MESSAGE_END', messageId })
    this.#send({ type: 'REASONING_END', messageId })
  }

  #endStep(): void {
    if (this.#step !== undefined) this.#write({ type: 'STEP_FINISHED', stepName: this.#step })
    this.#step = undefined
  }

  /** Ends the message that is open first. */
  #write(event: object): void {
    this.#open.close()
    this.#send(event)
  }

  #send(event: object): void { this.sink!.write(formatEvent(JSON.stringify(event))) }
}

/** Answers a run. Throws a `Fault` before its first event. */
export function answerRun(service: Service, seal: Seal, agent: Agent | Group, exchange: Exchange): Reply {
  const { limits, workload } = service
  const parsed = parseJson(exchange.body, limits.maxDepth, limits.maxObjects)
  if (!parsed.ok) throw new Fault('invalid', parsed.why)
  const run = new AguiRun(service, seal, agent, decodeRunInput(parsed.value), exchange)
  workload.check(exchange.origin)
  return { status: 200, type: EVENT_STREAM, body: run }
}
