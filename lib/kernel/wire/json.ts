/** JSON text that every client reads. RFC 8259. */

/** What JSON escapes in a string, besides halves of surrogate pairs. */
const ESCAPED = /["\\\u0000-\u001f]/

export function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** A copy of a value as JSON has it; undefined for what it has nothing of. Throws as `formatJson` does. */
export function jsonCopy(value: unknown): unknown {
  const json: string | undefined = formatJson(value)
  return json === undefined ? undefined : JSON.parse(json)
}

type Replacer = (name: string, value: unknown) => unknown

/**
 * A value as JSON text that every client reads: half of a surrogate pair, in a text or a name, is U+FFFD.
 * Many refuse the whole text for one (RFC 8259 §8.2). Undefined for what JSON cannot represent. Throws as
 * `JSON.stringify` does.
 */
export function formatJson<T>(
  value: T, indent?: number, replacer?: Replacer,
): undefined extends T ? string | undefined : string
export function formatJson(value: unknown, indent?: number, replacer?: Replacer): string | undefined {
  const json: string | undefined = JSON.stringify(value, replacer, indent)
  // The only escapes of this kind that are written.
  return json === undefined || !json.includes(HALF) ? json : json.replace(HALVES, withoutHalf)
}

const HALF = '\\ud'
/** An escaped backslash is matched too, so that none begins at the second of two. */
const HALVES = /\\(?:\\|ud[89a-f][\da-f]{2})/g

function withoutHalf(escape: string): string {
  return escape === '\\\\' ? escape : '\ufffd'
}

/** A text as JSON. To look for what needs escapes costs half of what `JSON.stringify`, a copy, does. */
export function quote(text: string): string {
  return ESCAPED.test(text) || !text.isWellFormed() ? formatJson(text) : `"${text}"`
}
