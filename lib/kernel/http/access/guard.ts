/**
 * Which hosts and origins may call: the Host and Origin headers, CORS and preflights.
 *
 * DNS rebinding makes a foreign page call a loopback server under the page's own name, so names are compared
 * with lists, and with each other only where one of them passed a list. RFC 9110 §7.2, WHATWG Fetch §3.2
 * (CORS).
 */
import { asciiHost } from '../../wire/uri.ts'
import { authorityOf, isSameHost, parseHost } from '../message/address.ts'
import type { NamedHost } from '../message/address.ts'
import type { Endpoint, Objection } from '../message/exchange.ts'
import type { KnownHeaders } from '../message/headers.ts'

export interface GuardOptions {
  /** Names of this server, with or without a port. `*` disables the check. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Origins of pages that may call: `https://app.example.com`, `chrome-extension://id`, or `*` for any. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Origins of pages that may also read the answers, or `*`. Left out: loopback's own, on loopback. */
  readonly cors?: string | readonly string[] | undefined
  readonly publicUrl?: URL | undefined
  /** Further headers of replies that these pages may read, in lower case. */
  readonly exposes?: readonly string[] | undefined
}

export interface Verdict {
  readonly refused: Objection | undefined
  /** Whether the Host passed a list. */
  readonly hostIsListed: boolean
  /** CORS headers: name, value, name, value. */
  readonly headers: readonly string[]
}

/** The kind of address that a request arrived at. */
export type Bind = 'loopback' | 'network' | 'none'

export interface Guard {
  /** Whether the operator lists this name, by `allowedHosts` or `publicUrl`. */
  lists(host: string): boolean
  /** `isKeyed`: callers need a key, so pages of this server's own origin may call. */
  check(head: KnownHeaders, bind: Bind, open: Endpoint['open'], isKeyed: boolean): Verdict
  /** The headers of a preflight's answer; undefined where the page may not call. */
  preflight(
    head: KnownHeaders, bind: Bind, isPublic: boolean, methods: readonly string[], asked: string | undefined,
  ): readonly string[] | undefined
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])
const HEADER_NAMES = /^[\w!#$%&'*+.^\x60|~, -]{1,4096}$/
/** Headers of the kernel's that pages may read. */
const EXPOSED = ['www-authenticate', 'retry-after', 'x-request-id', 'etag']
/** Stands for a missing header; no header can have this value. */
const ABSENT = '\0'
const none: readonly string[] = Object.freeze([])
const everybody: readonly string[] = Object.freeze(['Access-Control-Allow-Origin', '*'])
const fine: Verdict = Object.freeze({ refused: undefined, hostIsListed: false, headers: none })
const listed: Verdict = Object.freeze({ refused: undefined, hostIsListed: true, headers: none })

function refuse(...refused: Objection): Verdict {
  return { ...fine, refused }
}

/** Everything that decides a verdict. */
interface Asked {
  readonly bind: Bind
  readonly open: Endpoint['open']
  readonly isKeyed: boolean
  readonly host: string
  readonly origin: string
}

/** Beside the word for all, the others of a list are still read: a wrong one is a mistake. */
function isNamed(entry: string): boolean {
  return entry !== '*'
}

/** Makes the guard. Throws `TypeError` for a bad host or origin. */
export function createGuard(options: GuardOptions): Guard {
  const exposed = [...new Set([...EXPOSED, ...options.exposes ?? []])].join(', ')
  const anyHost = options.allowedHosts?.includes('*') === true
  const hosts = new Set((options.allowedHosts ?? []).filter(isNamed).flatMap(hostEntries))
  if (options.publicUrl !== undefined) hosts.add(nameOf(options.publicUrl.hostname))
  const anyReader = options.cors === '*' || (Array.isArray(options.cors) && options.cors.includes('*'))
  const readers = new Set([options.cors ?? []].flat().filter(isNamed).map(originEntry))
  const anyOrigin = anyReader || options.allowedOrigins?.includes('*') === true
  const origins = new Set([...readers, ...(options.allowedOrigins ?? []).filter(isNamed).map(originEntry)])
  if (options.publicUrl !== undefined) origins.add(originEntry(options.publicUrl.origin))
  /** The last question that was no stranger's: most ask the same again. */
  let last: Asked & { readonly verdict: Verdict } | undefined

  function isListed({ name, port }: NamedHost): boolean {
    return hosts.has(name) || hosts.has(`${name}:${port ?? ''}`)
  }

  function hostVerdict(host: string, bind: Bind, open: Endpoint['open']): Verdict {
    const isChecked = bind === 'loopback'
      || (bind === 'none' ? options.allowedHosts !== undefined : hosts.size > 0)
    if (anyHost || !isChecked || open === 'probe') {
      // A Host without an authority names nothing, and must not be used for URLs.
      return host === ABSENT || host === '' || authorityOf(host) !== undefined ? fine
        : refuse(400, 'The Host header is no host; send the one of the address')
    }
    const named = parseHost(host)
    if (named === undefined) return refuse(403, 'The Host header does not name a host of this server')
    const { name } = named
    if (bind === 'loopback' && LOOPBACK.has(name) || isListed(named)) return listed
    const remedy = 'its operator can add that name to allowedHosts'
    return refuse(403, `This server is not reached as '${name}'; ${remedy}`)
  }

  function originIsAllowed(origin: string, host: string, ownMayCall: boolean): boolean {
    if (anyOrigin) return true
    const named = parseOrigin(origin)
    if (named === undefined) return false
    if (origins.has(named.key) || isLoopbackPage(named)) return true
    // A proxy may name the port of the scheme, which browsers leave out.
    return ownMayCall && named.isWeb && isSameHost(named.host, host, named.scheme)
  }

  /** Whether a page may read answers: one that is listed, or one of loopback on loopback. */
  function mayRead(page: NamedOrigin, host: string, bind: Bind): boolean {
    if (readers.has(page.key)) return true
    return options.cors === undefined && bind === 'loopback' && isLoopbackPage(page)
      && LOOPBACK.has(parseHost(host)?.name ?? '')
  }

  function readHeaders(bind: Bind, host: string, origin: string): readonly string[] {
    if (anyReader) return [...everybody, 'Access-Control-Expose-Headers', exposed]
    // Without a list only loopback pages depend on their Origin.
    if (readers.size === 0 && (bind !== 'loopback' || origin === ABSENT)) return none
    const named = parseOrigin(origin)
    if (named === undefined || !mayRead(named, host, bind)) return ['Vary', 'Origin']
    // Browsers compare it with their own spelling, in which a host of another scheme has its case.
    const reader = named.isWeb ? named.origin : origin
    const allowed = ['Access-Control-Allow-Origin', reader, 'Access-Control-Expose-Headers', exposed]
    return [...allowed, 'Vary', 'Origin']
  }

  function verdictOf({ bind, open, isKeyed, host, origin }: Asked): Verdict {
    const isPublic = open === 'public'
    const verdict = hostVerdict(host, bind, open)
    if (verdict.refused !== undefined) return verdict
    const ownMayCall = verdict.hostIsListed || isKeyed
    if (!isPublic && origin !== ABSENT && !originIsAllowed(origin, host, ownMayCall)) {
      const remedy = 'its operator can add it to cors, or to allowedOrigins if it need not read the answer'
      return { ...verdict, refused: [403, `Pages of this Origin may not call this server; ${remedy}`] }
    }
    return { ...verdict, headers: isPublic ? everybody : readHeaders(bind, host, origin) }
  }

  function check(
    { host = ABSENT, origin = ABSENT }: KnownHeaders, bind: Bind, open: Endpoint['open'], isKeyed: boolean,
  ): Verdict {
    if (last !== undefined && last.host === host && last.origin === origin && last.bind === bind
      && last.open === open && last.isKeyed === isKeyed) return last.verdict
    const asked = { bind, open, isKeyed, host, origin }
    const verdict = verdictOf(asked)
    if (verdict.refused === undefined) last = { ...asked, verdict }
    return verdict
  }

  function preflight(
    { host = ABSENT, origin = ABSENT }: KnownHeaders, bind: Bind, isPublic: boolean,
    methods: readonly string[], asked: string | undefined,
  ): readonly string[] | undefined {
    const headers = isPublic ? everybody : readHeaders(bind, host, origin)
    if (!headers.includes('Access-Control-Allow-Origin')) return undefined
    // All headers that are asked for: a list could not name those of arguments.
    const more = HEADER_NAMES.test(asked ?? '') ? ['Access-Control-Allow-Headers', asked ?? ''] : []
    const allowed = ['Access-Control-Allow-Methods', methods.join(', '), ...more]
    return [...headers, ...allowed, 'Access-Control-Max-Age', '600']
  }

  function lists(host: string): boolean {
    const named = parseHost(host)
    return named !== undefined && isListed(named)
  }

  return { lists, check, preflight }
}

export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false
  return LOOPBACK.has(address) || address === '::1' || /^(::ffff:)?127\./.test(address)
}

/** Of a port that http or https has anyway clients leave out the number: they send `name` for `name:443`. */
function hostEntries(host: string): readonly string[] {
  const named = parseHost(asciiHost(host))
  if (named === undefined) {
    const example = `write a name with or without a port, as in 'agents.example.com'`
    throw new TypeError(`allowedHosts has '${host}'; ${example}`)
  }
  const { name, port } = named
  if (port === undefined) return [name]
  return port === '443' || port === '80' ? [`${name}:${port}`, `${name}:`] : [`${name}:${port}`]
}

function originEntry(origin: string): string {
  const named = parseOrigin(origin)
  if (named !== undefined && !named.host.includes('*')) return named.key
  const example = named !== undefined ? `write each host by its whole name, or '*' alone`
    : `write scheme and host, as in 'https://app.example.com', or '*'`
  throw new TypeError(`'${origin}' is no origin; ${example}`)
}

/** An origin in its normal form. `isWeb`: of a page from a host, not of an extension or a desktop app. */
interface NamedOrigin {
  /** As browsers write it. */
  readonly origin: string
  /** The same without the dot of the root, by which origins are compared. */
  readonly key: string
  readonly scheme: string
  readonly host: string
  readonly hostname: string
  readonly isWeb: boolean
}

const ORIGIN = /^([a-z][a-z\d+.-]*):\/\/([^/?#\\@\s]+)\/?$/i

function parseOrigin(origin: string): NamedOrigin | undefined {
  const [, scheme = '', authority = ''] = ORIGIN.exec(origin) ?? []
  if (authority === '' || !URL.canParse(origin)) return undefined
  const { origin: normal, host, hostname, protocol } = new URL(origin)
  if (/^https?$/i.test(scheme)) {
    const key = normal.replace(/\.(?=:\d+$|$)/, '')
    const named = { origin: normal, key, scheme: protocol.slice(0, -1) }
    return { ...named, host, hostname: nameOf(hostname), isWeb: true }
  }
  // For a scheme that is not its own, the runtime has no origin.
  const own = authority.toLowerCase()
  const named = `${scheme.toLowerCase()}://${own}`
  return { origin: named, key: named, scheme: scheme.toLowerCase(), host: own, hostname: own, isWeb: false }
}

/** A host as it is compared: without the dot of the root. */
function nameOf(hostname: string): string {
  return parseHost(hostname)?.name ?? hostname
}

function isLoopbackPage({ hostname, isWeb }: NamedOrigin): boolean {
  return isWeb && LOOPBACK.has(hostname)
}
