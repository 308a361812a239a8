/**
 * One response on its way to its reply, whole or as typed events. Its items are made once for both.
 * Spec: Open Responses 2026-04-24, Streaming.
 */
import { asFault, Fault } from '../../define/fault.ts'
import { answerMessage } from '../../run/answer-message.ts'
import { andThen, isThenable } from '../../util/thenable.ts'
import { quote } from '../../wire/json.ts'
import { formatEvent } from '../../wire/sse.ts'
import { openaiFailure } from '../openai/openai-errors.ts'
import { textOfBlock, textOfBlocks } from '../reply/markdown.ts'
import { bounded } from '../reply/reply.ts'
import { MAX_REASONING, RunReply, tokensIn, tokensRead } from '../reply/run-stream.ts'
import { CompactionReader } from './compaction.ts'
import { itemId } from './item-references.ts'
import { keepResponse } from './kept-responses.ts'
import { conversationOf } from './response-input.ts'
import {
  callItem, formatResponse, idFor, messageItem, reasoningItem, reasoningPart, refusalPart, secondsNow,
  textPart, usageOf,
} from './response-object.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Answer } from '../../define/answer.ts'
import type { Origin } from '../../define/call.ts'
import type { MadeToolCall } from '../../define/client-tool.ts'
import type { Content } from '../../define/content.ts'
import type { CallEvent } from '../../define/event.ts'
import type { Dismissal } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { KeyHold } from '../../state/idempotency.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Seal } from '../../wire/seal.ts'
import type { AgentInput } from '../reply/run-stream.ts'
import type { ReferredItems } from './item-references.ts'
import type { ResponseItem, ResponseRequest } from './response-input.ts'
import type { ResponseFacts } from './response-object.ts'

/** The items of the conversation so far, and those of the request. */
export interface AskedItems extends ReferredItems { readonly before: readonly ResponseItem[] }

const DONE = formatEvent('[DONE]')

export class ResponseRun extends RunReply<Answer> {
  readonly id: string = idFor('resp')
  readonly #agent: Agent | Group
  readonly #input: AgentInput
  readonly #request: ResponseRequest
  readonly #asked: AskedItems
  readonly #createdAt = secondsNow()
  /** The items that are done. */
  readonly #output: ResponseItem[] = []
  #message: { readonly id: string; text: string } | undefined
  #reasoning: { readonly id: string; text: string } | undefined
  /** Reasoning that comes while a message is written, which follows it. */
  #laterReasoning = ''
  #reasoningLength = 0
  #number = 0
  /** Items that have an id. */
  #idCount = 0

  /** Throws `Fault('invalid')` for wrong items. */
  constructor(
    service: Service, seal: Seal, agent: Agent | Group, request: ResponseRequest, asked: AskedItems,
    origin: Origin, hold?: KeyHold,
  ) {
    const { before, input: items } = asked
    const reader = new CompactionReader(seal, origin.principal.id, service.limits)
    const conversation = conversationOf(request.instructions, before, items, reader, service.limits)
    const { prompt, message, history, clientToolResults } = conversation
    const { clientTools, format, metadata } = request
    // What was read of the store and of compactions counts.
    const beforeLength = before.length === 0 ? 0 : JSON.stringify(before).length
    const readLength = reader.length + asked.readLength + beforeLength
    const input: AgentInput = {
      protocol: 'http', conversationId: undefined, isNamed: false, readLength, metadata,
      prompt, message, history, clientTools, clientToolResults, outputSchema: format?.schema,
    }
    super(service, origin, hold, agent, input)
    this.#agent = agent
    this.#input = input
    this.#request = request
    this.#asked = asked
  }

  get runnable(): Agent | Group { return this.#agent }
  get input(): readonly ResponseItem[] { return this.#asked.input }
  get itemsSoFar(): readonly ResponseItem[] { return [...this.#asked.before, ...this.input, ...this.#output] }

  /** A tool that the agent calls is no `function_call`: the client would call it too. */
  event(event: CallEvent): void {
    if (event.type !== 'reasoning') return
    const text = event.text.slice(0, MAX_REASONING - this.#reasoningLength)
    this.call.hold(text.length)
    this.#reasoningLength += text.length
    if (this.#message === undefined) this.#reason(text)
    else this.#laterReasoning += text
  }

  /** The response as it is before its end, as JSON. */
  begun(): string { return this.#response({ status: 'in_progress' }) }

  /** Runs without a client that waits. Resolves to the response as JSON, which is kept. */
  run(): MaybePromise<string> {
    return andThen(this.execute(), (answer) => this.#ended(answer))
  }

  /** Keeps how it failed; one that was cancelled may be deleted. Never rejects. */
  async keepFailed(thrown: unknown): Promise<void> {
    if (asFault(thrown).kind === 'cancelled') return
    const error = openaiFailure(this.service, thrown, this.call.requestId)
    await this.#keep({ status: 'failed', output: this.#output, error })
  }

  protected override execute(): MaybePromise<Answer> {
    if (this.sink !== undefined) {
      const response = this.begun()
      this.#sendResponse('response.created', response)
      this.#sendResponse('response.in_progress', response)
    }
    // An answer in a format is checked before any of it is sent.
    const isSent = this.sink !== undefined && this.#request.format === undefined
    const emit = isSent ? this.#emit.bind(this) : undefined
    return answerMessage(this.service, this.#agent, this.#input, this.call, emit)
  }

  protected override encode(answer: Answer): MaybePromise<string> {
    return andThen(this.#ended(answer), (response) => bounded(response, this.service.limits))
  }

  protected override finish(answer: Answer): MaybePromise<void> {
    return andThen(this.#ended(answer), (response) => this.#end('response.completed', response))
  }

  protected override fail(error: unknown): void {
    const failed = openaiFailure(this.service, error, this.call.requestId)
    this.#end('response.failed', this.#response({ status: 'failed', output: this.#output, error: failed }))
  }

  dismissal({ kind, message }: Dismissal): string {
    const { code } = openaiFailure(this.service, new Fault(kind, message), this.call.requestId)
    const members = { type: 'error', sequence_number: this.#number, code, message, param: null }
    return formatEvent(JSON.stringify(members), 'error') + DONE
  }

  #end(type: string, response: string): void {
    this.#sendResponse(type, response)
    this.sink!.end(DONE)
  }

  /** Makes the items that are left, and keeps the response. */
  #ended(answer: Answer): MaybePromise<string> {
    const { toolCalls = [], artifacts = [] } = answer
    const wanted = toolCalls.length === 0 ? this.#request.format : undefined
    const format = wanted?.read(answer, this.service.limits)
    const written = textOfBlocks(answer.content, true)
    if (format?.refusal !== undefined) {
      this.#refuse(format.refusal)
    } else if (format?.json !== undefined) {
      this.#say(format.json)
    } else {
      if (this.#message === undefined) this.#say(written)
      this.#say(textOfBlocks(artifacts.flatMap(({ parts }) => parts), written === ''))
    }
    this.#closeMessage()
    for (const call of toolCalls) this.#callTool(call)
    this.#closeReasoning()
    const { usage } = this.call
    const counts = usage !== undefined ? usageOf(usage) : usageOf({
      inputTokens: tokensRead(this.#input), outputTokens: tokensIn(Buffer.byteLength(answer.text)),
    }, true)
    const facts = { status: 'completed', output: this.#output, usage: counts } as const
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
    const isFirst = this.#message === undefined
    if (!this.#say(textOfBlock(piece, isFirst))) return this.sink!.ready()
  }

  /** False: the client is behind. */
  #say(delta: string): boolean {
    if (delta === '') return true
    const message = this.#message ?? this.#openMessage()
    this.call.hold(delta.length)
    message.text += delta
    if (this.sink === undefined) return true
    return this.#send('response.output_text.delta', `"output_index":${this.#output.length},`
      + `"item_id":"${message.id}","content_index":0,"delta":${quote(delta)},"logprobs":[]}`)
  }

  #openMessage(part = textPart('')): { readonly id: string; text: string } {
    this.#closeReasoning()
    const message = { id: this.#itemId('msg'), text: '' }
    this.#message = message
    this.#sendIn('response.output_item.added', { item: messageItem(message.id, [], false) })
    this.#sendIn('response.content_part.added', { item_id: message.id, content_index: 0, part })
    return message
  }

  #closeMessage(): void {
    if (this.#message === undefined) return
    const { id, text } = this.#message
    this.#sendIn('response.output_text.done', { item_id: id, content_index: 0, text, logprobs: [] })
    this.#doneMessage(id, textPart(text))
  }

  #refuse(refusal: string): void {
    const { id } = this.#openMessage(refusalPart(''))
    this.#sendIn('response.refusal.delta', { item_id: id, content_index: 0, delta: refusal })
    this.#sendIn('response.refusal.done', { item_id: id, content_index: 0, refusal })
    this.#doneMessage(id, refusalPart(refusal))
  }

  #doneMessage(id: string, part: ResponseItem): void {
    this.#message = undefined
    this.#sendIn('response.content_part.done', { item_id: id, content_index: 0, part })
    this.#done(messageItem(id, [part], true))
  }

  #callTool(call: MadeToolCall): void {
    this.#closeReasoning()
    const id = this.#itemId('fc')
    const written = JSON.stringify(call.args)
    const members = { item_id: id, name: call.name }
    this.#sendIn('response.output_item.added', { item: callItem(id, call, '', false) })
    this.#sendIn('response.function_call_arguments.delta', { item_id: id, delta: written })
    this.#sendIn('response.function_call_arguments.done', { ...members, arguments: written })
    this.#done(callItem(id, call, written, true))
  }

  #reason(delta: string): void {
    if (delta === '') return
    const item = this.#reasoning ?? this.#openReasoning()
    item.text += delta
    this.#sendIn('response.reasoning.delta', { item_id: item.id, content_index: 0, delta })
  }

  #openReasoning(): { readonly id: string; text: string } {
    const item = { id: this.#itemId('rs'), text: '' }
    this.#reasoning = item
    this.#sendIn('response.output_item.added', { item: { ...reasoningItem(item.id, ''), content: [] } })
    const part = reasoningPart('')
    this.#sendIn('response.content_part.added', { item_id: item.id, content_index: 0, part })
    return item
  }

  #closeReasoning(): void {
    this.#reason(this.#laterReasoning)
    this.#laterReasoning = ''
    if (this.#reasoning === undefined) return
    const { id, text } = this.#reasoning
    this.#reasoning = undefined
    this.#sendIn('response.reasoning.done', { item_id: id, content_index: 0, text })
    this.#sendIn('response.content_part.done', { item_id: id, content_index: 0, part: reasoningPart(text) })
    this.#done(reasoningItem(id, text))
  }

  #itemId(prefix: string): string { return itemId(prefix, this.id, this.#idCount++) }

  #done(item: ResponseItem): void {
    this.#sendIn('response.output_item.done', { item })
    this.#output.push(item)
  }

  /** An event of the item that comes next. */
  #sendIn(type: string, members: object): void {
    if (this.sink === undefined) return
    this.#send(type, `"output_index":${this.#output.length},${JSON.stringify(members).slice(1)}`)
  }

  #sendResponse(type: string, response: string): void { this.#send(type, `"response":${response}}`) }

  /** `rest`: its further members as JSON, and the brace at its end. */
  #send(type: string, rest: string): boolean {
    const event = `{"type":"${type}","sequence_number":${this.#number},${rest}`
    this.#number += 1
    return this.sink?.write(formatEvent(event, type)) ?? true
  }
}
