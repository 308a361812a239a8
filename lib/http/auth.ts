/**
 * Who is asking: a key or token from the request's headers to a principal.
 *
 * Keys are kept and compared as SHA-256 digests, in constant time. A credential that is wrong ends the
 * matter: nothing falls through to another scheme or to anonymous. RFC 6750, RFC 9110 §11.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Principal } from '../core/principal.ts'
import type { Head } from './exchange.ts'

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

/** Says who a credential belongs to; nothing means that it is not good. */
export type Verify = (credential: string, request: AuthRequest) => Principal | undefined | null | Promise<Principal | undefined | null>

/** A key, several keys, or a function that knows them. */
export type ApiKey = string | readonly (string | NamedKey)[] | Verify

/** Finds the principal of a request; undefined means 401. */
export type Authenticate = (head: Head, query: string, request: AuthRequest) => Principal | undefined | Promise<Principal | undefined>

interface KnownKey { readonly digest: Buffer; readonly principal: Principal; readonly expiresAt: number }

const BEARER = /^bearer +([^\s].*)$/i
const KEY_IN_QUERY = /(?:^|&)(?:api_key|apikey|x-api-key|access_token)=/i

/** Makes the check. Throws `TypeError` for an empty key or a broken entry. */
export function createAuthenticate(apiKey: ApiKey): Authenticate {
  const verify = typeof apiKey === 'function' ? apiKey : undefined
  const keys = typeof apiKey === 'function' ? [] : [apiKey].flat().map(keyOf)
  if (verify === undefined && keys.length === 0) {
    throw new TypeError(`apiKey is an empty list; give at least one key, or leave apiKey out to serve without`)
  }
  return (head, query, request) => {
    if (query !== '' && KEY_IN_QUERY.test(decoded(query))) return undefined
    const credential = credentialOf(head)
    if (credential === undefined) return undefined
    if (verify === undefined) return lookUp(keys, credential)
    const found = verify(credential, request)
    return found instanceof Promise ? found.then(principalOf) : principalOf(found)
  }
}

/** The one credential of a request. None where there is none, where two differ, or where it is of another scheme. */
export function credentialOf(head: Head): string | undefined {
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

function principalOf(found: Principal | undefined | null): Principal | undefined {
  if (found === undefined || found === null) return undefined
  if (typeof found.id !== 'string' || found.id === '') {
    throw new TypeError(`The apiKey function returned no principal; return { id: 'who', scopes: [] } or nothing`)
  }
  return { ...found, scopes: found.scopes ?? [] }
}

function keyOf(entry: string | NamedKey, index: number): KnownKey {
  const { id, key, scopes = [], expires } = typeof entry === 'string' ? { id: String(index + 1), key: entry } : entry
  if (typeof key !== 'string' || key === '') {
    throw new TypeError(`The API key ${index + 1} is empty; give a string, or leave apiKey out to serve without a key`)
  }
  if (typeof id !== 'string' || id === '') throw new TypeError(`The API key ${index + 1} has no id; write { id: 'ops', key }`)
  const expiresAt = expires === undefined ? Infinity : new Date(expires).getTime()
  if (Number.isNaN(expiresAt)) {
    throw new TypeError(`The API key '${id}' has an 'expires' that is no date; write an ISO 8601 text or milliseconds`)
  }
  return { digest: digestOf(key), expiresAt, principal: Object.freeze({ id: `key:${id}`, scopes: Object.freeze([...scopes]) }) }
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
