/** JSON objects that others send, within bounds of size, depth and time. */
import { timer } from '../util/clock.ts'
import { textWithin } from './bounded.ts'
import { parseJson } from './json.ts'

type Members = Readonly<Record<string, unknown>>

const MAX_DEPTH = 16
const MAX_BYTES = 262_144

/** The object of a JSON text; undefined for any other. */
export function objectIn(json: string): Members | undefined {
  const parsed = parseJson(json, MAX_DEPTH)
  const value: unknown = parsed.ok ? parsed.value : undefined
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Members : undefined
}

/**
 * The status of another server's answer, and the object in it. Rejects for one that redirects, is too large,
 * or does not come in time.
 */
export async function askForObject(
  url: string, timeoutMs: number, more: RequestInit = {},
): Promise<{ readonly status: number; readonly object: Members | undefined }> {
  const ending = new AbortController()
  const running = timer(timeoutMs, () => ending.abort())
  try {
    const headers = { accept: 'application/json' }
    const response = await fetch(url, { ...more, headers, signal: ending.signal, redirect: 'error' })
    return { status: response.status, object: objectIn(await textWithin(response, MAX_BYTES)) }
  } finally {
    clearTimeout(running)
    ending.abort()
  }
}
