/**
 * UTF-8 and base64, read strictly. Another alphabet, missing padding, stray bits or characters make it no
 * base64: Node's decoder skips what it does not know, so each result is encoded again and compared.
 * Spec: RFC 4648 §3.5, §4, §5.
 */

/** Reads base64: standard and padded, or URL-safe without padding. Undefined where it is not canonical. */
export function decodeBase64(
  text: string, encoding: 'base64' | 'base64url' = 'base64',
): Uint8Array | undefined {
  const bytes = Buffer.from(text, encoding)
  return bytes.toString(encoding) === text ? bytes : undefined
}

/** Base64 of either alphabet, padded or not, in the standard spelling. Undefined where it is none. */
export function standardBase64(text: string): string | undefined {
  if (text.length % 4 === 0 && /^[A-Za-z\d+/]*={0,2}$/.test(text)) return text
  const digits = text.replace(/={1,2}$/, '')
  const isPadded = digits.length < text.length
  if (digits.length % 4 === 1 || (isPadded && text.length % 4 !== 0)) return undefined
  if (!/^[A-Za-z\d+/_-]*$/.test(digits)) return undefined
  const standard = digits.replaceAll('-', '+').replaceAll('_', '/')
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=')
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of bytes; undefined where they are no UTF-8. */
export function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
