/**
 * One response on its way to its reply, whole or as typed events. Its items are made once for both.
 * Spec: https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { warnOfData } from '../../../floors/answers/warnings.ts'
import { andThen, caught } from '../../../kernel/util/thenable.ts'
import { formatEvent } from '../../../kernel/wire/sse.ts'
import { callsOf, nameOutside } from '../client-functions.ts'
import { openaiErrorEvent, openaiFailure } from '../openai-errors.ts'
import { textOfBlock, textOfBlocks } from '../../../floors/reply/markdown.ts'
import { artifactParts } from '../../../floors/answers/answer.ts'
import { tokensIn, tokensRead } from '../../../floors/chat/messages.ts'
import { bounded } from '../../../floors/reply/reply.ts'
import { MAX_REASONING } from '../../../floors/reply/run.ts'
import { keepResponse } from './kept-responses.ts'
import { ResponseItems } from './response-items.ts'
import { formatResponse, idFor, secondsNow, usageOf } from './response-object.ts'
import type { Answer } from '../../../floors/answers/answer.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { LiveCall } from '../../../kernel/define/live-call.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { AgentInput } from '../../../floors/chat/messages.ts'
import type { PublicFailure } from '../../../floors/reply/reply.ts'
import type { RunEvent } from '../../../floors/answers/run-event.ts'
import type { AgentFace } from '../../../floors/reply/agent-run.ts'
import type { ReferredItems } from './item-references.ts'
import type { ResponseItem, ResponseRequest } from './response-input.ts'
import type { ResponseFacts } from './response-object.ts'

/** The items of the conversation so far, and those of the request. */
export interface AskedItems extends ReferredItems { readonly before: readonly ResponseItem[] }

/** What one response answers. */
export interface ResponseTurn {
  readonly agent: Agent | Group
  readonly request: ResponseRequest
  readonly asked: AskedItems
  /** What the agent gets of them. */
  readonly input: AgentInput
  /** False: there is nothing to answer, or it is only to be kept. */
  readonly isAsked: boolean
}

const DONE = formatEvent('[DONE]')

export class ResponseFace implements AgentFace {
  readonly id: string = idFor('resp')
  readonly isWhole: boolean
  readonly #service: Service
  readonly #turn: ResponseTurn
  readonly #createdAt = secondsNow()
  readonly #items: ResponseItems
  #reasoningLength = 0
  #number = 0
  /** Events that were not handed out yet. */
  #events = ''

  constructor(service: Service, turn: ResponseTurn) {
    this.isWhole = turn.request.format !== undefined
    this.#service = service
    this.#turn = turn
    this.#items = new ResponseItems(this.id)
  }

  /** What is kept besides the response. */
  get kept(): { readonly input: readonly ResponseItem[]; readonly items: readonly ResponseItem[] } {
    const { before, input } = this.#turn.asked
    return { input, items: [...before, ...input, ...this.#items.soFar] }
  }

  /** The response as it is before its end, as JSON. */
  begun(): string { return this.#response({ status: 'in_progress' }) }

  begin(): string {
    this.#items.send = this.#add.bind(this)
    const response = this.begun()
    this.#addResponse('response.created', response)
    this.#addResponse('response.in_progress', response)
    return this.#taken()
  }

  event(event: RunEvent, call: LiveCall): string {
    this.deltaOf(event, call)
    return this.#taken()
  }

  unread(event: RunEvent, call: LiveCall): void { this.deltaOf(event, call) }

  /**
   * What an event adds to the items; '': nothing. A tool that the agent calls is no `function_call`: the
   * client would call it too.
   */
  deltaOf(event: RunEvent, call: LiveCall): string {
    if (event.type === 'piece') {
      return this.#say(textOfBlock(event.content, !this.#items.hasMessage), call)
    }
    if (event.type !== 'reasoning') return ''
    const text = event.text.slice(0, MAX_REASONING - this.#reasoningLength)
    call.hold(text.length)
    this.#reasoningLength += text.length
    this.#items.reason(text)
    return text
  }

  whole(answer: Answer, call: LiveCall): MaybePromise<string> {
    return andThen(this.ended(answer, call), (response) => bounded(response, this.#service.limits))
  }

  end(answer: Answer, call: LiveCall): MaybePromise<string> {
    return andThen(this.ended(answer, call), (response) => this.#last('response.completed', response))
  }

  failed(failure: PublicFailure, call: LiveCall): MaybePromise<string> {
    const failed = openaiFailure(failure)
    // Many clients read nothing of the response that failed.
    this.#add('error', openaiErrorEvent(failed))
    const isCancelled = failure.fault.kind === 'cancelled'
    const end = isCancelled ? { status: 'cancelled' } as const : { status: 'failed', error: failed } as const
    // A client goes on with what it has seen, also where it has left in the middle.
    const ended = this.#ended({ ...end, output: this.#items.soFar }, call)
    return andThen(ended, (response) => this.#last('response.failed', response))
  }

  dismissed(failure: PublicFailure): string {
    this.#add('error', openaiErrorEvent(openaiFailure(failure)))
    return this.#taken() + DONE
  }

  /** Makes the items that are left. The response as JSON, which is kept. */
  ended(answer: Answer, call: LiveCall): MaybePromise<string> {
    const { log, limits } = this.#service
    const { agent, request, input, isAsked } = this.#turn
    const toolCalls = callsOf(answer, request.maxCalls, log, call.requestId)
    const wanted = toolCalls.length === 0 && isAsked ? request.format : undefined
    if (wanted === undefined) warnOfData(log, agent, answer, 'Responses', call.requestId)
    const format = wanted?.read(answer, limits)
    const written = textOfBlocks(answer.content, true)
    if (format?.refusal !== undefined) {
      this.#items.refuse(format.refusal)
    } else if (format?.json !== undefined) {
      this.#say(format.json, call)
    } else {
      if (!this.#items.hasMessage) this.#say(written, call)
      this.#say(textOfBlocks(artifactParts(answer), written === ''), call)
    }
    const { tools } = request.body
    this.#items.end(toolCalls.map((one) => ({ ...one, ...nameOutside(tools, one.name) })))
    const { usage } = call
    const counts = usage !== undefined ? usageOf(usage) : usageOf({
      inputTokens: tokensRead(input), outputTokens: tokensIn(Buffer.byteLength(answer.text)),
    }, true)
    return this.#ended({ status: 'completed', output: this.#items.output, usage: counts }, call)
  }

  /** Keeps how one in the background failed. Never rejects. */
  async keepFailed(failure: PublicFailure, call: LiveCall): Promise<void> {
    await this.#keep({ status: 'failed', output: this.#items.soFar, error: openaiFailure(failure) }, call)
  }

  #ended(facts: ResponseFacts, call: LiveCall): MaybePromise<string> {
    return this.#turn.request.isStored ? this.#keep(facts, call) : this.#response(facts)
  }

  /** A response that cannot be kept says so. */
  #keep(facts: ResponseFacts, { requestId: request, principal }: LiveCall): MaybePromise<string> {
    const response = this.#response(facts)
    const unkept = (cause: unknown): string => {
      this.#service.log('warning', 'A response could not be kept', { request, cause })
      return this.#response({ ...facts, isStored: false })
    }
    return caught(() => (
      andThen(keepResponse(this.#service, principal.id, this.id, response, this.kept), () => response)
    ), unkept)
  }

  #response(facts: ResponseFacts): string {
    return formatResponse(this.id, this.#turn.request, this.#createdAt, facts)
  }

  #say(delta: string, call: LiveCall): string {
    call.hold(delta.length)
    this.#items.say(delta)
    return delta
  }

  #last(type: string, response: string): string {
    this.#addResponse(type, response)
    return this.#taken() + DONE
  }

  #addResponse(type: string, response: string): void { this.#add(type, `"response":${response}}`) }

  /** `rest`: its further members as JSON, and the brace at its end. */
  #add(type: string, rest: string): boolean {
    this.#events += formatEvent(`{"type":"${type}","sequence_number":${this.#number},${rest}`, type)
    this.#number += 1
    return true
  }

  #taken(): string {
    const events = this.#events
    this.#events = ''
    return events
  }
}
