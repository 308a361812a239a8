/**
 * One request: the head that a transport delivers, what its endpoint and its handler see of it, and how it is
 * refused.
 */
import { Lease } from '../../util/quota.ts'
import { andThen } from '../../util/thenable.ts'
import { formatChallenge } from '../../wire/challenge.ts'
import { problemReply } from '../../wire/problem.ts'
import { authorityOf, forwarded, networkOf } from '../message/address.ts'
import { findHeader, handlerHeaders, readHead } from '../message/headers.ts'
import type { Origin } from '../../define/call.ts'
import type { Log } from '../../define/log.ts'
import type { Principal } from '../../define/principal.ts'
import type {
  Dismissal, Endpoint, Exchange, Objection, Overuse, Refusal, Reply,
} from '../message/exchange.ts'
import type { KnownHeaders } from '../message/headers.ts'
import type { ProtectedResource } from '../access/protected-resource.ts'
import type { ReaderCheck } from '../stream/reader-check.ts'
import type { Streams } from '../stream/sink.ts'
import type { Bind, Guard } from '../access/guard.ts'
import type { Count, Counted, RateLimits } from '../access/rate.ts'

/** The head of a request, from its transport. */
export interface RequestHead {
  readonly method: string
  /** In origin form or absolute form. */
  readonly target: string
  readonly httpVersion: string
  readonly rawHeaders: readonly string[]
  readonly bind: Bind
  readonly secure: boolean
  readonly remoteAddress: string | undefined
  /** The path under which a host has mounted the server: '' or without a final `/`. */
  readonly prefix?: string
  onDisconnect(listener: () => void): void
}

/** Those who wait for a client that leaves without its whole answer. */
export class Leaving {
  isDisconnected = false
  #listeners: (() => void)[] | undefined

  onDisconnect(listener: () => void): void {
    if (this.isDisconnected) listener()
    // Most have one listener: an empty list would reserve room for sixteen.
    else if (this.#listeners === undefined) this.#listeners = [listener]
    else this.#listeners.push(listener)
  }

  /** Calls them. Not at once: an error made there would keep its stack, and so the socket. */
  disconnected(log: Log): void {
    this.isDisconnected = true
    const listeners = this.#listeners ?? []
    this.#listeners = undefined
    queueMicrotask(() => {
      try {
        for (const listener of listeners) listener()
      } catch (error) {
        log('error', 'What was to end with a request did not', { cause: error })
      }
    })
  }
}

export interface RequestOptions {
  /** Of the server. */
  readonly name: string
  /** Where tokens are taken. */
  readonly resource?: ProtectedResource | undefined
  /** The principal without a key. */
  readonly anonymous: Principal
  /** '' or a path with a leading and no final `/`. */
  readonly mountPath: string
  readonly publicUrl: URL | undefined
  /** How many proxies are trusted. */
  readonly proxies: number
  readonly guard: Guard
  readonly rateLimits: RateLimits | undefined
  readonly streams: Streams
}

export const NO_STREAM: Objection = [
  503, 'Too many streams are open; try again later', ['Retry-After', '5'],
]
export const LATE = 'The request took too long to arrive'

// Ids are unique, not secret: a random prefix per process and a count, so that `node:crypto` is not loaded at
// start.
const idPrefix = Math.floor(Math.random() * 2 ** 40).toString(16).padStart(10, '0')
let idCount = 0
const REQUEST_ID = /^[\w.-]{1,128}$/
/** It becomes a part of links; no segment is empty, or of dots. */
const PREFIX = /^(?=.{1,256}$)(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+\/?$/
const none: readonly string[] = Object.freeze([])
const noParams: ReadonlyMap<string, string> = new Map()

/**
 * One request: the exchange of its endpoint and the origin of its handler. It is also the lease of its body's
 * memory: closed when it was answered or its client has left, it stays open for a run that retains it.
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
  /** Whether a credential named the principal. */
  isIdentified = false
  /** Of the credential, while a stream of this request is open. Undefined: nothing can take it away. */
  readerCheck: ReaderCheck | undefined
  endpoint: Endpoint | undefined
  /** Set where no endpoint is asked. */
  refusal: Reply | undefined
  corsHeaders: readonly string[] = none
  rateHeaders: readonly string[] = none
  hostIsListed = false
  readonly #options: RequestOptions
  #headers: ReadonlyMap<string, string> | undefined
  #caller: string | undefined
  #needed: Set<string> | undefined

  constructor(incoming: RequestHead, options: RequestOptions) {
    super()
    const head = readHead(incoming.rawHeaders)
    const given = head.requestId
    this.incoming = incoming
    this.method = incoming.method
    this.head = head
    this.principal = options.anonymous
    this.requestId = given !== undefined && REQUEST_ID.test(given) ? given
      : `${idPrefix}-${(++idCount).toString(36)}`
    this.#options = options
  }

  get needed(): Set<string> { return this.#needed ??= new Set() }

  /** Takes what its credential is worth now, or says why nothing more of the answer may be read. */
  renew(principal: Principal | undefined): Dismissal | undefined {
    if (principal?.id !== this.principal.id) {
      return { kind: 'unauthenticated', message: 'The key or token is no longer good' }
    }
    for (const scope of this.#needed ?? none) {
      if (principal.scopes.includes(scope)) continue
      return { kind: 'forbidden', message: `The key or token no longer has the scope '${scope}'` }
    }
    this.principal = principal
    return undefined
  }

  /** Whether its endpoint takes a body by this method. */
  get takesBody(): boolean {
    return this.endpoint?.accepts !== undefined && this.method !== 'GET' && this.method !== 'HEAD'
  }

  challenge(neededScopes?: readonly unknown[]): string {
    const { name: realm, resource } = this.#options
    if (resource !== undefined) return resource.challenge(realm, this.path, this.hasCredential, neededScopes)
    const error = neededScopes === undefined ? undefined : 'insufficient_scope'
    return formatChallenge({ realm, error, scope: neededScopes })
  }

  /** Whether it brings one, good or bad. */
  get hasCredential(): boolean {
    return this.head.authorization !== undefined || this.head.apiKey !== undefined
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
    if (publicUrl === undefined) return this.#forwardedPrefix + prefix + mountPath
    const outer = publicUrl.pathname.replace(/\/$/, '')
    // The operator may have written the host's prefix into `publicUrl`.
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
    // A good name of the proxy itself says nothing about the one that it forwards.
    const host = this.#forwardedHost
    return host === undefined ? this.hostIsListed : guard.lists(host)
  }

  take(what: Counted, cost: number): Overuse | undefined | Promise<Overuse | undefined> {
    const { rateLimits } = this.#options
    const count = rateLimits?.(what, this.caller, cost)
    return count && andThen(count, (counted) => this.#counted(what, counted))
  }

  get streamObjection(): string | undefined {
    return this.#options.streams.hasRoomFor(this) ? undefined : NO_STREAM[1]
  }

  #counted(what: Counted, count: Count): Overuse | undefined {
    if (count.overuse !== undefined) this.rateHeaders = none
    else this.rateHeaders = what === 'call' ? count.headers : [...this.rateHeaders, ...count.headers]
    return count.overuse
  }

  /** Who is counted: a principal, else a network; all unknown ones together. */
  get caller(): string {
    return this.#caller ??= this.isIdentified ? `key ${this.principal.id}`
      : `from ${this.network ?? 'nowhere'}`
  }

  /** The network of the client; undefined where it is unknown. */
  get network(): string | undefined {
    const said = networkOf(this.#forwarded('x-forwarded-for'))
    return said ?? networkOf(this.incoming.remoteAddress)
  }

  get #forwardedHost(): string | undefined {
    return authorityOf(this.#forwarded('x-forwarded-host'))
  }

  /** The path that a proxy cut off: '' or without a final `/`. */
  get #forwardedPrefix(): string {
    const said = this.#forwarded('x-forwarded-prefix') ?? ''
    return PREFIX.test(said) ? said.replace(/\/$/, '') : ''
  }

  /** What trusted proxies say. */
  #forwarded(name: string): string | undefined {
    const { proxies } = this.#options
    return proxies === 0 ? undefined : forwarded(this.header(name), proxies)
  }
}

/** Refuses a request in the form of its endpoint's protocol; without one, as a problem document. */
export function refuseRequest(request: HttpRequest, ...why: Objection): HttpRequest {
  request.refusal = refusalOf(request, ...why)
  return request
}

/** The same refusal, as a reply. */
export function refusalOf(
  request: HttpRequest, ...[status, detail, headers, unparsable = false]: Objection
): Reply {
  const { endpoint, requestId } = request
  const refusal: Refusal = {
    status, detail, requestId, unparsable, asked: request, ...headers !== undefined && { headers },
  }
  return endpoint === undefined ? problemReply(refusal) : endpoint.refuse(refusal)
}

/** The 500 of an endpoint that has failed, which is for the log alone. */
export function brokenReply(request: HttpRequest, cause: unknown, log: Log): Reply {
  const { path, requestId } = request
  log('error', 'An endpoint failed', { request: requestId, path, cause })
  return refusalOf(request, 500, `Internal error (request ${requestId})`)
}
