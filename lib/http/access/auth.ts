/**
 * Who is asking: a key or token from the request's headers to a principal.
 *
 * A key that is on the list is never asked about further, expired or not; what is on none is asked of the
 * `apiKey` function, and a bearer that this does not know either, of `auth.verify`. A credential that is
 * wrong ends the matter: nothing falls through to another scheme or to anonymous. RFC 6750, RFC 9110 §11.
 */
import { isThenable } from '../../util/thenable.ts'
import { isStrings } from '../../wire/json.ts'
import { isScope } from '../../wire/challenge.ts'
import { credentialOf, hasKey } from './credential.ts'
import { createKeys } from './keys.ts'
import { Pending } from './pending.ts'
import { bearerOf, principalOf } from './principal.ts'
import type { Limits } from '../../define/limits.ts'
import type { Principal } from '../../define/principal.ts'
import type { KnownHeaders } from '../message/exchange.ts'
import type { NamedKey } from './keys.ts'
import type { TokenInfo } from './principal.ts'

/** What a verifying function is told besides the credential. */
export interface AuthRequest {
  readonly method: string
  /** Below the mount path, without the query. */
  readonly path: string
  /** A header's value by its name in lower case. */
  header(name: string): string | undefined
}

/** A principal, or nothing where the credential is not good. */
export type Verified = Principal | undefined | null

/**
 * Says who a credential belongs to; nothing means that it is not good. With `auth` beside it, a bearer that
 * this does not know is asked of `auth.verify` then; what came as `X-API-Key` never is.
 */
export type Verify = (credential: string, request: AuthRequest) => Verified | Promise<Verified>

/** A key, several keys, or a function that knows them. */
export type ApiKey = string | readonly (string | NamedKey)[] | Verify

type Known = TokenInfo | undefined | null

/**
 * Tokens of an OAuth authorization server (RFC 6750, RFC 9728). `verify` must check signature, issuer,
 * time and, above all, that the token's audience is `resource`: a token for somebody else is no token.
 */
export interface Authorization {
  /** The address that clients dial and tokens are made for, as in `https://agents.example.com/mcp`. */
  readonly resource: string
  /** Addresses of the issuers. */
  readonly authorizationServers: readonly string[]
  /** What a client should ask for to begin with. */
  readonly scopes?: readonly string[] | undefined
  /** Of the resource, for people (`resource_name`). */
  readonly name?: string | undefined
  /** An address where developers can read about it (`resource_documentation`). */
  readonly documentation?: string | undefined
  /** Says what is behind a token; nothing means that it is not good. */
  verify(token: string, request: AuthRequest): Known | Promise<Known>
}

/**
 * Finds the principal of a request; undefined means 401. `mayAsk` is called before a function of the
 * operator's is asked, and may throw; `network` is where the request comes from. Throws, or rejects with,
 * `Unavailable` where finding out cannot be waited for, and whatever a function of the operator's throws.
 */
export type Authenticate = (
  head: KnownHeaders, query: string, request: AuthRequest, mayAsk?: () => void, network?: string,
) => Found

/** Somebody, nobody, or whoever it will turn out to be. */
type Found = Principal | undefined | Promise<Principal | undefined>

/** What it works with: keys, tokens, or both. */
export interface AuthOptions {
  readonly apiKey?: ApiKey | undefined
  readonly auth?: Authorization | undefined
  readonly limits: Pick<Limits, 'authTimeoutMs' | 'maxCalls'>
}

/** Makes the check. Throws `TypeError` for what can be no key and no authorization. */
export function createAuthenticate({ apiKey, auth, limits }: AuthOptions): Authenticate {
  if (auth !== undefined) requireAuthorization(auth)
  const askKey = typeof apiKey === 'function' ? apiKey : undefined
  const find = typeof apiKey === 'function' || apiKey === undefined ? undefined : createKeys([apiKey].flat())
  const [issuer, ...others] = auth?.authorizationServers ?? []
  const soleIssuer = others.length === 0 ? issuer : undefined
  const pending = new Pending(limits.maxCalls, limits.authTimeoutMs)

  function ofKey(credential: string, head: KnownHeaders, request: AuthRequest): Found {
    if (askKey === undefined) return ofToken(credential, head, request)
    const settled = (found: Verified): Found => found === undefined || found === null
      ? ofToken(credential, head, request) : principalOf(found)
    return later(askKey(credential, request), settled)
  }

  function ofToken(credential: string, head: KnownHeaders, request: AuthRequest): Found {
    if (auth === undefined || head.authorization === undefined) return undefined
    return later(auth.verify(credential, request), (info) => {
      return info === undefined || info === null ? undefined : bearerOf(info, soleIssuer)
    })
  }

  return (head, query, request, mayAsk, network = '') => {
    if (query !== '' && hasKey(query)) return undefined
    const credential = credentialOf(head)
    if (credential === undefined) return undefined
    const known = find?.(credential)
    if (known !== undefined) return isOver(known) ? undefined : known
    if (askKey === undefined && auth === undefined) return undefined
    mayAsk?.()
    pending.check(network)
    const found = ofKey(credential, head, shown(request))
    return isThenable(found) ? pending.wait(found, network) : found
  }
}

/** Of a request no more than a function of the operator's is to see. */
function shown(request: AuthRequest): AuthRequest {
  const { method, path } = request
  return { method, path, header: (name) => request.header(name) }
}

/** What comes of a value that may be promised, by a promise of whatever make. */
function later<T>(value: T | PromiseLike<T>, settled: (value: T) => Found): Found {
  return isThenable(value) ? Promise.resolve(value).then(settled) : settled(value)
}

function isOver({ expiresAt }: Principal): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now()
}

function requireAuthorization({ resource, authorizationServers, scopes = [], verify }: Authorization): void {
  const url = URL.canParse(resource) ? new URL(resource) : undefined
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.hash === ''
  // Its metadata has a path of our own that ends in the resource's.
  if (!isPlain || !/^(?:\/[\w.~!$&'()*+,;=:@-]*)+$/.test(url.pathname)) {
    throw new TypeError(`auth.resource is ${JSON.stringify(resource)}; write the address that clients dial, `
      + `as in 'https://agents.example.com/mcp'`)
  }
  const isListed = isStrings(authorizationServers) && authorizationServers.length > 0
  if (!isListed || !authorizationServers.every((server) => URL.canParse(server))) {
    throw new TypeError(`auth.authorizationServers has no issuer, or what is none; write a list of `
      + `addresses, as in ['https://login.example.com']`)
  }
  if (!isStrings(scopes) || !scopes.every(isScope)) {
    throw new TypeError(`auth.scopes is no list of scopes; write a list of names, as in ['orders:read']`)
  }
  if (typeof verify !== 'function') {
    throw new TypeError('auth.verify is missing; write (token, request) => ({ subject, scopes, expiresAt })')
  }
}
