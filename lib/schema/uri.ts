/**
 * URI references resolved against a base (RFC 3986 §5.2), on text alone: any scheme, relative bases too.
 * Nothing is normalized but dot segments, since JSON Schema compares URIs as they are written.
 */
type Parts = readonly (string | undefined)[]

/** The target of a reference, with its fragment. */
export function resolve(base: string, reference: string): string {
  const [, scheme = '', authority = '', path = '', query = ''] = partsOf(base)
  const [, ownScheme, ownAuthority, ownPath = '', ownQuery, fragment = ''] = partsOf(reference)
  if (ownScheme !== undefined || base === '') return reference
  if (ownAuthority !== undefined) return scheme + reference
  if (ownPath === '') return scheme + authority + path + (ownQuery ?? query) + fragment
  const folder = ownPath.startsWith('/') ? '' : path.slice(0, path.lastIndexOf('/') + 1) || (authority && '/')
  return scheme + authority + withoutDots(folder + ownPath) + (ownQuery ?? '') + fragment
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

/** RFC 3986 appendix B. */
function partsOf(uri: string): Parts {
  return /^([^:/?#]+:)?(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(uri) ?? []
}

function withoutDots(path: string): string {
  const output: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..' && (output.length > 1 || output[0])) output.pop()
    if (!/^\.\.?$/.test(segment)) output.push(segment)
  }
  return output.join('/') + (/\/\.\.?$/.test(path) ? '/' : '')
}
