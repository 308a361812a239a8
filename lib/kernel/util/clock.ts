/**
 * Monotonic time: a clock that can stop, for the time limit of a run, which does not count while a client is
 * asked; and how long an answer of another process is awaited.
 */
import type { Timed, TimerQueue, Timers } from './timers.ts'

/** The longest that a timer of Node's can count, in milliseconds (24 days): beyond it, it fires at once. */
export const MAX_TIMER_MS = 0x7fffffff

/** Calls `act` after `ms`; never, and without a timer, where Node cannot count that long: `Infinity`. */
export function timer(ms: number, act: () => void): NodeJS.Timeout | undefined {
  return ms > MAX_TIMER_MS ? undefined : setTimeout(act, ms)
}

/** Whole milliseconds on the monotonic clock: fractions would take an object each where they are kept. */
export function monotonic(): number {
  return Math.floor(performance.now())
}

const MINUTE_MS = 60_000

/** Runs something at most once a minute: what comes often would say the same in the log each time. */
export function minutely(): (act: () => void) => void {
  let nextMs = -Infinity
  return (act) => {
    if (performance.now() < nextMs) return
    nextMs = performance.now() + MINUTE_MS
    act()
  }
}

/** The time limit of one run. Costs nothing until it is set. */
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
  #queue: TimerQueue | undefined

  /**
   * Calls `onEnd` once when the time is over; replaces an earlier limit. `Infinity` never does.
   * `isBackground`: no reason for the process to live on. With `timers` it is counted among others of its
   * length.
   */
  limit(ms: number, onEnd: () => void, isBackground = false, timers?: Timers): void {
    this.clear()
    this.#leftMs = ms
    this.#isBackground = isBackground
    this.#onEnd = onEnd
    this.#queue = ms > MAX_TIMER_MS ? undefined : timers?.of(ms)
    if (this.#waits > 0) return
    if (this.#queue === undefined) return this.#run()
    this.#queue.add(this)
    this.#since = this.dueAtMs - ms
  }

  get isStopped(): boolean { return this.#waits > 0 }

  /** Stops the clock until `resume` was called as often. */
  stop(): void {
    if (this.#waits++ > 0 || (this.#timer === undefined && this.dueAtMs === 0)) return
    this.#unset()
    this.#leftMs -= performance.now() - this.#since
  }

  resume(): void {
    if (--this.#waits === 0 && this.#onEnd !== undefined) this.#run()
  }

  clear(): void {
    this.#unset()
    this.#onEnd = undefined
  }

  timeIsUp(): void {
    const onEnd = this.#onEnd
    this.clear()
    onEnd?.()
  }

  #unset(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#queue?.remove(this)
  }

  #run(): void {
    this.#since = performance.now()
    this.#timer = timer(Math.max(0, this.#leftMs), () => this.timeIsUp())
    if (this.#isBackground) this.#timer?.unref()
  }
}

/**
 * Calls `giveUp` when no answer of another process has come in `ms`. Where this process itself was suspended
 * or busy the answer may be there already, unread: so it waits once more, for as long as the timer was late.
 * `Infinity` never gives up. The returned function ends the wait.
 */
export function startDeadline(ms: number, giveUp: () => void): () => void {
  const began = monotonic()
  let running = timer(ms, () => {
    running = setTimeout(giveUp, Math.min(monotonic() - began - ms, ms))
  })
  return () => clearTimeout(running)
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

/** Those who wait until something has nothing to do any more. */
export class IdleWaiters {
  readonly #waiters = new Set<() => void>()

  /** Resolves with `notify`, at the latest after `ms`. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(running)
        this.#waiters.delete(done)
        resolve()
      }
      const running = timer(ms, done)
      this.#waiters.add(done)
    })
  }

  notify(): void {
    // Called after each request: an iterator of nothing would be made each time.
    if (this.#waiters.size > 0) for (const done of this.#waiters) done()
  }
}
