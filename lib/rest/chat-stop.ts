/**
 * The end of an answer at whatever a client wants it to stop at: text in, piece by piece; out comes what
 * stands before the first of the sequences, which is not told itself.
 * Spec: https://platform.openai.com/docs/api-reference/chat/create, `stop`
 */

/** So many sequences a client may name, and so long each may be. */
export const MAX_STOPS = 4
export const MAX_STOP_LENGTH = 1_000

/** One answer on its way. */
export class StoppingText {
  /** One of the sequences has come: nothing is to follow. */
  isOver = false
  readonly #stops: readonly string[]
  /** The longest sequence may have begun in so many characters. */
  readonly #held: number
  #waiting = ''

  constructor(stops: readonly string[]) {
    this.#stops = stops
    this.#held = Math.max(0, ...stops.map(({ length }) => length - 1))
  }

  /** Takes a piece; gives what can be told by now. */
  take(piece: string): string {
    if (this.isOver) return ''
    this.#waiting += piece
    const found = this.#stops.map((stop) => this.#waiting.indexOf(stop)).filter((at) => at >= 0)
    this.isOver = found.length > 0
    return this.#give(this.isOver ? Math.min(...found) : this.#waiting.length - this.#held)
  }

  /** No piece will follow: gives the rest. */
  rest(): string {
    return this.isOver ? '' : this.#give(this.#waiting.length)
  }

  #give(length: number): string {
    const code = this.#waiting.charCodeAt(length)
    // The halves of a character stay together.
    const isInside = length > 0 && code >= 0xdc00 && code <= 0xdfff
    const end = Math.max(0, isInside ? length - 1 : length)
    const given = this.#waiting.slice(0, end)
    this.#waiting = this.#waiting.slice(end)
    return given
  }
}
