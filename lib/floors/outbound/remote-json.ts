/** JSON objects that others send, within bounds of size, depth and time. */
import { timer } from '../../kernel/util/clock.ts'
import { isRecord } from '../../kernel/util/record.ts'
import { parseJson } from '../bounds/parse-json.ts'

type Members = Readonly<Record<string, unknown>>

const MAX_DEPTH = 16
const MAX_BYTES = 262_144

/** The object of a JSON text; undefined for any other. */
export function objectIn(json: string): Members | undefined {
  const parsed = parseJson(json, MAX_DEPTH)
  return parsed.ok && isRecord(parsed.value) ? parsed.value : undefined
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

/** The text of a response. Rejects where it has more bytes; the rest is not read. */
async function textWithin({ body }: Response, maxBytes: number): Promise<string> {
  const reader = body?.getReader()
  if (reader === undefined) return ''
  const decoder = new TextDecoder()
  let text = ''
  for (let size = 0; ;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > maxBytes) throw new Error(`The response is larger than ${maxBytes} bytes`)
    text += decoder.decode(value, { stream: true })
  }
}
