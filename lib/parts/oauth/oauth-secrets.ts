/** Digests of what is secret, and their comparison in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto'

/** SHA-256 in base64url, as a code challenge has it (RFC 7636 §4.2). */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

export function isSameSecret(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
