/** The header value that carries any text. Spec: MCP 2026-07-28, header values; RFC 4648 §4. */
import { decodeBase64, utf8Of } from '../../../kernel/wire/base64.ts'

const OPENING = '=?base64?'

const CLOSING = '?='

/**
 * The value of an `Mcp-Param-*` header: its text, or the UTF-8 text between `=?base64?` and `?=`.
 * Undefined for a byte other than tab and 0x20–0x7E, for what is not canonical base64 between the two
 * markers, and for what is not UTF-8. With one marker only, the value is literal.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (/[^\t\x20-\x7e]/.test(value)) return undefined
  const literal = value.trim()
  const isMarked = literal.length >= OPENING.length + CLOSING.length
    && literal.startsWith(OPENING) && literal.endsWith(CLOSING)
  if (!isMarked) return literal
  const bytes = decodeBase64(literal.slice(OPENING.length, -CLOSING.length))
  return bytes && utf8Of(bytes)
}
