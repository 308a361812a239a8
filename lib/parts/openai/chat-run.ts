/**
 * One chat completion on its way to its reply, whole or in chunks. A reply is text: files of an answer are
 * written as Markdown, which clients that show chats can read.
 * Spec: https://platform.openai.com/docs/api-reference/chat/object and …/chat/streaming
 */
import { artifactParts } from '../../floors/answers/answer.ts'
import { warnOfData } from '../../floors/answers/warnings.ts'
import { andThen } from '../../kernel/util/thenable.ts'
import { formatJson, quote } from '../../kernel/wire/json.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import { answerOnce, requestIn } from '../../floors/reply/agent-run.ts'
import { bounded } from '../../floors/reply/reply.ts'
import { textOfBlock, textOfBlocks } from '../../floors/reply/markdown.ts'
import { tokensIn, tokensRead } from '../../floors/chat/messages.ts'
import { MAX_REASONING } from '../../floors/reply/run.ts'
import { decodeChat } from './chat-request.ts'
import { StoppingText } from './chat-stop.ts'
import { failureText, openaiRefusal, requireModel } from './openai-errors.ts'
import { callsOf } from './client-functions.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { MadeToolCall } from '../../floors/answers/tool-calls.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Usage } from '../../kernel/define/event.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { PublicFailure } from '../../floors/reply/reply.ts'
import type { RunEvent } from '../../floors/answers/run-event.ts'
import type { AgentFace } from '../../floors/reply/agent-run.ts'
import type { ChatRequest } from './chat-request.ts'

/** Answers a chat completion. Throws, or rejects with, a `Fault`. */
export function answerCompletion(service: Service, exchange: Exchange): MaybePromise<Reply> {
  const { body } = exchange
  const request = requestIn(service, exchange, decodeChat)
  const model = requireModel(service, request.model, exchange)
  return answerOnce(service, exchange, model, request, new ChatFace(service, model, request), {
    identity: { chat: body }, isStream: request.isStream, refuse: openaiRefusal,
  })
}

interface RestOfAnswer {
  readonly texts: readonly string[]
  readonly refusal?: string | undefined
  readonly calls: readonly MadeToolCall[]
}

class ChatFace implements AgentFace {
  readonly isWhole: boolean
  /** A stop sequence has ended the answer. */
  isOver = false
  readonly #service: Service
  readonly #who: Agent | Group
  readonly #request: ChatRequest
  readonly #text: StoppingText
  /** What every chunk begins with. */
  #chunkHead = ''
  #hasPiece = false
  #sentBytes = 0
  /** For a whole reply. */
  #reasoning = ''

  constructor(service: Service, who: Agent | Group, request: ChatRequest) {
    this.#service = service
    this.#who = who
    this.#request = request
    this.isWhole = request.format !== undefined
    this.#text = new StoppingText(request.stops)
  }

  begin(call: LiveCall): string {
    this.#chunkHead = `${this.#head('chat.completion.chunk', call)},"choices":[`
    return this.#chunk('"role":"assistant","content":""')
  }

  /** A tool that the agent calls is no `tool_calls`: the client would call it too. */
  event(event: RunEvent, call: LiveCall): MaybePromise<string> {
    if (event.type === 'reasoning' && event.text !== '') {
      return this.#chunk(`"reasoning_content":${quote(event.text)}`)
    }
    if (event.type !== 'piece') return ''
    const text = this.#text.take(textOfBlock(event.content, !this.#hasPiece))
    this.#hasPiece = true
    return andThen(text, (taken) => {
      if (!this.#text.isOver) return this.#content(taken)
      const last = this.#content(taken) + this.#end(call)
      this.isOver = true
      call.disconnect()
      return last
    })
  }

  unread(event: RunEvent, call: LiveCall): void {
    if (event.type !== 'reasoning') return
    const text = event.text.slice(0, MAX_REASONING - this.#reasoning.length)
    call.hold(text.length)
    this.#reasoning += text
  }

  whole(answer: Answer, call: LiveCall): MaybePromise<string> {
    return andThen(this.#rest(answer, call), ({ texts, refusal, calls }) => {
      const text = texts.join('')
      const isNone = refusal !== undefined || (text === '' && calls.length > 0)
      const reasoning = this.#reasoning === '' ? '' : `"reasoning_content":${quote(this.#reasoning)},`
      const called = calls.length === 0 ? '' : `,"tool_calls":[${calls.map((one) => callText(one)).join()}]`
      const message = `{"role":"assistant","content":${isNone ? null : quote(text)},${reasoning}`
        + `"refusal":${refusal === undefined ? null : quote(refusal)}${called}}`
      const end = `"logprobs":null,"finish_reason":"${finishOf(calls)}"}]`
      const choices = `"choices":[{"index":0,"message":${message},${end}`
      const usage = this.#usage(Buffer.byteLength(text), call)
      return bounded(`${this.#head('chat.completion', call)},${choices},${usage}}`, this.#service.limits)
    })
  }

  end(answer: Answer, call: LiveCall): MaybePromise<string> {
    return andThen(this.#rest(answer, call), ({ texts, refusal, calls }) => {
      const said = refusal === undefined ? texts.map((text) => this.#content(text)).join('')
        : this.#chunk(`"refusal":${quote(refusal)}`)
      const called = calls.map((one, index) => this.#chunk(`"tool_calls":[${callText(one, index)}]`)).join('')
      return said + called + this.#end(call, calls)
    })
  }

  failed(failure: PublicFailure): string { return formatEvent(failureText(failure)) }

  /** What is to be shown yet. One in the format that was asked for, or a refusal, is all of the answer. */
  #rest(answer: Answer, { requestId }: LiveCall): MaybePromise<RestOfAnswer> {
    const { log, limits } = this.#service
    const { format, maxCalls } = this.#request
    if (format === undefined) {
      warnOfData(log, this.#who, answer, 'chat completions', requestId)
    } else if (answer.toolCalls === undefined) {
      const { json = '', refusal } = format.read(answer, limits)
      return { texts: [json], refusal, calls: [] }
    }
    // An answer that came whole is one piece; artifacts come at the end.
    const blocks = [...this.#hasPiece ? [] : answer.content, ...artifactParts(answer)]
    return andThen(this.#text.take(textOfBlocks(blocks, !this.#hasPiece)), (taken) => ({
      texts: [taken, this.#text.rest()],
      calls: this.#text.isOver ? [] : callsOf(answer, maxCalls, log, requestId),
    }))
  }

  #content(text: string): string {
    this.#sentBytes += Buffer.byteLength(text)
    return text === '' ? '' : this.#chunk(`"content":${quote(text)}`)
  }

  #chunk(delta: string, end = '"logprobs":null,"finish_reason":null}]'): string {
    const tail = this.#request.includesUsage ? ',"usage":null}' : '}'
    return formatEvent(`${this.#chunkHead}{"index":0,"delta":{${delta}},${end}${tail}`)
  }

  #end(call: LiveCall, calls: readonly MadeToolCall[] = []): string {
    const last = this.#chunk('', `"logprobs":null,"finish_reason":"${finishOf(calls)}"}]`)
    const usage = !this.#request.includesUsage ? ''
      : formatEvent(`${this.#chunkHead}],${this.#usage(this.#sentBytes, call)}}`)
    return last + usage + formatEvent('[DONE]')
  }

  /** What every object of this reply begins with; the rest is to follow. */
  #head(object: string, { requestId }: LiveCall): string {
    const id = quote(`chatcmpl-${requestId}`)
    const created = Math.floor(Date.now() / 1000)
    return `{"id":${id},"object":"${object}","created":${created},"model":"${this.#who.id}"`
  }

  #usage(saidBytes: number, { usage }: LiveCall): string {
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
