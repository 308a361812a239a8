/**
 * One response on its way to its reply, whole or as typed events. Its items are made once for both.
 * Spec: https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { noAnswer } from '../../../floors/answers/answer.ts'
import { warnOfData } from '../../../floors/answers/warnings.ts'
import { asFault, Fault } from '../../../kernel/define/fault.ts'
import { answerMessage } from '../../../floors/conversations/answer-message.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { formatEvent } from '../../../kernel/wire/sse.ts'
import { nameOutside } from '../chat-tools.ts'
import { openaiErrorEvent, openaiFailure } from '../openai-errors.ts'
import { callsOf } from '../tool-choice.ts'
import { textOfBlock, textOfBlocks } from '../../../floors/reply/markdown.ts'
import { PassedOver } from '../../../floors/chat/passed-over.ts'
import { bounded, publicFailure } from '../../../floors/reply/reply.ts'
import { MAX_REASONING } from '../../../floors/reply/run.ts'
import { RunReply } from '../../../floors/reply/run-stream.ts'
import { tokensIn, tokensRead } from '../../../floors/chat/messages.ts'
import { CompactionReader } from './compaction.ts'
import { keepResponse } from './kept-responses.ts'
import { conversationOf } from './response-input.ts'
import { ResponseItems } from './response-items.ts'
import { pieceLine } from './response-stream.ts'
import { formatResponse, idFor, secondsNow, usageOf } from './response-object.ts'
import type { Answer } from '../../../floors/answers/answer.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { Origin } from '../../../kernel/define/call.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { CallEvent } from '../../../kernel/define/event.ts'
import type { Dismissal } from '../../../kernel/http/message/exchange.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { KeyHold } from '../../../floors/idempotency/idempotency.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Seal } from '../../../kernel/wire/seal.ts'
import type { AgentInput, Conversation } from '../../../floors/chat/messages.ts'
import type { ReferredItems } from './item-references.ts'
import type { ResponseItem, ResponseRequest } from './response-input.ts'
import type { ResponseFacts } from './response-object.ts'

/** The items of the conversation so far, and those of the request. */
export interface AskedItems extends ReferredItems { readonly before: readonly ResponseItem[] }

/** What a client says that only looks whether there is an answer. */
const nothing: Conversation = { prompt: '', message: [], history: [], clientToolResults: [] }

const DONE = formatEvent('[DONE]')

export class ResponseRun extends RunReply<Answer> {
  readonly id: string = idFor('resp')
  readonly #agent: Agent | Group
  readonly #input: AgentInput
  readonly #request: ResponseRequest
  readonly #asked: AskedItems
  /** False: there is nothing to answer, or it is only to be kept. */
  readonly #isAsked: boolean
  readonly #createdAt = secondsNow()
  readonly #items: ResponseItems
  #reasoningLength = 0
  /** Keeps what comes in pieces of one in the background. */
  #keepLine: ((line: string) => MaybePromise<void>) | undefined
  #number = 0

  /** Throws `Fault('invalid')` for wrong items. */
  constructor(
    service: Service, seal: Seal, agent: Agent | Group, request: ResponseRequest, asked: AskedItems,
    origin: Origin, hold?: KeyHold,
  ) {
    const { before, input: items } = asked
    const reader = new CompactionReader(seal, origin.principal.id, service.limits)
    const { instructions } = request
    const passed = new PassedOver()
    const conversation = conversationOf(instructions, before, items, reader, service.limits, passed)
    passed.report(service.log, origin)
    const { prompt, message, history, clientToolResults } = conversation ?? nothing
    const { clientTools, toolChoice, format, metadata } = request
    // What was read of the store and of compactions counts.
    const beforeLength = before.length === 0 ? 0 : formatJson(before).length
    const readLength = reader.length + asked.readLength + beforeLength
    const input: AgentInput = {
      protocol: 'http', conversationId: undefined, isNamed: false, readLength, metadata,
      prompt, message, history, clientTools, toolChoice, clientToolResults, outputSchema: format?.schema,
    }
    super(service, origin, hold, agent, input)
    this.#agent = agent
    this.#isAsked = conversation !== undefined && request.isToGenerate
    this.#input = input
    this.#request = request
    this.#asked = asked
    this.#items = new ResponseItems(this.id)
  }

  get runnable(): Agent | Group { return this.#agent }
  get input(): readonly ResponseItem[] { return this.#asked.input }
  get itemsSoFar(): readonly ResponseItem[] {
    return [...this.#asked.before, ...this.input, ...this.#items.soFar]
  }

  /** A tool that the agent calls is no `function_call`: the client would call it too. */
  event(event: CallEvent): void {
    if (event.type !== 'reasoning') return
    const text = event.text.slice(0, MAX_REASONING - this.#reasoningLength)
    this.call.hold(text.length)
    this.#reasoningLength += text.length
    this.#items.reason(text)
    if (text !== '') void this.#record('reasoning', text)
  }

  /** The response as it is before its end, as JSON. */
  begun(): string { return this.#response({ status: 'in_progress' }) }

  /**
   * Runs without a client that waits. Resolves to the response as JSON, which is kept. `keepLine` gets what
   * comes in pieces, if they are to be read; it may throw.
   */
  run(keepLine: (line: string) => MaybePromise<void>): MaybePromise<string> {
    if (this.#request.isStream) this.#keepLine = keepLine
    return andThen(this.execute(), (answer) => this.#ended(answer))
  }

  /** Keeps how it failed; one that was cancelled may be deleted. Never rejects. */
  async keepFailed(thrown: unknown): Promise<void> {
    if (asFault(thrown).kind === 'cancelled') return
    const error = openaiFailure(publicFailure(this.service, thrown, this.call.requestId))
    await this.#keep({ status: 'failed', output: this.#items.soFar, error })
  }

  protected override execute(): MaybePromise<Answer> {
    if (this.sink !== undefined) {
      this.#items.send = this.#send.bind(this)
      const response = this.begun()
      this.#sendResponse('response.created', response)
      this.#sendResponse('response.in_progress', response)
    }
    if (!this.#isAsked) return noAnswer
    // An answer in a format is checked before any of it is sent.
    const isRead = this.sink !== undefined || this.#keepLine !== undefined
    const emit = isRead && this.#request.format === undefined ? this.#emit.bind(this) : undefined
    return answerMessage(this.service, this.#agent, this.#input, this.call, emit)
  }

  protected override encode(answer: Answer): MaybePromise<string> {
    return andThen(this.#ended(answer), (response) => bounded(response, this.service.limits))
  }

  protected override finish(answer: Answer): MaybePromise<void> {
    return andThen(this.#ended(answer), (response) => this.#end('response.completed', response))
  }

  protected override fail(error: unknown): void {
    const failed = openaiFailure(publicFailure(this.service, error, this.call.requestId))
    // Many clients read nothing of the response that failed.
    this.#send('error', openaiErrorEvent(failed.code, failed.message))
    const isCancelled = asFault(error).kind === 'cancelled'
    const end = isCancelled ? { status: 'cancelled' } as const : { status: 'failed', error: failed } as const
    const facts = { ...end, output: this.#items.soFar }
    // A client goes on with what it has seen, also where it has left in the middle.
    const kept = this.#request.isStored ? this.#keep(facts) : this.#response(facts)
    void andThen(kept, (response) => this.#end('response.failed', response))
  }

  dismissal({ kind, message }: Dismissal): string {
    const failed = openaiFailure(publicFailure(this.service, new Fault(kind, message), this.call.requestId))
    const members = openaiErrorEvent(failed.code, failed.message)
    return formatEvent(`{"type":"error","sequence_number":${this.#number},${members}`, 'error') + DONE
  }

  #end(type: string, response: string): void {
    this.#sendResponse(type, response)
    this.sink!.end(DONE)
  }

  /** Makes the items that are left, and keeps the response. */
  #ended(answer: Answer): MaybePromise<string> {
    const { artifacts } = answer
    const { service: { log }, call: { requestId } } = this
    const toolCalls = callsOf(answer, this.#request.maxCalls, log, requestId)
    const wanted = toolCalls.length === 0 && this.#isAsked ? this.#request.format : undefined
    if (wanted === undefined) warnOfData(log, this.#agent, answer, 'Responses', requestId)
    const format = wanted?.read(answer, this.service.limits)
    const written = textOfBlocks(answer.content, true)
    if (format?.refusal !== undefined) {
      this.#items.refuse(format.refusal)
    } else if (format?.json !== undefined) {
      this.#say(format.json)
    } else {
      if (!this.#items.hasMessage) this.#say(written)
      const files = artifacts?.flatMap(({ parts }) => parts)
      if (files !== undefined) this.#say(textOfBlocks(files, written === ''))
    }
    const { tools } = this.#request.body
    this.#items.end(toolCalls.map((call) => ({ ...call, ...nameOutside(tools, call.name) })))
    const { usage } = this.call
    const counts = usage !== undefined ? usageOf(usage) : usageOf({
      inputTokens: tokensRead(this.#input), outputTokens: tokensIn(Buffer.byteLength(answer.text)),
    }, true)
    const facts = { status: 'completed', output: this.#items.output, usage: counts } as const
    return this.#request.isStored ? this.#keep(facts) : this.#response(facts)
  }

  /** A response that cannot be kept says so. */
  #keep(facts: ResponseFacts): MaybePromise<string> {
    const response = this.#response(facts)
    const unkept = (cause: unknown): string => {
      this.service.log('warning', 'A response could not be kept', { request: this.call.requestId, cause })
      return this.#response({ ...facts, isStored: false })
    }
    try {
      const kept = { input: this.input, items: this.itemsSoFar }
      const written = keepResponse(this.service, this.call.principal.id, this.id, response, kept)
      return isThenable(written) ? written.then(() => response, unkept) : response
    } catch (cause) {
      return unkept(cause)
    }
  }

  #response(facts: ResponseFacts): string {
    return formatResponse(this.id, this.#request, this.#createdAt, facts)
  }

  #emit(piece: Content): void | Promise<void> {
    const delta = textOfBlock(piece, !this.#items.hasMessage)
    if (!this.#say(delta)) return this.sink!.ready()
    if (delta !== '') return this.#record('text', delta)
  }

  #record(kind: 'text' | 'reasoning', delta: string): void | Promise<void> {
    try {
      return this.#keepLine?.(pieceLine(kind, delta))
    } catch {
      // There is no room for more: what is not kept here comes at the end.
      this.#keepLine = undefined
    }
  }

  /** False: the client is behind. */
  #say(delta: string): boolean {
    this.call.hold(delta.length)
    return this.#items.say(delta)
  }

  #sendResponse(type: string, response: string): void { this.#send(type, `"response":${response}}`) }

  /** `rest`: its further members as JSON, and the brace at its end. */
  #send(type: string, rest: string): boolean {
    const event = `{"type":"${type}","sequence_number":${this.#number},${rest}`
    this.#number += 1
    return this.sink?.write(formatEvent(event, type)) ?? true
  }
}
