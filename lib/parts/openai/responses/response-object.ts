/**
 * The response object as JSON text, and its items as values.
 * Spec: Open Responses 2026-04-24, ResponseResource.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { formatJson, quote } from '../../../kernel/wire/json.ts'
import { randomId } from '../../../kernel/wire/random.ts'
import type { MadeToolCall } from '../../../floors/answers/tool-calls.ts'
import type { Usage } from '../../../kernel/define/event.ts'
import type { ResponseItem, ResponseRequest } from './response-input.ts'

/** How a response stands. */
export interface ResponseFacts {
  readonly status: 'in_progress' | 'completed' | 'failed' | 'cancelled'
  readonly output?: readonly ResponseItem[] | undefined
  readonly error?: { readonly code: string; readonly message: string } | undefined
  readonly usage?: object | undefined
  /** False: it could not be kept. */
  readonly isStored?: boolean
}

const ID_BYTES = 16

/** An id as OpenAI spells them. */
export function idFor(prefix: string): string {
  return `${prefix}_${randomId(ID_BYTES, 'hex')}`
}

/**
 * `createdAt`: seconds since 1970. Written by hand: `JSON.stringify` of its thirty members takes a tenth of a
 * request.
 */
export function formatResponse(
  id: string, request: ResponseRequest, createdAt: number, facts: ResponseFacts,
): string {
  const { status, output = [], error, usage, isStored = request.isStored } = facts
  const { body, isBackground, metadata, model, previousId, instructions } = request
  const [settings, labels] = isPlain(body) ? noSettings : settingsIn(body)
  return `{"id":"${id}","object":"response","created_at":${createdAt},`
    + `"completed_at":${status === 'completed' ? secondsNow() : null},"status":"${status}",`
    + `"incomplete_details":null,"model":${quote(model)},"previous_response_id":${textOrNull(previousId)},`
    + `"instructions":${textOrNull(instructions)},"output":${formatJson(output)},`
    + `"error":${error === undefined ? null : formatJson(error)},${settings},`
    + `"usage":${usage === undefined ? null : formatJson(usage)},"store":${isStored},`
    + `"background":${isBackground},"service_tier":"default","access_programs":null,`
    + `"metadata":${metadata === undefined ? '{}' : formatJson(metadata)},${labels}}`
}

function textOrNull(text: string | undefined): string {
  return text === undefined ? 'null' : quote(text)
}

/** A response as it was before its end. */
export function begunOf(response: ResponseItem): ResponseItem {
  return {
    ...response, status: 'in_progress', completed_at: null, output: [], error: null, usage: null,
  }
}

/** Members of a request that are no settings. */
const plain: ReadonlySet<string> = new Set([
  'model', 'input', 'stream', 'store', 'background', 'instructions', 'previous_response_id', 'metadata',
])

function isPlain(body: ResponseItem): boolean {
  for (const name in body) if (!plain.has(name)) return false
  return true
}

/** The settings of a request as members in JSON: those before its usage, and those at the end. */
function settingsIn(body: ResponseItem): readonly [settings: string, labels: string] {
  const number = (name: string, usual: number | null): unknown => (
    typeof body[name] === 'number' ? body[name] : usual
  )
  const text = (name: string): unknown => typeof body[name] === 'string' ? body[name] : null
  const settings = {
    tools: toolsOf(body['tools']), tool_choice: body['tool_choice'] ?? 'auto',
    truncation: text('truncation') ?? 'disabled', parallel_tool_calls: body['parallel_tool_calls'] !== false,
    text: textSettings(body['text']),
    top_p: number('top_p', 1), temperature: number('temperature', 1),
    presence_penalty: number('presence_penalty', 0), frequency_penalty: number('frequency_penalty', 0),
    reasoning: isRecord(body['reasoning']) ? body['reasoning'] : null,
    top_logprobs: number('top_logprobs', 0), max_output_tokens: number('max_output_tokens', null),
    max_tool_calls: number('max_tool_calls', null), user: text('user'),
  }
  const labels = {
    safety_identifier: text('safety_identifier'), prompt_cache_key: text('prompt_cache_key'),
  }
  return [formatJson(settings).slice(1, -1), formatJson(labels).slice(1, -1)]
}

const noSettings = settingsIn({})

export function secondsNow(): number {
  return Math.floor(Date.now() / 1_000)
}

/** Tools as they came, with what a client may leave out; functions in the form of this face. */
function toolsOf(tools: unknown): readonly unknown[] {
  return Array.isArray(tools) ? tools.map((tool: ResponseItem) => {
    if (tool['type'] !== 'function') return tool
    const { function: called, ...flat } = tool
    return { description: null, parameters: null, strict: null, ...flat, ...isRecord(called) && called }
  }) : []
}

function textSettings(text: unknown): object {
  const { format, verbosity } = isRecord(text) ? text : {}
  return { format: format ?? { type: 'text' }, ...typeof verbosity === 'string' && { verbosity } }
}

/** `isEstimated`: nobody has counted them. */
export function usageOf(usage: Usage, isEstimated = false): object {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage
  return {
    input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens, cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    estimated: isEstimated ? true : undefined,
  }
}

export function textPart(text: string): ResponseItem {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

export function refusalPart(refusal: string): ResponseItem {
  return { type: 'refusal', refusal }
}

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export function messageItem(id: string, content: readonly ResponseItem[], status: ItemStatus): ResponseItem {
  return { type: 'message', id, status, role: 'assistant', content }
}

/** `text`: undefined while none of it is there. */
export function reasoningItem(id: string, text: string | undefined, status: ItemStatus): ResponseItem {
  const [summary, content] = text === undefined ? [[], []] : [[summaryPart(text)], [reasoningPart(text)]]
  return { type: 'reasoning', id, status, summary, content }
}

export function summaryPart(text: string): ResponseItem {
  return { type: 'summary_text', text }
}

export function reasoningPart(text: string): ResponseItem {
  return { type: 'reasoning_text', text }
}

/** An item that a client has sent, with what it may have left out. */
export function listedItem(item: ResponseItem): ResponseItem {
  const { type = 'message', content, role, output } = item
  const said = role === 'assistant' ? 'output_text' : 'input_text'
  const parts = typeof content === 'string' ? [{ type: said, text: content }] : content
  return {
    status: 'completed', ...item, type,
    ...Array.isArray(parts) && { content: parts.map(wholePart) },
    ...Array.isArray(output) && { output: output.map(wholePart) },
  }
}

function wholePart(part: unknown): unknown {
  if (!isRecord(part)) return part
  if (part['type'] === 'input_image') return { detail: 'auto', ...part }
  return part['type'] === 'output_text' ? { ...textPart(''), ...part } : part
}

/** A call by the name that the client knows, which may be one of a namespace. */
export interface NamespacedCall extends MadeToolCall { readonly namespace?: string }

/** `written`: its arguments, as far as they are there. */
export function callItem(
  id: string, { id: callId, name, namespace }: NamespacedCall, written: string, isDone: boolean,
): ResponseItem {
  const status = isDone ? 'completed' : 'in_progress'
  return {
    type: 'function_call', id, call_id: callId, name, ...namespace !== undefined && { namespace },
    arguments: written, status,
  }
}
