/**
 * What the HTTP door says: replies as JSON, faults and refusals as problem documents.
 */
import { isRecord } from '../../define/content.ts'
import { asFault, Fault, publicMessage, retryAfter } from '../../define/fault.ts'
import { isThenable } from '../../util/thenable.ts'
import { isWithin } from '../../wire/bounded.ts'
import { formatChallenge } from '../../wire/challenge.ts'
import { acceptance, JSON_TYPE } from '../../wire/media.ts'
import { problem, PROBLEM_JSON } from '../../wire/problem.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
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

/** What a status asks for besides its document. `realm` is the name of the server. */
export function companionsOf(
  status: number, realm?: string, retryAfter = '1',
): readonly string[] | undefined {
  if (status === 503) return ['Retry-After', retryAfter]
  return status === 401 ? ['WWW-Authenticate', formatChallenge({ realm })] : undefined
}

/** A problem document as text, its status, and when to try again where that is known. */
export interface ProblemText {
  readonly status: number
  readonly text: string
  readonly retryAfter?: string | undefined
}

/** A value as a JSON reply. */
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

/** A problem document of this door's own. `more` must be JSON. */
export function problemText(
  status: number, detail: string, requestId: string, more?: Readonly<Record<string, unknown>>,
): ProblemText {
  return { status, text: JSON.stringify(problem(status, detail, requestId, more)) }
}

/** The HTTP status of a fault. */
export function httpStatusOf({ kind }: Fault): number {
  return statuses[kind]
}

/** Whatever was thrown, as a `Fault`. A defect of a handler was logged where it ran; one of ours is here. */
export function loggedFault(service: Service, thrown: unknown, requestId: string): Fault {
  const fault = asFault(thrown)
  if (fault !== thrown) {
    service.log('error', 'A request could not be answered', { request: requestId, cause: thrown })
  }
  return fault
}

/** The problem document of whatever was thrown. A group's partial results stand beside it. */
export function faultText(service: Service, thrown: unknown, requestId: string): ProblemText {
  const fault = loggedFault(service, thrown, requestId)
  const { detail, kind } = fault
  const said = publicMessage(fault, requestId, service.exposeErrors)
  // A defect shows nothing of itself.
  const shown = kind === 'internal' ? undefined : detail
  try {
    const more = shown === undefined || isRecord(shown) ? shown : { data: shown }
    return { ...problemText(statuses[kind], said, requestId, more), retryAfter: retryAfter(fault) }
  } catch (cause) {
    service.log('error', 'The detail of a Fault is not JSON', { request: requestId, cause })
    return problemText(statuses[kind], said, requestId)
  }
}

/** A problem document as a reply. */
export function problemTextReply({ status, text, retryAfter }: ProblemText, realm?: string): Reply {
  const headers = companionsOf(status, realm, retryAfter)
  return { status, type: PROBLEM_JSON, body: text, ...headers !== undefined && { headers } }
}

/** Whatever was thrown, as a reply. */
function faultReply(service: Service, thrown: unknown, requestId: string): Reply {
  return problemTextReply(faultText(service, thrown, requestId), service.name)
}

/** Does the work of one request. Whatever it throws, or rejects with, is answered by `asReply`. */
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

/** How a reply that may be whole or events goes: as `Accept` wants it more; undefined: it wants neither. */
export function wholeOrEvents(
  accept: string | undefined,
): typeof JSON_TYPE | typeof EVENT_STREAM | undefined {
  const wantsEvents = acceptance(accept, EVENT_STREAM)
  const wantsJson = acceptance(accept, JSON_TYPE)
  if (wantsEvents === 0 && wantsJson === 0) return undefined
  return wantsEvents > wantsJson ? EVENT_STREAM : JSON_TYPE
}

/** The refusal where `Accept` wants neither. */
export function notAcceptable(requestId: string): Reply {
  return problemTextReply(problemText(406, `This path answers ${JSON_TYPE} or ${EVENT_STREAM}`, requestId))
}

/** A reply in both forms. Its headers must name `Accept-Encoding` in `Vary`. */
export class PackedReply {
  readonly #whole: Reply
  readonly #body: string
  #packed: Reply | undefined

  constructor(reply: Omit<Reply, 'body'>, body: string) {
    this.#whole = { ...reply, body }
    this.#body = body
  }

  /** The form that a client takes. */
  for(exchange: Exchange): Reply {
    if (!takesGzip(exchange.header('accept-encoding'))) return this.#whole
    return this.#packed ??= {
      ...this.#whole,
      headers: [...this.#whole.headers ?? [], 'Content-Encoding', 'gzip'],
      // Loaded here: most servers are never asked for it.
      body: process.getBuiltinModule('node:zlib').gzipSync(this.#body, { level: 9 }),
    }
  }
}

/** Whether `Accept-Encoding` names gzip, and not as what is refused. */
function takesGzip(accepted: string | undefined): boolean {
  return accepted !== undefined && /(?:^|,)\s*gzip\s*(?!;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)/i.test(accepted)
}
