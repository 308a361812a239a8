/**
 * Listed API keys, and the principals that functions of the operator's return, checked.
 *
 * Keys are compared whole and in constant time. A key without an id gets one from its digest, so that its
 * state stays when the list changes. Mistakes of a function throw; an expired principal is none.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { isRecord } from '../../util/record.ts'
import { isScope, parseScope } from '../../wire/challenge.ts'
import { formatJson, isStrings } from '../../wire/json.ts'
import { onlyValue } from '../../wire/only-value.ts'
import type { Claims, Principal } from '../../define/principal.ts'

/** One key with what it may do. Two keys with one `id` are one caller: that is how a key is rotated. */
export interface NamedKey {
  /** The owner's name, at most 500 bytes; sessions and tasks belong to it. */
  readonly id: string
  /** What callers send. */
  readonly key: string
  /** Left out: no scopes. */
  readonly scopes?: readonly string[]
  /** A date, its ISO 8601 text, or milliseconds since the epoch. */
  readonly expires?: Date | string | number
}

interface KnownKey { readonly key: string; readonly principal: Principal }

/** Characters that a header can carry. */
const KEY = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const ID_LABEL = 'triport key id\n'
/** Credentials are compared in at least so many characters, so that the time does not tell a key's length. */
const LEAST_WIDTH = 128

/**
 * Makes what finds the owner of a credential, also of an expired one; undefined for an unknown key. Throws
 * `TypeError` for a bad entry, and for a key that is given twice.
 */
export function createKeys(
  entries: readonly (string | NamedKey)[],
): (credential: string) => Principal | undefined {
  if (entries.length === 0) {
    throw new TypeError('apiKey is an empty list; give at least one key, or leave apiKey out')
  }
  const keys = entries.map(keyOf)
  const places = new Map<string, number>()
  for (const [index, { key }] of keys.entries()) {
    const first = places.get(key)
    if (first !== undefined) {
      throw new TypeError(`The API keys ${first} and ${index + 1} are the same; give each entry its own`)
    }
    places.set(key, index + 1)
  }
  // No key has a NUL, so padding keeps them different.
  const width = Math.max(LEAST_WIDTH, ...keys.map(({ key }) => key.length))
  const known = keys.map(({ key }) => Buffer.from(key.padEnd(width, '\0'), 'latin1'))
  const asked = Buffer.alloc(width)
  return (credential) => {
    // A digest would be as good and costs three times as much: 1/40 of a request.
    asked.write(credential.padEnd(width, '\0'), 'latin1')
    let found: KnownKey | undefined
    // Every key is compared: the time does not tell which one came close.
    for (let at = 0; at < known.length; at++) if (timingSafeEqual(known[at]!, asked)) found = keys[at]
    // A longer credential was cut, and characters outside Latin-1 were changed.
    return found?.key === credential ? found.principal : undefined
  }
}

function keyOf(entry: string | NamedKey, index: number): KnownKey {
  const owner = `The API key ${index + 1}`
  const given: Partial<NamedKey> = typeof entry === 'string' ? { key: entry } : entry
  const { id, key, scopes = [], expires } = given
  if (typeof key !== 'string' || key === '') {
    throw new TypeError(`${owner} is empty; give a string, or leave apiKey out to serve without a key`)
  }
  if (!KEY.test(key)) {
    throw new TypeError(`${owner} cannot be sent in a header; write visible ASCII, without a line's end`)
  }
  if (onlyValue(key) !== key) {
    throw new TypeError(`${owner} reads in a header like a list of one value; write it without its commas`)
  }
  if (!isStrings(scopes) || !scopes.every(isScope)) {
    throw new TypeError(`${owner} has scopes that are none; write a list of names, as in ['orders:read']`)
  }
  const expiresAt = expires === undefined ? undefined : new Date(expires).getTime()
  if (Number.isNaN(expiresAt)) {
    throw new TypeError(`${owner} has an 'expires' that is no date; write an ISO 8601 text or milliseconds`)
  }
  if (isInSeconds(expires)) {
    throw new TypeError(`${owner} has an 'expires' in seconds; write an ISO 8601 text or milliseconds`)
  }
  const name = typeof entry === 'string' ? hash('sha256', ID_LABEL + key, 'base64url').slice(0, 16) : id
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(`${owner} has no id; write { id: 'ops', key }`)
  }
  const principal: Principal = {
    id: requireId(owner, `key:${name}`),
    scopes: Object.freeze([...scopes]),
    ...expiresAt !== undefined && { expiresAt },
  }
  return { key, principal: Object.freeze(principal) }
}

/** What a token's issuer says about it. */
export interface TokenInfo {
  /** Whom the token speaks for; sessions and tasks belong to it. */
  readonly subject: string
  /** The issuer: subjects of two issuers are two callers. Left out: the one authorization server. */
  readonly issuer?: string | undefined
  readonly scopes?: readonly string[] | undefined
  /** OAuth's form, separated by spaces; read where `scopes` is left out. */
  readonly scope?: string | undefined
  /** Milliseconds since the epoch: `exp * 1000` of a token. */
  readonly expiresAt?: number | undefined
  /** What handlers read as `call.principal.claims`: at most 16 KiB of JSON. Left out: they read none. */
  readonly claims?: Claims | undefined
}

/** An id is stored with everything that belongs to its owner. */
const MAX_ID_BYTES = 512

/** Throws `TypeError` for an id that is too long. */
export function requireId(owner: string, id: string): string {
  if (Buffer.byteLength(id) > MAX_ID_BYTES) {
    throw new TypeError(`${owner} has an id of more than ${MAX_ID_BYTES} bytes; use its digest`)
  }
  if (id.startsWith('~')) {
    throw new TypeError(`${owner} has an id that begins with ~, which is for the server's own; leave it out`)
  }
  return id
}

/** Seconds, as tokens have them, would read as long expired milliseconds. */
export function isInSeconds(time: unknown): boolean {
  return typeof time === 'number' && time > 1e9 && time < 1e11
}

/** The principal of the `apiKey` function; undefined where it has expired. */
export function principalOf(found: Principal): Principal | undefined {
  if (typeof found !== 'object' || typeof found.id !== 'string' || found.id === '') {
    throw new TypeError(`The apiKey function returned no principal; return { id: 'who' } or nothing`)
  }
  const { id, expiresAt, scopes, claims } = found
  return checked('The principal of the apiKey function', id, expiresAt, claims, scopes)
}

/** The principal of a token; undefined where it has expired. `issuer` is the default. */
export function bearerOf(info: TokenInfo, issuer: string | undefined): Principal | undefined {
  const isInfo = typeof info === 'object' && typeof info.subject === 'string' && info.subject !== ''
  if (!isInfo) {
    throw new TypeError(`auth.verify returned no subject; return { subject: 'who', scopes: [] } or nothing`)
  }
  const { subject, scopes, scope, expiresAt, claims } = info
  const from = info.issuer ?? issuer
  if (typeof from !== 'string' || from === '') {
    throw new TypeError('auth.verify returned no issuer, and there are several authorizationServers; '
      + 'return { subject, issuer }')
  }
  if (scope !== undefined && typeof scope !== 'string') {
    throw new TypeError(`auth.verify returned a scope that is no text; write 'a b', or scopes: ['a', 'b']`)
  }
  const held = scopes ?? (scope === undefined ? [] : parseScope(scope))
  // An escaped issuer has no colon, so no two pairs share an id.
  const id = `token:${encodeURIComponent(from)}:${subject}`
  return checked('The token', id, expiresAt, claims, held)
}

function checked(
  owner: string, id: string, expiresAt: number | undefined, claims: unknown, scopes: unknown = [],
): Principal | undefined {
  requireId(owner, id)
  if (!isStrings(scopes)) {
    throw new TypeError(`${owner} has scopes that are no list; return strings, as in ['orders:read']`)
  }
  if (expiresAt !== undefined && typeof expiresAt !== 'number') {
    throw new TypeError(`${owner} has an expiresAt that is no number; return milliseconds of the epoch`)
  }
  if (isInSeconds(expiresAt)) {
    throw new TypeError(`${owner} has an expiresAt in seconds; return milliseconds, as in exp * 1000`)
  }
  if (expiresAt !== undefined && !(expiresAt > Date.now())) return undefined
  const principal = expiresAt === undefined ? { id, scopes } : { id, scopes, expiresAt }
  return claims === undefined ? principal : { ...principal, claims: claimsOf(owner, claims) }
}

const MAX_CLAIMS_BYTES = 16 * 1024

/** A frozen copy of claims. Throws `TypeError` for what is no object, no JSON or too large. */
function claimsOf(owner: string, claims: unknown): Claims {
  const json = isRecord(claims) ? jsonOf(owner, claims) : undefined
  if (json === undefined) {
    throw new TypeError(`${owner} has claims that are no object; return claims: { email, tenant }`)
  }
  if (Buffer.byteLength(json) > MAX_CLAIMS_BYTES) {
    throw new TypeError(`${owner} has claims of more than ${MAX_CLAIMS_BYTES} bytes of JSON; `
      + 'return only those that handlers read')
  }
  return JSON.parse(json, (_name, value: unknown) => Object.freeze(value)) as Claims
}

function jsonOf(owner: string, claims: object): string | undefined {
  try {
    return formatJson(claims)
  } catch (cause) {
    throw new TypeError(`${owner} has claims that JSON cannot represent; return plain values`, { cause })
  }
}
