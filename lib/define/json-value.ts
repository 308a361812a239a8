/**
 * What an author returned, as JSON text. What JSON would say as nothing at all (a map, a promise, a web
 * response) is the author's mistake, and is refused with what to return instead.
 */
import { isPlain, show } from './validate.ts'

/** What is no JSON value though it is an object, by its tag, and what to write in its place. */
const foreign: ReadonlyMap<string, readonly [what: string, instead: string]> = new Map([
  ['Map', ['a Map', 'Object.fromEntries(map)']],
  ['Set', ['a Set', '[...set]']],
  ['WeakMap', ['a WeakMap', 'a plain object']],
  ['WeakSet', ['a WeakSet', 'a list']],
  ['Promise', ['a promise', 'await promise']],
  ['Generator', ['a generator', '[...generator]']],
  ['AsyncGenerator', ['a generator', 'a list of what it yields']],
  ['Response', ['a Response', 'await response.text(), or await response.json()']],
  ['Request', ['a Request', 'what is in it']],
  ['Headers', ['Headers', 'Object.fromEntries(headers)']],
  ['FormData', ['FormData', 'Object.fromEntries(form)']],
  ['URLSearchParams', ['URLSearchParams', 'Object.fromEntries(parameters)']],
  ['ReadableStream', ['a stream', 'what is in it']],
  ['Blob', ['a Blob', 'a content block with its bytes']],
  ['File', ['a File', 'a content block with its bytes']],
])

/**
 * What a value is, and what to return in its place, where JSON would say nothing of it. Undefined: it is
 * fine.
 */
export function foreignTo(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || isPlain(value) || Array.isArray(value)) return undefined
  // By their tags those of another realm count too.
  const tag = tagOf(value)
  if (ArrayBuffer.isView(value) || tag === 'ArrayBuffer') {
    return `bytes; return a content block, as in { type: 'image', data: bytes, mimeType: 'image/png' }`
  }
  if (value instanceof Error || tag === 'Error') return 'an Error; throw it'
  const known = foreign.get(tag)
  return known && `${known[0]}; return ${known[1]}`
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}

/** The JSON text of what `who` returned. Throws `TypeError` for what JSON cannot say, or would lose. */
export function jsonOf(who: string, value: unknown): string {
  const what = foreignTo(value)
  if (what !== undefined) throw new TypeError(`${who} returned ${what}`)
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError(`${who} returned ${show(value)}, which JSON cannot say`)
  // What is lost leaves an empty object behind, so most values need not be walked.
  const lost = json.includes('{}') ? lostIn(value) : undefined
  if (lost !== undefined) {
    throw new TypeError(`${who} returned what holds ${lost[0]}; write ${lost[1]} in its place`)
  }
  return json
}

/**
 * A value as JSON spells it, where it spells itself (`toJSON`): a date is a text. `json` is its JSON text, if
 * that is there already.
 */
export function spelled(value: unknown, json?: string): unknown {
  if (typeof value !== 'object' || value === null || !('toJSON' in value)) return value
  if (typeof value.toJSON !== 'function') return value
  const text: string | undefined = json ?? JSON.stringify(value)
  return text === undefined ? undefined : JSON.parse(text)
}

/** What JSON has lost of a value that it has said: there is no circle in it. */
function lostIn(value: unknown): readonly [what: string, instead: string] | undefined {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const one = waiting.pop()
    if (typeof one !== 'object' || one === null || 'toJSON' in one) continue
    const known = isPlain(one) || Array.isArray(one) ? undefined : foreign.get(tagOf(one))
    if (known !== undefined) return known
    for (const inner of Object.values(one)) if (typeof inner === 'object') waiting.push(inner)
  }
  return undefined
}
