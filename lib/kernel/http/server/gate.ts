/**
 * From the head of a request to an exchange for its endpoint, or to a refusal: guard, match, authentication,
 * 404 and 405, load, media type, length. Nothing of the body is read before. Knows no socket. Each refusal
 * after the match is written by the endpoint, in the form of its protocol.
 */
import { minutely } from '../../util/clock.ts'
import { andThen, caught } from '../../util/thenable.ts'
import { oneMediaType } from '../../wire/media.ts'
import { isAtOrBelow } from '../../wire/uri.ts'
import { isSameHost } from '../message/address.ts'
import { Unavailable } from '../access/auth.ts'
import { ReaderCheck } from '../stream/reader-check.ts'
import { FailedIdentifications } from '../access/rate.ts'
import { parseTarget, withoutSlash } from '../message/router.ts'
import { objectionToBody } from './body.ts'
import { HttpRequest, refuseRequest } from './request.ts'
import type { KernelLimits } from '../../define/limits.ts'
import type { Log } from '../../define/log.ts'
import type { Principal } from '../../define/principal.ts'
import type { Authenticator } from '../access/auth.ts'
import type { Dismissal, Endpoint, Objection, Overuse } from '../message/exchange.ts'
import type { Guard } from '../access/guard.ts'
import type { Match, Routing } from '../message/router.ts'
import type { BodyBudget } from './body.ts'
import type { Observer } from './observer.ts'
import type { RequestHead, RequestOptions } from './request.ts'

/** What changes while a server runs. */
export interface ServerState {
  /** Undefined while no key is needed. */
  authenticator: Authenticator | undefined
  isDraining: boolean
}

export interface GateOptions extends RequestOptions {
  readonly router: Routing
  readonly state: Readonly<ServerState>
  /** The path whose GET lists what is served, below where that is. */
  readonly listing: string
  /** Beginnings of sentences for paths of protocols that are not served. */
  readonly absent?: ReadonlyMap<string, string>
  readonly budget: BodyBudget
  readonly limits: KernelLimits
  readonly log: Log
}

/** What the requests of one server share. */
export interface Means extends GateOptions {
  readonly gate: Gate
  readonly observer: Observer
}

/** Returns at once unless the principal needs a promise. */
export type Gate = (incoming: RequestHead) => HttpRequest | Promise<HttpRequest>

/** RFC 8615: at the host, whatever the mount path is. */
const WELL_KNOWN = '/.well-known/'
const none: readonly string[] = Object.freeze([])

export function createGate(options: GateOptions): Gate {
  const { router, guard, limits, listing, log, mountPath, rateLimits, state } = options
  const failures = new FailedIdentifications(limits.maxFailedIdentifications, log)
  const seldom = minutely()

  return (incoming) => {
    const request = new HttpRequest(incoming, options)
    const framing = framingObjection(request, limits)
    if (framing !== undefined) return refuseRequest(request, ...framing)
    const match = locate(request, router, mountPath)
    if (match === undefined) {
      return refuseRequest(request, 400, 'The path has an escape that is broken or not allowed')
    }
    // For a method that a path does not have, the refusal has the form of the path's protocol.
    request.endpoint = match.endpoint ?? match.neighbor
    request.params = match.params

    const { authenticator } = state
    const open = request.endpoint?.open
    const verdict = guard.check(request.head, incoming.bind, open, authenticator !== undefined)
    request.corsHeaders = verdict.headers
    request.hostIsListed = verdict.hostIsListed
    if (verdict.refused !== undefined) return refuseRequest(request, ...verdict.refused)
    if (incoming.method === 'OPTIONS' && (match.allowed.length > 0 || incoming.target === '*')) {
      return preflight(request, match.allowed, guard, open === 'public')
    }

    if (authenticator === undefined || isOpen(match, request.path)) return admit(request, match)
    return identify(request, match, authenticator)
  }

  function identify(
    request: HttpRequest, match: Match, authenticator: Authenticator,
  ): HttpRequest | Promise<HttpRequest> {
    return caught(() => andThen(
      authenticator.find(request, () => failures.check(request.network)),
      (principal) => enter(request, match, principal, authenticator),
    ), (error) => broken(request, error))
  }

  function enter(
    request: HttpRequest, match: Match, principal: Principal | undefined, authenticator: Authenticator,
  ): HttpRequest | Promise<HttpRequest> {
    if (principal === undefined) {
      // A request without a credential is no guess.
      const tooMany = request.hasCredential ? failures.count(request.network) : undefined
      if (tooMany !== undefined) return unavailable(request, tooMany)
      return refuseRequest(request, 401, authenticator.objection(request))
    }
    request.principal = principal
    request.isIdentified = true
    if (authenticator.asks) {
      request.readerCheck = new ReaderCheck(() => askAgain(request), performance.now())
    }
    return admit(request, match)
  }

  /** Whether the credential of an open stream is still good. No guess is counted. */
  async function askAgain(request: HttpRequest): Promise<Dismissal | undefined> {
    try {
      return request.renew(await state.authenticator?.find(request))
    } catch (cause) {
      // Each open stream would say the same.
      seldom(() => log('warning', 'Keys or tokens of open streams could not be checked again', { cause }))
      throw cause
    }
  }

  function broken(request: HttpRequest, error: unknown): HttpRequest {
    if (error instanceof Unavailable) return unavailable(request, error)
    log('error', 'Authentication failed to run', { request: request.requestId, cause: error })
    // Many libraries throw for a bad token: that is a guess like any other.
    const tooMany = failures.count(request.network)
    if (tooMany !== undefined) return unavailable(request, tooMany)
    return refuseRequest(request, 500, `Internal error (request ${request.requestId})`)
  }

  function unavailable(
    request: HttpRequest, { level, message, retryAfterSeconds, status }: Unavailable,
  ): HttpRequest {
    if (level !== undefined) log(level, message, { request: request.requestId })
    return refuseRequest(request, status, message, ['Retry-After', String(retryAfterSeconds)])
  }

  function admit(request: HttpRequest, match: Match): HttpRequest | Promise<HttpRequest> {
    const { endpoint } = match
    if (endpoint === undefined) {
      const methods = match.allowed.join(', ')
      const known = options.absent?.get(withoutSlash(request.path))
      const lists = `GET ${request.basePath}${listing} lists`
      const absent = known === undefined ? undefined : `${known}; ${lists} where`
      const nothing = `There is nothing at this path; ${lists} what is`
      if (methods === '') return refuseRequest(request, 404, absent ?? nothing)
      const answers = `This path answers ${methods}`
      const detail = absent === undefined ? answers : `${answers}: ${absent}`
      return refuseRequest(request, 405, detail, ['Allow', methods])
    }
    if (state.isDraining && endpoint.always !== true) {
      return refuseRequest(request, 503, 'The server is closing down', ['Retry-After', '1'])
    }
    if (rateLimits === undefined || request.method !== 'POST') return pass(request, endpoint, undefined)
    return andThen(request.take('call', 1), (overuse) => pass(request, endpoint, overuse))
  }

  function pass(request: HttpRequest, endpoint: Endpoint, overuse: Overuse | undefined): HttpRequest {
    if (overuse !== undefined) return refuseRequest(request, 429, overuse.detail, overuse.headers)
    const objection = request.takesBody ? bodyObjection(request, endpoint, options) : undefined
    return objection === undefined ? request : refuseRequest(request, ...objection)
  }
}

/** Finds the path below the mount path; undefined where it is malformed. */
function locate(request: HttpRequest, router: Routing, mountPath: string): Match | undefined {
  const { method, target } = request.incoming
  const parsed = parseTarget(target.startsWith('/') ? target : originForm(target))
  if (parsed === undefined) return undefined
  request.query = parsed.query
  request.path = parsed.path
  if (mountPath !== '') {
    if (isAtOrBelow(parsed.path, mountPath)) request.path = parsed.path.slice(mountPath.length) || '/'
    else if (!parsed.path.startsWith(WELL_KNOWN)) request.path = '\0'
  }
  return router(method, parsed.path)
}

function preflight(
  request: HttpRequest, allowed: readonly string[], guard: Guard, isPublic: boolean,
): HttpRequest {
  const methods = [...allowed.length > 0 ? allowed : ['GET', 'POST'], 'OPTIONS']
  const { head, incoming: { bind } } = request
  const asked = request.header('access-control-request-headers')
  const headers = head.origin === undefined ? undefined
    : guard.preflight(head, bind, isPublic, methods, asked)
  request.corsHeaders = none
  request.refusal = { status: 204, headers: headers ?? ['Allow', methods.join(', ')] }
  return request
}

/** What is wrong with a body, as far as its headers tell. */
function bodyObjection(
  request: HttpRequest, { accepts = none, bodyIsOptional }: Endpoint, { limits, budget, log }: GateOptions,
): Objection | undefined {
  const { head } = request
  const { contentLength, contentType, contentEncoding, transferEncoding } = head
  const mayBeEmpty = transferEncoding === undefined
    && (contentLength === undefined || contentLength === '0')
  const isLeftOut = bodyIsOptional === true && contentLength === '0' && mayBeEmpty
  const mayBeUnnamed = mayBeEmpty || bodyIsOptional === true
  if (contentType !== accepts[0] && !isLeftOut && !(mayBeUnnamed && contentType === undefined)) {
    const media = contentType === undefined ? undefined : oneMediaType(contentType)
    if (media === undefined || !accepts.includes(media.type)) {
      return [415, `The body must be ${accepts.join(' or ')}; set Content-Type to that`]
    }
    if (media.charset !== undefined && media.charset !== 'utf-8' && media.charset !== 'utf8') {
      return [415, `The body must be UTF-8, not ${media.charset.replace(/[^\w.-]/g, '?')}`]
    }
  }
  if (contentEncoding?.split(',').some((coding) => !/^(?:identity)?$/i.test(coding.trim())) === true) {
    return [415, 'The body must not be compressed']
  }
  if (transferEncoding !== undefined && transferEncoding.trim().toLowerCase() !== 'chunked') {
    // Node decodes chunks, and leaves other codings as they are.
    return [400, 'The transfer coding must be chunked alone']
  }
  if (contentLength === undefined) return undefined
  const why = Number(contentLength) > limits.maxBodyBytes ? 'too-large' : 'no-room'
  if (why === 'no-room' && budget.fits(request, Number(contentLength))) return undefined
  return objectionToBody(why, limits, log)
}

/** Whether no key is needed; also for unknown well-known paths (RFC 8615), and methods of what is public. */
function isOpen({ endpoint, neighbor }: Match, path: string): boolean {
  if (endpoint === undefined) return neighbor?.open === 'public' || path.startsWith(WELL_KNOWN)
  return endpoint.open !== undefined && endpoint.open !== false
}

const AUTHORITY = /^(https?):\/\/([^/?#]*)/i

function originForm(target: string): string {
  if (!AUTHORITY.test(target)) return target
  const rest = target.replace(AUTHORITY, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** What is wrong with the framing, where Node accepts it. */
function framingObjection(request: HttpRequest, limits: KernelLimits): Objection | undefined {
  const { incoming, head } = request
  if (incoming.httpVersion !== '1.1' && incoming.httpVersion !== '1.0') {
    return [505, 'This server speaks HTTP/1.1']
  }
  if (incoming.rawHeaders.length > limits.maxHeaderLines * 2) {
    return [431, `More than ${limits.maxHeaderLines} header lines`]
  }
  // RFC 9112 §6.1: a proxy may not have known of chunks, and have seen another end of the body.
  if (head.transferEncoding !== undefined && incoming.httpVersion === '1.0') {
    return [400, 'HTTP/1.0 has no Transfer-Encoding; send Content-Length, or HTTP/1.1']
  }
  if (head.host === undefined && incoming.httpVersion === '1.1') return [400, 'The Host header is missing']
  // Node takes the first of two Host lines; a proxy may have looked at the second.
  if (head.host?.includes(',') === true) {
    const names = incoming.rawHeaders.filter((_, at) => at % 2 === 0)
    if (names.filter((name) => name.toLowerCase() === 'host').length > 1) return [400, 'Two Host headers']
  }
  if (incoming.target.startsWith('/')) return undefined
  const [, scheme = '', authority] = AUTHORITY.exec(incoming.target) ?? []
  // RFC 9112 §3.2.2: the authority of the target is the host; a Host line that names another is an attack.
  if (authority === undefined || head.host === undefined) return undefined
  return isSameHost(head.host, authority, scheme.toLowerCase()) ? undefined
    : [400, 'The request target and the Host header name two hosts']
}
