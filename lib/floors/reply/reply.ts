/** Endpoints of plain HTTP and their replies: JSON, and faults and refusals as problem documents. */
import { isRecord } from '../../kernel/define/content.ts'
import { Fault, publicMessage, retryAfter } from '../../kernel/define/fault.ts'
import { scopesIn } from '../../kernel/define/principal.ts'
import { shownFault } from '../../kernel/run/shown-fault.ts'
import { BoundedMap } from '../../kernel/util/bounded-map.ts'
import { andThen, isPromised } from '../../kernel/util/thenable.ts'
import { isWithin } from '../../kernel/wire/bounded.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { problem, PROBLEM_JSON, problemReply } from '../../kernel/wire/problem.ts'
import { EVENT_STREAM } from '../../kernel/wire/sse.ts'
import { parseJson } from '../bounds/parse-json.ts'
import { acceptance } from './acceptance.ts'
import type { Usage } from '../../kernel/define/event.ts'
import type { FaultKind } from '../../kernel/define/fault.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { Principal } from '../../kernel/define/principal.ts'
import type { Endpoint, Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'

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

/** What is refused with a status that no kind of fault has. */
class Refused extends Fault {
  readonly status: number

  constructor(status: number, message: string) {
    super('invalid', message)
    this.status = status
  }
}

/** Anything thrown, as clients are told of it. */
export interface PublicFailure { readonly fault: Fault; readonly status: number; readonly message: string }

/** The detail of the fault is JSON or none. */
export function publicFailure(service: Service, thrown: unknown, requestId: string): PublicFailure {
  const fault = shownFault(service, thrown, requestId)
  const status = fault instanceof Refused ? fault.status : statuses[fault.kind]
  return { fault, status, message: publicMessage(fault, requestId, service.exposeErrors) }
}

/** What the headers say of a failure. */
export function headersOf({ status, fault }: PublicFailure): Pick<Reply, 'headers' | 'neededScopes'> {
  if (status === 503) return { headers: ['Retry-After', retryAfter(fault)] }
  return status === 403 ? { neededScopes: scopesIn(fault) } : {}
}

/** The value of a body of JSON. Throws `Fault('invalid')`, which is 400. */
export function valueIn(body: string, { limits }: Service): unknown {
  const parsed = parseJson(body, limits.maxDepth, limits.maxObjects)
  if (parsed.ok) return parsed.value
  throw new Refused(400, parsed.why)
}

export function json(value: object, status = 200, headers?: readonly string[]): Reply {
  return { status, type: JSON_TYPE, body: formatJson(value), ...headers !== undefined && { headers } }
}

/** The text of a reply, where it is small enough. Throws `Fault('too-large')`. */
export function bounded(body: string, { maxResultBytes }: KernelLimits, what = 'reply'): string {
  if (isWithin(body, maxResultBytes)) return body
  throw new Fault('too-large', `The ${what} is larger than ${maxResultBytes} bytes`)
}

/** What an author's code made, as a JSON reply. Throws `Fault('too-large')`. */
export function boundedJson(value: object, limits: KernelLimits): Reply {
  return { status: 200, type: JSON_TYPE, body: bounded(formatJson(value), limits, 'result') }
}

/** The tokens of a run, as replies have them. */
export function tokenCounts(usage: Usage): object {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage
  return {
    input_tokens: inputTokens, output_tokens: outputTokens,
    cached_input_tokens: cachedInputTokens, reasoning_tokens: reasoningTokens,
  }
}

/** The problem document of a failure. The partial results of a group stand beside it. */
export function problemText(
  { fault: { detail }, status, message }: PublicFailure, requestId: string,
): string {
  const more = detail === undefined || isRecord(detail) ? detail : { data: detail }
  return formatJson(problem(status, message, requestId, more))
}

/** How clients are refused, and told of what was thrown. */
export interface ErrorForm extends Pick<Endpoint, 'refuse'> {
  failed(service: Service, thrown: unknown, requestId: string): Reply
}

const problems: ErrorForm = {
  refuse: problemReply,
  failed(service, thrown, requestId) {
    const failure = publicFailure(service, thrown, requestId)
    const body = problemText(failure, requestId)
    return { status: failure.status, type: PROBLEM_JSON, body, ...headersOf(failure) }
  },
}

export interface EndpointParts extends Omit<Endpoint, 'methods' | 'handle' | 'refuse'> {
  readonly method: string
  /** Throws, or rejects with, what is answered in the form of the errors. */
  readonly work: Endpoint['handle']
}

/** An endpoint of one method. */
export function endpoint(
  service: Service, { method, work, ...rest }: EndpointParts, { refuse, failed }: ErrorForm = problems,
): Endpoint {
  const { catalog } = service
  const isAgent: Endpoint['mayName'] = (params) => {
    const id = params.get('agent')
    return id === undefined || catalog.runnable(id) !== undefined
  }
  return {
    mayName: isAgent, ...rest, methods: [method], refuse,
    handle(exchange) {
      try {
        const reply = work(exchange)
        if (!isPromised(reply)) return reply
        return reply.catch((error: unknown) => failed(service, error, exchange.origin.requestId))
      } catch (error) {
        return failed(service, error, exchange.origin.requestId)
      }
    },
  }
}

/** Sets of scopes whose lists are kept. */
const MAX_VIEWS = 64

/** Answers with a list, which is made once for each set of scopes until the catalog changes. */
export function listHandler(
  { catalog }: Service, list: (principal: Principal) => object,
): Endpoint['handle'] {
  const kept = new BoundedMap<Reply>(MAX_VIEWS)
  catalog.onChange(() => kept.clear())
  return ({ origin: { principal } }) => {
    const view = catalog.viewOf(principal)
    let reply = kept.get(view)
    if (reply === undefined) {
      reply = json(list(principal))
      kept.set(view, reply)
    }
    return reply
  }
}

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

/** How many a page may have. `wrong` makes the fault. */
export function limitIn(asked: URLSearchParams, wrong: (demand: string) => Fault): number {
  const text = asked.get('limit')
  if (text === null) return DEFAULT_LIMIT
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_LIMIT) return limit
  throw wrong(`must be a whole number from 1 to ${MAX_LIMIT}`)
}

/** Counts as a call against the caller's rate, whatever the method. */
export function countedCall(exchange: Exchange, work: () => MaybePromise<Reply>): MaybePromise<Reply> {
  return andThen(exchange.take('call', 1), (overuse) => {
    if (overuse === undefined) return work()
    return problemReply({ status: 429, ...overuse, requestId: exchange.origin.requestId })
  })
}

/** Whether a reply is events, as `Accept` prefers. Throws a `Fault`, which is 406, where it wants neither. */
export function wantsEvents(accept: string | undefined): boolean {
  const [events, json] = [acceptance(accept, EVENT_STREAM), acceptance(accept, JSON_TYPE)]
  if (events > 0 || json > 0) return events > json
  throw new Refused(406, `This path answers ${JSON_TYPE} or ${EVENT_STREAM}`)
}
