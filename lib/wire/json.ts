/**
 * JSON text to a value, bounded before it is parsed: in depth, so that no recursion of ours or of a handler
 * meets a nesting that a stranger chose, and in objects, each of which costs many times its text.
 *
 * Knows no limit of its own and no protocol. RFC 8259.
 */

/** What came of a text: a value, or a sentence that says why there is none. */
export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string }

const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const CLOSE_BRACE = 0x7d
const CLOSE_BRACKET = 0x5d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const BYTE_ORDER_MARK = 0xfeff

/** What JSON does not take as it is in a string, and the halves of characters that it might not. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/

/**
 * Parses a JSON text nested at most `maxDepth` deep, of at most `maxObjects` objects and lists together.
 * Never throws. A byte order mark is passed over.
 */
export function parseJson(body: string, maxDepth: number, maxObjects: number = Infinity): Parsed {
  const json = body.charCodeAt(0) === BYTE_ORDER_MARK ? body.slice(1) : body
  const excess = excessOf(json, maxDepth, maxObjects)
  if (excess === 'depth') return { ok: false, why: `The JSON is nested deeper than ${maxDepth} levels` }
  if (excess === 'objects') {
    return { ok: false, why: `The JSON holds more than ${maxObjects} objects and lists` }
  }
  try {
    return { ok: true, value: JSON.parse(json) }
  } catch {
    const isEmpty = json.trim() === ''
    return { ok: false, why: isEmpty ? 'The body is empty; JSON is expected' : 'The body is not JSON' }
  }
}

/** What a text has too much of. With no more opening brackets than its depth may be it needs no scan. */
function excessOf(json: string, maxDepth: number, maxObjects: number): 'depth' | 'objects' | undefined {
  const few = Math.min(maxDepth, maxObjects)
  let count = 0
  for (let at = json.indexOf('{'); at >= 0 && count <= few; at = json.indexOf('{', at + 1)) count++
  for (let at = json.indexOf('['); at >= 0 && count <= few; at = json.indexOf('[', at + 1)) count++
  return count <= few ? undefined : scan(json, maxDepth, maxObjects)
}

/** Counts brackets outside strings; stops at the first that is too much. */
function scan(json: string, maxDepth: number, maxObjects: number): 'depth' | 'objects' | undefined {
  let depth = 0
  let count = 0
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === QUOTE) {
      at = endOfString(json, at)
    } else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > maxDepth) return 'depth'
      if (++count > maxObjects) return 'objects'
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      depth--
    }
  }
  return undefined
}

/** Where the string that opens at `from` closes: at the first quote behind an even run of backslashes. */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let slash = at - 1
    while (json.charCodeAt(slash) === BACKSLASH) slash--
    if ((at - slash) % 2 === 1) return at
  }
  return json.length
}

/**
 * A text as JSON. One with nothing to escape is taken as it is: to look costs half of what `JSON.stringify`
 * does, which copies it.
 */
export function quote(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`
}
