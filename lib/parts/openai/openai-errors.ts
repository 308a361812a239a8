/**
 * Errors for clients of OpenAI: `{ "error": { message, type, param, code } }`.
 *
 * Its own clients send a request again by themselves after 409 and 5xx. An agent that has failed is not to be
 * run again without being asked, so a header forbids it.
 * Spec: https://platform.openai.com/docs/guides/error-codes
 */
import { isRecord } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { requireScopes } from '../../kernel/define/principal.ts'
import { isName, sentenceWithin } from '../../kernel/wire/bounded.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { publicFailure, headersOf } from '../../floors/reply/reply.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Exchange, Refusal, Reply } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { ErrorForm, PublicFailure } from '../../floors/reply/reply.ts'

/** The codes that clients look for. */
const codes: ReadonlyMap<number, string> = new Map([
  [401, 'invalid_api_key'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [409, 'conflict'],
  [413, 'request_too_large'],
  [415, 'unsupported_media_type'],
  [429, 'rate_limit_exceeded'],
  [503, 'overloaded'],
  [504, 'timeout'],
])
const INVALID_PROMPT = 'invalid_prompt'
const DO_NOT_RETRY = { headers: ['x-should-retry', 'false'] }

/** The agent or group that is named as `model`. Throws `Fault('not-found')`, or `Fault('forbidden')`. */
export function requireModel(
  { catalog }: Service, id: string, { origin, basePath }: Exchange,
): Agent | Group {
  const agent = isName(id) ? catalog.runnable(id) : undefined
  if (agent !== undefined) {
    requireScopes(origin, agent.scopes)
    return agent
  }
  const remedy = `GET ${basePath}/v1/models lists those there are`
  const detail = { param: 'model', code: 'model_not_found' }
  throw new Fault('not-found', `The model '${id.slice(0, 60)}' does not exist; ${remedy}`, detail)
}

export function openaiRefusal({ status, detail, headers }: Refusal): Reply {
  const body = errorText(status, detail, undefined)
  const isFinal = status === 409 && headers === undefined
  return { status, type: JSON_TYPE, body, ...isFinal ? DO_NOT_RETRY : headers !== undefined && { headers } }
}

/** Anything thrown, as a reply. */
export function openaiFault(service: Service, thrown: unknown, requestId: string): Reply {
  const failure = publicFailure(service, thrown, requestId)
  const status = statusOf(failure)
  const isFinal = status === 409 || (status >= 500 && status !== 503)
  const headers = isFinal ? DO_NOT_RETRY : headersOf(failure)
  return { status, type: JSON_TYPE, body: failureText(failure), ...headers }
}

/** The errors of an endpoint. */
export const openaiErrors: ErrorForm = { refuse: openaiRefusal, failed: openaiFault }

export interface OpenaiFailure { readonly code: string; readonly message: string }

/**
 * What an object that failed shows of it. Clients ask again by themselves, but for a few codes: one of these
 * is for a request that nobody can answer.
 */
export function openaiFailure({ status, message }: PublicFailure): OpenaiFailure {
  const isWrong = status === 501 || (status < 500 && status !== 429)
  const code = isWrong ? INVALID_PROMPT : codes.get(status) ?? 'server_error'
  return { code, message: sentenceWithin(message) }
}

/**
 * The members of an `error` event of responses, and the brace at their end: older clients read them as
 * documented, newer ones read the `error` among them.
 */
export function openaiErrorEvent({ code, message }: OpenaiFailure): string {
  const error = { code, message, param: null }
  const [status = code === INVALID_PROMPT ? 400 : 500] = [...codes].find((one) => one[1] === code) ?? []
  return formatJson({ ...error, error: { type: typeOf(status), ...error } }).slice(1)
}

/** OpenAI has one status for what is wrong with a request. */
function statusOf({ status }: PublicFailure): number {
  return status === 422 ? 400 : status
}

/** The body of an error. */
export function failureText(failure: PublicFailure): string {
  const { kind, detail } = failure.fault
  return errorText(statusOf(failure), failure.message, kind === 'internal' ? undefined : detail)
}

function errorText(status: number, message: string, detail: unknown): string {
  const type = typeOf(status)
  const given = isRecord(detail) ? detail : {}
  const param = textOrNull(given['param'])
  const code = textOrNull(given['code']) ?? codes.get(status) ?? null
  return formatJson({ error: { message: sentenceWithin(message), type, param, code } })
}

function typeOf(status: number): string {
  return status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? sentenceWithin(value) : null
}
