/**
 * JSON text to a value, bounded: in objects before it is parsed, each of which costs many times its text, and
 * in depth before or right after, so that no recursion meets a nesting that a client chose. RFC 8259.
 */
import { PLACE_LENGTH, placesIn } from '../../kernel/wire/random.ts'

/** A value, or a sentence that says why there is none; `isOverBounds`: the text was not looked at further. */
export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string; readonly isOverBounds?: true }

const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const CLOSE_BRACE = 0x7d
const CLOSE_BRACKET = 0x5d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const BYTE_ORDER_MARK = 0xfeff

/** A shorter text is scanned where it may nest too deep: that is cheaper than checking its values. */
const SCANNED_LENGTH = 16 * 1024
/** More opening brackets than these are counted before they are parsed, which would take long. */
const MANY = 100_000
/** Other values cost a fifth of what an object costs. */
const VALUES_PER_OBJECT = 5

/**
 * Parses a JSON text nested at most `maxDepth` deep, of at most `maxObjects` objects and lists together; a
 * long one of at most five times as many values. Never throws. A byte order mark is skipped.
 */
export function parseJson(body: string, maxDepth: number, maxObjects: number = Infinity): Parsed {
  const json = body.charCodeAt(0) === BYTE_ORDER_MARK ? body.slice(1) : body
  const isBold = opensMoreThan(json, Math.min(maxDepth, maxObjects))
  const isScanned = json.length <= SCANNED_LENGTH ? isBold : mayBeTooMuch(json, maxObjects)
  const found = isScanned ? scan(json, maxDepth, maxObjects) : 0
  if (typeof found === 'string') return { ok: false, why: found }
  try {
    const value: unknown = JSON.parse(json)
    const isTooDeep = isBold && !isScanned && isDeeper(value, maxDepth)
    return isTooDeep ? { ok: false, why: tooDeep(maxDepth) } : { ok: true, value }
  } catch {
    const isEmpty = json.trim() === ''
    return { ok: false, why: isEmpty ? 'The body is empty; JSON is expected' : 'The body is not JSON' }
  }
}

/** What a JSON value may be: how deep, and of how many objects and lists. */
export interface JsonBounds { readonly maxDepth: number; readonly maxObjects: number }

/** The bounds of a body that no limit of a server changes: for what models and frameworks give. */
export const usualBounds: JsonBounds = Object.freeze({ maxDepth: 64, maxObjects: 100_000 })

/** Reads the JSON texts in a body. Together they hold no more than the body itself may. */
export class InnerJson {
  readonly #maxDepth: number
  #left: number

  constructor({ maxDepth, maxObjects }: JsonBounds) {
    this.#maxDepth = maxDepth
    this.#left = maxObjects
  }

  parse(text: string): Parsed {
    const found = scan(text, this.#maxDepth, this.#left)
    if (typeof found === 'string') return { ok: false, why: found, isOverBounds: true }
    this.#left -= found
    return parseJson(text, this.#maxDepth)
  }
}

function tooDeep(maxDepth: number): string {
  return `The JSON is nested deeper than ${maxDepth} levels`
}

/** Whether a text has more opening brackets than `few`; where not, it has too much of nothing. */
function opensMoreThan(json: string, few: number): boolean {
  let count = 0
  for (let at = json.indexOf('{'); at >= 0 && count <= few; at = json.indexOf('{', at + 1)) count++
  for (let at = json.indexOf('['); at >= 0 && count <= few; at = json.indexOf('[', at + 1)) count++
  return count > few
}

/** Whether a long text may open too many brackets, or hold too many commas, by samples of it. */
function mayBeTooMuch(json: string, maxObjects: number): boolean {
  const next = placesIn(json.length)
  let seen = 0
  let brackets = 0
  let commas = 0
  for (let place = next(); place >= 0; place = next()) {
    const end = place + PLACE_LENGTH
    for (let at = place; at < end; at++) {
      const char = json.charCodeAt(at)
      if (char === OPEN_BRACE || char === OPEN_BRACKET) brackets++
      else if (char === COMMA) commas++
    }
    seen += PLACE_LENGTH
  }
  const share = json.length / seen
  return brackets * share > Math.min(MANY, maxObjects / 2)
    || commas * share > maxObjects * VALUES_PER_OBJECT * 0.9
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && isDeeper(item, levels - 1)) return true
    return false
  }
  for (const name in value) {
    const member: unknown = value[name as keyof typeof value]
    if (typeof member === 'object' && isDeeper(member, levels - 1)) return true
  }
  return false
}

/** Counts brackets and commas outside strings: how many open, or a sentence about what is too much. */
function scan(json: string, maxDepth: number, maxObjects: number): number | string {
  const maxCommas = maxObjects * VALUES_PER_OBJECT
  let depth = 0
  let count = 0
  let commas = 0
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === QUOTE) {
      at = endOfString(json, at)
    } else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > maxDepth) return tooDeep(maxDepth)
      if (++count > maxObjects) return `The JSON holds more than ${maxObjects} objects and lists`
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      depth--
    } else if (char === COMMA && ++commas > maxCommas) {
      return `The JSON holds more than ${maxCommas} values`
    }
  }
  return count
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
