/**
 * One run as the stream that the AI SDK's chat reads. A part that is open ends before something else begins.
 * Spec: AI SDK 5 to 7, UI message stream protocol v1.
 */
import { Fault, publicMessage } from '../../define/fault.ts'
import { answerMessage } from '../../run/answer-message.ts'
import { parseJson } from '../../wire/json.ts'
import { EVENT_STREAM, formatEvent } from '../../wire/sse.ts'
import { OpenPart } from '../reply/open-part.ts'
import { loggedFault } from '../reply/reply.ts'
import { RunStream } from '../reply/run-stream.ts'
import { decodeChatInput } from './chat-input.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Answer } from '../../define/answer.ts'
import type { ArtifactInput } from '../../define/artifact.ts'
import type { ChatMessage } from '../../define/chat.ts'
import type { ClientTool, ClientToolResult } from '../../define/client-tool.ts'
import type { Content } from '../../define/content.ts'
import type { CallEvent } from '../../define/event.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'
import type { UserMessage } from '../../run/answer-message.ts'
import type { Service } from '../../run/service.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { ChatInput } from './chat-input.ts'

/** What every stream begins with. */
const BEGINNING = formatEvent('{"type":"start"}') + formatEvent('{"type":"start-step"}')

class UiRun extends RunStream<Answer> implements UserMessage {
  readonly prompt: string
  readonly conversationId: string | undefined
  readonly isNamed: boolean
  readonly history: readonly ChatMessage[]
  readonly clientTools: readonly ClientTool[] | undefined
  readonly clientToolResults: readonly ClientToolResult[]
  readonly #agent: Agent | Group
  readonly #open = new OpenPart(
    (kind, id) => void this.#send({ type: `${kind}-start`, id }),
    (kind, id) => void this.#send({ type: `${kind}-end`, id }),
  )
  #hasPiece = false

  constructor(service: Service, agent: Agent | Group, input: ChatInput, { origin }: Exchange) {
    const { chatId, message, metadata, prompt, history, clientTools, clientToolResults } = input
    super(service, origin, undefined, chatId, message, metadata)
    this.prompt = prompt
    this.conversationId = chatId
    this.isNamed = chatId !== undefined
    this.history = history
    // Which agent of a group went on after a call could not be known.
    if (agent.kind === 'agent') this.clientTools = clientTools
    this.clientToolResults = clientToolResults
    this.#agent = agent
  }

  event(event: CallEvent): void {
    switch (event.type) {
      case 'reasoning': {
        if (event.text !== '') this.#delta('reasoning', event.text)
        return
      }
      case 'tool-call': return this.#callTool(event.id, event.name, event.args, true)
      case 'tool-result': {
        const { id: toolCallId, result = null, isError } = event
        const members = { toolCallId, providerExecuted: true, dynamic: true }
        const done = { type: 'tool-output-available', output: result, ...members }
        if (isError !== true) return this.#write(done)
        const errorText = typeof result === 'string' ? result : JSON.stringify(result)
        return this.#write({ type: 'tool-output-error', errorText, ...members })
      }
      case 'usage': return undefined
    }
  }

  /** Data parts become parts of the message, by the name of the artifact; files are shown. */
  artifact({ id, name = 'artifact', parts }: ArtifactInput): void {
    for (const part of parts) {
      if (typeof part === 'string') this.#write({ type: `data-${name}`, id, data: part })
      else if (part.type === 'data') this.#write({ type: `data-${name}`, id, data: part.data })
      else this.#show(part as Content)
    }
  }

  protected override execute(): MaybePromise<Answer> {
    this.sink!.write(BEGINNING)
    return answerMessage(this.service, this.#agent, this, this.call, this.#emit.bind(this))
  }

  protected override finish({ content, data, toolCalls = [] }: Answer): void {
    // An answer that came whole is one piece.
    if (!this.#hasPiece) for (const block of content) this.#show(block)
    if (data !== undefined) this.#write({ type: 'data-answer', data })
    for (const { id, name, args } of toolCalls) this.#callTool(id, name, args, false)
    this.#write({ type: 'finish-step' })
    const { usage } = this.call
    const finishReason = toolCalls.length === 0 ? 'stop' : 'tool-calls'
    this.#send({ type: 'finish', finishReason, ...usage !== undefined && { messageMetadata: { usage } } })
    this.sink!.end(formatEvent('[DONE]'))
  }

  protected override fail(error: unknown): void {
    const fault = loggedFault(this.service, error, this.call.requestId)
    const errorText = publicMessage(fault, this.call.requestId, this.service.exposeErrors)
    this.#write({ type: 'error', errorText })
    this.sink!.end(formatEvent('[DONE]'))
  }

  /** `isOurs`: the agent runs it itself. */
  #callTool(toolCallId: string, toolName: string, input: unknown = {}, isOurs: boolean): void {
    const more = { dynamic: true, ...isOurs && { providerExecuted: true } }
    this.#write({ type: 'tool-input-available', toolCallId, toolName, input, ...more })
  }

  #emit(piece: Content): void | Promise<void> {
    this.#hasPiece = true
    if (!this.#show(piece)) return this.sink!.ready()
  }

  /** False: the client is behind. */
  #show(block: Content): boolean {
    switch (block.type) {
      case 'text': return block.text === '' || this.#delta('text', block.text)
      case 'image':
      case 'audio': return this.#file(`data:${block.mimeType};base64,${block.data}`, block.mimeType)
      case 'resource_link': {
        if (block.mimeType !== undefined) return this.#file(block.uri, block.mimeType)
        const { uri, name } = block
        return this.#part({ type: 'source-url', sourceId: uri, url: uri, title: block.title ?? name })
      }
      case 'resource': {
        const { text, blob, mimeType = 'application/octet-stream' } = block.resource
        const data = blob ?? Buffer.from(text ?? '').toString('base64')
        return this.#file(`data:${mimeType};base64,${data}`, mimeType)
      }
      case 'data': return this.#part({ type: 'data-answer', data: block.data })
    }
  }

  #file(url: string, mediaType: string): boolean {
    return this.#part({ type: 'file', url, mediaType })
  }

  #delta(kind: 'text' | 'reasoning', delta: string): boolean {
    return this.#send({ type: `${kind}-delta`, id: this.#open.idOf(kind), delta })
  }

  /** Ends the part that is open first. */
  #part(part: object): boolean {
    this.#open.close()
    return this.#send(part)
  }

  #write(part: object): void { this.#part(part) }

  #send(part: object): boolean { return this.sink!.write(formatEvent(JSON.stringify(part))) }
}

const HEADERS = ['X-Vercel-AI-UI-Message-Stream', 'v1']

/** Answers a chat. Throws a `Fault` before its first part. */
export function answerChat(service: Service, agent: Agent | Group, exchange: Exchange): Reply {
  const { limits, workload } = service
  const parsed = parseJson(exchange.body, limits.maxDepth, limits.maxObjects)
  if (!parsed.ok) throw new Fault('invalid', parsed.why)
  const run = new UiRun(service, agent, decodeChatInput(parsed.value), exchange)
  workload.check(exchange.origin)
  return { status: 200, type: EVENT_STREAM, headers: HEADERS, body: run }
}
