/**
 * One chat completion on its way to its reply, whole or in chunks. A reply is text: files of an answer are
 * written as Markdown, which clients that show chats can read.
 * Spec: https://platform.openai.com/docs/api-reference/chat/object and …/chat/streaming
 */
import { warnOfData } from '../../floors/answers/warnings.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { answerMessage, timeoutOf } from '../../floors/conversations/answer-message.ts'
import { andThen } from '../../kernel/util/thenable.ts'
import { formatJson, quote } from '../../kernel/wire/json.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import { replyOnce } from '../../floors/reply/idempotent-reply.ts'
import { bounded, valueIn } from '../../floors/reply/reply.ts'
import { textOfBlock, textOfBlocks } from '../../floors/reply/markdown.ts'
import { PassedOver } from '../../floors/chat/passed-over.ts'
import { MAX_REASONING, RunReply, tokensIn, tokensRead } from '../../floors/reply/run-stream.ts'
import { decodeChat } from './chat-request.ts'
import { StoppingText } from './chat-stop.ts'
import { openaiFaultText, openaiRefusal, requireModel } from './openai-errors.ts'
import { callsOf } from './tool-choice.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { MadeToolCall } from '../../floors/answers/tool-calls.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Origin } from '../../kernel/define/call.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { CallEvent, Usage } from '../../kernel/define/event.ts'
import type { Dismissal, Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { KeyHold } from '../../floors/idempotency/idempotency.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Formatted } from './output-format.ts'
import type { ChatRequest } from './chat-request.ts'

/** Answers a chat completion. Throws, or rejects with, a `Fault`. */
export function answerCompletion(
  service: Service, { head, body, origin }: Exchange,
): MaybePromise<Reply> {
  const passed = new PassedOver()
  const request = decodeChat(valueIn(body, service), service.limits, passed)
  passed.report(service.log, origin)
  const model = requireModel(service, request.model, origin)
  const { idempotencyKey: key } = head
  const { isStream } = request
  if (key === undefined) return new ChatRun(service, model, request, origin).replyAs(isStream)
  return replyOnce(service, key, origin, openaiRefusal, {
    identity: { chat: body },
    timeoutMs: timeoutOf(service, model),
    isStream,
    begin: (hold) => new ChatRun(service, model, request, origin, hold).replyAs(isStream),
  })
}

export class ChatRun extends RunReply<Answer> {
  readonly #who: Agent | Group
  readonly #request: ChatRequest
  readonly #text: StoppingText
  /** What every chunk begins with. */
  #chunkHead = ''
  #hasPiece = false
  #sentBytes = 0
  /** For a whole reply. */
  #reasoning = ''

  constructor(service: Service, who: Agent | Group, request: ChatRequest, origin: Origin, hold?: KeyHold) {
    super(service, origin, hold, who, request)
    this.#who = who
    this.#request = request
    this.#text = new StoppingText(request.stops)
  }

  /** A tool that the agent calls is no `tool_calls`: the client would call it too. */
  event(event: CallEvent): void {
    if (event.type !== 'reasoning' || event.text === '') return
    if (this.sink !== undefined) return void this.#chunk(`"reasoning_content":${quote(event.text)}`)
    const text = event.text.slice(0, MAX_REASONING - this.#reasoning.length)
    this.call.hold(text.length)
    this.#reasoning += text
  }

  protected override execute(): MaybePromise<Answer> {
    if (this.sink === undefined) return answerMessage(this.service, this.#who, this.#request, this.call)
    this.#chunkHead = `${this.#head('chat.completion.chunk')},"choices":[`
    this.#chunk('"role":"assistant","content":""')
    // An answer in a format is checked before any of it is sent.
    const emit = this.#request.format === undefined ? this.#emit.bind(this) : undefined
    return answerMessage(this.service, this.#who, this.#request, this.call, emit)
  }

  protected override encode(answer: Answer): MaybePromise<string> {
    const { json, refusal } = this.#inFormat(answer)
    if (refusal !== undefined) return this.#whole('null', '', quote(refusal))
    if (json !== undefined) return this.#whole(quote(json), json)
    const calls = this.#calls(answer)
    return andThen(this.#text.take(textOfAnswer(answer)), (taken) => {
      const text = taken + this.#text.rest()
      return this.#whole(text === '' && calls.length > 0 ? 'null' : quote(text), text, 'null', calls)
    })
  }

  protected override finish(answer: Answer): MaybePromise<void> {
    const { json, refusal } = this.#inFormat(answer)
    if (refusal !== undefined) this.#chunk(`"refusal":${quote(refusal)}`)
    if (json !== undefined) this.#content(json)
    if (this.#request.format !== undefined && answer.toolCalls === undefined) return this.#end()
    // An answer that came whole is one piece; artifacts come at the end.
    const text = this.#hasPiece ? textOfBlocks(artifactsOf(answer), false) : textOfAnswer(answer)
    return andThen(this.#text.take(text), (last) => {
      this.#content(last)
      this.#content(this.#text.rest())
      const calls = this.#calls(answer)
      for (const [index, call] of calls.entries()) this.#chunk(`"tool_calls":[${callText(call, index)}]`)
      this.#end(finishOf(calls))
    })
  }

  /** An answer in the format that was asked for; neither where none was, or where it calls a tool first. */
  #inFormat(answer: Answer): Partial<Formatted> {
    const { service: { log }, call: { requestId } } = this
    if (this.#request.format === undefined) warnOfData(log, this.#who, answer, 'chat completions', requestId)
    return answer.toolCalls === undefined ? this.#request.format?.read(answer, this.service.limits) ?? {} : {}
  }

  #calls(answer: Answer): readonly MadeToolCall[] {
    return callsOf(answer, this.#request.maxCalls, this.service.log, this.call.requestId)
  }

  protected override fail(error: unknown): void {
    this.sink!.end(formatEvent(openaiFaultText(this.service, error, this.call.requestId)))
  }

  dismissal({ kind, message }: Dismissal): string {
    return formatEvent(openaiFaultText(this.service, new Fault(kind, message), this.call.requestId))
  }

  #emit(piece: Content): void | Promise<void> {
    const text = this.#text.take(textOfBlock(piece, !this.#hasPiece))
    this.#hasPiece = true
    return andThen(text, this.#pass.bind(this))
  }

  #pass(text: string): void | Promise<void> {
    const hasRoom = this.#content(text)
    if (!this.#text.isOver) return hasRoom ? undefined : this.sink!.ready()
    this.#end()
    this.call.disconnect()
  }

  #content(text: string): boolean {
    this.#sentBytes += Buffer.byteLength(text)
    return text === '' || this.#chunk(`"content":${quote(text)}`)
  }

  #chunk(delta: string, end = '"logprobs":null,"finish_reason":null}]'): boolean {
    const tail = this.#request.includesUsage ? ',"usage":null}' : '}'
    return this.sink!.write(formatEvent(`${this.#chunkHead}{"index":0,"delta":{${delta}},${end}${tail}`))
  }

  #end(reason = 'stop'): void {
    this.#chunk('', `"logprobs":null,"finish_reason":"${reason}"}]`)
    if (this.#request.includesUsage) {
      this.sink!.write(formatEvent(`${this.#chunkHead}],${this.#usage(this.#sentBytes)}}`))
    }
    this.sink!.end(formatEvent('[DONE]'))
  }

  /** `content` and `refusal` are JSON texts; `text` is what is counted. */
  #whole(content: string, text: string, refusal = 'null', calls: readonly MadeToolCall[] = []): string {
    const called = calls.length === 0 ? '' : `,"tool_calls":[${calls.map((call) => callText(call)).join()}]`
    const reasoning = this.#reasoning === '' ? '' : `"reasoning_content":${quote(this.#reasoning)},`
    const message = `{"role":"assistant","content":${content},${reasoning}"refusal":${refusal}${called}}`
    const end = `"logprobs":null,"finish_reason":"${finishOf(calls)}"}]`
    const choices = `"choices":[{"index":0,"message":${message},${end}`
    const usage = this.#usage(Buffer.byteLength(text))
    return bounded(`${this.#head('chat.completion')},${choices},${usage}}`, this.service.limits)
  }

  /** What every object of this reply begins with; the rest is to follow. */
  #head(object: string): string {
    const id = quote(`chatcmpl-${this.call.requestId}`)
    const created = Math.floor(Date.now() / 1000)
    return `{"id":${id},"object":"${object}","created":${created},"model":"${this.#who.id}"`
  }

  #usage(saidBytes: number): string {
    const { usage } = this.call
    if (usage !== undefined) return `"usage":${formatJson(usageOf(usage))}`
    const prompt = tokensRead(this.#request)
    const completion = tokensIn(saidBytes)
    const counts = `"prompt_tokens":${prompt},"completion_tokens":${completion}`
    return `"usage":{${counts},"total_tokens":${prompt + completion},"estimated":true}`
  }
}

function usageOf(usage: Usage): object {
  const { inputTokens, outputTokens, cachedInputTokens: cached, reasoningTokens: reasoning } = usage
  return {
    prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens,
    ...cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } },
    ...reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } },
  }
}

function finishOf(calls: readonly MadeToolCall[]): string {
  return calls.length === 0 ? 'stop' : 'tool_calls'
}

/** `index`: where it stands, which a chunk says. */
function callText({ id, name, args }: MadeToolCall, index?: number): string {
  const called = { name, arguments: formatJson(args) }
  return formatJson({ ...index !== undefined && { index }, id, type: 'function', function: called })
}

function textOfAnswer(answer: Answer): string {
  const text = textOfBlocks(answer.content, true)
  return text + textOfBlocks(artifactsOf(answer), text === '')
}

function artifactsOf({ artifacts }: Answer): readonly Content[] {
  return artifacts?.flatMap(({ parts }) => parts) ?? []
}
