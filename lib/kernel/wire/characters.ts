/**
 * Text in whole characters. In UTF-16 many take two halves, a surrogate pair, and a half alone is no Unicode:
 * strict readers refuse what it is in.
 */

/** Text that comes in pieces: the first half of a character waits for its second half. */
export class WholeCharacters {
  #half = ''

  get isWaiting(): boolean { return this.#half !== '' }

  /** A piece with what has waited for it, and without what waits now. Any other half is U+FFFD. */
  take(piece: string): string {
    if (piece === '') return ''
    const isCut = isFirstHalf(piece.charCodeAt(piece.length - 1))
    // Most pieces are whole.
    if (!isCut && this.#half === '') return wellFormed(piece)
    const text = this.#half + piece
    const end = isCut ? text.length - 1 : text.length
    this.#half = text.slice(end)
    return wellFormed(isCut ? text.slice(0, end) : text)
  }

  /** The half that waits, as U+FFFD, where no text follows; '' = none. */
  rest(): string {
    const rest = this.#half
    this.#half = ''
    return wellFormed(rest)
  }
}

/** The text with U+FFFD for each half of a character that is alone. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

/** The beginning of a text: at most `length` units of UTF-16, and no first half of a character at its end. */
export function beginning(text: string, length: number): string {
  if (text.length <= length) return text
  return text.slice(0, isFirstHalf(text.charCodeAt(length - 1)) ? length - 1 : length)
}

function isFirstHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
