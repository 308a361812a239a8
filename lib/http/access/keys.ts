/**
 * Keys that are known beforehand: a list of them in, and out, for a credential, whose it is.
 *
 * Compared whole and in constant time. A key that was given no id has one made of its digest, so that what
 * belongs to its holder stays his when the list changes.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { isScope, parseScope } from '../../wire/challenge.ts'
import { isStrings } from '../../wire/json.ts'
import type { Principal } from '../../define/principal.ts'

/** One key with what it may do. Two keys with one `id` are one caller: that is how a key is rotated. */
export interface NamedKey {
  /** Who holds it, in at most 500 bytes; sessions and tasks belong to this name. */
  readonly id: string
  /** What callers send. */
  readonly key: string
  /** What it may do. Left out: nothing that asks for a scope. */
  readonly scopes?: readonly string[]
  /** A date, its ISO 8601 text, or milliseconds since the epoch. */
  readonly expires?: Date | string | number
}

/** Whose a credential is; undefined where it is no key of the list. An expired one is found too. */
export type FindKey = (credential: string) => Principal | undefined

interface KnownKey { readonly key: string; readonly principal: Principal }

/** What a header can carry from end to end. */
const KEY = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const ID_LABEL = 'triport key id\n'
/** Credentials are compared in at least so many characters, so that the time tells no key's length. */
const LEAST_WIDTH = 128

/** Makes the look-up. Throws `TypeError` for an entry that can be no key, and for a key given twice. */
export function createKeys(entries: readonly (string | NamedKey)[]): FindKey {
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
  // No key has a NUL, so what is filled up with them to one width stays as different as it was.
  const width = Math.max(LEAST_WIDTH, ...keys.map(({ key }) => key.length))
  const known = keys.map(({ key }) => Buffer.from(key.padEnd(width, '\0'), 'latin1'))
  const asked = Buffer.alloc(width)
  return (credential) => {
    // A digest of it would be as good, but costs three times as much: a fortieth of a whole request.
    asked.write(credential.padEnd(width, '\0'), 'latin1')
    let found: KnownKey | undefined
    // Every key is compared, so that the time tells nothing about which one came close.
    for (let at = 0; at < known.length; at++) if (timingSafeEqual(known[at]!, asked)) found = keys[at]
    // What was longer has been cut, and what is no Latin-1 has become some.
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
  /** Who the token speaks for; sessions and tasks belong to it. */
  readonly subject: string
  /**
   * Who says so. Subjects of two issuers are two callers, whatever they are called. Left out: the one
   * authorization server, where there is one.
   */
  readonly issuer?: string | undefined
  readonly scopes?: readonly string[] | undefined
  /** The same as OAuth writes it, with a space between two; read where `scopes` is left out. */
  readonly scope?: string | undefined
  /** Milliseconds since the epoch: `exp * 1000` of a token. */
  readonly expiresAt?: number | undefined
}

/** An id is kept with everything that belongs to its owner. */
const MAX_ID_BYTES = 512

/** An id that can own something. Throws `TypeError`. */
export function requireId(owner: string, id: string): string {
  if (Buffer.byteLength(id) > MAX_ID_BYTES) {
    throw new TypeError(`${owner} has an id of more than ${MAX_ID_BYTES} bytes; use its digest`)
  }
  if (id.startsWith('~')) {
    throw new TypeError(`${owner} has an id that begins with ~, which is for the server's own; leave it out`)
  }
  return id
}

/** Whether a time is in seconds, as tokens have it: taken for milliseconds it is over, without a word. */
export function isInSeconds(time: unknown): boolean {
  return typeof time === 'number' && time > 1e9 && time < 1e11
}

/** A principal as the `apiKey` function returned it; undefined where its time is over. */
export function principalOf(found: Principal): Principal | undefined {
  if (typeof found !== 'object' || typeof found.id !== 'string' || found.id === '') {
    throw new TypeError(`The apiKey function returned no principal; return { id: 'who' } or nothing`)
  }
  return checked('The principal of the apiKey function', found, found.scopes)
}

/** The principal of a token; undefined where its time is over. `issuer` is what an unnamed one stands for. */
export function bearerOf(info: TokenInfo, issuer: string | undefined): Principal | undefined {
  const isInfo = typeof info === 'object' && typeof info.subject === 'string' && info.subject !== ''
  if (!isInfo) {
    throw new TypeError(`auth.verify returned no subject; return { subject: 'who', scopes: [] } or nothing`)
  }
  const { subject, scopes, scope, expiresAt } = info
  const from = info.issuer ?? issuer
  if (typeof from !== 'string' || from === '') {
    throw new TypeError('auth.verify returned no issuer, and there are several authorizationServers; '
      + 'return { subject, issuer }')
  }
  if (scope !== undefined && typeof scope !== 'string') {
    throw new TypeError(`auth.verify returned a scope that is no text; write 'a b', or scopes: ['a', 'b']`)
  }
  const held = scopes ?? (scope === undefined ? [] : parseScope(scope))
  // An issuer has colons; escaped it has none, so that no two pairs have one id.
  const id = `token:${encodeURIComponent(from)}:${subject}`
  return checked('The token', { id, ...expiresAt !== undefined && { expiresAt } }, held)
}

function checked(
  owner: string, found: Omit<Principal, 'scopes'>, scopes: unknown = [],
): Principal | undefined {
  const { expiresAt } = found
  requireId(owner, found.id)
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
  return { ...found, scopes }
}
