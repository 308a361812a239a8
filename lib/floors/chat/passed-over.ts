/** What of a request cannot be read, and cannot change its answer: it is passed over, and the log says so. */
import type { Origin } from '../../kernel/define/call.ts'
import type { Log } from '../../kernel/define/log.ts'

/** More of one request are only counted. */
const MAX_LOGGED = 5

export class PassedOver {
  readonly #first: string[] = []
  #count = 0

  /** `why` is the end of a sentence that begins with the place. */
  add(at: string, why: string): void {
    this.#count += 1
    if (this.#count <= MAX_LOGGED) this.#first.push(`${at} ${why}`)
  }

  /** One line for all. */
  report(log: Log, { requestId: request }: Pick<Origin, 'requestId'>): void {
    if (this.#count === 0) return
    log('warning', `The request was answered without ${this.#count} of its parts, which could not be read`, {
      request, parts: this.#first,
    })
  }
}
