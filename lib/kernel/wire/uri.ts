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
 * A URI, or its beginning, in its normal form, so that equal URIs are equal texts: what a URI cannot hold is
 * escaped, escapes of unreserved characters are undone and the others in upper case, the scheme in lower
 * case, and the host of the web (RFC 3986 §6.2.2). Of other schemes the host may be a name of an author's.
 */
export function normalUri(uri: string): string {
  return encodeReserved(uri)
    .replace(/%[0-9A-Fa-f]{2}/g, (escape) => {
      const char = String.fromCharCode(parseInt(escape.slice(1), 16))
      return /[\w.~-]/.test(char) ? char : escape.toUpperCase()
    })
    .replace(/^[A-Za-z][A-Za-z0-9+.-]*:/, (scheme) => scheme.toLowerCase())
    .replace(/^(?:https?|wss?|ftp):\/\/[^/?#@]*/, (origin) => origin.toLowerCase())
}

/** The ports of schemes that have one. RFC 9110 §4.2, RFC 6455 §3, RFC 1738 §3.2.1. */
export const defaultPorts: ReadonlyMap<string, string> = new Map([
  ['http', '80'], ['https', '443'], ['ws', '80'], ['wss', '443'], ['ftp', '21'],
])

/**
 * The same of a whole URI. An address of the web also loses the dot of the root and the port that its scheme
 * has anyway, and has the path `/` where it has none (RFC 3986 §6.2.3).
 */
export function normalAddress(uri: string): string {
  return normalUri(uri)
    .replace(/^(https?|wss?|ftp):\/\/([^/?#@:[]+|\[[^\]/?#@]+\])(?::(\d*))?(?=[/?#]|$)\/?/, (...found) => {
      const [, scheme, host, digits = ''] = found as readonly string[]
      const port = digits === '' ? '' : String(Number(digits))
      const isUsual = port === '' || port === defaultPorts.get(scheme!)
      return `${scheme}://${host!.replace(/\.$/, '')}${isUsual ? '' : `:${port}`}/`
    })
    // RFC 8089 §2: three ways to write a file of this machine.
    .replace(/^file:(?:\/\/localhost)?\/(?!\/)/i, 'file:///')
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

const IN_OTHER_LETTERS = /^(\*\.)?([^\s:/?#@\\[\]%]+)(:\d+)?$/

/** A host of a list as URLs write it: in lower case, a name in other letters as `xn--…` (RFC 5891). */
export function asciiHost(host: string): string {
  const [, star = '', name, port = ''] = /[^\x00-\x7f]/.test(host) ? IN_OTHER_LETTERS.exec(host) ?? [] : []
  if (name === undefined || !URL.canParse(`https://${name}`)) return host.toLowerCase()
  return star + new URL(`https://${name}`).hostname + port
}
