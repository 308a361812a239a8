/**
 * One request on its way: the head that a transport hands over, and what its endpoint and its handler
 * see of it. Also how it is refused, which is the endpoint's word wherever there is one.
 */
import { Lease } from '../../util/quota.ts'
import { isThenable } from '../../util/thenable.ts'
import { problemReply } from '../../wire/problem.ts'
import { authorityOf, forwarded, networkOf } from '../message/address.ts'
import { findHeader, handlerHeaders, readHead } from '../message/headers.ts'
import type { Origin } from '../../define/call.ts'
import type { Principal } from '../../define/principal.ts'
import type { Asker } from '../../util/quota.ts'
import type { Endpoint, Exchange, KnownHeaders, Overuse, Refusal, Reply } from '../message/exchange.ts'
import type { Bind, Guard } from '../access/guard.ts'
import type { Count, Counted, RateLimits } from '../access/rate.ts'

/** The head of a request, as a transport hands it over. */
export interface RequestHead {
  readonly method: string
  /** The request target as it came: origin form or absolute form. */
  readonly target: string
  readonly httpVersion: string
  readonly rawHeaders: readonly string[]
  readonly bind: Bind
  readonly secure: boolean
  readonly remoteAddress: string | undefined
  /** Under which path somebody else's server has mounted this one: '' or without a final `/`. */
  readonly prefix?: string
  onDisconnect(listener: () => void): void
}

/** What one server's requests have in common. */
export interface RequestOptions {
  /** The principal of whoever needs no key. */
  readonly anonymous: Principal
  /** '' or a path with a leading and no final `/`. */
  readonly mountPath: string
  readonly publicUrl: URL | undefined
  /** How many proxies stand before this server and are believed. */
  readonly proxies: number
  readonly guard: Guard
  readonly rateLimits: RateLimits | undefined
  readonly streams: StreamRoom
}

/** Whether there is room for another stream. */
export interface StreamRoom { hasRoomFor(asker: Asker): boolean }

/** What is said where there is none. */
export const NO_STREAM = 'Too many streams are open; try again later'

// Ids are unique, not secret: one random prefix per process and a count. So `node:crypto` can wait, whose
// loading is a twelfth of a start.
const idPrefix = Math.floor(Math.random() * 2 ** 40).toString(16).padStart(10, '0')
let idCount = 0
const REQUEST_ID = /^[\w.-]{1,128}$/
const none: readonly string[] = Object.freeze([])
const noParams: ReadonlyMap<string, string> = new Map()

/**
 * One request on its way: the exchange that its endpoint sees, and the origin that its handler sees. It is
 * also the lease of its body's memory: closed when it was answered or its client has left, it stays open for
 * a run that retains it.
 */
export class HttpRequest extends Lease implements Exchange, Origin {
  readonly incoming: RequestHead
  readonly method: string
  readonly head: KnownHeaders
  readonly requestId: string
  readonly origin: Origin = this
  path = ''
  query = ''
  params: ReadonlyMap<string, string> = noParams
  body = ''
  principal: Principal
  /** Whether somebody was found to be asking, by a credential. */
  isIdentified = false
  endpoint: Endpoint | undefined
  /** Set where the answer is known already and no body is wanted. */
  refusal: Reply | undefined
  /** CORS headers for the reply. */
  corsHeaders: readonly string[] = none
  /** What the reply tells of rate limits. */
  rateHeaders: readonly string[] = none
  hostIsListed = false
  readonly #options: RequestOptions
  #headers: ReadonlyMap<string, string> | undefined
  #caller: string | undefined

  constructor(incoming: RequestHead, options: RequestOptions) {
    super()
    const head = readHead(incoming.rawHeaders)
    const given = head.requestId
    this.incoming = incoming
    this.method = incoming.method
    this.head = head
    this.requestId = given !== undefined && REQUEST_ID.test(given) ? given
      : `${idPrefix}-${(++idCount).toString(36)}`
    this.principal = options.anonymous
    this.#options = options
  }

  get headers(): ReadonlyMap<string, string> {
    return this.#headers ??= handlerHeaders(this.incoming.rawHeaders)
  }

  header(name: string): string | undefined {
    return findHeader(this.incoming.rawHeaders, name)
  }

  onDisconnect(listener: () => void): void {
    this.incoming.onDisconnect(listener)
  }

  get basePath(): string {
    const { publicUrl, mountPath } = this.#options
    const { prefix = '' } = this.incoming
    if (publicUrl === undefined) return prefix + mountPath
    const outer = publicUrl.pathname.replace(/\/$/, '')
    // The operator may have told the host's prefix as a part of where clients come.
    return (outer.endsWith(prefix) ? outer : outer + prefix) + mountPath
  }

  get baseUrl(): string {
    const { publicUrl } = this.#options
    if (publicUrl !== undefined) return publicUrl.origin + this.basePath
    const scheme = this.#forwarded('x-forwarded-proto')?.toLowerCase()
    const isSecure = scheme === 'https' || (scheme !== 'http' && this.incoming.secure)
    const authority = this.#forwardedHost ?? authorityOf(this.head.host) ?? 'localhost'
    return `${isSecure ? 'https' : 'http'}://${authority}${this.basePath}`
  }

  get baseUrlIsTrusted(): boolean {
    const { publicUrl, guard } = this.#options
    if (publicUrl !== undefined) return true
    // That the proxy itself came by a good name says nothing about the one that it passes on.
    const host = this.#forwardedHost
    return host === undefined ? this.hostIsListed : guard.lists(host)
  }

  take(what: Counted, cost: number): Overuse | undefined | Promise<Overuse | undefined> {
    const { rateLimits } = this.#options
    const count = rateLimits?.take(what, this.caller, cost)
    if (count === undefined) return undefined
    return isThenable(count) ? count.then((later) => this.#told(what, later)) : this.#told(what, count)
  }

  get streamObjection(): string | undefined {
    return this.#options.streams.hasRoomFor(this) ? undefined : NO_STREAM
  }

  #told(what: Counted, count: Count): Overuse | undefined {
    if (count.overuse !== undefined) this.rateHeaders = none
    else this.rateHeaders = what === 'call' ? count.headers : [...this.rateHeaders, ...count.headers]
    return count.overuse
  }

  /** Who counts as one: a principal, else a network. Where neither can be told, all are one. */
  get caller(): string { return this.#caller ??= this.#findCaller() }

  #findCaller(): string {
    if (this.isIdentified) return `key ${this.principal.id}`
    return `from ${this.network ?? 'nowhere'}`
  }

  /** The network that it comes from, whoever asks; undefined where that cannot be told. */
  get network(): string | undefined {
    const said = networkOf(this.#forwarded('x-forwarded-for'))
    return said ?? networkOf(this.incoming.remoteAddress)
  }

  get #forwardedHost(): string | undefined {
    return authorityOf(this.#forwarded('x-forwarded-host'))
  }

  /** What the proxies say, where they are believed at all. */
  #forwarded(name: string): string | undefined {
    const { proxies } = this.#options
    return proxies === 0 ? undefined : forwarded(this.header(name), proxies)
  }
}

/** Refuses a request in the form of its endpoint's door; with a problem document where there is none. */
export function refuseRequest(
  request: HttpRequest, status: number, detail: string, headers?: readonly string[], unparsable = false,
): HttpRequest {
  request.refusal = refusalOf(request, status, detail, headers, unparsable)
  return request
}

/** The same refusal, as a reply. */
export function refusalOf(
  request: HttpRequest, status: number, detail: string, headers?: readonly string[], unparsable = false,
): Reply {
  const { endpoint, requestId } = request
  const refusal: Refusal = {
    status, detail, requestId, unparsable, asked: request, ...headers !== undefined && { headers },
  }
  return endpoint === undefined ? problemReply(refusal) : endpoint.refuse(refusal)
}
