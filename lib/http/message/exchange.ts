/**
 * What a request is and what a reply is, as values: the only types of this room that doors see. No socket
 * is visible through them, so every door can be tested, and served, without one.
 */
import type { Origin } from '../../define/call.ts'

/**
 * The headers that are read on the way of nearly every request, from one scan. All others are found by
 * `Exchange.header`. A header that came twice is joined by `, ` as RFC 9110 §5.3 has it.
 */
export interface KnownHeaders {
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly accept: string | undefined
  readonly contentType: string | undefined
  readonly contentLength: string | undefined
  readonly contentEncoding: string | undefined
  readonly transferEncoding: string | undefined
  readonly authorization: string | undefined
  readonly apiKey: string | undefined
  readonly requestId: string | undefined
  readonly sessionId: string | undefined
  readonly idempotencyKey: string | undefined
  readonly mcpProtocolVersion: string | undefined
  readonly mcpSessionId: string | undefined
  readonly mcpMethod: string | undefined
  readonly mcpName: string | undefined
  readonly a2aVersion: string | undefined
}

/** One request. */
export interface Exchange {
  /** Upper case. A HEAD is given to the endpoint of GET, which answers it without beginning anything. */
  readonly method: string
  /** Below the mount path, percent-decoded once. */
  readonly path: string
  /** Without its `?`; '' = none. */
  readonly query: string
  /** What the `{names}` of the endpoint's path stood for. */
  readonly params: ReadonlyMap<string, string>
  readonly head: KnownHeaders
  /** Length and UTF-8 are checked already; '' = none. Let go as soon as `handle` has returned. */
  readonly body: string
  readonly origin: Origin
  /** Where this server is reached by the client: scheme, authority and base path. Always a valid URL. */
  readonly baseUrl: string
  /** What stands before every path for the client, a host's prefix and the mount path; no final `/`. */
  readonly basePath: string
  /** The base URL rests on a list or an option, not on whatever the client sent. */
  readonly baseUrlIsTrusted: boolean
  header(name: string): string | undefined
  /**
   * Counts something against its caller's rate limit; undefined where there is room. A request by POST is
   * counted as one call before it comes here. A promise only where processes share the limit.
   */
  take(what: 'call' | 'initialize', cost: number): Overuse | undefined | Promise<Overuse | undefined>
  /**
   * Why no other stream can be opened now; undefined where there is room. Asked before work begins whose
   * answer is a stream: else its client would be told to try again what was done already.
   */
  readonly streamObjection: string | undefined
}

/** A rate limit that is used up: the sentence and the headers of a 429. */
export interface Overuse { readonly detail: string; readonly headers: readonly string[] }

/** One answer. Content-Length, X-Request-Id and CORS are added on the way out. */
export interface Reply {
  readonly status: number
  /** Content-Type. */
  readonly type?: string
  /** Further headers: name, value, name, value. */
  readonly headers?: readonly string[]
  readonly body?: string | Uint8Array | Source
}

/**
 * A stream that has not begun. Opened exactly once, synchronously, right after the head, even for a
 * reader that has left (then `sink.closed` is true). The returned function is called exactly once when
 * the stream is over, whoever ended it.
 */
export interface Source {
  open(sink: Sink): (() => void) | undefined
}

/** Where the text of a stream goes. */
export interface Sink {
  /** Takes the text. False: enough is waiting, or the stream is over; whoever can wait awaits `ready()`. */
  write(text: string): boolean
  /** Resolves when more can be written, and when the stream is over. Never rejects. */
  ready(): Promise<void>
  /** Ends the stream, after a last text if there is one. */
  end(text?: string): void
  readonly closed: boolean
}

/** What OpenAPI says of each method of a path, by its lower-case name. */
export type MethodOperations = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** What OpenAPI says of a path. */
export interface Description {
  readonly operations?: MethodOperations
  /** In the place of `operations` where the path has a name in it: what is said of each thing so named. */
  readonly named?: ReadonlyMap<string, MethodOperations>
  /** What these refer to; the description has of it what is referred to. */
  readonly components?: Components
}

/** What operations refer to by `#/components/…`. A name stands for one thing in all of a server. */
export interface Components {
  readonly schemas?: Readonly<Record<string, unknown>>
  readonly responses?: Readonly<Record<string, unknown>>
}

/** One place where requests are answered: data in, data out. */
export interface Endpoint {
  /** `/agents/{id}`; a `{name}` stands for one segment, a fixed end such as `{id}:cancel` may follow it. */
  readonly path: string
  /** The path begins at the host, wherever the server is mounted (RFC 8615). */
  readonly outsideMount?: boolean
  /** Upper case. GET brings HEAD with it. */
  readonly methods: readonly string[]
  /** Answered without a key. `public`: without a look at the Origin too, and readable from every page. */
  readonly open?: boolean | 'public'
  /** Media types of a body, the first being the usual one. Left out: no body is read. */
  readonly accepts?: readonly string[]
  /**
   * The body may be left out, and whoever does may name any media type, as forms do; whoever does not may
   * name none. Left out: false.
   */
  readonly bodyIsOptional?: boolean
  /** A path, with a final `/`: what is not there below it is refused in this endpoint's form too. */
  readonly refusesBelow?: string
  /** Answers even while the server is closing down. */
  readonly always?: boolean
  /** What OpenAPI says; loaded when somebody reads it. Left out: nothing. */
  readonly describe?: () => Promise<Description>
  /** Whether anything is behind the path now; what is not is answered, but not announced. Left out: it is. */
  readonly isOffered?: () => boolean
  /** What `WWW-Authenticate` says here; left out, `Bearer realm`. `isGiven`: a credential came, a bad one. */
  challenge?(isGiven: boolean): string
  /** Brings what `handle` cannot do without; undefined where that is here. */
  readonly load?: () => Promise<void> | undefined
  /** An endpoint that has its answer returns it, not a promise of it. */
  handle(exchange: Exchange): Reply | Promise<Reply>
  /** A refusal that was made before, or instead of, the endpoint: in the form of its own door. */
  refuse(refusal: Refusal): Reply
}

/** Why a request is not answered. */
export interface Refusal {
  readonly status: number
  /** A sentence for the caller. */
  readonly detail: string
  readonly requestId: string
  /** Headers that the status asks for: name, value, name, value. */
  readonly headers?: readonly string[]
  /** The body could be read, but is not JSON. */
  readonly unparsable?: boolean
  /** What the form of the answer may follow. Left out: nothing is known of the request. */
  readonly asked?: Pick<Exchange, 'head' | 'query'>
}
