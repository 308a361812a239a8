/**
 * How many calls run at one time. A run counts from the moment it has to be waited for until its own
 * promise settles: one that ignores its abort signal goes on counting, because it goes on running.
 */
import { Fault } from './fault.ts'
import type { LiveCall } from './call.ts'

/** The calls that run, with a ceiling. */
export class Workload {
  readonly #max: number
  readonly #where: string
  readonly #running = new Set<LiveCall>()

  constructor(max: number, where: string) {
    this.#max = max
    this.#where = where
  }

  /** Calls that run now. */
  get running(): number { return this.#running.size }

  /** Throws `Fault('busy')` when the ceiling is reached. */
  check(): void {
    if (this.#running.size >= this.#max) {
      throw new Fault('busy', `${this.#max} calls are running ${this.#where} already; try again later`)
    }
  }

  enter(call: LiveCall): void { this.#running.add(call) }
  leave(call: LiveCall): void { this.#running.delete(call) }

  /** Ends every run from outside. */
  cancelAll(reason: Fault): void {
    for (const call of [...this.#running]) call.cancel(reason)
  }
}
