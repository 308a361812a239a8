/**
 * From the head of a request to an exchange that an endpoint may answer, or to a refusal: guard, match,
 * authentication, 404 and 405, load, media type, length. Nothing of the body has been read before.
 *
 * Knows no socket: a listener, `server.fetch` and tests all arrive here. Every refusal behind the match
 * is written by the endpoint, in the form of its own door.
 */
import { randomBytes } from 'node:crypto'
import { anonymous } from '../core/principal.ts'
import { parseMediaType } from '../wire/media.ts'
import { problem, PROBLEM_JSON } from '../wire/problem.ts'
import { countHeader, findHeader, headersOf, readHead } from './head.ts'
import { parseTarget } from './router.ts'
import type { Origin } from '../core/call.ts'
import type { Limits } from '../core/defaults.ts'
import type { Log } from '../core/log.ts'
import type { Principal } from '../core/principal.ts'
import type { Authenticate, AuthRequest } from './auth.ts'
import type { BodyBudget } from './body.ts'
import type { Endpoint, Exchange, Head, Refusal, Reply } from './exchange.ts'
import type { Bind, Guard } from './guard.ts'
import type { Match, Router } from './router.ts'

/** The head of a request, as a transport hands it over. */
export interface Arrival {
  readonly method: string
  /** The request target as it came: origin form or absolute form. */
  readonly target: string
  readonly httpVersion: string
  readonly rawHeaders: readonly string[]
  readonly bind: Bind
  readonly secure: boolean
  readonly remoteAddress: string | undefined
  onGone(listener: () => void): void
}

/** What the gate goes by. */
export interface GateOptions {
  readonly name: string
  readonly router: Router
  readonly guard: Guard
  /** Undefined while nobody needs a key. */
  readonly authenticate: () => Authenticate | undefined
  readonly limits: Limits
  readonly budget: BodyBudget
  readonly log: Log
  /** '' or a path with a leading and no final `/`. */
  readonly mountPath: string
  readonly publicUrl: URL | undefined
  readonly trustProxy: boolean
  readonly isDraining: () => boolean
}

// Ids are unique, not secret: one random prefix per process and a count.
const idPrefix = randomBytes(5).toString('hex')
let idCount = 0
const REQUEST_ID = /^[\w.-]{1,128}$/
const none: readonly string[] = Object.freeze([])
const noParams: ReadonlyMap<string, string> = new Map()

/** One request on its way: the exchange that its endpoint sees, and the origin that its handler sees. */
export class Visit implements Exchange, Origin {
  readonly arrival: Arrival
  readonly head: Head
  path = ''
  query = ''
  params: ReadonlyMap<string, string> = noParams
  body = ''
  principal: Principal = anonymous
  endpoint: Endpoint | undefined
  /** Set where the answer is known already and no body is wanted. */
  refusal: Reply | undefined
  /** CORS headers for the reply. */
  corsHeaders: readonly string[] = none
  hostIsListed = false
  readonly #options: GateOptions
  #requestId: string | undefined
  #headers: ReadonlyMap<string, string> | undefined

  constructor(arrival: Arrival, options: GateOptions) {
    this.arrival = arrival
    this.head = readHead(arrival.rawHeaders)
    this.#options = options
  }

  get method(): string { return this.arrival.method }
  get origin(): Origin { return this }

  get requestId(): string {
    if (this.#requestId === undefined) {
      const given = this.head.requestId
      this.#requestId = given !== undefined && REQUEST_ID.test(given) ? given : `${idPrefix}-${(++idCount).toString(36)}`
    }
    return this.#requestId
  }

  get headers(): ReadonlyMap<string, string> {
    return this.#headers ??= headersOf(this.arrival.rawHeaders)
  }

  header(name: string): string | undefined {
    return findHeader(this.arrival.rawHeaders, name)
  }

  onGone(listener: () => void): void {
    this.arrival.onGone(listener)
  }

  get baseUrl(): string {
    const { publicUrl, mountPath, trustProxy } = this.#options
    if (publicUrl !== undefined) return publicUrl.href.replace(/\/$/, '') + mountPath
    const forwarded = trustProxy ? this.header('x-forwarded-host')?.split(',')[0]?.trim() : undefined
    const scheme = trustProxy ? this.header('x-forwarded-proto')?.split(',')[0]?.trim() : undefined
    const host = forwarded ?? this.head.host ?? 'localhost'
    const safe = /^[\w.:[\]-]+$/.test(host) ? host : 'localhost'
    return `${scheme === 'https' || (scheme === undefined && this.arrival.secure) ? 'https' : 'http'}://${safe}${mountPath}`
  }

  get baseUrlIsTrusted(): boolean {
    return this.#options.publicUrl !== undefined || this.hostIsListed
  }
}

/** The way in. Answers at once unless finding the principal takes a promise. */
export type Gate = (arrival: Arrival) => Visit | Promise<Visit>

/** Makes the gate of one server. */
export function createGate(options: GateOptions): Gate {
  const { router, guard, limits, mountPath } = options
  const challenge = ['WWW-Authenticate', `Bearer realm="${options.name.replace(/[^\x20-\x7e]|["\\]/g, '')}"`]

  return (arrival) => {
    const visit = new Visit(arrival, options)
    const framing = framingFault(visit, limits)
    if (framing !== undefined) return refuse(visit, framing[0], framing[1])
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
    if (authenticate === undefined || (match.endpoint !== undefined && isOpen(match.endpoint))) {
      return admit(visit, match)
    }
    return identify(visit, match, authenticate)
  }

  /** Finds the path below the mount path; undefined where it is malformed. */
  function locate(visit: Visit): Match | undefined {
    const { method, target } = visit.arrival
    const parsed = parseTarget(isAbsolute(target) ? target.replace(/^[a-z]+:\/\/[^/?]*/i, '') || '/' : target)
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
        return refuse(visit, 401, 'A valid key is needed: send it as X-API-Key, or as Authorization: Bearer', challenge)
      }
      visit.principal = principal
      return admit(visit, match)
    }
    const broken = (error: unknown): Visit => {
      options.log('error', 'Authentication failed to run', { request: visit.requestId, cause: error })
      return refuse(visit, 500, `Internal error (request ${visit.requestId})`)
    }
    const request: AuthRequest = { method: visit.method, path: visit.path, header: (name) => visit.header(name) }
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
      if (match.allowed.length === 0) return refuse(visit, 404, 'There is nothing at this path; GET / lists what there is')
      return refuse(visit, 405, `This path answers ${match.allowed.join(', ')}`, ['Allow', match.allowed.join(', ')])
    }
    if (options.isDraining() && endpoint.always !== true) {
      return refuse(visit, 503, 'The server is closing down', ['Retry-After', '1'])
    }
    const fault = endpoint.accepts === undefined || visit.method === 'GET' || visit.method === 'HEAD'
      ? undefined : bodyFault(visit.head, endpoint)
    return fault === undefined ? visit : refuse(visit, fault[0], fault[1], fault[2])
  }

  /** What is wrong with a body, as far as its headers tell. */
  function bodyFault(head: Head, endpoint: Endpoint): readonly [number, string, string[]?] | undefined {
    const { contentLength, contentType, contentEncoding } = head
    const accepts = endpoint.accepts ?? none
    if ((contentLength === undefined || contentLength === '0') && head.transferEncoding === undefined) return undefined
    if (contentType !== accepts[0]) {
      const media = contentType === undefined ? undefined : parseMediaType(contentType)
      const wanted = accepts.join(' or ')
      if (media === undefined || !accepts.includes(media.type)) return [415, `The body must be ${wanted}; set Content-Type to that`]
      if (media.charset !== undefined && media.charset !== 'utf-8' && media.charset !== 'utf8') {
        return [415, `The body must be UTF-8, not ${media.charset.replace(/[^\w.-]/g, '?')}`]
      }
    }
    if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity') {
      return [415, 'The body must not be compressed']
    }
    if (contentLength === undefined) return undefined
    if (Number(contentLength) > limits.maxBodyBytes) return [413, tooLarge(limits)]
    if (!options.budget.fits(Number(contentLength))) return [503, 'Too many bodies are being read; try again later', ['Retry-After', '1']]
    return undefined
  }
}

/** The refusal of a request, in the form of its endpoint's door; a problem document where there is none. */
export function refuse(
  visit: Visit, status: number, detail: string, headers?: readonly string[], unparsable = false,
): Visit {
  const refusal: Refusal = { status, detail, requestId: visit.requestId, unparsable, ...headers !== undefined && { headers } }
  visit.refusal = visit.endpoint === undefined ? problemReply(refusal) : visit.endpoint.refuse(refusal)
  return visit
}

/** A refusal as a problem document. */
export function problemReply({ status, detail, requestId, headers }: Refusal): Reply {
  const body = JSON.stringify(problem(status, detail, requestId))
  return { status, type: PROBLEM_JSON, body, ...headers !== undefined && { headers } }
}

/** The sentence for a body over the limit. */
export function tooLarge(limits: Limits): string {
  return `The body is larger than ${limits.maxBodyBytes} bytes`
}

function isOpen(endpoint: Endpoint): boolean {
  return endpoint.open === true || endpoint.open === 'public'
}

function isAbsolute(target: string): boolean {
  return target.charCodeAt(0) !== 0x2f && /^https?:\/\//i.test(target)
}

/** What is wrong with the frame of a request that Node lets through. */
function framingFault(visit: Visit, limits: Limits): readonly [number, string] | undefined {
  const { arrival, head } = visit
  if (arrival.httpVersion !== '1.1' && arrival.httpVersion !== '1.0') {
    return arrival.httpVersion === '2.0' ? undefined : [505, 'This server speaks HTTP/1.1']
  }
  if (arrival.rawHeaders.length > limits.maxHeaderLines * 2) return [431, `More than ${limits.maxHeaderLines} header lines`]
  // Node takes the first of two Host lines; a proxy before it may have looked at the second.
  if (head.host?.includes(',') === true && countHeader(arrival.rawHeaders, 'host') > 1) return [400, 'Two Host headers']
  if (isAbsolute(arrival.target)) {
    const authority = /^https?:\/\/([^/?#]*)/i.exec(arrival.target)?.[1] ?? ''
    // RFC 9112 §3.2.2: the authority of the target is the host; a Host line that names another is an attack.
    if (head.host !== undefined && head.host.toLowerCase() !== authority.toLowerCase()) {
      return [400, 'The request target and the Host header name two hosts']
    }
  }
  return undefined
}
