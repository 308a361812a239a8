/**
 * Moments as texts that rise strictly: none is there twice, and each stands behind the one before it.
 */

/** A line of moments, all of one process. */
export class Timeline {
  #lastAt = 0
  /** The second of the last moment, and what it says: most moments are of the same as the one before. */
  #second = 0
  #begin = ''

  /**
   * This moment, or as soon behind it as no other is, as ISO 8601 in UTC with milliseconds. It is behind
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
    return this.#begin + (ends[rest] ??= `.${String(rest).padStart(3, '0')}Z`)
  }
}

/** How the milliseconds of a second are written, behind what it says itself: each made when first needed. */
const ends: string[] = []
