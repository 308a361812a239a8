/** The texts of several messages as one: between two of them stands a blank line. */
export class Paragraphs {
  #last: unknown
  #isBegun = false

  /** A piece of the message `id`, with what stands between it and the message before. */
  next(id: unknown, text: string): string {
    if (text === '') return ''
    const isNext = this.#isBegun && id !== this.#last
    this.#isBegun = true
    this.#last = id
    return isNext ? `\n\n${text}` : text
  }
}
