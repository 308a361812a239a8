/**
 * Replies of plain HTTP: JSON, and faults and refusals as problem documents.
 */
import { isRecord } from '../../define/content.ts'
import { asFault, Fault, publicMessage, retryAfter } from '../../define/fault.ts'
import { isThenable } from '../../util/thenable.ts'
import { isWithin } from '../../wire/bounded.ts'
import { formatChallenge } from '../../wire/challenge.ts'
import { acceptance, JSON_TYPE } from '../../wire/media.ts'
import { problem, PROBLEM_JSON, problemReply } from '../../wire/problem.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import type { Usage } from '../../define/event.ts'
import type { FaultKind } from '../../define/fault.ts'
import type { Limits } from '../../define/limits.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'

const statuses: Readonly<Record<FaultKind, number>> = {
  'invalid': 422,
  'unauthenticated': 401,
  'forbidden': 403,
  'not-found': 404,
  'conflict': 409,
  'unsupported': 501,
  'too-large': 413,
  'busy': 503,
  'timeout': 504,
  'cancelled': 503,
  'failed': 500,
  'upstream': 502,
  'internal': 500,
}

/** The headers that a status requires. `realm` is the name of the server. */
export function headersOf(
  status: number, realm: string, retryAfter = '1',
): Pick<Reply, 'headers'> {
  if (status === 503) return { headers: ['Retry-After', retryAfter] }
  return status === 401 ? { headers: ['WWW-Authenticate', formatChallenge({ realm })] } : {}
}

/** A failure as text, its status, and the seconds after which to try again. */
export interface FailureText { readonly status: number; readonly text: string; readonly retryAfter: string }

export function json(value: unknown, status = 200, headers?: readonly string[]): Reply {
  return { status, type: JSON_TYPE, body: JSON.stringify(value), ...headers !== undefined && { headers } }
}

/** The text of a reply, where it is small enough. Throws `Fault('too-large')`. */
export function bounded(body: string, { maxResultBytes }: Limits, what = 'reply'): string {
  if (isWithin(body, maxResultBytes)) return body
  throw new Fault('too-large', `The ${what} is larger than ${maxResultBytes} bytes`)
}

/** What an author's code made, as a JSON reply. Throws `Fault('too-large')`. */
export function boundedJson(value: unknown, limits: Limits): Reply {
  return { status: 200, type: JSON_TYPE, body: bounded(JSON.stringify(value), limits, 'result') }
}

/** The tokens of a run, as replies have them. */
export function tokenCounts(usage: Usage): object {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage
  return {
    input_tokens: inputTokens, output_tokens: outputTokens,
    cached_input_tokens: cachedInputTokens, reasoning_tokens: reasoningTokens,
  }
}

/** The HTTP status of a fault. */
export function httpStatusOf({ kind }: Fault): number {
  return statuses[kind]
}

/** Anything thrown, as a `Fault`. A defect of a handler was logged where it ran; one of ours is here. */
export function loggedFault(service: Service, thrown: unknown, requestId: string): Fault {
  const fault = asFault(thrown)
  if (fault !== thrown) {
    service.log('error', 'A request could not be answered', { request: requestId, cause: thrown })
  }
  return fault
}

/** The problem document of anything thrown. The partial results of a group stand beside it. */
export function faultText(service: Service, thrown: unknown, requestId: string): FailureText {
  const fault = loggedFault(service, thrown, requestId)
  const { detail, kind } = fault
  const status = statuses[kind]
  const message = publicMessage(fault, requestId, service.exposeErrors)
  const textWith = (more?: Readonly<Record<string, unknown>>): FailureText => (
    { status, text: JSON.stringify(problem(status, message, requestId, more)), retryAfter: retryAfter(fault) }
  )
  // A defect shows nothing of itself.
  if (kind === 'internal' || detail === undefined) return textWith()
  try {
    return textWith(isRecord(detail) ? detail : { data: detail })
  } catch (cause) {
    service.log('error', 'The detail of a Fault is not JSON', { request: requestId, cause })
    return textWith()
  }
}

function faultReply(service: Service, thrown: unknown, requestId: string): Reply {
  const { status, text, retryAfter } = faultText(service, thrown, requestId)
  return { status, type: PROBLEM_JSON, body: text, ...headersOf(status, service.name, retryAfter) }
}

/** Answers one request. Anything that `work` throws, or rejects with, is answered by `asReply`. */
export function caught(
  service: Service, { origin }: Exchange, work: () => Reply | Promise<Reply>,
  asReply: (service: Service, thrown: unknown, requestId: string) => Reply = faultReply,
): Reply | Promise<Reply> {
  const failed = (error: unknown): Reply => asReply(service, error, origin.requestId)
  try {
    const reply = work()
    return isThenable(reply) ? reply.catch(failed) : reply
  } catch (error) {
    return failed(error)
  }
}

/** Whether a reply is whole or events, as `Accept` prefers; undefined: it accepts neither. */
export function wholeOrEvents(
  accept: string | undefined,
): typeof JSON_TYPE | typeof EVENT_STREAM | undefined {
  const wantsEvents = acceptance(accept, EVENT_STREAM)
  const wantsJson = acceptance(accept, JSON_TYPE)
  if (wantsEvents === 0 && wantsJson === 0) return undefined
  return wantsEvents > wantsJson ? EVENT_STREAM : JSON_TYPE
}

export function notAcceptable(requestId: string): Reply {
  return problemReply({
    status: 406, detail: `This path answers ${JSON_TYPE} or ${EVENT_STREAM}`, requestId,
  })
}

/**
 * A reply that stays the same for long: packed once, when the first client comes that accepts gzip. Its
 * headers must name `Accept-Encoding` in `Vary`.
 * Spec: RFC 9110 §12.5.3.
 */
export class PackedReply {
  readonly #whole: Reply
  readonly #body: string
  #packed: Reply | undefined

  constructor(reply: Omit<Reply, 'body'>, body: string) {
    this.#whole = { ...reply, body }
    this.#body = body
  }

  for(exchange: Exchange): Reply {
    if (!acceptsGzip(exchange.header('accept-encoding'))) return this.#whole
    return this.#packed ??= {
      ...this.#whole,
      headers: [...this.#whole.headers ?? [], 'Content-Encoding', 'gzip'],
      // Loaded here: most servers never need it.
      body: process.getBuiltinModule('node:zlib').gzipSync(this.#body, { level: 9 }),
    }
  }
}

/** Whether `Accept-Encoding` names gzip without refusing it. */
function acceptsGzip(accepted: string | undefined): boolean {
  return accepted !== undefined && /(?:^|,)\s*gzip\s*(?!;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)/i.test(accepted)
}
