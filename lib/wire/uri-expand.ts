/**
 * An expression of a URI template and values for its variables in, a piece of a URI out; and the
 * percent-encoding that this needs.
 *
 * Spec: RFC 6570 §3.2.
 */
import { WHOLE } from './uri-parts.ts'
import type { Composite, Expression, Operator, TemplateValues, Variable } from './uri-parts.ts'

/** Throws `TypeError` where a prefix is to be cut of a list or a record. */
export function expand({ operator, variables }: Expression, values: TemplateValues): string {
  const pieces: string[] = []
  for (const variable of variables) {
    const { name, max } = variable
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined || value === null) continue
    if (typeof value === 'object') pieces.push(...composite(operator, variable, value))
    else pieces.push(single(operator, name, encoded(operator, prefixOf(String(value), max))))
  }
  return pieces.length === 0 ? '' : operator.first + pieces.join(operator.separator)
}

function composite(
  operator: Operator, { name, max, isExploded }: Variable, value: Composite,
): readonly string[] {
  if (max !== WHOLE) {
    throw new TypeError(`'${name}:${max}' is the beginning of a string, and this is none; write '${name}'`)
  }
  const items = Object.values(value).map((item: string) => encoded(operator, item))
  if (items.length === 0) return []
  if (Array.isArray(value)) {
    return isExploded
      ? items.map((item) => single(operator, name, item))
      : [single(operator, name, items.join(','))]
  }
  const keys = Object.keys(value).map((key) => encoded(operator, key))
  if (!isExploded) return [single(operator, name, keys.map((key, at) => `${key},${items[at]}`).join(','))]
  return keys.map((key, at) => operator.isNamed ? single(operator, key, items[at]!) : `${key}=${items[at]}`)
}

function single({ isNamed, ifEmpty }: Operator, name: string, text: string): string {
  if (!isNamed) return text
  return text === '' ? name + ifEmpty : `${name}=${text}`
}

function encoded({ isReserved }: Operator, text: string): string {
  return isReserved ? encodeReserved(text) : encode(text)
}

/** Everything but unreserved characters, percent-encoded. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'))
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Everything but unreserved and reserved characters and escapes, percent-encoded. */
export function encodeReserved(text: string): string {
  return text.replace(/%(?![0-9A-Fa-f]{2})|[^\w%.~!#$&'()*+,/:;=?@[\]-]+/gu, encode)
}

/**
 * A URI in its normal form, so that equal URIs are equal texts: what a URI cannot hold is escaped, escapes of
 * unreserved characters are undone and the others in upper case, the scheme is in lower case (RFC 3986
 * §6.2.2).
 */
export function normalUri(uri: string): string {
  return encodeReserved(uri)
    .replace(/%[0-9A-Fa-f]{2}/g, (escape) => {
      const char = String.fromCharCode(parseInt(escape.slice(1), 16))
      return /[\w.~-]/.test(char) ? char : escape.toUpperCase()
    })
    .replace(/^[A-Za-z][A-Za-z0-9+.-]*:/, (scheme) => scheme.toLowerCase())
}

/** The first `max` characters; one outside the basic plane counts as one. */
export function prefixOf(text: string, max: number): string {
  return text.length <= max ? text : [...text].slice(0, max).join('')
}
