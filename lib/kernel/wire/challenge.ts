/**
 * The `WWW-Authenticate` header, and the scopes that it names.
 * Spec: RFC 6750 §3, RFC 9110 §11.6.1, RFC 9728 §5.1; RFC 6749 §3.3.
 */

/** The parameters of a Bearer challenge, by their names on the wire. What is undefined is left out. */
export interface BearerParameters {
  readonly realm?: string | undefined
  readonly error?: 'invalid_token' | 'insufficient_scope' | undefined
  /** Names of scopes; what is none is left out. */
  readonly scope?: readonly unknown[] | undefined
  readonly resource_metadata?: string | undefined
}

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/

/** Whether a value is the name of one scope: visible ASCII without quotation marks and backslashes. */
export function isScope(value: unknown): value is string {
  return typeof value === 'string' && SCOPE.test(value)
}

export function parseScope(text: string): readonly string[] {
  return text.split(' ').filter((scope) => scope !== '')
}

/** Clients refuse headers that are too large. */
const MAX_SCOPE_CHARS = 2_048

/** A Bearer challenge, without what a quoted string cannot hold. Never throws. */
export function formatChallenge({ realm, error, scope, resource_metadata }: BearerParameters): string {
  const parts = [
    ...quoted('realm', realm),
    ...quoted('error', error),
    ...quoted('scope', scope === undefined ? undefined : joined(scope)),
    ...quoted('resource_metadata', resource_metadata),
  ]
  return parts.length === 0 ? 'Bearer' : `Bearer ${parts.join(', ')}`
}

function quoted(name: string, value: string = ''): readonly string[] {
  const plain = value.replace(/[^\x20-\x7e]|["\\]/g, '').trim()
  return plain === '' ? [] : [`${name}="${plain}"`]
}

function joined(scopes: readonly unknown[]): string {
  let text = ''
  for (const scope of scopes) {
    if (!isScope(scope)) continue
    if (text.length + scope.length >= MAX_SCOPE_CHARS) break
    text += text === '' ? scope : ` ${scope}`
  }
  return text
}
