/**
 * What an author's code returned, before anybody knows what it means: pieces, read one after the other, and
 * JSON text. What JSON would lose (a map, a promise, a web response) is refused with what to return instead.
 */
import { isThenable, letEnd } from '../util/thenable.ts'
import { WholeCharacters } from '../wire/characters.ts'
import { formatJson, jsonCopy } from '../wire/json.ts'
import { isPlainText, isRecord, text, textOf } from './content.ts'
import { Fault } from './fault.ts'
import { isPlain, show } from './validate.ts'
import type { Content, TextContent } from './content.ts'
import type { LiveCall } from './live-call.ts'

/** Blocks of content, put together. A text that comes in pieces is one text, each of whole characters. */
export class ContentBuilder {
  readonly content: Content[] = []
  text = ''
  size = 0
  readonly #what: string
  readonly #maxBytes: number
  readonly #characters = new WholeCharacters()
  /** The last block, while plain text may still be added to it. */
  #growing: { readonly type: 'text'; text: string } | undefined

  constructor(what: string, maxBytes: number) {
    this.#what = what
    this.#maxBytes = maxBytes
  }

  /** Whether there is nothing to show, and nothing that waits. */
  get isEmpty(): boolean { return this.content.length === 0 && !this.#characters.isWaiting }

  /** Counts what is kept beside the blocks, too. Throws `Fault('too-large')`. */
  count(length: number): void {
    this.size += length
    if (this.size > this.#maxBytes) throw tooLargeFault(this.#what, this.#maxBytes)
  }

  /** What can be shown by now: half of a character at the end waits. Throws `Fault('too-large')`. */
  addBlock(block: Content): readonly Content[] {
    if (isPlainText(block)) {
      const piece = this.addText(block.text)
      return piece === undefined ? [] : [piece]
    }
    const rest = this.end()
    const own = textOf([block])
    this.count(own === '' ? formatJson(block).length : own.length)
    this.text += own
    this.#growing = undefined
    this.content.push(block)
    return rest === undefined ? [block] : [rest, block]
  }

  /** The same of plain text. */
  addText(piece: string): TextContent | undefined {
    this.count(piece.length)
    const shown = this.#characters.take(piece)
    return shown === '' && piece !== '' ? undefined : this.#grow(shown)
  }

  /** What has waited, where no text follows. */
  end(): TextContent | undefined {
    const rest = this.#characters.rest()
    return rest === '' ? undefined : this.#grow(rest)
  }

  #grow(piece: string): TextContent {
    this.text += piece
    if (this.#growing !== undefined) {
      this.#growing.text += piece
    } else {
      this.#growing = { type: 'text', text: piece }
      this.content.push(this.#growing)
    }
    return text(piece)
  }
}

export function tooLargeFault(what: string, maxBytes: number): Fault {
  return new Fault('too-large', `The ${what} is larger than ${maxBytes} bytes`)
}

/** Pieces that are taken in one iteration of the event loop. */
const IN_A_ROW = 1_024

/** Whether a value is read piece by piece, waiting for each. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Whether a value is read piece by piece. A list is one piece, and so is what has a JSON form of its own. */
export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    && Symbol.iterator in value && !('toJSON' in value)
}

/** Takes pieces, one after the other. The last one is what was returned: `isEnd`. */
export interface PieceTaker {
  /** A promise is awaited before the next piece is asked for. */
  take(piece: unknown, isEnd: boolean): void | Promise<void>
}

/**
 * Reads to the end. Each piece is taken before the next is asked for. Rejects with what was thrown, or with
 * the reason of the call where that is over; then the generator gets the chance to clean up, and is not
 * waited for.
 */
export async function readPieces(
  iterator: Iterator<unknown> | AsyncIterator<unknown>, call: LiveCall, taker: PieceTaker,
): Promise<void> {
  let thrown: unknown
  let count = 0
  try {
    for (;;) {
      const next: unknown = await iterator.next()
      if (!isRecord(next)) throw new TypeError('What is read piece by piece gives no object')
      const { value, done } = next
      const piece: unknown = isThenable(value) ? await value : value
      if (call.over) break
      const wait = taker.take(piece, done === true)
      if (wait !== undefined) await wait
      if (done === true) return
      // A generator that never waits would starve timers and all other requests.
      if (++count % IN_A_ROW === 0) await new Promise((resolve) => { setImmediate(resolve) })
      if (call.over) break
    }
  } catch (error) {
    thrown = error
  }
  const reason = call.over ? call.reason ?? new Fault('cancelled', 'Cancelled') : thrown
  letEnd(() => iterator.return?.())
  throw reason
}

/** What is no JSON value though it is an object, by its tag, and what to write instead. */
const foreign: ReadonlyMap<string, readonly [what: string, instead: string]> = new Map([
  ['Map', ['a Map', 'Object.fromEntries(map)']],
  ['Set', ['a Set', '[...set]']],
  ['WeakMap', ['a WeakMap', 'a plain object']],
  ['WeakSet', ['a WeakSet', 'a list']],
  ['Promise', ['a promise', 'await promise']],
  ['Generator', ['a generator', '[...generator]']],
  ['AsyncGenerator', ['a generator', 'a list of what it yields']],
  ['Response', ['a Response', 'await response.text(), await response.json(), or what it was made of']],
  ['Request', ['a Request', 'what is in it']],
  ['Headers', ['Headers', 'Object.fromEntries(headers)']],
  ['FormData', ['FormData', 'Object.fromEntries(form)']],
  ['URLSearchParams', ['URLSearchParams', 'Object.fromEntries(parameters)']],
  ['ReadableStream', ['a stream', 'what is in it']],
  ['Blob', ['a Blob', 'a content block with its bytes']],
  ['File', ['a File', 'a content block with its bytes']],
])

/** What a value is, and what to return instead, where JSON would lose it. Undefined: it is fine. */
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

/** Whether some are promises: these may reject when nobody looks any more, and must not end the process. */
export function hasPromises(values: readonly unknown[]): boolean {
  const promises = values.filter(isThenable)
  for (const one of promises) letEnd(() => one)
  return promises.length > 0
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}

/** JSON text of what `owner` returned. Throws `TypeError` for what JSON cannot represent or would lose. */
export function jsonOf(owner: string, value: unknown): string {
  const what = foreignTo(value)
  if (what !== undefined) throw new TypeError(`${owner} returned ${what}`)
  const json: string | undefined = formatJson(value)
  if (json === undefined) throw new TypeError(`${owner} returned ${show(value)}, which JSON cannot represent`)
  // What is lost leaves an empty object behind, so most values need not be walked.
  const lost = json.includes('{}') ? lostIn(value) : undefined
  if (lost !== undefined) {
    hasPromises(Object.values(value as object))
    throw new TypeError(`${owner} returned what holds ${lost[0]}; write ${lost[1]} in its place`)
  }
  return json
}

/** What JSON makes of a value with a `toJSON`, as a text of a date. `json` is its JSON text, if known. */
export function withoutToJson(value: unknown, json?: string): unknown {
  if (typeof value !== 'object' || value === null || !('toJSON' in value)) return value
  if (typeof value.toJSON !== 'function') return value
  return json === undefined ? jsonCopy(value) : JSON.parse(json)
}

/** What JSON has lost of a value that it could write: so there is no circle in it. */
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
