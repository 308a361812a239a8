/**
 * One run as the stream that the AI SDK's chat reads. A part that is open ends before something else begins.
 * Spec: AI SDK 5.0.92 to 7, UI message stream protocol v1.
 */
import { artifactOf } from '../../kernel/define/artifact.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import { OpenPart } from '../../floors/reply/open-part.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { ArtifactInput } from '../../kernel/define/artifact.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { PartForm } from '../../floors/reply/open-part.ts'
import type { PublicFailure } from '../../floors/reply/reply.ts'
import type { RunEvent } from '../../floors/answers/run-event.ts'
import type { Face } from '../../floors/reply/run.ts'

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

/** What a reader is told of a failure, or when it is cut off. */
export function errorEvents({ message: errorText }: { readonly message: string }): string {
  return formatEvent(formatJson({ type: 'error', errorText })) + DONE
}

/** Calls of one run whose ids are kept; what follows is taken for one of theirs. */
const MAX_CALLS = 1_000

/** The marks of a tool that the agent runs itself, and the client does not know. */
const ours = { providerExecuted: true, dynamic: true }

const parts: PartForm = {
  begin: (kind, id) => formatEvent(`{"type":"${kind}-start","id":"${id}"}`),
  grow: (kind, id, delta) => formatEvent(`{"type":"${kind}-delta","id":"${id}","delta":${delta}}`),
  end: (kind, id) => formatEvent(`{"type":"${kind}-end","id":"${id}"}`),
}

export class UiFace implements Face<Answer> {
  readonly takesArtifacts = true
  readonly #isNamed: boolean
  readonly #part = new OpenPart(parts)
  #hasPiece = false
  /** The ids of the calls that the client knows. */
  readonly #calls = new Set<string>()

  /** `isNamed`: the message has its id here. */
  constructor(isNamed: boolean) { this.#isNamed = isNamed }

  begin(): string { return this.#isNamed ? namedBeginning() : BEGINNING }

  event(event: RunEvent): string {
    switch (event.type) {
      case 'piece': {
        this.#hasPiece = true
        return this.#show(event.content)
      }
      case 'reasoning': return this.#part.say('reasoning', event.text)
      case 'tool-call': return this.#call(event.id, event.name, event.args ?? {}, ours)
      case 'tool-result': {
        const { id: toolCallId, name = 'tool', result = null, isError } = event
        // Without its call it would end the stream for the client.
        const isNew = !this.#calls.has(toolCallId) && this.#calls.size < MAX_CALLS
        const call = isNew ? this.#call(toolCallId, name, {}, ours) : ''
        const members = { toolCallId, ...ours }
        if (isError !== true) {
          return call + this.#part.event({ type: 'tool-output-available', output: result, ...members })
        }
        const errorText = typeof result === 'string' ? result : formatJson(result)
        return call + this.#part.event({ type: 'tool-output-error', errorText, ...members })
      }
      case 'artifact': return this.#artifact(event.artifact)
      default: return ''
    }
  }

  end({ content, data, toolCalls = [] }: Answer, { usage }: LiveCall): string {
    // An answer that came whole is one piece.
    const shown = this.#hasPiece ? '' : content.map((block) => this.#show(block)).join('')
    const answer = data === undefined ? '' : this.#part.event({ type: 'data-answer', data })
    const calls = toolCalls.map(({ id, name, args }) => this.#call(id, name, args)).join('')
    const reason = toolCalls.length === 0 ? 'stop' : 'tool-calls'
    const metadata = usage === undefined ? '' : `,"messageMetadata":${formatJson({ usage })}`
    const finish = formatEvent(`{"type":"finish","finishReason":"${reason}"${metadata}}`)
    return shown + answer + calls + this.#part.close() + FINISH_STEP + finish + DONE
  }

  failed(failure: PublicFailure, { isDisconnected }: LiveCall): string {
    // The client has stopped the run: what another reads of it has no error.
    if (isDisconnected) return this.#part.event({ type: 'abort' }) + DONE
    return this.#part.close() + errorEvents(failure)
  }

  dismissed(failure: PublicFailure): string { return errorEvents(failure) }

  /**
   * Texts and data become parts of the message, by the name of the artifact; files are shown. For the client
   * a part with an id takes the place of the one that has it.
   */
  #artifact(input: ArtifactInput): string {
    const { name = 'artifact', parts } = artifactOf(input)
    const { id: first, append = false } = input
    return parts.map((part, index) => {
      if (part.type !== 'text' && part.type !== 'data') return this.#show(part)
      const id = index === 0 || first === undefined ? first : `${first}-${index}`
      const data = part.type === 'text' ? part.text : part.data
      return this.#part.event({ type: `data-${name}`, id: append ? undefined : id, data })
    }).join('')
  }

  #call(toolCallId: string, toolName: string, input: unknown, marks?: typeof ours): string {
    if (this.#calls.size < MAX_CALLS) this.#calls.add(toolCallId)
    return this.#part.event({ type: 'tool-input-available', toolCallId, toolName, input, ...marks })
  }

  #show(block: Content): string {
    switch (block.type) {
      case 'text': return this.#part.say('text', block.text)
      case 'image':
      case 'audio': return this.#file(`data:${block.mimeType};base64,${block.data}`, block.mimeType)
      case 'resource_link': {
        if (block.mimeType !== undefined) return this.#file(block.uri, block.mimeType)
        const { uri, name } = block
        return this.#part.event({ type: 'source-url', sourceId: uri, url: uri, title: block.title ?? name })
      }
      case 'resource': {
        const { text, blob, mimeType = 'application/octet-stream' } = block.resource
        const data = blob ?? Buffer.from(text ?? '').toString('base64')
        return this.#file(`data:${mimeType};base64,${data}`, mimeType)
      }
      case 'data': return this.#part.event({ type: 'data-answer', data: block.data })
    }
  }

  #file(url: string, mediaType: string): string {
    return this.#part.event({ type: 'file', url, mediaType })
  }
}
