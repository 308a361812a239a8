/**
 * JSON text to a value, bounded in depth before it is parsed, so that no recursion of ours or of a
 * handler meets a nesting that a stranger chose.
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

/** Parses a JSON text nested at most `maxDepth` deep. Never throws. A byte order mark is passed over. */
export function parseJson(body: string, maxDepth: number): Parsed {
  const json = body.charCodeAt(0) === BYTE_ORDER_MARK ? body.slice(1) : body
  if (!isShallow(json, maxDepth)) {
    return { ok: false, why: `The JSON is nested deeper than ${maxDepth} levels` }
  }
  try {
    return { ok: true, value: JSON.parse(json) }
  } catch {
    const isEmpty = json.trim() === ''
    return { ok: false, why: isEmpty ? 'The body is empty; JSON is expected' : 'The body is not JSON' }
  }
}

/** Whether a text nests at most `maxDepth` deep. With no more opening brackets than that it needs no scan. */
export function isShallow(json: string, maxDepth: number): boolean {
  let count = 0
  for (let at = json.indexOf('{'); at >= 0 && count <= maxDepth; at = json.indexOf('{', at + 1)) count++
  for (let at = json.indexOf('['); at >= 0 && count <= maxDepth; at = json.indexOf('[', at + 1)) count++
  return count <= maxDepth || depthOf(json, maxDepth) <= maxDepth
}

/** The deepest nesting outside strings; stops counting once it is over `max`. */
function depthOf(json: string, max: number): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === QUOTE) {
      at = endOfString(json, at)
    } else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > deepest) deepest = depth
      if (deepest > max) return deepest
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      depth--
    }
  }
  return deepest
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
