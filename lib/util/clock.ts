/**
 * A clock that can stand still: the time limit of a run, which does not count while a client is asked.
 * Costs nothing until a limit is set. Durations are monotonic.
 */
import type { Timed, TimerQueue, Timers } from './timers.ts'

/** The longest that a timer of Node's can count, in milliseconds (24 days): beyond it, it fires at once. */
export const MAX_TIMER_MS = 0x7fffffff

/** Whole milliseconds on the monotonic clock: where they are kept, fractions take an object each. */
export function monotonic(): number {
  return Math.floor(performance.now())
}

/** The time limit of one run. */
export class Clock implements Timed {
  previous: Timed | undefined
  next: Timed | undefined
  dueAtMs = 0
  #waits = 0
  #leftMs = Infinity
  #since = 0
  #onEnd: (() => void) | undefined
  #isBackground = false
  #timer: NodeJS.Timeout | undefined
  /** Where the whole limit is counted. */
  #queue: TimerQueue | undefined

  /**
   * Calls `onEnd` once when the time has run out, in the place of an earlier limit. `Infinity` never does.
   * `isBackground`: no reason for the process to live on.
   */
  limit(ms: number, onEnd: () => void, isBackground = false): void {
    this.#limit(ms, onEnd, isBackground, undefined)
  }

  /** The same limit, counted among others of its length. */
  limitAmong(timers: Timers, ms: number, onEnd: () => void): void {
    this.#limit(ms, onEnd, false, ms > MAX_TIMER_MS ? undefined : timers.of(ms))
  }

  /** Whether it stands still. */
  get isStill(): boolean { return this.#waits > 0 }

  /** Stops the clock until as many `end`s as `begin`s were called. */
  begin(): void {
    if (this.#waits++ > 0 || (this.#timer === undefined && this.dueAtMs === 0)) return
    this.#stop()
    this.#leftMs -= performance.now() - this.#since
  }

  end(): void {
    if (--this.#waits === 0 && this.#onEnd !== undefined) this.#run()
  }

  /** Takes the limit away. */
  clear(): void {
    this.#stop()
    this.#onEnd = undefined
  }

  timeIsUp(): void {
    const onEnd = this.#onEnd
    this.clear()
    onEnd?.()
  }

  #limit(ms: number, onEnd: () => void, isBackground: boolean, queue: TimerQueue | undefined): void {
    this.clear()
    this.#leftMs = ms
    this.#isBackground = isBackground
    this.#onEnd = onEnd
    this.#queue = queue
    if (this.#waits > 0) return
    if (queue === undefined) return this.#run()
    queue.add(this)
    this.#since = this.dueAtMs - ms
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#queue?.remove(this)
  }

  #run(): void {
    if (this.#leftMs > MAX_TIMER_MS) return
    this.#since = performance.now()
    this.#timer = setTimeout(() => this.timeIsUp(), Math.max(0, this.#leftMs))
    if (this.#isBackground) this.#timer.unref()
  }
}

/**
 * Calls `giveUp` when nothing has come in `ms`. A time in which this process was held up, suspended or busy
 * with something else, tells nothing of the other: the answer may be there, and be read in the next turn. So
 * it is waited for once more, for as long as the timer was late. `Infinity` never gives up. The returned
 * function ends the wait.
 */
export function startDeadline(ms: number, giveUp: () => void): () => void {
  if (ms > MAX_TIMER_MS) return () => {}
  const began = monotonic()
  let timer = setTimeout(() => {
    timer = setTimeout(giveUp, Math.min(monotonic() - began - ms, ms))
  }, ms)
  return () => clearTimeout(timer)
}

/** The promise's outcome; where it has none in `ms`, it rejects with what `makeFault` returns. */
export function withDeadline<T>(promise: PromiseLike<T>, ms: number, makeFault: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = startDeadline(ms, () => reject(makeFault()))
    promise.then((value) => {
      stop()
      resolve(value)
    }, (error: unknown) => {
      stop()
      reject(error)
    })
  })
}
