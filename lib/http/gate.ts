/**
 * From the head of a request to an exchange that an endpoint may answer, or to a refusal: guard, match,
 * authentication, 404 and 405, load, media type, length. Nothing of the body has been read before.
 *
 * Knows no socket: a listener, `server.fetch` and tests all arrive here. Every refusal behind the match
 * is written by the endpoint, in the form of its own door.
 */
import { parseMediaType } from '../wire/media.ts'
import { countHeader } from './head.ts'
import { parseTarget } from './router.ts'
import { refuse, Visit } from './visit.ts'
import type { Limits } from '../core/defaults.ts'
import type { Log } from '../core/log.ts'
import type { Principal } from '../core/principal.ts'
import type { Authenticate, AuthRequest } from './auth.ts'
import type { BodyBudget } from './body.ts'
import type { Endpoint, Head } from './exchange.ts'
import type { Guard } from './guard.ts'
import type { Match, Router } from './router.ts'
import type { Arrival, VisitOptions } from './visit.ts'

/** What the gate goes by. */
export interface GateOptions extends VisitOptions {
  readonly name: string
  readonly router: Router
  readonly guard: Guard
  /** Undefined while nobody needs a key. */
  readonly authenticate: () => Authenticate | undefined
  readonly limits: Limits
  readonly budget: BodyBudget
  readonly log: Log
  readonly isDraining: () => boolean
}

/** The way in. Answers at once unless finding the principal takes a promise. */
export type Gate = (arrival: Arrival) => Visit | Promise<Visit>

/** Why a request is not let in: status, sentence, headers. */
type Objection = readonly [status: number, detail: string, headers?: readonly string[]]

const none: readonly string[] = Object.freeze([])

/** The sentence for a body that all bodies together leave no room for. */
export const NO_ROOM = 'Too many bodies are being read; try again later'

/** Makes the gate of one server. */
export function createGate(options: GateOptions): Gate {
  const { router, guard, limits, mountPath } = options
  const realm = `Bearer realm="${options.name.replace(/[^\x20-\x7e]|["\\]/g, '')}"`

  return (arrival) => {
    const visit = new Visit(arrival, options)
    const framing = framingObjection(visit, limits)
    if (framing !== undefined) return refuse(visit, ...framing)
    const match = locate(visit)
    if (match === undefined) return refuse(visit, 400, 'The path has an escape that is broken or not allowed')
    visit.endpoint = match.endpoint ?? fallback(visit, match)
    visit.params = match.params

    const isPublic = visit.endpoint?.open === 'public'
    const verdict = guard.check(visit.head, arrival.bind, isPublic)
    visit.corsHeaders = verdict.headers
    visit.hostIsListed = verdict.hostIsListed
    if (verdict.refused !== undefined) return refuse(visit, 403, verdict.refused)
    if (arrival.method === 'OPTIONS' && (match.allowed.length > 0 || arrival.target === '*')) {
      return preflight(visit, match, isPublic)
    }

    const authenticate = options.authenticate()
    if (authenticate === undefined || isOpen(match.endpoint, visit.path)) return admit(visit, match)
    return identify(visit, match, authenticate)
  }

  /** Finds the path below the mount path; undefined where it is malformed. */
  function locate(visit: Visit): Match | undefined {
    const { method, target } = visit.arrival
    const parsed = parseTarget(isAbsolute(target) ? originForm(target) : target)
    if (parsed === undefined) return undefined
    visit.query = parsed.query
    visit.path = parsed.path
    if (mountPath === '') return router.match(method, parsed.path)
    if (parsed.path === mountPath) visit.path = '/'
    else if (parsed.path.startsWith(`${mountPath}/`)) visit.path = parsed.path.slice(mountPath.length)
    else visit.path = '\0'
    return router.match(method, visit.path)
  }

  /** For a method that a path does not have, the form of the refusal is that of the path's door. */
  function fallback(visit: Visit, match: Match): Endpoint | undefined {
    const [first] = match.allowed
    return first === undefined ? undefined : router.match(first, visit.path).endpoint
  }

  function preflight(visit: Visit, match: Match, isPublic: boolean): Visit {
    const allowed = match.allowed.length > 0 ? match.allowed : ['GET', 'POST']
    const methods = [...allowed, 'OPTIONS']
    const headers = visit.head.origin === undefined ? undefined
      : guard.preflight(visit.head, isPublic, methods, visit.header('access-control-request-headers'))
    visit.corsHeaders = none
    visit.refusal = { status: 204, headers: headers ?? ['Allow', methods.join(', ')] }
    return visit
  }

  function identify(visit: Visit, match: Match, authenticate: Authenticate): Visit | Promise<Visit> {
    const enter = (principal: Principal | undefined): Visit => {
      if (principal === undefined) {
        const { authorization, apiKey } = visit.head
        const isGiven = authorization !== undefined || apiKey !== undefined
        const challenge = visit.endpoint?.challenge?.(isGiven) ?? realm
        const detail = 'A valid key is needed: send it as X-API-Key, or as Authorization: Bearer'
        return refuse(visit, 401, detail, ['WWW-Authenticate', challenge])
      }
      visit.principal = principal
      return admit(visit, match)
    }
    const broken = (error: unknown): Visit => {
      options.log('error', 'Authentication failed to run', { request: visit.requestId, cause: error })
      return refuse(visit, 500, `Internal error (request ${visit.requestId})`)
    }
    const { method, path } = visit
    const request: AuthRequest = { method, path, header: (name) => visit.header(name) }
    try {
      const principal = authenticate(visit.head, visit.query, request)
      return principal instanceof Promise ? principal.then(enter, broken) : enter(principal)
    } catch (error) {
      return broken(error)
    }
  }

  function admit(visit: Visit, match: Match): Visit {
    const { endpoint } = match
    if (endpoint === undefined) {
      const methods = match.allowed.join(', ')
      if (methods === '') return refuse(visit, 404, 'There is nothing at this path; GET / lists what is')
      return refuse(visit, 405, `This path answers ${methods}`, ['Allow', methods])
    }
    if (options.isDraining() && endpoint.always !== true) {
      return refuse(visit, 503, 'The server is closing down', ['Retry-After', '1'])
    }
    const objection = endpoint.accepts === undefined || visit.method === 'GET' || visit.method === 'HEAD'
      ? undefined : bodyObjection(visit.head, endpoint.accepts)
    return objection === undefined ? visit : refuse(visit, ...objection)
  }

  /** What is wrong with a body, as far as its headers tell. */
  function bodyObjection(head: Head, accepts: readonly string[]): Objection | undefined {
    const { contentLength, contentType, contentEncoding, transferEncoding } = head
    if (transferEncoding === undefined && (contentLength ?? '0') === '0') return undefined
    if (contentType !== accepts[0]) {
      const media = contentType === undefined ? undefined : parseMediaType(contentType)
      if (media === undefined || !accepts.includes(media.type)) {
        return [415, `The body must be ${accepts.join(' or ')}; set Content-Type to that`]
      }
      if (media.charset !== undefined && media.charset !== 'utf-8' && media.charset !== 'utf8') {
        return [415, `The body must be UTF-8, not ${media.charset.replace(/[^\w.-]/g, '?')}`]
      }
    }
    if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity') {
      return [415, 'The body must not be compressed']
    }
    if (contentLength === undefined) return undefined
    if (Number(contentLength) > limits.maxBodyBytes) return [413, tooLarge(limits)]
    return options.budget.fits(Number(contentLength)) ? undefined : [503, NO_ROOM, ['Retry-After', '1']]
  }
}

/** The sentence for a body over the limit. */
export function tooLarge(limits: Limits): string {
  return `The body is larger than ${limits.maxBodyBytes} bytes`
}

/** Whether no key is needed. What is well known is told to all, even that it is not there (RFC 8615). */
function isOpen(endpoint: Endpoint | undefined, path: string): boolean {
  if (endpoint === undefined) return path.startsWith('/.well-known/')
  return endpoint.open === true || endpoint.open === 'public'
}

function isAbsolute(target: string): boolean {
  return target.charCodeAt(0) !== 0x2f && /^https?:\/\//i.test(target)
}

/** The path and query of an absolute target; its path may be empty where that of an origin form is `/`. */
function originForm(target: string): string {
  const rest = target.replace(/^https?:\/\/[^/?#]*/i, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** What is wrong with the frame of a request that Node lets through. */
function framingObjection(visit: Visit, limits: Limits): Objection | undefined {
  const { arrival, head } = visit
  if (arrival.httpVersion !== '1.1' && arrival.httpVersion !== '1.0') {
    // A request that came by HTTP/2 has pseudo headers; on an HTTP/1 socket the number is only a claim.
    const isHttp2 = arrival.httpVersion === '2.0' && arrival.rawHeaders[0]?.startsWith(':') === true
    return isHttp2 ? undefined : [505, 'This server speaks HTTP/1.1']
  }
  if (arrival.rawHeaders.length > limits.maxHeaderLines * 2) {
    return [431, `More than ${limits.maxHeaderLines} header lines`]
  }
  if (head.host === undefined && arrival.httpVersion === '1.1') return [400, 'The Host header is missing']
  // Node takes the first of two Host lines; a proxy before it may have looked at the second.
  if (head.host?.includes(',') === true && countHeader(arrival.rawHeaders, 'host') > 1) {
    return [400, 'Two Host headers']
  }
  if (isAbsolute(arrival.target)) {
    const authority = /^https?:\/\/([^/?#]*)/i.exec(arrival.target)?.[1] ?? ''
    // RFC 9112 §3.2.2: the authority of the target is the host; a Host line that names another is an attack.
    if (head.host !== undefined && head.host.toLowerCase() !== authority.toLowerCase()) {
      return [400, 'The request target and the Host header name two hosts']
    }
  }
  return undefined
}
