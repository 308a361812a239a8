/**
 * What goes wrong with a model, said twice: the caller reads what happened, the server's log whose words it
 * was. An endpoint's words are bounded, on one line, and without secrets.
 */
import { isRecord } from '../define/content.ts'
import { Fault } from '../define/fault.ts'
import type { Model } from './openai-options.ts'

const TOKENS = /\bBearer\s+\S+|\b(?:sk|pk|gsk|hf|xai)[-_][\w*-]{8,}/gi

/** `said` is an error, or what the endpoint sent: `{ error: { message } }`, or what stands in its place. */
export function failure(
  model: Model, what: string, said?: unknown, kind: Fault['kind'] = 'upstream', retryAfterSeconds?: number,
): Fault {
  const words = model.secrets.reduce((text, secret) => text.replaceAll(secret, '***'), wordsOf(said))
  const line = words.replace(TOKENS, '***').replace(/[\s\p{C}]+/gu, ' ').trim()
  const why = line === '' ? '' : `: ${line.replace(/^(.{200}).+$/u, '$1…')}`
  const cause = `${model.name} at ${model.url.origin}${why}`
  return new Fault(kind, `The model ${what}`, undefined, { cause, retryAfterSeconds })
}

function wordsOf(said: unknown): string {
  if (said instanceof Error) {
    // What fetch throws has its reason inside; where several addresses were tried, a code is all it says.
    if (said.cause !== undefined) return wordsOf(said.cause)
    return said.message || ('code' in said ? String(said.code) : said.name)
  }
  const [value]: readonly unknown[] = [said].flat()
  const error = isRecord(value) ? value['error'] ?? value : undefined
  return textIn(isRecord(error) ? error['message'] ?? error['detail'] : error)
}

/** A text, or the text in a list of parts, as some endpoints send it beside a model's thoughts. */
export function textIn(value: unknown): string {
  if (!Array.isArray(value)) return typeof value === 'string' ? value : ''
  return value.map((part: unknown) => isRecord(part) ? textIn(part['text']) : '').join('')
}
