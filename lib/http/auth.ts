/**
 * Who is asking: a key or token from the request's headers to a principal.
 *
 * Keys are kept and compared as SHA-256 digests, in constant time. A credential that is wrong ends the
 * matter: nothing falls through to another scheme or to anonymous. RFC 6750, RFC 9110 §11.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Principal } from '../core/principal.ts'
import type { KnownHeaders } from './exchange.ts'

/** One key with what it may do. Two keys with one `id` are one caller: that is how a key is rotated. */
export interface NamedKey {
  readonly id: string
  readonly key: string
  readonly scopes?: readonly string[]
  /** A date, its ISO 8601 text, or milliseconds since the epoch. */
  readonly expires?: Date | string | number
}

/** What a verifying function is told besides the credential. */
export interface AuthRequest {
  readonly method: string
  readonly path: string
  header(name: string): string | undefined
}

/** A principal, or nothing where the credential is not good. */
export type Verified = Principal | undefined | null

/** Says who a credential belongs to; nothing means that it is not good. */
export type Verify = (credential: string, request: AuthRequest) => Verified | Promise<Verified>

/** A key, several keys, or a function that knows them. */
export type ApiKey = string | readonly (string | NamedKey)[] | Verify

/** What a token's issuer says about it. */
export interface TokenInfo {
  /** Who the token speaks for; sessions and tasks belong to it. */
  readonly subject: string
  readonly scopes?: readonly string[]
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number
}

type Known = TokenInfo | undefined | null

/**
 * Tokens of an OAuth authorization server (RFC 6750, RFC 9728). `verify` must check signature, issuer,
 * time and, above all, that the token's audience is `resource`: a token for somebody else is no token.
 */
export interface Authorization {
  /** The address that clients dial and tokens are made for, as in `https://agents.example.com/mcp`. */
  readonly resource: string
  readonly authorizationServers: readonly string[]
  /** What a client should ask for to begin with. */
  readonly scopes?: readonly string[]
  readonly name?: string
  readonly documentation?: string
  /** Says what is behind a token; nothing means that it is not good. */
  verify(token: string, request: AuthRequest): Known | Promise<Known>
}

/** Finds the principal of a request; undefined means 401. */
export type Authenticate =
  (head: KnownHeaders, query: string, request: AuthRequest) => Principal | undefined | Promise<Principal | undefined>

interface KnownKey { readonly digest: Buffer; readonly principal: Principal; readonly expiresAt: number }

const BEARER = /^bearer +([^\s].*)$/i
const KEY_IN_QUERY = /(?:^|&)(?:api_key|apikey|x-api-key|access_token)=/i

/**
 * Makes the check for keys, for tokens, or for both: a bearer credential that is no known key is verified
 * as a token. Throws `TypeError` for an empty key or a broken entry.
 */
export function createAuthenticate(apiKey: ApiKey | undefined, authorization?: Authorization): Authenticate {
  const verify = typeof apiKey === 'function' ? apiKey : undefined
  const keys = typeof apiKey === 'function' ? [] : [apiKey ?? []].flat().map(keyOf)
  if (apiKey !== undefined && verify === undefined && keys.length === 0) {
    throw new TypeError('apiKey is an empty list; give at least one key, or leave apiKey out')
  }
  return (head, query, request) => {
    if (query !== '' && KEY_IN_QUERY.test(decoded(query))) return undefined
    const credential = credentialOf(head)
    if (credential === undefined) return undefined
    const known = keys.length === 0 ? undefined : lookUp(keys, credential)
    if (known !== undefined) return known
    if (verify !== undefined) {
      const found = verify(credential, request)
      return found instanceof Promise ? found.then(principalOf) : principalOf(found)
    }
    if (authorization === undefined || head.authorization === undefined) return undefined
    const info = authorization.verify(credential, request)
    return info instanceof Promise ? info.then(bearerOf) : bearerOf(info)
  }
}

function bearerOf(info: TokenInfo | undefined | null): Principal | undefined {
  if (info === undefined || info === null) return undefined
  const { subject, scopes = [], expiresAt } = info
  if (typeof subject !== 'string' || subject === '') {
    throw new TypeError(`auth.verify returned no subject; return { subject: 'who', scopes: [] } or nothing`)
  }
  return principalOf({ id: `token:${subject}`, scopes, ...expiresAt !== undefined && { expiresAt } })
}

/** The one credential of a request: none where two differ, or where it is of another scheme. */
function credentialOf(head: KnownHeaders): string | undefined {
  const bearer = head.authorization === undefined ? undefined : BEARER.exec(head.authorization)?.[1]
  if (head.authorization !== undefined && bearer === undefined) return undefined
  if (head.apiKey !== undefined && bearer !== undefined && head.apiKey !== bearer) return undefined
  return head.apiKey ?? bearer
}

function lookUp(keys: readonly KnownKey[], credential: string): Principal | undefined {
  const digest = digestOf(credential)
  let found: KnownKey | undefined
  // Every key is compared, so that the time tells nothing about which one came close.
  for (const key of keys) if (timingSafeEqual(key.digest, digest)) found = key
  return found !== undefined && found.expiresAt > Date.now() ? found.principal : undefined
}

function principalOf(found: Verified): Principal | undefined {
  if (found === undefined || found === null) return undefined
  if (typeof found.id !== 'string' || found.id === '') {
    throw new TypeError(`The apiKey function returned no principal; return { id: 'who' } or nothing`)
  }
  if (found.expiresAt !== undefined && !(found.expiresAt > Date.now())) return undefined
  return { ...found, scopes: found.scopes ?? [] }
}

function keyOf(entry: string | NamedKey, index: number): KnownKey {
  const named = typeof entry === 'string' ? { id: String(index + 1), key: entry } : entry
  const owner = `The API key ${index + 1}`
  const { id, key, scopes = [], expires }: NamedKey = named
  if (typeof key !== 'string' || key === '') {
    throw new TypeError(`${owner} is empty; give a string, or leave apiKey out to serve without a key`)
  }
  if (typeof id !== 'string' || id === '') throw new TypeError(`${owner} has no id; write { id: 'ops', key }`)
  const expiresAt = expires === undefined ? Infinity : new Date(expires).getTime()
  if (Number.isNaN(expiresAt)) {
    throw new TypeError(`${owner} has an 'expires' that is no date; write an ISO 8601 text or milliseconds`)
  }
  const principal = { id: `key:${id}`, scopes: Object.freeze([...scopes]) }
  return { digest: digestOf(key), expiresAt, principal: Object.freeze(principal) }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function decoded(query: string): string {
  try {
    return decodeURIComponent(query)
  } catch {
    return query
  }
}
