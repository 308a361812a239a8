/**
 * One chat completion on its way to its reply, whole or in chunks. A reply is text: files of an answer are
 * written as Markdown, which is what those who show chats read.
 * Spec: https://platform.openai.com/docs/api-reference/chat/object and …/chat/streaming
 */
import { answerMessage, PlainChannel } from '../../run/answer-message.ts'
import { Fault } from '../../define/fault.ts'
import { LiveCall } from '../../define/live-call.ts'
import { andThen, isThenable } from '../../util/thenable.ts'
import { isWithin } from '../../wire/bounded.ts'
import { quote } from '../../wire/json.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { formatEvent } from '../../wire/sse.ts'
import { StoppingText } from './chat-stop.ts'
import { openaiFaultText } from './openai-errors.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Answer } from '../../define/answer.ts'
import type { Origin } from '../../define/call.ts'
import type { ChatMessage } from '../../define/chat.ts'
import type { Content } from '../../define/content.ts'
import type { UserMessage } from '../../run/answer-message.ts'
import type { Service } from '../../run/service.ts'
import type { Reply, Sink, Source } from '../../http/message/exchange.ts'
import type { ChatRequest } from './chat-messages.ts'

/** Bytes of a token, about: agents do not count any, and no two models count alike. */
const TOKEN_BYTES = 4
const STOP = '"logprobs":null,"finish_reason":"stop"}]'

/** A chat completion that is about to run: once, by `reply` or by `open`. */
export class ChatRun implements Source, UserMessage {
  readonly prompt: string
  readonly conversationId = undefined
  readonly isNamed = false
  readonly history: readonly ChatMessage[]
  readonly #service: Service
  readonly #who: Agent | Group
  readonly #call: LiveCall
  readonly #includesUsage: boolean
  readonly #text: StoppingText

  constructor(service: Service, who: Agent | Group, request: ChatRequest, origin: Origin) {
    const { prompt, history, message, metadata, includesUsage, stops } = request
    this.prompt = prompt
    this.history = history
    this.#service = service
    this.#who = who
    this.#includesUsage = includesUsage
    this.#text = new StoppingText(stops)
    const channel = new PlainChannel(service, origin, 'http', undefined, message, metadata)
    this.#call = new LiveCall(origin, channel, channel)
  }

  /** The whole reply at once. Throws, or rejects with, a `Fault`. */
  reply(): Reply | Promise<Reply> {
    const answer = answerMessage(this.#service, this.#who, this, this.#call)
    if (isThenable(answer)) this.#call.cancelOnDisconnect()
    return andThen(answer, (whole) => this.#finished(whole))
  }

  /** The reply in chunks. */
  open(sink: Sink): (() => void) | undefined {
    // Nobody reads: there was no room for the stream, or the client has left.
    if (sink.closed) return undefined
    const head = `${this.#head('chat.completion.chunk')},"choices":[`
    const tail = this.#includesUsage ? ',"usage":null}' : '}'
    const chunk = (delta: string, end = '"logprobs":null,"finish_reason":null}]'): boolean =>
      sink.write(formatEvent(`${head}{"index":0,"delta":{${delta}},${end}${tail}`))
    let hasHeard = false
    let said = 0
    const say = (text: string): boolean => {
      said += Buffer.byteLength(text)
      return text === '' || chunk(`"content":${quote(text)}`)
    }
    const end = (): void => {
      chunk('', STOP)
      if (this.#includesUsage) sink.write(formatEvent(`${head}],${this.#usage(said)}}`))
      sink.end(formatEvent('[DONE]'))
    }
    const tell = (text: string): void | Promise<void> => {
      const hasRoom = say(text)
      if (!this.#text.isOver) return hasRoom ? undefined : sink.ready()
      end()
      this.#call.disconnect()
    }
    const hear = (piece: Content): void | Promise<void> => {
      const text = this.#text.take(textOfBlocks([piece], !hasHeard))
      hasHeard = true
      return andThen(text, tell)
    }
    const last = (text: string): void => {
      say(text)
      say(this.#text.rest())
      end()
    }
    const finish = (answer: Answer): void | Promise<void> => {
      // An answer that came whole is one piece; artifacts come at the end.
      const text = this.#text.take(hasHeard ? textOfBlocks(artifactsOf(answer), false) : textOfAnswer(answer))
      return andThen(text, last)
    }
    const failed = (error: unknown): void => {
      sink.end(formatEvent(openaiFaultText(this.#service, error, this.#call.requestId).text))
    }
    chunk('"role":"assistant","content":""')
    try {
      const answer = answerMessage(this.#service, this.#who, this, this.#call, hear)
      const finished = andThen(answer, finish)
      if (isThenable(finished)) finished.then(undefined, failed)
    } catch (error) {
      failed(error)
    }
    return () => this.#call.disconnect()
  }

  #finished(answer: Answer): Reply | Promise<Reply> {
    return andThen(this.#text.take(textOfAnswer(answer)), (text) => this.#replyOf(text + this.#text.rest()))
  }

  #replyOf(said: string): Reply {
    const message = `{"role":"assistant","content":${quote(said)},"refusal":null}`
    const choices = `"choices":[{"index":0,"message":${message},${STOP}`
    const usage = this.#usage(Buffer.byteLength(said))
    const body = `${this.#head('chat.completion')},${choices},${usage}}`
    const { maxResultBytes } = this.#service.limits
    if (isWithin(body, maxResultBytes)) return { status: 200, type: JSON_TYPE, body }
    throw new Fault('too-large', `The reply is larger than ${maxResultBytes} bytes`)
  }

  /** What every object of this reply begins with; the rest is to follow. */
  #head(object: string): string {
    const id = JSON.stringify(`chatcmpl-${this.#call.requestId}`)
    const created = Math.floor(Date.now() / 1000)
    return `{"id":${id},"object":"${object}","created":${created},"model":"${this.#who.id}"`
  }

  #usage(saidBytes: number): string {
    let heardBytes = Buffer.byteLength(this.prompt)
    for (const { content } of this.history) heardBytes += Buffer.byteLength(content)
    const prompt = Math.ceil(heardBytes / TOKEN_BYTES)
    const completion = Math.ceil(saidBytes / TOKEN_BYTES)
    const counts = `"prompt_tokens":${prompt},"completion_tokens":${completion}`
    return `"usage":{${counts},"total_tokens":${prompt + completion},"estimated":true}`
  }
}

function textOfAnswer(answer: Answer): string {
  const said = textOfBlocks(answer.content, true)
  return said + textOfBlocks(artifactsOf(answer), said === '')
}

function artifactsOf({ artifacts = [] }: Answer): readonly Content[] {
  return artifacts.flatMap(({ parts }) => parts)
}

/** Blocks as text. What is no text stands in paragraphs of its own; `isFirst`: nothing was said before. */
function textOfBlocks(blocks: readonly Content[], isFirst: boolean): string {
  let all = ''
  for (const block of blocks) {
    if (block.type === 'text') all += block.text
    else all += `${isFirst && all === '' ? '' : '\n\n'}${markdownOf(block)}\n\n`
  }
  return all
}

function markdownOf(block: Exclude<Content, { readonly type: 'text' }>): string {
  switch (block.type) {
    case 'image': return `![image](data:${block.mimeType};base64,${block.data})`
    case 'audio': return `[audio](data:${block.mimeType};base64,${block.data})`
    case 'resource_link': return `[${block.title ?? block.name}](${block.uri})`
    case 'data': return `\`\`\`json\n${JSON.stringify(block.data)}\n\`\`\``
    case 'resource': {
      const { text, blob, uri, mimeType = 'application/octet-stream' } = block.resource
      return text ?? `[${uri}](data:${mimeType};base64,${blob ?? ''})`
    }
  }
}
