/**
 * One reply of a model, assembled from the events of its stream or from a whole body: the text as it comes,
 * and the calls of functions that it asks for. Accepts the variants of many endpoints, within limits of size.
 * Spec: https://platform.openai.com/docs/api-reference/chat-streaming
 */
import { randomUUID } from 'node:crypto'
import { InnerJson, parseJson, usualBounds } from '../../floors/bounds/parse-json.ts'
import { isRecord } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import type { Usage } from '../../kernel/define/event.ts'
import type { Log } from '../../kernel/define/log.ts'
import type { Tool } from '../../kernel/define/tool.ts'

/** The checked options: what all requests to a model have in common, and the limits of its replies. */
export interface Model {
  readonly name: string
  readonly url: URL
  readonly headers: Headers
  readonly request: Readonly<Record<string, unknown>>
  /** Whether the endpoint is asked for the tokens that it has used. */
  readonly asksUsage: boolean
  readonly instructions: string | undefined
  /** By the name that the model knows. */
  readonly tools: ReadonlyMap<string, Tool>
  readonly maxSteps: number
  readonly maxToolResultBytes: number
  readonly idleMs: number
  readonly log: Log
  /** What must not be seen in any text. */
  readonly secrets: readonly string[]
}

/** A call of a function. `input` is undefined where the arguments, as written, are no JSON object. */
export interface FunctionCall {
  readonly id: string
  readonly name: string
  readonly written: string
  readonly input: Readonly<Record<string, unknown>> | undefined
  /** What some endpoints need back with the call: the signature of a thought. */
  readonly extra: unknown
}

/** Characters of one event, of a body that is no stream, and of all that is kept of one reply. */
export const MAX_LENGTH: number = 4 * 1024 * 1024
export const TOO_MUCH = 'sent more than is read'
const MAX_CALLS = 64
const UNREADABLE = 'sent what cannot be read'

interface Growing { id: string; name: string; written: string; extra: unknown }

export class ChatCompletion {
  /** Text that was not passed on yet. */
  fresh = ''
  hasChoice = false
  /** Whether the endpoint has ended the reply. */
  isOver = false
  /** Whether the model withholds its answer. */
  isRefused = false
  /** The tokens of the reply, where the endpoint has counted them; of several counts the last. */
  usage: Usage | undefined
  readonly #model: Model
  readonly #onReasoning: (text: string) => void
  #text = ''
  #thoughts = ''
  readonly #calls: Growing[] = []
  readonly #byIndex = new Map<unknown, Growing>()
  #length = 0

  constructor(model: Model, onReasoning: (text: string) => void = () => {}) {
    this.#model = model
    this.#onReasoning = onReasoning
  }

  /** Takes the data of one event, or a whole body. Throws a `Fault` for what is neither. */
  take(json: string, isError = false): void {
    const parsed = parseJson(json, usualBounds.maxDepth, usualBounds.maxObjects)
    if (!parsed.ok || !isRecord(parsed.value)) throw failure(this.#model, UNREADABLE)
    const { error = null, object, choices, usage } = parsed.value
    if (isError || error !== null || object === 'error') throw failure(this.#model, 'failed', parsed.value)
    this.usage = usageOf(usage) ?? this.usage
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
    // An event with a count of tokens has none.
    if (!isRecord(choice)) return
    const { finish_reason: finish, delta, message } = choice
    const part = isRecord(delta) ? delta : isRecord(message) ? message : {}
    const text = this.#kept(textIn(part['content']) + textIn(part['refusal']))
    this.fresh += text
    this.#text += text
    const thought = this.#kept(textIn(part['reasoning_content']))
    this.#thoughts += thought
    const reasoning = thought || this.#kept(textIn(part['reasoning']))
    if (reasoning !== '') this.#onReasoning(reasoning)
    if (Array.isArray(part['tool_calls'])) this.#takeCalls(part['tool_calls'])
    this.hasChoice = true
    this.isOver ||= typeof finish === 'string' && finish !== ''
    this.isRefused ||= finish === 'content_filter' || finish === 'refusal' || Boolean(part['refusal'])
  }

  /** What the model asks for, once the reply is over. Throws a `Fault` for a call of nothing. */
  calls(): readonly FunctionCall[] {
    const ids = new Set<string>()
    const inner = new InnerJson(usualBounds)
    return this.#calls.map(({ id: given, name, written, extra }) => {
      if (name === '') throw failure(this.#model, UNREADABLE)
      // Nine letters and digits: some endpoints take no other id.
      const id = given === '' || ids.has(given) ? randomUUID().replaceAll('-', '').slice(0, 9) : given
      ids.add(id)
      const parsed = inner.parse(written.trim() === '' ? '{}' : written)
      const input = parsed.ok ? parsed.value ?? {} : undefined
      return { id, name, written, input: isRecord(input) ? input : undefined, extra }
    })
  }

  /** The reply as a message of the next request. Some models must be given their own thoughts again. */
  message(calls: readonly FunctionCall[]): object {
    return {
      role: 'assistant',
      content: this.#text === '' ? null : this.#text,
      ...this.#thoughts !== '' && { reasoning_content: this.#thoughts },
      tool_calls: calls.map(({ id, name, input, extra }) => ({
        // What is no JSON would make some endpoints refuse all that follows.
        id, type: 'function', function: { name, arguments: formatJson(input ?? {}) },
        ...extra !== undefined && { extra_content: extra },
      })),
    }
  }

  #takeCalls(parts: readonly unknown[]): void {
    const taken = new Set<Growing>()
    for (const part of parts) {
      const { index = null, id: given, function: body, extra_content: extra } = isRecord(part) ? part : {}
      const { name: called, arguments: written } = isRecord(body) ? body : {}
      const [id, name] = [this.#kept(textIn(given)), this.#kept(textIn(called))]
      const known = index !== null ? this.#byIndex.get(index)
        : id !== '' ? this.#calls.find((call) => call.id === id) : this.#calls.at(-1)
      const isWhole = (index === null && id === '') || (known !== undefined && taken.has(known))
      const call = known === undefined || isAnother(known, id, name, isWhole) ? this.#begin() : known
      taken.add(call)
      this.#byIndex.set(index, call)
      call.id ||= id
      if (call.written === '' && call.name !== name) call.name += name
      call.written += this.#kept(isRecord(written) ? formatJson(written) : textIn(written))
      if (extra === undefined) continue
      this.#kept(formatJson(extra))
      call.extra = extra
    }
  }

  #begin(): Growing {
    if (this.#calls.length === MAX_CALLS) throw failure(this.#model, TOO_MUCH)
    const call: Growing = { id: '', name: '', written: '', extra: undefined }
    this.#calls.push(call)
    return call
  }

  #kept(text: string): string {
    this.#length += text.length
    if (this.#length > MAX_LENGTH) throw failure(this.#model, TOO_MUCH)
    return text
  }
}

function usageOf(value: unknown): Usage | undefined {
  const {
    prompt_tokens: input, completion_tokens: output, prompt_tokens_details: read,
    completion_tokens_details: written,
  } = isRecord(value) ? value : {}
  if (!isCount(input) || !isCount(output)) return undefined
  const cached = isRecord(read) ? read['cached_tokens'] : undefined
  const reasoning = isRecord(written) ? written['reasoning_tokens'] : undefined
  return {
    inputTokens: input, outputTokens: output, ...isCount(cached) && { cachedInputTokens: cached },
    ...isCount(reasoning) && { reasoningTokens: reasoning },
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/**
 * Whether a part begins another call although its index is in use: some endpoints give all calls the same
 * index, or no index, or no ids. Where `isWhole`, a part with a name is a whole call.
 */
function isAnother(known: Growing, id: string, name: string, isWhole: boolean): boolean {
  if (name === '' || known.name === '') return false
  if (isWhole) return true
  return id === '' ? name !== known.name && known.written !== '' : known.id !== '' && known.id !== id
}

const TOKENS = /\bBearer\s+\S+|\b(?:sk|pk|gsk|hf|xai)[-_][\w*-]{8,}/gi

/**
 * A `Fault` whose message is for the caller; the message of the endpoint is its cause, for the log: bounded,
 * on one line, and without secrets. `sent` is an error, or a body such as `{ error: { message } }`.
 */
export function failure(
  model: Model, what: string, sent?: unknown, kind: Fault['kind'] = 'upstream', retryAfterSeconds?: number,
): Fault {
  const words = model.secrets.reduce((text, secret) => text.replaceAll(secret, '***'), messageIn(sent))
  const line = words.replace(TOKENS, '***').replace(/[\s\p{C}]+/gu, ' ').trim()
  const why = line === '' ? '' : `: ${line.replace(/^(.{200}).+$/u, '$1…')}`
  const cause = `${model.name} at ${model.url.origin}${why}`
  return new Fault(kind, `The model ${what}`, undefined, { cause, retryAfterSeconds })
}

function messageIn(sent: unknown): string {
  if (sent instanceof Error) {
    // An error of fetch has its reason as its cause; after several addresses it has only a code.
    if (sent.cause !== undefined) return messageIn(sent.cause)
    return sent.message || ('code' in sent ? String(sent.code) : sent.name)
  }
  const [value]: readonly unknown[] = [sent].flat()
  const error = isRecord(value) ? value['error'] ?? value : undefined
  return textIn(isRecord(error) ? error['message'] ?? error['detail'] : error)
}

/** A text, or the text in a list of parts, as some endpoints send it beside the thoughts of a model. */
export function textIn(value: unknown): string {
  if (!Array.isArray(value)) return typeof value === 'string' ? value : ''
  return value.map((part: unknown) => isRecord(part) ? textIn(part['text']) : '').join('')
}
