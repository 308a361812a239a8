/** Timestamps that rise strictly within a process. */
export class Timeline {
  #lastAt = 0
  /**
   * The last timestamp, and its second: most are in the same second as the last. Bytes, since a text that is
   * put together of two takes twice the memory, and tasks keep theirs.
   */
  readonly #text = Buffer.allocUnsafeSlow('2000-01-01T00:00:00.000Z'.length)
  #second = 0

  /**
   * The present, or as soon after it as no other is, as ISO 8601 in UTC with milliseconds. It is later than
   * `after` too, which may be of another process.
   */
  next(after?: string): string {
    this.#lastAt = Math.max(Date.now(), this.#lastAt + 1)
    const at = this.#format(this.#lastAt)
    return after === undefined || at > after ? at : this.#format(Date.parse(after) + 1)
  }

  #format(ms: number): string {
    const text = this.#text
    const second = Math.floor(ms / 1_000)
    if (second !== this.#second) {
      this.#second = second
      text.write(new Date(ms).toISOString(), 'latin1')
    }
    let rest = ms - second * 1_000
    for (let at = text.length - 2; at > text.length - 5; at--) {
      text[at] = ZERO + rest % 10
      rest = Math.floor(rest / 10)
    }
    return text.toString('latin1')
  }
}

const ZERO = 0x30
