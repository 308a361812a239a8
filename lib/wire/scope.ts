/**
 * Scopes: what a caller may do, as OAuth spells it. A list of names, or one text with a space between
 * them. RFC 6749 §3.3.
 */

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/

/** Whether a value is the name of one scope: visible ASCII without quotation marks and backslashes. */
export function isScope(value: unknown): value is string {
  return typeof value === 'string' && SCOPE.test(value)
}

/** The names in a `scope` text. */
export function parseScope(text: string): readonly string[] {
  return text.split(' ').filter((scope) => scope !== '')
}
