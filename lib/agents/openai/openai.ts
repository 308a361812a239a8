/**
 * A model behind an OpenAI-compatible endpoint (OpenAI, Ollama, vLLM, LM Studio …) as an agent: options in,
 * its definition out. The code of its answers is loaded with the first request.
 * Spec: https://platform.openai.com/docs/api-reference/chat/create
 */
import { frameworks } from '../../adapters/frameworks.ts'
import { ownAgent } from '../../kernel/define/agent.ts'
import { isRecord } from '../../kernel/define/content.ts'
import { quietly, stderrLog } from '../../kernel/define/log.ts'
import { areNamedTools, defineTools } from '../../kernel/define/normalize-definitions.ts'
import {
  checkMembers, must, mustBeText, mustBeTimeout, requireDefinition, show, typed,
} from '../../kernel/define/validate.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import type { Agent } from '../../kernel/define/agent.ts'
import type { Piece } from '../../kernel/define/answer.ts'
import type { Call } from '../../kernel/define/call.ts'
import type { Log } from '../../kernel/define/log.ts'
import type { ForeignTools, ToolLike } from '../../kernel/define/normalize-definitions.ts'
import type { Tool } from '../../kernel/define/tool.ts'
import type { Checks } from '../../kernel/define/validate.ts'
import type { Model } from './openai-completion.ts'

/**
 * An agent whose answers come from a model. An answer that the model withholds is `rejected`; a failure is a
 * `Fault`: `busy` for 429, `timeout` after `idleMs` of silence, else `upstream`. Its cause and the log show
 * where and why, callers do not see that. The model gets the errors of tools. Pictures of the present message
 * are sent too, its other files are not. Its tool calls, with arguments and results, its reasoning and its
 * tokens are events of the call. Throws `TypeError` for options that cannot work.
 */
export function openaiAgent(options: OpenaiOptions = {}): Agent {
  const model = modelOf(options)
  const { name = 'Assistant', description = `Answers with the model ${model.name}.` } = options
  return ownAgent({
    name,
    description,
    run: (prompt, call) => answer(model, prompt, call),
  })
}

async function* answer(model: Model, prompt: string, call: Call): AsyncGenerator<Piece> {
  const { answerByModel } = await import('./openai-answer.ts')
  yield* answerByModel(model, prompt, call)
}

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
  /** The system message. Where it is given, system messages of a caller are sent as user messages. */
  readonly instructions?: string | undefined
  /**
   * What the model may call, with the scopes of the caller, and for 60 000 ms each where a tool has no
   * `timeoutMs`. A dot in a name is sent as `_`. A list, or tools by their names. Left out: none.
   */
  readonly tools?: readonly ToolLike[] | ForeignTools | undefined
  /** Rounds of calls in one answer; then the model must answer without any. Left out: 8. */
  readonly maxSteps?: number | undefined
  /** UTF-8 bytes of one result that are sent to the model, the rest is cut off. Left out: 65 536. */
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
  /** Gets what callers do not see: why a model or tool failed. Left out: standard error; `false`: none. */
  readonly log?: Log | false | undefined
}

/** The name of a header (RFC 9110 §5.1). */
const NAME = /^[\w!#$%&'*+.^\x60|~-]+$/

/** `Headers` and `Map` have no members of their own to read. */
const isBag = (value: unknown): boolean => isRecord(value) && !(Symbol.iterator in value)
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0
const isBound = (value: unknown): boolean => value === Infinity || isCount(value)
const isString = (value: unknown): boolean => typeof value === 'string'
const isText = (value: unknown): boolean => isString(value) && value !== ''

const TEXT = 'write a string that is not empty'
const COUNT = 'write a whole number above zero'

/** `typed`: what may hold a key is not shown. */
const checks: Checks<OpenaiOptions> = {
  name: must(isText, TEXT),
  description: mustBeText,
  // Checked by `urlOf`.
  baseUrl: true,
  apiKey: must(isString, 'write a string, or leave it out', typed),
  model: must(isText, TEXT),
  instructions: must(isText, `${TEXT}, or leave it out`),
  tools: must((value) => Array.isArray(value) || areNamedTools(value, frameworks),
    'write a list, as in { tools: [search] }'),
  maxSteps: must(isBound, `${COUNT}, or Infinity`),
  maxToolResultBytes: must(isBound, `${COUNT}, or Infinity`),
  temperature: must((value) => Number.isFinite(value) && Number(value) >= 0,
    'write a number, zero or above'),
  maxTokens: must(isCount, `${COUNT}, or leave it out`),
  headers: must(isBag, `write an object, as in { 'X-Team': 'blue' }`, typed),
  body: must(isBag, 'write an object, as in { seed: 7 }', typed),
  idleMs: mustBeTimeout,
  log: must((value) => typeof value === 'function' || value === false,
    'write (level, message, fields) => {}, or false'),
}

/** Throws `TypeError` for options that cannot work, without showing a key. */
export function modelOf(options: OpenaiOptions): Model {
  requireDefinition('openaiAgent', options, `{ baseUrl: 'http://127.0.0.1:11434/v1', model: 'qwen3' }`)
  checkMembers('openaiAgent', options, checks)
  const {
    baseUrl = 'https://api.openai.com/v1', model: name = 'gpt-6-luna', instructions, maxSteps = 8,
    maxToolResultBytes = 65_536, temperature, maxTokens, body, idleMs = 60_000, log = stderrLog,
  } = options
  requireJson(body)
  const url = urlOf(baseUrl)
  const tools = toolsOf(options.tools)
  if (tools.size > 0 && body !== undefined && Object.hasOwn(body, 'tools')) {
    throw new TypeError(`openaiAgent has tools in 'tools' and in 'body'; write them all in 'tools'`)
  }
  // OpenAI's own models refuse the older name; many other endpoints ignore the newer one.
  const limit = /(?:^|\.)(?:openai|azure)\.com$/.test(url.hostname) ? 'max_completion_tokens' : 'max_tokens'
  const functions = [...tools].map(([called, tool]) => functionOf(called, tool))
  const request = {
    model: name, temperature, [limit]: maxTokens, stream: true,
    ...functions.length > 0 && { tools: functions }, ...body,
  }
  const asksUsage = body?.['stream'] !== false && !Object.hasOwn(body ?? {}, 'stream_options')
  return {
    name, url, ...headersOf(options), request, asksUsage, instructions, tools, maxSteps,
    maxToolResultBytes, idleMs, log: log === false ? () => {} : quietly(log),
  }
}

/** The error does not show the body: it may hold a key. */
function requireJson(body: unknown): void {
  try {
    formatJson(body)
  } catch {
    throw new TypeError('openaiAgent has a body that JSON cannot represent; write plain values')
  }
}

function urlOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    // The value is not shown: it may hold a password, or be a key.
    throw new TypeError(`openaiAgent needs a baseUrl as in 'http://127.0.0.1:11434/v1', without a password`)
  }
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/chat/completions`
  return url
}

function headersOf(options: OpenaiOptions): Pick<Model, 'headers' | 'secrets'> {
  const key = options.apiKey?.trim() ?? ''
  const secrets = key === '' ? [] : [key]
  const headers = new Headers({ 'content-type': 'application/json' })
  const further = { ...key !== '' && { authorization: `Bearer ${key}` }, ...options.headers }
  for (const [header, value] of Object.entries(further)) {
    // Checked here, because the errors of Headers and of fetch show the value.
    if (!NAME.test(header)) {
      throw new TypeError(`openaiAgent has a header with a name that none may have; `
        + `write letters, digits and '-', as in { 'X-Team': 'blue' }`)
    }
    if (typeof value !== 'string' || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw new TypeError(`openaiAgent needs a text without line breaks as the header ${show(header)}`)
    }
    headers.set(header, value)
    secrets.push(...value.split(/\s+/).filter((word) => word.length >= 8))
  }
  return { headers, secrets }
}

/** The tools by the names that models know: chat completions allow no dots. */
function toolsOf(given: OpenaiOptions['tools']): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>()
  for (const tool of defineTools(given, frameworks)) {
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
