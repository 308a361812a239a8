/**
 * The one credential of a request, from its headers; and whether a key stands where it must not, in the
 * query string, which ends up in logs. RFC 6750 §2, RFC 9110 §11.
 */
import type { KnownHeaders } from '../message/exchange.ts'

const BEARER = /^bearer +([^\s].*)$/i
const KEY_NAMES: ReadonlySet<string> = new Set(['api_key', 'apikey', 'x-api-key', 'access_token'])
/** The longest of them, every character of it escaped. */
const MAX_NAME = 36

/** The one credential: none where two differ, or where it is of another scheme. */
export function credentialOf(head: KnownHeaders): string | undefined {
  const bearer = head.authorization === undefined ? undefined : BEARER.exec(head.authorization)?.[1]
  if (head.authorization !== undefined && bearer === undefined) return undefined
  if (head.apiKey !== undefined && bearer !== undefined && head.apiKey !== bearer) return undefined
  return head.apiKey ?? bearer
}

/**
 * Why nobody can be told by what a request brings, be it good or bad in itself. Where there are only tokens,
 * nobody is sent to look for a key.
 */
export function credentialObjection(
  { authorization, apiKey }: KnownHeaders, query: string, tokensOnly = false,
): string {
  const way = `send it as ${tokensOnly ? '' : 'X-API-Key, or as '}Authorization: Bearer`
  const what = tokensOnly ? 'token' : 'key'
  if (hasKey(query)) return `A ${what} must not stand in the address, which is logged: ${way}`
  const bearer = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
  if (authorization !== undefined && bearer === undefined) {
    return tokensOnly ? 'Authorization must be Bearer and one token'
      : 'Authorization must be Bearer and one key or token; a key may be sent as X-API-Key instead'
  }
  if (apiKey !== undefined && bearer !== undefined && apiKey !== bearer) {
    return 'X-API-Key and Authorization say two different things: send one of them'
  }
  return `A valid ${what} is needed: ${way}`
}

/** Whether a query string, without its `?`, has a member that is called like a key. */
export function hasKey(query: string): boolean {
  for (let start = 0; start < query.length;) {
    const next = query.indexOf('&', start)
    const end = next < 0 ? query.length : next
    if (isKeyName(query.slice(start, end))) return true
    start = end + 1
  }
  return false
}

function isKeyName(member: string): boolean {
  const equals = member.indexOf('=')
  const name = equals < 0 ? member : member.slice(0, equals)
  if (name.length > MAX_NAME || equals < 0) return false
  // Each name for itself: what is broken elsewhere in the query must not hide it.
  return KEY_NAMES.has(name.replace(/%([\da-f]{2})/gi, character).toLowerCase())
}

function character(_escape: string, code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16))
}
