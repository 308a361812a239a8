/** Media types and the `Accept` header. RFC 9110 §8.3 and §12.5.1. */
import { BoundedMap } from '../util/bounded-map.ts'

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

/**
 * How much an `Accept` header wants a media type, 0 to 1, by the most specific range that matches it.
 * A missing header wants everything. What follows the 64th comma is not read.
 */
export function acceptance(accept: string | undefined, type: string): number {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === '*') return 1
  if (accept.length > MAX_REMEMBERED_CHARS) return read(accept, type)
  let wanted = remembered.get(accept)
  if (wanted === undefined) remembered.set(accept, wanted = new Map())
  let quality = wanted.get(type)
  if (quality === undefined) wanted.set(type, quality = read(accept, type))
  return quality
}

// Clients send the same few values again and again.
const MAX_REMEMBERED_CHARS = 256
const remembered = new BoundedMap<Map<string, number>>(256)

function read(accept: string, type: string): number {
  const [main] = type.split('/')
  let best = -1
  let quality = 0
  for (const range of splitList(accept, ',')) {
    const [name = '', ...parameters] = splitList(range, ';')
    const wanted = name.trim().toLowerCase()
    const specific = wanted === type ? 2 : wanted === `${main}/*` ? 1 : wanted === '*/*' ? 0 : -1
    if (specific <= best) continue
    best = specific
    quality = qualityOf(parameters)
  }
  return quality
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

function qualityOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=')
    if (name.trim().toLowerCase() !== 'q') continue
    const quality = Number(value.trim())
    return quality >= 0 && quality <= 1 ? quality : 0
  }
  return 1
}
