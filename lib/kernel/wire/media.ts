/** Media types, and lists in headers. RFC 9110 §8.3 and §5.6. */

export const JSON_TYPE = 'application/json'

/** A media type with the one parameter that matters here. */
export interface MediaType {
  /** `type/subtype`, lower case. */
  readonly type: string
  /** Lower case; undefined where none is given. */
  readonly charset: string | undefined
}

const TOKEN = "[!#$%&'*+.^_\x60|~0-9A-Za-z-]+"
const TYPE = new RegExp(`^\\s*(${TOKEN}/${TOKEN})\\s*((?:;.*)?)$`)
const PARAMETER = new RegExp(`^\\s*(${TOKEN})=(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN}))\\s*$`)

/** Items of a list in a header, and parameters of one, that are read. */
const MAX_ITEMS = 64

/** Reads a `Content-Type`. Undefined where it does not follow the grammar. */
export function parseMediaType(value: string): MediaType | undefined {
  const match = TYPE.exec(value)
  if (match === null) return undefined
  let charset: string | undefined
  for (const parameter of splitList(match[2]!, ';').slice(1)) {
    if (parameter.trim() === '') continue
    const pair = PARAMETER.exec(parameter)
    if (pair === null) return undefined
    if (pair[1]!.toLowerCase() === 'charset') charset = (pair[2] ?? pair[3]!).toLowerCase()
  }
  return { type: match[1]!.toLowerCase(), charset }
}

/**
 * Reads a `Content-Type` that a client or a proxy may have written twice: of one type, with one charset where
 * any is given, both are that type. Undefined where they differ.
 */
export function oneMediaType(value: string): MediaType | undefined {
  const one = parseMediaType(value)
  if (one !== undefined || !value.includes(',')) return one
  const all = value.split(',', MAX_ITEMS + 1).filter((each) => each.trim() !== '').map(parseMediaType)
  const charset = all.find((each) => each?.charset !== undefined)?.charset
  const isOne = all.length > 0 && all.length <= MAX_ITEMS && all.every((each) => each !== undefined
    && each.type === all[0]?.type && (each.charset ?? charset) === charset)
  return isOne ? { type: all[0]!.type, charset } : undefined
}

/** What a separator is between, outside of quotation marks: the first 64. RFC 9110 §5.6.4. */
export function splitList(list: string, separator: ',' | ';'): readonly string[] {
  if (!list.includes('"')) return list.split(separator, MAX_ITEMS)
  const items: string[] = []
  let from = 0
  let isQuoted = false
  for (let at = 0; at < list.length && items.length < MAX_ITEMS; at++) {
    const char = list[at]
    if (char === '"') isQuoted = !isQuoted
    else if (isQuoted && char === '\\') at++
    else if (!isQuoted && char === separator) {
      items.push(list.slice(from, at))
      from = at + 1
    }
  }
  if (items.length < MAX_ITEMS) items.push(list.slice(from))
  return items
}

/** The type of a media type before its slash, in lower case: types are compared in any case. */
export function mainTypeOf(mediaType: string): string {
  return mediaType.slice(0, Math.max(0, mediaType.indexOf('/'))).trim().toLowerCase()
}
