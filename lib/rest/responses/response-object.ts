/**
 * The response object and its items, as JSON values.
 * Spec: Open Responses 2026-04-24, ResponseResource.
 */
import { randomUuid } from '../../wire/random.ts'
import type { MadeToolCall } from '../../define/client-tool.ts'
import type { Usage } from '../../define/event.ts'
import type { ResponseItem, ResponseRequest } from './response-input.ts'

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled'

/** What is known of a response: from its beginning, and at its end. */
export interface ResponseFacts {
  readonly id: string
  readonly request: ResponseRequest
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly status: ResponseStatus
  readonly output?: readonly ResponseItem[] | undefined
  readonly error?: { readonly code: string; readonly message: string } | undefined
  readonly usage?: object | undefined
}

/** An id as OpenAI spells them. */
export function idFor(prefix: string): string {
  return `${prefix}_${randomUuid().replaceAll('-', '')}`
}

export function responseOf(
  { id, request, createdAt, status, output = [], error, usage }: ResponseFacts,
): ResponseItem {
  const { body, isBackground, isStored, metadata, model, previousId, instructions } = request
  const number = (name: string, usual: number | null): unknown => (
    typeof body[name] === 'number' ? body[name] : usual
  )
  const text = (name: string): unknown => typeof body[name] === 'string' ? body[name] : null
  return {
    id, object: 'response', created_at: createdAt,
    completed_at: status === 'completed' ? secondsNow() : null,
    status, incomplete_details: null, model,
    previous_response_id: previousId ?? null, instructions: instructions ?? null,
    output, error: error ?? null,
    tools: toolsOf(body['tools']), tool_choice: body['tool_choice'] ?? 'auto',
    truncation: 'disabled', parallel_tool_calls: body['parallel_tool_calls'] !== false,
    text: { format: formatOf(body['text']) },
    top_p: number('top_p', 1), temperature: number('temperature', 1),
    presence_penalty: number('presence_penalty', 0), frequency_penalty: number('frequency_penalty', 0),
    top_logprobs: number('top_logprobs', 0), max_output_tokens: number('max_output_tokens', null),
    max_tool_calls: number('max_tool_calls', null),
    reasoning: null, user: text('user'), usage: usage ?? null,
    store: isStored, background: isBackground, service_tier: 'default', metadata: metadata ?? {},
    safety_identifier: text('safety_identifier'), prompt_cache_key: text('prompt_cache_key'),
  }
}

export function secondsNow(): number {
  return Math.floor(Date.now() / 1_000)
}

/** Tools as they came, with what a client may leave out. */
function toolsOf(tools: unknown): readonly unknown[] {
  return Array.isArray(tools) ? tools.map((tool: ResponseItem) => (
    { description: null, parameters: null, strict: null, ...tool }
  )) : []
}

function formatOf(text: unknown): unknown {
  const format = typeof text === 'object' && text !== null ? Reflect.get(text, 'format') : undefined
  return format ?? { type: 'text' }
}

export function usageOf(usage: Usage): object {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage
  return {
    input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}

/** Counts that were estimated, which `estimated` says. */
export function estimatedUsage(inputTokens: number, outputTokens: number): object {
  return { ...usageOf({ inputTokens, outputTokens }), estimated: true }
}

export function textPart(text: string): ResponseItem {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

export function refusalPart(refusal: string): ResponseItem {
  return { type: 'refusal', refusal }
}

export function messageItem(id: string, content: readonly ResponseItem[], isDone: boolean): ResponseItem {
  return { type: 'message', id, status: isDone ? 'completed' : 'in_progress', role: 'assistant', content }
}

export function reasoningItem(id: string, text: string): ResponseItem {
  return { type: 'reasoning', id, summary: [], content: [reasoningPart(text)] }
}

export function reasoningPart(text: string): ResponseItem {
  return { type: 'reasoning_text', text }
}

/** `written`: its arguments, as far as they are there. */
export function callItem(
  id: string, { id: callId, name }: MadeToolCall, written: string, isDone: boolean,
): ResponseItem {
  const status = isDone ? 'completed' : 'in_progress'
  return { type: 'function_call', id, call_id: callId, name, arguments: written, status }
}
