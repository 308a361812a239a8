/**
 * URI references resolved against a base (RFC 3986 §5.2), on text alone: any scheme, relative bases too.
 *
 * Nothing is normalised but dot segments, since JSON Schema compares URIs as they are written.
 */

/** RFC 3986 appendix B. */
const PARTS = /^([^:/?#]+:)?(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?$/s

/** The target of a reference, with its fragment. */
export function resolve(base: string, reference: string): string {
  if (base === '') return reference
  const [, scheme = '', authority = '', path = '', query = ''] = PARTS.exec(base) ?? []
  const [, ownScheme, ownAuthority, ownPath = '', ownQuery, fragment = ''] = PARTS.exec(reference) ?? []
  if (ownScheme !== undefined) return reference
  if (ownAuthority !== undefined) return scheme + reference
  if (ownPath === '') return scheme + authority + path + (ownQuery ?? query) + fragment
  const merged = ownPath.startsWith('/') ? ownPath
    : authority !== '' && path === '' ? `/${ownPath}`
    : path.slice(0, path.lastIndexOf('/') + 1) + ownPath
  return scheme + authority + withoutDots(merged) + (ownQuery ?? '') + fragment
}

/** A URI and its fragment, the latter without `#` and percent-encoding. */
export function split(uri: string): [uri: string, fragment: string] {
  const [base = '', fragment = ''] = uri.split('#', 2)
  try {
    return [base, decodeURIComponent(fragment)]
  } catch {
    return [base, fragment]
  }
}

function withoutDots(path: string): string {
  const output: string[] = []
  const segments = path.split('/')
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1
    if (segment === '..' && (output.length > 1 || (output.length === 1 && output[0] !== ''))) output.pop()
    if (segment !== '.' && segment !== '..') output.push(segment)
    else if (last) output.push('')
  }
  return output.join('/')
}
