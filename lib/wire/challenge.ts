/**
 * The `WWW-Authenticate` header: how a refusal says what credential is wanted.
 * Spec: RFC 6750 §3, RFC 9110 §11.6.1, RFC 9728 §5.1.
 */

/** The parameters of a Bearer challenge, by their names on the wire. What is undefined is left out. */
export interface BearerParameters {
  readonly realm?: string | undefined
  readonly error?: 'invalid_token' | 'insufficient_scope' | undefined
  /** Scopes joined by spaces. */
  readonly scope?: string | undefined
  readonly resource_metadata?: string | undefined
}

/** A Bearer challenge. What a quoted string cannot hold is left out of the values. */
export function formatChallenge(parameters: BearerParameters): string {
  const parts = Object.entries(parameters)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}="${String(value).replace(/[^\x20-\x7e]|["\\]/g, '')}"`)
  return parts.length === 0 ? 'Bearer' : `Bearer ${parts.join(', ')}`
}
