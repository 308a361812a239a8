/**
 * Who is calling. Made by authentication; everything that outlives a call (sessions, conversations,
 * tasks) belongs to a principal and is invisible to every other.
 */

/** An authenticated caller, or `anonymous` where the server asks for no key. */
export interface Principal {
  /** Stable and unique among callers, for example `key:1` or a token's subject. Never a credential. */
  readonly id: string
  /** What the caller may do. A tool's `scopes` are looked up here. */
  readonly scopes: readonly string[]
  /** Milliseconds since the epoch after which the credential counts no more. */
  readonly expiresAt?: number
}

/** Everybody, where authentication is off. */
export const anonymous: Principal = Object.freeze({ id: 'anonymous', scopes: Object.freeze([]) })
