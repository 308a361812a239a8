/** Timestamps that rise strictly within a process. */
export class Timeline {
  #lastAt = 0
  /** The second of the last timestamp and its text: most timestamps are in the same second as the last. */
  #second = 0
  #begin = ''

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
    const second = Math.floor(ms / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#begin = new Date(ms).toISOString().slice(0, -'.000Z'.length)
    }
    const rest = ms - second * 1_000
    return this.#begin + (fractions[rest] ??= `.${String(rest).padStart(3, '0')}Z`)
  }
}

/** How the milliseconds of a second are written: each made when first needed. */
const fractions: string[] = []
