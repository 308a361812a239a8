/** How long an answer of HTTP may be kept, as its headers say. RFC 9111 §4.2, §5.2.2, §5.3. */

/** The headers that say so. */
export interface CacheHeaders {
  readonly 'cache-control'?: string | undefined
  readonly expires?: string | undefined
  readonly age?: string | undefined
  readonly date?: string | undefined
}

/**
 * Milliseconds for which it is fresh, zero where it is stale already; `no-store` where it must be asked for
 * each time. Undefined where nothing is said.
 */
export function freshMsOf(headers: CacheHeaders): number | 'no-store' | undefined {
  const maxAges: number[] = []
  for (const one of headers['cache-control']?.split(',') ?? []) {
    const [directive = '', value = ''] = one.split('=').map((part) => part.trim().toLowerCase())
    if (directive === 'no-store' || directive === 'no-cache') return 'no-store'
    // One that cannot be read means stale.
    if (directive === 'max-age') maxAges.push(secondsOf(value.replaceAll('"', '')) ?? 0)
  }
  const age = secondsOf(headers.age ?? '') ?? 0
  if (maxAges.length > 0) return Math.max(0, Math.min(...maxAges) - age) * 1_000
  if (headers.expires === undefined) return undefined
  const since = Date.parse(headers.date ?? '') || Date.now()
  return Math.max(0, (Date.parse(headers.expires) || 0) - since - age * 1_000)
}

function secondsOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
