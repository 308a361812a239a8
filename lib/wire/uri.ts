/**
 * URIs as text: percent-encoding, the normal form, and what lies below what. RFC 3986.
 */

/** Everything but unreserved characters, percent-encoded. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'))
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Everything but unreserved and reserved characters and escapes, percent-encoded. */
function encodeReserved(text: string): string {
  return text.replace(/%(?![0-9A-Fa-f]{2})|[^\w%.~!#$&'()*+,/:;=?@[\]-]+/gu, encode)
}

/**
 * A URI in its normal form, so that equal URIs are equal texts: what a URI cannot hold is escaped, escapes of
 * unreserved characters are undone and the others in upper case, the scheme in lower case (RFC 3986 §6.2.2).
 */
export function normalUri(uri: string): string {
  return encodeReserved(uri)
    .replace(/%[0-9A-Fa-f]{2}/g, (escape) => {
      const char = String.fromCharCode(parseInt(escape.slice(1), 16))
      return /[\w.~-]/.test(char) ? char : escape.toUpperCase()
    })
    .replace(/^[A-Za-z][A-Za-z0-9+.-]*:/, (scheme) => scheme.toLowerCase())
}

/** A text without its escapes; undefined where one is broken, or they are no UTF-8. */
export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Whether a path is another one or lies below it: `/team/a` below `/team` and `/team/`, `/teams` not. */
export function isAtOrBelow(path: string, top: string): boolean {
  return path === top || path.startsWith(top.endsWith('/') ? top : `${top}/`)
}
