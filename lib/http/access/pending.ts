/** Bounds how many `apiKey` and `verify` promises may be pending, and for how long. */
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { PlainLease, Quota } from '../../util/quota.ts'

/** The caller cannot be identified at the moment: 503. The message is for the caller. */
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
  readonly #slots: Quota
  readonly #maxMs: number

  constructor(max: number, maxMs: number) {
    this.#slots = new Quota('identifications', max)
    this.#maxMs = maxMs
  }

  /** Throws `Unavailable` where no more can be waited for by `caller`. */
  check(caller: string): void {
    if (this.#slots.hasRoom({ caller }, 1)) return
    throw new Unavailable('Too many callers are being identified; try again later', 1, 'debug')
  }

  /**
   * What was promised. Rejects with `Unavailable` when that takes too long; its slot is taken until it
   * settles, but not for longer than the same time again.
   */
  wait<T>(promised: Promise<T>, caller: string): Promise<T> {
    const slot = new PlainLease(caller)
    this.#slots.add(slot, 1)
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      if (this.#maxMs <= MAX_TIMER_MS) {
        timer = setTimeout(() => {
          reject(new Unavailable('Finding out who calls took too long; try again later', 5, 'warning'))
          timer = setTimeout(() => slot.close(), this.#maxMs).unref()
        }, this.#maxMs)
      }
      const end = (): void => {
        clearTimeout(timer)
        slot.close()
      }
      promised.then((found) => {
        end()
        resolve(found)
      }, (error: unknown) => {
        end()
        reject(error)
      })
    })
  }
}
