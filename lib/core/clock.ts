/**
 * A clock that can stand still: the time limit of a run, which does not count while a client is asked.
 * Costs nothing until a limit is set. Durations are monotonic.
 */

/** The longest that a timer of Node's can count, in milliseconds (24 days): beyond it, it fires at once. */
export const MAX_TIMER_MS = 0x7fffffff

/** The time limit of one run. */
export class Clock {
  #waits = 0
  #leftMs = Infinity
  #since = 0
  #onEnd: (() => void) | undefined
  #isBackground = false
  #timer: NodeJS.Timeout | undefined

  /**
   * Calls `onEnd` once when the time has run out, in the place of an earlier limit. `Infinity` never does.
   * `isBackground`: no reason for the process to live on.
   */
  limit(ms: number, onEnd: () => void, isBackground = false): void {
    this.clear()
    this.#leftMs = ms
    this.#isBackground = isBackground
    this.#onEnd = onEnd
    if (this.#waits === 0) this.#run()
  }

  /** Stops the clock until as many `end`s as `begin`s were called. */
  begin(): void {
    if (this.#waits++ > 0 || this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leftMs -= performance.now() - this.#since
  }

  end(): void {
    if (--this.#waits === 0 && this.#onEnd !== undefined) this.#run()
  }

  /** Takes the limit away. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#onEnd = undefined
  }

  #run(): void {
    if (this.#leftMs > MAX_TIMER_MS) return
    this.#since = performance.now()
    this.#timer = setTimeout(() => {
      const onEnd = this.#onEnd
      this.clear()
      onEnd?.()
    }, Math.max(0, this.#leftMs))
    if (this.#isBackground) this.#timer.unref()
  }
}
