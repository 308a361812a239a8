/**
 * Who a function of the operator's says is calling, checked: ids that can be kept, scopes that are a list.
 * What is wrong here is the function's mistake, and throws; a time that is over is nobody's.
 */
import { isStrings } from '../../wire/json.ts'
import { parseScope } from '../../wire/challenge.ts'
import type { Principal } from '../../define/principal.ts'

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
