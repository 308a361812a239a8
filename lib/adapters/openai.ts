/**
 * A model behind an OpenAI-compatible endpoint (OpenAI, Ollama, vLLM, LM Studio …) as an agent: a prompt and
 * what was said before in, its text out as it arrives. Knows no tools. Its keys are in the request alone.
 * Spec: https://platform.openai.com/docs/api-reference/chat/create
 */
import { parseJson } from '../wire/json.ts'
import { eventReader } from '../wire/sse.ts'
import { defineAgent } from '../core/agent.ts'
import { Clock } from '../core/clock.ts'
import { isRecord } from '../core/content.ts'
import { requireString, show } from '../core/define.ts'
import { Fault } from '../core/fault.ts'
import type { Agent } from '../core/agent.ts'
import type { Piece } from '../core/answer.ts'
import type { Call } from '../core/call.ts'

/** What `openaiAgent` takes. */
export interface OpenaiOptions {
  /** Left out: `Assistant`. */
  readonly name?: string | undefined
  /** Left out: a sentence that names the model. */
  readonly description?: string | undefined
  /** Where `/chat/completions` lies, http or https. Left out: `https://api.openai.com/v1`. */
  readonly baseUrl?: string | undefined
  /** Sent as a bearer token. Left out or empty: no `Authorization` header. */
  readonly apiKey?: string | undefined
  /** Left out: `gpt-6-luna`. */
  readonly model?: string | undefined
  /** The system message. Where it is given, a caller's own system messages count as the caller's words. */
  readonly instructions?: string | undefined
  /** Left out: the model's own; some models take no other. */
  readonly temperature?: number | undefined
  /** Tokens of one answer, at most. Left out: the model's own limit. */
  readonly maxTokens?: number | undefined
  /** Further headers; they win over those that are sent anyway. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Further members of the request; they win over all but `messages`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /** Milliseconds in which the endpoint may be silent. Left out: 60 000. `fetch` itself allows 300 000. */
  readonly idleMs?: number | undefined
}

/** The options, made ready once. */
type Model = ReturnType<typeof modelOf>
/** The next piece of a reply, undefined at its end. */
type Read = (limitMs: number) => Promise<string | undefined>

/** Characters of one event, or of a reply that is no stream. */
const MAX_LENGTH = 4 * 1024 * 1024
const MAX_DEPTH = 64
/** How far the stream may go on behind the end of the answer; read to its end, the connection is kept. */
const TAIL_MS = 1_000
const TAIL_READS = 16
const TOO_MUCH = 'sent more than is read'
const CUT_OFF = 'broke off its answer'
const TOKENS = /\bBearer\s+\S+|\b(?:sk|pk|gsk|hf|xai)[-_][\w*-]{8,}/gi

/**
 * An agent that is answered by a model. What the model withholds is `rejected`; what goes wrong is a `Fault`:
 * `busy` for 429, `timeout` after `idleMs` of silence, else `failed`. Pictures of the present message are
 * sent along, its other files are not. Throws `TypeError` for options that cannot work, never showing a key.
 */
export function openaiAgent(options: OpenaiOptions = {}): Agent {
  const model = modelOf(options)
  return defineAgent({
    name: options.name ?? 'Assistant',
    description: options.description ?? `Answers with the model ${model.name}.`,
    run: (prompt, call) => converse(model, prompt, call),
  })
}

function modelOf({ baseUrl = 'https://api.openai.com/v1', idleMs = 60_000, ...options }: OpenaiOptions) {
  const name = requireString('openaiAgent', 'model', options.model ?? 'gpt-6-luna')
  if (typeof idleMs !== 'number' || !(idleMs > 0)) {
    throw new TypeError(`openaiAgent has idleMs ${show(idleMs)}; write milliseconds above zero, or Infinity`)
  }
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    // What was written is not shown: it may hold a password, or be a key in the wrong place.
    throw new TypeError(`openaiAgent needs a baseUrl as in 'http://127.0.0.1:11434/v1', without a password`)
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`
  const key = options.apiKey?.trim() ?? ''
  const secrets = key === '' ? [] : [key]
  const headers = new Headers({ 'content-type': 'application/json' })
  const further = { ...key !== '' && { authorization: `Bearer ${key}` }, ...options.headers }
  for (const [header, value] of Object.entries(further)) {
    // Checked here, because the errors of headers and of fetch show the value.
    if (typeof value !== 'string' || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw new TypeError(`openaiAgent needs a text without line breaks as the header ${show(header)}`)
    }
    headers.set(header, value)
    secrets.push(...value.split(/\s+/).filter((word) => word.length >= 8))
  }
  // OpenAI's own models refuse the older name; many other endpoints pass over the newer one.
  const limit = /(?:^|\.)(?:openai|azure)\.com$/.test(url.hostname) ? 'max_completion_tokens' : 'max_tokens'
  const { instructions, temperature, maxTokens, body } = options
  const request = { model: name, temperature, [limit]: maxTokens, stream: true, ...body }
  return { name, url, headers, request, instructions, idleMs, secrets }
}

async function* converse(model: Model, prompt: string, call: Call): AsyncGenerator<Piece> {
  const request = new AbortController()
  const signal = AbortSignal.any([call.signal, request.signal])
  const clock = new Clock()
  // Only waiting counts: a caller that reads slowly is not the endpoint's silence.
  const wait = <T>(limitMs: number, coming: Promise<T>): Promise<T> => {
    clock.limit(limitMs, () => request.abort(failure(model, `was silent for ${limitMs} ms`, '', 'timeout')))
    return coming.finally(() => clock.clear())
  }
  const body = JSON.stringify({ ...model.request, messages: messagesOf(model, prompt, call) })
  try {
    // A redirect is not followed: it would carry the prompt, and keys in further headers, to another host.
    const { url, headers } = model
    const sent = fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    const response = await wait(model.idleMs, sent).catch(() => { throw failure(model, 'cannot be reached') })
    const reader = response.body?.getReader()
    const decoder = new TextDecoder()
    const read: Read = async (limitMs) => {
      const step = reader === undefined ? undefined : await wait(limitMs, reader.read())
      return step === undefined || step.done ? undefined : decoder.decode(step.value, { stream: true })
    }
    if (!response.ok) throw await refusalOf(model, response.status, read)
    yield* answer(model, read, /^application\/json\b/i.test(response.headers.get('content-type') ?? ''))
  } catch (error) {
    // What a read fails with after an abort is an accident; why it was aborted is the reason.
    if (signal.aborted) throw signal.reason
    throw error instanceof Fault ? error : failure(model, error instanceof RangeError ? TOO_MUCH : CUT_OFF)
  } finally {
    request.abort()
  }
}

function messagesOf({ instructions }: Model, prompt: string, call: Call): readonly object[] {
  const pictures = call.message.flatMap((block) => block.type !== 'image' ? []
    : [{ type: 'image_url', image_url: { url: `data:${block.mimeType};base64,${block.data}` } }])
  const content = pictures.length === 0 ? prompt : [{ type: 'text', text: prompt }, ...pictures]
  if (instructions === undefined) return [...call.history, { role: 'user', content }]
  const earlier = call.history.map((message) => message.role === 'system' ? { ...message, role: 'user' } : message)
  return [{ role: 'system', content: instructions }, ...earlier, { role: 'user', content }]
}

async function* answer(model: Model, read: Read, isWhole: boolean): AsyncGenerator<Piece> {
  let fresh = ''
  let isHeard = false
  let isOver = isWhole
  let isRefused = false
  const take = (json: string, isError = false): void => {
    const choice = choiceIn(model, json, isError)
    if (choice === undefined) return
    const { finish_reason: finish, delta, message } = choice
    const { content, refusal } = isRecord(delta) ? delta : isRecord(message) ? message : {}
    fresh += textIn(content) + textIn(refusal)
    isHeard = true
    isOver ||= typeof finish === 'string' && finish !== ''
    isRefused ||= finish === 'content_filter' || finish === 'refusal' || Boolean(refusal)
  }
  const feed = eventReader(({ event, data }) => {
    if (data.trim() === '[DONE]') isOver = true
    else if (data.trim() !== '') take(data, event === 'error')
  }, MAX_LENGTH)
  if (isWhole) take(await bodyOf(model, read))
  for (let left = TAIL_READS; left > 0; left -= Number(isOver)) {
    if (fresh !== '') yield fresh
    fresh = ''
    const chunk = await (isOver ? read(TAIL_MS).catch(() => undefined) : read(model.idleMs))
    if (chunk === undefined) break
    feed(chunk)
  }
  // Some endpoints leave out the finish reason, some the last event; an answer without both was cut off.
  if (!isHeard || !isOver) throw failure(model, isHeard ? CUT_OFF : 'gave no answer')
  if (isRefused) yield { state: 'rejected' }
}

/** The choice in one event, or in a whole reply; undefined where there is none, as in a count of tokens. */
function choiceIn(model: Model, json: string, isError: boolean): Record<string, unknown> | undefined {
  const parsed = parseJson(json, MAX_DEPTH)
  if (!parsed.ok || !isRecord(parsed.value)) throw failure(model, 'sent what cannot be read')
  const { error = null, object, choices } = parsed.value
  if (isError || error !== null || object === 'error') throw failure(model, 'failed', parsed.value)
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isRecord(choice) ? choice : undefined
}

/** A text, or the text in a list of parts, as some endpoints send it beside a model's thoughts. */
function textIn(value: unknown): string {
  if (!Array.isArray(value)) return typeof value === 'string' ? value : ''
  return value.map((part: unknown) => isRecord(part) ? textIn(part['text']) : '').join('')
}

async function bodyOf(model: Model, read: Read): Promise<string> {
  let body = ''
  for (let chunk = await read(model.idleMs); chunk !== undefined; chunk = await read(model.idleMs)) {
    body += chunk
    if (body.length > MAX_LENGTH) throw failure(model, TOO_MUCH)
  }
  return body
}

async function refusalOf(model: Model, status: number, read: Read): Promise<Fault> {
  // What is said of a key may hold the key, half masked in somebody else's way.
  if (status === 401 || status === 403) return failure(model, 'refused the key')
  const parsed = parseJson(await bodyOf(model, read).catch(() => ''), MAX_DEPTH)
  const body = parsed.ok ? parsed.value : undefined
  if (status === 404) return failure(model, `was not found under the name '${model.name}'`, body)
  if (status === 429) return failure(model, 'is busy', body, 'busy')
  return failure(model, `${status >= 500 ? 'failed' : 'refused the request'} (${status})`, body)
}

/** `body` is what the endpoint said: `{ error: { message } }`, or what is sent in its place. */
function failure(model: Model, what: string, body?: unknown, kind: Fault['kind'] = 'failed'): Fault {
  const [value]: readonly unknown[] = [body].flat()
  const error = isRecord(value) ? value['error'] ?? value : undefined
  const said = isRecord(error) ? error['message'] ?? error['detail'] : error
  const masked = model.secrets.reduce((text, secret) => text.replaceAll(secret, '***'), textIn(said))
  const line = masked.replace(TOKENS, '***').replace(/[\s\p{C}]+/gu, ' ').trim()
  const why = line === '' ? '' : `: ${line.replace(/^(.{200}).+$/u, '$1…')}`
  return new Fault(kind, `The model at ${model.url.origin} ${what}${why}`)
}
