/**
 * A request and a reply as values: the only types of http/ that protocols see. No socket is visible, so each
 * protocol can be tested and served without one.
 */
import type { Origin } from '../../define/call.ts'
import type { Principal } from '../../define/principal.ts'
import type { RefusalFacts } from '../../wire/problem.ts'
import type { KnownHeaders } from './headers.ts'

/** One request, as its endpoint gets it. */
export interface Exchange {
  /** Upper case. A HEAD goes to the endpoint of GET, which starts nothing for it. */
  readonly method: string
  /** Below the mount path, percent-decoded once. */
  readonly path: string
  /** Without its `?`; '' = none. */
  readonly query: string
  /** Values of the `{names}` in the endpoint's path. */
  readonly params: ReadonlyMap<string, string>
  readonly head: KnownHeaders
  /** Length and UTF-8 are checked; '' = none. Cleared when `handle` has returned. */
  readonly body: string
  readonly origin: Origin
  /** The server's URL for the client: scheme, authority and base path. Always valid. */
  readonly baseUrl: string
  /** The prefix of every path for the client: a host's prefix and the mount path; no final `/`. */
  readonly basePath: string
  /** The base URL comes from a list or an option, not from the client. */
  readonly baseUrlIsTrusted: boolean
  header(name: string): string | undefined
  /**
   * Counts against the caller's rate limit; undefined where there is room. A POST was counted as one call
   * already. A promise only where processes share the limit.
   */
  take(what: 'call' | 'initialize', cost: number): Overuse | undefined | Promise<Overuse | undefined>
  /**
   * Why no stream can be opened; undefined where there is room. Asked before work whose answer is a stream:
   * otherwise the retry would repeat it.
   */
  readonly streamObjection: string | undefined
}

/** A used up rate limit: the sentence and headers of a 429. */
export interface Overuse { readonly detail: string; readonly headers: readonly string[] }

/** One answer. Content-Length, X-Request-Id, CORS and the challenge of a 401 are added later. */
export interface Reply {
  readonly status: number
  readonly type?: string
  /** Further headers: name, value, name, value. */
  readonly headers?: readonly string[]
  /** The caller lacks one of these scopes: `WWW-Authenticate` says so (RFC 6750 §3.1). */
  readonly neededScopes?: readonly unknown[] | undefined
  readonly body?: string | Uint8Array | Source
}

/**
 * A stream that has not begun. Opened exactly once, synchronously after the head, even for a reader that has
 * left (then `sink.closed`). The returned function is called exactly once at the end of the stream.
 */
export interface Source {
  open(sink: Sink): (() => void) | undefined
  /** The last text of a stream that is cut off. Left out, or '': the protocol has none. */
  dismissal?(why: Dismissal): string
}

/** Why a stream is cut off: its reader is no longer known, or lacks a scope that it needs. */
export interface Dismissal {
  readonly kind: 'unauthenticated' | 'forbidden'
  /** For the reader. */
  readonly message: string
}

/** Where a stream is written to: its reader. */
export interface Sink {
  /**
   * Takes the text. False: enough is waiting, or the stream is over; a writer that can wait awaits `ready()`.
   */
  write(text: string): boolean
  /** Resolves when more can be written, and when the stream is over. Never rejects. */
  ready(): Promise<void>
  /** Ends the stream, after a last text if there is one. */
  end(text?: string): void
  readonly closed: boolean
}

/** OpenAPI's operations of a path, by lower-case method. */
export type MethodOperations = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** OpenAPI's description of a path. */
export interface Description {
  readonly operations?: MethodOperations
  /** Instead of `operations` where the path has a name: the description of each named thing. */
  readonly named?: ReadonlyMap<string, MethodOperations>
  /** Referenced components; only used ones are written. */
  readonly components?: Components
}

/** What operations reference: by `#/components/…`, tags by name. Names are unique within a server. */
export interface Components {
  readonly schemas?: Readonly<Record<string, unknown>>
  readonly responses?: Readonly<Record<string, unknown>>
  /** The lowest rank is listed first. A tag that is not here is not described. */
  readonly tags?: Readonly<Record<string, { readonly description: string; readonly rank: number }>>
}

/**
 * What models read of a path in `/llms.txt`. One with a name, as `/tools/{tool}`, is where each thing of that
 * kind is reached; each of the others is listed.
 */
export interface EndpointAbout {
  /** Of what is reached at a path without a name. */
  readonly title?: string
  /** What a model can do there; may be empty. */
  readonly text: string
  /** The lowest is listed first; of several paths of a thing it is given the lowest. */
  readonly rank: number
}

/** Answers requests at one path. */
export interface Endpoint {
  /** `/agents/{id}`; a `{name}` is one segment, a fixed end such as `{id}:cancel` may follow. */
  readonly path: string
  /** The path begins at the host, not at the mount path (RFC 8615). */
  readonly outsideMount?: boolean
  /** Upper case. GET brings HEAD with it. */
  readonly methods: readonly string[]
  /**
   * Needs no key. `public`: no Origin check either, and readable from every page. `probe`: no Host check,
   * since what watches a server asks by its address.
   */
  readonly open?: boolean | 'public' | 'probe'
  /** Media types of a body, the usual one first. Left out: no body is read. */
  readonly accepts?: readonly string[]
  /** The body may be empty, with any media type or none. */
  readonly bodyIsOptional?: boolean
  /**
   * False: nothing has, or can have, what stands in the path for its names. Then a method that the path does
   * not have is 404, as for any unknown path, and not 405. Left out: anything may be there.
   */
  readonly mayName?: (params: ReadonlyMap<string, string>) => boolean
  /** A path with a final `/`: unknown paths below it are refused in this endpoint's form. */
  readonly refusesBelow?: string
  /** The path of the resource that tokens are made for (RFC 9728). Left out: that of its part, or its own. */
  readonly resourcePath?: string
  /** Answers also while the server closes. */
  readonly always?: boolean
  /** Loaded when OpenAPI is read: what a caller may use. Left out: not described. */
  readonly describe?: (principal: Principal) => Promise<Description>
  /** Left out: models are not told of it. */
  readonly about?: EndpointAbout | undefined
  /** False: the path is answered, but not announced. */
  readonly isOffered?: () => boolean
  /** Loads what `handle` needs; undefined where it is loaded. */
  readonly load?: () => Promise<void> | undefined
  /** Returns a reply, or a promise of one only where it has to wait. */
  handle(exchange: Exchange): Reply | Promise<Reply>
  /** A refusal before, or instead of, `handle`, in the protocol's form. */
  refuse(refusal: Refusal): Reply
}

/** Why a request is refused, as `Refusal` has it. */
export type Objection = readonly [
  status: number, detail: string, headers?: readonly string[] | undefined, unparsable?: boolean,
]

/** Why a request is refused, for the endpoint that says so in its form. */
export interface Refusal extends RefusalFacts {
  /** The body could be read, but is not JSON. */
  readonly unparsable?: boolean
  /** What the form of the answer may depend on. Left out: unknown. */
  readonly asked?: Pick<Exchange, 'head' | 'query'>
}
