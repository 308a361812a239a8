/**
 * What the operator's functions have promised and not kept yet: so many at one time, and each only for so
 * long. One that hangs is in nobody's way for ever.
 */
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { CallerShares } from '../../util/shares.ts'
import type { Holder } from '../../util/shares.ts'

/** Nobody can be told at the moment: 503. The message is for the caller. */
export class Unavailable extends Error {
  readonly retryAfterSeconds: number
  /** A crowd is only busy; what hangs is the operator's to mend. */
  readonly level: 'debug' | 'warning'

  constructor(message: string, retryAfterSeconds: number, level: 'debug' | 'warning') {
    super(message)
    this.name = 'Unavailable'
    this.retryAfterSeconds = retryAfterSeconds
    this.level = level
  }
}

/** Promises that are waited for, with a ceiling and a time limit. */
export class Pending {
  readonly #max: number
  readonly #maxMs: number
  readonly #places = new Set<Holder>()
  readonly #shares = new CallerShares(() => this.#places)

  constructor(max: number, maxMs: number) {
    this.#max = max
    this.#maxMs = maxMs
  }

  /** Throws `Unavailable` where no more can be waited for, by `caller`: others may have taken every place. */
  check(caller: string): void {
    const used = this.#places.size + 1
    if (used <= this.#max || this.#shares.mayExceed(this.#max, used, caller, 1)) return
    throw new Unavailable('Too many callers are being identified; try again later', 1, 'debug')
  }

  /**
   * What was promised. Rejects with `Unavailable` when that takes too long; its place is taken until it
   * settles, but not for longer than the same time again.
   */
  wait<T>(promised: Promise<T>, caller: string): Promise<T> {
    const place: Holder = { caller, held: 1 }
    this.#places.add(place)
    this.#shares.changed(place, 1, this.#max, this.#places.size)
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      const free = (): void => {
        clearTimeout(timer)
        if (this.#places.delete(place)) this.#shares.changed(place, -1, this.#max, this.#places.size)
      }
      if (this.#maxMs <= MAX_TIMER_MS) {
        timer = setTimeout(() => {
          reject(new Unavailable('Finding out who calls took too long; try again later', 5, 'warning'))
          timer = setTimeout(free, this.#maxMs).unref()
        }, this.#maxMs)
      }
      promised.then((found) => {
        free()
        resolve(found)
      }, (error: unknown) => {
        free()
        reject(error)
      })
    })
  }
}
