/**
 * Which version of A2A a client says that it speaks: a request's head and query in, major and minor out.
 * Knows no dialect. Spec: A2A 1.0 §3.6.
 */
import type { Exchange } from '../../http/message/exchange.ts'

/** A version that a client says it speaks, by major and minor; undefined where it says none. */
export type Version = string | undefined

/** Where a client says it. */
type Asked = Pick<Exchange, 'head' | 'query'>

/** §3.6.1: what a client says of its version, in a header or else in a query parameter. */
export function versionTextOf({ head: { a2aVersion }, query }: Asked): string | undefined {
  if (a2aVersion !== undefined || query === '') return a2aVersion
  return new URLSearchParams(query).get('A2A-Version') ?? undefined
}

/** Which version that is. 0.2 is spoken as 0.3. */
export function versionOf(asked: Asked): Version {
  const text = versionTextOf(asked)?.trim()
  if (text === undefined || text === '') return undefined
  const [, major, minor = '0'] = /^(\d{1,4})(?:\.(\d{1,4}))?(?:\.\d{1,9})?$/.exec(text) ?? []
  if (major === undefined) return text
  const version = `${Number(major)}.${Number(minor)}`
  return version === '0.2' ? '0.3' : version
}
