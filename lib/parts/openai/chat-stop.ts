/**
 * Ends an answer before the first of the stop sequences: text goes in piece by piece, and comes out without
 * the sequence. The first is the one that is complete first; of two that end together, the longer one. It
 * does not matter how the text is cut into pieces.
 *
 * A client may choose the text as well as the sequences, so each character must cost the same: this is the
 * search of Knuth, Morris and Pratt.
 * Spec: https://platform.openai.com/docs/api-reference/chat/create, `stop`
 */

/** How many sequences a request may have, and how many characters each. */
export const MAX_STOPS = 4
export const MAX_STOP_LENGTH = 1_000

/** Characters that are searched before other requests run: some milliseconds. */
export const SEARCHED_AT_ONCE: number = 128 * 1024

export class StoppingText {
  /** A sequence was found: nothing follows. */
  isOver = false
  readonly #searches: readonly Search[]
  /** Text in which a sequence may have begun, or half of a character. */
  #held = ''
  /** Characters that were searched since other requests could run. */
  #searched = 0

  /** Empty sequences stop nothing. */
  constructor(stops: readonly string[]) {
    this.#searches = stops.filter((stop) => stop !== '').map((stop) => new Search(stop))
  }

  /**
   * Takes a piece and returns the text that is certain by now. A promise only where so much has been searched
   * that other requests run in between: then no other piece may be taken before it resolves.
   */
  take(piece: string): string | Promise<string> {
    if (this.isOver) return ''
    if (this.#searches.length === 0) return piece
    const whole = this.#held + piece
    const from = this.#held.length
    if (this.#searched + piece.length > SEARCHED_AT_ONCE) return this.#takeLong(whole, from)
    this.#searched += piece.length
    return this.#give(whole, this.#end(whole, from, whole.length))
  }

  /** The rest, when no piece follows. */
  rest(): string {
    const rest = this.isOver ? '' : this.#held
    this.#held = ''
    return rest
  }

  async #takeLong(whole: string, from: number): Promise<string> {
    let end = whole.length
    for (let at = from; at < whole.length && !this.isOver; at += SEARCHED_AT_ONCE) {
      const to = Math.min(whole.length, at + SEARCHED_AT_ONCE)
      if (this.#searched + to - at > SEARCHED_AT_ONCE) {
        await new Promise((resolve) => { setImmediate(resolve) })
        this.#searched = 0
      }
      this.#searched += to - at
      end = this.#end(whole, at, to)
    }
    return this.#give(whole, end)
  }

  /** Searches on. Returns the end of the text that is certainly before every sequence. */
  #end(whole: string, from: number, to: number): number {
    let found = Infinity
    let longest = 0
    for (const search of this.#searches) {
      const end = search.findEnd(whole, from, Math.min(to, found))
      if (end === undefined) continue
      longest = end < found ? search.length : Math.max(longest, search.length)
      found = end
    }
    this.isOver = found !== Infinity
    return this.isOver ? found - longest : to - Math.max(...this.#searches.map(({ begun }) => begun))
  }

  #give(whole: string, length: number): string {
    // The halves of a character stay together, and the second one may be still to come.
    const code = whole.charCodeAt(length - 1)
    const next = whole.charCodeAt(length)
    const isOpen = Number.isNaN(next) || (next >= 0xdc00 && next <= 0xdfff)
    const end = isOpen && code >= 0xd800 && code <= 0xdbff ? length - 1 : length
    this.#held = this.isOver ? '' : whole.slice(end)
    return whole.slice(0, end)
  }
}

/** Searches one sequence in a text that comes in parts. */
class Search {
  /** How many characters of the sequence the text so far ends with. */
  begun = 0
  readonly #stop: string
  /** By that number: the number that remains where the next character does not fit. */
  readonly #shorter: Uint16Array

  constructor(stop: string) {
    this.#stop = stop
    this.#shorter = new Uint16Array(stop.length + 1)
    for (let at = 1; at < stop.length; at++) {
      this.#shorter[at + 1] = this.#after(stop.charCodeAt(at), this.#shorter[at]!)
    }
  }

  get length(): number { return this.#stop.length }

  /** Where the sequence ends in `text`, searched from `from` up to `to`. Undefined: it does not. */
  findEnd(text: string, from: number, to: number): number | undefined {
    for (let at = from; at < to; at++) {
      this.begun = this.#after(text.charCodeAt(at), this.begun)
      if (this.begun === this.#stop.length) return at + 1
    }
    return undefined
  }

  #after(code: number, begun: number): number {
    while (begun > 0 && this.#stop.charCodeAt(begun) !== code) begun = this.#shorter[begun]!
    return this.#stop.charCodeAt(begun) === code ? begun + 1 : 0
  }
}
