/**
 * One run of AG-UI as its events. A message or a step that is open ends before something else begins.
 * Spec: AG-UI 1.0, Events.
 */
import { artifactOf } from '../../kernel/define/artifact.ts'
import { timeoutOf } from '../../floors/conversations/answer-message.ts'
import { formatJson, quote } from '../../kernel/wire/json.ts'
import { problemReply } from '../../kernel/wire/problem.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import { replyOnce } from '../../floors/reply/idempotent-reply.ts'
import { textOfBlock, textOfBlocks } from '../../floors/reply/markdown.ts'
import { PartRun } from '../../floors/reply/part-run.ts'
import { PassedOver } from '../../floors/chat/passed-over.ts'
import { publicFailure, valueIn } from '../../floors/reply/reply.ts'
import { patchFault } from './json-patch.ts'
import { InterruptRounds } from './questions.ts'
import { decodeRunInput } from './run-input.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { ArtifactInput } from '../../kernel/define/artifact.ts'
import type { Origin } from '../../kernel/define/call.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { CallEvent } from '../../kernel/define/event.ts'
import type { Ability, Question } from '../../kernel/define/question.ts'
import type { Dismissal, Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { GroupListener } from '../../floors/groups/group.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { KeyHold } from '../../floors/idempotency/idempotency.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { PartKind } from '../../floors/reply/part-run.ts'
import type { Interrupt, StateSeal } from './questions.ts'
import type { RunInput } from './run-input.ts'

/** Of AG-UI; clients of before 1.0 know of none. */
const VERSION = '1.0'

class AguiRun extends PartRun<RunInput> implements GroupListener {
  readonly asksByReturning = true
  readonly #sealing: StateSeal
  /** Made when it is needed: few runs ask. */
  #rounds: InterruptRounds | undefined
  /** What an event says of its run. */
  readonly #names: string
  #step: string | undefined
  #isEnded = false

  /** Throws `Fault('invalid')` for an answer to no question of this run. */
  constructor(
    service: Service, sealing: StateSeal, agent: Agent | Group, input: RunInput, origin: Origin,
    hold?: KeyHold,
  ) {
    super(service, agent, input, origin, hold)
    this.#names = `"threadId":${quote(input.threadId)},"runId":${quote(input.runId)}`
    this.#sealing = sealing
    if (input.resume.length > 0) this.#beginRounds()
  }

  can(what: Ability): boolean { return what === 'elicit' || what === 'elicit-url' }
  ask(question: Question): Promise<unknown> { return this.#beginRounds().ask(question) }
  once(key: string, fn: () => unknown): Promise<unknown> { return this.#beginRounds().once(key, fn) }

  /** An agent of a group begins. */
  begin({ name }: Agent): void {
    this.#endStep()
    this.#step = name
    this.write({ type: 'STEP_STARTED', stepName: name })
  }

  say(agent: Agent, piece: Content): void | Promise<void> {
    if (agent.name !== this.#step) this.begin(agent)
    return this.emit(piece)
  }

  event(event: CallEvent): void {
    switch (event.type) {
      case 'reasoning': return this.#reason(event.text)
      case 'tool-call': return this.#call(event.id, event.name, event.args)
      case 'tool-result': {
        const { id: toolCallId, result = '', isError } = event
        const content = typeof result === 'string' ? result : formatJson(result)
        const metadata = isError === true ? { isError } : undefined
        const messageId = randomUuid()
        return void this.write({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, metadata })
      }
      case 'usage': return undefined
    }
  }

  /**
   * The artifact `state` is the state of the thread, or with `append` a JSON Patch to it. Throws `TypeError`
   * for what is neither: clients would end the run.
   */
  artifact(input: ArtifactInput): void {
    const { name = 'artifact', parts } = artifactOf(input)
    const values = parts.map(valueOf)
    if (name !== 'state') return void this.write({ type: 'CUSTOM', name, value: values })
    const [state] = values
    if (values.length !== 1) {
      throw new TypeError(`call.artifact 'state' has ${values.length} parts; write one, as in `
        + `parts: [{ type: 'data', data: { cups: 1 } }]`)
    }
    if (input.append !== true) return void this.write({ type: 'STATE_SNAPSHOT', snapshot: state })
    const fault = patchFault(state)
    if (fault !== undefined) {
      throw new TypeError(`call.artifact 'state' with append needs a JSON Patch, as in parts: [{ `
        + `type: 'data', data: [{ op: 'replace', path: '/cups', value: 2 }] }]; its data ${fault}`)
    }
    this.write({ type: 'STATE_DELTA', delta: state })
  }

  protected override beginPart(kind: PartKind, id: string): void {
    if (kind === 'text') return this.#part('TEXT_MESSAGE_START', id, 'assistant')
    this.#part('REASONING_START', id)
    this.#part('REASONING_MESSAGE_START', id, 'reasoning')
  }

  protected override endPart(kind: PartKind, id: string): void {
    if (kind === 'text') return this.#part('TEXT_MESSAGE_END', id)
    this.#part('REASONING_MESSAGE_END', id)
    this.#part('REASONING_END', id)
  }

  protected override execute(): MaybePromise<Answer> {
    const version = this.input.isVersioned ? `,"protocolVersion":"${VERSION}"` : ''
    this.send(`{"type":"RUN_STARTED",${this.#names}${version}}`)
    return this.answer(this)
  }

  protected override finish(answer: Answer): void {
    const { content, data, toolCalls = [] } = answer
    // An answer that came whole is one piece.
    if (!this.hasPiece) this.#say(textOfBlocks(content, true))
    for (const { id, name, args } of toolCalls) this.#call(id, name, args)
    this.#endStep()
    const pending = toolCalls.length === 0 ? ''
      : `,"pendingToolCallIds":${formatJson(toolCalls.map(({ id }) => id))}`
    this.#finish(`{"type":"success"${pending}}`, data)
  }

  protected override fail(error: unknown): void {
    if (this.#isEnded) return
    const { fault, message } = publicFailure(this.service, error, this.call.requestId)
    this.#endStep()
    this.#end(`{"type":"RUN_ERROR","message":${quote(message)},"code":"${fault.kind}"${this.#usage}}`)
  }

  dismissal({ kind, message }: Dismissal): string {
    return formatEvent(`{"type":"RUN_ERROR","message":${quote(message)},"code":"${kind}"}`)
  }

  get #usage(): string {
    const { usage } = this.call
    return usage === undefined ? '' : `,"usage":${formatJson([usage])}`
  }

  #beginRounds(): InterruptRounds {
    const { principal } = this.call
    const { threadId, prompt, resume } = this.input
    return this.#rounds ??= new InterruptRounds(
      this.call, this.service, [principal.id, this.agent.id, threadId, prompt], resume, this.#sealing,
      (interrupts) => this.#interrupt(interrupts),
    )
  }

  #interrupt(interrupts: readonly Interrupt[]): void {
    this.#endStep()
    this.#finish(`{"type":"interrupt","interrupts":${formatJson(interrupts)}}`)
  }

  /** `outcome` is JSON. */
  #finish(outcome: string, result?: unknown): void {
    // AG-UI has no null here.
    const made = result === undefined || result === null ? '' : `"result":${formatJson(result)},`
    this.#end(`{"type":"RUN_FINISHED",${this.#names},${made}"outcome":${outcome}${this.#usage}}`)
  }

  #end(event: string): void {
    this.#isEnded = true
    this.closePart()
    this.sink!.end(formatEvent(event))
  }

  protected override show(block: Content, isFirst: boolean): boolean {
    return this.#say(textOfBlock(block, isFirst))
  }

  #say(delta: string): boolean {
    return delta === '' || this.#delta('TEXT_MESSAGE_CONTENT', this.partOf('text'), delta)
  }

  #reason(delta: string): void {
    if (delta !== '') this.#delta('REASONING_MESSAGE_CONTENT', this.partOf('reasoning'), delta)
  }

  #delta(type: string, id: string, delta: string): boolean {
    return this.send(`{"type":"${type}","messageId":"${id}","delta":${quote(delta)}}`)
  }

  #call(toolCallId: string, toolCallName: string, args: unknown = {}): void {
    this.write({ type: 'TOOL_CALL_START', toolCallId, toolCallName })
    this.write({ type: 'TOOL_CALL_ARGS', toolCallId, delta: formatJson(args) })
    this.write({ type: 'TOOL_CALL_END', toolCallId })
  }

  #endStep(): void {
    if (this.#step !== undefined) this.write({ type: 'STEP_FINISHED', stepName: this.#step })
    this.#step = undefined
  }

  #part(type: string, id: string, role?: string): void {
    this.send(`{"type":"${type}","messageId":"${id}"${role === undefined ? '' : `,"role":"${role}"`}}`)
  }
}

/** Text and data as values, files as their blocks. */
function valueOf(part: Content): unknown {
  if (part.type === 'data') return part.data
  return part.type === 'text' ? part.text : part
}

/** Answers a run. Throws, or rejects with, a `Fault` before its first event. */
export function answerRun(
  service: Service, sealing: StateSeal, agent: Agent | Group, { head, body, origin }: Exchange,
): MaybePromise<Reply> {
  const passed = new PassedOver()
  const input = decodeRunInput(valueIn(body, service), service.limits, passed)
  passed.report(service.log, origin)
  const { idempotencyKey: key } = head
  if (key === undefined) return new AguiRun(service, sealing, agent, input, origin).events()
  return replyOnce(service, key, origin, problemReply, {
    identity: { agui: agent.id, body },
    timeoutMs: timeoutOf(service, agent),
    isStream: true,
    begin: (hold) => new AguiRun(service, sealing, agent, input, origin, hold).events(),
  })
}
