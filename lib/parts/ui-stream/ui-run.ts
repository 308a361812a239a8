/**
 * One run as the stream that the AI SDK's chat reads. A part that is open ends before something else begins.
 * Spec: AI SDK 5.0.92 to 7, UI message stream protocol v1.
 */
import { artifactOf } from '../../kernel/define/artifact.ts'
import { isPromised } from '../../kernel/util/thenable.ts'
import { formatJson, quote } from '../../kernel/wire/json.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import { PartRun } from '../../floors/reply/part-run.ts'
import { publicFailure } from '../../floors/reply/reply.ts'
import { chatKey } from './chat-streams.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { ArtifactInput } from '../../kernel/define/artifact.ts'
import type { Origin } from '../../kernel/define/call.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { CallEvent } from '../../kernel/define/event.ts'
import type { Dismissal, Sink } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { KeyHold } from '../../floors/idempotency/idempotency.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { PartKind } from '../../floors/reply/part-run.ts'
import type { ChatInput } from './chat-input.ts'
import type { ChatStream, ChatStreams } from './chat-streams.ts'

const START_STEP = formatEvent('{"type":"start-step"}')

/** What a stream begins with. */
const BEGINNING = formatEvent('{"type":"start"}') + START_STEP

/** The same, of a message that has its id here: a client that comes back knows which it is. */
function namedBeginning(): string {
  return formatEvent(`{"type":"start","messageId":"${randomUuid()}"}`) + START_STEP
}

/** What it ends with. */
const FINISH_STEP = formatEvent('{"type":"finish-step"}')
const DONE = formatEvent('[DONE]')

/** What a reader that is cut off is told. */
export function dismissalOf({ message: errorText }: Dismissal): string {
  return formatEvent(formatJson({ type: 'error', errorText })) + DONE
}

/** Calls of one run whose ids are kept; what follows is taken for one of theirs. */
const MAX_CALLS = 1_000

/** The marks of a tool that the agent runs itself, and the client does not know. */
const ours = { providerExecuted: true, dynamic: true }

export class UiRun extends PartRun<ChatInput> {
  readonly #streams: ChatStreams
  readonly #beginning: string
  /** What was sent so far, until it is known whether the run has to be waited for. */
  #sent: string | undefined = ''
  #stream: ChatStream | undefined
  /** The ids of the calls that the client knows. */
  readonly #calls = new Set<string>()

  constructor(
    service: Service, agent: Agent | Group, input: ChatInput, origin: Origin, streams: ChatStreams,
    hold?: KeyHold,
  ) {
    super(service, agent, input, origin, hold)
    this.#streams = streams
    this.#beginning = streams.limits.resumeMs === 0 || input.isContinued ? BEGINNING : namedBeginning()
  }

  override open(sink: Sink): (() => void) | undefined {
    const left = super.open(sink)
    // With a key the run goes on without a reader.
    return this.hold === undefined ? this.#stream?.leaving(sink) ?? left : left
  }

  event(event: CallEvent): void {
    switch (event.type) {
      case 'reasoning': {
        if (event.text !== '') this.#delta('reasoning', event.text)
        return
      }
      case 'tool-call': return this.#callTool(event.id, event.name, event.args ?? {}, ours)
      case 'tool-result': {
        const { id: toolCallId, name = 'tool', result = null, isError } = event
        // Without its call it would end the stream for the client.
        const isNew = !this.#calls.has(toolCallId) && this.#calls.size < MAX_CALLS
        if (isNew) this.#callTool(toolCallId, name, {}, ours)
        const members = { toolCallId, ...ours }
        const done = { type: 'tool-output-available', output: result, ...members }
        if (isError !== true) return void this.write(done)
        const errorText = typeof result === 'string' ? result : formatJson(result)
        return void this.write({ type: 'tool-output-error', errorText, ...members })
      }
      case 'usage': return undefined
    }
  }

  /** Texts and data become parts of the message, by the name of the artifact; files are shown. */
  artifact(input: ArtifactInput): void {
    const { name = 'artifact', parts } = artifactOf(input)
    const { id } = input
    for (const part of parts) {
      if (part.type === 'text') this.write({ type: `data-${name}`, id, data: part.text })
      else if (part.type === 'data') this.write({ type: `data-${name}`, id, data: part.data })
      else this.show(part)
    }
  }

  protected override beginPart(kind: PartKind, id: string): void {
    this.send(`{"type":"${kind}-start","id":"${id}"}`)
  }

  protected override endPart(kind: PartKind, id: string): void {
    this.send(`{"type":"${kind}-end","id":"${id}"}`)
  }

  protected override execute(): MaybePromise<Answer> {
    this.#put(this.#beginning)
    const answer = this.answer()
    const { conversationId: id } = this.input
    if (id !== undefined && isPromised(answer)) {
      const chat = chatKey(this.agent, id, this.call.principal)
      this.sink = this.#stream = this.#streams.begin(chat, this.call, this.sink!, this.#sent ?? '')
    }
    this.#sent = undefined
    return answer
  }

  protected override finish({ content, data, toolCalls = [] }: Answer): void {
    // An answer that came whole is one piece.
    if (!this.hasPiece) for (const block of content) this.show(block)
    if (data !== undefined) this.write({ type: 'data-answer', data })
    for (const { id, name, args } of toolCalls) this.#callTool(id, name, args)
    this.closePart()
    const { usage } = this.call
    const reason = toolCalls.length === 0 ? 'stop' : 'tool-calls'
    const metadata = usage === undefined ? '' : `,"messageMetadata":${formatJson({ usage })}`
    const finish = formatEvent(`{"type":"finish","finishReason":"${reason}"${metadata}}`)
    this.sink!.end(FINISH_STEP + finish + DONE)
  }

  protected override fail(error: unknown): void {
    // The client has stopped the run: what another reads of it has no error.
    if (this.call.isDisconnected) {
      this.write({ type: 'abort' })
      return this.sink!.end(DONE)
    }
    const { message: errorText } = publicFailure(this.service, error, this.call.requestId)
    this.write({ type: 'error', errorText })
    this.sink!.end(DONE)
  }

  dismissal(why: Dismissal): string { return dismissalOf(why) }

  #callTool(toolCallId: string, toolName: string, input: unknown, marks?: typeof ours): void {
    if (this.#calls.size < MAX_CALLS) this.#calls.add(toolCallId)
    this.write({ type: 'tool-input-available', toolCallId, toolName, input, ...marks })
  }

  protected override show(block: Content): boolean {
    switch (block.type) {
      case 'text': return block.text === '' || this.#delta('text', block.text)
      case 'image':
      case 'audio': return this.#file(`data:${block.mimeType};base64,${block.data}`, block.mimeType)
      case 'resource_link': {
        if (block.mimeType !== undefined) return this.#file(block.uri, block.mimeType)
        const { uri, name } = block
        return this.write({ type: 'source-url', sourceId: uri, url: uri, title: block.title ?? name })
      }
      case 'resource': {
        const { text, blob, mimeType = 'application/octet-stream' } = block.resource
        const data = blob ?? Buffer.from(text ?? '').toString('base64')
        return this.#file(`data:${mimeType};base64,${data}`, mimeType)
      }
      case 'data': return this.write({ type: 'data-answer', data: block.data })
    }
  }

  #file(url: string, mediaType: string): boolean {
    return this.write({ type: 'file', url, mediaType })
  }

  #delta(kind: PartKind, delta: string): boolean {
    return this.send(`{"type":"${kind}-delta","id":"${this.partOf(kind)}","delta":${quote(delta)}}`)
  }

  protected override send(part: string): boolean { return this.#put(formatEvent(part)) }

  #put(text: string): boolean {
    if (this.#sent !== undefined) this.#sent += text
    return this.sink!.write(text)
  }
}
