/**
 * The options of `openaiAgent`, checked once and made ready for its requests. Knows nothing of replies.
 * Nothing that is thrown here shows a key.
 * Spec: https://platform.openai.com/docs/api-reference/chat/create
 */
import { requireDefinition, requireString, show } from '../core/define.ts'
import { quietly, stderrLog } from '../core/log.ts'
import { defineTool } from '../core/tool.ts'
import type { Log } from '../core/log.ts'
import type { ToolLike } from '../core/subject.ts'
import type { Tool } from '../core/tool.ts'

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
  /**
   * What the model may call, within the agent's call: with the caller's scopes, and for 60 000 ms each where
   * a tool has no `timeoutMs`. A dot in a name reaches the model as `_`. Left out: none.
   */
  readonly tools?: readonly ToolLike[] | undefined
  /** Rounds of calls in one answer; then the model is asked for its answer without any. Left out: 8. */
  readonly maxSteps?: number | undefined
  /** UTF-8 bytes of one result that the model gets to read, the rest is cut off. Left out: 65 536. */
  readonly maxToolResultBytes?: number | undefined
  /** Left out: the model's own; some models take no other. */
  readonly temperature?: number | undefined
  /** Tokens of one reply of the model, at most. Left out: the model's own limit. */
  readonly maxTokens?: number | undefined
  /** Further headers; they win over those that are sent anyway. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Further members of each request, `tool_choice` for one; they win over all but `messages`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /** Milliseconds in which the endpoint may be silent. Left out: 60 000. `fetch` itself allows 300 000. */
  readonly idleMs?: number | undefined
  /** Takes what callers are not told: why a model or tool failed. Left out: standard error; `false`: none. */
  readonly log?: Log | false | undefined
}

/** A model, made ready: what each request to it has in common, and what holds for its replies. */
export interface Model {
  readonly name: string
  readonly url: URL
  readonly headers: Headers
  readonly request: Readonly<Record<string, unknown>>
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

const known: Readonly<Record<keyof OpenaiOptions, true>> = {
  name: true, description: true, baseUrl: true, apiKey: true, model: true, instructions: true, tools: true,
  maxSteps: true, maxToolResultBytes: true, temperature: true, maxTokens: true, headers: true, body: true,
  idleMs: true, log: true,
}

/** Makes the options ready. Throws `TypeError` for those that cannot work. */
export function modelOf(options: OpenaiOptions): Model {
  requireDefinition('openaiAgent', options, `{ baseUrl: 'http://127.0.0.1:11434/v1', model: 'qwen3' }`)
  rejectUnknown('openaiAgent has no option', options, Object.keys(known))
  const { maxSteps = 8, maxToolResultBytes = 65_536, idleMs = 60_000, log = stderrLog } = options
  const name = requireString('openaiAgent', 'model', options.model ?? 'gpt-6-luna')
  requireCount('maxSteps', maxSteps)
  requireCount('maxToolResultBytes', maxToolResultBytes)
  if (typeof idleMs !== 'number' || !(idleMs > 0)) {
    throw new TypeError(`openaiAgent has idleMs ${show(idleMs)}; write milliseconds above zero, or Infinity`)
  }
  if (typeof log !== 'function' && log !== false) {
    throw new TypeError(`openaiAgent has log ${show(log)}; write (level, message, fields) => {}, or false`)
  }
  const url = urlOf(options.baseUrl ?? 'https://api.openai.com/v1')
  const tools = toolsOf(options.tools ?? [])
  const { instructions, temperature, maxTokens, body } = options
  if (tools.size > 0 && body !== undefined && Object.hasOwn(body, 'tools')) {
    throw new TypeError(`openaiAgent has tools in 'tools' and in 'body'; write them all in 'tools'`)
  }
  // OpenAI's own models refuse the older name; many other endpoints pass over the newer one.
  const limit = /(?:^|\.)(?:openai|azure)\.com$/.test(url.hostname) ? 'max_completion_tokens' : 'max_tokens'
  const functions = [...tools].map(([called, tool]) => functionOf(called, tool))
  const request = {
    model: name, temperature, [limit]: maxTokens, stream: true,
    ...functions.length > 0 && { tools: functions }, ...body,
  }
  return {
    name, url, ...headersOf(options), request, instructions, tools, maxSteps, maxToolResultBytes, idleMs,
    log: log === false ? () => {} : quietly(log),
  }
}

function urlOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    // What was written is not shown: it may hold a password, or be a key in the wrong place.
    throw new TypeError(`openaiAgent needs a baseUrl as in 'http://127.0.0.1:11434/v1', without a password`)
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`
  return url
}

function headersOf(options: OpenaiOptions): Pick<Model, 'headers' | 'secrets'> {
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
  return { headers, secrets }
}

/** The tools by the names that models know: chat completions allow no dots. */
function toolsOf(given: readonly ToolLike[]): ReadonlyMap<string, Tool> {
  if (!Array.isArray(given)) {
    throw new TypeError(`openaiAgent has tools ${show(given)}; write a list, as in { tools: [search] }`)
  }
  const tools = new Map<string, Tool>()
  for (const one of given) {
    const tool = defineTool(one)
    const name = tool.name.replaceAll('.', '_')
    if (tools.has(name)) {
      throw new TypeError(`openaiAgent has two tools that the model knows as '${name}'; rename one of them`)
    }
    tools.set(name, tool)
  }
  return tools
}

function functionOf(name: string, { description, input }: Tool): object {
  // OpenAI refuses the schema of an object that does not list its properties, be they none.
  return { type: 'function', function: { name, description, parameters: { properties: {}, ...input.json } } }
}

function requireCount(option: string, value: unknown): void {
  if (value === Infinity || (Number.isSafeInteger(value) && Number(value) > 0)) return
  const remedy = 'write a whole number above zero, or Infinity'
  throw new TypeError(`openaiAgent has ${option} ${show(value)}; ${remedy}`)
}

/** Throws `TypeError` for a name that is not known, and names the one that has most of its letters. */
function rejectUnknown(owner: string, given: object, known: readonly string[]): void {
  const stranger = Object.keys(given).find((name) => !known.includes(name))
  if (stranger === undefined) return
  const pairs = [...stranger.toLowerCase()].map((_letter, at) => stranger.slice(at, at + 2).toLowerCase())
  const likeness = (name: string): number => pairs.filter((pair) => name.toLowerCase().includes(pair)).length
    - Math.abs(name.length - stranger.length)
  const nearest = known.reduce((best, name) => likeness(name) > likeness(best) ? name : best)
  throw new TypeError(`${owner} '${stranger.slice(0, 60)}'; did you mean '${nearest}'?`)
}
